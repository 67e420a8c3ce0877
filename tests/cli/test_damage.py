"""Malformed input and hostile text through the command line."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]

GOOD = {"name": "lamp", "reviews": ["warm boots"], "summaries": {"s": "Warm boots."}}

BAD_LINES = [
    b"{broken",
    b"[1, 2]",
    b'"text"',
    b"42",
    b'{"id": "b"}',
    b'{"id": "b", "reviews": [], "summaries": {"s": "Warm."}}',
    b'{"id": "b", "reviews": "warm boots", "summaries": {"s": "Warm."}}',
    b'{"id": "b", "reviews": [3], "summaries": {"s": "Warm."}}',
    b'{"id": "b", "reviews": ["warm"], "summaries": 3}',
    b'{"id": "b", "reviews": ["warm"], "summaries": {"s": 7}}',
    b'{"id": "b", "reviews": ["warm"], "summary": "a", "summaries": {"s": "b"}}',
    b'{"id": "b", "reviews": ["warm"], "summaries": {}}',
    b'{"id": "b", "name": 5, "reviews": ["warm"], "summaries": {"s": "Warm."}}',
    b'{"id": "b", "reviews": ["warm"], "summaries": {"s": "Warm."}',
    b'\xff\xfe{"id": "b"}',
    b"\x00\x01\x02",
    b"{" * 5000,
]


def test_every_bad_line_is_a_row_that_names_file_and_line_and_good_ones_are_scored(
    score: Run, tmp_path: Path
) -> None:
    path = tmp_path / "mixed.jsonl"
    lines, bad_numbers = [], []
    for number, bad in enumerate(BAD_LINES):
        lines += [json.dumps({**GOOD, "id": f"good{number}"}).encode(), bad]
        bad_numbers.append(len(lines))
    path.write_bytes(b"\n".join(lines) + b"\n")
    result = score(path, "--output", tmp_path / "rows.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    scored = [row["id"] for row in rows if row["error"] is None]
    errors = [row["error"] for row in rows if row["error"] is not None]
    assert result.exit_code == 1
    assert scored == [f"good{number}" for number in range(len(BAD_LINES))]
    for number in bad_numbers:
        assert any(error.startswith(f"{path}:{number}:") for error in errors), number
    assert all(row["prevalence"] is None for row in rows if row["error"])
    unread = sum(row["system"] is None for row in rows)
    counts = f"{len(errors) - unread} failed, {unread} records could not be read"
    assert f"{len(scored)} summaries scored, {counts}" in result.stderr
    assert "Traceback" not in result.output


def test_a_flood_of_errors_is_cut_only_where_rows_hold_them(score: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps({**GOOD, "id": "g"}) + "\n" + "{broken\n" * 30)
    on_screen = score(path)
    in_rows = score(path, "-o", tmp_path / "rows.jsonl")
    assert on_screen.stderr.count("error: ") == 30
    assert in_rows.stderr.count("error: ") == 20
    assert '10 more errors are in the "error" fields' in in_rows.stderr
    assert (tmp_path / "rows.jsonl").read_text().count("broken") <= 31


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "table"])
def test_hostile_text_survives_every_format(score: Run, write: Write, form: str) -> None:
    nasty = "[bold]x[/bold] \x1b[2J\x9b31m \u202eevil\u2066 =cmd() \x00 \ud800 😀 [/]"
    path = write(
        json.dumps(
            {
                "id": f"=1+1 {nasty}",
                "name": nasty,
                "reviews": [f"{nasty} warm boots", "=HYPERLINK(1)"],
                "summaries": {f"@{nasty}": f"{nasty}. Warm boots."},
            }
        )
    )
    result = score(path, "--format", form, *(["--explain"] if form == "table" else []))
    assert result.exit_code == 0
    if form == "table":
        assert "[bold]x[/bold]" in result.stdout
        assert not set(result.stdout) & set("\x1b\x9b\u202e\u2066\x00")


def test_error_lines_are_inert(score: Run, write: Write) -> None:
    bad = {"id": "\x1b[31m", "reviews": ["warm"], "summaries": {"\x9b2J\u202e": 5}}
    for options in ([], ["--systems", "\x1b[1m\u202e\nforged line"]):
        result = score(write(bad), "--quiet", *options)
        assert result.exit_code == 2
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == len(result.stderr.splitlines()) == 1
        assert not set(result.stderr) & set("\x1b\x9b\u202e")


def test_csv_cells_are_no_formulas(score: Run, write: Write) -> None:
    starts = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]
    path = write(*({**GOOD, "id": s, "summaries": {s: "Warm boots."}} for s in starts))
    lines = list(csv.DictReader(io.StringIO(score(path, "--format", "csv").stdout, newline="")))
    assert len(lines) == len(starts)
    for line in lines:
        assert not line["id"].startswith(("=", "+", "-", "@", "\t", "\r"))
        assert not line["system"].startswith(("=", "+", "-", "@", "\t", "\r"))


def test_rows_on_a_terminal_cannot_drive_it(write: Write, tmp_path: Path, command: str) -> None:
    pty = pytest.importorskip("pty")
    import os

    path = write({**GOOD, "id": "C1 \x9b31m bidi \u202e", "summaries": {"esc \x1b[2J": "Warm."}})
    leader, follower = pty.openpty()
    subprocess.run(
        [command, "score", str(path), "--model", "rouge1-precision", "--no-cache", "--quiet",
         "--format", "csv"],
        stdout=follower, check=True, timeout=60,
    )  # fmt: skip
    os.close(follower)
    shown = os.read(leader, 1 << 16).decode()
    os.close(leader)
    assert "bidi" in shown
    assert not set(shown) & set("\x1b\x9b\u202e")


@pytest.mark.slow
def test_a_terminal_without_unicode_stops_nothing(write: Write, command: str) -> None:
    path = write({**GOOD, "id": "naïve – 😀"})
    for form in ("table", "jsonl"):
        done = subprocess.run(
            [command, "score", str(path), "--model", "rouge1-precision", "--no-cache",
             "--format", form],
            env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"},
            capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        if form == "jsonl":
            assert json.loads(done.stdout.decode("utf-8"))["id"] == "naïve – 😀"


def test_unexpected_errors_are_one_line_and_debug_shows_where(
    score: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("odd")

    monkeypatch.setattr("prevalence.scoring.engine.Engine.run", fail)
    path = write({**GOOD, "id": "g"})
    short, long = score(path), score(path, "--debug")
    assert (short.exit_code, long.exit_code) == (2, 2)
    assert short.stderr.startswith("error: unexpected ZeroDivisionError: odd")
    assert short.stderr.count("\n") == 1
    assert "Traceback" in long.stderr
    assert "Traceback" in score(path, "--debug", "--quiet").stderr


def test_debug_goes_before_or_after_the_command(run: Run) -> None:
    for words in (["--debug", "score", "gone"], ["score", "gone", "--debug"]):
        result = run(*words, "--model", "rouge1-precision")
        assert result.exit_code == 2
        assert "Traceback" in result.stderr
        assert result.stderr.rstrip().splitlines()[-1].startswith("error: gone: no such file")
    inside = run("meta", "means", "gone", "--debug")
    assert (inside.exit_code, "Traceback" in inside.stderr) == (2, True)
    assert run("cache", "info", "--debug").exit_code == 0


@pytest.mark.slow
def test_a_damaged_cache_is_reported_and_survived(
    write: Write, tmp_path: Path, command: str
) -> None:
    path = write({**GOOD, "id": "g"})
    words = [command, "score", str(path), "--model", "rouge1-precision", "--cache", str(tmp_path)]
    subprocess.run(words, check=True, capture_output=True, timeout=60)
    store = next(tmp_path.glob("*.sqlite"))
    for side in tmp_path.glob("*.sqlite-*"):
        side.unlink()
    store.write_bytes(b"not a database, but long enough to look like one" * 100)
    again = subprocess.run(words, check=False, capture_output=True, text=True, timeout=60)
    assert again.returncode == 0
    assert "warning: cache" in again.stderr
    assert "Traceback" not in again.stderr


def test_full_disk_is_one_line(write: Write, command: str) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("/dev/full is Linux's")
    path = write({**GOOD, "id": "g"})
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [command, "score", str(path), "--model", "rouge1-precision", "--no-cache",
             "--format", "jsonl"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 2
    assert "error: standard output: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_on_input_that_was_cut_short_goes_on_when_the_input_is_whole(
    score: Run, tmp_path: Path
) -> None:
    whole = "".join(json.dumps({**GOOD, "id": f"p{number}"}) + "\n" for number in range(3))
    path, output = tmp_path / "in.jsonl", tmp_path / "rows.jsonl"
    path.write_text(whole[:-20])
    assert score(path, "-o", output).exit_code == 1
    assert json.loads(output.read_text().splitlines()[-1])["error"]
    path.write_text(whole)
    again = score(path, "-o", output)
    assert "2 rows were in" in again.stderr
    assert again.exit_code == 0
    score(path, "-o", tmp_path / "anew.jsonl")
    assert output.read_text() == (tmp_path / "anew.jsonl").read_text()


def test_a_record_mended_further_up_is_told_and_the_rows_above_it_can_be_kept(
    score: Run, tmp_path: Path
) -> None:
    lines = [json.dumps({**GOOD, "id": f"p{number}"}) + "\n" for number in range(3)]
    path, output = tmp_path / "in.jsonl", tmp_path / "rows.jsonl"
    path.write_text("".join([lines[0], lines[1][:-20] + "\n", lines[2]]))
    score(path, "-o", output)
    before = output.read_text()
    path.write_text("".join(lines))
    refused = score(path, "-o", output)
    assert refused.exit_code == 2
    assert "where this input has 'p1' by 's' now (to keep the rows above it, delete its line" in (
        refused.stderr
    )
    assert output.read_text() == before
    output.write_text(before.splitlines(keepends=True)[0])
    assert score(path, "-o", output).exit_code == 0
    assert len(output.read_text().splitlines()) == 3
