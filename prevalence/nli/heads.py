"""What classifiers make of the states of packed pairs: pooling and head, by family."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from prevalence.nli.segments import Segments

    Head = Callable[[Tensor], Tensor]

__all__ = ["PACKED_FAMILIES", "head_of", "obstacle", "pooled"]


def _in_float32(module: Any) -> Any:
    """The module itself, or a copy of it in float32."""
    if all(weight.dtype == torch.float32 for weight in module.parameters()):
        return module
    return copy.deepcopy(module).float()


def _bert(model: Any) -> Head:
    pooler, classifier = _in_float32(model.bert.pooler), _in_float32(model.classifier)
    return lambda states: classifier(pooler(states[:, None]))


def _reads_first(model: Any) -> Head:
    """Heads that take all states of a sequence and read the first."""
    classifier = _in_float32(model.classifier)
    return lambda states: classifier(states[:, None])


def _deberta(model: Any) -> Head:
    """A pooler that takes all states of a sequence and reads the first, and a layer after it."""
    pooler, classifier = _in_float32(model.pooler), _in_float32(model.classifier)
    return lambda states: classifier(pooler(states[:, None]))


def _albert(model: Any) -> Head:
    pooler, classifier = _in_float32(model.albert.pooler), _in_float32(model.classifier)
    activation = model.albert.pooler_activation
    return lambda states: classifier(activation(pooler(states)))


def _distilbert(model: Any) -> Head:
    hidden, classifier = _in_float32(model.pre_classifier), _in_float32(model.classifier)
    return lambda states: classifier(nn.functional.relu(hidden(states)))


def _modernbert(model: Any) -> Head:
    hidden, classifier = _in_float32(model.head), _in_float32(model.classifier)
    return lambda states: classifier(hidden(states))


_HEADS: dict[str, Callable[[Any], Head]] = {
    "albert": _albert,
    "bert": _bert,
    "camembert": _reads_first,
    "deberta": _deberta,
    "deberta-v2": _deberta,
    "distilbert": _distilbert,
    "electra": _reads_first,
    "modernbert": _modernbert,
    "roberta": _reads_first,
    "xlm-roberta": _reads_first,
}

PACKED_FAMILIES = tuple(_HEADS)
"""Model types whose pairs can be read jointly without padding."""


def obstacle(config: Any) -> str | None:
    """Why a classifier with this config cannot be read without padding; None where it can.

    Tokens must see all of their own pair (or those near them), and nothing but attention may look
    beyond a token: no causal mask, no convolution, no mixing of heads.
    """
    if config.model_type not in _HEADS:
        known = ", ".join(PACKED_FAMILIES)
        return f"pairs can be packed for {known} classifiers, not for this {config.model_type}"
    if getattr(config, "position_embedding_type", "absolute") not in {None, "absolute"}:
        return "pairs cannot be packed where the config sets relative positions"
    for setting in ("is_decoder", "conv_kernel_size", "talking_head"):
        if getattr(config, setting, 0):
            return f"pairs cannot be packed where the config sets {setting}"
    return None


def head_of(model: Any) -> Head:
    """The classification head in float32, from pooled states [N, H] to logits [N, classes].

    Args:
        model: a classifier of one of :data:`PACKED_FAMILIES` in evaluation mode.
    """
    return _HEADS[model.config.model_type](model)


def pooled(config: Any, states: Tensor, segments: Segments) -> Tensor:
    """One state a sequence, float32 [N, H], as the family's head wants it.

    Args:
        config: of the model.
        states: float [T, H], the encoder's output.
        segments: the N sequences in the T tokens.
    """
    if getattr(config, "classifier_pooling", "cls") != "mean":
        return states.index_select(0, segments.firsts).float()
    lengths = segments.starts.diff().long()
    # Lengths are known to be right, and checking them would wait for the device.
    means: Tensor = torch.segment_reduce(
        states.float(), "mean", lengths=lengths, axis=0, unsafe=True
    )
    return means
