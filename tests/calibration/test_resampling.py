"""Figures from sums by product, their intervals, and paired tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from prevalence.calibration.figures import auc, weighted_auc
from prevalence.calibration.resampling import (
    Outcome,
    Resampling,
    compare,
    figures_of,
    intervals_of,
)
from prevalence.errors import ConfigurationError

QUICK = Resampling(resamples=200, trials=500, seed=3)


def outcome(*, seed=0, pairs=120, products=6, signal=0.3, noise_seed=None):
    rng = np.random.default_rng(seed)
    labels = rng.random(pairs) < 0.4
    groups = rng.permutation(np.arange(pairs) % products)
    noise = rng if noise_seed is None else np.random.default_rng(noise_seed)
    scores = np.clip(np.round(noise.random(pairs) * 0.6 + signal * labels, 2), 0, 1)
    return Outcome(scores, scores, scores > 0.45, labels, groups)


def test_figures_by_hand():
    # Decided .9 .6 | not .4 .1; labels 1 0 1 0: one of each outcome.
    scores = np.array([0.9, 0.6, 0.4, 0.1])
    labels = np.array([True, False, True, False])
    found = figures_of(Outcome(scores, scores, scores > 0.5, labels, np.zeros(4, np.int64)))
    assert found["auc"] == 0.75
    assert [found[name] for name in ("balanced_accuracy", "precision", "recall", "f1")] == [0.5] * 4
    assert found["brier"] == pytest.approx((0.01 + 0.36 + 0.36 + 0.01) / 4)
    # One pair a bin: |1 − .9| + |0 − .6| + |1 − .4| + |0 − .1| over four.
    assert found["ece"] == pytest.approx(0.35)
    counts = ("true_positives", "false_positives", "false_negatives", "true_negatives")
    assert [found[name] for name in counts] == [1, 1, 1, 1]


@pytest.mark.parity
def test_figures_equal_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    found, given = figures_of(outcome()), outcome()
    y, decided, scores = given.labels, given.decided, given.scores
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(y, scores))
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, decided))
    for name in ("precision", "recall", "f1"):
        assert found[name] == pytest.approx(getattr(metrics, f"{name}_score")(y, decided))
    assert found["brier"] == pytest.approx(metrics.brier_score_loss(y, scores))


def test_undefined_figures_are_none():
    scores = np.array([0.1, 0.2])
    nothing = Outcome(scores, scores, scores > 1, np.array([False, False]), np.array([0, 1]))
    found = figures_of(nothing)
    assert (
        found["auc"] is found["recall"] is found["precision"] is found["balanced_accuracy"] is None
    )
    assert found["specificity"] == 1.0
    assert intervals_of(nothing, QUICK) == {}
    assert np.isnan(compare(nothing, nothing, QUICK).auc.p_value)


def test_a_weighted_auc_is_the_auc_of_the_repeated_pairs():
    given = outcome(products=4)
    weights = np.array([[1, 1, 1, 1], [2, 0, 1, 1], [0, 0, 3, 1]])
    found = weighted_auc(given.scores, given.labels, given.groups, weights)
    for row, value in zip(weights, found, strict=True):
        repeated = np.repeat(np.arange(len(given.labels)), row[given.groups])
        assert value == pytest.approx(auc(given.scores[repeated], given.labels[repeated]))


def test_intervals_come_from_drawing_products():
    given = outcome()
    found = intervals_of(given, QUICK)
    rng = np.random.default_rng(QUICK.seed)
    drawn = []
    for row in rng.multinomial(6, [1 / 6] * 6, size=QUICK.resamples):
        repeated = np.repeat(np.arange(len(given.labels)), row[given.groups])
        part = Outcome(*(column[repeated] for column in (
            given.scores, given.probabilities, given.decided, given.labels
        )), np.zeros(len(repeated), np.int64))  # fmt: skip
        drawn.append(figures_of(part))
    # Widened as Student's interval of 6 is.
    tail = stats.norm.cdf(-math.sqrt(6 / 5) * stats.t.ppf(0.975, 5))
    assert tail < 0.003
    for name in ("auc", "balanced_accuracy", "f1", "ece", "brier"):
        low, high = np.quantile([figures[name] for figures in drawn], [tail, 1 - tail])
        assert (found[name].low, found[name].high) == pytest.approx((low, high))


def test_a_scorer_does_not_differ_from_itself_and_a_good_one_does_from_noise():
    good, noise = outcome(signal=0.5), outcome(signal=0.0)
    same, other = compare(good, good, QUICK), compare(good, noise, QUICK)
    assert (same.balanced_accuracy.difference, same.balanced_accuracy.p_value) == (0.0, 1.0)
    assert (same.auc.difference, same.auc.p_value) == (0.0, 1.0)
    for name in ("balanced_accuracy", "auc"):
        test = getattr(other, name)
        back = getattr(compare(noise, good, QUICK), name)
        assert test.difference > 0.15
        assert test.p_value < 0.1
        assert back.difference == pytest.approx(-test.difference)
        assert back.p_value == pytest.approx(test.p_value)


def test_equal_scorers_are_rarely_told_apart():
    small = Resampling(resamples=50, trials=200, seed=1)
    values = [
        compare(
            outcome(seed=n, noise_seed=100 + n), outcome(seed=n, noise_seed=200 + n), small
        ).balanced_accuracy.p_value
        for n in range(60)
    ]
    assert np.mean(np.array(values) <= 0.1) <= 0.25
    assert np.mean(values) > 0.3


@pytest.mark.parametrize("products", [2, 5])
def test_few_products_have_no_interval_and_no_bootstrap_test(products):
    good, noise = outcome(products=products, signal=0.5), outcome(products=products, signal=0.0)
    assert intervals_of(good, QUICK) == {}
    found = compare(good, noise, QUICK)
    assert found.auc.difference > 0.15
    assert math.isnan(found.auc.p_value)
    # All-swapped or none-swapped, by hand.
    assert found.balanced_accuracy.p_value == pytest.approx(2 / 2**products, abs=0.07)


def test_equal_seeds_give_equal_intervals():
    assert intervals_of(outcome(), QUICK) == intervals_of(outcome(), QUICK)
    assert intervals_of(outcome(), QUICK) != intervals_of(outcome(), Resampling(200, 500, 4))


def test_draws_do_not_depend_on_the_block(monkeypatch):
    whole = compare(outcome(signal=0.2), outcome(noise_seed=9), QUICK)
    rows = []
    usual = np.random.default_rng

    class Counting:
        def __init__(self, seed):
            self._rng = usual(seed)

        def integers(self, low, high, shape):
            rows.append(shape[0])
            return self._rng.integers(low, high, shape)

        def __getattr__(self, name):
            return getattr(self._rng, name)

    monkeypatch.setattr("prevalence.stats.resampling.BLOCK", 6 * 7)  # 7 trials of 6 products
    first, second = outcome(signal=0.2), outcome(noise_seed=9)
    monkeypatch.setattr("numpy.random.default_rng", Counting)
    assert compare(first, second, QUICK) == whole
    assert rows == [7] * 71 + [3]  # 500 trials


@pytest.mark.parametrize("wrong", [{"resamples": 0}, {"trials": 0}, {"confidence": 95}])
def test_options_of_drawing_out_of_range(wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        Resampling(**wrong)
