"""Paragraphs, items of lists, and labels that are none of either."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.paragraphs import paragraphs
from prevalence.sentences import get_splitter

PIECES = [
    "It fits.", "light", "Pros:", "**Cons**", "- ", "* ", "1. ", "2) ", "# ", "\n", "\n\n", "\r\n",
    "\u2022 ", " ", "\u2028", "\x0b", "A", "\u00e9",
]  # fmt: skip
texts = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=24).map("".join))


def pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in paragraphs(text)]


@given(texts)
def test_paragraphs_are_in_order_and_begin_and_end_with_words(text):
    spans = list(paragraphs(text))
    assert all(start < end for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert all(piece == piece.strip() for piece in pieces(text))


@given(st.lists(st.sampled_from(["It fits.", "It leaks", "on me.", "I did not"]), min_size=1))
def test_a_text_without_marks_and_blank_lines_is_one_paragraph(lines):
    text = "\n".join(lines)
    assert pieces(text) == [text]


@given(st.lists(st.sampled_from(["light", "It fits.", "easy to clean"]), min_size=1, max_size=6),
       st.sampled_from(["- ", "* ", "\u2022 ", "  + "]))  # fmt: skip
def test_items_are_those_that_were_listed(items, mark):
    assert pieces("\n".join(mark + item for item in items)) == items
    assert pieces("\n\n".join(mark + item for item in items)) == items


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("Good.\r\n\r\nBad", ["Good.", "Bad"]),
        ("It is light and\neasy to clean.", ["It is light and\neasy to clean."]),
        ("1. It is light\n2. It leaks", ["It is light", "It leaks"]),
        ("(a) light\n(b) loud", ["light", "loud"]),
        # One number at the beginning of a line is no list.
        ("I gave it\n5. It was fine.", ["I gave it\n5. It was fine."]),
        ("I saw -\n- light", ["I saw -\n- light"]),
        ("- light", ["light"]),
        ("-5 degrees\n-7 degrees", ["-5 degrees\n-7 degrees"]),
        # What follows an item in a line of its own.
        ("- easy to\n  clean\n- light\nIn all a bargain", ["easy to\n  clean", "light",
                                                          "In all a bargain"]),
        ("Pros: \u2022 light \u2022 cheap Cons:", ["light", "cheap Cons:"]),
        ("light \u2022 cheap", ["light \u2022 cheap"]),
        ("light \u2022 cheap \u2022 red", ["light", "cheap", "red"]),
        # Labels.
        ("**Pros:**\n- light\n\n**Cons**:\n- loud", ["light", "loud"]),
        ("**Pros**\n\n- light\n\n**Overall**\n\nA bargain", ["light", "A bargain"]),
        ("**Fit and size:**\nIt runs small", ["It runs small"]),
        ("**Very comfortable**\n\nIt fits.", ["**Very comfortable**", "It fits."]),
        ("What buyers like:\n- light\n- cheap", ["light", "cheap"]),
        ("Pros: light. Cons: loud.", ["Pros: light. Cons: loud."]),
        ("Pros:\nlight", ["Pros:\nlight"]),
        ("## Summary\nIt is light", ["It is light"]),
        ("# The battery dies within a day\nA pity", ["The battery dies within a day", "A pity"]),
        ("**It leaks.**\n\nA pity", ["**It leaks.**", "A pity"]),
        ("Buyers of all sizes like these points:\n- light\n- cheap",
         ["Buyers of all sizes like these points:", "light", "cheap"]),
        ("- **Weight:** It is light\n- **Pros**", ["**Weight:** It is light", "**Pros**"]),
    ],
)  # fmt: skip
def test_paragraphs_of_lists_and_headings(text, expected):
    assert pieces(text) == expected


def test_sentences_of_a_list_as_language_models_write_it():
    text = "**Pros:**\n- Light to carry\n- Opens with one hand. Dries fast\n\n**Cons:**\n- It leaks"
    found = [sentence.text for sentence in get_splitter()(text)]
    assert found == ["Light to carry", "Opens with one hand.", "Dries fast", "It leaks"]
    assert len(get_splitter("nltk-punkt-en")(text)) == 2
