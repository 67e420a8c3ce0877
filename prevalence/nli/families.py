"""What differs between encoder families when their layers run on packed tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import torch

from prevalence.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    Projection = Callable[[Tensor], Tensor]
    Projections = tuple[Projection, Projection, Projection]

__all__ = ["BertFamily", "Family", "MpnetFamily", "family_of"]


class Family(Protocol):
    """The parts of a classifier, each on [tokens, H].

    Attributes:
        layers: encoder layers.
        heads: attention heads.
        relative: whether attention adds a bias by distance.
    """

    layers: Sequence[Any]
    heads: int
    relative: bool

    @property
    def attention_dropout(self) -> float:
        """Share of attention weights to drop; 0 outside training."""
        ...

    def embed(self, ids: Tensor, positions: Tensor, types: Tensor) -> Tensor:
        """Embeddings [T, H] of tokens at positions from 0."""
        ...

    def projections(self, layer: Any) -> Projections:
        """Query, key and value of a layer."""
        ...

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Bias by distance, [..., heads, Q, K], for places [..., Q, 1] and [K]."""
        ...

    def finish(self, layer: Any, context: Tensor, hidden: Tensor) -> Tensor:
        """The rest of a layer after attention."""
        ...

    def classify(self, states: Tensor) -> Tensor:
        """Logits [R, classes] from one state for each hypothesis, [R, H]."""
        ...


class _Encoder:
    """What the families share."""

    def __init__(self, model: Any, encoder: Any) -> None:
        self._model = model
        self._encoder = encoder
        self.layers: Sequence[Any] = encoder.encoder.layer
        self.heads = int(model.config.num_attention_heads)

    @property
    def attention_dropout(self) -> float:
        dropout = self._model.config.attention_probs_dropout_prob
        return float(dropout) if self._model.training else 0.0


class BertFamily(_Encoder):
    """BERT: absolute positions, token types, pooler and classifier."""

    relative = False

    def __init__(self, model: Any) -> None:
        super().__init__(model, model.bert)

    def embed(self, ids: Tensor, positions: Tensor, types: Tensor) -> Tensor:
        """Tokens, positions and types."""
        embedded: Tensor = self._encoder.embeddings(
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
        pooled = torch.tanh(self._encoder.pooler.dense(states))
        logits: Tensor = self._model.classifier(self._model.dropout(pooled))
        return logits


class MpnetFamily(_Encoder):
    """MPNet: absolute positions after the padding index, a bias by distance, no token types."""

    relative = True

    def __init__(self, model: Any) -> None:
        super().__init__(model, model.mpnet)

    def embed(self, ids: Tensor, positions: Tensor, types: Tensor) -> Tensor:  # noqa: ARG002
        """Tokens and positions."""
        embeddings = self._encoder.embeddings
        shifted = positions + embeddings.padding_idx + 1
        embedded: Tensor = embeddings(input_ids=ids[None], position_ids=shifted[None])
        return embedded[0]

    def projections(self, layer: Any) -> Projections:
        """The self-attention's own."""
        attention = layer.attention.attn
        return attention.q, attention.k, attention.v

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        """One learned number a head and bucket of distances, shared by all layers."""
        encoder = self._encoder.encoder
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
