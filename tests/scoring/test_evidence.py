"""The passages behind decisions, against an exhaustive search over the reviews' sentences."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.records import Product, Review, Summary
from prevalence.scored import ScoredSummary
from prevalence.scoring.engine import Engine, ScoringOptions
from prevalence.text.sentences import get_splitter

SENTENCES = ("It fits.", "Runs small.", "Warm and soft.", "Came late!", "No name")


@st.composite
def products(draw):
    texts = st.lists(st.sampled_from(SENTENCES), max_size=3).map(" ".join)
    return Product(
        id="p",
        name=draw(st.sampled_from([None, "boot"])),
        reviews=tuple(map(Review, draw(st.lists(texts, min_size=1, max_size=5)))),
        summaries=(Summary("s", draw(texts)),),
    )


@given(product=products(), threshold=st.sampled_from([0.04, 0.3, 0.6]), three_way=st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_passage_is_the_most_probable_sentence_of_a_decided_review(
    fake_scorer, product, threshold, three_way
):
    scorer = fake_scorer(threshold=threshold, three_way=three_way)
    row = next(Engine(scorer, ScoringOptions(evidence=True)).run([product]))
    for sentence in row:
        decided = {*(sentence.supporting_reviews or ()), *(sentence.contradicting_reviews or ())}
        assert sorted(decided) == [passage.review for passage in sentence.evidence]
        for passage in sentence.evidence:
            review = product.reviews[passage.review].text
            assert review[passage.start : passage.end] == passage.text
            supports = passage.review in sentence.supporting_reviews
            answers = [
                (scorer.answer(part.text, sentence.text)[0 if supports else 1], -place)
                for place, part in enumerate(get_splitter()(review))
            ]
            best = get_splitter()(review)[-max(answers)[1]]
            assert (best.start, best.end) == (passage.start, passage.end)
            assert passage.entailment == round(float(scorer.answer(best.text, sentence.text)[0]), 4)
            assert (passage.contradiction is None) == (not three_way)


@given(product=products())
@settings(max_examples=40, deadline=None)
def test_evidence_changes_neither_scores_nor_counts(fake_scorer, product):
    plain, told = (
        Engine(fake_scorer(threshold=0.3), ScoringOptions(evidence=asked))
        for asked in (False, True)
    )
    first, second = next(plain.run([product])), next(told.run([product]))
    assert first.sentences == tuple(
        replace(s, evidence=None, contradiction=None) for s in second.sentences
    )
    assert plain.counts == told.counts
    assert "|evidence:sentence|" in second.signature
    assert "evidence" not in first.signature


def test_only_decided_reviews_are_asked_again(fake_scorer):
    answers = {
        ("Nice box. Warm boots.", "Warm."): (0.9, 0.0),
        ("Warm boots.", "Warm."): (0.8, 0.0),
        ("Cold. Thin.", "Warm."): (0.1, 0.7),
        ("Thin.", "Warm."): (0.2, 0.6),
        ("Cold.", "Warm."): (0.0, 0.9),
    }
    scorer = fake_scorer(answers)
    reviews = ("Nice box. Warm boots.", "Cold. Thin.", "Red. Blue.")
    product = Product("p", tuple(map(Review, reviews)), (Summary("s", "Warm."),))
    row = next(Engine(scorer, ScoringOptions(evidence=True)).run([product]))
    passages = [
        (e.review, e.text, e.entailment, e.contradiction) for e in row.sentences[0].evidence
    ]
    assert passages == [(0, "Warm boots.", 0.8, 0.0), (1, "Cold.", 0.0, 0.9)]
    # Of the whole reviews, the silent one too.
    assert row.sentences[0].contradiction == (0.0, 0.7, 0.0)
    assert ("Red.", "Warm.") not in scorer.asked


def test_the_passage_of_a_review_without_a_sentence_is_all_of_it(fake_scorer):
    heading = "**Overall**"
    assert get_splitter()(heading) == ()
    scorer = fake_scorer({(heading, "Overall good."): (0.9, 0.0)})
    product = Product("p", (Review(heading),), (Summary("s", "Overall good."),))
    row = next(Engine(scorer, ScoringOptions(evidence=True)).run([product]))
    (passage,) = row.sentences[0].evidence
    assert (passage.text, passage.start, passage.end, passage.entailment) == (heading, 0, 11, 0.9)


def test_rows_with_evidence_come_back_as_they_were(fake_scorer):
    product = Product("p", (Review("Warm. Soft."),), (Summary("s", "Warm."),))
    scorer = fake_scorer({("Warm. Soft.", "Warm."): (0.9, 0.0)})
    row = next(Engine(scorer, ScoringOptions(evidence=True)).run([product]))
    assert ScoredSummary.from_json(json.loads(row.to_json_line())) == row
    # Neither part supports the sentence: of equals the first is shown.
    assert row.to_json()["sentences"][0]["evidence"][0]["text"] == "Warm."


def test_reviews_outside_a_restriction_keep_their_places(fake_scorer):
    product = Product("p", (Review("Dull."), Review("Warm. Soft.")), (Summary("s", "Warm."),))
    scorer = fake_scorer({("Warm. Soft.", "Warm."): (0.9, 0.0), ("Warm.", "Warm."): (0.95, 0.0)})
    options = ScoringOptions(evidence=True, reviews_where="text has soft")
    row = next(Engine(scorer, options).run([product]))
    assert [(e.review, e.text) for e in row.sentences[0].evidence] == [(1, "Warm.")]
    assert row.sentences[0].contradiction == (None, 0.0)


def test_no_contradiction_without_evidence_or_without_that_class(fake_scorer):
    product = Product("p", (Review("Warm."),), (Summary("s", "Warm. Warm."),))
    scorer = fake_scorer({("Warm.", "Warm."): (0.9, 0.0)})
    plain = next(Engine(scorer, ScoringOptions()).run([product]))
    assert "contradiction" not in plain.to_json()["sentences"][0]
    told = next(Engine(scorer, ScoringOptions(evidence=True)).run([product]))
    assert told.to_json()["sentences"][0]["contradiction"] == [0.0]
    # The second sentence repeats the first, so no review was asked about it.
    assert told.sentences[1].contradiction is None
    two = fake_scorer({("Warm.", "Warm."): (0.9, 0.0)}, three_way=False)
    row = next(Engine(two, ScoringOptions(evidence=True)).run([product]))
    assert row.sentences[0].contradiction is None
