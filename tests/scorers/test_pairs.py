"""Lists of pairs through a scorer."""

from __future__ import annotations

import numpy as np
import pytest

from prevalence.errors import InputError
from prevalence.scorers import score_pairs


def test_answers_come_in_the_order_of_the_pairs_and_equal_pairs_are_asked_once(fake_scorer):
    scorer = fake_scorer({("a", "x"): (0.75, 0.0), ("b", "x"): (0.25, 0.0)})
    seen = []
    scores = score_pairs(scorer, ["b", "a", "b", "a"], ["x", "x", "x", "y"], progress=seen.append)
    assert scores.dtype == np.float64
    assert scores.tolist() == [0.25, 0.75, 0.25, 0.0]
    assert len(scorer.asked) == 3
    assert sum(seen) == 4


def test_an_empty_premise_implies_nothing_and_is_not_asked(fake_scorer):
    scorer = fake_scorer({("a", "x"): (0.75, 0.0)})
    assert score_pairs(scorer, [" ", "a"], ["x", "x"]).tolist() == [0.0, 0.75]
    assert scorer.asked == [("a", "x")]
    assert score_pairs(scorer, [], []).tolist() == []


def test_a_hypothesis_that_cannot_be_read_has_no_score(fake_scorer):
    scores = score_pairs(fake_scorer(too_long=frozenset("x")), ["a", "a"], ["x", "y"])
    assert np.isnan(scores).tolist() == [True, False]


def test_lists_of_different_lengths_are_refused(fake_scorer):
    with pytest.raises(InputError, match="2 premises and 1 hypotheses"):
        score_pairs(fake_scorer(), ["a", "b"], ["x"])
