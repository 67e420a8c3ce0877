"""Batches side by side: the same answers, and torch's threads as they were."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from prevalence.errors import BackendError, ConfigurationError
from prevalence.nli.running import lanes
from prevalence.nli.scorer import NLIScorer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from prevalence.nli.pairs import TextTable

    Number = Callable[[Sequence[tuple[str, str]]], tuple[TextTable, np.ndarray]]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_answers_are_in_the_order_of_the_items(count: int) -> None:
    with lanes(count) as apply:
        assert apply(lambda item: item * item, range(20)) == [n * n for n in range(20)]


def test_several_lanes_work_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=20)
    with lanes(2) as apply:
        assert sorted(apply(lambda _: both.wait(), range(2))) == [0, 1]


@pytest.mark.parametrize("fails", [False, True])
def test_threads_are_shared_and_given_back(*, fails: bool) -> None:
    usual = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        with lanes(2) as apply:
            assert set(apply(lambda _: torch.get_num_threads(), range(6))) == {2}
            if fails:
                raise BackendError("stop")
    except BackendError:
        assert fails
    finally:
        found = torch.get_num_threads()
        torch.set_num_threads(usual)
    assert found == 4


@pytest.mark.parametrize("workers", [2, 5])
def test_workers_do_not_change_answers(
    workers: int, checkpoint: Callable[..., Path], pairs: Sequence[tuple[str, str]], number: Number
) -> None:
    folder = str(checkpoint("bert"))
    done: list[int] = []
    alone = NLIScorer(folder, workers=1, batch_tokens=200).score(*number(pairs))
    beside = NLIScorer(folder, workers=workers, batch_tokens=200).score(
        *number(pairs), progress=done.append
    )
    np.testing.assert_allclose(beside.entailment, alone.entailment, rtol=0, atol=1e-5)
    np.testing.assert_allclose(beside.contradiction, alone.contradiction, rtol=0, atol=1e-5)
    assert sum(done) == len(number(pairs)[1])


def test_memory_that_runs_out_beside_other_batches(
    checkpoint: Callable[..., Path],
    pairs: Sequence[tuple[str, str]],
    number: Number,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = str(checkpoint("bert"))
    expected = NLIScorer(folder, workers=1).score(*number(pairs))
    scorer = NLIScorer(folder, workers=3, batch_tokens=600)
    forward = scorer.checkpoint.model.forward

    def small_memory(*args: object, **inputs: torch.Tensor) -> object:
        if inputs["input_ids"].numel() > 300:
            raise torch.OutOfMemoryError("out of memory")
        return forward(*args, **inputs)

    monkeypatch.setattr(scorer.checkpoint.model, "forward", small_memory)
    with pytest.warns(RuntimeWarning, match="out of memory"):
        found = scorer.score(*number(pairs))
    np.testing.assert_allclose(found.entailment, expected.entailment, rtol=0, atol=1e-5)


def test_a_number_of_workers_that_makes_no_sense(checkpoint: Callable[..., Path]) -> None:
    with pytest.raises(ConfigurationError, match="workers must be positive, not 0"):
        NLIScorer(str(checkpoint("bert")), workers=0)
