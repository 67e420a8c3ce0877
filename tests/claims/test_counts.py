"""Counts of people beside sentences: whose they are, and what is said without them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.claims.counts import gathered, without_counts
from prevalence.text.sentences import Sentence, get_splitter

PIECES = [
    "It lasts.", "It leaks", "(7 reviews)", "(7 of 10 reviews)", "[5 reviewers]", "(4 of 5 stars)",
    " ", "\n", ".", "- ", "**Fit:** ", "(0 of 10 reviews)",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def units(text: str) -> list[str]:
    return [sentence.text for sentence in gathered(get_splitter()(text), text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It lasts. (7 reviews) It leaks. (3 reviews)",
         ["It lasts. (7 reviews)", "It leaks. (3 reviews)"]),
        ("(7 reviews) It lasts. (3 reviews) It leaks.",
         ["(7 reviews) It lasts.", "(3 reviews) It leaks."]),
        ("- It lasts. (7 reviews)\n- It leaks.", ["It lasts. (7 reviews)", "It leaks."]),
        ("It lasts.\n\n(7 reviews) It leaks.", ["It lasts.", "(7 reviews) It leaks."]),
        ("It lasts (7 reviews). (3 reviews) It leaks.",
         ["It lasts (7 reviews).", "(3 reviews) It leaks."]),
        ("It lasts. (3 speeds) It leaks.", ["It lasts.", "(3 speeds) It leaks."]),
        ("(7 reviews)", ["(7 reviews)"]),
        ("- It lasts.\n  *(7 reviews)*\n- It leaks.", ["It lasts. (7 reviews)", "It leaks."]),
        ("It lasts.\n\n(7 reviews)", ["It lasts. (7 reviews)"]),
        ("It lasts. (7 reviews)\ncheap too and light",
         ["It lasts. (7 reviews)", "cheap too and light"]),
    ],
)  # fmt: skip
def test_a_count_behind_a_full_stop_is_of_the_sentence_before(text, expected):
    assert units(text) == expected


def test_sentences_keep_their_places():
    text = "It *lasts*. (7 reviews) It *leaks*."
    assert gathered(get_splitter()(text), text) == (
        Sentence("It lasts. (7 reviews)", 0, 23),
        Sentence("It leaks.", 24, len(text)),
    )


@given(texts)
def test_no_word_is_lost_and_sentences_stand_in_order(text):
    before, after = get_splitter()(text), gathered(get_splitter()(text), text)
    letters = [
        [letter for sentence in sentences for letter in sentence.text if letter.isalnum()]
        for sentences in (before, after)
    ]
    assert letters[0] == letters[1]
    assert all(a.end <= b.start for a, b in pairwise(after))
    assert gathered(after, text) == after


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It lasts (7 of 10 reviews).", "It lasts."),
        ("It lasts. (7 reviews)", "It lasts."),
        ("(12 mentions) It lasts.", "It lasts."),
        ("It is soft (7 reviews) and warm (3 reviews).", "It is soft and warm."),
        ("It lasts all day [reviews 2, 5 and 7].", "It lasts all day."),
        ("It leaks (0 of 10 reviews).", "It leaks (0 of 10 reviews)."),
        ("It got 4 stars (4 of 5 stars).", "It got 4 stars (4 of 5 stars)."),
        ("Most users love it.", "Most users love it."),
        ("(7 reviews)", "(7 reviews)"),
        ("It is fine , I say  so.", "It is fine , I say  so."),
    ],
)
def test_what_a_single_review_can_say(text, expected):
    assert without_counts(text) == expected
