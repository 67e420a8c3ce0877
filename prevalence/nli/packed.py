"""The forward pass of a classifier over packed premises and hypotheses.

Everything but attention works on a token at a time, so tokens lie packed in one [T, H] matrix and
no padding is computed. Attention is either fused, in a kernel that reads the matrix where it is, or
looks at padded copies. Where the head reads the hypotheses' first tokens, the last layer is
computed for those alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor, nn

from prevalence.errors import ModelError
from prevalence.kernels.attention import Queries, attend
from prevalence.models.checkpoint import FIRST, MEAN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Projection = Callable[[Tensor], Tensor]

    Projections = tuple[Projection, Projection, Projection]

__all__ = ["Attention", "BertFamily", "Family", "FusedAttention", "Grid", "MpnetFamily", "Packed",
           "PackedClassifier", "PaddedAttention", "Tiled", "family_of",
           "hypothesis_means"]  # fmt: skip


class Family(ABC):
    """The parts of a classifier, each on [tokens, H].

    Attributes:
        layers: encoder layers.
        heads: attention heads.
        size: numbers in one head.
        relative: whether attention adds a bias by distance.
    """

    relative: bool

    def __init__(self, model: Any) -> None:
        self._model = model
        self._base = model.base_model
        self.layers: Sequence[Any] = self._base.encoder.layer
        self.heads = int(model.config.num_attention_heads)
        self.size = int(model.config.hidden_size) // self.heads

    @property
    def attention_dropout(self) -> float:
        """Share of attention weights to drop; 0 outside training."""
        dropout = self._model.config.attention_probs_dropout_prob
        return float(dropout) if self._model.training else 0.0

    @abstractmethod
    def embed(self, ids: Tensor, positions: Tensor, types: Tensor) -> Tensor:
        """Embeddings [T, H] of tokens at positions from 0."""

    @abstractmethod
    def projections(self, layer: Any) -> Projections:
        """Query, key and value of a layer."""

    @abstractmethod
    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Bias by distance, [..., heads, Q, K], for places [..., Q, 1] and [K]."""

    def biases(self, device: Any) -> Tensor | None:
        """Biases of all distances that may occur, [heads, 2 · reach + 1], or None."""
        if not self.relative:
            return None
        # A premise and a hypothesis after it, each as long as there are positions.
        reach = 2 * int(self._model.config.max_position_embeddings)
        distances = torch.arange(-reach, reach + 1, device=device)
        return self.bias(torch.zeros_like(distances[:1, None]), distances)[:, 0].contiguous()

    @abstractmethod
    def finish(self, layer: Any, context: Tensor, hidden: Tensor) -> Tensor:
        """The rest of a layer after attention: projection, residual and feed-forward part."""

    @abstractmethod
    def classify(self, states: Tensor) -> Tensor:
        """Logits [R, classes] from one state for each hypothesis, [R, H]."""


class BertFamily(Family):
    """BERT: absolute positions, token types, pooler and classifier."""

    relative = False

    def embed(self, ids: Tensor, positions: Tensor, types: Tensor) -> Tensor:
        """Tokens, positions and types."""
        embedded: Tensor = self._base.embeddings(
            input_ids=ids[None], position_ids=positions[None], token_type_ids=types[None]
        )
        return embedded[0]

    def projections(self, layer: Any) -> Projections:
        """The self-attention's own."""
        attention = layer.attention.self
        return attention.query, attention.key, attention.value

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Nothing, whatever the distance."""
        return torch.zeros(self.heads, *(keys - queries).shape[-2:], device=keys.device)

    def finish(self, layer: Any, context: Tensor, hidden: Tensor) -> Tensor:
        """Projection, residual and feed-forward part."""
        output: Tensor = layer.feed_forward_chunk(layer.attention.output(context, hidden))
        return output

    def classify(self, states: Tensor) -> Tensor:
        """The pooler's layer, then the classifier."""
        pooled = torch.tanh(self._base.pooler.dense(states))
        logits: Tensor = self._model.classifier(self._model.dropout(pooled))
        return logits


class MpnetFamily(Family):
    """MPNet: absolute positions after the padding index, a bias by distance, no token types."""

    relative = True

    def embed(self, ids: Tensor, positions: Tensor, types: Tensor) -> Tensor:  # noqa: ARG002
        """Tokens and positions."""
        embeddings = self._base.embeddings
        shifted = positions + embeddings.padding_idx + 1
        embedded: Tensor = embeddings(input_ids=ids[None], position_ids=shifted[None])
        return embedded[0]

    def projections(self, layer: Any) -> Projections:
        """The self-attention's own."""
        attention = layer.attention.attn
        return attention.q, attention.k, attention.v

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        """One learned number a head and bucket of distances, shared by all layers."""
        encoder = self._base.encoder
        buckets = encoder.relative_position_bucket(
            keys - queries, num_buckets=encoder.relative_attention_bias.num_embeddings
        )
        bias: Tensor = encoder.relative_attention_bias(buckets)
        return bias.movedim(-1, -3)

    def finish(self, layer: Any, context: Tensor, hidden: Tensor) -> Tensor:
        """Projection, residual and feed-forward part."""
        attention = layer.attention
        hidden = attention.LayerNorm(attention.dropout(attention.attn.o(context)) + hidden)
        output: Tensor = layer.output(layer.intermediate(hidden), hidden)
        return output

    def classify(self, states: Tensor) -> Tensor:
        """The classification head, which reads position 0."""
        logits: Tensor = self._model.classifier(states[:, None])
        return logits


_FAMILIES: dict[str, Callable[[Any], Family]] = {"bert": BertFamily, "mpnet": MpnetFamily}


def family_of(model: Any) -> Family:
    """The family of a Hugging Face sequence classifier.

    Raises:
        ModelError: it is of another family.
    """
    kind = model.config.model_type
    if kind not in _FAMILIES:
        raise ModelError(
            f"premise-first attention is for {' and '.join(_FAMILIES)} classifiers, not {kind}"
        )
    return _FAMILIES[kind](model)


Array = TypeVar("Array")


class Grid(NamedTuple, Generic[Array]):
    """Hypotheses of similar length for attention, in G groups of at most n, each of one premise.

    Attributes:
        places: int64 [G, n, longest], in the T tokens; anything where the mask is False.
        mask: bool, likewise.
        owners: int64 [G], the premise of each group.
    """

    places: Array
    mask: Array
    owners: Array


class Packed(NamedTuple, Generic[Array]):
    """Tokens of P premises and of R hypotheses, without padding.

    Attributes:
        ids: int64 [T], tokens: all premises, then all hypotheses.
        positions: int64 [T], from 0 in each block.
        types: int64 [T], 0 in premises and 1 in hypotheses.
        premises: int64 [P, longest], places in the T tokens; anything where the mask is False.
        premise_mask: bool, likewise.
        grids: the hypotheses, each in one of them.
        context: int64 [T], where each token lies in the padded premises followed by the grids, all
            flattened.
        heads: int64 [R], places of the hypotheses' first tokens, in the order of the answers.
        slots: int64 [R], where each hypothesis lies among the G · n of a grid, one grid after the
            other.
    """

    ids: Array
    positions: Array
    types: Array
    premises: Array
    premise_mask: Array
    grids: tuple[Grid[Array], ...]
    context: Array
    heads: Array
    slots: Array


class Tiled(NamedTuple, Generic[Array]):
    """The same tokens for fused attention: the hypotheses of the first premise before the others.

    Attributes:
        ids: int64 [T], tokens: all premises, then all hypotheses.
        positions: int64 [T], from 0 in each block.
        types: int64 [T], 0 in premises and 1 in hypotheses.
        heads: int64 [R], places of the hypotheses' first tokens, in the order of the answers.
        rows: int64 [R], the answer of each hypothesis, in the order of the tokens.
        tiles: int64 [N, 6], of all tokens; see :func:`prevalence.kernels.attention.cut_tiles`.
        first_tiles: int64 [M, 6], of the hypotheses' first tokens, likewise.
    """

    ids: Array
    positions: Array
    types: Array
    heads: Array
    rows: Array
    tiles: Array
    first_tiles: Array


class Attention(Protocol):
    """Attention within one batch."""

    def of_tokens(self, layer: Any, hidden: Tensor) -> Tensor:
        """What every token takes from the tokens that it attends to, [T, H]."""
        ...

    def of_firsts(self, layer: Any, hidden: Tensor) -> Tensor:
        """The same for the first tokens of the hypotheses, [R, H]."""
        ...


class PackedClassifier:
    """Runs a Hugging Face classifier, whose weights it shares, on packed tokens.

    Args:
        model: a sequence classifier of a known family; in training mode its dropouts are at work.
            Its config may name one of :data:`.checkpoint.POOLINGS` as ``prevalence_pooling``.
        attention: what makes the attention of a batch from the family, the batch and the dtype of
            its states: :class:`PaddedAttention` for :class:`Packed` batches, or
            :class:`FusedAttention` for :class:`Tiled` ones.

    Raises:
        ModelError: the family is not known, or the head reads means, which want padded batches.
    """

    def __init__(
        self,
        model: Any,
        attention: Callable[[Family, Any, torch.dtype], Attention] | None = None,
    ) -> None:
        self._family: Family = family_of(model)
        self._pooling = getattr(model.config, "prevalence_pooling", FIRST)
        self._attention: Callable[[Family, Any, torch.dtype], Attention] = (
            attention or PaddedAttention
        )
        if self._pooling == MEAN and self._attention is not PaddedAttention:
            raise ModelError(
                "a head that reads the mean of a hypothesis needs padded attention; leave packing "
                "on auto (packing= or --packing)"
            )

    def __call__(self, packed: Packed[Tensor] | Tiled[Tensor]) -> Tensor:
        """Logits [R, classes]."""
        family = self._family
        hidden = family.embed(packed.ids, packed.positions, packed.types)
        attention = self._attention(family, packed, hidden.dtype)
        *inner, last = family.layers
        for layer in inner:
            hidden = family.finish(layer, attention.of_tokens(layer, hidden), hidden)
        if self._pooling == MEAN and isinstance(packed, Packed):
            hidden = family.finish(last, attention.of_tokens(last, hidden), hidden)
            return family.classify(hypothesis_means(hidden, packed))
        context = attention.of_firsts(last, hidden)
        return family.classify(family.finish(last, context, hidden.index_select(0, packed.heads)))


class FusedAttention:
    """Attention in a kernel that reads queries, keys and values where they are; without dropout.

    Args:
        family: parts of the classifier.
        packed: the batch.
        dtype: of the states.
    """

    def __init__(self, family: Family, packed: Tiled[Tensor], dtype: torch.dtype) -> None:  # noqa: ARG002
        self._family = family
        self._packed = packed
        self._biases = family.biases(packed.ids.device)

    def of_tokens(self, layer: Any, hidden: Tensor) -> Tensor:
        """What every token takes from the tokens that it attends to, [T, H]."""
        query, key, value = (part(hidden) for part in self._family.projections(layer))
        return self._attend(query, key, value, Queries(self._packed.tiles, self._packed.positions))

    def of_firsts(self, layer: Any, hidden: Tensor) -> Tensor:
        """The same for the first tokens of the hypotheses, [R, H]."""
        packed = self._packed
        to_query, to_key, to_value = self._family.projections(layer)
        query = to_query(hidden.index_select(0, packed.heads))
        firsts = Queries(packed.first_tiles, packed.positions, packed.rows, packed.heads)
        return self._attend(query, to_key(hidden), to_value(hidden), firsts)

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, queries: Queries) -> Tensor:
        attended: Tensor = attend(
            query, key, value, queries, heads=self._family.heads, biases=self._biases
        )
        return attended


class _Biases(NamedTuple):
    """What is added to attention scores of a grid; minus infinity keeps padding from being read.

    Attributes:
        to_premise: [G, heads or 1, 1, L or 1, K], from hypotheses to their premise.
        to_itself: [G, heads or 1, n, L or 1, L], from hypotheses to themselves.
    """

    to_premise: Tensor
    to_itself: Tensor

    def first(self) -> _Biases:
        """The biases of the hypotheses' first tokens."""
        return _Biases(self.to_premise[..., :1, :], self.to_itself[..., :1, :])


class PaddedAttention:
    """Attention on copies of queries, keys and values that are padded to texts of similar length.

    Args:
        family: parts of the classifier.
        packed: the batch.
        dtype: of the states.
    """

    def __init__(self, family: Family, packed: Packed[Tensor], dtype: torch.dtype) -> None:
        self._family = family
        self._packed = packed
        known = _masking(packed.premise_mask, dtype)
        self._among_premises = known[:, None, None]
        if family.relative:
            places = torch.arange(known.shape[-1], device=known.device)
            self._among_premises = self._among_premises + family.bias(places[:, None], places)
        self._biases = [self._of_grid(known, grid) for grid in packed.grids]

    def of_tokens(self, layer: Any, hidden: Tensor) -> Tensor:
        """What every token takes from the tokens that it attends to, [T, H]."""
        packed = self._packed
        query, key, value = (part(hidden) for part in self._family.projections(layer))
        known = self._known(key), self._known(value)
        premises = nn.functional.scaled_dot_product_attention(
            self._known(query),
            *known,
            attn_mask=self._among_premises.to(query.dtype),
            dropout_p=self._family.attention_dropout,
        ).transpose(1, 2)
        size = hidden.shape[-1]
        parts = [premises.reshape(-1, size)]
        for grid, biases in zip(packed.grids, self._biases, strict=True):
            asked, *own = (self._own(part, grid.places) for part in (query, key, value))
            parts.append(self._attend_twice(asked, _owned(known, grid), own, biases))
        return torch.cat([part.reshape(-1, size) for part in parts]).index_select(0, packed.context)

    def of_firsts(self, layer: Any, hidden: Tensor) -> Tensor:
        """The same for the first tokens of the hypotheses, [R, H]."""
        packed = self._packed
        to_query, to_key, to_value = self._family.projections(layer)
        key, value = to_key(hidden), to_value(hidden)
        known = self._known(key), self._known(value)
        parts = []
        for grid, biases in zip(packed.grids, self._biases, strict=True):
            first = grid.places[..., :1]
            asked = to_query(hidden.index_select(0, first.flatten()))
            asked = asked.view(*first.shape, self._family.heads, -1).permute(0, 3, 1, 2, 4)
            own = [self._own(part, grid.places) for part in (key, value)]
            parts.append(self._attend_twice(asked, _owned(known, grid), own, biases.first()))
        size = hidden.shape[-1]
        return torch.cat([part.reshape(-1, size) for part in parts]).index_select(0, packed.slots)

    def _attend_twice(
        self,
        query: Tensor,
        known: tuple[Tensor, Tensor],
        own: Sequence[Tensor],
        biases: _Biases,
    ) -> Tensor:
        """Attention of hypotheses to their premise and to themselves, under one softmax.

        The premise's keys are multiplied with the queries of a whole group at once, and are never
        copied for each hypothesis.

        Args:
            query: [G, heads, n, Q, d].
            known: keys and values of the groups' premises, [G, heads, K, d].
            own: keys and values of the hypotheses, [G, heads, n, L, d].
            biases: of these queries.

        Returns:
            [G, n, Q, heads, d].
        """
        query = query * query.shape[-1] ** -0.5
        to_premise = query.flatten(2, 3) @ known[0].transpose(-1, -2)
        to_premise = to_premise.view(*query.shape[:4], -1) + biases.to_premise
        to_itself = query @ own[0].transpose(-1, -2) + biases.to_itself
        scores = torch.cat([to_premise, to_itself], dim=-1)
        weights = scores.softmax(-1, dtype=torch.float32).to(query.dtype)
        dropout = self._family.attention_dropout
        weights = nn.functional.dropout(weights, dropout, training=dropout > 0)
        size = known[0].shape[2]
        from_premise = (weights[..., :size].flatten(2, 3) @ known[1]).view(query.shape)
        context = from_premise + weights[..., size:] @ own[1]
        return context.permute(0, 2, 3, 1, 4)

    def _of_grid(self, known: Tensor, grid: Grid[Tensor]) -> _Biases:
        own = _masking(grid.mask, known.dtype)
        biases = _Biases(known[grid.owners][:, None, None, None], own[:, None, :, None])
        if not self._family.relative:
            return biases
        premise = torch.arange(known.shape[-1], device=known.device)
        hypothesis = torch.arange(own.shape[-1], device=known.device)
        # Seen from a hypothesis, it follows its premise.
        shifted = hypothesis[None] + self._packed.premise_mask.sum(1)[grid.owners][:, None]
        between = self._family.bias(shifted[:, :, None], premise)
        return _Biases(
            biases.to_premise + between[:, :, None],
            biases.to_itself + self._family.bias(hypothesis[:, None], hypothesis)[:, None],
        )

    def _known(self, states: Tensor) -> Tensor:
        """The premises' part of [T, H], as [P, heads, longest, d]."""
        return self._taken(states, self._packed.premises).transpose(1, 2)

    def _own(self, states: Tensor, places: Tensor) -> Tensor:
        """The hypotheses' part of [T, H], as [G, heads, n, longest, d]."""
        return self._taken(states, places).permute(0, 3, 1, 2, 4)

    def _taken(self, states: Tensor, places: Tensor) -> Tensor:
        taken = states.index_select(0, places.flatten())
        return taken.view(*places.shape, self._family.heads, -1)


def _masking(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where the mask is True, else minus infinity."""
    zeros = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
    return zeros.masked_fill_(~mask, float("-inf"))


def _owned(known: tuple[Tensor, Tensor], grid: Grid[Tensor]) -> tuple[Tensor, Tensor]:
    """Keys and values of premises, for each group those of its own."""
    key, value = known
    return key.index_select(0, grid.owners), value.index_select(0, grid.owners)


def hypothesis_means(hidden: Tensor, packed: Packed[Tensor]) -> Tensor:
    """The mean state of each hypothesis' tokens, [R, H], from [T, H].

    In half precision it is taken in float32: rounded shares of 1/n would not sum to 1.
    """
    means = [
        _grid_means(hidden, grid.places.flatten(0, 1), grid.mask.flatten(0, 1))
        for grid in packed.grids
    ]
    return torch.cat(means).index_select(0, packed.slots)


def _grid_means(hidden: Tensor, places: Tensor, mask: Tensor) -> Tensor:
    """The mean of each row's tokens, [rows, H]; anything for a row without any."""
    exact = torch.promote_types(hidden.dtype, torch.float32)
    taken = hidden.index_select(0, places.flatten()).view(*places.shape, -1).to(exact)
    weights = mask.to(exact) / mask.sum(1, keepdim=True).clamp(min=1).to(exact)
    # Autocast around a scorer would round the shares again.
    with torch.autocast(hidden.device.type, enabled=False):
        return (weights[:, None] @ taken)[:, 0].to(hidden.dtype)
