"""Prompts read one after the other, each from where it differs from the one before.

Prompts that are sorted by their tokens visit a tree of common beginnings depth first, so that every
token of the tree is read once. Keys and values are kept as plain tensors, whose beginning serves
the next prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

__all__ = ["PrefixReader", "Prompt", "cache_of", "common_length", "layers_of"]

Layers = list[tuple["Tensor", "Tensor"]]
"""Keys and values of every layer, each [rows, heads, tokens, width]."""


class Prompt(NamedTuple):
    """A prompt that the model has read.

    Attributes:
        layers: keys and values of every layer, of one row.
        logits: float [vocabulary], of the token that follows.
        length: its tokens.
    """

    layers: Layers
    logits: Tensor
    length: int


class PrefixReader:
    """Reads prompts, and remembers the last one.

    Args:
        model: a causal language model.
        device: where it runs.
        reuse: False reads every prompt from its beginning.

    Attributes:
        read_tokens: tokens that the model has read.
        asked_tokens: tokens of the prompts that were asked for.
    """

    def __init__(self, model: Any, device: Any, *, reuse: bool = True) -> None:
        self._model = model
        self._device = device
        self._reuse = reuse
        self._ids: list[int] = []
        self._last: Prompt | None = None
        self.read_tokens = 0
        self.asked_tokens = 0

    def read(self, ids: Sequence[int]) -> Prompt:
        """Read a prompt of at least one token.

        Raises:
            ModelError: the model does not keep keys and values for every layer.
        """
        self.asked_tokens += len(ids)
        shared = common_length(self._ids, ids) if self._reuse and self._last else 0
        if self._last is not None and shared == len(ids) == len(self._ids):
            return self._last
        # The last token is read in any case: its output is what follows.
        shared = min(shared, len(ids) - 1)
        before = [] if self._last is None else [_first(pair, shared) for pair in self._last.layers]
        self._last = self.follow(before if shared else [], ids, shared)
        self._ids = list(ids)
        return self._last

    def follow(self, layers: Layers, ids: Sequence[int], shared: int) -> Prompt:
        """Read ``ids[shared:]`` after keys and values of ``ids[:shared]``."""
        import torch

        new = torch.tensor([list(ids[shared:])], device=self._device)
        self.read_tokens += new.shape[1]
        cache = cache_of(layers)
        with torch.inference_mode():
            logits = self._model(
                input_ids=new,
                attention_mask=torch.ones(1, len(ids), dtype=torch.long, device=self._device),
                position_ids=torch.arange(shared, len(ids), device=self._device).unsqueeze(0),
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            ).logits
        return Prompt(layers_of(cache), logits[0, -1].float(), len(ids))


def common_length(first: Sequence[int], second: Sequence[int]) -> int:
    """Number of equal items at the beginning of both.

    >>> common_length([1, 2, 3], [1, 2, 4, 5])
    2
    """
    for place, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return place
    return min(len(first), len(second))


def cache_of(layers: Layers) -> Any:
    """A cache that holds these keys and values; it adds to them without changing them."""
    from transformers import DynamicCache

    cache: Any = DynamicCache()
    for place, (keys, values) in enumerate(layers):
        cache.update(keys, values, place)
    return cache


def layers_of(cache: Any) -> Layers:
    """Keys and values of a cache.

    Raises:
        ModelError: a layer keeps something else.
    """
    layers: Any = [
        (getattr(one, "keys", None), getattr(one, "values", None)) for one in cache.layers
    ]
    if not layers or any(keys is None or values is None for keys, values in layers):
        raise ModelError(
            "this model does not keep keys and values for every layer, which replies could share; "
            "serve it and use openai:MODEL"
        )
    whole: Layers = layers
    return whole


def _first(pair: tuple[Tensor, Tensor], tokens: int) -> tuple[Tensor, Tensor]:
    return pair[0][:, :, :tokens], pair[1][:, :, :tokens]
