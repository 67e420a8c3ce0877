"""What a summary asks for, seen in its plan."""

from __future__ import annotations

import pytest

from prevalence.nli.pairs import PairPlan, PairScores, TextTable
from prevalence.records import Product, Review, Summary
from prevalence.scoring.job import SummaryJob
from prevalence.text.sentences import get_splitter

SUMMARY = Summary("s", "One. Two. Three.")
REVIEWS = (Review("a"), Review(" "), Review("b"))


def build(texts, *, name="boot", reviews=REVIEWS, summary=SUMMARY, limit=9):
    product = Product("p", reviews, (summary,), name)
    return SummaryJob.build(
        product,
        summary,
        texts=texts,
        splitter=get_splitter("lines" if "\n" in summary.text else "punkt-en"),
        template="I bought a {name}.",
        max_sentences=limit,
    )


def asked(texts, plan):
    return [(texts[a], texts[b]) for a, b in plan.unique()[0].tolist()]


def answered(plan, entailment):
    scores = PairScores.empty(len(plan))
    scores.entailment[:] = entailment
    scores.contradiction[:] = 0
    return scores


def test_the_first_wave_asks_statement_and_earlier_sentences():
    texts, plan = TextTable(), PairPlan()
    build(texts).plan_masks(plan)
    statement = "I bought a boot."
    assert sorted(asked(texts, plan)) == [
        (statement, "One."), (statement, "Three."), (statement, "Two."),
        ("One.", "Three."), ("One.", "Two."), ("Two.", "Three."),
    ]  # fmt: skip


def test_the_second_wave_asks_the_reviews_that_have_text_about_what_counts():
    texts, plan = TextTable(), PairPlan()
    job = build(texts, name=None)
    job.plan_masks(plan)
    # Requests in order: (One, Two), (One, Three), (Two, Three); only the first implies.
    job.read_masks(answered(plan, [0.9, 0.1, 0.1]), 0.5)
    later = PairPlan()
    job.plan_reviews(later, all_sentences=False)
    assert job.masks.redundant_with.tolist() == [-1, 0, -1]
    assert sorted(asked(texts, later)) == [
        ("a", "One."), ("a", "Three."), ("b", "One."), ("b", "Three."),
    ]  # fmt: skip
    job.read_reviews(answered(later, [0.9, 0.1, 0.2, 0.9]), 0.5, three_way=True)
    assert job.matrix.implied.tolist() == [[True, False], [False, False], [False, True]]


def test_the_full_matrix_is_asked_in_the_same_plan():
    texts, plan = TextTable(), PairPlan()
    job = build(texts, name=None)
    job.plan_masks(plan)
    job.plan_reviews(plan, all_sentences=True)
    assert len(plan) == 3 + 2 * 3
    assert job.columns.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("name", "reviews", "text", "pairs"),
    [
        ("boot", REVIEWS, "One. Two. Three.", 3 + 3 + 9),
        (None, REVIEWS, "One. Two. Three.", 3 + 9),
        ("boot", REVIEWS[:1], "One.", 1 + 0 + 1),
        ("boot", REVIEWS, "", 0),
        ("boot", (), "One.", 0),
    ],
)
def test_naive_pairs_are_those_of_the_equations(name, reviews, text, pairs):
    job = build(TextTable(), name=name, reviews=reviews, summary=Summary("s", text))
    assert job.naive_pairs == pairs


def test_texts_are_shared_between_jobs():
    texts = TextTable()
    first, second = build(texts), build(texts)
    assert first.sentence_ids.tolist() == second.sentence_ids.tolist()
    assert len(texts) == 3 + 2 + 1


def test_the_name_is_put_in_literally():
    texts = TextTable()
    job = build(texts, name=r"{name} \1 {0}")
    assert texts[job.statement_id] == r"I bought a {name} \1 {0}."


def test_refused_summaries_take_no_place_in_the_table():
    texts = TextTable()
    assert build(texts, limit=2).error is not None
    assert build(texts, reviews=()).error is not None
    assert len(texts) == 0
