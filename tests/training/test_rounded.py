"""Stages that compute with weights as they will be stored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file

from prevalence.errors import ConfigurationError
from prevalence.labelled import Target
from prevalence.nli.pairs import score_pairs
from prevalence.nli.scorer import NLIScorer
from prevalence.training import state
from prevalence.training.loop import RunPlan, train_run
from prevalence.training.mixture import TrainingPair
from prevalence.training.model import load_classifier
from prevalence.training.pipeline import train
from prevalence.training.recipe import read_recipe
from prevalence.training.sources import Sources
from prevalence.training.stages import Workshop, predict

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_rounded_stage_is_measured_and_stored_as_it_was_computed(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    """In 4 bits, the model that a run measures is the one that its folder holds."""
    stage = (
        "[[stage]]\nname = 'only'\nepochs = 2\nlearning_rate = 1e-3\nrounded = true\n"
        "mix = [{ source = 'pairs' }]\n"
    )
    recipe = read_recipe(recipe_file(stage, output="store = 'int4'\n"))
    folder = tmp_path / "folder"
    train(recipe, folder, device="cpu", work=tmp_path / "work")
    found = load_file(folder / "model.safetensors")
    assert found["bert.encoder.layer.0.intermediate.dense.weight"].dtype == torch.uint8
    assert "in 4 bits with a float16 scale for 16 weights" in (folder / "README.md").read_text()
    shop = Workshop(
        Sources(recipe, None), base=Path(recipe.model.base), work=tmp_path / "work",
        device=torch.device("cpu"), progress=None,
    )  # fmt: skip
    outcome = shop.run_stage(recipe.stages[0], shop.start)
    shop.load(outcome)
    before = state.trainable_weights(shop.classifier.model)
    pairs = [("it is red", "the mug is red"), ("i bought the pan", "it is blue")]
    measured = shop.entailment(pairs)
    for name, weight in state.trainable_weights(shop.classifier.model).items():
        assert torch.equal(weight, before[name])
    exact = predict(shop.classifier, pairs)[:, 0]
    answers = score_pairs(
        NLIScorer(str(folder), device="cpu"), *map(list, zip(*pairs, strict=True))
    )
    assert measured == pytest.approx(answers, abs=1e-6)
    assert abs(measured - exact).max() > 1e-5


def test_gradients_of_a_rounded_stage_change_the_exact_weights(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    """Rounding to what is there already changes nothing; rounding to 0 leaves only vectors."""
    recipe = read_recipe(recipe_file())

    def learnt(rounding: Callable[[torch.Tensor], torch.Tensor] | None) -> dict[str, torch.Tensor]:
        classifier = load_classifier(Path(recipe.model.base), recipe.model, seed=1)
        examples = [TrainingPair("it is red", "the mug is red", Target(1.0, 0.0, 0.0, False))] * 4
        plan = RunPlan(
            name="one", learning_rate=1e-3, batch_tokens=256, epochs=[examples] * 2, seed=1,
            checkpoint=tmp_path / "none", rounding=rounding,
        )  # fmt: skip
        return train_run(classifier, plan, recipe).weights

    plain, same = learnt(None), learnt(torch.clone)
    assert all(torch.equal(same[name], weight) for name, weight in plain.items())
    coarse = learnt(lambda weight: weight.round() if weight.ndim == 2 else weight)
    name = "bert.encoder.layer.1.output.dense.weight"
    assert not torch.equal(coarse[name], plain[name])
    assert not torch.equal(coarse[name], coarse[name].round())


def test_a_stage_is_rounded_only_to_what_has_scales(recipe_file: Callable[..., Path]) -> None:
    stage = (
        "[[stage]]\nname = 'only'\nlearning_rate = 1e-3\nrounded = true\n"
        "mix = [{ source = 'pairs' }]\n"
    )
    with pytest.raises(ConfigurationError, match=r"rounded only with output\.store int8 or int4"):
        read_recipe(recipe_file(stage, output="store = 'float16'\n"))
