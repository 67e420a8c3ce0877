"""ASSET's layout: pairs in order, and what is wrong with a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prevalence.errors import InputError
from prevalence.simplify.asset import read_asset

if TYPE_CHECKING:
    from pathlib import Path


def test_every_source_meets_each_of_its_rewritings(corpus_file: Path):
    corpus = read_asset(corpus_file)
    assert (corpus.name, corpus.sources, corpus.rewritings) == ("tiny.valid", 4, 2)
    assert corpus.pairs[:3] == (
        ("It fits and it is warm.", "It fits. It is warm."),
        ("It fits and it is warm.", "It fits me. It is warm."),
        ("It leaks and it is cold.", "It leaks. It is cold."),
    )
    assert len(corpus.pairs) == 8


def test_a_byte_order_mark_is_no_part_of_a_sentence(corpus_file: Path):
    plain = read_asset(corpus_file)
    for file in corpus_file.parent.iterdir():
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert read_asset(corpus_file) == plain


def test_rewritings_are_taken_by_number(tmp_path: Path):
    (tmp_path / "a.orig").write_text("x\n")
    for number in (10, 2, 0):
        (tmp_path / f"a.simp.{number}").write_text(f"y{number}\n")
    (tmp_path / "a.simp.0.bak").write_text("z\n")
    assert [target for _, target in read_asset(tmp_path / "a.orig").pairs] == ["y0", "y2", "y10"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tiny.valid.simp.1", b"one\ntwo\n", "simp.1: has 2 lines and tiny.valid.orig 4; give one"),
        ("tiny.valid.simp.0", b"a\n\nb\nc\n", "simp.0:2: is empty"),
        ("tiny.valid.orig", b"a\xff\n", r"orig: is not UTF-8 \(byte 1\)"),
    ],
)
def test_faulty_files_are_named(corpus_file: Path, name: str, content: bytes, message: str):
    (corpus_file.parent / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_asset(corpus_file)


def test_missing_files_are_named(tmp_path: Path, corpus_file: Path):
    with pytest.raises(InputError, match=r"which ends in \.orig"):
        read_asset(corpus_file.parent)
    with pytest.raises(InputError, match="No such file"):
        read_asset(tmp_path / "none.orig")
    (tmp_path / "alone.orig").write_text("x\n")
    with pytest.raises(InputError, match=r"alone\.simp\.0 should be there"):
        read_asset(tmp_path / "alone.orig")
