"""Released files as they are; skipped where they are absent."""

from __future__ import annotations

import json

import pytest

from prevalence.errors import InputError
from prevalence.readers import read_authors, read_products, read_reviews


def raw(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_amazon_dev(shared_data):
    path = shared_data / "amazon_dev.jsonl"
    items = list(read_products(path))
    for item, record in zip(items, raw(path), strict=True):
        assert item.id == record["product_id"]
        assert [review.text for review in item.reviews] == record["reviews"]
        assert {s.system: s.text for s in item.summaries} == record["summaries"]
        assert item.extra == {"category": record["category"]}


def test_copycat_holds_the_same_products_and_human_summaries(shared_data):
    released = read_products(shared_data / "released_layouts" / "copycat_gold_summs_dev.csv")
    derived = read_products(shared_data / "amazon_dev.jsonl")
    for ours, theirs in zip(released, derived, strict=True):
        assert ours.id == theirs.id
        assert ours.extra == theirs.extra
        assert [review.text for review in ours.reviews] == [r.text for r in theirs.reviews]
        assert ours.summaries == theirs.summaries[:3]


def test_opinsummeval_outputs_equal_the_derived_file(shared_data):
    folder = shared_data / "released_layouts"
    released = list(read_products(folder / "opinsummeval_14model_outputs_head.jsonl"))
    derived = list(read_products(shared_data / "opinsummeval.jsonl"))
    assert (len(released), len(derived)) == (20, 100)
    for ours, theirs in zip(released, derived, strict=False):
        assert ours.id == theirs.id
        assert ours.reviews == theirs.reviews
        assert ours.extra["reference"] == theirs.extra["reference"]
        systems = {summary.system: summary.text for summary in theirs.summaries}
        assert {summary.system: summary.text for summary in ours.summaries} == systems


def test_ratings_of_llm_summeval_are_refused(shared_data):
    with pytest.raises(InputError, match="ratings but no reviews"):
        list(read_products(shared_data / "llm_summeval" / "M10.jsonl"))


def test_reviews_of_one_product(shared_data):
    first = raw(shared_data / "amazon_dev.jsonl")[0]
    for name in ("amazon_dev.jsonl", "released_layouts/copycat_gold_summs_dev.csv"):
        found = read_reviews(shared_data / name, product=first["product_id"])
        assert [review.text for review in found] == first["reviews"]


def test_the_authors_way_of_working(shared_data, tmp_path):
    records = raw(shared_data / "amazon_dev.jsonl")
    path = tmp_path / "copycat.txt"
    path.write_text("".join(record["summaries"]["copycat"] + "\n" for record in records))
    reviews = shared_data / "released_layouts" / "copycat_gold_summs_dev.csv"
    items = list(read_authors(path, reviews=reviews))
    assert [item.summaries[0].text for item in items] == [
        record["summaries"]["copycat"] for record in records
    ]
