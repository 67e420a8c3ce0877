"""Real texts for parity tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def summary_pairs(shared_data: Path) -> list[tuple[str, str]]:
    """100 pairs of summary and reference; every thirteenth of 14 systems, so that all occur."""
    path = shared_data / "opinsummeval.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    every = [
        (summary["text"], row["reference"]) for row in rows for summary in row["summaries"].values()
    ]
    return every[::13][:100]
