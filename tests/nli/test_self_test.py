"""Golden pairs beside weights: what they notice, what they let pass, and when they ask."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from prevalence.errors import ModelError
from prevalence.models.registry import REGISTRY
from prevalence.nli.pairs import TextTable
from prevalence.nli.scorer import NLIScorer
from prevalence.nli.self_test import GOLDEN_FILE, forget_tests, self_test, write_golden
from prevalence.scorers.registry import open_scorer

if TYPE_CHECKING:
    from collections.abc import Callable

TINY = Path(__file__).resolve().parents[1] / "golden" / "inputs" / "tiny-nli"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A small untrained checkpoint with golden pairs beside its weights."""
    folder = tmp_path / "tiny-nli"
    shutil.copytree(TINY, folder)
    assert write_golden(folder) > 0
    return folder


def change(folder: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    file = folder / GOLDEN_FILE
    record = json.loads(file.read_text("utf-8"))
    edit(record)
    file.write_text(json.dumps(record), "utf-8")


def opened(folder: Path, **options: Any) -> NLIScorer:
    return NLIScorer(str(folder), device="cpu", **options)


def test_the_stored_probabilities_are_the_models_own(model: Path) -> None:
    scorer = opened(model)
    record = json.loads((model / GOLDEN_FILE).read_text("utf-8"))
    assert record["digest"] == scorer.checkpoint.digest.hex()
    for pair in record["pairs"]:
        texts = TextTable()
        asked = np.array([[texts.add(pair["premise"]), texts.add(pair["hypothesis"])]])
        alone = scorer.score(texts, asked)
        assert pair["entailment"] == pytest.approx(float(alone.entailment[0]), abs=2e-6)
        assert pair["contradiction"] == pytest.approx(float(alone.contradiction[0]), abs=2e-6)


def test_a_test_is_passed_once_for_the_same_weights_settings_and_file(
    model: Path, tmp_path: Path
) -> None:
    marks, scorer = tmp_path / "cache", opened(model)
    assert [self_test(scorer, marks=marks) for _ in range(3)] == [True, False, False]
    assert self_test(opened(model, dtype="bfloat16"), marks=marks)
    change(model, lambda record: record["pairs"].pop())
    assert self_test(scorer, marks=marks)
    assert forget_tests(marks) == 3
    assert self_test(scorer, marks=marks)


def test_without_a_place_to_remember_it_is_asked_each_time(model: Path, tmp_path: Path) -> None:
    scorer = opened(model)
    assert [self_test(scorer) for _ in range(2)] == [True, True]
    occupied = tmp_path / "a-file"
    occupied.write_text("")
    assert [self_test(scorer, marks=occupied) for _ in range(2)] == [True, True]
    assert occupied.read_text() == ""


def test_a_folder_that_cannot_be_searched_is_no_place(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer, usual = opened(model), os.stat
    closed = tmp_path / "closed"

    def stat(path: Any, *more: Any, **options: Any) -> os.stat_result:
        if str(path).startswith(str(closed)):
            raise PermissionError(13, "Permission denied")
        return usual(path, *more, **options)

    monkeypatch.setattr(os, "stat", stat)
    assert self_test(scorer, marks=closed)


def test_a_test_passed_with_one_packing_says_nothing_of_the_other(
    model: Path, tmp_path: Path
) -> None:
    packed, padded = (opened(model, packing=packing) for packing in ("packed", "padded"))
    assert packed.traits.digest == padded.traits.digest
    assert [self_test(scorer, marks=tmp_path) for scorer in (packed, padded)] == [True, True]


def test_damaged_weights_are_told_and_not_remembered_as_good(model: Path, tmp_path: Path) -> None:
    weights = load_file(model / "model.safetensors")
    [head] = [name for name in weights if name.endswith("classifier.weight")]
    save_file(weights | {head: -weights[head]}, model / "model.safetensors", {"format": "pt"})
    for _ in range(2):
        with pytest.raises(ModelError, match=r"tiny-nli: self-test failed.*were changed"):
            self_test(opened(model), marks=tmp_path / "cache")


def test_right_files_and_wrong_answers_are_the_libraries_fault(model: Path) -> None:
    change(model, lambda record: record["pairs"][1].update(entailment=0.5))
    was = float(opened_answer(model, 1))
    assert abs(was - 0.5) > 0.001
    with pytest.raises(ModelError, match=r"golden pair 2 is .* should be 0\.5000; the files are r"):
        self_test(opened(model))


def opened_answer(folder: Path, row: int) -> float:
    pair = json.loads((folder / GOLDEN_FILE).read_text("utf-8"))["pairs"][row]
    texts = TextTable()
    asked = np.array([[texts.add(pair["premise"]), texts.add(pair["hypothesis"])]])
    return float(opened(folder).score(texts, asked).entailment[0])


@pytest.mark.parametrize(
    ("shift", "dtype", "passes"),
    [(0.0005, "float32", True), (0.002, "float32", False), (0.01, "bfloat16", True)],
)
def test_the_tolerance_is_that_of_the_precision(
    model: Path, shift: float, dtype: str, passes: bool
) -> None:
    def move(record: dict[str, Any]) -> None:
        record["pairs"][0]["entailment"] += shift

    change(model, move)
    if passes:
        assert self_test(opened(model, dtype=dtype))
    else:
        with pytest.raises(ModelError, match="self-test failed"):
            self_test(opened(model, dtype=dtype))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"digest": "a", "pairs": [3]}', "[" * 100_000, '{"pairs": null}']
)
def test_a_file_that_holds_none_is_one_line(model: Path, text: str) -> None:
    (model / GOLDEN_FILE).write_text(text)
    with pytest.raises(ModelError, match=r"golden\.json: holds no golden pairs") as caught:
        self_test(opened(model))
    assert "\n" not in str(caught.value)


def test_nothing_is_asked_where_the_file_says_nothing(model: Path) -> None:
    named = ("entailment", "neutral", "contradiction")
    assert not self_test(opened(model, labels=named))
    assert not self_test(opened(model, windows=8, max_length=32))
    (model / GOLDEN_FILE).unlink()
    assert not self_test(opened(model))


def test_pairs_that_a_limit_cuts_are_not_compared(model: Path) -> None:
    assert self_test(opened(model, max_length=16))


def test_every_way_to_open_a_scorer_asks(model: Path) -> None:
    change(model, lambda record: record["pairs"][0].update(entailment=2.0))
    for name in (str(model), f"summac-zs:model={model}"):
        with pytest.raises(ModelError, match="self-test failed"):
            open_scorer(name, device="cpu")


@pytest.mark.parametrize(
    "folder", [entry.location for entry in REGISTRY.values() if Path(entry.location).is_absolute()]
)
def test_every_model_that_ships_has_golden_pairs_of_its_own_files(folder: str) -> None:
    if not (Path(folder) / "config.json").is_file():
        pytest.skip("this checkout has no embedded model")
    assert (Path(folder) / GOLDEN_FILE).is_file(), f"python -m prevalence.nli.self_test {folder}"
    scorer = opened(Path(folder))
    record = json.loads((Path(folder) / GOLDEN_FILE).read_text("utf-8"))
    assert record["digest"] == scorer.checkpoint.digest.hex()
    assert self_test(scorer)
