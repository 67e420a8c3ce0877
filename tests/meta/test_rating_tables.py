"""Ratings by people in CSV and its like."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from prevalence.errors import InputError
from prevalence.meta.sources import read_table, read_tables


@pytest.fixture
def write(tmp_path):
    def to_file(text, name="ratings.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return to_file


def test_a_column_for_each_dimension(write):
    path = write(
        "ID,System,Aspect coverage,fluency,metric:rouge-1,summary\n"
        "a,x,4,,0.5,Fine.\na,y,nan,2.5,,\n"
    )
    table = read_table(path)
    assert (table.items, table.systems, table.raters) == (("a",), ("x", "y"), ("1",))
    np.testing.assert_array_equal(table.human["Aspect coverage"], [[[4], [np.nan]]])
    np.testing.assert_array_equal(table.human["fluency"], [[[np.nan], [2.5]]])
    np.testing.assert_array_equal(table.metric("rouge-1"), [[0.5, np.nan]])


def test_columns_without_a_name_are_left_out(write):
    # As spreadsheets export empty columns.
    table = read_table(write("id,system,fluency,,\na,x,4,,\na,y,2,,\n"))
    assert list(table.human) == ["fluency"]
    np.testing.assert_array_equal(table.human["fluency"], [[[4], [2]]])


def test_a_row_for_each_rater_and_a_file_of_scores(write):
    scores = write(json.dumps({"id": "7", "system": "x", "metrics": {"m": 1}}), "scores.jsonl")
    path = write("case\tmodel\tannotator\ttone\n7\tx\tAnn\t4\n7\tx\tBob\t4\n", "r.tsv")
    table = read_table([scores, path])
    assert (table.items, table.systems, table.raters) == (("7",), ("x",), ("Ann", "Bob"))
    np.testing.assert_array_equal(table.human["tone"], [[[4, 4]]])
    assert table.metric("m") == 1


@pytest.mark.parametrize("start", ["", "sep=;\r\n"])
def test_decimal_commas_and_other_names(write, tmp_path, start):
    text = f"{start}id;system;tone\na;x;4,5\na;y;-,5\na;z;1.5\n"
    packed = tmp_path / "ratings.txt.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    for path in (write(text, "ratings.txt"), packed):
        np.testing.assert_array_equal(read_table(path).human["tone"], [[[4.5], [-0.5], [1.5]]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,tone\na,4\n", "r.csv: needs a column 'system'; the columns are: id, tone"),
        ("system,tone\na,4\n", "r.csv: needs a column 'id'; "),
        ("id,system,summary\na,x,Fine.\n", "r.csv: needs a column of numbers for each dimension"),
        ("id,system,tone,Tone\na,x,4,4\n", "r.csv:1: columns appear twice: tone (case does not "),
        ("id,system,metric: \na,x,4\n", "r.csv: each metric:NAME needs a name of its own; the"),
        ("id,system,metric:m,metric: m\na,x,4,5\n", "r.csv: each metric:NAME needs a name of its"),
        ("id,system,prevalence\na,x,.5\n", "r.csv: holds scores, not ratings by people"),
        ("id,system,tone\na,x,4\na,x,4\n", "r.csv:3: rates 'a' by 'x' again, as line 2 does; name"),
        ("id,system,tone\na,x,good\n", "r.csv:2: column \"tone\": is the string 'good'; give a"),
        ("id,system,tone\na,x,inf\n", "r.csv:2: column \"tone\": is the string 'inf'; give a"),
        ('id,system,tone\na,x,"4,5"\n', "r.csv:2: column \"tone\": is the string '4,5'; give a"),
        ("id;system;tone\na;x;1.234,5\n", "r.csv:2: column \"tone\": is the string '1.234,5'"),
        ("id,system,tone\na,,4\n", 'r.csv:2: column "system": is empty; give it in every row'),
        ("id,system,tone\na,x\n", "r.csv:2: has 2 cells where the header has 3; quote cells"),
        ('id,system,tone\na,x,"4\n', "r.csv:2: a quote opened in this row is never closed"),
    ],
)
def test_what_is_wrong_is_named(write, text, said):
    with pytest.raises(InputError) as raised:
        read_table(write(text, "r.csv"))
    assert said in str(raised.value)


def test_tables_in_folders_are_not_read(write, tmp_path):
    write(json.dumps({"id": "a", "system": "x", "human": {"tone": 4}}), "ratings.jsonl")
    write("sku,price\n1,2\n", "prices.csv")
    assert read_tables(tmp_path).skipped == ()
