"""The threshold rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from prevalence.calibration import balanced_accuracy, best_threshold
from prevalence.errors import ConfigurationError, InputError

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


def _two_normals(positives: int, negatives: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores whose log-odds are normal with variance 1 about +0.5 and -1.5: best cut at -0.5."""
    draw = np.random.default_rng(seed)
    odds = np.concatenate([draw.normal(0.5, 1.0, positives), draw.normal(-1.5, 1.0, negatives)])
    return 1.0 / (1.0 + np.exp(-odds)), np.repeat([1, 0], [positives, negatives])


@pytest.mark.parametrize(("positives", "negatives"), [(2000, 2000), (500, 6000)])
def test_a_curve_finds_the_cut_of_two_normals_whatever_their_shares(positives, negatives):
    scores, labels = _two_normals(positives, negatives, seed=1)
    cut = best_threshold(scores, labels, candidates="logistic").value
    assert np.log(cut / (1 - cut)) == pytest.approx(-0.5, abs=0.1)


def test_a_curve_is_that_of_an_independent_fit():
    scores, labels = _two_normals(40, 90, seed=2)
    odds = np.log(scores / (1 - scores))
    # Platt's targets are what two pseudo-pairs a class give.
    aims = np.where(labels == 1, 41 / 42, 1 / 92)

    def loss(weights: np.ndarray) -> float:
        fitted = weights[0] * odds + weights[1]
        return float((np.logaddexp(0, fitted) - aims * fitted).sum())

    scale, shift = minimize(loss, [1.0, 0.0], tol=1e-12).x
    expected = (np.log(40 / 90) - shift) / scale
    found = best_threshold(scores, labels, candidates="logistic")
    assert np.log(found.value / (1 - found.value)) == pytest.approx(expected, abs=1e-4)
    assert found.balanced_accuracy == balanced_accuracy(scores, labels, found.value)


def test_a_curve_moves_less_from_sample_to_sample():
    cuts = {
        rule: [
            best_threshold(*_two_normals(60, 140, seed), candidates=rule).value
            for seed in range(100)
        ]
        for rule in ("midpoints", "logistic")
    }
    assert np.std(cuts["logistic"]) < np.std(cuts["midpoints"]) / 2


@settings(deadline=None)
@given(rows=CASES)
def test_a_curve_never_beats_the_best_cut(rows):
    scores, labels = (np.array(column) for column in zip(*rows, strict=True))
    positive, negative = scores[labels].mean(), scores[~labels].mean()
    assume(positive > negative or np.unique(scores).size == 1)
    try:
        found = best_threshold(scores, labels, candidates="logistic")
    except InputError as error:
        # Means of scores may rise where those of their log-odds fall.
        assume("scores fall" not in str(error))
        raise
    assert 0.0 < found.value < 1.0 or np.unique(scores).size == 1
    assert found.balanced_accuracy <= best_threshold(scores, labels).balanced_accuracy + 1e-12


def test_a_curve_that_would_be_too_steep_still_cuts_between_the_classes():
    scores, labels = np.repeat([0.3, 0.3004], 1000), np.repeat([0, 1], 1000)
    found = best_threshold(scores, labels, candidates="logistic")
    assert 0.3 < found.value < 0.3004
    assert found.balanced_accuracy == 1.0


def test_a_curve_needs_scores_between_0_and_1():
    with pytest.raises(InputError, match="needs scores in"):
        best_threshold([-3.0, 0.2, 0.4], [0, 1, 1], candidates="logistic")


def test_an_unknown_rule_is_refused():
    with pytest.raises(ConfigurationError, match="rule 'midpoint': choose from scores, midpoints"):
        best_threshold([0.1, 0.2], [0, 1], candidates="midpoint")
