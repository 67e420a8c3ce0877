"""Length, and how much of a summary is copied."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.baselines import Example, get
from prevalence.baselines.lexical.extractiveness import fragments
from prevalence.errors import ConfigurationError
from prevalence.report.directions import direction

REVIEWS = ("The boots are warm and dry.", "Warm boots!")
NAMES = ("length", "coverage", "density", "compression", "novelty")
WORDS = st.lists(st.sampled_from("abc"), max_size=12)


def value(name, summary, reviews=REVIEWS, references=()):
    (found,) = get(name).score([Example(summary, tuple(reviews), tuple(references))])
    return found


def as_published(summary, text):
    """The procedure of Grusky et al. 2018, figure 3, step by step."""
    found, i = [], 0
    while i < len(summary):
        best, j = 0, 0
        while j < len(text):
            if summary[i] != text[j]:
                j += 1
                continue
            first, i2, j2 = i, i, j
            while i2 < len(summary) and j2 < len(text) and summary[i2] == text[j2]:
                i2, j2 = i2 + 1, j2 + 1
            best, j = max(best, i2 - first), j2
        if best:
            found.append(best)
        i += max(best, 1)
    return found


@given(WORDS, WORDS)
def test_fragments_are_those_of_the_published_procedure(summary, text):
    assert fragments(summary, text) == as_published(summary, text)


@given(WORDS)
def test_a_copy_is_one_fragment(summary):
    assert fragments(summary, summary) == ([len(summary)] if summary else [])


def test_values_by_hand():
    # Runs of 6 words: "boots are warm" and "boots"; new are "nice" and "good".
    summary = "Boots are warm: nice, good boots"
    assert value("length", summary) == 6
    assert value("coverage", summary) == pytest.approx(4 / 6)
    assert value("density", summary) == pytest.approx((3 * 3 + 1) / 6)
    assert value("compression", summary) == pytest.approx(8 / 6)
    # Its pairs: "boots are", "are warm" known; "warm nice", "nice good", "good boots" new.
    assert value("novelty", summary) == pytest.approx(3 / 5)
    assert value("novelty:order=1", summary) == pytest.approx(2 / 6)
    assert value("novelty:order=4", "boots are warm and") == 0


def test_reviews_are_joined_or_asked_one_by_one():
    # "Warm boots" is copied from the second review; the first has its words apart.
    assert value("density", "warm boots") == 2
    assert value("density:source=each", "warm boots") == pytest.approx((1 + 2) / 2)


def test_against_references():
    found = value("coverage:against=reference", "warm boots", references=["warm", "cold"])
    assert found == pytest.approx((0.5 + 0) / 2)
    first = value("coverage:against=reference:refs=first", "warm", references=["warm", "cold"])
    assert first == 1


@pytest.mark.parametrize("name", NAMES[1:])
def test_a_summary_without_a_word_has_no_value(name):
    assert math.isnan(value(name, "..."))
    assert value("length", "...") == 0


def test_a_review_without_a_word_shares_nothing():
    assert value("coverage", "warm", ["!"]) == 0
    assert value("compression", "warm", ["!"]) == 0
    assert value("novelty", "warm boots", ["!"]) == 1


@pytest.mark.parametrize("name", NAMES)
def test_neither_side_is_better(name):
    assert direction(name) == 0
    assert get(name).entry.higher_is_better is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("coverage:against=reference:refs=best", "choose mean, first"),
        ("novelty:order=5", "choose 1, 2, 3, 4"),
        ("length:order=1", "order"),
    ],
)
def test_options_that_do_not_apply(name, message):
    with pytest.raises(ConfigurationError, match=message):
        get(name)
