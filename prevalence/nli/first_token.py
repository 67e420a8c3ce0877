"""Compute in the last encoder layer only what the classification head reads: the first token.

The heads of BERT-like classifiers look at one position. Its keys and values need every position,
but its query, attention output and feed-forward part are wanted for that position alone, which
leaves out five sixths of the last layer: 14% of all work in a 6-layer encoder, 3% in one of 24. The
numbers are the same up to the rounding of differently shaped matrix products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from prevalence.nli.segments import attend

if TYPE_CHECKING:
    from prevalence.nli.segments import Segments

__all__ = ["FirstTokenLayer", "read_first_token_only"]

_FAMILIES = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra"})


class FirstTokenLayer(nn.Module):
    """A BERT-like encoder layer that returns its output at first positions only.

    Args:
        layer: the Hugging Face layer whose weights are used, and shared.
        heads: number of attention heads.
    """

    def __init__(self, layer: Any, *, heads: int) -> None:
        super().__init__()
        self.layer = layer
        self.heads = heads

    def forward(
        self,
        hidden: Tensor,
        attention_mask: Tensor | None = None,
        *_: Any,
        segments: Segments | None = None,
        **__: Any,
    ) -> Tensor:
        """Return float [B, 1, H] from float [B, L, H], or [1, N, H] of N sequences in one row.

        Args:
            hidden: input of the layer.
            attention_mask: what Hugging Face's attention takes: [B, 1 or heads, L or 1, L],
                additive or boolean, or None.
            segments: where sequences lie, if they lie one after the other in one row.
        """
        attention = self.layer.attention
        first = hidden[:, :1] if segments is None else hidden.index_select(1, segments.firsts)
        query, key, value = (
            self._split(project(states))
            for project, states in (
                (attention.self.query, first),
                (attention.self.key, hidden),
                (attention.self.value, hidden),
            )
        )
        if segments is not None:
            context = attend(query, key, value, segments, firsts_only=True)
        else:
            mask = None if attention_mask is None else attention_mask[:, :, :1]
            context = nn.functional.scaled_dot_product_attention(
                query, key, value, attn_mask=mask
            ).transpose(1, 2)
        merged = context.reshape(first.shape)
        output: Tensor = self.layer.feed_forward_chunk(attention.output(merged, first))
        return output

    def _split(self, states: Tensor) -> Tensor:
        return states.view(*states.shape[:2], self.heads, -1).transpose(1, 2)


def read_first_token_only(model: Any) -> bool:
    """Replace the last layer of a BERT-like classifier in place, where that is exact.

    Args:
        model: a Hugging Face sequence-classification model in evaluation mode.

    Returns:
        Whether it was replaced: the architecture is one whose head reads the first position, and
        its attention is scaled dot-product attention without relative positions.
    """
    config = model.config
    if config.model_type not in _FAMILIES:
        return False
    encoder = getattr(getattr(model, model.base_model_prefix, None), "encoder", None)
    plain = getattr(config, "position_embedding_type", "absolute") in {None, "absolute"}
    if (
        encoder is None
        or config._attn_implementation != "sdpa"
        or not plain
        or getattr(config, "is_decoder", False)
    ):
        return False
    encoder.layer[-1] = FirstTokenLayer(encoder.layer[-1], heads=config.num_attention_heads)
    return True
