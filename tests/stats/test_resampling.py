"""Intervals and paired tests against slow, independent versions of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from prevalence.errors import ConfigurationError
from prevalence.stats import resampling as statistics
from prevalence.stats.resampling import (
    TESTS,
    ProductScores,
    bootstrap_interval,
    paired_bootstrap,
    paired_randomization,
)

unit = st.floats(0, 1, width=32)
PAIRED = [paired_bootstrap, paired_randomization]


def one_each(values):
    """A system with one summary a product; None where it has none."""
    present = np.array([value is not None for value in values], float)
    return ProductScores(np.array([value or 0.0 for value in values], float), present)


def mean(values):
    return math.fsum(values) / len(values)


def slow_bootstrap_p(a, b, resamples, seed):
    """One resample at a time over lists, from the same stream of draws."""
    rng = np.random.default_rng(seed)
    differences = []
    for _ in range(resamples):
        drawn = rng.integers(0, len(a), len(a))
        differences.append(mean([b[i] for i in drawn]) - mean([a[i] for i in drawn]))
    centre, observed = mean(differences), abs(mean(b) - mean(a))
    extreme = sum(abs(d - centre) >= observed - 1e-12 for d in differences)
    return (extreme + 1) / (resamples + 1)


def slow_randomization_p(a, b, resamples, seed):
    rng = np.random.default_rng(seed)
    observed, extreme = abs(mean(b) - mean(a)), 0
    for _ in range(resamples):
        swap = rng.random(len(a)) < 0.5
        left = [y if s else x for x, y, s in zip(a, b, swap, strict=True)]
        right = [x if s else y for x, y, s in zip(a, b, swap, strict=True)]
        extreme += abs(mean(right) - mean(left)) >= observed - 1e-12
    return (extreme + 1) / (resamples + 1)


def exact_randomization_p(a, b):
    """Over all 2^n assignments."""
    observed = abs(mean(b) - mean(a))
    null = [
        abs(mean([s * (y - x) for x, y, s in zip(a, b, signs, strict=True)]))
        for signs in itertools.product((1, -1), repeat=len(a))
    ]
    return sum(value >= observed - 1e-12 for value in null) / len(null)


def test_the_mean_is_over_summaries_not_products():
    # Product 0 has two summaries (.2 and .4), product 1 one (.9), product 2 none: 1.5 / 3.
    scores = ProductScores(np.array([0.6, 0.9, 0.0]), np.array([2.0, 1.0, 0.0]))
    assert scores.mean == 0.5
    assert math.isnan(ProductScores(np.zeros(2), np.zeros(2)).mean)


@given(st.lists(unit, min_size=3, max_size=10), st.integers(0, 5))
def test_an_interval_contains_the_mean_of_symmetric_scores(values, seed):
    scores = one_each([*values, *(1.0 - value for value in values)])
    interval = bootstrap_interval(scores, seed=seed)
    assert 0.0 <= interval.low <= 0.5 + 1e-9
    assert 0.5 - 1e-9 <= interval.high <= 1.0


def test_an_interval_of_constant_scores_is_a_point():
    interval = bootstrap_interval(one_each([*5 * [0.25], None, 0.25]))
    assert (interval.low, interval.high) == (0.25, 0.25)


def test_an_interval_is_a_pair_of_percentiles_of_resampled_means():
    values = np.random.default_rng(1).random(12)
    rng = np.random.default_rng(7)
    means = sorted(mean([values[i] for i in rng.integers(0, 12, 12)]) for _ in range(400))
    interval = bootstrap_interval(one_each(values), resamples=400, seed=7, confidence=0.9)
    # Widened as Student's interval of 12 is.
    tail = stats.norm.cdf(-math.sqrt(12 / 11) * stats.t.ppf(0.95, 11))
    assert tail < 0.035
    assert (interval.low, interval.high) == pytest.approx(np.quantile(means, [tail, 1 - tail]))


def test_wider_confidence_gives_a_wider_interval():
    scores = one_each(np.random.default_rng(2).random(30))
    narrow, wide = (bootstrap_interval(scores, confidence=level) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("values", [[], [0.5], [None, *5 * [0.5], None]])
def test_fewer_than_six_products_have_no_interval(values):
    assert bootstrap_interval(one_each(values)) is None


@pytest.mark.parametrize("options", [{"resamples": 0}, {"confidence": 0.0}, {"confidence": 1.0}])
def test_intervals_refuse_options_out_of_range(options):
    with pytest.raises(ConfigurationError):
        bootstrap_interval(one_each([0.1, 0.2]), **options)


@pytest.mark.parametrize("test", PAIRED)
def test_paired_tests_need_a_resample(test):
    with pytest.raises(ConfigurationError, match="at least 1, not 0"):
        test(one_each([0.1]), one_each([0.2]), resamples=0)


@given(st.lists(st.tuples(unit, unit), min_size=6, max_size=9), st.integers(0, 9))
def test_paired_tests_equal_their_slow_versions(pairs, seed):
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    first, second = one_each(a), one_each(b)
    boot = paired_bootstrap(first, second, resamples=60, seed=seed)
    swap = paired_randomization(first, second, resamples=60, seed=seed)
    assert boot.p_value == slow_bootstrap_p(a, b, 60, seed)
    assert swap.p_value == slow_randomization_p(a, b, 60, seed)
    assert boot.difference == swap.difference == pytest.approx(mean(b) - mean(a))
    assert 0.0 < boot.p_value <= 1.0
    assert 0.0 < swap.p_value <= 1.0
    assert boot.products == swap.products == len(pairs)


def test_randomization_approaches_the_exact_test():
    a, b = [0.1, 0.4, 0.3, 0.2, 0.5, 0.3], [0.3, 0.5, 0.3, 0.4, 0.4, 0.6]
    exact = exact_randomization_p(a, b)
    assert 0.05 < exact < 0.5
    # Three standard errors of 10,000 Bernoulli trials.
    result = paired_randomization(one_each(a), one_each(b))
    assert abs(result.p_value - exact) < 3 * math.sqrt(exact * (1 - exact) / 10_000)


@pytest.mark.parametrize("test", PAIRED)
def test_a_system_does_not_differ_from_itself(test):
    scores = one_each([0.1, 0.5, 0.9, 0.3, 0.2, 0.6])
    assert test(scores, scores).p_value == 1.0
    assert test(scores, scores).difference == 0.0


@pytest.mark.parametrize("test", PAIRED)
def test_a_constant_gain_is_as_significant_as_resampling_can_say(test):
    low = np.random.default_rng(3).random(40) / 2
    result = test(one_each(low), one_each(low + 0.25), resamples=999)
    assert result.difference == pytest.approx(0.25)
    assert result.p_value == 0.001


@pytest.mark.parametrize("test", PAIRED)
def test_only_products_of_both_systems_are_compared(test):
    first, second = one_each([0.1, 0.2, None, 0.9]), one_each([0.3, 0.5, 1.0, None])
    result = test(first, second)
    assert result.products == 2
    assert result.difference == pytest.approx(0.25)


def test_too_few_products_have_no_bootstrap_test():
    nothing, single = one_each([None, None]), one_each([0.1, None])
    for test in PAIRED:
        empty = test(nothing, single)
        assert empty.products == 0
        assert math.isnan(empty.difference)
        assert math.isnan(empty.p_value)
    assert paired_randomization(single, one_each([0.4, None])).p_value == 1.0


@pytest.mark.parametrize("products", [1, 2, 3, 5])
def test_fewer_than_six_products_have_no_bootstrap_test(products):
    # No resample of nearly equal differences is as extreme once shifted to zero.
    low = one_each(0.1 * np.arange(products))
    found = paired_bootstrap(low, one_each(low.sums + 0.3), resamples=200)
    assert found.difference == pytest.approx(0.3)
    assert math.isnan(found.p_value)
    assert found.products == products


def test_summaries_of_a_product_are_swapped_together():
    # Product 0 has two summaries a system and gains .6 in sum, product 1 one and gains .2. The
    # difference is ±.8 / 3 when both or neither are swapped, ±.4 / 3 when one is: p = 1 / 2.
    first = ProductScores(np.array([0.2, 0.3]), np.array([2.0, 1.0]))
    second = ProductScores(np.array([0.8, 0.5]), np.array([2.0, 1.0]))
    result = paired_randomization(first, second)
    assert result.difference == pytest.approx(0.8 / 3)
    assert result.p_value == pytest.approx(0.5, abs=3 * math.sqrt(0.25 / 10_000))


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_do_not_change_results(monkeypatch, block):
    rng = np.random.default_rng(4)
    first, second = one_each(rng.random(9)), one_each(rng.random(9))

    def everything():
        tests = [test(first, second, resamples=101, seed=5) for test in PAIRED]
        return [bootstrap_interval(first, resamples=101, seed=5), *tests]

    whole = everything()
    monkeypatch.setattr(statistics, "BLOCK", block)
    assert everything() == whole


@pytest.mark.parametrize("name", sorted(TESTS))
def test_seeds_make_results_repeatable(name):
    rng = np.random.default_rng(6)
    first, second = one_each(rng.random(15)), one_each(rng.random(15))
    p_values = [
        TESTS[name](first, second, resamples=200, seed=seed).p_value for seed in (1, 1, 2, 3)
    ]
    assert p_values[0] == p_values[1]
    assert len(set(p_values)) > 1


def test_a_resampled_product_brings_all_its_summaries():
    sums = np.array([1.2, 0.9, 0.2, 0.5, 0.0, 2.1])
    counts = np.array([2.0, 1.0, 1.0, 2.0, 1.0, 3.0])
    rng, expected = np.random.default_rng(3), []
    for _ in range(50):
        drawn = rng.integers(0, 6, 6)
        expected.append(math.fsum(sums[drawn]) / math.fsum(counts[drawn]))
    found = statistics.resampled_means(ProductScores(sums, counts), 50, 3)
    assert found.tolist() == pytest.approx(expected)
