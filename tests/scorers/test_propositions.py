"""Clauses by rule, and their alignment."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.errors import ConfigurationError
from prevalence.nli.pairs import PairScorer
from prevalence.scorers.registry import open_scorer
from prevalence.scorers.superpal import AlignmentScorer, propositions


@pytest.mark.parametrize(("text", "clauses"), [
    ("They fit.", ["They fit."]),
    ("The soles grip; my feet stay dry.", ["The soles grip", "my feet stay dry."]),
    ("They are warm and light.", ["They are warm and light."]),
    ("They are warm, and they are light.", ["They are warm", "they are light."]),
    ("I returned it because the zip broke.", ["I returned it", "because the zip broke."]),
    ("They fit well, the laces hold.", ["They fit well", "the laces hold."]),
    ("Great boots (a bit stiff at first) for snow.", ["Great boots", "a bit stiff at first",
                                                      "for snow."]),
    ("A well-made boot - warm too.", ["A well-made boot", "warm too."]),
    ("Warm. Which is what I wanted, and it lasts!", ["Warm.", "Which is what I wanted",
                                                     "it lasts!"]),
    ("Cheap: yes.", ["Cheap yes."]),
    ("They open at 10:30 sharp.", ["They open at 10:30 sharp."]),
    ("Sizes 8–9 run small – at 10: they fit.", ["Sizes 8–9 run small", "at 10", "they fit."]),
    ("...", []), ("", []),
])  # fmt: skip
def test_clauses_by_hand(text, clauses):
    assert propositions(text) == clauses


@pytest.mark.parametrize(("text", "clauses"), [
    (f"It fits{' ' * 40_000}well.", [f"It fits{' ' * 40_000}well."]),
    (f"They fit{' ' * 40_000};  (  well", ["They fit well"]),
    (f"They fit,{' ' * 40_000}but they leak.", ["They fit", "they leak."]),
])  # fmt: skip
def test_a_long_run_of_white_space_is_read_once(text, clauses):
    assert propositions(text) == clauses


PIECES = ["boots", "the", "and", "but", ",", ";", " ", "because", "(", ")", "it", "fit", ".", "-",
          "\n", "é"]  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map(" ".join))
def test_no_word_is_lost_or_made(text):
    found = re.findall(r"\w+", " ".join(propositions(text)))
    kept = iter(re.findall(r"\w+", text))
    assert all(word in kept for word in found)  # in order
    left_out = set(re.findall(r"\w+", text)) - set(found)
    assert left_out <= {"and", "but"}


ANSWERS = {
    ("My feet stay dry", "dry feet all day"): (0.9, 0.0),
    ("my feet stay dry", "dry feet all day"): (0.9, 0.0),
    ("The soles grip", "they hold on ice."): (0.3, 0.0),
}


@pytest.mark.parametrize(("alignment", "expected"), [("average", 0.6), ("max", 0.9)])
def test_alignment_by_hand(fake_scorer, asked, alignment, expected):
    scorer = AlignmentScorer(fake_scorer(ANSWERS), alignment)
    pair = ("The soles grip; my feet stay dry", "dry feet all day, and they hold on ice.")
    seen = []
    scores = asked(scorer, pair, ("...", "They fit."), progress=seen.append)
    assert scores.entailment.tolist() == pytest.approx([expected, 0.0], abs=1e-6)
    assert np.isnan(scores.contradiction).all()
    assert sum(seen) == 2


def test_is_a_pair_scorer(fake_scorer):
    scorer = AlignmentScorer(fake_scorer(threshold=0.2))
    assert isinstance(scorer, PairScorer)
    assert (scorer.traits.threshold, scorer.traits.calibrated) == (0.2, False)
    assert scorer.traits.signature["consistency"] == "superpal"
    assert scorer.traits.signature["rule"] == "2"
    assert scorer.traits.digest != AlignmentScorer(fake_scorer(), "max").traits.digest
    with pytest.raises(ConfigurationError, match="unknown alignment 'sum'"):
        AlignmentScorer(fake_scorer(), "sum")


def test_end_to_end_on_a_classifier_of_two_nameless_labels(tiny, asked):
    names = ["not_entailment", "entailment"]
    folder = tiny("classifier", num_labels=2)
    inner = open_scorer(str(folder), labels=names, device="cpu")
    scorer = open_scorer(f"superpal:{folder},average", labels=names, device="cpu")
    premise = ("The soles grip", "my feet are dry")
    claim = ("the laces come undone", "they are thin.")
    asked_of_inner = asked(inner, *((p, c) for p in premise for c in claim)).entailment
    expected = asked_of_inner.reshape(2, 2).max(axis=0).mean()
    (score,) = asked(scorer, ("; ".join(premise), "; ".join(claim))).entailment
    assert score == pytest.approx(expected, abs=1e-6)
