"""Levels of correlation, by hand and against loops over SciPy, resampled or not."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from prevalence.errors import ConfigurationError, InputError
from prevalence.meta.levels import (
    LEVELS,
    Resamples,
    correlate_level,
    correlate_many,
    correlate_resampled,
    draw_resamples,
    system_means,
)
from prevalence.stats.coefficients import KINDS

THEIRS = {
    "kendall": scipy.stats.kendalltau,
    "spearman": scipy.stats.spearmanr,
    "pearson": scipy.stats.pearsonr,
}


def one(kind, x, y):
    keep = ~(np.isnan(x) | np.isnan(y))
    x, y = x[keep], y[keep]
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan
    return THEIRS[kind](x, y)[0]


def plain(level, kind, metric, human, zero=False):
    """The definitions as loops."""
    gap = np.isnan(metric) | np.isnan(human)
    x, y = np.where(gap, np.nan, metric), np.where(gap, np.nan, human)
    if level == "pooled":
        values = [one(kind, x.ravel(), y.ravel())]
    elif level == "system":
        columns = [c for c in range(x.shape[1]) if not gap[:, c].all()]
        means = [[np.nanmean(side[:, c]) for c in columns] for side in (x, y)]
        values = [one(kind, *(np.round(side, 10) for side in means))]
    else:
        rows = (x, y) if level == "summary" else (x.T, y.T)
        values = [one(kind, a, b) for a, b in zip(*rows, strict=True)]
    values = np.array(values, dtype=float)
    if zero:
        values = np.nan_to_num(values)
    return np.nan if np.isnan(values).all() else np.nanmean(values)


@pytest.fixture
def grids():
    rng = np.random.default_rng(5)
    human = rng.integers(2, 11, (30, 6)) / 2.0
    metric = human + rng.normal(size=human.shape) * 2
    metric[:, 1] = np.round(metric[:, 1])
    metric[3], human[7], metric[:, 4] = 1.0, 2.0, 3.0
    metric[9, 2], human[11, 5] = np.nan, np.nan
    return metric, human


def test_levels_by_hand():
    # Two items, three systems. Item 0 agrees fully (tau 1), item 1 is reversed (tau -1).
    metric = np.array([[1.0, 2.0, 3.0], [6.0, 5.0, 4.0]])
    human = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    summary = correlate_level("summary", "kendall", metric, human)
    assert (summary.value, summary.n, summary.parts.tolist()) == (0.0, 2, [1.0, -1.0])
    # System means of the metric are all 3.5: no order, so no coefficient.
    assert np.isnan(correlate_level("system", "kendall", metric, human).value)
    # Pooled: of 15 pairs 3 tie in the human scores; 12 count, 6 agree and 6 do not.
    assert correlate_level("pooled", "kendall", metric, human).value == pytest.approx(0.0)
    # Candidates: the human score of each system is constant.
    candidate = correlate_level("candidate", "kendall", metric, human)
    assert np.isnan(candidate.value)
    assert candidate.n == 0


@pytest.mark.parity
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", LEVELS)
def test_levels_equal_plain_loops(grids, level, kind):
    for rule in ("drop", "zero"):
        found = correlate_level(level, kind, *grids, undefined=rule)
        expected = plain(level, kind, *grids, zero=rule == "zero")
        assert found.value == pytest.approx(expected, abs=1e-9)
        many = correlate_many(
            level, kind, np.stack([grids[0], -grids[0]]), grids[1], undefined=rule
        )
        np.testing.assert_allclose(many, [expected, -expected], atol=1e-9)


@pytest.mark.parity
@pytest.mark.parametrize("over", ["items", "systems", "both"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", LEVELS)
def test_resamples_equal_loops_over_copied_data(grids, level, kind, over):
    drawn = draw_resamples(30, 6, over=over, resamples=6, seed=3)
    for zero in (False, True):
        rule = "zero" if zero else "drop"
        found = correlate_resampled(level, kind, *grids, drawn, undefined=rule)
        for place in range(6):
            rows, columns = (np.repeat(np.arange(len(w[place])), w[place]) for w in drawn)
            copied = (grid[np.ix_(rows, columns)] for grid in grids)
            expected = plain(level, kind, *copied, zero=zero)
            np.testing.assert_allclose(found[place], expected, atol=1e-9)


def test_what_is_not_resampled_counts_once():
    drawn = draw_resamples(7, 4, over="items", resamples=5, seed=1)
    assert (drawn.systems == 1).all()
    assert (drawn.items.sum(axis=1) == 7).all()
    assert len({tuple(row) for row in drawn.items}) > 1
    again = draw_resamples(7, 4, over="items", resamples=5, seed=1)
    np.testing.assert_array_equal(drawn.items, again.items)


small = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
    elements=st.sampled_from([1.0, 2.0, 3.0, 4.5, np.nan]),
)


@settings(max_examples=80, deadline=None)
@given(small, st.randoms(), st.sampled_from(LEVELS), st.sampled_from(KINDS))
def test_one_draw_of_everything_is_the_value_itself(metric, random, level, kind):
    human = metric.copy().ravel()
    random.shuffle(human)
    human = human.reshape(metric.shape)
    once = Resamples(*(np.ones((1, size), np.int64) for size in metric.shape))
    value = correlate_level(level, kind, metric, human).value
    resampled = correlate_resampled(level, kind, metric, human, once)[0]
    np.testing.assert_allclose(resampled, value, atol=1e-12)
    assert np.isnan(value) or -1.0 <= value <= 1.0


def test_equal_means_stay_equal_whatever_the_order_of_the_sum():
    thirds = np.array([1.0, 2.0, 4.0, 5.0, 7.0] * 20) / 3.0
    shuffled = np.random.default_rng(0).permutation(thirds)
    metric, human = np.stack([thirds, shuffled], axis=1), np.ones((100, 2))
    means, _ = system_means(metric, human)
    assert thirds.sum() != shuffled.sum()
    assert means[0] == means[1]
    tiny, _ = system_means(metric * 1e-30, human)
    assert tiny == pytest.approx(thirds.mean() * 1e-30)


def test_small_means_of_one_system_are_no_noise_beside_a_large_one_of_another():
    metric = np.array([[1e-3, 3e-17, 2e-18, 5e-19, 0.0]] * 2)
    human = np.array([[5.0, 4.0, 3.0, 2.0, 1.0]] * 2)
    assert correlate_level("system", "kendall", metric, human).value == 1.0
    assert correlate_many("system", "spearman", metric[None], human).tolist() == [1.0]


def test_bad_settings_are_refused(grids):
    with pytest.raises(ConfigurationError, match="a level is system, summary"):
        correlate_level("corpus", "kendall", *grids)
    with pytest.raises(InputError, match="give \\[items, systems\\]"):
        correlate_level("system", "kendall", grids[0], grids[1][:, 1:])
    with pytest.raises(InputError, match=r"summary level: 1 of 30 coefficients are undefined"):
        correlate_level("summary", "kendall", *grids, undefined="fail")
    with pytest.raises(ConfigurationError, match="items, systems or both"):
        draw_resamples(2, 2, over="raters", resamples=3, seed=0)
    with pytest.raises(ConfigurationError, match="at least 1"):
        draw_resamples(2, 2, resamples=0, seed=0)
