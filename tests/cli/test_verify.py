"""`prevalence verify`: rows that come out again, and rows that do not."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from prevalence.cli.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]

INPUT = "examples/summaries.jsonl"
LEXICAL = ("--model", "rouge1-precision", "--threshold", "0.5")


@pytest.fixture
def rows(run: Run, tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "examples").symlink_to(repository / "examples")
    monkeypatch.chdir(tmp_path)
    words = ("--full-matrix", "--trivial-template", "script", "--splitter", "lines")
    made = run("score", INPUT, *LEXICAL, *words, "-q", "--output", "scores.jsonl")
    assert made.exit_code == 0, made.stderr
    return tmp_path / "scores.jsonl"


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, changed: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in changed), encoding="utf-8")


def test_rows_come_out_again_with_the_settings_of_their_signature(run: Run, rows: Path) -> None:
    for line in re.findall(r"^  prevalence (.*)$", str(verify.epilog), re.MULTILINE):
        found = run(*shlex.split(line))
        assert (found.exit_code, found.stdout) == (0, ""), found.output
    assert "10 rows scored again, 0 differ" in found.stderr
    every = run("verify", rows, INPUT, "--sample", "1000")
    assert f"{len(read(rows))} rows scored again, 0 differ" in every.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row | {"prevalence": row["prevalence"] + 0.01}, "prevalence is"),
        (lambda row: row | {"sentences": row["sentences"][:-1]}, "n_sentences is 0, and now 1"),
        (
            lambda row: row | {"sentences": [row["sentences"][0] | {"support": 9}]},
            "sentences[0].support is 9, and now",
        ),
        (
            lambda row: row | {"sentences": [row["sentences"][0] | {
                "entailment": [p + 1e-4 for p in row["sentences"][0]["entailment"]]}]},
            "sentences[0].entailment[0] is",
        ),
    ],
)  # fmt: skip
def test_any_difference_is_named_and_fails(run: Run, rows: Path, change, said: str) -> None:
    held = read(rows)
    place = next(n for n, row in enumerate(held) if len(row["sentences"]) == 1)
    write(rows, [change(row) if n == place else row for n, row in enumerate(held)])
    found = run("verify", rows, INPUT, "--sample", "1000")
    assert found.exit_code == 1
    assert said in found.stdout
    assert found.stdout.count("\n") == 1
    assert "1 differ" in found.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"input_digest": "0" * 16}, "its reviews, name or summary have changed in the input"),
        ({"system": "nobody"}, "is not in the input"),
    ],
)
def test_rows_of_other_input_are_counted_apart(run: Run, rows: Path, change, said: str) -> None:
    held = read(rows)
    lost = held[1] | {"prevalence": None, "sentences": [], "error": "in.jsonl:2: is broken"}
    write(rows, [held[0] | change, lost, *held[2:4]])
    found = run("verify", rows, INPUT)
    assert found.exit_code == 1
    assert found.stdout.endswith(f": {said}\n")
    assert found.stderr == (
        "2 rows scored again, 0 differ; the input of 1 row has changed; 1 row without a score was "
        "skipped\n"
    )


def test_another_model_is_refused_before_anything_is_said(run: Run, rows: Path) -> None:
    found = run("verify", rows, INPUT, "--model", "rouge2-precision")
    assert (found.exit_code, found.stdout) == (2, "")
    assert "made with consistency:rouge1-precision, and this is consistency:rouge2-" in found.stderr
    found = run("verify", rows, INPUT, "--model", "embedded")
    assert "made with consistency:rouge1-precision, and this is nli:embedded@" in found.stderr


def test_mistakes_are_one_line(run: Run, rows: Path) -> None:
    held = read(rows)
    signature = held[0]["signature"].replace("consistency:rouge1-precision", "nli:mine@12")
    write(rows, [held[0] | {"signature": signature}])
    for words, said in (
        ((rows, INPUT), "made with mine: give it with --model"),
        ((rows, INPUT, "--threshold", "0.5"), "No such option '--threshold'"),
        ((rows, INPUT, "--trivial-template", "I own {name}."), "were scored with script"),
        (("-", "-"), "standard input (-) can be read once"),
        ((INPUT, INPUT), "summaries.jsonl:1: not a scored summary"),
        ((rows, "none.jsonl", "--model", "rouge1-precision"), "no such file"),
    ):
        found = run("verify", *words)
        assert (found.exit_code, found.stderr.count("\n")) == (2, 1), found.output
        assert said in found.stderr


def test_the_sample_is_seeded_and_the_input_untouched(run: Run, rows: Path) -> None:
    held = [row for row in read(rows) if row["prevalence"] is not None]
    write(rows, [row | {"prevalence": row["prevalence"] + 0.5} for row in held])
    before = rows.read_bytes()
    # All rows differ, so what is said shows which ones were drawn.
    said = [run("verify", rows, INPUT, "--sample", 3, "--seed", s).stdout for s in (*range(4), 0)]
    assert said[0] == said[-1]
    assert len(set(said)) > 1
    assert rows.read_bytes() == before


def test_rows_of_a_reviews_file_come_out_again(run: Run, tmp_path: Path) -> None:
    reviews = tmp_path / "reviews.jsonl"
    reviews.write_text(json.dumps({"id": "p1", "name": "boot", "reviews": ["warm boots"]}) + "\n")
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text("Warm boots.\n")
    second.write_text("They leak.\n")
    output = tmp_path / "scores.jsonl"
    made = run("score", first, second, "--reviews", reviews, *LEXICAL, "-q", "--output", output)
    assert made.exit_code == 0, made.stderr
    found = run("verify", output, first, second, "--reviews", reviews)
    assert (found.exit_code, found.stdout) == (0, ""), found.output
    assert "2 rows scored again, 0 differ" in found.stderr
