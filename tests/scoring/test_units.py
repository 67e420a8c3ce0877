"""Sentences or claims: what a summary is counted in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prevalence import claims
from prevalence.errors import ConfigurationError
from prevalence.records import Product, Review, Summary
from prevalence.scoring.engine import Engine, ScoringOptions

TEXT = "It fits and is warm, but leaks."
GIVEN = ["It fits", "It is warm", "but leaks."]
PRODUCT = Product("p", (Review("Warm."), Review("It fits.")), (Summary("s", TEXT),))


def score(scorer, product, **options):
    (row,) = Engine(scorer, ScoringOptions(unit="claim", **options)).run([product])
    return row


def stating(found, *others):
    """The product with claims in its summary, and other summaries without."""
    return replace(PRODUCT, summaries=(Summary("s", TEXT, {"claims": found}), *others))


def test_claims_of_the_record_are_what_is_counted(fake_scorer):
    # Review 1 implies one of three claims: 1 / (2 · 3).
    row = score(fake_scorer({("It fits.", "It fits"): (0.9, 0.0)}), stating(GIVEN))
    assert [unit.text for unit in row] == GIVEN
    assert row.prevalence == pytest.approx(1 / 6)
    # A claim of the record stands where its sentence stands.
    assert {(unit.start, unit.end) for unit in row} == {(0, len(TEXT))}
    assert "|unit:claim-record|" in row.signature
    assert "claims" not in row.to_json()


def test_claims_are_part_of_the_input(fake_scorer):
    one, two = stating(GIVEN), stating(GIVEN[:2])
    assert score(fake_scorer(), one).input_digest != score(fake_scorer(), two).input_digest


def test_a_record_without_the_claims_of_a_summary_says_so(fake_scorer):
    engine = Engine(fake_scorer(), ScoringOptions(unit="claim"))
    good, bad = engine.run([stating(GIVEN, Summary("t", TEXT))])
    assert good.error is None
    assert bad.prevalence is None
    assert "claims for other summaries only; give \"claims\" for 't' too" in bad.error
    # Quantities are looked for in claims that are there.
    quantified = Engine(fake_scorer(), ScoringOptions(unit="claim", quantities=True))
    assert [row.error for row in quantified.run([stating(GIVEN, Summary("t", TEXT))])] == [
        None,
        bad.error,
    ]


def test_claims_that_are_null_are_none_that_a_record_gives(fake_scorer):
    row = score(fake_scorer({}), stating(None))
    assert (row.error, row.prevalence) == (None, 0.0)
    assert "|unit:claim-rules|" in row.signature
    for left in (stating(None, Summary("t", TEXT)), stating(None, Summary("t", TEXT, {"x": 1}))):
        rows = Engine(fake_scorer(), ScoringOptions(unit="claim")).run([left])
        assert [row.error for row in rows] == [None, None]


def test_a_quantity_lost_in_the_cutting_is_known(fake_scorer):
    text = "Most users say that it leaks."
    product = Product("p", (Review("It leaks."), Review("Nice.")), (Summary("s", text),))
    answers = {("It leaks.", "It leaks."): (0.9, 0.0)}
    row = score(fake_scorer(answers), product, quantities=True)
    (unit,) = row
    assert unit.text == "It leaks."
    assert unit.quantity["text"].lower() == "most"
    assert unit.support == 1


def test_a_summary_is_cut_once(fake_scorer, monkeypatch):
    calls = []

    def counted(text, **options):
        calls.append(text)
        return claims.cutter.cut(text, **options)

    monkeypatch.setattr("prevalence.claims.cut", counted, raising=False)
    text = "Most users say that it sings, but the base is loose."
    product = Product("p", (Review("It sings."),), (Summary("s", text),))
    row = score(fake_scorer({}), product, quantities=True)
    assert [unit.quantity is None for unit in row] == [False, True]
    assert calls == [text]


def test_counts_in_brackets_are_no_part_of_a_claim(fake_scorer):
    text = "It leaks (7 of 10 reviews). It hums. (Most users) It rusts."
    product = Product("p", (Review("It leaks."),), (Summary("s", text),))
    row = score(fake_scorer({}), product, quantities=True)
    assert [unit.text for unit in row] == ["It leaks.", "It hums.", "It rusts."]
    counts = [unit.quantity and unit.quantity["text"] for unit in row]
    assert counts == ["7 of 10", "Most", None]
    (unit,) = score(fake_scorer({}), stating(["(3 reviews) It rusts."]), quantities=True)
    assert unit.quantity["statement"] == "It rusts."


def test_equal_claims_keep_their_own_quantities(fake_scorer):
    text = "Most users say that it leaks. A few users say that it leaks."
    product = Product("p", (Review("It leaks."),), (Summary("s", text),))
    row = score(fake_scorer({}), product, quantities=True)
    assert [unit.text for unit in row] == ["It leaks."] * 2
    assert [unit.quantity["text"] for unit in row] == ["Most", "A few"]
    stated = [{"text": "It leaks.", "quantity": words} for words in ("many", "few")]
    row = score(fake_scorer({}), stating(stated), quantities=True)
    assert [unit.quantity["text"] for unit in row] == ["many", "few"]


def test_a_part_of_a_record_is_scored_as_in_the_whole(fake_scorer):
    product = stating(GIVEN, Summary("t", TEXT))
    engine = Engine(fake_scorer(), ScoringOptions(unit="claim"))
    parts = [product.part([summary]) for summary in product.summaries]
    assert list(engine.run(parts)) == list(engine.run([product]))
    # Without the system that has claims it is another record.
    (row,) = engine.run([product.with_summaries(product.summaries[1:])])
    assert "|unit:claim-rules|" in row.signature


def test_other_claims_are_cut_by_rule(fake_scorer):
    scorer = fake_scorer()
    text = "The boots fit, but the laces break."
    product = Product("p", (Review(f"Well. {text}"),), (Summary("s", text),), "boot")
    row = score(scorer, product, profile=True)
    assert [unit.text for unit in row] == ["The boots fit.", "The laces break."]
    assert [(unit.start, unit.end) for unit in row] == [
        (claim.start, claim.end) for claim in claims.cut(text)
    ]
    assert "|unit:claim-rules|" in row.signature
    # The reviews' statements are claims too.
    assert (f"Well. {text}", "The laces break.") in scorer.asked


def test_claims_of_the_record_leave_the_reviews_whole(fake_scorer):
    scorer = fake_scorer()
    row = score(scorer, stating(GIVEN), profile=True)
    assert row.profile.of_statements == 2
    assert (TEXT, "It fits.") in scorer.asked


def test_units_that_cannot_be_are_refused():
    with pytest.raises(ConfigurationError, match="a unit is sentence or claim, not 'word'"):
        ScoringOptions(unit="word")
    with pytest.raises(ConfigurationError, match="a ceiling counts whole sentences"):
        ScoringOptions(unit="claim", ceiling=True)


def test_sentences_ignore_claims(fake_scorer):
    plain = Engine(fake_scorer()).run([PRODUCT])
    given = Engine(fake_scorer()).run([stating(GIVEN)])
    assert next(plain).to_json() == next(given).to_json()


def test_no_claims_are_cut_of_a_summary_that_is_refused(fake_scorer, monkeypatch):
    def cut(*_, **__):
        raise AssertionError("claims were cut")

    monkeypatch.setattr(claims, "cut", cut)
    long = replace(PRODUCT, summaries=(Summary("s", "It fits and is warm. " * 4),))
    assert "4 sentences, which takes 6" in score(fake_scorer({}), long, max_sentences=3).error
