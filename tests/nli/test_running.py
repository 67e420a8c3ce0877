"""Waves of batches: what is handed over before what is awaited, and what runs out of memory."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from prevalence.errors import BackendError
from prevalence.nli.packing import packs
from prevalence.nli.running import BatchRunner

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Reader:
    """Rows of one token each; a row's logits are its own and minus its own first number."""

    longest, work_unit, signature, advice = 8, 8, {}, "; try something else"

    def __init__(self, log: list[str], *, fits: int = 10**9) -> None:
        self._log = log
        self._fits = fits

    def batches(self, spans: np.ndarray, budget: int) -> Iterator[np.ndarray]:
        return packs(np.ones(len(spans), np.int64), budget)

    def size(self, spans: np.ndarray) -> int:
        return len(spans)

    def logits(self, tokens: Any, spans: np.ndarray) -> torch.Tensor:
        if len(spans) > self._fits:
            raise torch.OutOfMemoryError("CUDA out of memory")
        self._log.append(f"compute {len(spans)}")
        first = torch.from_numpy(spans[:, 0]).float()
        return torch.stack([first, -first], dim=1)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is done on a CUDA device, written down in place of being done."""
    done: list[str] = []

    class Event:
        def record(self, _stream: Any) -> None:
            done.append("send")

        def synchronize(self) -> None:
            done.append("await")

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _device: None)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: done.append("empty"))
    return done


def _run(reader: Any, rows: int, *, budget: int, device: str = "cuda") -> tuple[Any, list[int]]:
    runner = BatchRunner(reader, SimpleNamespace(type=device), budget=budget, workers=1)
    spans = np.zeros((rows, 4), np.int64)
    spans[:, 0] = np.arange(rows) - rows // 2
    finished: list[int] = []
    found = runner.run(None, spans, 2, finished=lambda rows: finished.append(len(rows)))
    first = spans[:, 0].astype(np.float64)
    np.testing.assert_allclose(found[:, 0], 1 / (1 + np.exp(-2 * first)), rtol=0, atol=1e-6)
    return runner, finished


def test_a_wave_is_handed_over_before_the_last_is_awaited(log: list[str]) -> None:
    _, finished = _run(_Reader(log), 20, budget=1)
    wave = ["compute 1"] * 8 + ["send"]
    assert log == [*wave, *wave, "await", *["compute 1"] * 4, "send", "await", "await"]
    assert finished == [8, 8, 4]


def test_what_fits_of_a_wave_is_kept_and_the_rest_cut_anew(log: list[str]) -> None:
    reader = _Reader(log, fits=3)
    with pytest.warns(RuntimeWarning, match="batches now hold 2 tokens"):
        runner, finished = _run(reader, 11, budget=4)
    # 4 + 4 + 3: the first two do not fit, and are cut into 4 times 2.
    computed = [step for step in log if step.startswith("compute")]
    assert computed == ["compute 3", *["compute 2"] * 4]
    assert runner.budget == 2
    assert sum(finished) == 11


def test_a_failure_while_waiting_is_told_with_advice(
    log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_self: Any) -> None:
        raise RuntimeError("illegal address\nmore")

    monkeypatch.setattr(torch.cuda.Event, "synchronize", broken)
    with pytest.raises(BackendError, match=r"device failed: illegal address; try something else$"):
        _run(_Reader(log), 2, budget=1)


def test_nothing_of_cuda_is_used_on_a_cpu(log: list[str]) -> None:
    _, finished = _run(_Reader(log), 5, budget=2, device="cpu")
    assert log == ["compute 2", "compute 2", "compute 1"]
    assert finished == [2, 2, 1]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("size mismatch"), "the model or the device failed: size mismatch; try some"),
        (
            torch.OutOfMemoryError("CUDA out of memory"),
            "out of memory on .*; use a smaller --batch",
        ),
    ],
)
def test_a_failure_while_answers_are_sent_is_told_too(
    log: list[str], monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def broken(_device: Any) -> None:
        raise error

    monkeypatch.setattr(torch.cuda, "current_stream", broken)
    with pytest.raises(BackendError, match=told):
        _run(_Reader(log), 2, budget=1)
