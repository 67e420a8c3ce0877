"""What the stages of a recipe read."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
import torch

from prevalence.training import state
from prevalence.training.loop import RunResult
from prevalence.training.recipe import read_recipe
from prevalence.training.stages import Workshop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prevalence.training.loop import RunPlan
    from prevalence.training.model import Classifier


def test_released_answers_are_a_source(recipe_file: Callable[..., Path], tmp_path: Path) -> None:
    header = ["cat", "prod_id", *(f"rev{n}" for n in range(1, 9)), "summ1", "summ2", "summ3"]
    product = ["home", "A1", *(f"review {n}." for n in range(8)), "It is red.", "It is.", "Red."]
    gold = tmp_path / "gold.csv"
    gold.write_text("\t".join(header) + "\n" + "\t".join(product) + "\n", encoding="utf-8")
    answers = tmp_path / "answers.jsonl"
    rows = [{"problem": f"A1:{n}:0", "worker": "majority", "answers": [n % 2]} for n in range(4)]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = recipe_file()
    source = (
        f"[[source]]\nname = 'released'\npath = {str(answers)!r}\nproducts = {str(gold)!r}\n"
        "licence = 'MIT'\n"
    )
    path.write_text(path.read_text(encoding="utf-8") + source, encoding="utf-8")

    def shop() -> Workshop:
        return Workshop(
            read_recipe(path),
            work=tmp_path / "work",
            data=None,
            device=torch.device("cpu"),
            progress=None,
        )

    first = shop()
    assert [d.premise for d in first.documents("released")] == [f"review {n}." for n in range(4)]
    judged = first.judged("released")
    assert judged.pairs[1] == ("review 1.", "It is red.")
    assert judged.labels.tolist() == [False, True, False, True]
    # Other texts make another source, so stages trained on it are not taken for these.
    gold.write_text(gold.read_text(encoding="utf-8").replace("review 1.", "other."))
    assert shop().digests["released"] != first.digests["released"]


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the runs that a workshop asked for; none of them trains."""
    runs: list[str] = []

    def train_run(classifier: Classifier, plan: RunPlan, *_: object, **__: object) -> RunResult:
        runs.append(plan.name)
        return RunResult(state.trainable_weights(classifier.model), 1, [0.0], [], 0.0)

    monkeypatch.setattr("prevalence.training.stages.train_run", train_run)
    return runs


def run_first_stage(path: Path, work: Path) -> None:
    """Run the recipe's first stage, or fetch it."""
    recipe = read_recipe(path)
    shop = Workshop(recipe, work=work, data=None, device=torch.device("cpu"), progress=None)
    shop.run_stage(recipe.stages[0], shop.start)


def test_other_validation_pairs_make_another_stage(
    recipe_file: Callable[..., Path], pairs_file: Path, tmp_path: Path, trained: list[str]
) -> None:
    held = tmp_path / "held.jsonl"
    held.write_bytes(pairs_file.read_bytes())
    path = recipe_file(validation="source = 'held'\n")
    source = f"[[source]]\nname = 'held'\npath = {str(held)!r}\nlicence = 'MIT'\n"
    path.write_text(path.read_text(encoding="utf-8") + source, encoding="utf-8")
    for _ in range(2):
        run_first_stage(path, tmp_path / "work")
    assert trained == ["only"]
    held.write_text(held.read_text(encoding="utf-8").replace("works", "runs"), encoding="utf-8")
    run_first_stage(path, tmp_path / "work")
    assert trained == ["only", "only"]


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_every_file_of_the_base_counts(
    recipe_file: Callable[..., Path], tiny_base: Path, tmp_path: Path, trained: list[str], name: str
) -> None:
    base = tmp_path / "base"
    shutil.copytree(tiny_base, base)
    path = recipe_file(model=f"base = {str(base)!r}\n")
    run_first_stage(path, tmp_path / "work")
    if name == "model.safetensors":
        # As a later shard: read beside the first one, which stays as it is.
        shutil.copy(base / name, base / "model-2.safetensors")
    else:
        (base / name).write_text((base / name).read_text(encoding="utf-8") + "\n", "utf-8")
    run_first_stage(path, tmp_path / "work")
    assert trained == ["only", "only"]
