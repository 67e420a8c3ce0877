"""Sentences turned by rule: what is turned, and what is left alone."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prevalence.training.minimal_pairs import (
    KINDS,
    other_number,
    reworded,
    turned,
    with_antonym,
    with_negation,
)
from prevalence.training.opposites import ANTONYMS, PAST, PLAIN, THIRD


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("sentence", "negations"),
    [
        ("The mic is great.", {"The mic isn't great.", "The mic is not great."}),
        ("We were seated quickly.", {"We weren't seated quickly.", "We were not seated quickly."}),
        ("It's very good.", {"It is not good."}),
        ("I'll be back.", {"I will not be back."}),
        ("The bag has a strap.", {"The bag doesn't have a strap."}),
        ("They have been helpful.", {"They haven't been helpful.", "They have not been helpful."}),
        ("I highly recommend it.", {"I don't recommend it.", "I do not recommend it."}),
        ("The zipper sticks.", {"The zipper doesn't stick.", "The zipper does not stick."}),
        ("The box arrived late.", {"The box didn't arrive late.", "The box did not arrive late."}),
        ("The mic isn't great.", {"The mic is great."}),
        ("I won't go back.", {"I will go back."}),
        ("It does not fit.", {"It fits."}),
        ("I didn't like it.", {"I liked it."}),
        ("You can't adjust it.", {"You can adjust it."}),
    ],
)
def test_negations(sentence: str, negations: set[str]) -> None:
    assert {with_negation(sentence, rng(seed)) for seed in range(12)} == negations


@pytest.mark.parametrize(
    "sentence",
    [
        "It is good, but it is loud.",  # The scope could be either clause.
        "If it is dry, it works.",
        "It is good because they care.",
        "Not only is it loud, it isn't cheap.",
        "Great!",
        "Is it?",
        "Nobody is friendly.",
        "I don't think it isn't good.",
        "My order arrived late.",  # Which of the two is the verb?
        "The work boots fit well.",
        "Best burger I've had.",
        "The best soup I have had!",
        "The smell faded quickly.",
    ],
)
def test_sentences_whose_negation_is_uncertain_are_left_alone(sentence: str) -> None:
    assert with_negation(sentence, rng()) is None


def test_antonyms_and_numbers() -> None:
    assert {with_antonym("A great meal.", rng(seed)) for seed in range(20)} == {
        "A terrible meal.", "An awful meal.", "A horrible meal.",
    }  # fmt: skip
    assert with_antonym("It was a useful tool.", rng()) == "It was a useless tool."
    assert with_antonym("It is not clean.", rng()) is None  # Two turns are none.
    assert with_antonym("The clean room was dirty.", rng()) is None
    numbers = {other_number("It took 40 minutes.", rng(seed)) for seed in range(40)}
    assert "It took 40 minutes." not in numbers
    assert len(numbers) > 3
    assert other_number("Since 2019 nothing broke.", rng()) is None  # A year is no count.
    assert other_number("One of the best.", rng()) is None
    assert other_number("Twice a week.", rng()) in {"Once a week.", "Three times a week.",
                                                    "Four times a week."}  # fmt: skip


def test_word_lists_are_sound() -> None:
    assert all(word not in opposites for word, opposites in ANTONYMS.items())
    assert PLAIN.keys() == THIRD.keys() == PAST.keys()
    assert (THIRD["fit"], THIRD["dry"]) == ("fits", "dries")
    assert (PAST["arrive"], PAST["dry"], PAST["go"]) == ("arrived", "dried", "went")
    assert PAST["regret"] == "regretted"


TURNABLE = [
    "The battery", "It", "They", "is", "isn't", "does not", "great", "clean", "fit", "arrived",
    "40 minutes", "three", "and", "but", ".", "!",
]  # fmt: skip


@given(
    st.lists(st.sampled_from(TURNABLE), max_size=8).map(" ".join) | st.text(max_size=80),
    st.integers(0, 5),
)
@example("The battery is great.", 0)
def test_any_text_gives_other_texts_of_known_kinds_or_none(text: str, seed: int) -> None:
    for twin in turned(text, rng(seed)):
        assert twin.kind in KINDS
        assert twin.text != text


@pytest.mark.parametrize(
    "text",
    [
        "The mic isn't great.",
        "I loved the food.",
        "We did not like the rude staff!",
        "It is not very clean, and I won't come back.",
        "They've been friendly.",
    ],
)
def test_rewording_keeps_negations(text: str) -> None:
    negation = re.compile(r"\bnot\b|n't\b|\bcannot\b")
    found = {reworded(text, rng(seed)) for seed in range(60)}
    assert len(found) > 5
    for other in found:
        assert len(negation.findall(other)) == len(negation.findall(text)), other
        kept = set(re.findall(r"\w+", text.lower())) & set(re.findall(r"\w+", other.lower()))
        assert kept, other


def test_rewording_by_hand() -> None:
    found = {reworded("It isn't good.", rng(seed)) for seed in range(200)}
    assert {"It is not good.", "It isn't nice.", "It isn't good!"} <= found
    assert reworded("It isn't good.", rng(3)) == reworded("It isn't good.", rng(3))


@pytest.mark.parametrize(
    ("sentence", "alone"),
    [
        ("We're happy.", "I am happy."),
        ("Overall, we are happy.", "Overall, I am happy."),
        ("We were disappointed.", "I was disappointed."),
        ("We weren't impressed.", "I wasn't impressed."),
        ("We aren't locals.", "I'm not locals."),
        ("We’re sure we weren’t.", "I am sure I wasn’t."),
        ("We like it.", "I like it."),
    ],
)
def test_what_several_say_one_person_says_in_its_own_form(sentence: str, alone: str) -> None:
    found = {reworded(sentence, rng(seed)) for seed in range(200)}
    assert alone in found
    assert not any(re.search(r"\bI(?:['’]re| are| were)", other) for other in found)
