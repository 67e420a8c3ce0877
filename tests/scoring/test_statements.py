"""Coverage against a naive count, and the bounds of a sampled one against exact probabilities."""

from __future__ import annotations

from itertools import product as every
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.records import Product, Review, Summary
from prevalence.scoring import statements
from prevalence.scoring.engine import Engine, ScoringOptions
from prevalence.summarize.candidates import closed
from prevalence.text.sentences import get_splitter

SENTENCES = ("It fits.", "Runs small.", "Warm and soft.", "Came late!", "No name")


@st.composite
def products(draw):
    texts = st.lists(st.sampled_from(SENTENCES), max_size=3).map(" ".join)
    summaries = draw(st.lists(texts, min_size=1, max_size=3))
    return Product(
        id=f"p{draw(st.integers(0, 9))}",
        name=draw(st.sampled_from([None, "boot"])),
        reviews=tuple(map(Review, draw(st.lists(texts, min_size=1, max_size=5)))),
        summaries=tuple(Summary(f"s{k}", text) for k, text in enumerate(summaries)),
    )


def rows_of(items, scorer, **options):
    return list(Engine(scorer, ScoringOptions(profile=True, **options)).run(items))


def naive(product, summary, answer, threshold):
    """Hard and soft coverage, statement by statement."""

    def probability(premise, hypothesis):
        return float(answer(premise, hypothesis)[0]) if premise.strip() else 0.0

    def implies(premise, hypothesis):
        return premise.strip() and answer(premise, hypothesis)[0] > np.float32(threshold)

    reviews = [review.text for review in product.reviews]
    own = {}
    for text in reviews:
        for sentence in get_splitter()(text):
            own.setdefault(closed(sentence.text), text)
    said = list(own)
    if product.name is not None:
        said = [s for s in said if not implies(f"I bought a {product.name}.", s)]
    support = {s: sum(bool(implies(x, s)) for x in reviews) for s in said}
    kept = []
    for s in sorted(said, key=lambda s: -support[s]):
        repeated = any(
            implies(own[t], s) and implies(own[s], t) and implies(t, s) and implies(s, t)
            for t in kept
        )
        if not repeated:
            kept.append(s)
    soft = {s: sum(probability(x, s) for x in reviews) for s in kept}
    covered = [s for s in kept if implies(summary.text, s)]
    hard_total, soft_total = sum(support[s] for s in kept), sum(soft.values())
    weighed = sum(soft[s] * probability(summary.text, s) for s in kept)
    return {
        "coverage": sum(support[s] for s in covered) / hard_total if hard_total else None,
        "soft_coverage": weighed / soft_total if soft_total else None,
        "left_out": {s: support[s] for s in kept if s not in covered and support[s]},
        "statements": len(kept),
    }


@given(items=st.lists(products(), max_size=3), threshold=st.sampled_from([0.04, 0.3, 0.6]))
@settings(max_examples=80, deadline=None)
def test_coverage_is_the_share_of_the_reviews_statements(fake_scorer, items, threshold):
    scorer = fake_scorer(threshold=threshold, work_unit=20)
    rows = rows_of(items, scorer)
    cases = [(product, summary) for product in items for summary in product.summaries]
    for row, (product, summary) in zip(rows, cases, strict=True):
        expected = naive(product, summary, scorer.answer, threshold)
        found = row.profile
        for name in ("coverage", "soft_coverage"):
            assert getattr(found, name) == pytest.approx(expected[name], abs=1e-9)
            assert (name in found.missing) == (expected[name] is None)
        assert found.statements == expected["statements"]
        assert found.coverage_interval is None
        assert len(found.left_out) == min(5, len(expected["left_out"]))
        for one in found.left_out:
            assert one.support == expected["left_out"][one.text] == len(one.supporting_reviews)
            text = product.reviews[one.review].text
            assert closed(text[one.start : one.end]) == one.text
        most = sorted(expected["left_out"].values(), reverse=True)[:5]
        assert [one.support for one in found.left_out] == most


@given(items=st.lists(products(), max_size=4))
@settings(max_examples=40, deadline=None)
def test_profiles_leave_scores_alone_and_do_not_depend_on_batches(fake_scorer, items):
    plain = Engine(fake_scorer())
    without = list(plain.run(items))
    engine = Engine(fake_scorer(work_unit=3), ScoringOptions(profile=True))
    rows = list(engine.run(items))
    assert [row.prevalence for row in rows] == [row.prevalence for row in without]
    assert [row.sentences for row in rows] == [row.sentences for row in without]
    assert [row.profile for row in without] == [None] * len(without)
    alone = [one for item in items for one in rows_of([item], fake_scorer())]
    assert [row.to_json_line() for row in rows] == [row.to_json_line() for row in alone]
    for name in ("naive", "planned"):
        assert getattr(engine.counts, name) == getattr(plain.counts, name)


FITS, SIZE, BLUE = "It fits.", "The size is right.", "It is blue."
FIRST, SECOND = f"{FITS} {BLUE}", f"Hm. {SIZE}"
ANSWERS = {
    (FIRST, FITS): (0.9, 0.0),
    (FIRST, SIZE): (0.7, 0.0),
    (FIRST, BLUE): (0.9, 0.0),
    (SECOND, FITS): (0.8, 0.0),
    (SECOND, SIZE): (0.9, 0.0),
    (SECOND, BLUE): (0.1, 0.0),
    (FITS, SIZE): (0.9, 0.0),
    ("A fine fit.", FITS): (0.6, 0.0),
}
REVIEWS = tuple(map(Review, (FIRST, SECOND, " ")))


def one(answers, scorer, **options):
    product = Product("p", REVIEWS, (Summary("s", "A fine fit."),))
    (row,) = rows_of([product], scorer(answers), **options)
    return row.profile


def test_a_worked_example(fake_scorer):
    # FITS and SIZE have 2 supporters each, BLUE 1 and "Hm." none; FITS does not follow from SIZE,
    # so all four stay: coverage 2 / 5.
    found = one(ANSWERS, fake_scorer)
    assert (found.coverage, found.statements) == (pytest.approx(2 / 5), 4)
    # Sums of probabilities 1.7, 1.6 and 1.0; the summary implies the first with 0.6.
    assert found.soft_coverage == pytest.approx(0.6 * 1.7 / 4.3, abs=1e-6)
    assert [left.text for left in found.left_out] == [SIZE, BLUE]
    assert found.left_out[0].supporting_reviews == (0, 1)
    assert (found.left_out[1].review, found.left_out[1].start) == (0, 9)


def test_statements_that_imply_each_other_are_one(fake_scorer):
    # Now each follows from the other: the first of equal support stays, and weighs 2 of 3.
    found = one(ANSWERS | {(SIZE, FITS): (0.9, 0.0)}, fake_scorer)
    assert (found.coverage, found.statements, found.of_statements) == (pytest.approx(2 / 3), 3, 4)


def test_what_a_review_does_not_say_its_statements_do_not_repeat(fake_scorer):
    scorer = fake_scorer(ANSWERS)
    rows_of([Product("p", REVIEWS, (Summary("s", "A fine fit."),))], scorer)
    # The review that says SIZE does not imply BLUE, so the two are not asked about each other.
    between = {pair for pair in scorer.asked if {*pair} <= {FITS, SIZE, BLUE}}
    assert between == {(FITS, SIZE), (SIZE, FITS), (FITS, BLUE)}


@pytest.mark.parametrize("asked", [1, 64])
def test_of_many_reviews_the_same_statements_are_one_as_of_few(fake_scorer, monkeypatch, asked):
    monkeypatch.setattr(statements, "ASKED", asked)
    # They imply each other, but the review that says SIZE does not imply BLUE: both stay.
    alike = {(BLUE, SIZE): (0.9, 0.0), (SIZE, BLUE): (0.9, 0.0)}
    assert one(ANSWERS | alike, fake_scorer).statements == 4


def test_too_long_statements_are_left_aside(fake_scorer):
    scorer = fake_scorer(ANSWERS, too_long=frozenset({BLUE}))
    product = Product("p", REVIEWS, (Summary("s", "A fine fit."),), "boot")
    for name in ("boot", None):
        (row,) = rows_of([Product("p", REVIEWS, product.summaries, name)], scorer)
        assert (row.profile.coverage, row.profile.statements) == (pytest.approx(1 / 2), 3)


def test_an_empty_summary_covers_nothing_and_empty_reviews_say_nothing(fake_scorer):
    product = Product("p", REVIEWS, (Summary("s", " "),))
    (row,) = rows_of([product], fake_scorer(ANSWERS))
    assert (row.profile.coverage, row.profile.soft_coverage) == (0.0, 0.0)
    assert row.profile.missing["attested"] == "the summary is empty"
    silent = Product("p", (Review(""),), (Summary("s", "It fits."),))
    (row,) = rows_of([silent], fake_scorer(ANSWERS))
    assert row.profile.coverage is row.profile.soft_coverage is None
    assert row.profile.missing["coverage"].startswith("the reviews hold no statement")


def test_statements_are_drawn_by_the_reviews_alone(fake_scorer):
    long = Review(" ".join(f"Part {k} broke." for k in range(30)))
    items = [Product("p", (long,), (Summary("s", "It fits."),))]
    few = rows_of(items, fake_scorer(), coverage_statements=7)[0]
    assert few.profile.statements <= 7
    assert few.profile.of_statements == 30
    again = rows_of(items * 2, fake_scorer(), coverage_statements=7)
    assert [row.profile for row in again] == [few.profile] * 2
    assert "|coverage:7x64|" in few.signature


def test_conditions_hold_for_the_reviews_statements_too(fake_scorer):
    product = Product("p", REVIEWS, (Summary("s", "It fits. It is blue."),))
    (row,) = rows_of([product], fake_scorer(ANSWERS), statements_where="text has blue")
    assert row.profile.of_statements == 1
    # The summary that is left, "It is blue.", does not imply it here; the whole one would.
    assert row.profile.coverage == 0.0


def test_many_reviews_are_sampled(fake_scorer, monkeypatch):
    monkeypatch.setattr(statements, "ASKED", 4)
    reviews = tuple(Review(f"Part {k} broke.") for k in range(9))
    scorer = fake_scorer(threshold=0.3)
    engine = Engine(scorer, ScoringOptions(profile=True, coverage_statements=5))
    (row,) = engine.run([Product("p", reviews, (Summary("s", "Parts broke. It fits."),))])
    texts = {review.text for review in reviews}
    hypotheses = {h for p, h in scorer.asked if p == "Parts broke. It fits."}
    asked = [pair for pair in scorer.asked if pair[0] in texts and pair[1] in hypotheses]
    # Twenty of the 45 pairs of reviews and statements, and those between statements besides.
    assert len(set(asked)) >= 20
    # Of each pair of statements both directions, and what their reviews imply of the other.
    assert engine.counts.profile_asked <= 20 + 4 * 10 + 5
    low, high = row.profile.coverage_interval
    assert 0 <= low <= row.profile.coverage <= high <= 1
    assert all(one.support <= one.asked for one in row.profile.left_out)


def failing(populations, totals, drawn, risk):
    """Probability that the interval misses the true share, by all outcomes of both samples."""
    truth = totals[0] / sum(totals)
    ways = [comb(n, k) for n, k in zip(populations, drawn, strict=True)]
    missed = 0
    for hits in every(*(range(size + 1) for size in drawn)):
        count = 1
        for h, n, w, k in zip(hits, populations, totals, drawn, strict=True):
            count *= comb(w, h) * comb(n - w, k - h) if h <= w and k - h <= n - w else 0
        if count:
            low, high = statements.coverage_interval(hits, drawn, populations, risk=risk)
            missed += count * (not low - 1e-12 <= truth <= high + 1e-12)
    return missed / (ways[0] * ways[1])


@pytest.mark.parametrize("risk", [0.05, 0.4])
@pytest.mark.parametrize("totals", [(5, 3), (1, 11), (12, 1), (6, 6), (2, 2)])
def test_the_interval_of_a_sample_fails_as_rarely_as_it_says(totals, risk):
    assert failing((12, 14), totals, (7, 8), risk) <= risk


def test_the_interval_of_everything_is_a_point_and_of_nothing_is_everything():
    assert statements.coverage_interval([2, 6], [9, 8], [9, 8]) == (0.25, 0.25)
    assert statements.coverage_interval([0, 0], [0, 0], [9, 8]) == (0.0, 1.0)
