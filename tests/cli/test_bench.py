"""`prevalence bench` at its smallest."""

from __future__ import annotations

import csv
import json
import shlex
from typing import TYPE_CHECKING

import pytest

from prevalence.cli.bench import _EPILOG

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]

SMALL = ("--size", "tiny", "--repeats", 1, "--device", "cpu")
ROWS = ("--contenders", "padded batches,ours padded")


def test_a_table_and_files(run: Run, tmp_path: Path) -> None:
    result = run("bench", *SMALL, *ROWS, "--models", "roberta-base", "--output", tmp_path / "new")
    assert result.exit_code == 0, result.output
    assert "roberta-base, size tiny; matrix products at" in result.stdout
    assert "batches of 64, unsorted" in result.stdout
    (stored,) = (tmp_path / "new").glob("throughput-*.json")
    whole = json.loads(stored.read_text(encoding="utf-8"))
    assert whole["schema"] == 1
    assert {"date", "commit", "device", "versions"} <= set(whole["environment"])
    assert whole["settings"]["dtype"] == "float32"
    with stored.with_suffix(".csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["contender"] for row in rows] == ["padded batches", "ours padded"]
    assert [row["changed"] for row in rows] == ["0", "0"]
    assert float(rows[0]["pairs_per_second"]) == whole["models"][0]["rows"][0]["pairs_per_second"]


@pytest.mark.slow
def test_json_and_bad_names(run: Run) -> None:
    (example,) = (line for line in _EPILOG.splitlines() if "--contenders" in line)
    result = run(*shlex.split(example)[1:], "--repeats", 1, "--device", "cpu", "--json")
    (model,) = json.loads(result.stdout)["models"]
    assert model["model"] == "embedded"
    assert 48 in {row["pairs"] for row in model["rows"]}
    wrong = run("bench", "--models", "gpt,embedded")
    assert wrong.exit_code == 2
    assert "--models: unknown gpt; choose from roberta-large," in wrong.stderr
    wrong = run("bench", "--device", "cpu", "--contenders", "ours")
    assert wrong.exit_code == 2
    assert "unknown contender ours: choose from one pair a call, padded batches" in wrong.stderr
