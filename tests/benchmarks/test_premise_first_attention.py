"""The benchmark of premise-first attention at toy size, with its ways stood in for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from benchmarks import premise_first_attention as benchmark
from benchmarks.throughput.workload import Workload
from prevalence.models.checkpoint import load_checkpoint
from prevalence.models.registry import EMBEDDED


def test_a_way_answers_every_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "WAYS", ("padded",))
    checkpoint = load_checkpoint(EMBEDDED, dtype=torch.float32)
    ways = benchmark.ways_of(checkpoint, Workload.draw(1), torch.device("cpu"))
    found = ways["padded"]()
    assert found.shape == (48, 3)
    np.testing.assert_allclose(found.sum(1), 1.0, rtol=0, atol=1e-5)


def test_ways_that_differ_are_noticed() -> None:
    answers = np.full((4, 3), 0.25, np.float32)
    assert benchmark.check({"padded": lambda: answers, "fused": lambda: answers + 0.5}, 0.6) == 0.5
    for other in (answers + 0.5, answers * np.nan):
        with pytest.raises(SystemExit, match="answers differ by"):
            benchmark.check({"padded": lambda: answers, "fused": lambda other=other: other}, 0.1)


def test_the_command_prints_a_table_and_keeps_the_figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept: list[Any] = []
    answers = np.full((48, 3), 0.25, np.float32)
    ways = dict.fromkeys(benchmark.WAYS, lambda: answers)
    for name in ("synchronize", "allocated"):
        monkeypatch.setattr(benchmark, name, lambda _device: None)
    monkeypatch.setattr(benchmark, "ways_of", lambda *_: ways)
    monkeypatch.setattr(benchmark, "append_row", lambda *row: kept.append(row))
    benchmark.main(["--products", "1", "--repeats", "2", "--dtype", "float32"])
    assert "fused" in capsys.readouterr().out
    ((name, row),) = kept
    assert (name, row["pairs"], row["model"]) == ("premise_first_attention", 48, "embedded")
    assert {way: len(part["seconds"]) for way, part in row["ways"].items()} == {
        "padded": 2, "fused": 2,
    }  # fmt: skip


def test_a_cpu_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        benchmark.main(["--device", "cpu"])
    assert "it needs a CUDA device" in capsys.readouterr().err
