"""Rows to files: line by line, CSV cells, and files that appear whole."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.files import atomic_file, is_stream
from prevalence.records import BadRecord, Product, Review, Summary
from prevalence.runs.earlier import finished_rows
from prevalence.scored import ScoredSentence, ScoredSummary
from prevalence.scoring.engine import Engine
from prevalence.writers import CsvWriter, JsonLinesWriter, JsonWriter, neutral_cell

ITEMS = [
    Product("p1", (Review("It fits."),), (Summary("a", "Bien 😀."), Summary("b", "x")), "boot"),
    BadRecord("in.jsonl:2: reviews: missing", "p2", None, "in.jsonl:2"),
    Product("p3", (Review("x"),), (Summary("a", ""),), extra={"ключ": "\u2028"}),
]


def test_no_output_yet_means_nothing_finished(tmp_path):
    assert list(finished_rows(tmp_path / "none.jsonl")) == []
    assert list(finished_rows(tmp_path)) == []


def test_each_line_is_on_disk_before_the_next(fake_scorer, tmp_path):
    path = tmp_path / "out.jsonl"
    with path.open("w", encoding="utf-8") as file:
        writer = JsonLinesWriter(file)
        for number, row in enumerate(Engine(fake_scorer()).run(ITEMS), start=1):
            writer.write(row)
            assert path.read_bytes().count(b"\n") == number


@pytest.mark.parametrize("items", [ITEMS, ITEMS[:1], []])
def test_the_json_array_holds_every_row(fake_scorer, items):
    file = io.StringIO()
    writer, rows = JsonWriter(file), list(Engine(fake_scorer()).run(items))
    for row in rows:
        writer.write(row)
    writer.close()
    assert json.loads(file.getvalue()) == [row.to_json() for row in rows]
    assert file.getvalue().endswith("]\n")


def table(rows):
    file = io.StringIO()
    writer = CsvWriter(file)
    for row in rows:
        writer.write(row)
    writer.close()
    return list(csv.DictReader(io.StringIO(file.getvalue())))


def test_the_csv_counts_masks_and_unsupported_sentences():
    sentences = (
        ScoredSentence("a", 0, 1, True, None),
        ScoredSentence("b", 1, 2, True, 0),
        ScoredSentence("c", 2, 3, False, 1),
        ScoredSentence("d", 3, 4, False, None, 0, ()),
        ScoredSentence("e", 4, 5, False, None, 2, (0, 1)),
        ScoredSentence("f", 5, 6, True, None, 0, ()),
    )
    rows = table(
        [
            ScoredSummary("p", "s", 0.25, 2, sentences, "sig", warning="w"),
            ScoredSummary("q", None, None, 0, (), "sig", error="e"),
        ]
    )
    assert rows[0] == {
        "id": "p", "system": "s", "prevalence": "0.25", "n_reviews": "2", "n_sentences": "6",
        "trivial": "3", "redundant": "2", "unsupported": "1", "error": "", "warning": "w",
        "signature": "sig", "ceiling": "", "ceiling_share": "", "contradictions": "",
        "self_contradictions": "", "soft_prevalence": "", "corrected": "",
    }  # fmt: skip
    assert (rows[1]["prevalence"], rows[1]["trivial"], rows[1]["unsupported"]) == ("", "", "")
    assert (rows[1]["id"], rows[1]["error"]) == ("q", "e")


def test_the_csv_has_the_figures_that_were_asked_for():
    scored = ScoredSummary("p", "s", 0.25, 2, (), "sig", soft_prevalence=0.5, corrected=0.125)
    (row,) = table([scored])
    assert (row["soft_prevalence"], row["corrected"]) == ("0.5", "0.125")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_formulas_are_neutralised(start):
    assert neutral_cell(start + "cmd|' /C calc'!A0") == "'" + start + "cmd|' /C calc'!A0"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
def test_csv_cells_hold_their_text_and_never_a_formula(text):
    (row,) = table([ScoredSummary(text, text, 0.5, 1, (), "sig")])
    assert row["id"] == row["system"] == neutral_cell(text)
    assert row["id"][:1] not in {"=", "+", "-", "@", "\t", "\r", "\n"}
    assert row["id"].removeprefix("'") in {text.replace("\0", "\ufffd"), text.removeprefix("'")}


@pytest.mark.parametrize("value", [None, 0, -1, -0.5, True])
def test_numbers_stay_numbers(value):
    assert neutral_cell(value) is value


def test_an_atomic_file_appears_whole(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    with atomic_file(path) as file:
        file.write("größe\r\n")
        assert path.read_text() == "old"
    assert path.read_bytes() == "größe\r\n".encode()
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failed_atomic_file_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "out.csv"
    path.write_text("old")

    def write_in_vain():
        with atomic_file(path) as file:
            file.write("new")
            raise error

    with pytest.raises(error):
        write_in_vain()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_the_error_of_a_full_disk_names_the_file():
    def write_in_vain():
        with atomic_file(Path("/dev/full")) as file:
            file.write("new")

    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_in_vain()


def test_an_atomic_file_has_ordinary_permissions(tmp_path):
    plain = tmp_path / "plain"
    plain.touch()
    with atomic_file(tmp_path / "out.csv"):
        pass
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (plain, tmp_path / "out.csv")]
    assert modes[0] == modes[1]


def test_an_atomic_file_follows_links_and_never_replaces_a_device(tmp_path):
    real, link, pipe = tmp_path / "real.csv", tmp_path / "link.csv", tmp_path / "pipe"
    real.touch()
    link.symlink_to(real)
    with atomic_file(link) as file:
        file.write("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with atomic_file(pipe) as file:
        file.write("piped")
    assert os.read(reader, 9) == b"piped"
    os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    ("path", "stream"),
    [("/dev/stdout", True), ("/dev/fd/1", True), ("/proc/self/fd/1", True),
     ("/dev/shm/rows.json", False), ("dev/stdout", False), ("/tmp/dev/stdout", False)],
)  # fmt: skip
def test_streams_are_known_by_their_names(path: str, stream: bool) -> None:
    assert is_stream(Path(path)) is stream


def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.touch(mode=0o600)
    with atomic_file(path) as file:
        file.write("[]")
    assert path.stat().st_mode & 0o777 == 0o600
