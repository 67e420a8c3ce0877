"""Cutting texts, and the wave of unit pairs."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.nli.pairs import FLAG_TOO_LONG, FLAG_TRUNCATED, TextTable
from prevalence.scorers.units import (
    GRANULARITIES,
    UnitCutter,
    ask_units,
    in_proportion,
)

TEXT = (
    "The soles grip well. Nice. They keep my feet dry!\nThe laces come undone.\n\n"
    "I like them a lot."
)


@pytest.mark.parametrize(("granularity", "units"), [
    ("document", [TEXT]),
    ("sentence", ["The soles grip well.", "They keep my feet dry!", "The laces come undone.",
                  "I like them a lot."]),
    ("2sents", ["The soles grip well. They keep my feet dry!",
                "They keep my feet dry! The laces come undone.",
                "The laces come undone. I like them a lot.", "I like them a lot."]),
    ("paragraph", ["The soles grip well. Nice. They keep my feet dry!\nThe laces come undone.",
                   "I like them a lot."]),
])  # fmt: skip
def test_cutting_by_hand(granularity, units):
    assert GRANULARITIES[granularity](TEXT) == units


def test_mixed_is_sentences_and_then_paragraphs():
    cut = GRANULARITIES
    assert cut["mixed"](TEXT) == cut["sentence"](TEXT) + cut["paragraph"](TEXT)


def test_lines_are_paragraphs_where_no_line_is_empty():
    assert GRANULARITIES["paragraph"]("one two three\nno\n four five six ") == [
        "one two three", "four five six",
    ]  # fmt: skip


def test_a_unit_has_more_than_ten_characters():
    assert GRANULARITIES["sentence"]("It is good. It is fine!") == ["It is good.", "It is fine!"]
    assert GRANULARITIES["sentence"]("It is bad. Bad.") == []
    assert len("It is bad.") == 10


@pytest.mark.parametrize("granularity", ["sentence", "2sents"])
def test_sentences_are_those_of_nltk_as_in_summac(granularity):
    # nltk.sent_tokenize makes the last mark a sentence, which is too short to be a unit.
    assert GRANULARITIES[granularity]("They are very good!!") == ["They are very good!"]


@pytest.fixture
def cutter():
    return UnitCutter(GRANULARITIES["sentence"], GRANULARITIES["document"])


def test_one_wave_asks_each_unit_pair_once(cutter, fake_scorer):
    texts, scorer, seen = TextTable(), fake_scorer(), []
    first = texts.add("They keep my feet dry. They run small, I think.")
    second = texts.add("They run small, I think. They keep my feet dry.")
    claim = texts.add("Dry feet.")
    pairs = np.array([[first, claim], [second, claim], [claim, claim]])
    answers = ask_units(scorer, cutter, texts, pairs, progress=seen.append)
    assert sorted(scorer.asked) == [
        ("They keep my feet dry.", "Dry feet."), ("They run small, I think.", "Dry feet."),
    ]  # fmt: skip
    assert sum(seen) == 3
    one, other, none = answers.images(answers.scores.entailment)
    assert one.shape == (2, 1)
    assert one[::-1].tolist() == other.tolist()
    assert none.tolist() == [[0.0]]  # "Dry feet." is too short to be a sentence
    assert answers.shapes[2] == (0, 1)


def test_nothing_to_ask_is_still_progress(cutter, fake_scorer):
    texts, seen = TextTable(), []
    short = texts.add("Dry.")
    ask_units(fake_scorer(), cutter, texts, np.array([[short, short]]), progress=seen.append)
    assert seen == [1]


def test_flags_of_units_and_of_units_left_out(fake_scorer):
    cutter = UnitCutter(GRANULARITIES["sentence"], GRANULARITIES["document"], most=1)
    texts = TextTable()
    both = texts.add("They keep my feet dry. They run small, I think.")
    one = texts.add("They keep my feet dry.")
    claim, endless = texts.add("Dry feet."), texts.add("And so on.")
    scorer = fake_scorer(too_long=frozenset({"And so on."}))
    pairs = np.array([[both, claim], [one, claim], [one, endless]])
    answers = ask_units(scorer, cutter, texts, pairs)
    assert answers.flags.tolist() == [FLAG_TRUNCATED, 0, FLAG_TOO_LONG]
    assert answers.shapes == [(1, 1)] * 3


def test_units_are_freed_with_their_table(cutter):
    texts = TextTable()
    cutter.units(texts, texts.add("They keep my feet dry."), side=0)
    gone = weakref.ref(texts)
    del texts
    gc.collect()
    assert gone() is None


@settings(deadline=None)
@given(steps=st.lists(st.integers(0, 9), max_size=12), outer=st.integers(0, 40))
def test_progress_in_proportion_adds_up(steps, outer):
    seen = []
    step = in_proportion(seen.append, sum(steps), outer)
    for count in steps:
        if sum(steps):
            step(count)
    assert sum(seen) == (outer if sum(steps) else 0)
    assert all(count > 0 for count in seen)
    assert in_proportion(None, 1, 1) is None
