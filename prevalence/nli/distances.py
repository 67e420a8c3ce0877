"""What DeBERTa's attention modules hold: projections of tokens, and what they learn for distances.

The distance of a query from a key is the query's position less the key's. What is learned for
distances is the same for all texts, so it is projected once, when a model is opened, and laid out
by distance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["ALIGNED", "Distances", "Projections", "learned_distances", "projections_of"]

ALIGNED = 8
"""Matrix products in half precision want rows of so many numbers, or of a multiple."""

C2P, P2C = "c2p", "p2c"
"""Kinds of distances: with queries, content to position; with keys, position to content."""


class Distances(NamedTuple):
    """What one layer has learned for distances, scaled as scores are; None where it has nothing.

    Attributes:
        keys: [heads, 2 · longest + 7, d], for distances from longest - 1 downwards.
        queries: likewise, for distances from 1 - longest upwards.
        longest: tokens that a sequence may have.
    """

    keys: Tensor | None
    queries: Tensor | None
    longest: int


class Projections(ABC):
    """The projections of an attention module, each from [rows, H] to [rows, heads, d].

    Args:
        attention: the module.
        kinds: of distances, whose number decides how scores are scaled.

    Attributes:
        kinds: as given.
        scale: of the scores.
    """

    def __init__(self, attention: Any, kinds: Collection[str]) -> None:
        self._attention = attention
        self._heads = int(attention.num_attention_heads)
        self.kinds = kinds
        terms = 1 + len(kinds)
        self.scale = float(attention.all_head_size // self._heads * terms) ** -0.5

    @abstractmethod
    def of_tokens(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value."""

    @abstractmethod
    def of_distances(self, relative: Tensor, kind: str) -> Tensor:
        """Keys (:data:`C2P`) or queries (:data:`P2C`) for distances."""

    def row_of(self, distances: Tensor, span: int) -> Tensor:
        """Which of 2 · span embeddings stands for each distance, int64; far ones share theirs."""
        return (distances + span).clamp(0, 2 * span - 1)

    def _split(self, states: Tensor) -> Tensor:
        return states.view(len(states), self._heads, -1)


class _Separate(Projections):
    """DeBERTa-v2 and -v3: queries, keys and values each have one, distances theirs or the same."""

    def __init__(self, attention: Any) -> None:
        super().__init__(attention, {C2P, P2C}.intersection(attention.pos_att_type))

    def of_tokens(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value."""
        own = self._attention
        query, key, value = own.query_proj(hidden), own.key_proj(hidden), own.value_proj(hidden)
        return self._split(query), self._split(key), self._split(value)

    def of_distances(self, relative: Tensor, kind: str) -> Tensor:
        """Keys (:data:`C2P`) or queries (:data:`P2C`) for distances."""
        own = self._attention
        if kind == C2P:
            return self._split((own.key_proj if own.share_att_key else own.pos_key_proj)(relative))
        return self._split((own.query_proj if own.share_att_key else own.pos_query_proj)(relative))

    def row_of(self, distances: Tensor, span: int) -> Tensor:
        """Which of 2 · span embeddings stands for each distance, by the model's own buckets."""
        from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

        own = self._attention
        if own.position_buckets > 0:
            distances = make_log_bucket_position(
                distances, own.position_buckets, own.max_relative_positions
            ).long()
        return super().row_of(distances, span)


class _Fused(Projections):
    """The first DeBERTa: one for queries, keys and values, with biases apart."""

    def __init__(self, attention: Any) -> None:
        super().__init__(attention, attention.pos_att_type)

    def of_tokens(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value."""
        own = self._attention
        query, key, value = self._split(own.in_proj(hidden)).chunk(3, dim=-1)
        return query + self._split(own.q_bias[None]), key, value + self._split(own.v_bias[None])

    def of_distances(self, relative: Tensor, kind: str) -> Tensor:
        """Keys (:data:`C2P`) or queries (:data:`P2C`) for distances."""
        own = self._attention
        return self._split((own.pos_proj if kind == C2P else own.pos_q_proj)(relative))


def projections_of(attention: Any) -> Projections:
    """The projections of an attention module of either version."""
    fused = hasattr(attention, "in_proj")
    return _Fused(attention) if fused else _Separate(attention)


def learned_distances(projections: Projections, relative: Tensor | None, longest: int) -> Distances:
    """Project what was learned for distances, and lay it out by distance.

    Args:
        projections: of the layer.
        relative: [2 · span, H], for distances (or buckets of them) from -span; None without any.
        longest: most tokens of a sequence.
    """
    if relative is None:
        return Distances(None, None, longest)
    downwards = torch.arange(longest - 1, -longest - ALIGNED, -1, device=relative.device)

    def table(kind: str, distances: Tensor) -> Tensor | None:
        if kind not in projections.kinds:
            return None
        rows = projections.row_of(distances, len(relative) // 2)
        scaled = projections.of_distances(relative, kind) * projections.scale
        laid_out: Tensor = scaled.index_select(0, rows).transpose(0, 1).contiguous()
        return laid_out

    return Distances(table(C2P, downwards), table(P2C, -downwards), longest)
