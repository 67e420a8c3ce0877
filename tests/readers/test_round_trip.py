"""Products → input records → products: what the commands that write records rely on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.errors import InputError
from prevalence.readers import parse_record, read_products
from prevalence.records import BadRecord, Product, Review, Summary

if TYPE_CHECKING:
    from pathlib import Path

words = st.text(st.characters(codec="utf-8"), max_size=8)
names = words.filter(str.strip)
extras = st.dictionaries(st.sampled_from(["rating", "verified", "label"]), st.integers(0, 5))
reviews = st.builds(
    Review, words, st.none() | words, extras, st.none() | words
)  # fmt: skip
products = st.builds(
    Product,
    id=names,
    reviews=st.lists(reviews, min_size=1, max_size=3).map(tuple),
    summaries=st.dictionaries(names, st.tuples(words, extras), min_size=1, max_size=2).map(
        lambda found: tuple(Summary(system, *rest) for system, rest in found.items())
    ),
    name=st.none() | names,
    metadata=st.dictionaries(words, words, max_size=2),
    extra=extras,
    source=st.just("record 0"),
)


@given(products)
def test_a_product_survives_its_own_record(product: Product) -> None:
    record = json.loads(json.dumps(product.to_json()))
    assert parse_record(record, source="record 0") == [product]


def test_a_plain_review_stays_a_string() -> None:
    product = Product("p", (Review("a"), Review("b", "r2", {"rating": 4}, "B.")), ())
    assert product.to_json() == {
        "id": "p",
        "reviews": ["a", {"id": "r2", "text": "b", "simplified": "B.", "rating": 4}],
        "summaries": {},
    }


@pytest.mark.parametrize("value", [3, ["x"], True])
def test_a_rewriting_that_is_no_text_is_named(value: Any) -> None:
    record = {"id": "p", "reviews": [{"text": "a", "simplified": value}], "summary": "s"}
    (bad,) = parse_record(record, source="f:1")
    assert isinstance(bad, BadRecord)
    assert bad.error.startswith("f:1: reviews[0].simplified: is ")


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_products_without_a_summary_are_read_where_none_is_needed(tmp_path: Path) -> None:
    bare = {"id": "p", "reviews": ["a"]}
    full = {"id": "q", "reviews": ["a"], "summaries": {"s": "b", "t": 4}}
    path = lines(tmp_path / "in.jsonl", bare, full)
    first, second, fault = read_products(path, summaries=False)
    assert first == Product("p", (Review("a"),), (), source=f"{path}:1")
    assert isinstance(second, Product)
    assert second.summaries == (Summary("s", "b"),)
    assert isinstance(fault, BadRecord)
    assert fault.system == "t"
    missing, *_ = read_products(path)
    assert isinstance(missing, BadRecord)


def test_a_table_without_summaries_is_read_where_none_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("id,rev1,rev2,rating\np,a,b,4\n")
    (product,) = read_products(path, summaries=False)
    assert isinstance(product, Product)
    assert [review.text for review in product.reviews] == ["a", "b"]
    assert product.extra == {"rating": "4"}
    with pytest.raises(InputError, match="summary"):
        list(read_products(path))


def test_summarisers_may_be_given_the_rewritings() -> None:
    reviews = (Review("a", "r1", {"rating": 4}, "A."), Review("b", simplified=""))
    product = Product("p", reviews, (), source="f:3")
    assert [(r.text, r.id) for r in product.rewritten().reviews] == [("A.", "r1"), ("", None)]
    half = Product("p", (reviews[0], Review("b")), (), source="f:3")
    with pytest.raises(InputError, match=r"f:3: reviews\[1\] has no rewriting"):
        half.rewritten()
