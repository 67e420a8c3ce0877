"""Write a trained classifier: safetensors, tokenizer, config with threshold, model card."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prevalence.nli.checkpoint import FIRST, PREMISE_FIRST, quiet_transformers
from prevalence.training.card import model_card
from prevalence.training.recipe import Recipe
from prevalence.training.stages import Workshop, file_digest

if TYPE_CHECKING:
    from prevalence.training.pipeline import Selection

__all__ = ["HELD_OUT", "write_checkpoint"]

HELD_OUT = "held_out.json"
"""Out-of-fold predictions beside the weights: numbers only, in the order of the source's pairs."""


def write_checkpoint(
    shop: Workshop,
    folder: Path,
    *,
    threshold: float,
    selection: "Selection | None",
    seconds: Mapping[str, float],
) -> str:
    """Write the present weights as a checkpoint folder.

    Args:
        shop: Holds model, tokenizer and recipe.
        folder: Target folder.
        threshold: Decision threshold on P(entailment), stored in the config.
        selection: Held-out figures for the card.
        seconds: Wall time by stage, for the card.

    Returns:
        SHA-256 of the weights file.
    """
    recipe = shop.recipe
    folder.mkdir(parents=True, exist_ok=True)
    model = copy.deepcopy(shop.classifier.model).cpu().eval()
    if recipe.output.half:
        model.half()
    with quiet_transformers():
        model.save_pretrained(folder)  # type: ignore[operator]
    _save_tokenizer(shop.classifier.tokenizer, folder)
    _add_settings(folder / "config.json", _settings(recipe, threshold))
    (folder / "model.safetensors").chmod(0o644)
    digest = file_digest(folder / "model.safetensors")
    if selection is not None and selection.folds:
        _write_held_out(shop, folder / HELD_OUT, selection)
    card = model_card(
        recipe,
        digests=shop.digests,
        weights_digest=digest,
        parameters=sum(p.numel() for p in model.parameters()),
        threshold=threshold,
        selection=selection,
        seconds=seconds,
        device=shop.device.type,
    )
    (folder / "README.md").write_text(card, encoding="utf-8")
    return digest


def _save_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Save it without the truncation of its last call, which is no part of the model."""
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(folder)


def _write_held_out(shop: Workshop, path: Path, selection: "Selection") -> None:
    """Keep the out-of-fold predictions, so that figures can be recomputed without training."""
    cross = shop.recipe.cross_validation
    source = cross.source if cross is not None else ""
    record = {
        "source": source,
        "source_sha256": shop.digests[source][:64],
        "fold": selection.fold_of,
        "entailment": selection.scores,
    }
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")


def _settings(recipe: Recipe, threshold: float) -> dict[str, Any]:
    """What a scorer needs to know beside the architecture."""
    model, output = recipe.model, recipe.output
    settings: dict[str, Any] = {
        "prevalence_threshold": round(threshold, 4),
        "prevalence_max_length": output.max_length or model.max_length,
    }
    if model.architecture == PREMISE_FIRST:
        settings["prevalence_attention"] = PREMISE_FIRST
        settings["prevalence_max_hypothesis"] = output.max_hypothesis or model.max_hypothesis
        if model.pooling != FIRST:
            settings["prevalence_pooling"] = model.pooling
    if not output.contradiction:
        settings["prevalence_contradiction"] = False
    return settings


def _add_settings(path: Path, settings: Mapping[str, Any]) -> None:
    """Put settings into a config in place of the base's; forget where that lay on this disk."""
    config = json.loads(path.read_text(encoding="utf-8"))
    inherited = [key for key in config if key.startswith("prevalence_")]
    for key in ("_name_or_path", *inherited):
        config.pop(key, None)
    config.update(settings)
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
