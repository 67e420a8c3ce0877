"""Several devices that share the work of one model."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from prevalence.errors import BackendError, ConfigurationError
from prevalence.models.checkpoint import PREMISE_FIRST
from prevalence.nli import cache as cached_scorer
from prevalence.nli import devices
from prevalence.nli.devices import SharedScorer, device_names, pair_costs, shares
from prevalence.nli.pairs import PairScorer, PairScores, ScorerTraits, TextTable
from prevalence.nli.scorer import NLIScorer
from prevalence.scorers.registry import open_scorer

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
    once=st.booleans(),
)
def test_shares_are_a_partition_by_premise(
    pairs: list[tuple[int, int]], lengths: list[int], count: int, *, once: bool
) -> None:
    numbered = np.array(pairs, np.int64).reshape(-1, 2)
    costs = pair_costs(_texts(lengths), numbered, premise_once=once)
    found = list(shares(numbered[:, 0], costs, count))
    assert len(found) == count
    assert sorted(np.concatenate(found).tolist()) == list(range(len(pairs)))
    owners = [set(numbered[rows, 0].tolist()) for rows in found]
    assert sum(len(owner) for owner in owners) == len(set(numbered[:, 0].tolist()))
    # A share exceeds its part by no more than half of the premises at its two ends.
    by_premise = np.bincount(numbered[:, 0], costs, minlength=7)
    for rows in found:
        assert costs[rows].sum() <= costs.sum() / count + by_premise.max()


def test_costs() -> None:
    table = _texts([10, 400, 5, 3])
    pairs = np.array([[0, 2], [1, 2], [1, 3], [0, 3]])
    assert pair_costs(table, pairs).tolist() == [17, 407, 405, 15]
    assert pair_costs(table, pairs, readable=100).tolist() == [17, 107, 105, 15]
    assert pair_costs(table, pairs, premise_once=True).tolist() == [17, 407, 4, 4]


@pytest.mark.parametrize("sizes", [[100, 101, 102], [*range(100, 108)]])
def test_as_many_premises_as_devices(sizes: list[int]) -> None:
    found = list(shares(np.arange(len(sizes)), np.array(sizes), len(sizes)))
    assert [rows.tolist() for rows in found] == [[row] for row in range(len(sizes))]


def test_equal_work_is_shared_equally() -> None:
    numbered = np.array([[premise, 40 + h] for h in range(3) for premise in range(40)])
    found = list(shares(numbered[:, 0], pair_costs(_texts([20] * 43), numbered), 4))
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
    assert shared.traits == replace(each[0].traits, devices=count, work_unit=10 * count)


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


class _Slow(PairScorer):
    """Reports progress until it is stopped, or for 20 seconds."""

    def __init__(self, traits: ScorerTraits, begun: threading.Event | None = None) -> None:
        super().__init__(traits)
        self.begun = begun or threading.Event()
        self.reports = 0

    def score(self, _texts: TextTable, pairs: np.ndarray, *, progress: Any) -> PairScores:
        self.begun.set()
        end = time.monotonic() + 20
        while time.monotonic() < end:
            time.sleep(0.01)
            self.reports += 1
            progress(0)
        return PairScores.empty(len(pairs))


def test_a_device_that_fails_stops_the_others(fake_scorer: type[FakeScorer]) -> None:
    class Broken(_Slow):
        def score(self, *_: Any, **__: Any) -> Any:
            self.begun.wait(20)
            raise BackendError("the device failed")

    slow, begin = _Slow(fake_scorer().traits), time.monotonic()
    numbered = np.array([[0, 2], [1, 2]])
    with pytest.raises(BackendError, match="the device failed"):
        SharedScorer([slow, Broken(slow.traits, slow.begun)]).score(_texts([5, 5, 5]), numbered)
    assert slow.reports >= 1
    assert time.monotonic() - begin < 15


@pytest.mark.parametrize("moment", ["wait", "submit"])
def test_an_interrupt_stops_all_devices(
    moment: str, monkeypatch: pytest.MonkeyPatch, fake_scorer: type[FakeScorer]
) -> None:
    each, begin = [_Slow(fake_scorer().traits) for _ in range(2)], time.monotonic()

    def interrupted(*_: Any) -> None:
        each[0].begun.wait(20)
        raise KeyboardInterrupt

    class Pool(ThreadPoolExecutor):
        submitted = 0

        def submit(self, *given: Any, **options: Any) -> Any:
            self.submitted += 1
            return super().submit(*given, **options) if self.submitted == 1 else interrupted()

    if moment == "wait":
        monkeypatch.setattr(devices, "wait", interrupted)
    else:
        monkeypatch.setattr(devices, "ThreadPoolExecutor", Pool)
    numbered = np.array([[0, 2], [1, 2]])
    with pytest.raises(KeyboardInterrupt):
        SharedScorer(each).score(_texts([5, 5, 5]), numbered)
    assert time.monotonic() - begin < 15


def test_devices_that_would_answer_differently(fake_scorer: type[FakeScorer]) -> None:
    each = [fake_scorer(), fake_scorer(digest=b"another")]
    with pytest.raises(ConfigurationError, match="in different ways; name devices of one kind"):
        SharedScorer(each)


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
    with pytest.raises(BackendError, match="no CUDA device here; try device='cpu' or --device cpu"):
        open_scorer("embedded", device="all")


@pytest.mark.parametrize(
    ("windows", "attention", "expected"),
    [
        (None, "joint", (384, False)),
        (8, "joint", (None, False)),
        (None, PREMISE_FIRST, (384, True)),
    ],
)
def test_one_model_is_opened_on_each_device(
    windows: int | None,
    attention: str,
    expected: tuple[int | None, bool],
    monkeypatch: pytest.MonkeyPatch,
    fake_scorer: type[FakeScorer],
) -> None:
    opened: list[str] = []
    tested: list[Any] = []

    def noted(_model: str, *, device: str, **_: Any) -> Any:
        opened.append(device)
        scorer: Any = fake_scorer()
        scorer.checkpoint = SimpleNamespace(max_length=64, attention=attention)
        return scorer

    monkeypatch.setattr("prevalence.nli.scorer.NLIScorer", noted)
    monkeypatch.setattr(
        "prevalence.nli.self_test.self_test", lambda scorer, **_: tested.append(scorer)
    )
    shared: Any = open_scorer("embedded", device="cuda:0,cuda:3", windows=windows)
    assert isinstance(shared, SharedScorer)
    assert (shared.readable, shared.premise_once) == expected
    assert opened == ["cuda:0", "cuda:3"]
    assert tested == [*shared.inners]
    assert not isinstance(open_scorer("embedded", device="cpu"), SharedScorer)


def test_a_cache_hands_every_device_as_many_pairs_as_one(fake_scorer: type[FakeScorer]) -> None:
    asked: list[int] = []

    class Noted(SharedScorer):
        def score(self, texts: TextTable, pairs: np.ndarray, **options: Any) -> PairScores:
            asked.append(len(pairs))
            return super().score(texts, pairs, **options)

    each = [fake_scorer(work_unit=100) for _ in range(3)]
    store: Any = SimpleNamespace(get=lambda _keys: {}, put=lambda _entries: None)
    table = _texts([4] * 30)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cached_scorer, "MOST_UNIT", 50)
        scorer = cached_scorer.CachedScorer(Noted(each), store)
        scorer.score(table, np.array([[i % 20, 20 + i // 20] for i in range(200)]))
    assert asked == [150, 50]


@pytest.mark.parametrize("device", ["all", "cuda:0,cuda:1"])
def test_other_families_take_one_device(device: str) -> None:
    with pytest.raises(BackendError, match="work of NLI models opened by name; name one device"):
        open_scorer("cosine", device=device)


@pytest.mark.gpu
def test_gpu_all_devices_give_the_answers_of_one(
    checkpoint: Callable[..., Path], pairs: Pairs, number: Number, across_devices: float
) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("fewer than two CUDA devices")
    folder = str(checkpoint("roberta"))
    found, expected = (
        open_scorer(folder, device=name).score(*number(pairs)) for name in ("all", "cuda:0")
    )
    np.testing.assert_allclose(found.entailment, expected.entailment, rtol=0, atol=across_devices)
