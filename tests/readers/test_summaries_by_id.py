"""Summaries in a table or in JSON, joined with the reviews of another file by the product's id."""

from __future__ import annotations

import json
import re

import pytest

from prevalence.errors import InputError
from prevalence.readers import read_authors
from prevalence.readers.columns import is_summary_table
from prevalence.records import BadRecord, Product, Review, Summary
from prevalence.runs.selection import Selection

REVIEWS = "id;review\nA;Warm.\nA;Dry.\nB;Leaks.\n"


@pytest.fixture
def read(tmp_path):
    """Join a file of summaries with reviews; its name, and that of the reviews, may be given."""

    def read_with(text, name="s.csv", reviews=REVIEWS, reviews_name="r.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / reviews_name).write_text(reviews, encoding="utf-8")
        return list(read_authors(tmp_path / name, reviews=tmp_path / reviews_name))

    return read_with


def summaries_of(items):
    return {item.id: item.summaries for item in items if isinstance(item, Product)}


BOTH = {
    "A": (Summary("x", "Warm.\nNice."), Summary("y", "Dry.")),
    "B": (Summary("x", "Leaks."),),
}
RECORDS = [
    {"id": "B", "system": "x", "summary": "Leaks."},
    {"id": "A", "system": "x", "summary": "Warm.\nNice."},
    {"id": "A", "system": "y", "text": "Dry."},
]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('id;system;summary\nB;x;Leaks.\nA;x;"Warm.\nNice."\nA;y;Dry.\n', "s.csv"),
        ('\ufeffID\tText\tSystem\nB\tLeaks.\tx\nA\t"Warm.\nNice."\tx\nA\tDry.\ty\n', "s.txt"),
        ('sep=;\nid;system;summaries\nB;x;Leaks.\nA;x;"Warm.\nNice."\nA;y;Dry.\n', "s"),
        ("\n".join(map(json.dumps, RECORDS)), "s.jsonl"),
        ("\n".join(map(json.dumps, RECORDS)), "s"),
        (json.dumps(RECORDS, indent=1), "s.json"),
    ],
)
def test_summaries_belong_to_the_product_of_their_id(read, text, name):
    items = read(text, name)
    assert [item.id for item in items] == ["A", "B"]
    assert summaries_of(items) == BOTH
    assert items[0].reviews == (Review("Warm."), Review("Dry."))


def test_several_systems_may_stand_in_columns_or_in_an_object(read):
    expected = {"A": (Summary("x", "Warm."), Summary("y", "Dry.")), "B": BOTH["B"]}
    record = {"id": "A", "summaries": {"x": "Warm.", "y": "Dry."}}
    lines = "\n".join(map(json.dumps, [record, RECORDS[0]]))
    assert summaries_of(read(lines, "s.jsonl")) == expected
    items = read("id,summary:x,summary:y\nA,Warm.,Dry.\nB,Leaks.,\n")
    assert summaries_of(items) == expected | {"B": (Summary("x", "Leaks."), Summary("y", ""))}


def test_the_file_names_the_system_where_no_record_does(read):
    expected = {"A": (Summary("gpt", "Warm."),), "B": (Summary("gpt", "Leaks."),)}
    assert summaries_of(read("id,summary\nA,Warm.\nB,Leaks.\n", "gpt.csv")) == expected
    lines = '{"id": "A", "summary": "Warm."}\n{"id": "B", "summary": "Leaks."}\n'
    assert summaries_of(read(lines, "gpt.jsonl")) == expected


def test_a_summary_of_no_product_is_an_error_and_products_without_are_counted(read, tmp_path):
    with pytest.warns(RuntimeWarning) as caught:
        good, bad = read("id;system;summary\nC;x;Soft.\nA;x;Warm.\n")
    assert good.id == "A"
    assert (bad.id, bad.system) == ("C", "x")
    assert bad.error == (
        f"{tmp_path}/s.csv:2: column \"summary\": is of the product 'C', which is not in "
        f"{tmp_path}/r.csv; check the id"
    )
    assert [str(warning.message) for warning in caught] == [
        f"{tmp_path}/r.csv: 1 product has no summary in {tmp_path}/s.csv and is left out"
    ]


def test_faulty_rows_are_errors_and_name_their_line(read, tmp_path):
    text = "id,system,summary\nA,x,Warm.\n,x,Lost.\nB,x\nA,x,Dry.\nA,x,Warm.\nB,x,Leaks.\n"
    first, second, third, *rest = read(text)
    assert first.summaries == (Summary("x", "Warm."),)
    assert second.error == (
        f"{tmp_path}/s.csv:5: column \"summary\": is a second summary of the system 'x'; "
        "give every system its own name"
    )
    # The product and its faulty summary are one record, as --limit counts them.
    assert second.source == first.source == f"{tmp_path}/r.csv:2"
    assert third.id == "B"
    assert [bad.error.split(": ", 2)[0] for bad in rest] == [
        f"{tmp_path}/s.csv:3", f"{tmp_path}/s.csv:4",
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.* no summary in")
def test_systems_in_a_column_of_another_name(read):
    _, bad = read("id,model,summary\nA,x,Warm.\nA,y,Dry.\n")
    assert "second summary of the system 's'; give" in bad.error
    assert "rename 'model' to 'system'; the columns are: id, model, summary" in bad.error


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"summary": "Warm."}\n', r"s\.jsonl:1: id: is missing; give"),
        ('{"id": "A"}\n', r"s\.jsonl:1: summary: is missing; give"),
        ('{"id": "A", "summary": 3}\n', r"s\.jsonl:1: summary: is the number 3; give"),
        ('{"id": "A", "system": 3.5, "summary": "x"}\n', r"s\.jsonl:1: system: is the number"),
        ('"Warm."\n', r"s\.jsonl:1: is the string 'Warm.'; give"),
        ("{\n", r"s\.jsonl:1: .*"),
    ],
)
@pytest.mark.filterwarnings("ignore:.* no summary in")
def test_faulty_records_are_errors(read, text, said):
    (bad,) = read(text, "s.jsonl")
    assert isinstance(bad, BadRecord)
    assert re.search(said, bad.error)
    assert bad.id == ("A" if '"id"' in text else None)


def test_the_place_in_a_list_is_named(read):
    twice = [RECORDS[0], RECORDS[1], {**RECORDS[1], "summary": "Other."}]
    _, bad, _ = read(json.dumps(twice), "s.json")
    assert "s.json: [2]: summary: is a second summary" in bad.error


@pytest.mark.filterwarnings("ignore:.* no summary in")
def test_products_that_cannot_be_read_or_stand_twice(read):
    products = [
        {"id": "A", "reviews": ["Warm."]},
        {"id": "A", "reviews": ["Warm."]},
        {"id": "A", "reviews": ["Other."]},
        {"id": "B", "reviews": []},
    ]
    reviews = "\n".join(map(json.dumps, products))
    text = "id,system,summary\nA,x,Warm.\nB,x,Leaks.\nB,y,Leaks.\n"
    good, other, *bad = read(text, reviews=reviews, reviews_name="r.jsonl")
    assert good.id == "A"
    assert "r.jsonl:3: belongs to the product 'A', which an earlier record has" in other.error
    assert [(item.id, item.system) for item in bad] == [("B", "x"), ("B", "y")]


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        (
            "Hotel;system;summary\nA;x;Warm.\n",
            "s.txt",
            r"s\.txt:1: needs a column with the product's id \(id, .*; "
            r"the columns are: Hotel, system, summary$",
        ),
        ("sku;summary\nA;Warm.\n", "s.txt", r"rename 'sku' to 'id'; the columns are: sku, summ"),
        (
            "id;system;Output\nA;x;Warm.\n",
            "s.csv",
            r'needs a column "summary", "summary:SYSTEM" or "summ1"; the columns are: id, system,',
        ),
        ("Warm, and dry.\n", "s.csv", r"needs a column .* and a column .*: Warm, and dry\.$"),
        ("id;summary;review\nA;Warm.;Dry.\n", "s.csv", r"s\.csv:1: has reviews of its own; leave"),
    ],
)
def test_a_table_without_the_columns_is_refused_at_once(tmp_path, read, text, name, said):
    with pytest.raises(InputError, match=said):
        read(text, name)
    with pytest.raises(InputError, match=said):
        Selection([str(tmp_path / name)], reviews=tmp_path / "r.csv")


def test_records_with_reviews_are_refused(read):
    with pytest.raises(InputError, match=r"s\.jsonl:1: has reviews of its own; leave --reviews"):
        read('{"id": "A", "reviews": ["a"], "summary": "b"}\n', "s.jsonl")


def test_a_table_with_nothing_below_its_header_is_refused(read):
    with pytest.raises(InputError, match=r"s\.csv: holds no summary; there is nothing to score"):
        read("id;summary\n;\n")


@pytest.mark.parametrize(
    "line",
    ["Good value, id checked.", "Summary: good, name it.", "summary", "text", "[Update] good, id"],
)
def test_a_line_of_text_is_no_header(read, line):
    assert not is_summary_table(line)
    first, second = read(f"{line}\nIt leaks.\n", "s.txt")
    assert (first.summaries, second.summaries) == (
        (Summary("s", line),), (Summary("s", "It leaks."),),
    )  # fmt: skip


def test_files_whose_rows_name_systems_may_have_one_name(tmp_path):
    paths = [tmp_path / folder / "s.csv" for folder in ("a", "b")]
    (tmp_path / "r.csv").write_text(REVIEWS)
    for path, row in zip(paths, ("A;x;Warm.", "B;y;Leaks."), strict=True):
        path.parent.mkdir()
        path.write_text(f"id;system;summary\n{row}\n")
    selection = Selection(list(map(str, paths)), reviews=tmp_path / "r.csv", systems=["y"])
    with pytest.warns(RuntimeWarning, match="1 product has no summary"):
        (product,) = selection.items()
    assert (product.id, product.summaries) == ("B", (Summary("y", "Leaks."),))
    for path in paths:
        path.write_text("id;summary\nA;Warm.\n")
    with pytest.raises(InputError, match="both name the system 's'"):
        Selection(list(map(str, paths)), reviews=tmp_path / "r.csv")
