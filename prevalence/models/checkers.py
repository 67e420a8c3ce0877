"""Folders that hold a fact checker, told from those of NLI models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prevalence.errors import ModelError
from prevalence.files import expanded_path
from prevalence.models.registry import lookup, stated_config

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["refuse_checkers"]

_CLASSIFIERS = ("roberta", "deberta-v2")
"""Networks of the checkers that are plain classifiers, by the ``model_type`` of their configs."""


def refuse_checkers(model: str, *, named: bool) -> None:
    """Stop a folder that a family of checkers reads before it is taken for an NLI model.

    Nothing is guessed: where a folder fits several families, or may be no checker at all, the
    message has all of them. Folders that are no checker's, hub names and registered names pass.

    Args:
        model: what is about to be opened as an NLI model.
        named: whether the order of its classes was given by hand.

    Raises:
        ModelError: its config or its weights are a checker's; the message has the prefix.
    """
    folder = expanded_path(model)
    if lookup(model) is not None or not folder.is_dir():
        return
    said = _told(stated_config(folder), folder, model, named=named)
    if said is not None:
        raise ModelError(f"{model}: {said}")


def _told(config: Mapping[str, Any], folder: Path, model: str, *, named: bool) -> str | None:
    """What a checkpoint of checkers is and how to name it, or None for any other."""
    heads = [str(head) for head in config.get("architectures") or []]
    kind = str(config.get("model_type", ""))
    if kind.startswith("HHEM") or any(head.startswith("HHEM") for head in heads):
        return f"an HHEM checkpoint, and no NLI model; write hhem:{model}"
    if "T5ForConditionalGeneration" in heads:
        return (
            f"it writes texts, and is no NLI model; if it is MiniCheck's, write minicheck:{model}"
        )
    if not any(head.endswith("ForSequenceClassification") for head in heads):
        if any(name.startswith("base_model.") for name in _weight_names(folder)):
            return f"an AlignScore checkpoint, and no NLI model; write alignscore:{model}"
        return None
    labels = config.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}
    if named or kind not in _CLASSIFIERS or sorted(labels.values()) != ["LABEL_0", "LABEL_1"]:
        return None
    return (
        f"its two outputs have no names; write minicheck:{model} for a checkpoint of MiniCheck, "
        f"factcg:{model} for one of FactCG, or name the outputs of an NLI model, for example "
        "--labels not_entailment,entailment (labels= of a metric)"
    )


def _weight_names(folder: Path) -> list[str]:
    """Names of the tensors in a folder; a file that cannot be read has none."""
    from safetensors import SafetensorError, safe_open

    names: list[str] = []
    for path in folder.glob("*.safetensors"):
        try:
            with safe_open(path, framework="numpy") as file:
                names += file.keys()
        except (OSError, SafetensorError):
            continue
    return names
