"""Rows scored again with the settings of their signatures."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from prevalence.errors import ConfigurationError, InputError
from prevalence.records import Product, Review, Summary
from prevalence.scoring.engine import Engine, ScoringOptions
from prevalence.scoring.others import OtherProducts
from prevalence.scoring.verification import Verified, options_of, sampled, verify
from prevalence.stats.correction import ErrorRates

RATES = ErrorRates(((8, 2, 45, 5),), 0.5, "people")
REVIEWS = tuple(
    Review(text, extra={"rating": rating, "brand": brand})
    for text, rating, brand in (
        ("The boots fit well. They leak.", 5, "A|B"),
        ("Warm, but the laces break.", 2, "50% off"),
        ("They leak.", 1, "A%7CB"),
    )
)
TEXT = "Most users say that the boots fit and the laces break. A few say that they leak."
PRODUCTS = [
    Product("p1", REVIEWS, (Summary("a", TEXT), Summary("b", "They leak. Warm.")), "boot"),
    Product("p2", REVIEWS[:2], (Summary("a", "Warm and dry."),)),
]


def rows_of(scorer, products=PRODUCTS, **options):
    rows = list(Engine(scorer, ScoringOptions(**options)).run(products))
    return [row for row in rows if row.prevalence is not None]


@pytest.mark.parametrize(
    "options",
    [
        {"unit": "claim", "quantities": True},
        {"quantities": True, "evidence": True},
        {"corrected": True, "max_sentences": 40, "ceiling": True},
        {"soft": True, "trivial": "script"},
        {"full_matrix": True, "splitter": "lines"},
        {"profile": True, "coverage_statements": 3, "groups": 'rating <= 2, brand = "A|B"'},
        {"reviews_where": 'brand = "A|B", "50% off"', "first_reviews": 1},
        {"statements_where": 'text has leak, "50%25"', "profile": True},
        {"follows": "50%|"},
        {"trivial": None},
    ],
)
def test_rows_come_out_again_whatever_was_asked_for(fake_scorer, options):
    scorer = fake_scorer(errors=RATES)
    rows = rows_of(scorer, **options)
    assert rows
    assert [*verify(rows, PRODUCTS, scorer)] == [Verified(row, "") for row in rows]
    again = options_of(rows[0].signature)
    asked = ScoringOptions(**options, threshold=0.5)
    assert again == replace(
        asked,
        groups=again.groups,
        reviews_where=again.reviews_where,
        statements_where=again.statements_where,
    )
    assert (again.review_groups, again.restriction) == (asked.review_groups, asked.restriction)


def test_rows_of_products_without_a_name_and_with_new_ids_of_reviews_are_the_same(fake_scorer):
    unnamed = replace(PRODUCTS[0], name=None)
    rows = rows_of(fake_scorer(), [unnamed])
    assert all("|trivial:none|" in row.signature for row in rows)
    named = replace(
        unnamed, reviews=tuple(replace(one, id=str(k)) for k, one in enumerate(unnamed.reviews))
    )
    assert [*verify(rows, [named], fake_scorer())] == [Verified(row, "") for row in rows]


def test_rows_without_a_mask_that_say_that_the_name_is_missing_are_told_apart(fake_scorer):
    rows = rows_of(fake_scorer(), trivial=None)
    old = [replace(row, signature=row.signature.replace(":off|", ":none|")) for row in rows]
    problems = {one.problem for one in verify(old, PRODUCTS, fake_scorer()) if one.problem}
    assert problems == {"was scored with trivial:none, and now trivial:name"}


def test_claims_come_from_where_they_came_from(fake_scorer):
    given = Summary("a", TEXT, {"claims": ["It fits.", "It leaks."]})
    product = replace(PRODUCTS[0], summaries=(given, PRODUCTS[0].summaries[1]))
    (row,) = rows_of(fake_scorer(), [product], unit="claim")
    assert "|unit:claim-record|" in row.signature
    assert [*verify([row], [product], fake_scorer())] == [Verified(row, "")]
    # The other summary is cut by rule where it was chosen alone.
    chosen = product.with_summaries(product.summaries[1:])
    (row,) = rows_of(fake_scorer(), [chosen], unit="claim")
    assert "|unit:claim-rules|" in row.signature
    assert [*verify([row], [product], fake_scorer())] == [Verified(row, "")]


def test_figures_beside_the_score_are_compared(fake_scorer):
    # No review implies anything: attested is 0.
    scorer = fake_scorer({}, errors=RATES)
    (row, *_) = rows_of(scorer, corrected=True, profile=True)
    for changed, said in (
        (replace(row, corrected=0.5), "corrected is 0.5, and now 0.0"),
        (
            replace(row, profile=replace(row.profile, attested=None)),
            "profile.attested is None, and now 0",
        ),
        (
            replace(row, profile=replace(row.profile, coverage=0.5)),
            "profile.coverage is 0.5, and now None",
        ),
        (replace(row, profile=replace(row.profile, review_coverage=0.5)), "profile.review_cov"),
        (replace(row, profile=replace(row.profile, polarity=4.5)), "profile.polarity is 4.5, and"),
        (
            replace(row, profile=replace(row.profile, coverage_interval=(0.1, 0.2))),
            "profile.coverage_interval is [0.1, 0.2], and now None",
        ),
        (replace(row, profile=replace(row.profile, groups={"a": {}})), "profile.groups.a is {},"),
        (replace(row, n_reviews=9), "n_reviews is 9, and now 3"),
        (replace(row, warning="w"), "warning is w, and now None"),
    ):
        [(_, problem, _)] = verify([changed], PRODUCTS, scorer)
        assert problem.startswith(said)


def test_what_cannot_be_scored_again_is_refused(fake_scorer):
    scorer = fake_scorer(errors=RATES)
    corrected = rows_of(scorer, corrected=True)
    others = replace(RATES, products=((9, 1, 45, 5),))
    with pytest.raises(InputError, match=r"made with corr:0\.8000/0\.9000, and this is corr:0\.9"):
        next(verify(corrected, PRODUCTS, fake_scorer(errors=others)))
    with pytest.raises(ConfigurationError, match="error rates are measured"):
        next(verify(corrected, PRODUCTS, fake_scorer()))
    options = ScoringOptions(profile=True, others=1)
    engine = Engine(scorer, options, others=OtherProducts.of(PRODUCTS, most=1))
    with pytest.raises(InputError, match="were scored with --others, and verify does not compare"):
        next(verify(list(engine.run(PRODUCTS)), PRODUCTS, scorer))


@pytest.mark.parametrize("part", ["thr:half", "limit:many", "first:1.5", "coverage:x64"])
def test_a_damaged_signature_is_an_error_of_the_input(part):
    found = part.partition(":")[2].partition("x64")[0]
    with pytest.raises(InputError, match=f"'{found}' stands where a signature has a number"):
        options_of(f"prev|thr:0.5|split:lines|{part}|v:1.0")


def test_all_of_a_sentence_is_compared(fake_scorer):
    scorer = fake_scorer(errors=RATES)
    quantified, row, _ = rows_of(scorer, evidence=True, quantities=True)
    # "They leak. Warm.": one review implies the first sentence.
    (passage,) = row.sentences[0].evidence
    other = replace(passage, entailment=0.0123)
    for whole, changed, said in (
        (row, {"start": 7}, "start is 7, and now 0"),
        (row, {"end": 7}, "end is 7, and now 10"),
        (quantified, {"quantity": None}, "quantity is None, and now {"),
        (row, {"evidence": ()}, "evidence has 0 entries, and now 1"),
        (row, {"evidence": (other,)}, "evidence[0].entailment is 0.0123, and now 0."),
    ):
        first, *more = whole.sentences
        wrong = replace(whole, sentences=(replace(first, **changed), *more))
        [(_, problem, _)] = verify([wrong], PRODUCTS, scorer)
        assert problem.startswith(f"sentences[0].{said}")


def test_rounding_versions_and_passed_keys_are_no_difference(fake_scorer):
    scorer = fake_scorer(errors=RATES)
    _, row, _ = rows_of(scorer, evidence=True)
    first, *more = row.sentences
    (passage,) = first.evidence
    # One in the last of four decimals, and a float32's rounding.
    near = replace(passage, entailment=round(passage.entailment + 1e-4, 4))
    entailment = tuple(p + 9e-6 for p in first.entailment)
    first = replace(first, evidence=(near,), entailment=entailment)
    signature = row.signature.rpartition("|v:")[0] + "|v:0.0.1"
    other = replace(row, sentences=(first, *more), signature=signature, extra={"aisle": 7})
    assert [*verify([other], PRODUCTS, scorer)] == [Verified(other, "")]


def test_a_sample_is_seeded_in_order_and_fair(fake_scorer):
    (row, *_) = rows_of(fake_scorer())
    rows = [replace(row, id=f"p{number}") for number in range(10)]
    unscored = replace(row, prevalence=None)
    one, again = (sampled([*rows[:5], unscored, *rows[5:]], 3, seed=5) for _ in range(2))
    assert one == again
    assert (len(one.rows), one.skipped) == (3, 1)
    assert [r.id for r in one.rows] == sorted(r.id for r in one.rows)
    drawn = Counter(r.id for seed in range(2000) for r in sampled(rows, 3, seed=seed).rows)
    # 600 of each are expected, with a standard deviation of 20.5.
    assert all(abs(drawn[r.id] - 600) < 110 for r in rows)
