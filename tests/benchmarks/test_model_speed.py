"""The comparison of models' speeds, with a tiny model in every architecture."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from benchmarks import common, model_speed
from benchmarks.common import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_models_take_turns_on_the_same_products(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    data = str(ROOT / "examples" / "summaries.jsonl")
    options = ["--models", f"{model},embedded", "--data", data, "--products", "1", "--repeats", "2"]
    monkeypatch.setattr(sys, "argv", ["model_speed", *options])
    model_speed.main()
    row = json.loads((tmp_path / "model_speed.jsonl").read_text(encoding="utf-8"))
    assert (row["products"], row["repeats"]) == (1, 2)
    first, second = row["models"][str(model)], row["models"]["embedded"]
    assert first["relative"] == 1
    assert second["relative"] > 0
    assert second["signature"].startswith("prev|nli:embedded@")
    assert first["pairs"] > 0
    for found in (first, second):
        assert 0 < found["seconds"]["p20"] <= found["seconds"]["p50"] <= found["seconds"]["p80"]
    assert "relative speed" in capsys.readouterr().out
