"""Pairs made ready for a model: what stays together, how much it costs, tensors of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from prevalence.errors import InputError
from prevalence.nli.tokens import block_layout, cleaner, encode
from prevalence.training.network import lay_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prevalence.stats.arrays import Ints
    from prevalence.training.mixture import TrainingPair
    from prevalence.training.recipe import ModelSettings

__all__ = [
    "Batch",
    "Inputs",
    "JointInputs",
    "Pairs",
    "PremiseFirstInputs",
    "collate",
    "plan_batches",
]


Encoded = dict[str, list[list[int]]]
_POOL_BATCHES = 32


def plan_batches(
    lengths: Sequence[int],
    *,
    budget: int,
    rng: np.random.Generator | None = None,
) -> list[list[int]]:
    """Cut examples into batches of at most ``budget`` tokens.

    Args:
        lengths: tokens of each example.
        budget: tokens a batch, each example padded to the longest; one that is longer than the
            budget still gets its own batch.
        rng: shuffles examples into pools and then the batches; None sorts everything by length,
            which is what prediction wants.

    Returns:
        Index lists that cover every example once.
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    if rng is None:
        return _cut(np.argsort(sizes, kind="stable"), sizes, budget)
    order = rng.permutation(len(sizes))
    mean = max(float(sizes.mean()), 1.0) if len(sizes) else 1.0
    pool = max(int(_POOL_BATCHES * budget / mean), 1)
    batches: list[list[int]] = []
    for start in range(0, len(order), pool):
        part = order[start : start + pool]
        part = part[np.argsort(sizes[part], kind="stable")]
        batches.extend(_cut(part, sizes, budget))
    return [batches[int(i)] for i in rng.permutation(len(batches))]


def _cut(order: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any], budget: int) -> list[list[int]]:
    """Fill batches along an order of rising length."""
    batches: list[list[int]] = []
    current: list[int] = []
    for index in order.tolist():
        if current and (len(current) + 1) * int(sizes[index]) > budget:
            batches.append(current)
            current = []
        current.append(index)
    return [*batches, current] if current else batches


def collate(encoded: Encoded, rows: Sequence[int], *, pad_id: int) -> dict[str, torch.Tensor]:
    """Pad one batch on the right.

    Args:
        encoded: lists of token ids by model input name.
        rows: which examples.
        pad_id: padding token.

    Returns:
        int64 tensors [len(rows), longest], with an attention mask.
    """
    longest = max(len(encoded["input_ids"][row]) for row in rows)
    batch = {
        key: torch.full((len(rows), longest), pad_id if key == "input_ids" else 0)
        for key in (*encoded, "attention_mask")
    }
    for position, row in enumerate(rows):
        size = len(encoded["input_ids"][row])
        batch["attention_mask"][position, :size] = 1
        for key, values in encoded.items():
            batch[key][position, :size] = torch.tensor(values[row])
    return batch


def target_tensors(examples: Sequence[TrainingPair]) -> tuple[torch.Tensor, torch.Tensor]:
    """Stack targets: float32 [n, 3] and bool [n] that marks the binary ones."""
    targets = torch.tensor([example.target[:3] for example in examples], dtype=torch.float32)
    return targets, torch.tensor([example.target.binary for example in examples])


Pairs = Sequence[tuple[str, str]]

_SHOWN = 60
_UNIT_TOKENS = 256
"""About how many tokens of one premise's hypotheses make a unit."""


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


class JointInputs:
    """One row a pair, padded; a unit is a pair. One that is too long loses its premise's end."""

    def __init__(self, tokenizer: Any, pairs: Pairs, settings: ModelSettings) -> None:
        clean = cleaner(tokenizer)
        hypotheses = [clean(hypothesis) for _, hypothesis in pairs]
        _check_room(tokenizer, hypotheses, settings.max_length)
        encoded = tokenizer(
            [clean(premise) for premise, _ in pairs],
            hypotheses,
            truncation="only_first",
            max_length=settings.max_length,
            padding=False,
        )
        self._encoded = {key: encoded[key] for key in encoded if key != "attention_mask"}
        self._pad = int(tokenizer.pad_token_id)
        self.sizes = [len(ids) for ids in self._encoded["input_ids"]]

    def batch(self, units: Sequence[int], device: torch.device) -> Batch:
        """Pad the pairs on the right."""
        tensors = collate(self._encoded, units, pad_id=self._pad)
        inputs = {key: value.to(device) for key, value in tensors.items()}
        return Batch(inputs, list(units), inputs["input_ids"].numel())


def _check_room(tokenizer: Any, hypotheses: Sequence[str], most: int) -> None:
    """Refuse hypotheses beside which nothing of a premise would be read."""
    room = most - tokenizer.num_special_tokens_to_add(pair=True)
    texts = list(dict.fromkeys(hypotheses))
    for text, ids in zip(texts, encode(tokenizer, texts), strict=True):
        if len(ids) >= room:
            raise InputError(
                f"the hypothesis that begins {text[:_SHOWN]!r} has {len(ids)} tokens and leaves no "
                f"room for a premise; shorten it, leave it out, or raise model.max_length ({most})"
            )


class PremiseFirstInputs:
    """A premise with its hypotheses is a unit, and a row of a batch; see :mod:`.network`.

    A premise that is too long loses its end; a hypothesis that is too long is refused.
    """

    def __init__(self, tokenizer: Any, pairs: Pairs, settings: ModelSettings) -> None:
        self._layout = block_layout(tokenizer, name=settings.base)
        texts = sorted({text for pair in pairs for text in pair})
        place = {text: number for number, text in enumerate(texts)}
        ids = encode(tokenizer, texts)
        lengths = np.array([len(part) for part in ids], np.int64)
        starts = np.cumsum(lengths) - lengths
        self._tokens = np.array([token for part in ids for token in part], np.int64)
        numbers = np.array([(place[a], place[b]) for a, b in pairs], np.int64).reshape(-1, 2)
        rooms = np.array([settings.max_length, settings.max_hypothesis]) - self._layout.special
        for number in numbers[lengths[numbers[:, 1]] > rooms[1], 1].tolist():
            raise InputError(
                f"the hypothesis that begins {texts[number][:_SHOWN]!r} has {lengths[number]} "
                f"tokens, and {rooms[1]} are read; shorten it, leave it out, or raise "
                f"model.max_hypothesis ({settings.max_hypothesis})"
            )
        kept = np.minimum(lengths[numbers], rooms)
        self._spans = np.stack([starts[numbers], kept], axis=2)
        self._units = list(self._cut(numbers[:, 0]))
        self.sizes = [self._size(unit) for unit in self._units]

    def _cut(self, premises: Ints) -> Iterator[Ints]:
        """Pairs of each premise, premises in order of appearance, in units of similar size."""
        costs = self._spans[:, 1, 1] + self._layout.special
        groups: dict[int, list[int]] = {}
        for pair, premise in enumerate(premises.tolist()):
            groups.setdefault(premise, []).append(pair)
        for members in groups.values():
            parts = min(len(members), -(-int(costs[members].sum()) // _UNIT_TOKENS))
            yield from np.array_split(np.array(members), parts)

    def _size(self, unit: Ints) -> int:
        spans = self._spans[unit]
        return int(spans[0, 0, 1] + spans[:, 1, 1].sum()) + (len(unit) + 1) * self._layout.special

    def batch(self, units: Sequence[int], device: torch.device) -> Batch:
        """Lay the units out in rows."""
        members = [self._units[unit] for unit in units]
        rows = lay_out(
            self._tokens,
            [np.concatenate([self._spans[m[:1], 0], self._spans[m, 1]]) for m in members],
            self._layout,
            device=device.type,
        )
        return Batch(rows.to(device), np.concatenate(members).tolist(), rows.ids.numel())


Inputs = JointInputs | PremiseFirstInputs
"""Encoded pairs in units, which a batch holds whole: ``sizes`` are their tokens, and a batch costs
its longest unit for each unit."""
