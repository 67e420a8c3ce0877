"""The threshold rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.calibration import balanced_accuracy, best_threshold
from prevalence.errors import InputError

SCORES = st.integers(0, 12).map(lambda n: n / 16)
CASES = st.lists(st.tuples(SCORES, st.booleans()), min_size=2, max_size=40).filter(
    lambda rows: len({label for _, label in rows}) == 2
)


@settings(deadline=None)
@given(rows=CASES)
def test_it_is_the_lowest_of_the_best_scores(rows):
    scores, labels = (np.array(column) for column in zip(*rows, strict=True))
    tried = np.unique(scores)
    reached = [balanced_accuracy(scores, labels, cut) for cut in tried[:-1]] or [0.5]
    best = best_threshold(scores, labels)
    assert best.balanced_accuracy == pytest.approx(max(reached))
    first = next(i for i, value in enumerate(reached) if value > max(reached) - 1e-9)
    assert best.value == tried[first]


@settings(deadline=None)
@given(rows=CASES)
def test_midpoints_decide_like_the_scores_below_them(rows):
    scores, labels = (np.array(column) for column in zip(*rows, strict=True))
    low, middle = (
        best_threshold(scores, labels, candidates=rule) for rule in ("scores", "midpoints")
    )
    assert middle.balanced_accuracy == low.balanced_accuracy
    assert ((scores > low.value) == (scores > middle.value)).all()


def test_of_equal_cuts_the_lowest_is_taken():
    # Cuts at .1 and .3 both give recall 1 and ½ with specificity ½ and 1.
    assert best_threshold([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]).value == 0.1


def test_the_middle_of_neighbouring_float32_scores_is_not_rounded_up():
    low = np.float32(0.5)
    high = np.nextafter(low, np.float32(1))
    scores = np.array([low, high], np.float64)
    cut = best_threshold(scores, [0, 1], candidates="midpoints").value
    assert np.float32(cut) < high


def test_equal_scores_separate_nothing():
    assert best_threshold([0.3, 0.3], [0, 1]) == (0.3, 0.5)


def test_what_is_not_a_number_is_refused():
    with pytest.raises(InputError, match="not a finite number"):
        best_threshold([0.1, float("nan")], [0, 1])
    with pytest.raises(InputError, match="equally long"):
        best_threshold([0.1, 0.2, 0.3], [0, 1])
