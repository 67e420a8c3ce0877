"""The benchmark of packing at toy size: its ways agree, and one that does not is noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from benchmarks import packing_kernels
from benchmarks.throughput.workload import Workload

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> packing_kernels.Given:
    monkeypatch.setattr(packing_kernels, "BUDGET", 2_000)
    return packing_kernels.prepare(Workload.draw(1), tmp_path)


def test_every_way_makes_the_tokenizers_pairs(given: packing_kernels.Given) -> None:
    ways = packing_kernels.ways_of(given, "cpu")
    assert len(given.spans) > 1
    assert len(ways) == 5
    packing_kernels.check(ways)
    seconds = packing_kernels.measure(ways, "cpu", 2)
    assert {name: len(found) for name, found in seconds.items()} == dict.fromkeys(ways, 2)


def test_a_way_that_differs_is_noticed(given: packing_kernels.Given) -> None:
    ways = packing_kernels.ways_of(given, "cpu")
    first, *others = ways["packed: compiled loop"]()
    wrong = first._replace(ids=first.ids + 1)
    ways["packed: compiled loop"] = lambda: [wrong, *others]
    with pytest.raises(SystemExit, match="compiled loop: other tokens than the tokenizer's"):
        packing_kernels.check(ways)
    ways["packed: compiled loop"] = lambda: [first]
    with pytest.raises(SystemExit, match="compiled loop: other tokens than the tokenizer's"):
        packing_kernels.check(ways)


def test_the_command_prints_a_table_and_keeps_the_figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept: list[Any] = []
    monkeypatch.setattr(packing_kernels, "append_row", lambda *row: kept.append(row))
    packing_kernels.main(["--products", "1", "--repeats", "1"])
    assert "tokenizer on every text once" in capsys.readouterr().out
    ((name, row),) = kept
    assert (name, row["pairs"], row["ran_on"]) == ("packing_kernels", 48, "cpu")


def test_a_measurement_on_a_cpu_is_not_stated_as_one_of_the_gpu_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: list[Any] = []
    monkeypatch.setattr(packing_kernels, "append_row", lambda *row: kept.append(row))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "a GPU")
    packing_kernels.main(["--products", "1", "--repeats", "1", "--device", "cpu"])
    ((_, row),) = kept
    assert row["device"].startswith("CPU ")
