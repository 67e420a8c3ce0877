"""Layouts as other projects released them."""

from __future__ import annotations

import json

import pytest

from prevalence.errors import InputError
from prevalence.readers import read_products
from prevalence.records import BadRecord, Review, Summary

MEAN = {
    "reviews": {"rev1": "Good.", "rev10": "Bad.", "rev2": "So-so."},
    "summaries": {
        "gpt": {"summary": "Fine.", "dimensions": {"Fluency": 4.33, "Aspect Coverage": 3.0}},
        "t5": {"summary": "Poor.", "dimensions": {"Fluency": 2.0}, "note": "x"},
    },
}
DETAILED = {
    "reviews": ["Good.", "Bad."],
    "summaries": ["Fine.", "Poor."],
    "fl": [[5, 4, 4], [2, 2, 1]],
    "ac": [[1, 2, 3], [3, 2, 1]],
    "asin": "B1",
}
OUTPUTS = {
    "revs": {"rev2": "Bad.", "rev1": "Good."},
    "summ": "The reference.",
    "case": 1,
    "model_output": {"bart": "Fine.", "t5": "Poor."},
}


def write(tmp_path, text, name="in.json"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_summeval_op_means(tmp_path):
    (item,) = read_products(write(tmp_path, json.dumps({"B1": MEAN})))
    assert item.id == "B1"
    assert [review.text for review in item.reviews] == ["Good.", "So-so.", "Bad."]
    assert item.summaries == (
        Summary("gpt", "Fine.", {"human": {"fluency": 4.33, "aspect_coverage": 3.0}}),
        Summary("t5", "Poor.", {"note": "x", "human": {"fluency": 2.0}}),
    )
    assert item.extra == {}


@pytest.mark.parametrize("form", ["auto", "summeval-op"])
@pytest.mark.parametrize("packing", ["lines", "list", "pretty"])
def test_summeval_op_in_every_packing(tmp_path, form, packing):
    packed = {
        "lines": json.dumps(MEAN) + "\n" + json.dumps(DETAILED),
        "list": json.dumps([MEAN, DETAILED]),
        "pretty": json.dumps([MEAN, DETAILED], indent=2),
    }[packing]
    mean, detailed = read_products(write(tmp_path, packed), format=form)
    assert [summary.system for summary in mean.summaries] == ["gpt", "t5"]
    assert [summary.system for summary in detailed.summaries] == ["1", "2"]


def test_summeval_op_details(tmp_path):
    (item,) = read_products(write(tmp_path, json.dumps(DETAILED)))
    assert item.id == "B1"
    assert item.summaries == (
        Summary("1", "Fine.", {"human": {"fluency": [5, 4, 4], "aspect_coverage": [1, 2, 3]}}),
        Summary("2", "Poor.", {"human": {"fluency": [2, 2, 1], "aspect_coverage": [3, 2, 1]}}),
    )
    assert item.extra == {}


@pytest.mark.parametrize("names", [["gpt", "t5"], [7, 9]])
def test_summeval_op_takes_the_names_of_systems_where_given(tmp_path, names):
    record = DETAILED | {"models": names}
    (item,) = read_products(write(tmp_path, json.dumps(record)))
    assert [summary.system for summary in item.summaries] == [str(name) for name in names]
    assert item.extra == {}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"fl": [[1, 2, 3]]}, "fl: rates 1 summaries where there are 2"),
        ({"fl": 3}, "fl: is the number 3"),
        ({"reviews": None}, "reviews: is missing"),
        ({"reviews": {"rev1": None}}, "reviews.rev1: is null"),
        ({"summaries": 3}, "summaries: is the number 3"),
    ],
)
def test_faulty_summeval_op_records(tmp_path, change, said):
    path = write(tmp_path, json.dumps(DETAILED | change) + "\n")
    (bad,) = read_products(path, format="summeval-op")
    assert bad.error.startswith(f"{path}:1: {said}; ")
    assert bad.id == "B1"


def test_faulty_summeval_op_summaries(tmp_path):
    record = DETAILED | {"summaries": ["Fine.", None]}
    product, bad = read_products(write(tmp_path, json.dumps(record)))
    assert [summary.system for summary in product.summaries] == ["1"]
    assert (bad.system, "summaries[1]: is null" in bad.error) == ("2", True)


@pytest.mark.parametrize("form", ["auto", "opinsummeval", "jsonl"])
def test_opinsummeval_outputs(tmp_path, form):
    path = write(tmp_path, json.dumps(OUTPUTS) + "\n" + json.dumps(OUTPUTS), "in.jsonl")
    item, _ = read_products(path, format=form)
    assert item.id == "1"
    assert [review.text for review in item.reviews] == ["Good.", "Bad."]
    assert item.summaries == (Summary("bart", "Fine."), Summary("t5", "Poor."))
    assert item.extra == {"reference": "The reference."}


def test_opinsummeval_after_a_broken_first_line(tmp_path):
    path = write(tmp_path, '{"case": 0, "revs"\n' + json.dumps(OUTPUTS), "in")
    bad, good = read_products(path)
    assert isinstance(bad, BadRecord)
    assert bad.id == "0"
    assert good.summaries[0].system == "bart"


def test_faulty_opinsummeval_records(tmp_path):
    changes = [{"revs": {"rev1": 3}}, {"model_output": []}, {"model_output": {"bart": None}}]
    lines = [json.dumps(OUTPUTS | change) for change in changes]
    items = list(read_products(write(tmp_path, "\n".join(lines)), format="opinsummeval"))
    assert ["revs.rev1: is the number 3" in items[0].error, items[0].id] == [True, "1"]
    assert "model_output: is a list" in items[1].error
    assert "model_output.bart: is null" in items[2].error
    assert items[2].system == "bart"


def test_reviews_without_numbers_keep_their_order(tmp_path):
    record = OUTPUTS | {"revs": {"b": "one", "a2": "two"}}
    (item,) = read_products(write(tmp_path, json.dumps(record)))
    assert [review.text for review in item.reviews] == ["one", "two"]


SCORES = {"bart": {"R1_F1": 0.3, "annot1": [1], "annot2": [2]}}
ANNOTATIONS = {"id": "x", "decoded": "t", "expert_annotations": [], "turker_annotations": []}


@pytest.mark.parametrize("record", [SCORES, ANNOTATIONS])
@pytest.mark.parametrize("form", ["auto", "jsonl", "json", "opinsummeval", "summeval-op"])
def test_ratings_without_reviews_are_refused(tmp_path, record, form):
    path = write(tmp_path, json.dumps(record), "scores.jsonl")
    with pytest.raises(InputError, match="ratings but no reviews, so there is nothing to score"):
        list(read_products(path, format=form))


HEADER = "cat\tprod_id\trev1\trev2\tsumm1\tsumm2"


@pytest.mark.parametrize("form", ["auto", "copycat"])
@pytest.mark.parametrize("name", ["gold.csv", "gold.tsv", "gold"])
def test_copycat(tmp_path, form, name):
    rows = [HEADER, 'cloth\tB1\t"Quoted" start.\t\tOne.\tTwo "x', "cloth\tB2\ta\tb\tc\td"]
    first, second = read_products(write(tmp_path, "\n".join(rows) + "\n", name), format=form)
    assert first.id == "B1"
    assert first.extra == {"category": "cloth"}
    assert first.reviews == (Review('"Quoted" start.'), Review(""))
    assert first.summaries == (Summary("human1", "One."), Summary("human2", 'Two "x'))
    assert second.source.endswith(":3")


def test_a_table_with_some_of_copycats_columns_is_a_table(tmp_path):
    text = 'prod_id\trev1\trev2\tsumm1\nB1\t"a ""b"""\t\tOne.\n'
    (product,) = read_products(write(tmp_path, text, "in.tsv"))
    assert (product.id, product.reviews) == ("B1", (Review('a "b"'),))
    assert product.summaries[0].text == "One."


def test_faulty_copycat_rows(tmp_path):
    path = tmp_path / "gold.tsv"
    rows = [HEADER.encode(), b"cloth\tB1\ta\tb\tc", b"", b"cloth\tB2\t\xff\tb\tc\td"]
    path.write_bytes(b"\r\n".join(rows))
    short, wrong = read_products(path)
    assert short.error.startswith(f"{path}:2: has 5 cells where the header has 6; ")
    assert wrong.error.startswith(f"{path}:4: cell 3: is not UTF-8; ")
    assert (short.id, wrong.id) == ("B1", "B2")


def test_a_mean_file_with_a_bare_text_and_a_missing_one(tmp_path):
    record = MEAN | {"summaries": MEAN["summaries"] | {"bare": "Text.", "none": {"dimensions": {}}}}
    product, bad = read_products(write(tmp_path, json.dumps({"B1": record})))
    assert product.summaries[-1] == Summary("bare", "Text.")
    assert "summaries.none.summary: is missing" in bad.error
