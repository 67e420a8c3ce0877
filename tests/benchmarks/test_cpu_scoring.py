"""The speed benchmark on tiny models: its two sides agree, and it would notice if they did not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks import cpu_scoring
from benchmarks.common import ROOT
from benchmarks.naive_scoring import NaiveScoring
from prevalence.models.checkpoint import load_checkpoint
from prevalence.scorers.registry import open_scorer
from prevalence.scoring.engine import Engine

if TYPE_CHECKING:
    from pathlib import Path

    from prevalence.records import Product

EXAMPLE = ROOT / "examples" / "summaries.jsonl"


@pytest.fixture
def given(model: Path) -> cpu_scoring.Setup:
    """One product with two short summaries and three reviews."""
    setup = cpu_scoring.setup(str(model), EXAMPLE, 1)
    product: Product = setup.products[0]
    small = replace(product, reviews=product.reviews[:3], summaries=product.summaries[:2])
    return replace(setup, products=[small])


def test_both_sides_agree_on_every_architecture(
    given: cpu_scoring.Setup,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cpu_scoring, "in_software", lambda *_: False)
    row = cpu_scoring.measure(given, repeats=2)
    assert (row["products"], row["summaries"], row["repeats"]) == (1, 2, 2)
    # Two summaries of five sentences: 5 statements, 10 earlier sentences, 15 review pairs each.
    assert row["pairs"] == 2 * (5 + 10 + 15)
    assert row["computed"] + row["avoided_by_waves"] + row["avoided_by_deduplication"] == 60
    assert row["cache_hits"] == row["computed"]
    assert row["largest_difference"] < 1e-5
    assert row["precisions"]["float32"]["changed_decisions"] == 0
    assert row["precisions"]["bfloat16 rechecked"]["changed_decisions"] == 0
    assert 0 < row["precisions"]["bfloat16 rechecked"]["rechecked"] <= 1
    for form in ("bfloat16", "int8"):
        rounded = row["precisions"][form]
        assert 0 <= rounded["changed_decisions"] <= 1
        assert 1e-5 < rounded["largest_difference"] < 1
    cpu_scoring.show({**cpu_scoring.environment(), **row})
    printed = capsys.readouterr().out
    assert "same decisions on all pairs" in printed
    assert "bfloat16" in printed


def test_precisions_that_take_too_long_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_scoring, "in_software", lambda *_: True)
    assert cpu_scoring.forms() == ["float32", "int8"]


def test_a_file_that_is_not_there_is_not_replaced_by_another(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"mine\.jsonl is not here"):
        cpu_scoring.setup("embedded", tmp_path / "mine.jsonl", None)


def test_the_largest_difference_is_that_of_all_runs(
    given: cpu_scoring.Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = iter([1e-7, 9e-6, 2e-6, 3e-7])  # padded batches, two runs, and the cached one
    monkeypatch.setattr(cpu_scoring, "largest_difference", lambda *_: next(found))
    monkeypatch.setattr(cpu_scoring, "FORMS", ())
    assert cpu_scoring.measure(given, repeats=2)["largest_difference"] == 9e-6


def test_a_difference_is_noticed(given: cpu_scoring.Setup) -> None:
    answers = NaiveScoring(load_checkpoint(given.model)).run(given.products)
    engine = Engine(open_scorer(given.model, device="cpu"))
    rows = cpu_scoring.run_engine(given, engine).rows
    assert cpu_scoring.largest_difference(rows, answers, engine.threshold) < 1e-5
    wrong = replace(answers[0], trivial=1 - np.round(answers[0].trivial))
    with pytest.raises(SystemExit, match="the two sides differ"):
        cpu_scoring.largest_difference(rows, [wrong, *answers[1:]], engine.threshold)


@pytest.mark.parametrize("batch", [2, 7, 64])
def test_padded_batches_give_the_answers_of_one_pair_a_call(
    batch: int, given: cpu_scoring.Setup
) -> None:
    checkpoint = load_checkpoint(given.model)
    alone, padded = NaiveScoring(checkpoint), NaiveScoring(checkpoint, batch)
    for one, other in zip(alone.run(given.products), padded.run(given.products), strict=True):
        np.testing.assert_allclose(one.trivial, other.trivial, rtol=0, atol=1e-5)
        np.testing.assert_allclose(one.earlier, other.earlier, rtol=0, atol=1e-5)
        np.testing.assert_allclose(one.reviews, other.reviews, rtol=0, atol=1e-5)
    assert alone.pairs == padded.pairs
    assert alone.answers.std() > 0.01
