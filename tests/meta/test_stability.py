"""Meta-correlation of performance with quality, against a plain loop with SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from prevalence.errors import InputError
from prevalence.meta.stability import method_agreement, stability

SCIPY = {"kendall": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}
NAN = float("nan")
law = settings(max_examples=30, deadline=None)


def drawn(count):
    """Grids of the same shape: items by systems, few values, so that ties and constants occur."""
    shapes = st.tuples(st.integers(2, 8), st.integers(2, 6))
    values = st.sampled_from([1.0, 2.0, 3.0, 4.5])
    return shapes.flatmap(
        lambda shape: st.tuples(*[hnp.arrays(np.float64, shape, elements=values)] * count)
    )


def plain(kind, x, y):
    """SciPy's coefficient over what both have; NaN for constants."""
    known = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[known], y[known]
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return NAN, NAN
    found = SCIPY[kind](x, y)
    return found.statistic, found.pvalue


def columns(kind, first, second):
    return np.array([plain(kind, a, b)[0] for a, b in zip(first.T, second.T, strict=True)])


@law
@given(grids=drawn(2), kind=st.sampled_from([*SCIPY]))
def test_stability_equals_a_plain_loop(grids, kind):
    metric, human = grids
    found = stability(metric, human, kind=kind)
    quality, performance = human.mean(axis=0), columns(kind, metric, human)
    np.testing.assert_allclose(found.quality, quality)
    np.testing.assert_allclose(found.performance.value, performance, atol=1e-9)
    known = performance[~np.isnan(performance)]
    assert found.spread == pytest.approx(np.ptp(known) if known.size else NAN, nan_ok=True)
    assert found.sd == pytest.approx(np.std(known) if known.size else NAN, nan_ok=True)


def test_meta_correlation_by_hand():
    # Performance falls from 1 to −1 as quality rises: the metric fails on good systems.
    human = np.array([[1, 2, 3], [2, 3, 4], [3, 4, 5.0]])
    metric = np.array([[1, 1, 3], [2, 3, 2], [3, 2, 1.0]])
    found = stability(metric, human, kind="kendall")
    assert found.performance.value == pytest.approx([1.0, 1 / 3, -1.0])
    assert found.meta.value == pytest.approx(-1.0)
    assert found.meta.p == pytest.approx(stats.kendalltau([1, 2, 3], [3, 2, 1]).pvalue)
    assert (found.spread, found.meta.n) == (pytest.approx(2.0), 3)


def test_a_system_of_constant_scores_leaves():
    rng = np.random.default_rng(4)
    metric, human = rng.random((2, 12, 5))
    metric[:, 2] = 5.0
    for kind in SCIPY:
        whole = stability(metric, human, kind=kind)
        rest = stability(np.delete(metric, 2, 1), np.delete(human, 2, 1), kind=kind)
        assert np.isnan(whole.performance.value[2])
        assert whole.meta == rest.meta
        assert whole.meta.n == 4


def test_missing_scores_leave_the_performance_and_not_the_quality():
    human = np.array([[1, 4], [2, 5], [3, 6], [5, 1.0]])
    metric = np.array([[1, 1], [2, 2], [3, 3], [NAN, NAN]])
    found = stability(metric, human, kind="pearson")
    assert found.quality.tolist() == [2.75, 4.0]
    assert found.performance.value == pytest.approx([1.0, 1.0])
    assert found.performance.n.tolist() == [3, 3]


def test_systems_of_equal_quality_tie_whatever_the_order_of_their_items():
    ratings = np.array([0.1, 0.2, 0.3])
    human = np.stack([ratings, ratings[::-1], ratings * 2], axis=1)
    assert human[:, 0].mean() != human[:, 1].mean(), "the sums must differ in their last digit"
    metric = np.array([[1, 1, 1], [2, 2, 3], [3, 3, 2]])
    found = stability(metric, human, kind="kendall")
    # Quality: two equal systems and a better one; performance: 1, −1, 1/3.
    expected = stats.kendalltau([0, 0, 1], [1, -1, 1 / 3])
    assert found.meta.value == pytest.approx(expected.statistic)


def test_systems_on_which_a_metric_performs_at_0_tie():
    human = np.array([[3, 4, 2], [4, 4, 3], [3, 4, 2], [4, 1, 3.0]])
    metric = np.array([[4, 4, 1], [2, 1, 2], [4, 2, 4], [2, 2, 3.0]])
    found = stability(metric, human, kind="spearman")
    assert found.performance.value == pytest.approx([-1, 0, 0])
    assert found.performance.value[1] != found.performance.value[2], "one must be a hair off"
    # Qualities 3.5, 3.25 and 2.5 have the ranks 3, 2, 1, and performances 1, 2.5, 2.5.
    assert found.meta.value == pytest.approx(np.corrcoef([3, 2, 1], [1, 2.5, 2.5])[0, 1])


def test_one_item_defines_nothing():
    found = stability([[1.0, 2.0]], [[2.0, 3.0]], kind="spearman")
    assert np.isnan(found.performance.value).all()
    assert np.isnan([found.meta.value, found.spread, found.sd]).all()
    assert found.meta.n == 0


@law
@given(grids=drawn(3), kind=st.sampled_from([*SCIPY]))
def test_agreement_of_methods_equals_a_plain_loop(grids, kind):
    first, second, human = grids
    found = method_agreement(first, second, human, kind=kind)
    agreement = columns(kind, first, second)
    np.testing.assert_allclose(found.agreement.value, agreement, atol=1e-9)
    for method, meta in ((first, found.meta_first), (second, found.meta_second)):
        performance = stability(method, human, kind=kind).performance.value
        # Coefficients that differ by rounding alone are ties.
        expected = plain(kind, found.agreement.value.round(9), performance.round(9))[0]
        assert meta.value == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_methods_are_symmetric():
    first, second, human = np.random.default_rng(2).random((3, 9, 4))
    one = method_agreement(first, second, human, kind="spearman")
    two = method_agreement(second, first, human, kind="spearman")
    assert (one.meta_first, one.meta_second) == (two.meta_second, two.meta_first)


def test_malformed_grids_are_refused():
    with pytest.raises(InputError, match=r"give \[items, systems\]"):
        stability([[1.0, 2.0]], [[1.0]], kind="kendall")
    with pytest.raises(InputError, match=r"give \[items, systems\]"):
        method_agreement([1.0], [1.0], [1.0], kind="kendall")
