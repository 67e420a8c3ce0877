"""Marks of Markdown, names and openings that are left out of what models are asked."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence import OpinionPrevalence
from prevalence.claims import cut
from prevalence.text.markdown import needless, places_of, spoken, without_marks, without_opening
from prevalence.text.sentences import Sentence, get_splitter

PIECES = [
    "It lasts", "**Battery:**", "Fit: ", "**", "*", "_", "`", "[2]", "[see](x)", "> ", '"', " ",
    "\n", ".", "However, ", "But ", "\u201cIt fits.\u201d", "__",
    "\u2705 ", "(Review 3)", "Verdict: ", "**1. Fit:**",
]  # fmt: skip
texts = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=16).map("".join))


def said(text: str) -> list[str]:
    return [sentence.text for sentence in get_splitter()(text)]


@given(texts)
def test_what_is_left_stands_where_it_stood(text):
    for plain in (without_marks(text), without_opening(text)):
        assert len(plain) == len(text)
        assert all(b in (a, " ") for a, b in zip(text, plain, strict=True))


@given(texts)
def test_sentences_stand_in_order_and_say_something(text):
    found = get_splitter()(text)
    assert all(s.text == s.text.strip() != "" for s in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    for sentence in found:
        source = text[sentence.start : sentence.end]
        letters = [c for c in sentence.text.casefold() if not c.isspace()]
        left = iter(source.casefold())
        assert all(letter in left for letter in letters)


@given(texts)
def test_places_are_in_order_and_of_the_same_characters(text):
    for sentence in get_splitter()(text):
        source = text[sentence.start : sentence.end]
        places = places_of(sentence.text, source)
        assert places == sorted(places)
        assert all(0 <= place < len(source) for place in places)
    assert places_of(text, text) == list(range(len(text)))


@pytest.mark.parametrize(
    "marked",
    [
        "The battery lasts **all** day.",
        "The **battery** lasts *all day*.",
        "***The battery lasts all day.***",
        "**The battery *lasts* all day.**",
        "__The battery__ lasts _all_ day.",
        "The battery `lasts` all day.",
        "The battery ~~lasts~~ all day.",
        "The [battery](https://example.com/a_b) lasts all day.",
        "The battery lasts all day [2].",
        "The battery lasts all day.[1][4]",
        "The battery lasts [1, 3] all day.",
        "> The battery lasts all day.",
        '"The battery lasts all day."',
        "\u201cThe battery lasts all day.\u201d",
        "**Battery:** The battery lasts all day.",
        "**Battery**: The battery lasts all day.",
        "**Battery life** \u2013 The battery lasts all day.",
        "Battery: The battery lasts all day.",
        "| Battery life | The battery lasts all day. |",
        "| **Battery** | The battery lasts all day. |",
        "**1. Battery:** The battery lasts all day.",
        "**Verdict:** The battery lasts all day.",
        "TL;DR: The battery lasts all day.",
        "Customers say: The battery lasts all day.",
        "The battery lasts all day (Review 3).",
        "The battery lasts all day [reviewer #12].",
        "The battery lasts all day (R3).",
        "The battery lasts all day\u301012\u3011.",
        "The battery lasts all day \u30103\u2020source\u3011\u30105\u3011.",
        "In a nutshell: the battery lasts all day.",
        "Based on 1,200 verified reviews, the battery lasts all day.",
        "<p>The <b>battery</b> lasts all day.</p>",
        "The battery lasts all day [Review 1][Review 2].",
        "![](https://example.com/a.png) The battery lasts all day.",
        "But overall, the battery lasts all day.",
        "- **Battery:** The battery lasts all day.",
        "\u2705 The battery lasts all day.",
        "However, the battery lasts all day.",
        "**Overall**, the battery lasts all day.",
        "But the battery lasts all day.",
        "Luckily, the battery lasts all day.",
        "At the end of the day, the battery lasts all day.",
        "But, honestly, the battery lasts all day.",
    ],
)
def test_models_are_asked_the_same_with_marks_and_without(marked):
    assert said(marked) == ["The battery lasts all day."]


def test_a_cell_that_the_next_one_does_not_repeat_stays():
    assert said("| Fit | Runs small. |") == ["Fit | Runs small."]


@pytest.mark.parametrize(
    "text",
    [
        "A 5* hotel with 4* food.",
        "\u3010Long battery\u3011It lasts.",
        "The camera (R5) is sharp.",
        "It is 2*3 and 4*5 feet.",
        "I use snake_case_names daily.",
        "Plays for > 100 hours.",
        "> 100 hours of play.",
        "The case [black] is thin.",
        "Price: too high.",
        "Verdict: 5 of 6 would return.",
        "> $50 is too much.",
        ">_< it broke.",
        "But for the smell, I would keep it.",
        "I read it (2 reviews) and left.",
        # What stands before the colon says who, when, on what, or what is meant.
        "They claim: It lasts all day.",
        "One reviewer noted: The zipper broke on day one.",
        "Food was dreadful: both the soup and the rice were cold.",
        "At night: It is too bright.",
        "Windows 10: It does not install.",
        "Broken zippers: Several customers had to return it.",
        "Complaints from users: Users get it late.",
        "Delivery: Delicious food on the boat.",
        "Camera (2/5): The camera is fine.",
        "Not true: the battery lasts all day.",
        "Here are two sizes: small and large.",
        'One says "it leaks" and one "it does not".',
        "Also known as the best.",
        "First rate service.",
        "For the most part, it is quiet.",
        "Still good after a year.",
        "Plus sizes run small.",
    ],
)
def test_what_is_no_mark_stays(text):
    assert said(text) == [text]


def test_a_name_stays_where_nothing_else_says_what_is_meant():
    assert said("**Fit:** Runs small.\n\n**Price**: Too high.") == [
        "Fit: Runs small.",
        "Price: Too high.",
    ]
    assert said("**Sole:** comes off\n**Laces:** the laces are long") == [
        "Sole: comes off",
        "the laces are long",
    ]


def test_a_sentence_ends_within_emphasis_and_before_a_reference():
    assert said("**It lasts. It is light.** It leaks.[1] It rusts.[2]") == [
        "It lasts.",
        "It is light.",
        "It leaks.",
        "It rusts.",
    ]


def test_a_sentence_has_the_place_of_all_that_it_is_made_of():
    text = "It fits. However, it *leaks* [1]."
    assert get_splitter()(text) == (
        Sentence("It fits.", 0, 8),
        Sentence("It leaks.", 9, len(text)),
    )


def test_other_languages_keep_their_openings():
    assert get_splitter("punkt-de")("Also, es *passt*.")[0].text == "Also, es passt."


@pytest.mark.parametrize("name", ["nltk-punkt-en", "lines"])
def test_other_splitters_leave_texts_as_they_stand(name):
    assert [s.text for s in get_splitter(name)("However, it *leaks*.")] == ["However, it *leaks*."]


def test_claims_stand_where_their_words_do():
    text = "However, it is *light* and **does not leak** [2]."
    claims = cut(text)
    assert [claim.text for claim in claims] == ["It is light.", "It does not leak."]
    assert [text[claim.start : claim.end] for claim in claims] == [
        "it is *light",
        "does not leak",
    ]


def test_white_space_changes_only_where_something_is_left_out_within():
    assert said("However, it is fine , I say  so.") == ["It is fine , I say  so."]
    assert said("However, it is *fine* , I say  so.") == ["It is fine, I say so."]


def test_words_that_marks_divide_stay_whole():
    assert said('The **TV**\'s **5**-year-old (*old*) "**screen**" is dim :) [2].') == [
        'The TV\'s 5-year-old (old) "screen" is dim :).'
    ]


def test_bold_words_within_a_sentence_are_no_names():
    text = "I like the **camera** \u2013 the camera is sharp."
    assert said(text) == [text.replace("**", "")]


@pytest.mark.parametrize(
    ("name", "after", "expected"),
    [
        ("Noise", "The fan is noisy.", True),
        ("Bag", "The bag is too small.", True),
        ("The fit", "The sole is thin.", False),
        ("Durability", "It is not durable.", True),
        ("Softness", "The towels are soft.", True),
        ("Sound quality", "The sound is clear.", True),
        ("Ease of use", "They are easy to use.", False),
        ("Poor battery life", "The battery lasts two hours.", False),
        ("Disappointing sound", "The sound comes from one side.", False),
        ("The sound and the screen", "The screen is dim.", False),
        ("Comfort", "It is fine. Very comfortable.", False),
        ("Not durable", "The durable one is dear.", False),
        ("Comfort of the wide red seat", "The seat is soft.", False),
    ],
)
def test_a_name_is_needless_where_the_sentence_names_the_same(name, after, expected):
    assert needless(name, after) is expected


def test_spoken():
    assert spoken("  it lasts  all day   .", "**it lasts* all day[1].") == "It lasts all day."


def test_a_summary_scores_in_markdown_as_it_does_in_prose():
    reviews = [
        "Pitched it in five minutes. Kept us dry in heavy rain. Two pegs bent at once.",
        "Easy to set up alone. A bit heavy to carry, 6 kilos. Stayed dry inside.",
        "Leaked at the seams in the first storm. Sent it back.",
    ]
    prose = "The setup is easy. It keeps the rain out. The pegs bend. It is heavy."
    markdown = (
        "Here's a summary of the reviews:\n\n"
        "### \u2705 Pros\n- **Setup:** The setup is easy (2 of 3 reviews).\n"
        "- It keeps the *rain* out [1][2].\n\n"
        "### \u274c Cons\n- **Pegs** \u2013 The pegs bend.\n\nHowever, it is **heavy**."
    )
    metric = OpinionPrevalence(cache=None)
    first, second = (metric.score(reviews, text, name="tent") for text in (prose, markdown))
    assert first.prevalence == second.prevalence > 0
    assert [s.support for s in first.sentences] == [s.support for s in second.sentences]
