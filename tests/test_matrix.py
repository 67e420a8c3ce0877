"""Answers of reviews laid out as a matrix."""

from __future__ import annotations

import numpy as np
import pytest

from prevalence.errors import ModelError
from prevalence.metric import ReviewMatrix, SentenceSupport
from prevalence.nli.pairs import PairScores


def answers(yes, no=None):
    size = len(yes)
    return PairScores(
        np.array(yes, np.float32),
        np.array(np.full(size, np.nan) if no is None else no, np.float32),
        np.zeros(size, np.uint8),
    )


def build(scores, rows, shape, **options):
    options = {"threshold": 0.5, "three_way": True} | options
    return ReviewMatrix.build(scores, rows=np.array(rows, np.int64), shape=shape, **options)


def test_asked_reviews_fill_their_rows_and_others_are_zero():
    # Reviews 0 and 2 of 3 were asked about two sentences; reviews vary slowest.
    matrix = build(answers([0.9, 0.1, 0.2, 0.8], [0.0, 0.8, 0.1, 0.1]), [0, 2], (3, 2))
    assert matrix.entailment.tolist() == np.float32([[0.9, 0.1], [0, 0], [0.2, 0.8]]).tolist()
    assert matrix.implied.tolist() == [[True, False], [False, False], [False, True]]
    assert matrix.contradicted.tolist() == [[False, True], [False, False], [False, False]]
    assert matrix.column(1) == SentenceSupport(1, (2,), (0,), (0.1, 0.0, 0.8))


def test_two_classes_contradict_nothing():
    matrix = build(answers([0.9]), [0], (1, 1), three_way=False)
    assert matrix.contradicted is None
    assert matrix.column(0) == SentenceSupport(1, (0,), None, (0.9,))


@pytest.mark.parametrize(("rows", "shape"), [([], (2, 3)), ([0, 1], (2, 0))])
def test_without_a_pair_nothing_is_implied(rows, shape):
    matrix = build(answers([]), rows, shape)
    assert matrix.implied.shape == matrix.entailment.shape == shape
    assert not matrix.implied.any()


def test_columns_hold_plain_numbers():
    column = build(answers([0.7, 0.7], [0.1, 0.2]), [0, 1], (2, 1)).column(0)
    assert {type(value) for value in column.entailment} == {float}
    assert {type(value) for value in column.supporting_reviews} == {int}


@pytest.mark.parametrize("value", [0.1, 0.91, 1e-12, 1 / 3, 1.0, np.nextafter(np.float32(1), 0)])
def test_probabilities_are_the_shortest_decimals_of_their_precision(value):
    (shown,) = build(answers([value]), [0], (1, 1), three_way=False).column(0).entailment
    assert np.float32(shown) == np.float32(value)
    assert len(repr(shown)) <= 16


def test_a_missing_probability_is_refused():
    with pytest.raises(ModelError, match="NaN"):
        build(answers([np.nan]), [0], (1, 1))
