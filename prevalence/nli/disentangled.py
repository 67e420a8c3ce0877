"""DeBERTa on packed pairs: disentangled attention among the tokens of each sequence of a row.

A score is the sum of three products: of query and key, of the query and a key for the distance
between the two tokens, and of the key and a query for that distance. What is learned for distances
is the same for all texts, so it is computed once when a model is opened and laid out by distance; a
product with a run of neighbouring distances then holds the scores of all pairs of tokens, each row
shifted by one against the last, and they are read where they lie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from prevalence.nli.segments import Segments

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from prevalence.kernels.packing import PackedPairs
    from prevalence.nli.segments import Block

__all__ = ["DISENTANGLED", "DisentangledEncoder"]

DISENTANGLED = frozenset({"deberta", "deberta-v2"})
"""Model types with this attention; DeBERTa-v3 is of the second."""

_ALIGNED = 8
"""Matrix products in half precision want rows of so many numbers, or of a multiple."""
_AREA = 2**23
"""Most scores of a head in a block: with 16 heads, a quarter of a gigabyte in half precision."""


class _Distances(NamedTuple):
    """What one layer has learned for distances, scaled as scores are; None where it has nothing.

    ``longest`` is what a sequence may have, and distances are of the query from the key.

    Attributes:
        keys: [heads, 2 longest + 7, d], for distances from longest - 1 downwards.
        queries: likewise, for distances from 1 - longest upwards.
        scale: of the scores.
        longest: tokens.
    """

    keys: Tensor | None
    queries: Tensor | None
    scale: float
    longest: int


class DisentangledEncoder:
    """A DeBERTa encoder on packed rows, with the weights of the model itself.

    Args:
        model: a classifier of one of :data:`DISENTANGLED`, on its device, in evaluation mode.
        longest: most tokens of a sequence.

    Attributes:
        attention: how scores are computed, for signatures.
    """

    attention = "blocks"

    @torch.no_grad()
    def __init__(self, model: Any, longest: int) -> None:
        base = model.base_model
        self._embeddings = base.embeddings
        relative = base.encoder.get_rel_embedding()
        self._layers = [_Layer(layer, relative, longest) for layer in base.encoder.layer]

    def __call__(self, rows: PackedPairs, lengths: NDArray[np.int64]) -> Tensor:
        """The states of the first tokens, [N, H].

        Args:
            rows: N sequences one after the other.
            lengths: int64 [N], theirs.
        """
        segments = Segments(rows.starts, lengths, area=_AREA)
        hidden = self._embeddings(
            input_ids=rows.ids[None], token_type_ids=rows.types[None],
            position_ids=rows.positions[None],
        )[0]  # fmt: skip
        *inner, last = self._layers
        for layer in inner:
            hidden = layer(hidden, segments)
        return last(hidden, segments, firsts_only=True)


class _Layer:
    """An encoder layer that shares the weights of Hugging Face's."""

    def __init__(self, layer: Any, relative: Tensor | None, longest: int) -> None:
        attention = layer.attention.self
        self._layer = layer
        self._projections = (
            _Fused(attention) if hasattr(attention, "in_proj") else _Apart(attention)
        )
        self._distances = _distances(self._projections, relative, longest)

    def __call__(self, hidden: Tensor, segments: Segments, *, firsts_only: bool = False) -> Tensor:
        """States [T, H] → [T, H], or [N, H] of the sequences' first tokens alone."""
        query, key, value = self._projections.of_tokens(hidden)
        attend = _attend
        if firsts_only:
            attend = _attend_firsts
            hidden, query = (part.index_select(0, segments.firsts) for part in (hidden, query))
        context = attend(query, key, value, segments, self._distances).flatten(1)
        attended = self._layer.attention.output(context, hidden)
        output: Tensor = self._layer.output(self._layer.intermediate(attended), attended)
        return output


class _Projections:
    """The projections of an attention module, each from [rows, H] to [rows, heads, d].

    Attributes:
        attention: the module.
        kinds: which distances have a part in scores: of ``c2p`` and ``p2c``.
        terms: number of products in a score, which decides how scores are scaled.
    """

    def __init__(self, attention: Any) -> None:
        self.attention = attention
        self.kinds: frozenset[str] = frozenset(attention.pos_att_type) & {"c2p", "p2c"}
        self.terms = 1 + len(self.kinds)

    def _split(self, states: Tensor) -> Tensor:
        return states.view(len(states), self.attention.num_attention_heads, -1)


class _Apart(_Projections):
    """Those of DeBERTa-v2: queries, keys and values each have their own, distances perhaps none."""

    def of_tokens(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value."""
        own = self.attention
        query, key, value = own.query_proj(hidden), own.key_proj(hidden), own.value_proj(hidden)
        return self._split(query), self._split(key), self._split(value)

    def of_distances(self, relative: Tensor, kind: str) -> Tensor:
        """Keys (``c2p``) or queries (``p2c``) for distances."""
        own = self.attention
        if kind == "c2p":
            return self._split((own.key_proj if own.share_att_key else own.pos_key_proj)(relative))
        return self._split((own.query_proj if own.share_att_key else own.pos_query_proj)(relative))


class _Fused(_Projections):
    """Those of the first DeBERTa: one for all three, with biases apart."""

    def __init__(self, attention: Any) -> None:
        super().__init__(attention)
        self.terms = 1 + len(attention.pos_att_type)

    def of_tokens(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value."""
        query, key, value = self._split(self.attention.in_proj(hidden)).chunk(3, dim=-1)
        biases = self.attention.q_bias, self.attention.v_bias
        to_query, to_value = (self._split(bias[None]) for bias in biases)
        return query + to_query, key, value + to_value

    def of_distances(self, relative: Tensor, kind: str) -> Tensor:
        """Keys (``c2p``) or queries (``p2c``) for distances."""
        own = self.attention
        return self._split((own.pos_proj if kind == "c2p" else own.pos_q_proj)(relative))


def _distances(projections: _Apart | _Fused, relative: Tensor | None, longest: int) -> _Distances:
    """Project what was learned for distances, and lay it out by distance.

    Args:
        projections: of the layer.
        relative: [2 span, H], for distances (or buckets of them) from -span; None without any.
        longest: most tokens of a sequence.
    """
    size = projections.attention.all_head_size // projections.attention.num_attention_heads
    scale = float(size * projections.terms) ** -0.5
    if relative is None:
        return _Distances(None, None, scale, longest)
    downwards = torch.arange(longest - 1, -longest - _ALIGNED, -1, device=relative.device)

    def table(kind: str, distances: Tensor) -> Tensor | None:
        if kind not in projections.kinds:
            return None
        rows = _rows(projections.attention, distances, len(relative) // 2)
        scaled = projections.of_distances(relative, kind) * scale
        laid_out: Tensor = scaled.index_select(0, rows).transpose(0, 1).contiguous()
        return laid_out

    return _Distances(table("c2p", downwards), table("p2c", -downwards), scale, longest)


def _rows(attention: Any, distances: Tensor, span: int) -> Tensor:
    """Which of 2 · span embeddings stands for each distance, int64; far ones share theirs."""
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

    buckets = getattr(attention, "position_buckets", -1)
    if buckets > 0:
        limit = attention.max_relative_positions
        distances = make_log_bucket_position(distances, buckets, limit).long()
    return (distances + span).clamp(0, 2 * span - 1)


def _attend(
    query: Tensor, key: Tensor, value: Tensor, segments: Segments, distances: _Distances
) -> Tensor:
    """What each token takes from those of its own sequence, all [T, heads, d]."""
    attended = torch.empty_like(query)
    for block in segments.blocks:
        queries, keys, values = (_in_block(part, block) for part in (query, key, value))
        parts = []
        if distances.keys is not None:
            parts.append(_shifted(queries, distances.keys, distances.longest))
        if distances.queries is not None:
            found = _shifted(keys, distances.queries, distances.longest)
            parts.append(found.transpose(-1, -2))
        out = nn.functional.scaled_dot_product_attention(
            queries, keys, values, attn_mask=_together(parts, block), scale=distances.scale
        )
        flat = out.permute(1, 2, 0, 3).flatten(0, 1)
        attended[block.tokens] = flat.index_select(0, block.back)
    return attended


def _attend_firsts(
    query: Tensor, key: Tensor, value: Tensor, segments: Segments, distances: _Distances
) -> Tensor:
    """The same for the first tokens' queries, [N, heads, d] → [N, heads, d]."""
    attended = torch.empty_like(query)
    middle = distances.longest - 1
    for block in segments.blocks:
        queries = query[block.rows].transpose(0, 1)
        keys, values = (_in_block(part, block) for part in (key, value))
        parts = []
        if distances.keys is not None:
            run = distances.keys[:, middle : middle + block.longest]
            parts.append((queries @ run.transpose(1, 2))[:, :, None])
        if distances.queries is not None:
            run = distances.queries[:, middle + 1 - block.longest : middle + 1].flip(1)
            parts.append(torch.einsum("hnld,hld->hnl", keys, run)[:, :, None])
        out = nn.functional.scaled_dot_product_attention(
            queries[:, :, None], keys, values, attn_mask=_together(parts, block),
            scale=distances.scale,
        )  # fmt: skip
        attended[block.rows] = out[:, :, 0].transpose(0, 1)
    return attended


def _in_block(part: Tensor, block: Block) -> Tensor:
    """[T, heads, d] → [heads, n, longest, d] of the block's sequences."""
    taken = part.index_select(0, block.places)
    return taken.view(-1, block.longest, *part.shape[1:]).permute(2, 0, 1, 3)


def _shifted(states: Tensor, table: Tensor, longest: int) -> Tensor:
    """Products of states with what a table holds for their distances from all others.

    A state's products with a run of distances lie one after the other, and the distances of the
    next state from the same tokens begin one place earlier: a view with a row stride of one less
    than the width is what is wanted, and nothing is gathered.

    Args:
        states: [heads, n, L, d].
        table: of :class:`_Distances`.
        longest: likewise.

    Returns:
        [heads, n, L, L], by state and by the token that it is held against.
    """
    heads, count, length, size = states.shape
    width = -(-2 * length // _ALIGNED) * _ALIGNED
    run = table[:, longest - length : longest - length + width]
    products = torch.bmm(states.reshape(heads, count * length, size), run.transpose(1, 2))
    strides = (count * length * width, length * width, width - 1, 1)
    return products.as_strided((heads, count, length, length), strides, length - 1)


def _together(parts: list[Tensor], block: Block) -> Tensor | None:
    """The sum of parts of scores, minus infinity at padding; the mask alone without parts."""
    inside = None if block.inside is None else block.inside.transpose(0, 1)
    if not parts:
        return inside
    # A sum has memory of its own, which views of products do not have.
    total = parts[0] + parts[1] if len(parts) > 1 else parts[0].clone()
    return total if inside is None else total.masked_fill_(~inside, float("-inf"))
