"""The forward pass of a BERT classifier over packed premises and hypotheses.

Everything but attention works on a token at a time, so tokens lie packed in one [T, H] matrix and
no padding is computed; only attention looks at padded copies. The last layer is computed at the
hypotheses' first tokens alone, which is all that the head reads.
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

__all__ = ["Packed", "PackedBert"]

Array = TypeVar("Array")


class Packed(NamedTuple, Generic[Array]):
    """Tokens of P premises and of R hypotheses, at most n of a premise, without padding.

    Attributes:
        ids: int64 [T], tokens: all premises, then all hypotheses.
        positions: int64 [T], from 0 in each block.
        types: int64 [T], 0 in premises and 1 in hypotheses.
        premises: int64 [P, longest], places in the T tokens; anything where the mask is False.
        premise_mask: bool, likewise.
        hypotheses: int64 [P, n, longest], by premise, padded in both directions.
        hypothesis_mask: bool, likewise.
        context: int64 [T], where each token lies in the padded premises followed by the padded
            hypotheses, both flattened.
        heads: int64 [R], places of the hypotheses' first tokens, in the order of the answers.
        slots: int64 [R], where each hypothesis lies among the P · n.
    """

    ids: Array
    positions: Array
    types: Array
    premises: Array
    premise_mask: Array
    hypotheses: Array
    hypothesis_mask: Array
    context: Array
    heads: Array
    slots: Array


class PackedBert:
    """Runs a Hugging Face BERT classifier, whose weights it shares, on packed tokens.

    Args:
        model: ``BertForSequenceClassification``; in training mode its dropouts are at work.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._heads = model.config.num_attention_heads

    def __call__(self, packed: Packed[Tensor]) -> Tensor:
        """Logits [R, classes]."""
        bert = self._model.bert
        hidden = bert.embeddings(
            input_ids=packed.ids[None],
            position_ids=packed.positions[None],
            token_type_ids=packed.types[None],
        )[0]
        *inner, last = bert.encoder.layer
        for layer in inner:
            hidden = _finish(layer, self._attend(layer.attention.self, hidden, packed), hidden)
        context = self._attend_heads(last.attention.self, hidden, packed)
        hidden = _finish(last, context, hidden[packed.heads])
        pooled = torch.tanh(bert.pooler.dense(hidden))
        logits: Tensor = self._model.classifier(self._model.dropout(pooled))
        return logits

    def _attend(self, attention: Any, hidden: Tensor, packed: Packed[Tensor]) -> Tensor:
        """What every token takes from the tokens that it attends to, [T, H]."""
        query, key, value = (
            part(hidden) for part in (attention.query, attention.key, attention.value)
        )
        known = self._known(key, packed), self._known(value, packed)
        premises = nn.functional.scaled_dot_product_attention(
            self._known(query, packed),
            *known,
            attn_mask=packed.premise_mask[:, None, None],
            dropout_p=self._dropout,
        ).transpose(1, 2)
        own = self._own(key, packed.hypotheses), self._own(value, packed.hypotheses)
        asked = self._own(query, packed.hypotheses)
        hypotheses = _attend_twice(asked, known, own, packed, dropout=self._dropout)
        size = hidden.shape[-1]
        both = torch.cat([premises.reshape(-1, size), hypotheses.reshape(-1, size)])
        return both.index_select(0, packed.context)

    def _attend_heads(self, attention: Any, hidden: Tensor, packed: Packed[Tensor]) -> Tensor:
        """The same for the first tokens of the hypotheses, [R, H]."""
        key, value = attention.key(hidden), attention.value(hidden)
        known = self._known(key, packed), self._known(value, packed)
        own = self._own(key, packed.hypotheses), self._own(value, packed.hypotheses)
        first = packed.hypotheses[..., :1]
        asked = attention.query(hidden.index_select(0, first.flatten()))
        asked = asked.view(*first.shape, self._heads, -1).permute(0, 3, 1, 2, 4)
        hypotheses = _attend_twice(asked, known, own, packed, dropout=self._dropout)
        return hypotheses.reshape(-1, hidden.shape[-1]).index_select(0, packed.slots)

    @property
    def _dropout(self) -> float:
        config = self._model.config
        return float(config.attention_probs_dropout_prob) if self._model.training else 0.0

    def _known(self, states: Tensor, packed: Packed[Tensor]) -> Tensor:
        """The premises' part of [T, H], as [P, heads, longest, d]."""
        return self._taken(states, packed.premises).transpose(1, 2)

    def _own(self, states: Tensor, places: Tensor) -> Tensor:
        """The hypotheses' part of [T, H], as [P, heads, n, longest, d]."""
        return self._taken(states, places).permute(0, 3, 1, 2, 4)

    def _taken(self, states: Tensor, places: Tensor) -> Tensor:
        taken = states.index_select(0, places.flatten())
        return taken.view(*places.shape, self._heads, -1)


def _attend_twice(
    query: Tensor,
    known: tuple[Tensor, Tensor],
    own: tuple[Tensor, Tensor],
    packed: Packed[Tensor],
    *,
    dropout: float,
) -> Tensor:
    """Attention of hypotheses to their premise and to themselves, under one softmax.

    The premise's keys are multiplied with the queries of all its hypotheses at once, and are never
    copied for each.

    Args:
        query: [P, heads, n, Q, d].
        known: keys and values of the premises, [P, heads, K, d].
        own: keys and values of the hypotheses, [P, heads, n, L, d].
        packed: masks.
        dropout: share of weights to drop.

    Returns:
        [P, n, Q, heads, d].
    """
    query = query * query.shape[-1] ** -0.5
    to_premise = query.flatten(2, 3) @ known[0].transpose(-1, -2)
    to_premise = to_premise.view(*query.shape[:4], -1)
    to_itself = query @ own[0].transpose(-1, -2)
    lowest = float("-inf")
    scores = torch.cat(
        [
            to_premise.masked_fill(~packed.premise_mask[:, None, None, None], lowest),
            to_itself.masked_fill(~packed.hypothesis_mask[:, None, :, None], lowest),
        ],
        dim=-1,
    )
    weights = scores.softmax(-1, dtype=torch.float32).to(query.dtype)
    weights = nn.functional.dropout(weights, dropout, training=dropout > 0)
    size = known[0].shape[2]
    from_premise = (weights[..., :size].flatten(2, 3) @ known[1]).view(query.shape)
    context = from_premise + weights[..., size:] @ own[1]
    return context.permute(0, 2, 3, 1, 4)


def _finish(layer: Any, context: Tensor, hidden: Tensor) -> Tensor:
    """The rest of a layer after attention, token by token."""
    output: Tensor = layer.feed_forward_chunk(layer.attention.output(context, hidden))
    return output
