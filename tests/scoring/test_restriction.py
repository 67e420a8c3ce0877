"""Restricted prevalence equals the prevalence of what is left."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence import OpinionPrevalence
from prevalence.errors import ConfigurationError
from prevalence.records import Product, Review, Summary, input_digest
from prevalence.scored import ScoredSummary
from prevalence.scoring.engine import Engine, ScoringOptions
from prevalence.text.sentences import get_splitter

SENTENCES = ("It fits.", "The battery lasts.", "Warm and soft.", "The battery died.", "Came late!")


@st.composite
def products(draw):
    reviews = draw(
        st.lists(
            st.builds(
                Review,
                st.sampled_from(["", "Nice.", "It fits and the battery lasts.", "Broken."]),
                st.none(),
                st.fixed_dictionaries({}, optional={"rating": st.integers(1, 5)}),
            ),
            min_size=1,
            max_size=5,
        )
    )
    sentences = draw(st.lists(st.sampled_from(SENTENCES), max_size=5))
    name = draw(st.sampled_from([None, "boot"]))
    return Product("p1", tuple(reviews), (Summary("s", " ".join(sentences)),), name)


def scored(product, scorer, **options):
    (row,) = Engine(scorer, ScoringOptions(**options)).run([product])
    return row


@given(product=products(), soft=st.booleans())
@settings(max_examples=80, deadline=None)
def test_a_restricted_score_is_the_score_of_what_is_left(fake_scorer, product, soft):
    row = scored(product, fake_scorer(), reviews_where="rating >= 3", soft=soft,
                 statements_where="text has battery")  # fmt: skip
    places = [k for k, r in enumerate(product.reviews) if r.extra.get("rating", 0) >= 3]
    (summary,) = product.summaries
    said = [s.text for s in get_splitter()(summary.text) if "battery" in s.text]
    if not places or not said:
        assert (row.prevalence, row.error, row.sentences) == (None, None, ())
        assert row.warning.startswith("no review sat" if not places else "no statement sat")
        return
    left = replace(
        product,
        reviews=tuple(product.reviews[k] for k in places),
        summaries=(Summary("s", " ".join(said)),),
    )
    whole = scored(left, fake_scorer(), soft=soft)
    assert row.prevalence == whole.prevalence
    assert row.soft_prevalence == whole.soft_prevalence
    assert (row.n_reviews, row.n_sentences) == (whole.n_reviews, whole.n_sentences)
    for found, expected in zip(row, whole, strict=True):
        assert summary.text[found.start : found.end] == found.text == expected.text
        assert found.support == expected.support
        assert (found.trivial, found.redundant_with) == (expected.trivial, expected.redundant_with)
        if expected.supporting_reviews is None:
            assert found.supporting_reviews is found.entailment is None
            continue
        # Reviews keep the places that they have in the record.
        assert found.supporting_reviews == tuple(places[k] for k in expected.supporting_reviews)
        assert found.contradicting_reviews == tuple(
            places[k] for k in expected.contradicting_reviews
        )
        assert [found.entailment[k] for k in places] == list(expected.entailment)
        assert sum(p is None for p in found.entailment) == len(product.reviews) - len(places)


ANSWERS = {
    ("It fits and lasts.", "The battery lasts."): (0.9, 0.0),
    ("It lasts.", "The battery lasts."): (0.9, 0.0),
    ("It lasts.", "It fits."): (0.1, 0.8),
    # The statement on fit and battery implies the one on the battery alone.
    ("It fits and the battery lasts.", "The battery lasts."): (0.9, 0.0),
}
REVIEWS = (
    Review("It fits and lasts.", "a", {"rating": 5}),
    Review("It lasts.", "b", {"rating": 2}),
    Review("Nothing.", "c", {"rating": 1}),
)
LABELS = [{"aspect": "fit"}, {"aspect": "battery", "sentiment": "positive"}]
TEXT = "It fits and the battery lasts. The battery lasts."


def labelled(labels=LABELS, reviews=REVIEWS):
    return Product("p1", reviews, (Summary("s", TEXT, {"statements": labels}),))


def test_a_statement_that_is_left_out_masks_nothing(fake_scorer):
    # In the whole summary sentence 1 repeats sentence 0: nothing counts. Of the statements on the
    # battery there is one, with two of three reviews: 2 / (3 · 1).
    assert scored(labelled(), fake_scorer(ANSWERS)).prevalence == 0.0
    row = scored(labelled(), fake_scorer(ANSWERS), statements_where="aspect = battery")
    assert row.prevalence == pytest.approx(2 / 3)
    assert row.sentences[0].redundant_with is None
    assert row.restriction == {
        "reviews": [0, 1, 2], "of_reviews": 3, "sentences": [1], "of_sentences": 2,
    }  # fmt: skip
    assert "|statements:aspect=battery|v:" in row.signature
    # And of the reviews with at most two stars one of two.
    both = scored(labelled(), fake_scorer(ANSWERS), statements_where="aspect = battery",
                  reviews_where="rating <= 2")  # fmt: skip
    assert both.prevalence == 0.5
    assert both.sentences[0].supporting_reviews == (1,)
    assert both.sentences[0].entailment == (None, 0.9, 0.0)
    assert "|statements:aspect=battery|reviews:rating<=2|v:" in both.signature


def test_rows_say_what_they_are_restricted_to_and_are_read_back(fake_scorer):
    for where in ("rating <= 2", "rating > 5"):
        row = scored(labelled(), fake_scorer(ANSWERS), reviews_where=where)
        item = json.loads(row.to_json_line())
        assert ScoredSummary.from_json(item) == row
        assert item["restriction"]["of_reviews"] == 3
    assert "restriction" not in scored(labelled(), fake_scorer(ANSWERS)).to_json()


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("when >= 2024-06", "when>=2024-06 (none has a date such as 2024-06-30 in when)"),
        ("when < 3", "when<3 (none has a number in when)"),
        ("when > 2025", "when>2025 (none has a number or a date such as 2024-06-30 in when)"),
        ("day >= 2025", "day>=2025"),
        ("rating > 5", "rating>5"),
        ("rating = 3", "rating=3 (rating is one of: 4)"),
        ("day = 2025-06-30", "day=2025-06-30 (day is one of: 2024-06-30)"),
        ("text = Dim", "text=Dim"),
        ("tags = c", "tags=c"),
        ("said = c", "said=c"),
    ],
)
def test_fields_that_cannot_be_compared_are_told(fake_scorer, condition, reason):
    fields = {"when": "June 30, 2024", "day": "2024-06-30", "rating": 4, "tags": ["a", "b"],
              "said": 'q"uote'}  # fmt: skip
    review, summary = Review("Bright.", None, fields), Summary("good", "It is bright.")
    product = Product("lamp", (review,), (summary,), None)
    row = scored(product, fake_scorer({}), reviews_where=condition)
    assert row.warning == f"no review satisfies {reason}"


def test_nothing_left_is_no_score_and_no_fault(fake_scorer):
    engine = Engine(fake_scorer(ANSWERS), ScoringOptions(reviews_where="ratng <= 2"))
    (row,) = engine.run([labelled()])
    assert (row.prevalence, row.error, row.n_reviews) == (None, None, 0)
    why = "none has ratng; the fields are: id, rating, text"
    assert row.warning == f"no review satisfies ratng<=2 ({why})"
    assert (engine.counts.nothing_left, engine.counts.failed, engine.counts.scored) == (1, 0, 0)
    assert engine.scorer.asked == []
    row = scored(labelled(), fake_scorer(ANSWERS), statements_where="text has price")
    assert row.warning == "no statement satisfies text has price"
    # What is left says nothing.
    product = Product("p1", REVIEWS, (Summary("s", "It leaks.\n\n\U0001f44d"),))
    row = scored(product, fake_scorer(), statements_where='text != "It leaks."')
    assert (row.prevalence, row.error) == (None, None)
    assert row.warning == 'no statement with a word satisfies text!="It leaks."'


def test_a_summary_without_a_sentence_still_scores_0_when_only_reviews_are_restricted(fake_scorer):
    product = Product("p1", REVIEWS, (Summary("s", " "),))
    assert scored(product, fake_scorer(), reviews_where="rating = 5").prevalence == 0.0
    assert scored(product, fake_scorer(), statements_where="text has x").prevalence is None


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "no labels to read aspect from"),
        ("battery", "no labels to read aspect from"),
        (["battery", "fit"], "no labels to read aspect from"),
        (
            [{"text": "Else.", "aspect": "fit"}, LABELS[1]],
            '"statements"[0] does not match sentence',
        ),
        (LABELS[:1], '"statements" has 1 entry and the summary 2 sentences'),
    ],
)
def test_labels_are_never_guessed(fake_scorer, labels, message):
    row = scored(labelled(labels), fake_scorer(), statements_where="aspect = battery")
    assert row.prevalence is None
    assert row.error.startswith(f"record 'p1': summary by 's': {message}")
    # Words of the sentence itself need no labels.
    words = scored(labelled(labels), fake_scorer(), statements_where="text has fits")
    assert words.n_sentences == 1


def test_a_wrong_condition_is_refused_before_any_work():
    with pytest.raises(ConfigurationError, match="condition 'rating'"):
        ScoringOptions(reviews_where="rating")
    with pytest.raises(ConfigurationError, match="condition 'aspect battery'"):
        ScoringOptions(statements_where="aspect battery")


def test_signatures_stay_on_one_line():
    options = ScoringOptions(reviews_where='text has "a|b\nc"')
    assert options.restriction.signature == {"reviews": 'text has "a%7Cb%0Ac"'}
    # What is written for the sign is not what stands for itself.
    other = ScoringOptions(reviews_where='text has "a%7Cb%0Ac"')
    assert other.restriction.signature == {"reviews": 'text has "a%257Cb%250Ac"'}


def test_the_digest_covers_what_conditions_read(fake_scorer):
    engine = Engine(fake_scorer(), ScoringOptions(reviews_where="rating = 1"))
    first = labelled()
    other = labelled(reviews=(replace(REVIEWS[0], extra={"rating": 1}), *REVIEWS[1:]))
    relabelled = labelled([{"aspect": "x"}, {"aspect": "y"}])
    digests = {engine.digest_of(p, p.summaries[0]) for p in (first, other, relabelled)}
    assert len(digests) == 3
    assert len({input_digest(p, p.summaries[0]) for p in (first, other, relabelled)}) == 1
    (row,) = engine.run([first])
    assert row.input_digest == engine.digest_of(first, first.summaries[0])


def test_in_python(fake_scorer):
    metric = OpinionPrevalence(scorer=fake_scorer(ANSWERS), reviews_where="rating <= 2",
                               statements_where="text has lasts")  # fmt: skip
    row = metric.score(REVIEWS, "The battery lasts.")
    assert row.prevalence == 0.5
    record = {
        "id": "p", "reviews": [{"text": r.text, **r.extra} for r in REVIEWS],
        "summary": {"text": TEXT, "statements": LABELS},
    }  # fmt: skip
    metric = OpinionPrevalence(scorer=fake_scorer(ANSWERS), statements_where="aspect = battery")
    (row,) = metric.score_many([record])
    assert row.prevalence == pytest.approx(2 / 3)
