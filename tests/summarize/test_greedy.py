"""Greedy construction against a plain reading of Algorithm 1, and what racing promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.errors import ConfigurationError
from prevalence.metric import ReviewMatrix
from prevalence.summarize import greedy as module
from prevalence.summarize.candidates import Candidates, LengthRule
from prevalence.summarize.greedy import Pick, greedy
from prevalence.summarize.questions import KnownJudge
from prevalence.text.sentences import get_splitter

if TYPE_CHECKING:
    from collections.abc import Callable

    World = Callable[..., Any]


def algorithm_1(
    world: Any, *, characters: float = np.inf, sentences: float = np.inf, refuse: bool = False
) -> list[tuple[int, int]]:
    """Every sentence of every review with its support, sorted, and the walk: nothing clever."""
    places = [(place, k) for place, k in enumerate(world.owners) if not world.trivial[k]]
    places.sort(key=lambda item: (-int(world.implied[:, item[1]].sum()), item[0]))
    chosen: list[tuple[int, int]] = []
    size = 0
    for place, k in places:
        if size >= characters or len(chosen) >= sentences:
            break
        before = [c for _, c in chosen]
        if any(world.between[c, k] for c in before):
            continue
        if refuse and any(world.contradicted[c, k] or world.contradicted[k, c] for c in before):
            continue
        chosen.append((place, k))
        size += world.lengths[k]
    return chosen


def identity(picks: list[Pick]) -> list[tuple[int, int]]:
    return [(pick.rank, pick.candidate) for pick in picks]


WORLDS = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "m": st.integers(1, 70),
        "n": st.integers(1, 30),
        "repeats": st.integers(0, 8),
        "redundancy": st.sampled_from([0.0, 0.1, 0.4]),
    }
)
LENGTHS = st.one_of(
    st.builds(lambda n: {"sentences": n}, st.integers(1, 12)),
    st.builds(lambda n: {"characters": n + 0.5}, st.integers(0, 400)),
)


@given(parameters=WORLDS, length=LENGTHS, refuse=st.booleans())
@settings(max_examples=150, deadline=None)
def test_exact_search_is_algorithm_1(
    world: World, parameters: dict[str, Any], length: dict[str, Any], refuse: bool
) -> None:
    made = world(**parameters)
    judge = made.judge()
    picks = greedy(judge, made.candidates, LengthRule(**length), refuse_contradictions=refuse)
    assert identity(picks) == algorithm_1(made, **length, refuse=refuse)
    assert [pick.support for pick in picks] == [
        int(made.implied[:, pick.candidate].sum()) for pick in picks
    ]
    assert judge.calls.reviews <= made.implied.size


@given(parameters=WORLDS, length=LENGTHS, seed=st.integers(0, 100))
@settings(max_examples=75, deadline=None)
def test_racing_with_delta_towards_zero_is_exact(
    world: World, parameters: dict[str, Any], length: dict[str, Any], seed: int
) -> None:
    made = world(**parameters)
    expected = algorithm_1(made, **length)
    for delta in (1e-300, 1e-12):
        picks = greedy(made.judge(), made.candidates, LengthRule(**length), delta=delta, seed=seed)
        assert identity(picks) == expected


def mistakes(world: World, *, delta: float, runs: int = 1000) -> int:
    """How often racing misses Algorithm 1's choice, over runs in ten worlds of close supports."""
    rule = {"sentences": 2}
    wrong = 0
    for number in range(10):
        shares = np.random.default_rng(number).uniform(0.3, 0.6, 20)
        made = world(number, m=60, n=20, shares=shares, redundancy=0.1)
        expected = algorithm_1(made, **rule)
        for seed in range(runs // 10):
            # In small batches, so that a few sentences are enough for a hard choice.
            picks = greedy(
                made.judge(), made.candidates, LengthRule(**rule), delta=delta, seed=seed, batch=2
            )
            wrong += identity(picks) != expected
    return wrong


@pytest.mark.slow
def test_racing_keeps_its_promise_over_a_thousand_orders(world: World) -> None:
    # At most 100 mistakes are expected of delta = 0.1; the union bound makes them far fewer.
    assert mistakes(world, delta=0.1) <= 100


def test_the_count_of_mistakes_can_tell_a_bound_that_does_not_hold(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def point_estimate(hits: Any, drawn: int, population: int, alpha: float) -> Any:
        return np.round(hits * population / max(drawn, 1)).astype(np.int64)

    monkeypatch.setattr(module, "upper_bounds", point_estimate)
    assert mistakes(world, delta=0.1, runs=100) > 30


def test_racing_asks_little_of_many_reviews(world: World) -> None:
    shares = np.r_[np.full(4, 0.6), np.full(396, 0.05)]
    made = world(3, m=400, n=400, shares=shares, redundancy=0.0)
    exact, raced = made.judge(), made.judge()
    rule = LengthRule(sentences=3)
    expected = greedy(exact, made.candidates, rule)
    assert greedy(raced, made.candidates, rule, delta=0.05) == expected
    assert raced.calls.reviews < 0.15 * made.implied.size
    assert raced.calls.reviews < exact.calls.reviews


def test_racing_is_soon_done_where_all_reviews_agree(world: World) -> None:
    shares = np.r_[np.full(4, 1.0), np.full(196, 0.3)]
    made = world(4, m=200, n=200, shares=shares, redundancy=0.0, trivial=0.0)
    exact, raced = made.judge(), made.judge()
    rule = LengthRule(sentences=3)
    assert greedy(raced, made.candidates, rule, delta=0.05) == greedy(exact, made.candidates, rule)
    assert raced.calls.reviews <= exact.calls.reviews < 0.15 * made.implied.size


def test_racing_among_few_reviews_is_exact_search(world: World) -> None:
    made = world(2, m=20, n=40)
    exact, raced = made.judge(), made.judge()
    rule = LengthRule(sentences=3)
    expected = greedy(exact, made.candidates, rule)
    assert greedy(raced, made.candidates, rule, delta=0.5, seed=9) == expected
    assert raced.calls == exact.calls


def test_a_seed_is_an_order_and_the_same_seed_the_same_work(world: World) -> None:
    made = world(5, m=100, n=60)
    rule = LengthRule(sentences=3)
    work = []
    for seed in (1, 1, 2):
        judge = made.judge()
        greedy(judge, made.candidates, rule, delta=0.05, seed=seed)
        work.append(judge.calls.reviews)
    assert work[0] == work[1] != work[2]


@pytest.fixture
def three() -> tuple[Candidates, np.ndarray]:
    """Supports 2, 3, 3 of 4: the second and third sentence tie, and the second stands first."""
    reviews = ["Red. Warm.", "Soft."]
    implied = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]], np.bool_)
    return Candidates.of(reviews, get_splitter()), implied


def judge_of(implied: np.ndarray, between: np.ndarray) -> KnownJudge:
    return KnownJudge(ReviewMatrix(implied.astype(np.float32), implied, None), implied=between)


def test_ties_keep_source_order(three: tuple[Candidates, np.ndarray]) -> None:
    candidates, implied = three
    picks = greedy(
        judge_of(implied, np.eye(3, dtype=np.bool_)), candidates, LengthRule(sentences=3)
    )
    assert picks == [Pick(1, 1, 3), Pick(2, 2, 3), Pick(0, 0, 2)]


def test_redundancy_looks_at_chosen_sentences_alone(
    three: tuple[Candidates, np.ndarray],
) -> None:
    # 1 implies 2, so 2 is dropped; 2 implies 0, which does not count, as 2 was never chosen.
    candidates, implied = three
    between = np.eye(3, dtype=np.bool_)
    between[1, 2] = between[2, 0] = True
    picks = greedy(judge_of(implied, between), candidates, LengthRule(sentences=3))
    assert [pick.candidate for pick in picks] == [1, 0]


def test_the_walk_goes_on_through_sentences_that_no_review_implies(
    three: tuple[Candidates, np.ndarray],
) -> None:
    candidates, implied = three
    nothing = np.zeros_like(implied)
    picks = greedy(
        judge_of(nothing, np.eye(3, dtype=np.bool_)), candidates, LengthRule(characters=7)
    )
    # "Red." and "Warm." have 4 + 5 characters.
    assert picks == [Pick(0, 0, 0), Pick(1, 1, 0)]


def test_a_text_that_stands_twice_is_taken_once_unless_it_does_not_imply_itself() -> None:
    candidates = Candidates.of(["Warm.", "Warm."], get_splitter())
    implied = np.ones((2, 1), np.bool_)
    for itself, expected in ((True, [Pick(0, 0, 2)]), (False, [Pick(0, 0, 2), Pick(0, 1, 2)])):
        judge = judge_of(implied, np.array([[itself]]))
        assert greedy(judge, candidates, LengthRule(sentences=5)) == expected


def test_a_prefix_of_a_longer_choice_is_the_shorter_one(world: World) -> None:
    made = world(11, m=30, n=40)
    long = greedy(made.judge(), made.candidates, LengthRule(characters=300))
    lengths = [made.lengths[pick.candidate] for pick in long]
    for characters in (1, 20, 50.5, 120, 299):
        rule = LengthRule(characters=characters)
        assert long[: rule.prefix(lengths)] == greedy(made.judge(), made.candidates, rule)


@pytest.mark.parametrize("expected", [1, 5, 40])
def test_the_shares_of_delta_add_up_to_no_more_than_delta(expected: int) -> None:
    shares = [module.risk_share(0.05, place, expected) for place in range(1, 2000)]
    assert 0.0499 < sum(shares) <= 0.05
    assert min(shares) > 0


@pytest.mark.parametrize("delta", [-0.1, 1.0, float("nan")])
def test_delta_is_a_probability(world: World, delta: float) -> None:
    made = world(0)
    with pytest.raises(ConfigurationError, match="delta must lie in"):
        greedy(made.judge(), made.candidates, LengthRule(sentences=1), delta=delta)


def test_contradictions_cannot_be_refused_when_they_are_not_known(
    three: tuple[Candidates, np.ndarray],
) -> None:
    candidates, implied = three
    judge = judge_of(implied, np.eye(3, dtype=np.bool_))
    with pytest.raises(ConfigurationError, match="three-way model"):
        greedy(judge, candidates, LengthRule(sentences=1), refuse_contradictions=True)
