"""Counts of people beside sentences: whose they are, and what is said without them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.claims import cut
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


@pytest.mark.parametrize(("sentence", "claims"), [
    ("The battery lasts (7 of 10 reviews).", [("The battery lasts.", "7 of 10")]),
    ("The battery lasts — 7 of 10 reviewers.", [("The battery lasts.", "7 of 10")]),
    ("The battery lasts (3 speeds).", [("The battery lasts (3 speeds).", None)]),
    # Behind a clause it is of all that is said of its subject.
    ("The fabric is soft and washes well (mentioned by 7 reviewers).",
     [("The fabric is soft.", "7"), ("The fabric washes well.", "7")]),
    ("The pool and the gym are clean (n=7).", [("The pool is clean.", "7"),
                                               ("The gym is clean.", "7")]),
    # But not of the clause before, nor of what has its own.
    ("The fabric is soft and the zipper sticks (3 reviews).",
     [("The fabric is soft.", None), ("The zipper sticks.", "3")]),
    ("The fabric is soft, but sheds (3 reviews).",
     [("The fabric is soft.", None), ("The fabric sheds.", "3")]),
    ("Although it is slow, it is reliable (3 reviews).",
     [("It is slow.", None), ("It is reliable.", "3")]),
    ("The fabric is soft (7 of 10 reviews), but the zipper sticks (2 of 10 reviews).",
     [("The fabric is soft.", "7 of 10"), ("The zipper sticks.", "2 of 10")]),
    ("Comfort (7 reviews) and fit (5 reviews) are praised.",
     [("Comfort is praised.", "7"), ("Fit is praised.", "5")]),
    ("Users mention leaks (3 reviews), smells (2 reviews), and noise (1 review).",
     [("Users mention leaks.", "3"), ("Users mention smells.", "2"),
      ("Users mention noise.", "1")]),
    ("The hose is long (2 reviews)(3 reviews).", [("The hose is long.", "2")]),
    # Before a sentence, or behind its people, it is of all up to a contrast.
    ("(7 reviews) The fabric is soft and the zipper sticks, but the price is fair.",
     [("The fabric is soft.", "7"), ("The zipper sticks.", "7"), ("The price is fair.", None)]),
    ("Most users (80%) love the fit and hate the laces.",
     [("Users love the fit.", "80%"), ("Users hate the laces.", "80%")]),
    ("Most users say that it leaks (7 of 10 reviews).", [("It leaks.", "7 of 10")]),
    ("Most users love the fit (12 of 20).", [("Users love the fit.", "12 of 20")]),
    ("A single person can carry it.", [("A single person can carry it.", None)]),
    ("A single person returned it.", [("A person returned it.", "A single")]),
    # So it is behind a label, in a row of a table, and in "according to" at the end.
    ("**Comfort (3 of 4 reviews):** The shoes are very comfortable.",
     [("The shoes are very comfortable.", "3 of 4")]),
    ("- **Comfort** (3 of 4 reviews): The shoes are very comfortable",
     [("The shoes are very comfortable.", "3 of 4")]),
    ("**Comfort (6 of 10 reviews):** Very comfortable and light",
     [("It is very comfortable.", "6 of 10"), ("It is light.", "6 of 10")]),
    ("| Aspect | Mentions | What they say |\n|---|---|---|\n| Fit | 3 of 6 | The shoes are small |",
     [("The shoes are small.", "3 of 6")]),
    ("The coffee tastes burnt and smells stale, according to four reviewers.",
     [("The coffee tastes burnt.", "four"), ("The coffee smells stale.", "four")]),
    # A denial stays, as "nobody says" does.
    ("The lid leaks (0 of 10 reviews), and the hose is long (3 reviews).",
     [("The lid leaks (0 of 10 reviews).", None), ("The hose is long.", "3")]),
    ("Is the lid tight (3 reviews)?", [("Is the lid tight (3 reviews)?", None)]),
])  # fmt: skip
def test_counts_that_stand_apart(sentence, claims):
    found = cut(sentence)
    said = [(claim.text, claim.quantity and claim.quantity.text) for claim in found]
    assert said == claims
    assert all(0 <= claim.start < claim.end <= len(sentence) for claim in found)


@pytest.mark.parametrize(("text", "claims"), [
    ("| Battery | 7 of 10 | The battery lasts |", [("The battery lasts.", "7 of 10")]),
    ("2 of 4 | The room is clean", [("The room is clean.", "2 of 4")]),
    ("| Pool | 2 reviews | The pool is cold |", [("The pool is cold.", "2")]),
    ("| Noise | 3 of 10 | It is noisy. |", [("It is noisy.", "3 of 10")]),
    ("3 of 10: It is noisy.", [("It is noisy.", "3 of 10")]),
    ("3 of 10 reviewers: It is noisy.", [("It is noisy.", "3 of 10")]),
    *((f"It is cold (3 {people}).", [("It is cold.", "3")])
      for people in ("guests", "diners", "visitors", "travellers", "readers", "families")),
    ("It is cold (1 guest).", [("It is cold.", "1")]),
    # Grades, and how many fit in.
    *((text, [(text, None)]) for text in (
        "3 of 5: great.", "9 out of 10: would stay again.", "The cabin is small (4 guests).",
        "It is small (4 people).", "Rating: 4.2 out of 5 (10 reviews)", "4.5/5 (12 guests)",
        "4.2 stars — 10 reviews", "Rated 4.5/5 by 10 guests.", "Rated 4.5 stars by most guests.",
    )),
])  # fmt: skip
def test_counts_of_cells_of_people_and_of_grades(text, claims):
    assert [(claim.text, claim.quantity and claim.quantity.text) for claim in cut(text)] == claims


def test_brackets_behind_a_full_stop_count_no_claim_of_the_next_sentence():
    found = cut("It lasts. (7 reviews) It leaks badly.")
    assert [claim.text for claim in found] == ["It lasts.", "It leaks badly."]
    assert [claim.quantity and claim.quantity.text for claim in found] == ["7", None]
    found = cut("(7 reviews) It lasts. (3 reviews) It leaks badly.")
    assert [claim.quantity.text for claim in found] == ["7", "3"]
