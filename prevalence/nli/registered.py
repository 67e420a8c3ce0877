"""Encoders of transformers on packed pairs, through its registry of attention functions.

The model's own code runs on one row of all tokens; only the attention is exchanged for one that
keeps to the pairs.
"""

from __future__ import annotations

import copy
import inspect
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from prevalence.errors import ModelError
from prevalence.nli.first_token import read_first_token_only
from prevalence.nli.segments import Segments, attend, varlen_fits

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from prevalence.kernels.packing import PackedPairs

    Head = Callable[[Tensor], Tensor]

__all__ = ["PACKED_FAMILIES", "RegisteredEncoder", "head_of", "obstacle", "pooled", "uses_varlen"]


_RELU = "relu"
"""The activation that a model has as a function, not as a module."""


def _in_float32(module: Any) -> Any:
    """The module itself, or a copy of it in float32."""
    if all(weight.dtype == torch.float32 for weight in module.parameters()):
        return module
    return copy.deepcopy(module).float()


_HEADS = {
    "albert": ("albert.pooler", "albert.pooler_activation", "classifier"),
    "bert": ("bert.pooler", "classifier"),
    "camembert": ("classifier",),
    "deberta": ("pooler", "classifier"),
    "deberta-v2": ("pooler", "classifier"),
    "distilbert": ("pre_classifier", _RELU, "classifier"),
    "electra": ("classifier",),
    "modernbert": ("head", "classifier"),
    "roberta": ("classifier",),
    "xlm-roberta": ("classifier",),
}
"""Modules that make up the head of a model type, in order."""

_READ_A_STATE = frozenset({"albert", "distilbert", "modernbert"})
"""Model types whose head takes one state; others take all states of a sequence, and read the
first."""

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
    kind = model.config.model_type
    head = nn.Sequential(
        *(
            nn.ReLU() if name == _RELU else _in_float32(model.get_submodule(name))
            for name in _HEADS[kind]
        )
    )
    return head if kind in _READ_A_STATE else lambda states: head(states[:, None])


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


_ATTENTION = "prevalence_segments"
"""Name of the attention function in transformers' registry."""


class RegisteredEncoder:
    """The encoder of a classifier, from packed rows to what its head reads.

    Args:
        model: a classifier in evaluation mode, on its device; from then on it takes rows of
            several pairs alone.
        name: of the checkpoint, for messages.

    Attributes:
        attention: how scores are computed, for signatures: ``varlen`` or ``blocks``.
    """

    def __init__(self, model: Any, name: str) -> None:
        self._name = name
        self._config = model.config
        self._encoder = model.base_model
        self._takes_types = "token_type_ids" in inspect.signature(self._encoder.forward).parameters
        self._pools = not read_first_token_only(model)
        self._varlen = uses_varlen(model, model.device)
        self.attention = "varlen" if self._varlen else "blocks"
        _register()
        model.set_attn_implementation(_ATTENTION)

    def __call__(self, rows: PackedPairs, lengths: NDArray[np.int64]) -> Tensor:
        """One state a pair, [N, H].

        Args:
            rows: N pairs one after the other.
            lengths: int64 [N], tokens of each.

        Raises:
            ModelError: the encoder's attention is not the one that keeps pairs apart.
        """
        segments = Segments(rows.starts, lengths, varlen=self._varlen)
        inputs = {"input_ids": rows.ids[None], "position_ids": rows.positions[None]}
        if self._takes_types:
            inputs["token_type_ids"] = rows.types[None]
        states: Tensor = self._encoder(**inputs, segments=segments).last_hidden_state[0]
        if segments.uses != self._config.num_hidden_layers:
            raise ModelError(
                f"{self._name}: its attention in this version of transformers cannot be replaced; "
                "choose padded (packing= or --packing)"
            )
        return pooled(self._config, states, segments) if self._pools else states


def uses_varlen(model: Any, device: Any) -> bool:
    """Whether a model's attention on a device would be torch's for sequences of unequal length."""
    head_size = model.config.hidden_size // model.config.num_attention_heads
    return varlen_fits(device, model.dtype, head_size)


def _attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,  # noqa: ARG001
    *,
    scaling: float | None = None,
    sliding_window: int | None = None,
    segments: Segments | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """Attention as transformers calls it: states [1, heads, T, d] → [1, T, heads, d].

    Args:
        module: the caller.
        query: of all tokens.
        key: likewise.
        value: likewise.
        attention_mask: None.
        scaling: of the scores.
        sliding_window: one more than the tokens seen to either side.
        segments: what :class:`RegisteredEncoder` gave to the encoder.
    """
    if segments is None:
        raise ModelError(f"{type(module).__name__} was called without the places of pairs")
    reach = None if sliding_window is None else sliding_window - 1
    return attend(query, key, value, segments, scale=scaling, reach=reach), None


@lru_cache(maxsize=1)
def _register() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(_ATTENTION, _attention)
    # No mask: where pairs lie says what tokens see.
    AttentionMaskInterface.register(_ATTENTION, lambda *_, **__: None)
