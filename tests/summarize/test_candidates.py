"""The sentences that a summary may be made of."""

from __future__ import annotations

import pytest

from prevalence.summarize.candidates import Candidates, closed, has_content
from prevalence.text.sentences import get_splitter

REVIEWS = ["Warm boots. They leak.", "", "They leak. So warm"]


def test_distinct_sentences_know_all_their_places() -> None:
    found = Candidates.of(REVIEWS, get_splitter())
    assert found.texts == ("Warm boots.", "They leak.", "So warm.")
    assert found.ranks == ((0,), (1, 2), (3,))
    assert [place.review for place in found.places] == [0, 0, 2, 2]
    assert found.first_ranks.tolist() == [0, 1, 3]
    assert found.in_source_order() == [0, 1, 1, 2]
    assert len(found) == 3


def test_offsets_are_those_of_the_review_without_the_added_stop() -> None:
    found = Candidates.of(REVIEWS, get_splitter())
    cut = [REVIEWS[place.review][place.start : place.end] for place in found.places]
    assert cut == ["Warm boots.", "They leak.", "They leak.", "So warm"]


def test_verbatim_keeps_an_open_end() -> None:
    assert Candidates.of(REVIEWS, get_splitter(), close=False).texts[-1] == "So warm"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Warm", "Warm."),
        ("Warm.", "Warm."),
        ("Warm!!", "Warm!!"),
        ("Why?)", "Why?)"),
        ("Warm (very)", "Warm (very)."),
        ("Well…", "Well…"),
        ("“Warm.”", "“Warm.”"),
        ("Warm,", "Warm,."),
    ],
)
def test_an_open_end_is_closed(sentence: str, expected: str) -> None:
    assert closed(sentence) == expected


def test_closed_sentences_are_cut_apart_again() -> None:
    texts = Candidates.of(["Warm boots", "They leak", "Great (really)"], get_splitter()).texts
    assert tuple(s.text for s in get_splitter()(" ".join(texts))) == texts


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Avoid!", False),
        ("Be careful!", False),
        ("A piece of junk!", False),
        ("Great boots!", False),
        ("Love it.", False),
        ("!!!", False),
        ("It is what it is.", False),
        ("A piece of junk.", True),
        ("They leak!", True),
        ("The boots leak!", True),
        ("It’s waterproof.", True),
        ("It isn't.", False),
        ("It won’t.", False),
        ("They can't!", False),
        ("It isn't waterproof.", True),
        ("Great boots for wet winters!", True),
        ("Size 12", True),
        ("素晴らしい！", True),
        ("Отлично!", True),
    ],
)
def test_fragments_and_exclamations_without_content(sentence: str, expected: bool) -> None:
    assert has_content(sentence) is expected


def test_sentences_without_content_are_counted_and_leave_the_offsets_alone() -> None:
    reviews = ["Avoid! They leak.", "Be careful! Avoid!"]
    found = Candidates.of(reviews, get_splitter(), says=has_content)
    assert (found.texts, found.places, found.left_out) == (("They leak.",), ((0, 7, 17),), 3)
    every = Candidates.of(reviews, get_splitter())
    assert (len(every.places), every.left_out) == (4, 0)
