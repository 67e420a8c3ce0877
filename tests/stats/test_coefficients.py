"""Coefficients by name: values and p-values of SciPy, rows with gaps, rules for the undefined."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from prevalence.errors import ConfigurationError, InputError
from prevalence.stats.coefficients import (
    KINDS,
    coefficient,
    coefficients,
    mean_coefficient,
    settle,
    stars,
)

THEIRS = {
    "kendall": scipy.stats.kendalltau,
    "spearman": scipy.stats.spearmanr,
    "pearson": scipy.stats.pearsonr,
}


@pytest.mark.parity
@pytest.mark.parametrize("size", [3, 4, 5, 14, 33, 34, 200])
@pytest.mark.parametrize("kind", KINDS)
def test_values_and_p_equal_scipy(kind, size):
    rng = np.random.default_rng(size)
    x = rng.normal(size=(12, size))
    y = x * rng.uniform(-2, 2, (12, 1)) + rng.normal(size=(12, size))
    x[6:], y[9:] = np.round(x[6:], 0), np.round(y[9:], 0)
    x[:, 0] = 9.0
    found = coefficients(kind, x, y)
    for row in range(12):
        if np.ptp(y[row]) == 0 or np.ptp(x[row]) == 0:
            assert np.isnan(found.value[row])
            continue
        value, p = THEIRS[kind](x[row], y[row])
        assert found.value[row] == pytest.approx(value, abs=1e-12)
        assert found.p[row] == pytest.approx(p, rel=1e-7, abs=1e-13)


@pytest.mark.parity
def test_kendall_p_of_nearly_perfect_orders_beyond_the_exact_table():
    x = np.arange(40.0)
    for swaps in (0, 1, 2):
        y = x.copy()
        for place in range(swaps):
            y[[3 * place, 3 * place + 1]] = y[[3 * place + 1, 3 * place]]
        for sign in (1, -1):
            theirs = scipy.stats.kendalltau(x, sign * y)
            found = coefficient("kendall", x, sign * y)
            assert found.value == pytest.approx(theirs.statistic, abs=1e-12)
            assert found.p == pytest.approx(theirs.pvalue, rel=1e-9)


def test_kendall_p_of_a_perfect_order_of_many_points_is_0():
    points = np.arange(200.0)
    assert coefficient("kendall", points, points**3) == (1.0, 0.0, 200)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_take_their_point_out(kind):
    x = [1.0, 2.0, np.nan, 4.0, 3.0, 9.0]
    y = [2.0, 1.0, 7.0, np.nan, 3.0, 8.0]
    assert coefficient(kind, x, y) == coefficient(kind, [1, 2, 3, 9], [2, 1, 3, 8])
    assert coefficient(kind, x, y).n == 4


@pytest.mark.parametrize("kind", KINDS)
def test_corners(kind):
    assert coefficient(kind, [1, 2], [5, 9])[:2] == (pytest.approx(1.0), 1.0)
    for x, y in (([], []), ([1.0], [1.0]), ([1, 1, 1], [1, 2, 3]), ([1, 2], [np.nan, 1])):
        value, p, _ = coefficient(kind, x, y)
        assert np.isnan(value)
        assert np.isnan(p)
    empty = coefficients(kind, np.empty((0, 4)), np.empty((0, 4)))
    assert empty.value.shape == empty.p.shape == empty.n.shape == (0,)


def test_leading_axes_broadcast():
    x = np.arange(24.0).reshape(2, 3, 4)
    found = coefficients("pearson", x, np.array([4.0, 3.0, 2.0, 1.0]))
    np.testing.assert_allclose(found.value, np.full((2, 3), -1.0))
    assert found.n.tolist() == [[4, 4, 4], [4, 4, 4]]


def test_bad_names_and_lengths_are_refused():
    with pytest.raises(ConfigurationError, match="kendall, spearman or pearson, not 'tau'"):
        coefficient("tau", [1, 2], [1, 2])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="different lengths"):
        coefficient("kendall", [1, 2, 3], [1, 2])
    with pytest.raises(ConfigurationError, match="drop, zero or fail"):
        settle(np.zeros(2), "keep")  # type: ignore[arg-type]


def test_rules_for_the_undefined():
    values = np.array([0.5, np.nan, 0.1])
    assert mean_coefficient(settle(values, "drop")) == pytest.approx(0.3)
    assert mean_coefficient(settle(values, "zero")) == pytest.approx(0.2)
    with pytest.raises(InputError, match=r"rouge: 1 of 3 coefficients are undefined"):
        settle(values, "fail", what="rouge")
    one_point = settle(values, "fail", points=np.array([2, 1, 2]))
    np.testing.assert_array_equal(one_point, values)
    assert np.isnan(mean_coefficient(np.array([np.nan])))


def test_stars():
    assert [stars(p) for p in (0.051, 0.05, 0.0100001, 0.01, np.nan)] == ["", "*", "*", "**", ""]
    assert stars(0.0005, (0.05, 0.01, 0.001)) == "***"
