"""Paired differences: by hand, against a plain bootstrap, and what is not told apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from prevalence.errors import ConfigurationError
from prevalence.stats.paired import PairedDifference, PairedDifferences, tied_groups
from prevalence.stats.resampling import ProductScores


def scores(*values: float, present: str | None = None) -> ProductScores:
    counts = np.array([mark == "1" for mark in present or "1" * len(values)], float)
    return ProductScores(np.array(values) * counts, counts)


def leaves_out_0(found: PairedDifference) -> bool:
    return found.interval is not None and not found.interval.low <= 0 <= found.interval.high


def test_a_difference_that_never_varies() -> None:
    known = {"a": scores(*2 * (0.5, 0.7, 0.9)), "b": scores(*2 * (0.4, 0.6, 0.8))}
    found = PairedDifferences(known)("a", "b")
    assert found.difference == pytest.approx(0.1)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((0.1, 0.1))
    assert found.detectable == pytest.approx(0.0, abs=1e-9)
    assert found.above
    assert found.products == 6


def test_a_difference_of_rounding_is_none() -> None:
    known = {"a": scores(*6 * (0.1 + 0.2,)), "b": scores(*6 * (0.3,))}
    differences = PairedDifferences(known)
    assert differences("a", "b").difference > 0
    assert not differences("a", "b").above
    assert not differences("b", "a").above


def test_groups_begin_where_those_above_are_better() -> None:
    # Over all its products "b" is the best, and on the six that it shares with "a" it is worse.
    b = [*6 * [0.2], *9 * [0.9]]
    known = {"a": scores(*6 * [0.5], *9 * [0.0], present=6 * "1" + 9 * "0"), "b": scores(*b)}
    differences = PairedDifferences(known)
    assert known["b"].mean > known["a"].mean
    assert differences("a", "b").above
    assert tied_groups(["b", "a"], differences) == [1, 1]


def test_few_products_do_not_tell_apart_what_is_the_same() -> None:
    rng = np.random.default_rng(3)
    found = [
        PairedDifferences({name: scores(*rng.beta(2, 4, 8)) for name in "ab"})("a", "b")
        for _ in range(400)
    ]
    assert sum(leaves_out_0(one) for one in found) / 400 < 0.09
    few = PairedDifferences({"a": scores(*5 * [0.9]), "b": scores(*5 * [0.1])})("a", "b")
    assert (few.interval, few.detectable, few.above) == (None, None, False)


def test_the_least_detectable_difference_is_that_of_the_standard_error() -> None:
    values = np.random.default_rng(1).normal(size=10)
    pair = {"a": scores(*values), "b": scores(*np.zeros(10))}
    found = PairedDifferences(pair, resamples=20_000)("a", "b")
    error = values.std(ddof=1) / 10**0.5
    expected = (stats.t.ppf(0.975, 9) + stats.t.ppf(0.8, 9)) * error
    assert found.detectable == pytest.approx(expected, rel=0.03)


def test_only_products_that_both_summarised_count() -> None:
    differences = PairedDifferences(
        {"a": scores(*3 * (0.5, 0.9), 0.1, present="1111110"), "b": scores(*3 * (0.25, 0.5), 0.3)}
    )
    found = differences("a", "b")
    assert (found.products, found.difference) == (6, pytest.approx(0.325))
    alone = PairedDifferences({"a": scores(0.5, 0.0, present="10"), "b": scores(0.25, 0.1)})
    found = alone("a", "b")
    assert (found.products, found.interval, found.detectable) == (1, None, None)
    assert not found.above


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=6, max_size=9))
def test_turned_round_it_is_the_negative(values: list[float]) -> None:
    differences = PairedDifferences(
        {"a": scores(*values), "b": scores(*values[::-1])}, resamples=50
    )
    there, back = differences("a", "b"), differences("b", "a")
    assert there.difference == pytest.approx(-back.difference)
    assert there.interval is not None
    assert back.interval is not None
    assert there.interval.low == pytest.approx(-back.interval.high)
    assert differences("a", "a").above is False


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
