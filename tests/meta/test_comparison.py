"""Tests between two metrics, by hand and against named sources."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats

from prevalence.errors import ConfigurationError, InputError
from prevalence.meta.comparison import holm, permutation_test, williams_test
from prevalence.meta.levels import LEVELS, correlate_level


@pytest.fixture
def scores():
    rng = np.random.default_rng(2)
    human = rng.integers(1, 6, (40, 8)).astype(float)
    close = human + rng.normal(size=human.shape)
    far = rng.normal(size=human.shape)
    return close, far, human


def test_permutation_of_systems_equals_all_swaps_counted_out():
    # Three systems have eight swaps; sampled p goes to the exact share of extreme ones.
    human = np.array([[1.0, 2.0, 4.0]])
    first, second = np.array([[1.0, 2.0, 5.0]]), np.array([[3.0, 1.0, 2.0]])
    z = [(grid - grid.mean()) / grid.std() for grid in (first, second)]
    differences = []
    for swap in itertools.product([False, True], repeat=3):
        one, two = np.where(swap, z[1], z[0]), np.where(swap, z[0], z[1])
        values = [scipy.stats.pearsonr(side[0], human[0])[0] for side in (one, two)]
        differences.append(abs(values[0] - values[1]))
    exact = np.mean(np.array(differences) >= differences[0] - 1e-12)
    found = permutation_test(
        "pooled", "pearson", first, second, human, over="systems", trials=4000, seed=1
    )
    assert found.statistic == pytest.approx(differences[0])
    assert found.p == pytest.approx(exact, abs=0.03)


@pytest.mark.parametrize("kind", ["kendall", "spearman"])
def test_systems_that_tie_at_the_mean_of_all_tie_in_a_permutation_test(kind):
    # The second and the fourth system have the mean of all scores, which is 0 when standardised.
    first = np.array([[2, 3, 4, 1], [3, 4, 2, 4], [4, 1, 1, 3.0]])
    human = np.array([[1, 2, 3, 4.0]] * 3)
    found = permutation_test("system", kind, first, human, human, trials=1, seed=0)
    assert found.first == pytest.approx(correlate_level("system", kind, first, human).value)


@pytest.mark.parametrize("over", ["items", "systems", "both"])
@pytest.mark.parametrize("level", LEVELS)
def test_permutation_tells_a_close_metric_from_a_far_one_and_not_from_itself(scores, level, over):
    close, far, human = scores
    options = {"over": over, "trials": 60, "seed": 1}
    found = permutation_test(level, "kendall", close, far, human, **options)
    assert found.first == pytest.approx(correlate_level(level, "kendall", close, human).value)
    assert found.statistic == pytest.approx(found.first - found.second)
    assert 1 / 61 <= found.p <= (0.2 if level != "system" else 1.0)
    itself = permutation_test(level, "kendall", close, close * 9 + 1, human, **options)
    assert itself.p == 1.0


def test_permutation_with_gaps_and_without_a_coefficient(scores):
    close, far, human = (grid.copy() for grid in scores)
    close[0, 0], far[1, 1], human[2, 2] = np.nan, np.nan, np.nan
    found = permutation_test("pooled", "pearson", close, far, human, trials=20, seed=1)
    gap = np.isnan(close) | np.isnan(far) | np.isnan(human)
    expected = scipy.stats.pearsonr(close[~gap], human[~gap])[0]
    assert found.first == pytest.approx(expected)
    constant = permutation_test("pooled", "pearson", np.ones((40, 8)), far, human, trials=5, seed=1)
    assert np.isnan(constant.p)


@pytest.mark.parametrize("undefined", ["drop", "fail"])
def test_permutations_that_make_a_metric_constant_leave_a_coefficient_out(undefined):
    # Item 2 is the same in both. Of the four swaps of item 1, which has 1 and -1, two leave or turn
    # the difference of 1, and two make both metrics constant there, which leaves 1 and 1 of item 2.
    first, second = np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([[2.0, 1.0], [1.0, 2.0]])
    options = {"trials": 400, "seed": 1, "undefined": undefined}
    found = permutation_test("summary", "kendall", first, second, first, **options)
    assert found[:3] == (1.0, 0.0, 1.0)
    assert found.p == pytest.approx(0.5, abs=0.1)


def test_trials_without_a_coefficient_do_not_count(monkeypatch):
    # Two of the four swaps make both metrics constant; the others give a difference of 2.
    first, second = np.array([[1.0, 2.0]]), np.array([[2.0, 1.0]])
    options = {"trials": 40, "seed": 1}
    assert permutation_test("pooled", "pearson", first, second, first, **options).p == 1.0
    zero = permutation_test("pooled", "pearson", first, second, first, undefined="zero", **options)
    assert zero.p == pytest.approx(0.5, abs=0.3)
    constant = np.array([[[True, False]]])
    monkeypatch.setattr("prevalence.meta.comparison.draw_swaps", lambda *_, **__: [constant])
    assert np.isnan(permutation_test("pooled", "pearson", first, second, first, **options).p)


def test_williams_by_hand():
    # r1 = .4, r2 = .3, between the metrics .2, n = 100:
    # determinant 1 - .16 - .09 - .04 + 2(.4)(.3)(.2) = .758,
    # t = .1 sqrt(99 (1.2) / (2 (.758) 99/97 + (.7²/4) .8³)) = .1 sqrt(118.8 / 1.60998) = .8590,
    # and Student's t with 97 degrees of freedom is beyond ±.8590 with p = .3925.
    matrix = np.array([[1, 0.4, 0.3], [0.4, 1, 0.2], [0.3, 0.2, 1]])
    raw = np.random.default_rng(0).normal(size=(100, 3))
    basis = np.linalg.qr(raw - raw.mean(axis=0))[0]
    human, first, second = (basis @ np.linalg.cholesky(matrix).T).T.reshape(3, 100, 1)
    found = williams_test("pooled", "pearson", first, second, human)
    assert found[:2] == (pytest.approx(0.4), pytest.approx(0.3))
    assert found.statistic == pytest.approx(0.8590, abs=5e-5)
    assert found.p == pytest.approx(0.3925, abs=5e-5)


@pytest.mark.parity
def test_williams_keeps_its_level_where_the_null_holds():
    rng = np.random.default_rng(4)
    human = rng.normal(size=(400, 30, 1))
    first, second = (human + 2 * rng.normal(size=human.shape) for _ in range(2))
    tests = [
        williams_test("pooled", "pearson", *trio) for trio in zip(first, second, human, strict=True)
    ]
    rejected = np.mean([found.p < 0.1 for found in tests])
    assert 0.06 < rejected < 0.14


def test_williams_corners(scores):
    close, far, human = scores
    forward = williams_test("system", "kendall", close, far, human)
    backward = williams_test("system", "kendall", far, close, human)
    assert forward.statistic == pytest.approx(-backward.statistic)
    assert forward.p == pytest.approx(backward.p)
    assert williams_test("pooled", "pearson", close, close, human)[2:4] == (0.0, 1.0)
    few = williams_test("system", "pearson", close[:, :3], far[:, :3], human[:, :3])
    assert np.isnan(few.p)
    with pytest.raises(ConfigurationError, match="system or pooled"):
        williams_test("summary", "pearson", close, far, human)
    with pytest.raises(InputError, match="shapes"):
        williams_test("pooled", "pearson", close[1:], far, human)
    with pytest.raises(InputError, match="shapes"):
        permutation_test("pooled", "pearson", close[1:], far, human, trials=9, seed=1)
    with pytest.raises(ConfigurationError, match="needs at least 1 trial, not 0"):
        permutation_test("pooled", "pearson", close, far, human, trials=0, seed=1)
    with pytest.raises(ConfigurationError, match="items, systems or both, not 'rows'"):
        permutation_test("pooled", "pearson", close, far, human, over="rows", trials=9, seed=1)


def test_holm_by_hand_and_with_gaps():
    # Sorted .005 (x4), .01 (x3), .03 (x2), .04 (x1), then made not to fall.
    adjusted = holm([0.04, 0.01, np.nan, 0.03, 0.005])
    np.testing.assert_allclose(adjusted, [0.06, 0.03, np.nan, 0.06, 0.02])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert holm([]).size == 0


def test_only_a_permutation_of_systems_says_something_of_other_systems():
    # Two metrics as good as each other over systems in general, each with its own favourites.
    rng = np.random.default_rng(4)
    refused = {"systems": 0, "both": 0}
    for _ in range(100):
        human = rng.normal(size=(20, 8)) + (quality := rng.normal(size=8))
        grids = [quality + rng.normal(0, 0.7, 8) + rng.normal(size=(20, 8)) for _ in range(2)]
        for over in refused:
            found = permutation_test(
                "system", "kendall", *grids, human, over=over, trials=99, seed=1
            )
            refused[over] += found.p <= 0.05
    assert refused["systems"] <= 5
    assert 16 <= refused["both"] <= 26  # docs/meta.md: a fifth
