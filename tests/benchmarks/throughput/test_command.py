"""`python -m benchmarks.throughput` at its smallest."""

from __future__ import annotations

import csv
import json
import shlex
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from benchmarks.throughput.__main__ import bench
from prevalence.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ("--size", "tiny", "--repeats", 1, "--device", "cpu")
ROWS = ("--contenders", "padded batches,ours padded")


def run(*arguments: object) -> Result:
    """The command in this process."""
    return CliRunner().invoke(bench, [str(word) for word in arguments])


def test_a_table_and_files(tmp_path: Path) -> None:
    result = run(*SMALL, *ROWS, "--models", "roberta-base", "--output", tmp_path / "new")
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
def test_json_and_bad_names() -> None:
    lines = (bench.epilog or "").replace("\\\n", "").splitlines()
    (example,) = (line for line in lines if "--contenders" in line)
    result = run(*shlex.split(example)[3:], "--repeats", 1, "--device", "cpu", "--json")
    (model,) = json.loads(result.stdout)["models"]
    assert model["model"] == "embedded"
    assert 48 in {row["pairs"] for row in model["rows"]}
    wrong = run("--models", "gpt,embedded")
    assert wrong.exit_code == 2
    assert "--models: unknown gpt; choose from roberta-large," in wrong.stderr
    wrong = run("--device", "cpu", "--contenders", "ours")
    assert isinstance(wrong.exception, ConfigurationError)
    assert "unknown contender ours: choose from one pair a call" in str(wrong.exception)
