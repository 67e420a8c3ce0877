"""Paired differences: by hand, against a plain bootstrap, and what is not told apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from prevalence.errors import ConfigurationError
from prevalence.stats.paired import DETECTABLE, PairedDifferences, tied_groups
from prevalence.stats.resampling import ProductScores


def scores(*values: float, present: str | None = None) -> ProductScores:
    counts = np.array([mark == "1" for mark in present or "1" * len(values)], float)
    return ProductScores(np.array(values) * counts, counts)


def test_the_multiplier_is_that_of_80_percent_power() -> None:
    assert pytest.approx(stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) == DETECTABLE


def test_a_difference_that_never_varies() -> None:
    found = PairedDifferences({"a": scores(0.5, 0.7, 0.9), "b": scores(0.4, 0.6, 0.8)})("a", "b")
    assert found.difference == pytest.approx(0.1)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((0.1, 0.1))
    assert found.detectable == pytest.approx(0.0, abs=1e-9)
    assert found.told_apart
    assert found.products == 3


def test_the_least_detectable_difference_is_that_of_the_standard_error() -> None:
    # The bootstrap's standard error of a mean is sd / sqrt(n), here with ddof 0.
    values = np.random.default_rng(1).normal(size=40)
    pair = {"a": scores(*values), "b": scores(*np.zeros(40))}
    found = PairedDifferences(pair, resamples=20_000)("a", "b")
    assert found.detectable == pytest.approx(DETECTABLE * values.std() / 40**0.5, rel=0.03)


def test_only_products_that_both_summarised_count() -> None:
    differences = PairedDifferences(
        {"a": scores(0.5, 0.9, 0.1, present="110"), "b": scores(0.25, 0.5, 0.3)}
    )
    found = differences("a", "b")
    assert (found.products, found.difference) == (2, pytest.approx(0.325))
    alone = PairedDifferences({"a": scores(0.5, 0.0, present="10"), "b": scores(0.25, 0.1)})
    found = alone("a", "b")
    assert (found.products, found.interval, found.detectable) == (1, None, None)
    assert not found.told_apart


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_turned_round_it_is_the_negative(values: list[float]) -> None:
    differences = PairedDifferences(
        {"a": scores(*values), "b": scores(*values[::-1])}, resamples=50
    )
    there, back = differences("a", "b"), differences("b", "a")
    assert there.difference == pytest.approx(-back.difference)
    assert there.interval is not None
    assert back.interval is not None
    assert there.interval.low == pytest.approx(-back.interval.high)
    assert differences("a", "a").told_apart is False


def test_groups_begin_where_all_above_differ_from_all_below() -> None:
    rng = np.random.default_rng(2)
    noise = rng.normal(scale=0.05, size=(4, 60))
    base = {"a": 0.9, "b": 0.895, "c": 0.5, "d": 0.2}
    known = {
        name: scores(*(mean + noise[place])) for place, (name, mean) in enumerate(base.items())
    }
    assert tied_groups(list("abcd"), PairedDifferences(known)) == [1, 1, 2, 3]
    assert tied_groups(["a"], PairedDifferences(known)) == [1]


def test_no_resamples_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="resamples"):
        PairedDifferences({}, resamples=0)
