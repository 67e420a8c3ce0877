"""Whole JSON files."""

from __future__ import annotations

import json

import pytest

from prevalence.errors import InputError
from prevalence.readers import read_products
from prevalence.records import BadRecord, Product

GOOD = {"id": "p1", "reviews": ["Good."], "summary": "Fine."}


def read(tmp_path, text, name="in.json", **options):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return list(read_products(path, **options))


@pytest.mark.parametrize("name", ["in.json", "in", "in.jsonl"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_of_records(tmp_path, name, indent):
    items = read(tmp_path, json.dumps([GOOD, GOOD | {"id": None}], indent=indent), name)
    assert [item.id for item in items] == ["p1", f"{name}[1]"]
    assert items[1].source == f"{tmp_path}/{name}[1]"


@pytest.mark.parametrize("name", ["in.json", "in", "in.jsonl"])
def test_one_pretty_printed_record(tmp_path, name):
    (item,) = read(tmp_path, "\n" + json.dumps(GOOD, indent=1), name)
    assert item.id == "p1"


@pytest.mark.parametrize("indent", [None, 2])
def test_an_object_of_records_by_id(tmp_path, indent):
    document = {"x": {"reviews": ["a"], "summary": "b"}, "y": {"reviews": [], "summary": "b"}}
    good, bad = read(tmp_path, json.dumps(document, indent=indent), "in")
    assert (good.id, good.source) == ("x", f'{tmp_path}/in["x"]')
    assert bad.error.startswith(f'{tmp_path}/in["y"]: reviews: has no review')
    assert bad.id == "y"


def test_json_lines_in_a_file_named_json(tmp_path):
    assert len(read(tmp_path, json.dumps(GOOD) + "\n" + json.dumps(GOOD))) == 2


def test_bad_elements_cost_only_themselves(tmp_path):
    text = f'[{json.dumps(GOOD)}, 3, {{"id": "n", "x": [NaN]}}, {{"id": "h", "x": {"9" * 5000}}},'
    text += f' {{"id": "\\ud800", "reviews": ["a"], "summary": "b"}}, {json.dumps(GOOD)}]'
    first, number, nan, huge, surrogate, last = read(tmp_path, text)
    assert isinstance(first, Product)
    assert isinstance(last, Product)
    assert number.error.startswith(f"{tmp_path}/in.json[1]: is the number 3; ")
    assert nan.error.startswith(f"{tmp_path}/in.json[2]: x[0]: is not a finite number; ")
    assert (nan.id, huge.id, surrogate.id) == ("n", "h", "\ufffd")


def test_a_bad_value_in_an_object_of_records(tmp_path):
    number, good = read(tmp_path, json.dumps({"x": 3, "y": {"reviews": ["a"], "summary": "b"}}))
    assert number.error.startswith(f'{tmp_path}/in.json["x"]: is the number 3; ')
    assert good.id == "y"


def test_a_record_whose_metadata_holds_reviews_is_one_record(tmp_path):
    record = {"summary": "b", "metadata": {"reviews": 3}}
    (bad,) = read(tmp_path, json.dumps(record, indent=1))
    assert "in.json:1: reviews: is missing" in bad.error


def test_a_cut_first_line_of_json_lines(tmp_path):
    text = '{"id": "x"\n{"id": "y"\n' + json.dumps(GOOD)
    first, second, good = read(tmp_path, text, "in.jsonl")
    assert (first.id, second.id, good.id) == ("x", "y", "p1")


@pytest.mark.parametrize("tail", ["", ",", ', {"id": ', "] trailing", "]]", ', {"id" 3}]'])
def test_a_broken_list_gives_the_records_before_the_break(tmp_path, tail):
    *good, bad = read(tmp_path, f"[{json.dumps(GOOD)}{tail}")
    assert isinstance(bad, BadRecord)
    assert len(good) <= 1
    assert "in.json" in bad.error


def test_a_cut_list_keeps_complete_records(tmp_path):
    text = json.dumps([GOOD] * 3)
    items = read(tmp_path, text[:-10])
    assert [type(item) for item in items] == [Product, Product, BadRecord]
    assert items[2].error.startswith(f"{tmp_path}/in.json[2]: line 1: not valid JSON at column ")
    assert "nothing after this place was read" in items[2].error


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[{]", r"in\.json:1: not valid JSON"),
        ('{\n "id": \n "x",\n oops}', r"in\.json:4: not valid JSON"),
        ("[" * 100_000, r"in\.json:1: nested too deep; flatten"),
        (json.dumps(GOOD) + "\n" + json.dumps(GOOD), r"in\.json:2: more text after"),
    ],
)
def test_a_document_without_a_first_record(tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        read(tmp_path, text, format="json")


def test_a_document_that_is_not_utf8_names_the_line(tmp_path):
    path = tmp_path / "in.json"
    path.write_bytes(b'[\n{"id": "\xff"}]')
    with pytest.raises(InputError, match=r"in\.json:2: not UTF-8 at byte 9"):
        list(read_products(path))
