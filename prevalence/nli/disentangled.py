"""DeBERTa on packed pairs: disentangled attention among the tokens of each sequence of a row.

A score is the sum of three products: of query and key, of the query and a key for the distance
between the two tokens, and of the key and a query for that distance. A product with a run of
neighbouring distances holds the scores of all pairs of tokens, each row shifted by one against the
last, and they are read where they lie.
"""

from __future__ import annotations

import copy
import itertools
from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from prevalence.errors import ModelError, first_line
from prevalence.nli.segments import Segments, attend_in_blocks

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from prevalence.kernels.packing import PackedPairs
    from prevalence.nli.segments import Block

__all__ = [
    "ALIGNED",
    "AREA",
    "DISENTANGLED",
    "DisentangledEncoder",
    "Distances",
    "Projections",
    "learned_distances",
    "projections_of",
]


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
        own = self._attention
        query, key, value = own.query_proj(hidden), own.key_proj(hidden), own.value_proj(hidden)
        return self._split(query), self._split(key), self._split(value)

    def of_distances(self, relative: Tensor, kind: str) -> Tensor:
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
        own = self._attention
        query, key, value = self._split(own.in_proj(hidden)).chunk(3, dim=-1)
        return query + self._split(own.q_bias[None]), key, value + self._split(own.v_bias[None])

    def of_distances(self, relative: Tensor, kind: str) -> Tensor:
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


DISENTANGLED = frozenset({"deberta", "deberta-v2"})
"""Model types with this attention; DeBERTa-v3 is of the second."""

AREA = 2**22
"""Most scores of one head in a block. With 16 heads in half precision the products with distances,
of twice that size each, and their sum take .7 GB at the peak."""
_MASK_ALIGNED = 16
"""Torch copies what is added to scores where its rows are no multiple of this."""
_CHECKED = (160, 70)
"""Tokens of two sequences that the code is checked on; buckets of distances begin at 128."""
_MOST_APART = 1e-4
"""How far a layer's output may be from the model's own, as a share of its size; rounding makes a
hundredth of this."""


class DisentangledEncoder:
    """A DeBERTa encoder on packed rows, with the weights of the model itself.

    Args:
        model: a classifier of one of :data:`DISENTANGLED`, on its device, in evaluation mode.
        longest: most tokens of a sequence.
        name: of the checkpoint, for messages.
        area: most scores of one head in a block.
        check: hold what is computed here against the model's own code first.

    Attributes:
        attention: how scores are computed, for signatures.

    Raises:
        ModelError: this version of transformers computes the model in another way.
    """

    attention = "blocks"

    @torch.no_grad()
    def __init__(
        self, model: Any, longest: int, name: str, *, area: int = AREA, check: bool = True
    ) -> None:
        base = model.base_model
        if check:
            _check_code(base.encoder, name)
        self._area = area
        self._embeddings = base.embeddings
        relative = base.encoder.get_rel_embedding()
        self._layers = [_Layer(layer, relative, longest) for layer in base.encoder.layer]

    def __call__(self, rows: PackedPairs, lengths: NDArray[np.int64]) -> Tensor:
        """The states of the first tokens, [N, H].

        Args:
            rows: N sequences one after the other.
            lengths: int64 [N], theirs.
        """
        segments = Segments(rows.starts, lengths, area=self._area)
        hidden = self._embeddings(
            input_ids=rows.ids[None], token_type_ids=rows.types[None],
            position_ids=rows.positions[None],
        )[0]  # fmt: skip
        *inner, last = self._layers
        for layer in inner:
            hidden = layer(hidden, segments)
        return last(hidden, segments, firsts_only=True)


def _check_code(encoder: Any, name: str) -> None:
    """Hold what is computed here against the model's own code.

    All layers have the same code, so the first stands for all. A copy of it is given weights with
    which attention decides much, and computes in float32 on the CPU, where rounding hides nothing.

    Raises:
        ModelError: they differ, or the model's code is not what is expected here.
    """
    try:
        apart = _apart(encoder)
    except Exception as error:
        # Whatever another version of the model's code may run into.
        raise ModelError(_other_version(name, first_line(error))) from error
    if not apart <= _MOST_APART:
        raise ModelError(_other_version(name, f"states differ by {apart:.2%}"))


def _apart(encoder: Any) -> float:
    """How far states of two sequences are from the model's own after a layer, as a share."""
    random = torch.Generator().manual_seed(1)
    layer = copy.deepcopy(encoder.layer[0]).float().cpu()
    for weight in layer.parameters():
        weight.normal_(std=2 * weight.shape[-1] ** -0.5, generator=random)
    relative = encoder.get_rel_embedding()
    if relative is not None:
        relative = torch.randn(relative.shape, generator=random)
    longest, width = max(_CHECKED), layer.attention.output.dense.out_features
    inside = torch.arange(longest) < torch.tensor(_CHECKED)[:, None]
    padded = torch.randn(len(_CHECKED), longest, width, generator=random)
    own = layer(
        padded,
        encoder.get_attention_mask(inside.long()),
        relative_pos=encoder.get_rel_pos(padded),
        rel_embeddings=relative,
    )[0][inside]
    starts = torch.tensor([0, *itertools.accumulate(_CHECKED)], dtype=torch.int32)
    found = _Layer(layer, relative, longest)(padded[inside], Segments(starts, np.array(_CHECKED)))
    return float((found - own).norm() / own.norm())


def _other_version(name: str, why: str) -> str:
    return (
        f"{name}: this version of transformers computes its attention in another way ({why}); "
        "choose padded (packing= or --packing)"
    )


class _Layer:
    """An encoder layer that shares the weights of Hugging Face's."""

    def __init__(self, layer: Any, relative: Tensor | None, longest: int) -> None:
        self._layer = layer
        self._projections = projections_of(layer.attention.self)
        self._distances = learned_distances(self._projections, relative, longest)

    def __call__(self, hidden: Tensor, segments: Segments, *, firsts_only: bool = False) -> Tensor:
        """States [T, H] → [T, H], or [N, H] of the sequences' first tokens alone."""
        query, key, value = self._projections.of_tokens(hidden)
        if firsts_only:
            hidden, query = (part.index_select(0, segments.firsts) for part in (hidden, query))
        context = attend_in_blocks(
            query,
            key,
            value,
            segments,
            scale=self._projections.scale,
            added=partial(_added_to_firsts if firsts_only else _added, self._distances),
            firsts_only=firsts_only,
        ).flatten(1)
        attended = self._layer.attention.output(context, hidden)
        output: Tensor = self._layer.output(self._layer.intermediate(attended), attended)
        return output


def _added(distances: Distances, block: Block, queries: Tensor, keys: Tensor) -> Tensor | None:
    """What distances add to the scores of a block, [n, heads, L, L]; None for nothing at all."""
    parts = []
    if distances.keys is not None:
        parts.append(_shifted(queries, distances.keys, distances.longest))
    if distances.queries is not None:
        found = _shifted(keys, distances.queries, distances.longest)
        parts.append(found.transpose(-1, -2))
    return _together(parts, block)


def _added_to_firsts(
    distances: Distances, block: Block, queries: Tensor, keys: Tensor
) -> Tensor | None:
    """The same for the first tokens' queries, [n, heads, 1, L]."""
    middle = distances.longest - 1
    parts = []
    if distances.keys is not None:
        run = distances.keys[:, middle : middle + block.longest]
        parts.append(torch.einsum("nhqd,hld->hnql", queries, run))
    if distances.queries is not None:
        run = distances.queries[:, middle + 1 - block.longest : middle + 1].flip(1)
        parts.append(torch.einsum("nhld,hld->hnl", keys, run)[:, :, None])
    return _together(parts, block)


def _shifted(states: Tensor, table: Tensor, longest: int) -> Tensor:
    """Products of states with what a table holds for their distances from all others.

    A state's products with a run of distances lie one after the other, and the distances of the
    next state from the same tokens begin one place earlier: a view with a row stride of one less
    than the width is what is wanted, and nothing is gathered.

    Args:
        states: [n, heads, L, d].
        table: of :class:`Distances`.
        longest: likewise.

    Returns:
        [heads, n, L, L], by state and by the token that it is held against.
    """
    count, heads, length, size = states.shape
    width = -(-2 * length // ALIGNED) * ALIGNED
    run = table[:, longest - length : longest - length + width]
    products = torch.bmm(
        states.transpose(0, 1).reshape(heads, count * length, size), run.transpose(1, 2)
    )
    strides = (count * length * width, length * width, width - 1, 1)
    return products.as_strided((heads, count, length, length), strides, length - 1)


def _together(parts: list[Tensor], block: Block) -> Tensor | None:
    """The sum of parts of scores, minus infinity at padding; the mask alone without parts.

    Args:
        parts: one or two of [heads, n, Q, L], or none.
        block: of n sequences, the longest of L tokens.

    Returns:
        [n, heads, Q, L], or the block's mask.
    """
    if not parts:
        return block.inside
    shape = parts[0].shape
    room = parts[0].new_empty(*shape[:-1], -(-shape[-1] // _MASK_ALIGNED) * _MASK_ALIGNED)
    total = room[..., : shape[-1]]
    torch.add(parts[0], parts[1] if len(parts) > 1 else 0.0, out=total)
    total = total.transpose(0, 1)
    return total if block.inside is None else total.masked_fill_(~block.inside, float("-inf"))
