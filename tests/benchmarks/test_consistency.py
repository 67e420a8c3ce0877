"""The comparison of consistency scorers, on pairs made here."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from benchmarks import consistency
from prevalence.calibration import Resampling, Settings, grouped_folds

QUICK = Settings(folds=3, resampling=Resampling(20, 20))


@pytest.fixture
def data(tmp_path):
    """Three products of four pairs, which ROUGE-1 precision separates."""
    rows = [
        {
            "product_id": f"P{n}", "review": f"Warm boots number {n}. They never leak.",
            "sentences": ["Warm boots.", "Boots never leak.", "Cheap lamp.", "Bright lamp."],
            "labels": [1, 1, 0, 0],
        }
        for n in range(3)
    ]  # fmt: skip
    path = tmp_path / consistency.PAIRS
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path


def test_the_command_prints_and_keeps_a_row(data, monkeypatch, capsys):
    kept = {}
    monkeypatch.setattr(consistency, "append_row", lambda name, row: kept.update({name: row}))
    words = ["consistency", "--data", str(data), "--folds", "3"]
    words += ["--scorer", "rouge1-precision", "--scorer", "rouge2-f1"]
    monkeypatch.setattr(sys, "argv", words)
    consistency.main()
    first, second = kept["consistency"]["scorers"]
    assert [first["scorer"], second["scorer"]] == ["rouge1-precision", "rouge2-f1"]
    assert first["dev"]["cross_validation"]["pooled"]["balanced_accuracy"] == 1.0
    assert kept["consistency"]["pairs"] == 12
    assert "rouge1-precision" in capsys.readouterr().out


def test_stored_answers_count_only_for_their_own_pairs(data, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    path = data / consistency.PAIRS
    assert consistency.held_out(str(folder), path) is None
    answers = {"source_sha256": "other", "entailment": [0.5] * 12}
    (folder / "held_out.json").write_text(json.dumps(answers))
    assert consistency.held_out(str(folder), path) is None
    from prevalence.files import file_digest

    answers["source_sha256"] = file_digest(path)
    (folder / "held_out.json").write_text(json.dumps(answers))
    score = consistency.held_out(str(folder), path)
    assert score(consistency.setup(data)).tolist() == [0.5] * 12


def test_readings_count_only_for_their_own_pairs(data, tmp_path, monkeypatch):
    from prevalence.files import file_digest

    path = data / consistency.PAIRS
    readings = tmp_path / "readings.json"
    monkeypatch.setattr(consistency, "READINGS", readings)
    readings.write_text(json.dumps({"source_sha256": "other", "readers": [[50] * 12]}))
    assert consistency.readers(path) == []
    record = {"source_sha256": file_digest(path), "readers": [[50] * 12, [7] * 12]}
    readings.write_text(json.dumps(record))
    first, second = consistency.readers(path)
    assert first.title == "careful reader 1"
    assert second.score(consistency.setup(data)).tolist() == [0.07] * 12


def test_a_head_never_sees_the_fold_that_it_scores(data, monkeypatch, fake_scorer):
    pairs = consistency.setup(data)
    seen = []

    class Head:
        def probability(self, row):
            return float(row[0, 0])

    def fit(rows, labels, *, settings):
        seen.append([int(row[0, 0]) for row in rows])
        assert len(rows) == len(labels)
        return Head()

    monkeypatch.setattr(consistency, "open_unit_model", lambda *_: fake_scorer())
    numbered = [np.full((1, 1), float(n)) for n in range(len(pairs))]
    monkeypatch.setattr("prevalence.scorers.conv_training.read_histograms", lambda *_: numbered)
    monkeypatch.setattr("prevalence.scorers.conv_training.fit_head", fit)
    scores = consistency.cross_validated_conv("fake", QUICK)(pairs)
    assert scores.tolist() == list(range(12))
    folds = grouped_folds(pairs.groups, folds=3, seed=QUICK.resampling.seed)
    for held, rows in zip(folds, seen, strict=True):
        assert not held & set(pairs.groups[rows].tolist())
