"""What must hold for any input."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prevalence import readers
from prevalence.errors import InputError
from prevalence.readers import (
    FORMATS,
    parse_record,
    read_authors,
    read_product_names,
    read_products,
    read_reviews,
)
from prevalence.readers.streams import foreign
from prevalence.readers.tables import NO_VALUE
from prevalence.records import BadRecord, Product

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SYSTEM = TEXT.filter(str.strip)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
RESERVED = {
    "id", "product_id", "asin", "prod_id", "case", "name", "reviews", "summaries", "summary",
    "system", "metadata", "model_output",
}  # fmt: skip
RECORD = st.fixed_dictionaries(
    {
        "id": TEXT.filter(bool),
        "reviews": st.lists(TEXT, min_size=1, max_size=4),
        "summaries": st.dictionaries(SYSTEM, TEXT, min_size=1, max_size=3),
    }
)
EXTRA = st.dictionaries(TEXT.filter(lambda key: key not in RESERVED), JSON, max_size=3)


def read_bytes(data, name="input", **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        return list(read_products(path, **options))


@given(st.lists(st.tuples(RECORD, EXTRA), min_size=1, max_size=4), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=60)
def test_json_lines_keep_texts_and_unknown_keys(parts, ascii_only, packed):
    records = [record | extra for record, extra in parts]
    lines = "\n".join(json.dumps(record, ensure_ascii=ascii_only) for record in records).encode()
    items = read_bytes(gzip.compress(lines) if packed else lines)
    assert len(items) == len(parts)
    for item, (record, extra) in zip(items, parts, strict=True):
        assert isinstance(item, Product)
        assert item.id == record["id"]
        assert [review.text for review in item.reviews] == record["reviews"]
        assert {s.system: s.text for s in item.summaries} == record["summaries"]
        assert item.extra == extra


@given(st.lists(st.tuples(RECORD, EXTRA), min_size=1, max_size=3), st.sampled_from([None, 2]))
@settings(deadline=None, max_examples=40)
def test_a_document_gives_what_json_lines_give(parts, indent):
    records = [record | extra for record, extra in parts]
    lines = "\n".join(map(json.dumps, records)).encode()
    document = json.dumps(records, indent=indent).encode()
    by_line, whole = read_bytes(lines), read_bytes(document)
    assert [(i.id, i.reviews, i.summaries, i.extra) for i in whole] == [
        (i.id, i.reviews, i.summaries, i.extra) for i in by_line
    ]


CELL = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), min_size=1, max_size=12
).filter(lambda text: text.strip() not in NO_VALUE)


@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=5))
@example([("\f", "\f", "\f")])
@settings(deadline=None, max_examples=60)
def test_csv_keeps_texts(rows):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    # A row of white space alone is none, so one that has words comes last.
    writer.writerows([("rev1", "rev2", "summary"), *rows, ("a", "b", "c")])
    items = read_bytes(buffer.getvalue().encode(), format="csv")
    assert [
        (*(review.text for review in item.reviews), item.summaries[0].text) for item in items
    ] == [*(row for row in rows if "".join(row).strip()), ("a", "b", "c")]


def outcome_of(read):
    """What reading gives, or the refusal; either is whole, and there is one of them."""
    try:
        found, refusal = read(), ""
    except InputError as error:
        found, refusal = [], str(error)
    assert bool(found) != bool(refusal)
    assert is_one_line(refusal)
    return found, refusal


def is_one_line(text):
    text.encode()
    return "\n" not in text


def check_item(item, path):
    """A record names its place, and a product survives being written and read again."""
    assert item.source.startswith(str(path))
    if isinstance(item, BadRecord):
        assert item.error.startswith(str(path))
        assert is_one_line(item.error)
        return
    assert isinstance(item, Product)
    assert item.id
    assert item.reviews
    assert item.summaries
    assert len({summary.system for summary in item.summaries}) == len(item.summaries)
    record = json.loads(json.dumps(item.to_json(), ensure_ascii=False).encode())
    assert parse_record(record, source=item.source) == [item]


FRAGMENTS = st.sampled_from(
    [
        b'{"id": "x", "reviews": ["a"], "summary": "b"}',
        b'{"model_output": {"a": 1}, "revs": {}}',
        b"id,review,summary\n",
        b"id\trev1\tsumm1\n",
        b"cat\tprod_id\trev1\tsumm1\n",
        b"x,y,z\n",
        b'"reviews":',
        b'"summaries":',
        *(b"{ } [ ] , : null 1e999 NaN \\ud800 \xff \x00 \xef\xbb\xbf \x1f\x8b".split(b" ")),
        *(b'"', b"\n", b"\r\n", b"\t", b" "),
    ]
)
GZIP_MAGIC = b"\x1f\x8b"
JUNK = st.binary(max_size=60) | st.lists(FRAGMENTS, max_size=12).map(b"".join)


@given(
    JUNK.filter(lambda data: data and not data.startswith(GZIP_MAGIC)),
    st.sampled_from([form for form in FORMATS if form != "authors"]),
)
@settings(max_examples=300)
def test_any_bytes_give_records_or_one_clear_error(data, form):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "input")
        path.write_bytes(data)
        items, refusal = outcome_of(lambda: list(read_products(path, format=form)))
        assert not refusal or refusal.startswith(str(path))
        for item in items:
            check_item(item, path)
        path.write_bytes(gzip.compress(data))
        if foreign(data[:8]) is not None:
            return  # refused at once; inside an archive the reader of its text finds the fault
        packed, packed_refusal = outcome_of(lambda: list(read_products(path, format=form)))
        assert (packed, bool(packed_refusal)) == (items, bool(refusal))


@given(JUNK, JUNK)
@example(b"{", b'{"id": "", "reviews": [""]}')
@settings(max_examples=100)
@pytest.mark.filterwarnings("ignore:.* has no summary in:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:.* have no summary in:RuntimeWarning")
def test_any_bytes_as_side_files(data, other):
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "first"), Path(folder, "second")
        first.write_bytes(data)
        second.write_bytes(other)
        joined, refusal = outcome_of(lambda: list(read_authors(first, reviews=second)))
        assert not refusal or refusal.startswith((str(first), str(second)))
        for item in joined:
            if isinstance(item, Product):
                assert [summary.system for summary in item.summaries] == ["first"]
            check_item(item, folder)
        names, refusal = outcome_of(lambda: list(read_product_names(first).items()))
        assert not refusal or refusal.startswith(str(first))
        assert all(name == name.strip() != "" for _, name in names)
        reviews, refusal = outcome_of(lambda: read_reviews(first))
        assert not refusal or refusal.startswith(str(first))
        for review in reviews:
            review.text.encode()


@pytest.mark.parametrize("blank", [b"\n \n", b"\x1c", "\u00a0\n\u2003".encode()])
def test_white_space_alone_is_refused_whatever_its_kind(blank, tmp_path):
    path = tmp_path / "blank"
    path.write_bytes(blank)
    for read in (read_product_names, read_reviews):
        with pytest.raises(InputError, match="holds only white space"):
            read(path)


@pytest.mark.parametrize("packages", [{"torch", "numpy", "numba", "scipy", "click", "rich"}])
def test_importing_the_readers_is_cheap(packages):
    code = "import sys, prevalence.readers; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert packages.isdisjoint(done.stdout.split())


def test_public_names():
    assert readers.__all__ == sorted(readers.__all__)
    assert all(hasattr(readers, name) for name in readers.__all__)
    assert FORMATS[0] == "auto"
