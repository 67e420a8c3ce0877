"""Model-wise averages: rounding as printed, places with ties."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from prevalence.errors import ConfigurationError, InputError
from prevalence.meta.means import model_means, ranks, round_half_up

NAN = float("nan")
law = settings(max_examples=50, deadline=None)


def test_means_by_hand():
    found = model_means([[[1, 4], [2, 2]], [[2, 5], [NAN, 3]]])
    assert found.values.tolist() == [[1.5, 4.5], [2.0, 2.5]]
    assert found.average.tolist() == [3.0, 2.25]
    assert found.marks.tolist() == [[2, 1, 1], [1, 2, 2]]


def test_columns_may_be_rounded_before_their_average():
    # 1.004 and 2.004 print as 1.00 and 2.00; together they are 1.504 or 1.50.
    scores = [[[1.004, 2.004]]]
    assert model_means(scores).average[0] == pytest.approx(1.504)
    assert model_means(scores, decimals=2).average[0] == 1.5
    assert model_means(scores, decimals=2).values[0, 0] == pytest.approx(1.004)
    # 1.009 and 2.004 are cut to 1.00 and 2.00, and rounded to 1.01 and 2.00.
    cut = model_means([[[1.009, 2.004]]], decimals=2, rounding="truncate")
    assert cut.average[0] == 1.5


def test_a_system_without_a_column_has_no_average():
    found = model_means([[[NAN, 4], [2, 2]]])
    assert math.isnan(found.average[0])
    assert found.marks.tolist() == [[0, 1, 0], [1, 2, 1]]
    assert np.isnan(model_means(np.empty((1, 2, 0))).average).all()


def test_low_is_best_where_the_direction_says_so():
    scores = [[[1, 4, 3], [2, 2, 1], [NAN, 3, 2]]]
    found = model_means(scores, directions=[1, -1, 0])
    assert found.marks.tolist() == [[2, 3, 0, 0], [1, 1, 0, 0], [0, 2, 0, 0]]
    assert model_means([[[3, 4], [1, 2]]], directions=[-1, -1]).marks.tolist() == [
        [2, 2, 2],
        [1, 1, 1],
    ]
    assert model_means(np.empty((1, 2, 0)), directions=[]).marks.tolist() == [[0], [0]]


@law
@given(
    column=st.lists(st.sampled_from([1.0, 2.0, 2.5, 4.0]), min_size=1, max_size=9),
    marked=st.integers(0, 9),
)
def test_places_equal_scipys_minimum_ranks(column, marked):
    places = stats.rankdata(-np.array(column), method="min").astype(int)
    expected = np.where(places <= marked, places, 0)
    assert ranks(np.array([column]).T, marked=marked).ravel().tolist() == expected.tolist()


def test_means_that_differ_by_rounding_alone_share_a_place():
    # The first two systems have the same scores in another order.
    tenths = np.array([0.1, 0.2, 0.3])
    scores = np.stack([tenths, tenths[::-1], tenths / 2], axis=1)[:, :, None]
    found = model_means(scores)
    assert found.values[0] != found.values[1], "the sums must differ in their last digit"
    assert found.marks[:, 0].tolist() == [1, 1, 3]
    assert ranks([[0.0, 0.5], [1e-17, 0.5], [1e-3, 0.25]]).tolist() == [[2, 1], [2, 1], [1, 3]]


@law
@given(cents=st.integers(-10_000, 10_000), decimals=st.integers(0, 3))
def test_rounding_is_that_of_decimal_fractions(cents, decimals):
    exact = Decimal(cents) / 1000
    expected = float(exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))
    assert round_half_up(cents / 1000, decimals) == expected


def test_a_five_goes_up_although_its_binary_form_lies_below():
    assert (f"{2.675:.2f}", f"{1.005:.2f}") == ("2.67", "1.00")
    assert round_half_up([2.675, 1.005, NAN, math.inf], 2).tolist()[:2] == [2.68, 1.01]
    assert np.isnan(round_half_up(NAN, 2))
    assert round_half_up(math.inf, 2) == math.inf


def test_figures_of_many_digits_are_rounded_too():
    assert round_half_up([1e30, 123456789012345.6], 15).tolist() == [1e30, 123456789012345.6]


def test_malformed_input_is_refused():
    with pytest.raises(InputError, match="2 axes"):
        model_means([[1.0]])
    with pytest.raises(ConfigurationError, match="decimals is -1"):
        round_half_up(1.0, -1)
    with pytest.raises(ConfigurationError, match="marked is -1"):
        ranks([[1.0]], marked=-1)
