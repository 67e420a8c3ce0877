"""What is asked of a scorer, and how its answers are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from prevalence.api import OpinionPrevalence
from prevalence.scoring.engine import Engine
from prevalence.summarize.questions import PairJudge

if TYPE_CHECKING:
    from collections.abc import Callable

REVIEWS = ["A long review of the boots.", "", "Short one.", "   ", "Middling review."]
SENTENCES = ["Warm.", "They leak.", "So soft."]


@pytest.fixture
def judge(fake_scorer: Any) -> Callable[..., PairJudge]:
    def build(**options: Any) -> PairJudge:
        scorer = fake_scorer(**options)
        build.scorer = scorer  # type: ignore[attr-defined]
        return PairJudge(
            Engine(scorer).answer,
            reviews=REVIEWS,
            sentences=SENTENCES,
            statement="I bought a boot.",
            threshold=scorer.traits.threshold,
            three_way=scorer.traits.three_way,
        )

    return build


def every_pair(judge: PairJudge) -> tuple[Any, Any]:
    return np.repeat(judge.rows, 3), np.tile(np.arange(3), len(judge.rows))


def test_empty_reviews_are_not_asked_and_short_ones_come_first(
    judge: Callable[..., PairJudge],
) -> None:
    made = judge()
    assert made.n_reviews == 5
    assert made.rows.tolist() == [2, 4, 0]


@pytest.mark.parametrize("three_way", [True, False])
def test_the_matrix_is_that_of_support(
    judge: Callable[..., PairJudge], fake_scorer: Any, three_way: bool
) -> None:
    made = judge(three_way=three_way)
    rows, candidates = every_pair(made)
    shuffled = np.random.default_rng(0).permutation(len(rows))
    first, second = shuffled[:4], shuffled[4:]
    for part in (first, second):
        made.reviews(rows[part], candidates[part])
    metric = OpinionPrevalence(scorer=fake_scorer(three_way=three_way))
    expected = metric.support(REVIEWS, [SENTENCES[2], SENTENCES[0]])
    matrix = made.matrix([2, 0])
    for k, statement in enumerate(expected):
        column = matrix.column(k)
        assert column.entailment == statement.entailment
        assert column.supporting_reviews == statement.supporting_reviews
        assert column.contradicting_reviews == statement.contradicting_reviews


def test_decisions_are_the_scorers(judge: Callable[..., PairJudge]) -> None:
    made = judge()
    scorer = judge.scorer  # type: ignore[attr-defined]
    rows, candidates = every_pair(made)
    implied = made.reviews(rows, candidates)
    for row, candidate, decision in zip(rows, candidates, implied, strict=True):
        yes, _ = scorer.answer(REVIEWS[row], SENTENCES[candidate])
        assert decision == (yes > 0.5)
    trivial = made.trivial(np.arange(3))
    assert trivial.tolist() == [
        bool(scorer.answer("I bought a boot.", text)[0] > 0.5) for text in SENTENCES
    ]
    between = made.between(np.array([0, 1]), np.array([1, 0]))
    for place, (first, second) in enumerate([(0, 1), (1, 0)]):
        yes, no = scorer.answer(SENTENCES[first], SENTENCES[second])
        assert between.implied[place] == (yes > 0.5)
        assert between.contradicted[place] == (yes <= 0.5 and no > yes and no > 1 - yes - no)


def test_calls_are_counted_by_kind(judge: Callable[..., PairJudge]) -> None:
    made = judge()
    rows, candidates = every_pair(made)
    made.reviews(rows, candidates)
    made.trivial(np.arange(3))
    made.between(np.array([0]), np.array([1]))
    calls = made.calls
    assert (calls.trivial, calls.between, calls.reviews, calls.total) == (3, 1, 9, 13)


def test_a_sentence_longer_than_the_model_reads_is_found_and_implied_by_nothing(
    judge: Callable[..., PairJudge],
) -> None:
    made = judge(too_long=frozenset({"They leak."}))
    rows, candidates = every_pair(made)
    assert not made.reviews(rows, candidates)[candidates == 1].any()
    assert made.unreadable().tolist() == [1]


def test_without_a_statement_nothing_is_trivial_and_nothing_is_asked(fake_scorer: Any) -> None:
    scorer = fake_scorer()
    made = PairJudge(
        Engine(scorer).answer,
        reviews=REVIEWS,
        sentences=SENTENCES,
        statement=None,
        threshold=0.5,
        three_way=True,
    )
    assert not made.trivial(np.arange(3)).any()
    assert scorer.asked == []


@pytest.mark.parametrize("three_way", [True, False])
def test_a_sentence_chosen_at_two_places_has_two_equal_columns(
    judge: Callable[..., PairJudge], three_way: bool
) -> None:
    made = judge(three_way=three_way)
    made.reviews(*every_pair(made))
    once, twice = made.matrix([2, 0]), made.matrix([2, 0, 2])
    assert [twice.column(k) for k in range(3)] == [once.column(k) for k in (0, 1, 0)]
