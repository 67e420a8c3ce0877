"""Rows to JSON and back."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.errors import InputError
from prevalence.scored import ScoredSentence, ScoredSummary

texts = st.text(max_size=10)
maybe = st.none
units = st.floats(0, 1, allow_subnormal=False)  # A share is no 5e-324.
places = st.lists(st.integers(0, 9), max_size=3).map(tuple)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | units | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
FIELDS = [
    "schema", "id", "system", "prevalence", "n_reviews", "n_sentences", "sentences", "signature",
    "input_digest", "error", "soft_prevalence", "warning", "restriction", "ceiling",
    "ceiling_share", "corrected", "corrected_most", "profile", "self_contradictions",
    "contradictions", "prefix_curve", "review_ids",
]  # fmt: skip

sentences = st.builds(
    ScoredSentence,
    text=texts, start=st.integers(0, 9), end=st.integers(0, 9), trivial=st.booleans(),
    redundant_with=maybe() | st.integers(0, 9), support=maybe() | st.integers(0, 9),
    supporting_reviews=maybe() | places, contradicting_reviews=maybe() | places,
    entailment=maybe() | st.lists(units, max_size=3).map(tuple), contradicts=maybe() | places,
    contradiction=maybe() | st.lists(maybe() | units, max_size=3).map(tuple),
)  # fmt: skip
rows = st.builds(
    ScoredSummary,
    id=maybe() | texts, system=maybe() | texts, prevalence=maybe() | units,
    n_reviews=st.integers(9, 20), sentences=st.lists(sentences, max_size=3).map(tuple),
    signature=texts, error=maybe() | texts, warning=maybe() | texts,
    review_ids=maybe() | st.lists(maybe() | texts, max_size=3).map(tuple),
    soft_prevalence=maybe() | units, input_digest=maybe() | texts, ceiling=maybe() | units,
    extra=st.dictionaries(texts.filter(lambda key: key not in FIELDS), json_values, max_size=3),
)  # fmt: skip
corrected = st.builds(
    lambda row, share, most: dataclasses.replace(row, corrected=share, corrected_most=most),
    rows, units, units,
)  # fmt: skip

ROW = ScoredSummary(
    id="B1",
    system="human",
    prevalence=0.5,
    n_reviews=2,
    sentences=(ScoredSentence("Fits.", 0, 5, False, None, 1, (0,), (1,), (0.91, 0.02)),),
    signature="prev|v:0",
)


@given(rows | corrected)
def test_a_row_survives_json(row):
    line = row.to_json_line()
    again = ScoredSummary.from_json(json.loads(line))
    assert again == row
    assert again.to_json_line() == line
    assert "\n" not in line
    assert "\r" not in line


def test_the_contract_is_kept_to_the_letter():
    assert ROW.to_json_line() == (
        '{"schema": 1, "id": "B1", "system": "human", "prevalence": 0.5, "n_reviews": 2, '
        '"n_sentences": 1, "sentences": [{"text": "Fits.", "start": 0, "end": 5, "support": 1, '
        '"supporting_reviews": [0], "contradicting_reviews": [1], "trivial": false, '
        '"redundant_with": null, "entailment": [0.91, 0.02], "contradicts": null, '
        '"contradicted_by": 1}], "signature": "prev|v:0", "input_digest": null, "error": null, '
        '"self_contradictions": null, "contradictions": null, "prefix_curve": [0.5]}'
    )


def test_nulls_stand_where_review_pairs_were_not_scored():
    sentence = ScoredSentence("Fits.", 0, 5, True, None)
    names = ("support", "supporting_reviews", "contradicting_reviews", "entailment")
    assert [sentence.to_json()[name] for name in names] == [None] * 4


@pytest.mark.parametrize("name", FIELDS)
def test_a_passed_through_key_never_takes_a_field(name):
    row = dataclasses.replace(ROW, extra={name: "theirs", "other": 1})
    assert row.to_json() == ROW.to_json() | {"other": 1}
    assert ScoredSummary.from_json(row.to_json()) == dataclasses.replace(ROW, extra={"other": 1})


@pytest.mark.parametrize(("trivial", "cause", "counts"), [
    (False, None, True), (True, None, False), (False, 0, False), (True, 0, False),
])  # fmt: skip
def test_a_sentence_counts_unless_masked(trivial, cause, counts):
    assert ScoredSentence("x", 0, 1, trivial, cause).counts is counts


def test_a_row_iterates_over_its_sentences():
    assert list(ROW) == list(ROW.sentences)
    assert ROW.n_sentences == 1


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"schema": None},
        {"prevalence": "high"},
        {"prevalence": 2.0},
        {"ceiling": -0.1},
        {"n_reviews": 0},
        {"n_reviews": "9"},
        {"prefix_curve": 1},
        {"input_digest": ["x"]},
        {"review_ids": [1]},
        {"sentences": None},
        {"sentences": ["x"]},
        {"sentences": [{"text": "x"}]},
    ],
)
def test_what_is_no_scored_summary_is_refused(change):
    with pytest.raises(InputError, match="not a scored summary"):
        ScoredSummary.from_json(ROW.to_json() | change)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("text", None),
        ("trivial", 1),
        ("support", 0.5),
        ("support", 3),
        ("entailment", [0.2, 1.5]),
        ("supporting_reviews", [[]]),
        ("contradicting_reviews", [-1]),
        ("entailment", ["x"]),
        ("evidence", [{"review": None}]),
        ("evidence", ["x"]),
    ],
)
def test_a_sentence_with_a_value_that_it_cannot_have_is_refused(key, value):
    row = ROW.to_json()
    row["sentences"][0][key] = value
    with pytest.raises(InputError, match="not a scored summary"):
        ScoredSummary.from_json(row)


@pytest.mark.parametrize("name", ["prevalence", "id", "signature", "sentences", "n_reviews"])
def test_a_row_without_a_field_is_refused(name):
    row = ROW.to_json()
    del row[name]
    with pytest.raises(InputError, match="not a scored summary"):
        ScoredSummary.from_json(row)


def test_numbers_that_json_lacks_are_never_written():
    with pytest.raises(ValueError, match="not JSON compliant"):
        dataclasses.replace(ROW, prevalence=float("nan")).to_json_line()


def test_rows_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ROW.prevalence = 1.0


def test_reviews_go_by_their_ids_where_they_have_some():
    assert ROW.named((0, 2)) == [0, 2]
    row = dataclasses.replace(ROW, review_ids=("r1", "r2"))
    assert row.named((1, 0)) == ["r2", "r1"]
    # Names that are no names of one review alone.
    for ids in (("r1", None), ("r1", "r1"), ("1", "")):
        assert dataclasses.replace(ROW, review_ids=ids).named((1, 0)) == [1, 0]
