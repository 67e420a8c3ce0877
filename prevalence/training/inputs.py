"""Pairs made ready for a model: what stays together, how much it costs, tensors of a batch."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from prevalence.nli.checkpoint import PREMISE_FIRST
from prevalence.nli.packed import Packed
from prevalence.nli.premise_first import pack
from prevalence.nli.tokens import block_layout
from prevalence.nli.tokens import encode as encode_texts
from prevalence.training.batching import collate, encode
from prevalence.training.recipe import ModelSettings

__all__ = ["Batch", "Inputs", "JointInputs", "Pairs", "PremiseFirstInputs", "make_inputs"]

Ints = NDArray[np.int64]
Pairs = Sequence[tuple[str, str]]

_UNIT_TOKENS = 640
"""Tokens at which the hypotheses of one premise are cut into several units."""


class Batch(NamedTuple):
    """One forward pass.

    Attributes:
        inputs: what the model takes, on its device.
        members: which pairs it answers, in the order of its logits.
        tokens: how many tokens it computes, padding included.
    """

    inputs: Any
    members: list[int]
    tokens: int


class Inputs(Protocol):
    """Encoded pairs in units, which a batch holds whole.

    Attributes:
        sizes: tokens of each unit.
        padded: whether a batch costs its longest unit for each unit, or just their sum.
    """

    sizes: list[int]
    padded: bool

    def batch(self, units: Sequence[int], device: torch.device) -> Batch:
        """Tensors of some units."""


class JointInputs:
    """One row a pair, padded; a unit is a pair."""

    padded = True

    def __init__(self, tokenizer: Any, pairs: Pairs, settings: ModelSettings) -> None:
        self._encoded = encode(tokenizer, pairs, max_length=settings.max_length)
        self._pad = int(tokenizer.pad_token_id)
        self.sizes = [len(ids) for ids in self._encoded["input_ids"]]

    def batch(self, units: Sequence[int], device: torch.device) -> Batch:
        """Pad the pairs on the right."""
        tensors = collate(self._encoded, units, pad_id=self._pad)
        inputs = {key: value.to(device) for key, value in tensors.items()}
        return Batch(inputs, list(units), inputs["input_ids"].numel())


class PremiseFirstInputs:
    """A premise with its hypotheses is a unit; see :mod:`prevalence.nli.premise_first`."""

    padded = False

    def __init__(self, tokenizer: Any, pairs: Pairs, settings: ModelSettings) -> None:
        self._layout = block_layout(tokenizer, name=settings.base)
        texts = sorted({text for pair in pairs for text in pair})
        place = {text: number for number, text in enumerate(texts)}
        ids = encode_texts(tokenizer, texts)
        lengths = np.array([len(part) for part in ids], np.int64)
        starts = np.cumsum(lengths) - lengths
        self._tokens = np.array([token for part in ids for token in part], np.int64)
        numbers = np.array([(place[a], place[b]) for a, b in pairs], np.int64).reshape(-1, 2)
        rooms = np.array([settings.max_length, settings.max_hypothesis]) - self._layout.special
        kept = np.minimum(lengths[numbers], rooms)
        self._spans = np.stack([starts[numbers], kept], axis=2).reshape(-1, 4)
        self._units = list(self._cut(numbers[:, 0]))
        self.sizes = [self._size(unit) for unit in self._units]

    def _cut(self, premises: Ints) -> list[list[int]]:
        """Pairs of each premise, in order of its first appearance, in units of limited size."""
        groups: dict[int, list[int]] = {}
        for pair, premise in enumerate(premises.tolist()):
            groups.setdefault(premise, []).append(pair)
        units: list[list[int]] = []
        for members in groups.values():
            unit: list[int] = []
            for pair in members:
                if unit and self._size([*unit, pair]) > _UNIT_TOKENS:
                    units.append(unit)
                    unit = []
                unit.append(pair)
            units.append(unit)
        return units

    def _size(self, unit: Sequence[int]) -> int:
        spans = self._spans[list(unit)]
        return int(spans[0, 1] + spans[:, 3].sum()) + (len(unit) + 1) * self._layout.special

    def batch(self, units: Sequence[int], device: torch.device) -> Batch:
        """Pack the units without padding."""
        members = [pair for unit in units for pair in self._units[unit]]
        arrays = pack(self._tokens, self._spans[members], self._layout)
        inputs: Packed[Tensor] = Packed(*(torch.from_numpy(a).to(device) for a in arrays))
        return Batch(inputs, members, inputs.ids.numel())


def make_inputs(tokenizer: Any, pairs: Pairs, settings: ModelSettings) -> Inputs:
    """Encode pairs as an architecture reads them.

    Args:
        tokenizer: Tokenizer of the checkpoint.
        pairs: Premise and hypothesis; too long ones lose their ends.
        settings: Architecture and limits.

    Returns:
        The encoded pairs.
    """
    kind = PremiseFirstInputs if settings.architecture == PREMISE_FIRST else JointInputs
    return kind(tokenizer, pairs, settings)
