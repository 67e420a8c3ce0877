"""Pairs read jointly without padding: all tokens of a batch lie in one row.

Everything but attention works on a token at a time, so it runs on the row as it is, each token with
its position in its own pair; attention keeps to the pairs, through the registry of attention
functions that transformers offers. The states that the head reads are gathered from the row, and
the head itself is computed in float32.
"""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch

from prevalence.errors import ModelError
from prevalence.kernels.packing import assemble_packed, working_path
from prevalence.nli.first_token import read_first_token_only
from prevalence.nli.heads import PACKED_FAMILIES, head_of, packable, pooled
from prevalence.nli.joint import JointRows
from prevalence.nli.limits import first_position
from prevalence.nli.packing import packs
from prevalence.nli.resident import ResidentTokens
from prevalence.nli.segments import Segments, attend, varlen_fits

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from prevalence.nli.checkpoint import LoadedCheckpoint
    from prevalence.nli.tokens import TokenStore

    Ints = NDArray[np.int64]

__all__ = ["PackedJointReader", "worth_packing"]

_ATTENTION = "prevalence_segments"
"""Name of the attention function in transformers' registry."""

_TRANSFORMERS = 5
"""Before this version BERT and others had attention of their own."""


class PackedJointReader(JointRows):
    """Reads ``premise + hypothesis`` of many pairs as one row without padding.

    Args:
        checkpoint: model and tokenizer; the model is moved to the device, and from then on takes
            rows of several pairs alone.
        device: torch device.

    Raises:
        ModelError: the model cannot be read so, or the tokenizer encodes a pair differently from
            its two texts.
    """

    advice = "; --packing padded asks less of it"

    def __init__(self, checkpoint: LoadedCheckpoint, device: Any) -> None:
        super().__init__(checkpoint)
        model = checkpoint.model
        if not (packable(model.config) and _has_registry()):
            raise ModelError(
                f"{checkpoint.name}: pairs can be packed for {', '.join(PACKED_FAMILIES)} "
                f"classifiers of transformers 5, not for this {model.config.model_type}; "
                "use --packing padded"
            )
        model = model.to(device)
        self._name = checkpoint.name
        self._config = model.config
        self._encoder = model.base_model
        self._takes_types = "token_type_ids" in inspect.signature(self._encoder.forward).parameters
        self._first_position = first_position(model.config)
        self._pools = not read_first_token_only(model)
        self._head = head_of(model)
        self._tokens = ResidentTokens(device)
        probe = torch.zeros(1, dtype=torch.int32, device=device)
        self._path = working_path(probe, self._layout)
        self._varlen = _varlen(model, device)
        # Known from the first batch on, which is that of the scorer's own check.
        self._replaced = False
        if model.dtype != torch.float32:
            # The head is more precise than that of padded pairs, and the sums are in another order.
            self.signature["pack"] = "varlen" if self._varlen else "blocks"
        _register()
        model.set_attn_implementation(_ATTENTION)

    def batches(self, spans: Ints, budget: int) -> Iterator[Ints]:
        """As many rows as fit, longest first."""
        return packs(self._lengths(spans), budget)

    def size(self, spans: Ints) -> int:
        """The tokens of the rows; nothing is padded."""
        return int(self._lengths(spans).sum())

    def place(self, store: TokenStore) -> Tensor:
        """A copy of the tokens on the device, where rows are assembled."""
        return self._tokens.of(store)

    def logits(self, tokens: Tensor, spans: Ints) -> Tensor:
        """Assemble the rows, run the encoder on all of them as one, and the head on each.

        Raises:
            ModelError: the encoder's attention is not the one that keeps pairs apart.
        """
        packed = assemble_packed(
            tokens, spans, self._layout, first_position=self._first_position, path=self._path
        )
        segments = Segments(
            packed.starts, self._lengths(spans), varlen=self._varlen, counted=not self._replaced
        )
        inputs = {"input_ids": packed.ids[None], "position_ids": packed.positions[None]}
        if self._takes_types:
            types = packed.types if self._uses_types else torch.zeros_like(packed.types)
            inputs["token_type_ids"] = types[None]
        states = self._encoder(**inputs, segments=segments).last_hidden_state[0]
        if segments.counted and segments.uses != self._config.num_hidden_layers:
            raise ModelError(
                f"{self._name}: its attention in this version of transformers cannot be replaced; "
                "use --packing padded"
            )
        self._replaced = True
        first = pooled(self._config, states, segments) if self._pools else states.float()
        logits: Tensor = self._head(first)
        return logits


def worth_packing(checkpoint: LoadedCheckpoint, device: Any) -> bool:
    """Whether packing is the better way to read this checkpoint on that device.

    It is on a CUDA device, unless pairs in half precision would have to go without torch's kernel
    for sequences of unequal length.
    """
    model = checkpoint.model
    if device.type != "cuda" or not (packable(model.config) and _has_registry()):
        return False
    return model.dtype == torch.float32 or _varlen(model, device)


def _varlen(model: Any, device: Any) -> bool:
    head_size = model.config.hidden_size // model.config.num_attention_heads
    return varlen_fits(device, model.dtype, head_size)


def _has_registry() -> bool:
    """Whether this version of transformers asks its registry for attention in all families."""
    import transformers

    return int(transformers.__version__.partition(".")[0]) >= _TRANSFORMERS


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
        segments: what :meth:`PackedJointReader.logits` gave to the encoder.
    """
    if segments is None:
        raise ModelError(f"{type(module).__name__} was called without the places of pairs")
    reach = None if sliding_window is None else sliding_window - 1
    return attend(query, key, value, segments, scale=scaling, reach=reach), None


def _no_mask(*_: Any, **__: Any) -> None:
    """No mask: where pairs lie says what tokens see."""


@lru_cache(maxsize=1)
def _register() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(_ATTENTION, _attention)
    AttentionMaskInterface.register(_ATTENTION, _no_mask)
