"""Average precision against a plain count, KPM-2021's rule by hand, and errors of counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.errors import InputError
from prevalence.stats.matching import (
    Undecided,
    average_precision,
    best_pairs,
    count_error,
    matching_precision,
)

UNDECIDED = math.nan


def plain_precision(scores: list[float], labels: list[bool]) -> float:
    """The definition word by word: at each distinct score, recall gained times precision."""
    total, before = 0.0, 0.0
    for cut in sorted(set(scores), reverse=True):
        chosen = [label for score, label in zip(scores, labels, strict=True) if score >= cut]
        recall = sum(chosen) / sum(labels)
        total += (recall - before) * (sum(chosen) / len(chosen))
        before = recall
    return total


ROWS = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.9]), st.booleans()), min_size=1)


@given(ROWS)
def test_average_precision_is_the_plain_sum(rows: list[tuple[float, bool]]) -> None:
    scores, labels = [score for score, _ in rows], [label for _, label in rows]
    found = average_precision(np.array(scores), np.array(labels))
    if any(labels):
        assert found == pytest.approx(plain_precision(scores, labels))
    else:
        assert math.isnan(found)


def test_average_precision_by_hand() -> None:
    # Ranks 1 and 3 are matches: (1/1 + 2/3) / 2.
    scores = np.array([0.9, 0.8, 0.7, 0.6])
    labels = np.array([True, False, True, False])
    assert average_precision(scores, labels) == pytest.approx(5 / 6)
    # All equal: one step, whose precision is the share of matches.
    assert average_precision(np.zeros(4), labels) == 0.5


@pytest.mark.parametrize("scores", [[0.1], [0.1, math.nan], [0.1, math.inf]])
def test_average_precision_takes_one_finite_score_a_label(scores: list[float]) -> None:
    with pytest.raises(InputError, match="finite"):
        average_precision(np.array(scores), np.array([True, False]))


def test_the_first_of_equal_pairs_is_the_best() -> None:
    scores = np.array([0.2, 0.7, 0.7, UNDECIDED, 0.1, UNDECIDED])
    comments = np.array([0, 0, 0, 1, 1, 2])
    assert best_pairs(scores, comments).tolist() == [1, 4, -1]


# Five comments with two key points each. The best pairs are marked; by confidence they are
# .9 (match), .8 (undecided), .7 (no match), .6 (match), .5 (match). int(5 · ½) = 2 of them stay.
SCORES = np.array([0.9, 0.1, 0.2, 0.8, 0.7, 0.3, 0.6, 0.0, 0.4, 0.5])
LABELS = np.array([1, 0, 1, UNDECIDED, 0, 1, 1, 0, 0, 1])
COMMENTS = np.repeat(np.arange(5), 2)


def test_strict_and_relaxed_by_hand() -> None:
    # Kept: .9 match, .8 undecided. Strict: one match at rank 1. Relaxed: both are matches.
    assert matching_precision(SCORES, LABELS, COMMENTS, undecided="strict") == 1.0
    assert matching_precision(SCORES, LABELS, COMMENTS, undecided="relaxed") == 1.0
    # With the undecided pair on top, strict has its one match at rank 2.
    swapped = SCORES.copy()
    swapped[3] = 0.95
    assert matching_precision(swapped, LABELS, COMMENTS, undecided="strict") == 0.5
    assert matching_precision(swapped, LABELS, COMMENTS, undecided="relaxed") == 1.0


def test_the_lower_half_does_not_count() -> None:
    wrong_below = LABELS.copy()
    wrong_below[[4, 6, 9]] = 0
    found = [
        matching_precision(SCORES, labels, COMMENTS, undecided="strict")
        for labels in (LABELS, wrong_below)
    ]
    assert found[0] == found[1]


def test_a_comment_without_a_score_is_a_wrong_match() -> None:
    # Four comments with one key point each; half of them stay. Where two have no score, the two
    # that have one stay; where three have none, the first of those stays too, at .99 by the rule,
    # above the one match: precision ½ at rank 2.
    labels, comments = np.ones(4), np.arange(4)
    two = np.array([UNDECIDED, 0.3, UNDECIDED, 0.4])
    three = np.array([UNDECIDED, UNDECIDED, UNDECIDED, 0.4])
    assert matching_precision(two, labels, comments, undecided="strict") == 1.0
    assert matching_precision(three, labels, comments, undecided="strict") == 0.5


def test_nothing_right_is_zero_and_one_comment_is_undefined() -> None:
    two = np.array([0.2, 0.1])
    assert matching_precision(two, np.array([0.0, 1.0]), np.arange(2), undecided="strict") == 0.0
    found = matching_precision(two, np.ones(2), np.zeros(2, np.int64), undecided="strict")
    assert math.isnan(found)


@given(st.lists(st.sampled_from([0.0, 1.0, UNDECIDED]), min_size=2, max_size=12))
def test_one_pair_a_comment_is_average_precision_of_the_upper_half(labels: list[float]) -> None:
    """Undecided pairs are filled in; a relaxed figure may lie below, as it has more to find."""
    scores = np.linspace(1, 0, len(labels))
    rules: list[tuple[Undecided, float]] = [("strict", 0.0), ("relaxed", 1.0)]
    for rule, value in rules:
        found = matching_precision(scores, np.array(labels), np.arange(len(labels)), undecided=rule)
        half = len(labels) // 2
        upper = [bool(np.nan_to_num(label, nan=value)) for label in labels][:half]
        expected = plain_precision(scores.tolist()[:half], upper) if any(upper) else 0.0
        assert found == pytest.approx(expected)


def test_errors_of_counts() -> None:
    # 19 for 21 and 6 for 29, as published counts of two key points go: errors 2 and 23.
    assert count_error(np.array([19.0, 6]), np.array([21.0, 29])) == (12.5, -12.5)
    assert count_error(np.array([3.0, 1]), np.array([1.0, 3])) == (2.0, 0.0)
    assert all(map(math.isnan, count_error(np.zeros(0), np.zeros(0))))
