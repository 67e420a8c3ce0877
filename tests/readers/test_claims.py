"""Claims that a record gives for its summaries: where they may stand, and what is refused."""

from __future__ import annotations

import json

import pytest

from prevalence.readers import read_products
from prevalence.records import BadRecord

CLAIMS = ["It fits.", {"text": "It leaks.", "quantity": "most"}]


def read(tmp_path, **record):
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"id": "p", "reviews": ["It fits."], **record}) + "\n")
    return list(read_products(path))


@pytest.mark.parametrize("record", [
    {"summary": "It fits.", "claims": CLAIMS},
    {"summary": "It fits.", "system": "a", "claims": {"a": CLAIMS}},
    {"summaries": {"a": "It fits.", "b": "No."}, "claims": {"a": CLAIMS}},
    {"summaries": {"a": {"text": "It fits.", "claims": CLAIMS}}},
])  # fmt: skip
def test_claims_belong_to_their_summary(tmp_path, record):
    (product,) = read(tmp_path, **record)
    assert product.summaries[0].extra == {"claims": CLAIMS}
    assert all(not summary.extra for summary in product.summaries[1:])
    assert "claims" not in product.extra
    # What is written is read back the same.
    (again,) = read(tmp_path, **product.to_json())
    assert again.summaries == product.summaries


@pytest.mark.parametrize(("record", "where", "found"), [
    ({"summary": "It.", "claims": "It fits."}, "claims", "is the string 'It fits.'"),
    ({"summaries": {"a": "It.", "b": "No."}, "claims": ["It fits."]}, "claims", "is a list"),
    ({"summary": "It.", "claims": {"b": ["It fits."]}}, "claims.b", "belongs to no summary"),
    ({"summary": "It.", "claims": [3]}, "summary.claims[0]", "is the number 3"),
    ({"summary": "It.", "claims": ["x", " "]}, "summary.claims[1]", "is an empty string"),
    ({"summaries": {"a": {"text": "It.", "claims": "x"}}}, "summaries.a.claims", "is the string"),
    ({"summaries": {"a": {"text": "It.", "claims": []}}, "claims": {"a": []}}, "claims.a",
     'stands beside "summaries.a.claims"'),
])  # fmt: skip
def test_wrong_claims_are_one_line(tmp_path, record, where, found):
    (bad,) = read(tmp_path, **record)
    assert isinstance(bad, BadRecord)
    assert f"{where}: {found}" in bad.error
    assert "\n" not in bad.error
