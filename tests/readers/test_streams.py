"""Opening, unpacking and counting, seen through the public readers."""

from __future__ import annotations

import gzip
import io
import json
import sys
from types import SimpleNamespace

import pytest

from prevalence.errors import InputError
from prevalence.readers import read_products, read_reviews, streams
from prevalence.records import BadRecord, Product

RECORD = {"id": "p1", "reviews": ["Good."], "summary": "Fine."}
LINE = json.dumps(RECORD)


def ids(path, **options):
    return [item.id for item in read_products(path, **options)]


def lines_of(count):
    records = ({"id": f"p{i}", "reviews": ["Good."], "summary": "Fine."} for i in range(count))
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def test_gzip_is_recognised_by_content_whatever_the_name(tmp_path):
    path = tmp_path / "plain.jsonl"
    path.write_bytes(gzip.compress(lines_of(3)))
    assert ids(path) == ["p0", "p1", "p2"]


def test_several_gzip_members_are_one_stream(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(lines_of(2)) + gzip.compress(lines_of(1)))
    assert ids(path) == ["p0", "p1", "p0"]


def test_a_plain_file_named_gz_is_read_as_it_is(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(lines_of(1))
    assert ids(path) == ["p0"]


def test_a_cut_gzip_stream_gives_what_was_whole_and_one_bad_record(tmp_path):
    path = tmp_path / "cut.jsonl.gz"
    packed = gzip.compress(lines_of(20_000))
    path.write_bytes(packed[: len(packed) // 2])
    items = list(read_products(path))
    assert all(isinstance(item, Product) for item in items[:-1])
    assert len(items) > 1
    assert isinstance(items[-1], BadRecord)
    assert f"cut.jsonl.gz:{len(items)}: the stream is damaged" in items[-1].error


def test_a_gzip_stream_that_is_damaged_from_the_start_is_an_error(tmp_path):
    path = tmp_path / "bad.gz"
    path.write_bytes(b"\x1f\x8b not gzip at all")
    with pytest.raises(InputError, match=r"bad\.gz: the stream is damaged"):
        list(read_products(path))


def test_stdin(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines_of(2))))
    items = list(read_products("-"))
    assert [(item.id, item.source) for item in items] == [("p0", "<stdin>:1"), ("p1", "<stdin>:2")]


def test_gzip_on_stdin(monkeypatch):
    packed = io.BytesIO(gzip.compress(lines_of(2)))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=packed))
    assert ids("-") == ["p0", "p1"]
    assert not packed.closed


def test_closed_stdin(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="closed"):
        list(read_products("-"))


@pytest.mark.parametrize("form", ["auto", "jsonl"])
def test_bom_and_crlf(tmp_path, form):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + lines_of(2).replace(b"\n", b"\r\n"))
    assert ids(path, format=form) == ["p0", "p1"]


def test_blank_lines_are_skipped_but_counted(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(f"\n  \n{LINE}\n\r\n{LINE}")
    assert [item.source for item in read_products(path)] == [f"{path}:3", f"{path}:5"]


def test_progress_counts_compressed_bytes_and_ends_at_the_size(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(lines_of(50_000), compresslevel=1))
    seen = []
    count = sum(1 for _ in read_products(path, progress=seen.append))
    assert count == 50_000
    assert seen == sorted(seen)
    assert len(seen) > 1
    assert seen[-1] == path.stat().st_size


def test_reading_is_lazy(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines_of(100_000))
    seen = []
    items = read_products(path, progress=seen.append)
    next(items)
    items.close()
    assert seen[-1] < path.stat().st_size // 10


def test_ten_megabytes_in_one_review(tmp_path):
    path = tmp_path / "a.jsonl"
    text = "very good " * 1_000_000
    path.write_text(json.dumps(RECORD | {"reviews": [text]}) + "\n" + LINE)
    first, second = read_products(path)
    assert first.reviews[0].text == text
    assert second.id == "p1"


def test_a_line_beyond_the_limit_costs_only_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "MAX_LINE_BYTES", 100)
    path = tmp_path / "a.jsonl"
    path.write_text(LINE + "\n" + json.dumps(RECORD | {"name": "x" * 200_000}) + "\n" + LINE + "\n")
    first, bad, last = read_products(path)
    assert (first.id, last.id) == ("p1", "p1")
    assert bad.error == f"{path}:2: the line is longer than 100 bytes; repair the file"
    assert last.source == f"{path}:3"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "only white space"),
        (b"PK\x03\x04rest", "a zip archive or an Excel workbook; .*save the sheet as CSV"),
        (b"\xff\xfe{\x00}\x00", "UTF-16"),
        ('{"id": 1}'.encode("utf-16-le"), "is UTF-16 text; save it as UTF-8"),
        ("{}".encode("utf-16-be"), "is UTF-16 text; save it as UTF-8"),
        (b"\x89PNG\r\n\x1a\n", "is a PNG image; give a file of texts"),
        (b"%PDF-1.7 ", "is a PDF document; export its texts"),
        (b"BZh91AY&SY..", "bzip2"),
        (b"\x7fELF\x02\x01\x01\x00", "is not text"),
        (b"[]", "holds no record"),
    ],
)
def test_nothing_to_read(tmp_path, content, said):
    path = tmp_path / "input"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        list(read_products(path))
    assert str(path) in str(caught.value)


def test_missing_file_and_folder_are_refused_at_once(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_products(tmp_path / "absent.jsonl")
    with pytest.raises(InputError, match="is a folder"):
        read_products(tmp_path)
    with pytest.raises(InputError, match=r"cannot be read|no such file"):
        read_products("a\0b")


def test_unknown_format_lists_the_known_ones(tmp_path):
    with pytest.raises(InputError, match="'xml'; choose from: auto, jsonl, json, csv"):
        read_products(tmp_path, format="xml")


def test_the_authors_layout_needs_two_files(tmp_path):
    with pytest.raises(InputError, match="second file"):
        read_products(tmp_path, format="authors")


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("in.jsonl.gz", b"[[],[]]\n"),
        ("in.json.gz", b"[[],\n"),
        ("in.csv.gz", b'id,rev1,summary\n"'),
        ("in.txt.gz", b"a"),
    ],
)
def test_a_gzip_bomb_ends_before_it_goes_off(tmp_path, name, part):
    path = tmp_path / name
    path.write_bytes(gzip.compress(part + bytes(1 << 25), 1))
    with pytest.raises(InputError, match=f"{name}: unpacks to more than 100 times its size"):
        read_reviews(path) if "txt" in name else list(read_products(path))


def test_well_packed_text_is_read(tmp_path):
    path = tmp_path / "in.jsonl.gz"
    record = b'{"id": "x", "reviews": ["%s"], "summary": "s"}\n' % (b"good " * 2000)
    path.write_bytes(gzip.compress(record * 1000, 1))
    assert sum(1 for _ in read_products(path)) == 1000
