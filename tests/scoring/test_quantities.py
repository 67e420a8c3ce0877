"""Quantities beside support: what is scored, and what rows say of it."""

from __future__ import annotations

import pytest

from prevalence.claims.quantities import wilson_interval
from prevalence.records import Product, Review, ScoredSummary, Summary
from prevalence.scorers.registry import open_scorer
from prevalence.scoring.engine import Engine, ScoringOptions

PRODUCT = Product(
    "p",
    (Review("The lamp hums."), Review("The lamp hums loudly."), Review("Red.")),
    (Summary("a", "Most users say that the lamp hums. The lamp is red. Some say the lamp hums."),),
)


def row(**options) -> ScoredSummary:
    scorer = open_scorer(model="rouge1-precision", threshold=0.9)
    (scored,) = Engine(scorer, ScoringOptions(threshold=0.9, **options)).run([PRODUCT])
    return scored


def test_the_statement_is_scored_without_its_quantity():
    first, second, third = row(quantities=True).sentences
    # "The lamp hums." has all its words in the first two reviews.
    assert (first.text, first.support) == ("Most users say that the lamp hums.", 2)
    assert first.quantity["statement"] == "The lamp hums."
    assert (first.quantity["text"], first.quantity["agrees"]) == ("Most", True)
    assert first.quantity["interval"] == pytest.approx(list(wilson_interval(2, 3)))
    assert second.quantity is None
    # It repeats the first, so no review was asked.
    assert (third.redundant_with, third.quantity["agrees"]) == (0, None)


def test_rows_and_signatures_say_so():
    with_them, without = row(quantities=True), row()
    assert "|quantities:apart|" in with_them.signature
    assert "quantities" not in without.signature
    assert without.sentences[0].support == 0
    assert "quantity" not in without.to_json()["sentences"][0]
    assert ScoredSummary.from_json(with_them.to_json()) == with_them
