"""The compiled coefficients against the plain ones and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.kernels.correlation import (
    KINDS,
    correlation_reference,
    resampled_correlations,
    row_correlations,
)

THEIRS = {
    "kendall": scipy.stats.kendalltau,
    "spearman": scipy.stats.spearmanr,
    "pearson": scipy.stats.pearsonr,
}
FEW_AND_MANY = (2, 3, 14, 48, 49, 130)


def theirs(kind, x, y):
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan
    return THEIRS[kind](x, y)[0]


@pytest.mark.parity
@pytest.mark.parametrize("size", FEW_AND_MANY)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_equal_scipy_with_ties_and_without(kind, size):
    rng = np.random.default_rng(size)
    x = np.vstack([rng.normal(size=(20, size)), rng.integers(1, 6, (20, size))])
    y = np.vstack([rng.integers(0, 9, (20, size)) / 2.0, rng.normal(size=(20, size))])
    expected = [theirs(kind, a, b) for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(row_correlations(kind, x, y), expected, atol=1e-12)
    plain = [correlation_reference(kind, a, b) for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(plain, expected, atol=1e-12)


@pytest.mark.parity
@pytest.mark.parametrize("size", FEW_AND_MANY)
@pytest.mark.parametrize("levels", [(1000, 4), (4, 1000), (3, 3)])
@pytest.mark.parametrize("kind", KINDS)
def test_resamples_equal_scipy_on_the_drawn_points(kind, levels, size):
    rng = np.random.default_rng(size)
    x, y = (rng.integers(0, count, size) / 3.0 for count in levels)
    draws = rng.integers(0, size, (25, size))
    weights = np.stack([np.bincount(draw, minlength=size) for draw in draws])
    expected = [theirs(kind, x[draw], y[draw]) for draw in draws]
    found = resampled_correlations(kind, np.stack([x, -x]), np.stack([y, y]), weights)
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-12)
    np.testing.assert_allclose(found[:, 1], np.negative(expected), atol=1e-12)
    rows = (np.tile(side, (25, 1)) for side in (x, y))
    np.testing.assert_allclose(row_correlations(kind, *rows, weights), expected, atol=1e-12)


numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e150, 1e150), st.just(float("nan")))
points = st.lists(st.tuples(numbers, numbers, st.integers(0, 3)), min_size=1, max_size=60)


@settings(max_examples=150, deadline=None)
@given(points)
def test_tau_equals_the_plain_one_on_any_numbers(drawn):
    x, y, weights = (np.array(side) for side in zip(*drawn, strict=True))
    expected = correlation_reference("kendall", x, y, weights)
    found = row_correlations("kendall", x[None], y[None], weights[None])[0]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    present = ~(np.isnan(x) | np.isnan(y))
    expected = correlation_reference("kendall", x, y, weights * present)
    found = resampled_correlations("kendall", x[None], y[None], weights[None])[0, 0]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(points, st.sampled_from(KINDS))
def test_coefficients_are_bounded_symmetric_and_odd(drawn, kind):
    x, y, weights = (np.array(side) for side in zip(*drawn, strict=True))
    value = row_correlations(kind, x[None], y[None], weights[None])[0]
    assert np.isnan(value) or -1.0 <= value <= 1.0
    for a, b, sign in ((y, x, 1), (-x, y, -1), (-x, -y, 1)):
        other = row_correlations(kind, a[None], b[None], weights[None])[0]
        np.testing.assert_allclose(other, sign * value, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_undefined_is_nan_and_weight_zero_takes_a_point_out(kind):
    x = np.array([1.0, 2.0, np.nan, 2.0])
    y = np.array([5.0, 6.0, 1.0, 6.0])
    weights = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 2], [1, 1, 1, 0], [0, 0, 0, 0]])
    nan = np.nan
    rows = (np.tile(side, (5, 1)) for side in (x, y))
    found = row_correlations(kind, *rows, weights)
    np.testing.assert_allclose(found, [1.0, nan, nan, nan, nan])
    found = resampled_correlations(kind, x[None], y[None], weights)[:, 0]
    np.testing.assert_allclose(found, [1.0, nan, nan, 1.0, nan])


def test_a_row_sorted_by_a_tree_skips_missing_points_too():
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 20, (2, 1, 100)) / 4.0
    x[0, ::7], y[0, ::5] = np.nan, np.nan
    weights = rng.multinomial(100, np.full(100, 0.01), size=9)
    present = ~(np.isnan(x[0]) | np.isnan(y[0]))
    for kind in KINDS:
        expected = [correlation_reference(kind, x[0], y[0], w * present) for w in weights]
        np.testing.assert_allclose(resampled_correlations(kind, x, y, weights)[:, 0], expected)


def test_pearson_survives_huge_and_tiny_numbers():
    x = np.array([[1.0, 2.0, 4.0]])
    expected = correlation_reference("pearson", x[0], x[0] ** 2)
    for scale in (1e-200, 1e200):
        assert row_correlations("pearson", x * scale, x**2 * scale)[0] == pytest.approx(expected)


def test_what_does_not_fit_is_refused():
    x = np.zeros((2, 3))
    with pytest.raises(ValueError, match="do not fit"):
        row_correlations("kendall", x, x[:, :2])
    with pytest.raises(ValueError, match="do not fit"):
        resampled_correlations("kendall", x, x, np.ones((1, 2), np.int64))
    with pytest.raises(ValueError, match="not be negative"):
        row_correlations("kendall", x, x, np.full((2, 3), -1))
