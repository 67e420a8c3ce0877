"""Sentences in the dress of Markdown, asked about as they stand and cut."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks import common, markdown
from benchmarks.quality import Embedded

if TYPE_CHECKING:
    from pathlib import Path


def test_every_dress_comes_off_and_says_what_it_costs() -> None:
    pairs = [("They leak and fit.", "The boots leak."), ("They fit.", "The boots do leak.")]
    rows = markdown.measure(Embedded("embedded"), pairs, np.array([True, False]))
    assert [row["dress"] for row in rows] == list(markdown.DRESSES)
    assert {row["cut"] for row in rows} == {1.0}
    assert (rows[0]["dress"], rows[0]["decided_otherwise"]) == (markdown.PLAIN, 0)
    assert all(0 <= row[key] <= 1 for row in rows for key in ("supported", "auc"))


def test_a_name_is_in_the_sentence() -> None:
    dress = markdown.DRESSES["a name in bold before it"]
    assert dress("The battery lasts.") == "**Battery:** The battery lasts."
    assert dress("5/5!") == "**Overall:** 5/5!"


def test_without_the_released_data_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markdown, "DATA", tmp_path)
    with pytest.raises(SystemExit, match="PREVALENCE_DATA"):
        markdown.main([])


def test_rows_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_data: Path) -> None:
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    monkeypatch.setattr(markdown, "DATA", shared_data)
    markdown.main(["--pairs", "40", "--save"])
    row = json.loads((tmp_path / "markdown.jsonl").read_text(encoding="utf-8"))
    assert (row["model"], row["pairs"], len(row["rows"])) == ("embedded", 40, len(markdown.DRESSES))
