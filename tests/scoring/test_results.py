"""From a job to a row."""

from __future__ import annotations

import dataclasses

import pytest

from prevalence.nli.pairs import PairPlan, PairScores, TextTable
from prevalence.records import Product, Review, Summary, input_digest
from prevalence.scoring.job import SummaryJob, scored_summary
from prevalence.text.sentences import get_splitter

PRODUCT = Product("p", (Review("a"), Review("")), (), extra={"k": 1, "both": 1}, source="f:1")
SUMMARY = Summary("s", " One.  Two.", {"both": 2})


def finished(product=PRODUCT, summary=SUMMARY):
    """A job whose pairs all have the probability .75 of entailment."""
    texts, plan = TextTable(), PairPlan()
    job = SummaryJob.build(
        product, summary, texts=texts, splitter=get_splitter(), template=None, max_sentences=9
    )
    if job.error is None:
        job.plan_masks(plan)
        job.plan_reviews(plan, all_sentences=True)
        scores = PairScores.empty(len(plan))
        scores.entailment[:] = 0.75
        scores.contradiction[:] = 0.25
        job.read_masks(scores, 0.5)
        job.read_reviews(scores, 0.5, three_way=True)
    return job


def test_a_finished_job_becomes_a_row():
    # One implies Two; review 0 implies both: hard 1/4, soft (.75 + .25 · .75) / 4.
    row = scored_summary(finished(), signature="sig", soft=True)
    assert (row.id, row.system, row.signature) == ("p", "s", "sig")
    assert (row.prevalence, row.soft_prevalence) == (0.25, 0.234375)
    assert [(s.text, s.start, s.end) for s in row] == [("One.", 1, 5), ("Two.", 7, 11)]
    assert [s.redundant_with for s in row] == [None, 0]
    assert [s.support for s in row] == [1, 1]
    assert row.warning == "1 of 2 reviews empty: counted, support nothing"
    assert row.input_digest == input_digest(PRODUCT, SUMMARY)


def test_a_row_has_the_ids_of_reviews_if_any_has_one():
    assert scored_summary(finished(), signature="", soft=False).review_ids is None
    named = dataclasses.replace(PRODUCT, reviews=(Review("a"), Review("", id="r2")))
    row = scored_summary(finished(named), signature="", soft=False)
    assert row.review_ids == (None, "r2")
    assert row.to_json()["review_ids"] == [None, "r2"]


def test_the_summary_wins_over_the_record_in_what_is_passed_through():
    assert scored_summary(finished(), signature="", soft=False).extra == {"k": 1, "both": 2}


def test_a_failed_job_becomes_a_row_with_its_error():
    job = finished(dataclasses.replace(PRODUCT, reviews=()))
    row = scored_summary(job, signature="sig", soft=True)
    assert row.error == "f:1: summary by 's': no reviews; give at least one"
    assert (row.prevalence, row.soft_prevalence, row.sentences, row.warning) == (
        None,
        None,
        (),
        None,
    )
    assert row.input_digest is not None


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ('{"pros": "It fits.", "cons": "It leaks."}', True),
        ('```json\n[{"text": "It fits."}]\n```', True),
        ('{"summary": "It fits."}', False),
        ('```json\n["It fits.", "It leaks."]\n```', False),
        ("[1] It fits. [2]", False),
        ("{It fits.}", False),
        ("It fits.", False),
    ],
)
def test_a_summary_of_json_is_told(text, warned):
    row = scored_summary(finished(summary=Summary("s", text)), signature="", soft=False)
    assert ("the summary is JSON" in (row.warning or "")) is warned


def test_both_warnings_are_told():
    row = scored_summary(finished(summary=Summary("s", "")), signature="", soft=False)
    assert row.warning == (
        "the summary has no sentence, so it scores 0; "
        "1 of 2 reviews empty: counted, support nothing"
    )
    assert row.prevalence == 0.0
