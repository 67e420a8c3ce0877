"""The sentences that a summary may be made of."""

from __future__ import annotations

import pytest

from prevalence.sentences import get_splitter
from prevalence.summarize.candidates import Candidates, closed

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
