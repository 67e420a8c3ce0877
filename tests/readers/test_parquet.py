"""Records in Parquet, read here as workers read them."""

from __future__ import annotations

import json
import sys

import pytest

from prevalence.errors import InputError, MissingDependencyError
from prevalence.readers import read_products
from prevalence.readers.products import check_header
from prevalence.records import BadRecord, Product

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

RECORDS = [
    {"id": "p1", "name": "boots", "reviews": ["Warm.", "Dry."], "summaries": {"a": "Warm."}},
    {"id": None, "name": None, "reviews": ["They leak."], "summaries": {"a": "They leak."}},
    {"id": "p3", "name": None, "reviews": [], "summaries": {"a": "Warm."}},
    {"id": "p4", "name": None, "reviews": ["Warm."], "summaries": None},
]


@pytest.fixture
def path(tmp_path):
    pq.write_table(pa.Table.from_pylist(RECORDS), tmp_path / "in.parquet", row_group_size=3)
    return tmp_path / "in.parquet"


def test_each_row_is_a_record(path):
    lines = path.with_name("in.jsonl")
    kept = [{k: v for k, v in record.items() if v is not None} for record in RECORDS]
    lines.write_text("".join(json.dumps(record) + "\n" for record in kept), encoding="utf-8")

    def read(file, **options):
        return [str(item).replace(".parquet", ".jsonl") for item in read_products(file, **options)]

    assert read(path) == read(lines)
    assert [type(item) for item in read_products(path)] == [Product, Product, BadRecord, BadRecord]
    assert read(path, summaries=False) == read(lines, summaries=False)
    assert read(path, names={"p1": "shoe"}) == read(lines, names={"p1": "shoe"})


def test_progress_ends_with_the_size_of_the_file(path):
    told = []
    list(read_products(path, progress=told.append))
    assert told == sorted(told)
    assert (len(told), told[-1]) == (len(RECORDS), path.stat().st_size)


def test_a_file_without_rows_or_cut_off_is_refused(path):
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    for reads in (check_header, lambda file: list(read_products(file))):
        with pytest.raises(InputError, match=r"in.parquet: cannot be read \(.*; write the file a"):
            reads(path)
    pq.write_table(pa.table({"id": pa.array([], pa.string())}), path)
    with pytest.raises(InputError, match="holds no record; there is nothing to score"):
        list(read_products(path))


def test_without_pyarrow_the_message_says_how_to_get_it(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingDependencyError, match="pyarrow: pip install pyarrow"):
        check_header(path)


def test_another_format_that_is_stated_is_not_this_one(path):
    with pytest.raises(InputError, match=r"is a Parquet file; export it as JSON Lines or CSV$"):
        list(read_products(path, format="csv"))
