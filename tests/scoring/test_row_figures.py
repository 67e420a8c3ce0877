"""What rows add to a score: contradictions inside a summary and by reviews, and prefix curves."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence import metric
from prevalence.errors import InputError
from prevalence.records import Product, Review, Summary
from prevalence.scored import ScoredSummary
from prevalence.scoring.engine import Engine, ScoringOptions

columns = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=8)


@given(columns)
def test_a_prefix_curve_is_the_prevalence_of_each_prefix_and_never_rises(found):
    supports, counts = zip(*found, strict=True)
    curve = metric.prefix_curve(supports, counts, 6)
    order = sorted(range(len(found)), key=lambda k: -supports[k] * counts[k])
    for size in range(1, len(found) + 1):
        kept = order[:size]
        expected = metric.prevalence([supports[k] for k in kept], [counts[k] for k in kept], 6)
        assert curve[size - 1] == expected
    assert list(curve) == sorted(curve, reverse=True)
    assert curve[-1] == metric.prevalence(supports, counts, 6)


def test_a_prefix_curve_needs_a_review():
    assert metric.prefix_curve([], [], 3) == ()
    with pytest.raises(InputError):
        metric.prefix_curve([1], [True], 0)


ANSWERS = {
    ("Too large.", "It fits."): (0.01, 0.95),
    ("It fits.", "It is too small."): (0.01, 0.9),
    ("It fits.", "It is warm."): (0.2, 0.3),
    ("It is warm.", "It is too small."): (0.1, 0.6),
    # Entailed: then it contradicts nothing, whatever the other probability.
    ("It is too small.", "Small and warm."): (0.6, 0.39),
    ("Nice fit.", "It fits."): (0.9, 0.05),
    ("Nice fit.", "It is warm."): (0.0, 0.8),
}
SUMMARY = "It fits. It is warm. It is too small. Small and warm."


def score(scorer, summary=SUMMARY, reviews=("Nice fit.", "Too large.", "")):
    product = Product("p", tuple(map(Review, reviews)), (Summary("s", summary),))
    (row,) = Engine(scorer, ScoringOptions()).run([product])
    return row


def test_contradictions_inside_a_summary_and_by_reviews(fake_scorer):
    row = score(fake_scorer(ANSWERS))
    assert [sentence.contradicts for sentence in row] == [(), (), (0, 1), ()]
    assert row.self_contradictions == 2
    # Review 1 contradicts sentence 0, review 0 sentence 1; sentence 3 repeats 2 and is not asked.
    assert [sentence.contradicted_by for sentence in row] == [1, 1, 0, None]
    assert row.contradictions == 2
    # Supports 1, 0, 0 and none of the repeated one, of three reviews.
    assert row.prefix_curve == (1 / 3, 1 / 6, 1 / 9, 1 / 12)
    item = json.loads(row.to_json_line())
    assert (item["self_contradictions"], item["contradictions"]) == (2, 2)
    assert item["prefix_curve"] == list(row.prefix_curve)
    assert item["sentences"][2]["contradicts"] == [0, 1]
    assert item["sentences"][0]["contradicted_by"] == 1
    assert ScoredSummary.from_json(item) == row


def test_a_model_without_that_class_says_nothing_of_it(fake_scorer):
    row = score(fake_scorer(ANSWERS, three_way=False))
    assert row.self_contradictions is row.contradictions is None
    assert all(s.contradicts is s.contradicted_by is None for s in row)
    assert row.prefix_curve == (1 / 3, 1 / 6, 1 / 9, 1 / 12)


def test_rows_without_a_score_have_none_of_it(fake_scorer):
    row = score(fake_scorer(), reviews=())
    assert row.error is not None
    assert row.self_contradictions is row.contradictions is None
    assert row.to_json()["prefix_curve"] == []
    empty = score(fake_scorer(), summary="")
    assert (empty.prevalence, empty.prefix_curve, empty.self_contradictions) == (0.0, (), 0)


def test_rows_of_before_are_still_read(fake_scorer):
    item = score(fake_scorer(ANSWERS)).to_json()
    for key in ("self_contradictions", "contradictions", "prefix_curve"):
        del item[key]
    for sentence in item["sentences"]:
        del sentence["contradicts"], sentence["contradicted_by"]
    row = ScoredSummary.from_json(item)
    assert row.self_contradictions is None
    assert row.prefix_curve[-1] == pytest.approx(row.prevalence)


def test_every_row_ends_its_curve_in_its_score(fake_scorer):
    rng = np.random.default_rng(3)
    words = ("It fits.", "It is warm.", "Runs small.", "Came late!")
    for _ in range(20):
        row = score(fake_scorer(threshold=0.3), " ".join(rng.choice(words, 5)), words[:3])
        assert row.prefix_curve[-1] == row.prevalence
