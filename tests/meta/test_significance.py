"""Tests on samples and counts: SciPy as the reference, groups by hand, undefined cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from prevalence.errors import ConfigurationError, InputError
from prevalence.meta.significance import (
    compare_groups,
    correlation_by_samples,
    goodness_of_fit,
    grouped_correlations,
    shapiro_wilk,
)

NAN = float("nan")
law = settings(max_examples=30, deadline=None)
VALUES = st.lists(st.sampled_from([0.1, 0.25, 0.4, 0.41, 0.9]), min_size=2, max_size=12)


def flat(scores):
    """Stands for a correlation: something that depends on every mean."""
    return float(np.nansum(scores * np.arange(1, scores.size + 1).reshape(scores.shape)))


def test_groups_are_consecutive_samples():
    samples = np.arange(12.0).reshape(1, 2, 6)
    found = grouped_correlations(samples, flat, groups=3)
    # Pairs of neighbours: means .5, 2.5, 4.5 for the first system and 6 more for the second.
    assert found.tolist() == [0.5 + 2 * 6.5, 2.5 + 2 * 8.5, 4.5 + 2 * 10.5]


def test_a_hundred_samples_make_ten_groups_of_ten():
    rng = np.random.default_rng(0)
    human = rng.random((6, 5))
    samples = human[:, :, None] + rng.normal(0, 0.5, (6, 5, 100))

    def correlate(scores):
        pairs = zip(scores, human, strict=True)
        return np.mean([stats.spearmanr(a, b).statistic for a, b in pairs])

    found = grouped_correlations(samples, correlate)
    expected = [correlate(samples[:, :, k : k + 10].mean(axis=2)) for k in range(0, 100, 10)]
    np.testing.assert_allclose(found, expected)


def test_missing_samples_leave_the_mean():
    samples = np.array([[[1.0, NAN, 3.0, NAN]]])
    assert grouped_correlations(samples, flat, groups=2).tolist() == [1.0, 3.0]
    found = correlation_by_samples(samples, flat, sizes=range(1, 5))
    assert found.tolist() == [1.0, 1.0, 2.0, 2.0]


def test_more_samples_are_means_of_the_first():
    samples = np.array([[[4.0, 2.0, 3.0]]])
    assert correlation_by_samples(samples, flat, sizes=[3, 1]).tolist() == [3.0, 4.0]


@pytest.mark.parametrize("groups", [0, 4])
def test_uneven_groups_are_refused(groups):
    with pytest.raises(ConfigurationError, match=f"dealt into {groups} groups"):
        grouped_correlations(np.zeros((1, 1, 6)), flat, groups=groups)


@pytest.mark.parametrize("sizes", [[0], [4]])
def test_sizes_beyond_the_samples_are_refused(sizes):
    with pytest.raises(ConfigurationError, match=r"1\.\.3"):
        correlation_by_samples(np.zeros((1, 1, 3)), flat, sizes=sizes)


def test_samples_without_an_axis_are_refused():
    with pytest.raises(InputError, match="samples have 2 axes"):
        grouped_correlations(np.zeros((2, 3)), flat)
    with pytest.raises(InputError, match="samples have 1 axes"):
        correlation_by_samples(np.zeros(2), flat, sizes=[1])


@law
@given(first=VALUES, second=VALUES)
def test_group_tests_equal_scipy(first, second):
    found = compare_groups([*first, NAN], second)
    u = stats.mannwhitneyu(first, second)
    assert (found.mann_whitney.statistic, found.mann_whitney.p) == (u.statistic, u.pvalue)
    assert found.difference == pytest.approx(np.mean(first) - np.mean(second))
    if np.ptp(first) > 0 and np.ptp(second) > 0:
        t, welch = stats.ttest_ind(first, second), stats.ttest_ind(first, second, equal_var=False)
        assert (found.t_test.statistic, found.t_test.p) == (t.statistic, t.pvalue)
        assert (found.welch.statistic, found.welch.p) == (welch.statistic, welch.pvalue)


@law
@given(first=VALUES, second=VALUES)
def test_turning_the_groups_round_turns_the_signs(first, second):
    one, two = compare_groups(first, second), compare_groups(second, first)
    assert one.difference == pytest.approx(-two.difference)
    assert one.mann_whitney.p == pytest.approx(two.mann_whitney.p)
    assert one.t_test.statistic == pytest.approx(-two.t_test.statistic, nan_ok=True)


def test_groups_that_define_no_t():
    found = compare_groups([0.3, 0.3], [0.3, 0.3])
    assert found.mann_whitney.p == 1.0
    assert math.isnan(found.t_test.p)
    single = compare_groups([0.1], [0.2, 0.3])
    assert math.isnan(single.welch.p)
    assert single.mann_whitney.p == pytest.approx(2 / 3)
    empty = compare_groups([NAN], [0.2])
    assert np.isnan([empty.difference, empty.mann_whitney.p, empty.t_test.p]).all()


def test_one_constant_group_is_tested_without_a_warning():
    found = compare_groups([0.3] * 10, [0.4, 0.5, 0.6])
    assert found.t_test.p < 0.001


def test_goodness_of_fit_by_hand():
    # Expected 3,000 each: 2 · 2,196² / 3,000, and its square root over n = 6,000.
    found = goodness_of_fit([5196, 804])
    assert found.statistic == pytest.approx(2 * 2196**2 / 3000)
    assert found.cramers_v == pytest.approx(2196 / 3000)
    assert (found.freedom, found.p) == (1, 0.0)


@law
@given(counts=st.lists(st.integers(0, 50), min_size=2, max_size=6).filter(any))
def test_goodness_of_fit_equals_scipy(counts):
    expected = stats.chisquare(counts)
    found = goodness_of_fit(counts)
    assert found.statistic == pytest.approx(expected.statistic)
    if found.exact:
        expected = stats.binomtest(counts[0], sum(counts))
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.exact or found.rough) == (sum(counts) / len(counts) < 5)
    assert found.exact <= (len(counts) == 2)
    assert 0.0 <= found.cramers_v <= 1.0 + 1e-12


def test_two_small_counts_are_tested_exactly():
    # All five on one side, or on the other: 2 / 2^5. Chi-square says .0253.
    found = goodness_of_fit([5, 0])
    assert (found.p, found.exact, found.rough) == (pytest.approx(2 / 32), True, False)
    assert found.statistic == 5.0
    # Of 10, five are expected: chi-square.
    assert not goodness_of_fit([9, 1]).exact
    assert goodness_of_fit([9, 1]).p == pytest.approx(stats.chisquare([9, 1]).pvalue)
    # The exact test knows no parts of a count, and no third one.
    for counts in ([4.5, 0.5], [5, 0, 1]):
        found = goodness_of_fit(counts)
        assert (found.exact, found.rough) == (False, True)


def test_no_counts_fit_nothing():
    found = goodness_of_fit([0, 0, 0])
    assert (found.freedom, math.isnan(found.statistic), math.isnan(found.p)) == (2, True, True)


@pytest.mark.parametrize(
    ("observed", "said"),
    [
        ([5], "counts: 1 given; give two or more"),
        ([[5, 1]], "in one row"),
        ([5, -1], "not negative"),
        ([5, math.inf], "finite"),
        ([5, NAN], "finite"),
    ],
)
def test_malformed_counts_are_refused(observed, said):
    with pytest.raises(InputError, match=said):
        goodness_of_fit(observed)


def test_normality_equals_scipy_and_is_undefined_for_constants():
    values = np.random.default_rng(7).random(14)
    expected = stats.shapiro(values)
    found = shapiro_wilk([*values, NAN])
    assert (found.statistic, found.p) == (expected.statistic, expected.pvalue)
    for undefined in ([1.0, 2.0], [3.0] * 5, []):
        assert np.isnan([shapiro_wilk(undefined).statistic, shapiro_wilk(undefined).p]).all()
