"""Quantities beside support: what is scored, and what rows say of it."""

from __future__ import annotations

import pytest

from prevalence.claims.comparison import wilson_interval
from prevalence.records import Product, Review, Summary
from prevalence.scored import ScoredSummary
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


def test_a_count_in_brackets_is_compared_and_not_asked_about(fake_scorer):
    text = "It leaks (mentioned by 7 reviewers). (7/10 users) It hums."
    product = Product("p", (Review("It leaks."),) * 10, (Summary("a", text),))
    scorer = fake_scorer({("It leaks.", "It leaks."): (0.9, 0.0)})
    (scored,) = Engine(scorer, ScoringOptions(quantities=True)).run([product])
    first, second = scored.sentences
    assert (first.support, first.quantity["statement"]) == (10, "It leaks.")
    # 10 of 10 do: 0.72 to 1.
    assert (first.quantity["low"], first.quantity["agrees"]) == (0.7, False)
    # The first sentence has its count, so the second brackets are the second's.
    assert second.quantity["statement"] == "It hums."


@pytest.mark.parametrize("words", ["Most families love", "No families love"])
def test_of_a_part_of_the_reviewers_the_words_are_kept_and_not_compared(fake_scorer, words):
    text = f"{words} the pool."
    product = Product("p", (Review("Great pool."),) * 30, (Summary("a", text),))
    engine = Engine(fake_scorer({}), ScoringOptions(quantities=True))
    (scored,) = engine.run([product])
    quantity = scored.sentences[0].quantity
    assert quantity["statement"] == "Families love the pool."
    assert (quantity["text"], quantity["of"]) == (words.split()[0], "families")
    assert (quantity["agrees"], quantity["interval"], quantity["support"]) == (None, None, None)
    assert engine.counts.naive == 30  # what a denial denies is not asked about


@pytest.mark.parametrize(
    ("brackets", "count"), [("(Reviews 1, 3 and 5)", 3), ("[reviewers 2-5]", 4)]
)
def test_reviews_that_are_named_are_counted(fake_scorer, brackets, count):
    product = Product("p", (Review("It leaks."),) * 9, (Summary("a", f"It leaks {brackets}."),))
    (scored,) = Engine(fake_scorer({}), ScoringOptions(quantities=True)).run([product])
    (unit,) = scored.sentences
    assert unit.quantity["statement"] == "It leaks."
    assert (unit.quantity["low"], unit.quantity["high"]) == (pytest.approx(count / 9), 1)


def test_a_count_in_brackets_is_never_asked_about(fake_scorer):
    product = Product("p", (Review("It leaks."),), (Summary("a", "It leaks. (7 of 10 reviews)"),))
    scorer = fake_scorer({("It leaks.", "It leaks."): (0.9, 0.0)})
    (scored,) = Engine(scorer, ScoringOptions()).run([product])
    assert [s.text for s in scored.sentences] == ["It leaks. (7 of 10 reviews)"]
    assert scored.prevalence == 1
    (scored,) = Engine(scorer, ScoringOptions(splitter="lines")).run([product])
    assert scored.prevalence == 0


def test_rows_and_signatures_say_so():
    with_them, without = row(quantities=True), row()
    assert "|quantities:apart|" in with_them.signature
    assert "quantities" not in without.signature
    assert without.sentences[0].support == 0
    assert "quantity" not in without.to_json()["sentences"][0]
    assert ScoredSummary.from_json(with_them.to_json()) == with_them


@pytest.mark.parametrize("unit", ["sentence", "claim"])
@pytest.mark.parametrize(("denial", "agrees"), [
    ("Nobody says that it leaks.", False),       # 10 of 10 do: 0.72 to 1, and at most 0.05
    ("Few users say that it leaks.", False),
    ("0 of 10 reviewers say that it leaks.", False),
    ("Nobody says that it hums.", True),         # none does: 0 to 0.28
])  # fmt: skip
def test_a_denial_is_scored_whole(fake_scorer, unit, denial, agrees):
    product = Product("p", (Review("It leaks."),) * 10, (Summary("a", f"{denial} It leaks."),))
    scorer = fake_scorer({("It leaks.", "It leaks."): (0.9, 0.0)})
    options = ScoringOptions(unit=unit, quantities=True)
    (scored,) = Engine(scorer, options).run([product])
    first, second = scored.sentences
    # No review implies the denial, and it does not imply what it denies: (0 + 10) / (2 * 10).
    assert (first.support, second.support, second.redundant_with) == (0, 10, None)
    assert scored.prevalence == pytest.approx(0.5)
    assert first.quantity["agrees"] is agrees
    assert first.quantity["statement"] == ("It hums." if agrees else "It leaks.")
    assert first.quantity["interval"] == pytest.approx(list(wilson_interval(10 * (not agrees), 10)))


def test_what_is_denied_is_asked_of_no_review_where_the_sentence_is_masked(fake_scorer):
    text = "It hums. Nobody says that it leaks."
    product = Product("p", (Review("It leaks."), Review("")), (Summary("a", text),))
    scorer = fake_scorer({("It hums.", "Nobody says that it leaks."): (0.9, 0.0)})
    engine = Engine(scorer, ScoringOptions(quantities=True))
    (scored,) = engine.run([product])
    assert (scored.sentences[1].redundant_with, scored.sentences[1].quantity["agrees"]) == (0, None)
    # One pair of the sentences; two reviews beside two sentences and what one of them denies.
    assert engine.counts.naive == 1 + 2 * 3
