"""Streams that break half-way, whatever they hold."""

from __future__ import annotations

import gzip
import io
import json
import random
import sys
from pathlib import Path

import pytest

from prevalence.errors import InputError
from prevalence.readers import read_authors, read_product_names, read_products, read_reviews
from prevalence.records import BadRecord, Product


def cut(tmp_path, name, text):
    """A gzip file that lacks its second half; its text is random, so that much of it is packed."""
    path = tmp_path / name
    packed = gzip.compress(text.encode())
    path.write_bytes(packed[: len(packed) // 2])
    return path


@pytest.fixture
def words():
    source = random.Random(7)
    return [f"{source.getrandbits(200):x}" for _ in range(5000)]


@pytest.mark.parametrize(
    ("name", "header", "row"),
    [
        ("in.jsonl", "", '{{"id": "x", "reviews": ["{0}"], "summary": "s"}}'),
        ("in.csv", "id,rev1,summary\n", "x,{0},s"),
        ("gold", "cat\tprod_id\trev1\tsumm1\n", "c\tx\t{0}\ts"),
    ],
)
def test_records_before_the_damage_are_read(tmp_path, words, name, header, row):
    path = cut(tmp_path, name, header + "".join(row.format(word) + "\n" for word in words))
    *good, bad = read_products(path)
    assert 1000 < len(good) < 4000
    assert all(isinstance(item, Product) for item in good)
    assert isinstance(bad, BadRecord)
    assert bad.error.startswith(f"{path}:{len(good) + 1 + bool(header)}: the stream is damaged")


def test_row_by_row_reviews_before_the_damage(tmp_path, words):
    rows = "".join(f"p{index // 8},{word},s\n" for index, word in enumerate(words))
    *good, bad = read_products(cut(tmp_path, "in.csv", "id,review,summary\n" + rows))
    assert all(len(item.reviews) == 8 for item in good)
    assert bad.id == f"p{len(good)}"
    assert "the stream is damaged" in bad.error


def test_files_that_are_read_as_a_whole(tmp_path, words):
    with pytest.raises(InputError, match=r"in\.json:\d+: the stream is damaged"):
        list(read_products(cut(tmp_path, "in.json", json.dumps(words, indent=0))))
    lines = "".join(f"B{word} name\n" for word in words)
    with pytest.raises(InputError, match=r"names:\d+: the stream is damaged"):
        read_product_names(cut(tmp_path, "names", lines))
    with pytest.raises(InputError, match=r"reviews:\d+: the stream is damaged"):
        read_reviews(cut(tmp_path, "reviews", lines))


def test_summary_lines(tmp_path, words):
    reviews = tmp_path / "reviews.jsonl"
    reviews.write_text('{"id": "x", "reviews": ["a"]}\n' * len(words))
    items = list(read_authors(cut(tmp_path, "sys", "\n".join(words)), reviews=reviews))
    assert len(items) == len(words)
    kinds = [type(item) for item in items]
    assert kinds.index(BadRecord) > 1000
    assert "the stream is damaged" in items[kinds.index(BadRecord)].error
    assert f"and {len(words)} products" in items[-1].error


def test_summary_lines_on_stdin(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"fine\n")))
    reviews = tmp_path / "reviews.jsonl"
    reviews.write_text('{"id": "x", "reviews": ["a"]}\n')
    (item,) = read_authors("-", reviews=reviews)
    assert item.summaries[0].system == "stdin"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that refuses reads")
def test_a_file_that_opens_but_cannot_be_read():
    with pytest.raises(InputError, match="/proc/self/mem: cannot be read"):
        list(read_products("/proc/self/mem"))


def test_a_file_that_cannot_be_opened(tmp_path, monkeypatch):
    path = tmp_path / "in.jsonl"
    path.write_text("{}")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"in\.jsonl: cannot be opened \(Permission denied\)"):
        list(read_products(path))
