"""Several devices that share the work of one model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from prevalence.errors import BackendError, ConfigurationError
from prevalence.nli import scorer as nli_scorer
from prevalence.nli.devices import SharedScorer, device_names, shares
from prevalence.nli.scorer import NLIScorer
from prevalence.scorers import open_scorer
from prevalence.texts import TextTable

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import FakeScorer

Pairs = Sequence[tuple[str, str]]
Number = Callable[[Pairs], tuple[TextTable, np.ndarray]]

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(7, 9)), max_size=40)


def _texts(lengths: Sequence[int]) -> TextTable:
    table = TextTable()
    for number, length in enumerate(lengths):
        table.add(f"{number}".ljust(length, "x"))
    return table


@given(
    pairs=PAIRS,
    lengths=st.lists(st.integers(1, 60), min_size=10, max_size=10),
    count=st.integers(1, 5),
)
def test_shares_are_a_partition_by_premise(
    pairs: list[tuple[int, int]], lengths: list[int], count: int
) -> None:
    table, numbered = _texts(lengths), np.array(pairs, np.int64).reshape(-1, 2)
    found = list(shares(table, numbered, count))
    assert len(found) == count
    assert sorted(np.concatenate(found).tolist()) == list(range(len(pairs)))
    owners = [set(numbered[rows, 0].tolist()) for rows in found]
    assert sum(len(owner) for owner in owners) == len(set(numbered[:, 0].tolist()))
    # No share is over its part of all characters by more than the premise that it ends with.
    costs = np.array([1 + lengths[p] + lengths[h] for p, h in pairs])
    by_premise = np.bincount(numbered[:, 0], costs, minlength=7)
    for rows in found:
        assert costs[rows].sum() <= costs.sum() / count + by_premise.max() + 1


def test_equal_work_is_shared_equally() -> None:
    numbered = np.array([[premise, 40 + h] for h in range(3) for premise in range(40)])
    found = list(shares(_texts([20] * 43), numbered, 4))
    assert [rows.size for rows in found] == [30, 30, 30, 30]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_answers_of_one_scorer(count: int, fake_scorer: type[FakeScorer]) -> None:
    table = TextTable()
    numbered = np.array(
        [[table.add(f"review {i % 7}"), table.add(f"point {i}")] for i in range(50)]
    )
    each = [fake_scorer(too_long=frozenset({"point 3"}), work_unit=10) for _ in range(count)]
    shared, finished = SharedScorer(each), []
    found = shared.score(table, numbered, progress=finished.append)
    expected = fake_scorer(too_long=frozenset({"point 3"})).score(table, numbered)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert sum(finished) == 50
    assert sum(len(scorer.asked) for scorer in each) == 50
    assert all(scorer.asked for scorer in each)
    assert shared.work_unit == 10 * count
    assert (shared.digest, shared.threshold) == (each[0].digest, each[0].threshold)


def test_no_pairs(fake_scorer: type[FakeScorer]) -> None:
    found = SharedScorer([fake_scorer(), fake_scorer()]).score(
        TextTable(), np.empty((0, 2), np.int64)
    )
    assert len(found.entailment) == 0


def test_models_that_run_at_the_same_time(
    checkpoint: Callable[..., Path], pairs: Pairs, number: Number
) -> None:
    folder = str(checkpoint("bert"))
    alone, *each = (NLIScorer(folder, device="cpu", workers=1) for _ in range(4))
    table, numbered = number(pairs)
    found = SharedScorer(each).score(table, numbered)
    expected = alone.score(table, numbered)
    np.testing.assert_allclose(found.entailment, expected.entailment, rtol=0, atol=1e-5)
    assert found.flags.tolist() == expected.flags.tolist()


def test_a_device_that_fails(fake_scorer: type[FakeScorer]) -> None:
    class Broken(fake_scorer):  # type: ignore[misc, valid-type]
        def score(self, *_: Any, **__: Any) -> Any:
            raise BackendError("the device failed")

    numbered = np.array([[0, 2], [1, 2]])
    with pytest.raises(BackendError, match="the device failed"):
        SharedScorer([fake_scorer(), Broken()]).score(_texts([5, 5, 5]), numbered)


def test_devices_that_would_answer_differently(fake_scorer: type[FakeScorer]) -> None:
    other = fake_scorer()
    other.digest = b"another"
    with pytest.raises(ConfigurationError, match="name devices of one kind"):
        SharedScorer([fake_scorer(), other])


def test_names(monkeypatch: pytest.MonkeyPatch) -> None:
    assert device_names("auto") == ["auto"]
    assert device_names("cuda:1") == ["cuda:1"]
    assert device_names("cuda:1,cuda:0") == ["cuda:1", "cuda:0"]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    assert device_names("all") == ["cuda:0", "cuda:1", "cuda:2"]


@pytest.mark.parametrize("asked", ["cpu,cpu", "cuda:0,cuda:0", "cuda,cuda:1", "cuda:0,", "cpu,mps"])
def test_names_that_make_no_sense(asked: str) -> None:
    with pytest.raises(ConfigurationError, match="each named once, as in cuda:0,cuda:1; or all"):
        device_names(asked)


def test_all_without_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BackendError, match="no CUDA device here; try --device cpu"):
        open_scorer("embedded", device="all")


def test_one_model_is_opened_on_each_device(
    monkeypatch: pytest.MonkeyPatch, fake_scorer: type[FakeScorer]
) -> None:
    opened: list[str] = []

    def noted(_model: str, *, device: str, **_: Any) -> FakeScorer:
        opened.append(device)
        return fake_scorer()

    monkeypatch.setattr(nli_scorer, "NLIScorer", noted)
    assert isinstance(open_scorer("embedded", device="cuda:0,cuda:3"), SharedScorer)
    assert opened == ["cuda:0", "cuda:3"]
    assert not isinstance(open_scorer("embedded", device="cpu"), SharedScorer)


@pytest.mark.gpu
def test_gpu_all_devices_give_the_answers_of_one(
    checkpoint: Callable[..., Path], pairs: Pairs, number: Number
) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("fewer than two CUDA devices")
    folder = str(checkpoint("roberta"))
    found, expected = (
        open_scorer(folder, device=name).score(*number(pairs)) for name in ("all", "cuda:0")
    )
    np.testing.assert_allclose(found.entailment, expected.entailment, rtol=0, atol=1e-5)
