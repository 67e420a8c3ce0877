"""The project's own records: what is kept, and what each malformed case gives."""

from __future__ import annotations

import json

import pytest

from prevalence.readers import parse_record, read_products
from prevalence.records import BadRecord, Product, Review, Summary

GOOD = {"id": "p1", "reviews": ["Good."], "summary": "Fine."}


def read(tmp_path, *lines, **options):
    path = tmp_path / "in.jsonl"
    data = b"\n".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines
    )
    path.write_bytes(data)
    return list(read_products(path, **options))


def only(tmp_path, line, **options):
    items = read(tmp_path, line, GOOD, **options)
    assert isinstance(items[-1], Product)
    assert items[-1].source.endswith("in.jsonl:2")
    (item,) = items[:-1]
    return item


def test_everything_a_record_can_hold(tmp_path):
    record = {
        "id": 17,
        "name": "kettle",
        "reviews": ["Boils fast.", {"id": 2, "text": "Leaks.", "rating": 1}, "  "],
        "summaries": {"a": "It boils.", "b": {"text": "It leaks.", "seed": 3}, "c": ""},
        "metadata": {"average_rating": 4.2},
        "shop": ["x"],
        "asin": "kept",
    }
    item = only(tmp_path, record)
    assert item == Product(
        id="17",
        name="kettle",
        reviews=(Review("Boils fast."), Review("Leaks.", "2", {"rating": 1}), Review("  ")),
        summaries=(
            Summary("a", "It boils."),
            Summary("b", "It leaks.", {"seed": 3}),
            Summary("c", ""),
        ),
        metadata={"average_rating": 4.2},
        extra={"shop": ["x"], "asin": "kept"},
        source=str(tmp_path / "in.jsonl:1"),
    )


@pytest.mark.parametrize("key", ["id", "product_id", "asin", "prod_id", "case"])
def test_id_aliases(tmp_path, key):
    item = only(tmp_path, {key: "x", "reviews": ["a"], "summary": "b"})
    assert item.id == "x"
    assert item.extra == {}


@pytest.mark.parametrize("extra", [{}, {"id": None}, {"id": ""}])
def test_a_missing_id_becomes_file_and_line(tmp_path, extra):
    assert only(tmp_path, extra | {"reviews": ["a"], "summary": "b"}).id == "in.jsonl:1"


def test_duplicate_ids_are_both_kept(tmp_path):
    assert [item.id for item in read(tmp_path, GOOD, GOOD)] == ["p1", "p1"]


def test_names_override_and_fill(tmp_path):
    items = read(tmp_path, GOOD, GOOD | {"name": "own"}, names={"p1": "kettle"})
    assert [item.name for item in items] == ["kettle", "kettle"]
    assert [
        item.name for item in read(tmp_path, GOOD | {"name": "own"}, GOOD | {"name": None})
    ] == [
        "own",
        None,
    ]


def test_a_list_of_texts_becomes_numbered_systems(tmp_path):
    record = {"id": "x", "reviews": ["a"], "summaries": {"human": ["one", {"text": "two", "k": 1}]}}
    assert only(tmp_path, record).summaries == (
        Summary("human.1", "one"),
        Summary("human.2", "two", {"k": 1}),
    )


@pytest.mark.parametrize(
    ("system", "expected"), [({}, "summary"), ({"system": "gpt"}, "gpt"), ({"system": 3}, "3")]
)
def test_the_single_summary(tmp_path, system, expected):
    item = only(tmp_path, {"id": "x", "reviews": ["a"], "summary": "b"} | system)
    assert item.summaries == (Summary(expected, "b"),)
    assert item.extra == {}


FAULTS = [
    ({"reviews": None}, "reviews: is null"),
    ({"reviews": "one text"}, "reviews: is the string 'one text'"),
    ({"reviews": []}, "reviews: has no review"),
    ({"reviews": ["a", "b", "c", None]}, "reviews[3]: is null"),
    ({"reviews": ["a", 7]}, "reviews[1]: is the number 7"),
    ({"reviews": [["a"]]}, "reviews[0]: is a list"),
    ({"reviews": [{"text": None}]}, "reviews[0].text: is null"),
    ({"reviews": [{"id": "r"}]}, "reviews[0].text: is missing"),
    ({"name": ""}, "name: is an empty string"),
    ({"name": 5}, "name: is the number 5"),
    ({"metadata": []}, "metadata: is a list"),
    ({"summary": None}, "summaries: has no summary"),
    ({"summaries": {"a": "b"}}, 'summaries: stands beside "summary"'),
    ({"summary": None, "summaries": {}}, "summaries: has no summary"),
    ({"summary": None, "summaries": "text"}, "summaries: is the string 'text'"),
    ({"system": " "}, "system: is an empty string"),
    ({"system": True}, "system: is true"),
]


@pytest.mark.parametrize(("change", "said"), FAULTS)
def test_a_faulty_record_names_file_line_and_field(tmp_path, change, said):
    item = only(tmp_path, GOOD | {"shop": 1} | change)
    assert isinstance(item, BadRecord)
    assert item.id == "p1"
    assert item.system is None
    assert item.extra["shop"] == 1
    assert item.error.startswith(f"{tmp_path}/in.jsonl:1: {said}; ")
    assert "\n" not in item.error


@pytest.mark.parametrize("value", [[1], {"a": 1}, 1.5, True])
def test_an_id_of_another_type(tmp_path, value):
    item = only(tmp_path, GOOD | {"id": value})
    assert isinstance(item, BadRecord)
    assert item.id is None
    assert "in.jsonl:1: id: is " in item.error


def test_missing_reviews(tmp_path):
    assert "reviews: is missing" in only(tmp_path, {"id": "x", "summary": "b"}).error
    renamed = only(tmp_path, {"id": "x", "summary": "b", "Review": ["a"]}).error
    assert renamed.endswith("give a list of review texts; rename 'Review' if it holds them")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "summaries.bad: is null"),
        (3, "summaries.bad: is the number 3"),
        ([], "summaries.bad: is an empty list"),
        ({}, "summaries.bad.text: is missing"),
        ({"text": None}, "summaries.bad.text: is null"),
    ],
)
def test_a_bad_summary_costs_only_itself(tmp_path, value, said):
    record = {"id": "x", "reviews": ["a"], "summaries": {"bad": value, "good": "b"}}
    product, bad, _ = read(tmp_path, record, GOOD)
    assert product.summaries == (Summary("good", "b"),)
    assert (bad.id, bad.system) == ("x", "bad")
    assert bad.error.startswith(f"{tmp_path}/in.jsonl:1: {said}; ")


def test_a_record_with_bad_summaries_only_gives_no_product(tmp_path):
    record = {"id": "x", "reviews": ["a"], "summaries": {"a": None, "": "b"}}
    first, second, _ = read(tmp_path, record, GOOD)
    assert (first.system, second.system) == ("a", "")
    assert "name is empty" in second.error


def test_one_bad_text_in_a_list_of_a_system(tmp_path):
    record = {"id": "x", "reviews": ["a"], "summaries": {"human": ["one", None]}}
    product, bad, _ = read(tmp_path, record, GOOD)
    assert [summary.system for summary in product.summaries] == ["human.1"]
    assert bad.system == "human.2"
    assert "summaries.human[1]: is null" in bad.error


def test_a_system_named_twice(tmp_path):
    record = {"id": "x", "reviews": ["a"], "summaries": {"h": ["one"], "h.1": "two"}}
    product, bad, _ = read(tmp_path, record, GOOD)
    assert product.summaries == (Summary("h.1", "one"),)
    assert "second summary of the system 'h.1'" in bad.error


BROKEN_LINES = [
    (b'{"id": "p1", "reviews": [', "not valid JSON at column "),
    (b'{"id": "p1" "reviews": []}', "not valid JSON at column 13"),
    (b'{"id": "p1", "reviews": ["\xff"]}', "not UTF-8 at byte 27 of the line"),
    (b'{"id": "p1", "x": NaN}', "the number NaN is not finite"),
    (b'{"id": "p1", "x": -Infinity}', "the number -Infinity is not finite"),
    (b'{"id": "p1", "x": 1e999}', "the number 1e999 is not finite"),
    (b'{"id": "p1", "x": ' + b"9" * 5000 + b"}", "an integer has too many digits"),
    (b'{"id": "p1", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "is nested too deep"),
    (b'{"id": "p1", "x": ' + b"[" * 150 + b"]" * 150 + b"}", "is nested deeper than 100 levels"),
]


@pytest.mark.parametrize(("line", "said"), BROKEN_LINES)
@pytest.mark.parametrize("form", ["auto", "jsonl"])
def test_a_broken_line_keeps_its_id_where_readable(tmp_path, line, said, form):
    item = only(tmp_path, line, format=form)
    assert isinstance(item, BadRecord)
    assert item.id == "p1"
    assert f"in.jsonl:1: {said}" in item.error


@pytest.mark.parametrize("container", ["line", "document"])
@pytest.mark.parametrize(
    "record",
    [
        '{"id": "p1", "reviews": ["Good.", NaN], "summary": "Fine."}',
        '{"id": "p1", "reviews": [{"text": NaN}], "summary": "Fine."}',
        '{"id": "p1", "reviews": [{"text": "Good.", "rating": NaN}], "summary": "Fine."}',
    ],
)
def test_what_is_said_of_nan_helps(tmp_path, record, container):
    given = {"line": "%s", "document": "[%s]"}[container]
    [bad] = read(tmp_path, (given % record).encode())
    assert bad.error.endswith('leave it out, or write null for a number and "" for a text')
    mended = record.replace("NaN", "null" if "rating" in record else '""')
    [product] = read(tmp_path, (given % mended).encode())
    assert isinstance(product, Product)


@pytest.mark.parametrize("end", ['"It is', '"It is {so}', '"A."', '"A."]', "tru"])
def test_a_last_line_that_was_cut_is_called_so(tmp_path, end):
    path = tmp_path / "in.jsonl"
    path.write_text(f'{json.dumps(GOOD)}\n{{"id": "p1", "reviews": [{end}')
    good, cut = read_products(path)
    assert good.id == GOOD["id"]
    assert cut.id == "p1"
    said = "the last line is incomplete JSON; get the whole file, or remove the line"
    assert cut.error == f"{path}:2: {said}"


@pytest.mark.parametrize(
    ("line", "said"), [(b"[1]", "is a list"), (b"3", "is the number 3"), (b'"a"', "the string 'a'")]
)
def test_lines_that_hold_no_object(tmp_path, line, said):
    item = only(tmp_path, line, format="jsonl")
    assert said in item.error
    assert item.id is None


def test_lone_surrogates_are_replaced_one_for_one_and_pairs_kept(tmp_path):
    line = (
        b'{"id": "\\ud800", "reviews": ["a\\udfff\\uDC00b", "\\ud83d\\ude00"],'
        b' "summaries": {"s\\ud800": "t\\ud800"}, "k\\ud801": {"x": ["\\ud802"]}}'
    )
    item = only(tmp_path, line)
    assert item.id == "\ufffd"
    assert [review.text for review in item.reviews] == ["a\ufffd\ufffdb", "\U0001f600"]
    assert item.summaries == (Summary("s\ufffd", "t\ufffd"),)
    assert item.extra == {"k\ufffd": {"x": ["\ufffd"]}}


def test_nul_characters_are_kept(tmp_path):
    item = only(tmp_path, b'{"reviews": ["a\\u0000b"], "summary": "\\u0000"}')
    assert item.reviews[0].text == "a\0b"
    assert item.summaries[0].text == "\0"


@pytest.mark.parametrize("name", ["in.jsonl", "in.json"])
def test_a_key_stands_once_in_an_object(tmp_path, name):
    path = tmp_path / name
    record = '{"id": "a", "reviews": ["x"], "summaries": {"s": "one", "t": "three", "s": "two"}}'
    good = '{"id": "b", "reviews": ["x"], "summary": "y"}'
    lines = name == "in.jsonl"
    path.write_text(f"{record}\n{good}\n" if lines else f"[{record},\n{good}]")
    spoilt, kept = read_products(path)
    assert spoilt.id == "a"
    assert "s: appears twice in one object; keep one of the two" in spoilt.error
    assert kept.id == "b"


def test_control_characters_do_not_break_the_one_line_message(tmp_path):
    item = only(tmp_path, {"id": "x", "reviews": ["a"], "summaries": {"a\nb\u2028": None}})
    assert item.system == "a\nb\u2028"
    assert r"summaries.a\nb\u2028: is null" in item.error


def test_parse_record_takes_python_mappings():
    (item,) = parse_record(
        {"reviews": ("a", {"text": "b\ud800"}), "summary": "c", "x": (1,)}, source="record 3"
    )
    assert item.id == "record 3"
    assert [review.text for review in item.reviews] == ["a", "b\ufffd"]
    assert item.extra == {"x": [1]}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), "x.y[1]: is not a finite number"),
        (b"bytes", "x.y[1]: is a bytes"),
        ({3: 1}, "x.y[1]: has a key that is a int"),
    ],
)
def test_parse_record_refuses_what_json_cannot_hold(value, said):
    (item,) = parse_record(GOOD | {"x": {"y": [0, value]}}, source="record 1")
    assert item.id == "p1"
    assert item.error.startswith(f"record 1: {said}; ")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ("text", "record 1: is the string 'text'; "),
        ({"id": 10**5000}, "record 1: id: has too many digits; "),
        ({"id": {1, 2}}, "record 1: id: is a set; "),
    ],
)
def test_parse_record_survives_any_object(record, said):
    (item,) = parse_record(record, source="record 1")
    assert item.id is None
    assert item.error.startswith(said)


def test_parse_record_takes_names():
    (item,) = parse_record(GOOD, source="record 1", names={"p1": "kettle"})
    assert item.name == "kettle"
