"""The quality benchmark on a handful of pairs, its figures derived by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks import quality

if TYPE_CHECKING:
    from pathlib import Path


def test_robustness_figures_by_hand() -> None:
    entailment = np.array([0.9, 0.3, 0.6, 0.1, 0.2])
    contradiction = np.array([0.0, 0.1, 0.3, 0.8, 0.1])
    truth = np.array(["entailment", "entailment", "neutral", "contradiction", "contradiction"])
    part = quality.part_figures(entailment, contradiction, truth, 0.5)
    assert part == {
        "pairs": 5,
        "accuracy": pytest.approx(3 / 5),
        "recall": pytest.approx(1 / 2),
        "specificity": pytest.approx(2 / 3),
        "auc": pytest.approx(5 / 6),  # of six couples only (.3, .6) is in the wrong order
        "contradiction_recall": pytest.approx(1 / 2),  # the other one is neutral at most
        "contradiction_false": 0.0,
    }


def test_the_command_writes_every_row(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out" / "quality.json"
    monkeypatch.setattr("sys.argv", ["quality", "--model", str(model), "--output", str(output)])
    quality.main()
    result = json.loads(output.read_text(encoding="utf-8"))
    assert result["threshold"] == 0.5
    robustness = {(row["relation"], row["phenomenon"]): row for row in result["robustness"]}
    per_relation = [n["pairs"] for (r, p), n in robustness.items() if p == "all" and r != "all"]
    assert robustness["all", "all"]["pairs"] == sum(per_relation) > 300
    assert "Robustness set" in capsys.readouterr().out
