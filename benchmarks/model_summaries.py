"""Summaries as language models write them, with their claims as readers cut and judged them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.common import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Judged", "on_released", "on_written"]

DATA = ROOT / "benchmarks" / "data"


class Judged(NamedTuple):
    """A summary and its claims.

    Attributes:
        reviews: texts.
        summary: text.
        claims: texts.
        supported: for each claim and review, whether the review supports it.
        opposed: likewise, whether it says the opposite.
        sentences: for each claim the sentence of the summary that makes it.
        system: name of the summary among those of its reviews.
        case: number of the reviews' case in OpinSummEval.
    """

    reviews: Sequence[str]
    summary: str
    claims: list[str]
    supported: list[list[bool]]
    opposed: list[list[bool]]
    sentences: Sequence[str] = ()
    system: str = ""
    case: int | None = None


def on_written() -> list[Judged]:
    """The summaries of reviews that were written for this project."""
    found = []
    for record in _records("model_summaries.jsonl"):
        sentences, places = record["sentences"], range(len(record["reviews"]))
        for system, text in record["summaries"].items():
            claims = [
                {**claim, "sentence": sentences[claim["sentence"]]["text"]}
                for claim in record["claims"]
                if sentences[claim["sentence"]]["summary"] == system
            ]
            supported = [[place in claim["supports"] for place in places] for claim in claims]
            judged = _judged(record["reviews"], text, claims, supported)
            found.append(judged._replace(system=system))
    return found


def on_released(
    cases: Sequence[dict[str, Any]], name: str = "model_summaries_yelp.jsonl"
) -> list[Judged]:
    """The summaries of reviews of OpinSummEval.

    Args:
        cases: those of the released file.
        name: file of summaries and claims.
    """
    reviews = {case["case"]: case["reviews"] for case in cases}
    found = []
    for record in _records(name):
        for system, text in record["summaries"].items():
            claims = [claim for claim in record["claims"] if claim["summary"] == system]
            supported = [[chance > 50 for chance in claim["labels"]] for claim in claims]
            judged = _judged(reviews[record["case"]], text, claims, supported)
            found.append(judged._replace(system=system, case=record["case"]))
    return found


def _records(name: str) -> Iterator[dict[str, Any]]:
    return map(json.loads, (DATA / name).read_text(encoding="utf-8").splitlines())


def _judged(
    reviews: Sequence[str], summary: str, claims: list[dict[str, Any]], supported: list[list[bool]]
) -> Judged:
    opposed = [[place in claim["against"] for place in range(len(reviews))] for claim in claims]
    texts, sentences = ([claim[key] for claim in claims] for key in ("text", "sentence"))
    return Judged(reviews, summary, texts, supported, opposed, sentences)
