"""Token-budget batches of pairs, sorted by length inside shuffled pools."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from prevalence.training.mixture import Example

__all__ = ["collate", "encode", "plan_batches"]

Encoded = dict[str, list[list[int]]]
_POOL_BATCHES = 32


def encode(tokenizer: Any, pairs: Sequence[tuple[str, str]], *, max_length: int) -> Encoded:
    """Tokenise pairs; a pair that is too long loses the end of its premise.

    Args:
        tokenizer: Tokenizer of the base checkpoint.
        pairs: Premise and hypothesis.
        max_length: Longest pair in tokens.

    Returns:
        Lists of token ids by model input name.
    """
    encoded = tokenizer(
        [premise for premise, _ in pairs],
        [hypothesis for _, hypothesis in pairs],
        truncation="only_first",
        max_length=max_length,
        padding=False,
    )
    return {key: encoded[key] for key in encoded if key != "attention_mask"}


def plan_batches(
    lengths: Sequence[int],
    *,
    budget: int,
    rng: np.random.Generator | None = None,
    padded: bool = True,
) -> list[list[int]]:
    """Cut examples into batches of at most `budget` tokens.

    Args:
        lengths: Tokens of each example.
        budget: Tokens a batch; a single longer example still gets its own batch.
        rng: Shuffles examples into pools and then the batches; None sorts everything by length,
            which is what prediction wants.
        padded: Whether every example of a batch takes as many tokens as the longest one.

    Returns:
        Index lists that cover every example once.
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    if rng is None:
        return _cut(np.argsort(sizes, kind="stable"), sizes, budget, padded=padded)
    order = rng.permutation(len(sizes))
    mean = max(float(sizes.mean()), 1.0) if len(sizes) else 1.0
    pool = max(int(_POOL_BATCHES * budget / mean), 1)
    batches: list[list[int]] = []
    for start in range(0, len(order), pool):
        part = order[start : start + pool]
        part = part[np.argsort(sizes[part], kind="stable")]
        batches.extend(_cut(part, sizes, budget, padded=padded))
    return [batches[int(i)] for i in rng.permutation(len(batches))]


def _cut(
    order: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any], budget: int, *, padded: bool
) -> list[list[int]]:
    """Fill batches along an order of rising length."""
    batches: list[list[int]] = []
    current: list[int] = []
    used = 0
    for index in order.tolist():
        size = int(sizes[index])
        total = (len(current) + 1) * size if padded else used + size
        if current and total > budget:
            batches.append(current)
            current, used = [], 0
        current.append(index)
        used += size
    return [*batches, current] if current else batches


def collate(encoded: Encoded, rows: Sequence[int], *, pad_id: int) -> dict[str, torch.Tensor]:
    """Pad one batch on the right.

    Args:
        encoded: Output of `encode`.
        rows: Which examples.
        pad_id: Padding token.

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


def target_tensors(examples: Sequence[Example]) -> tuple[torch.Tensor, torch.Tensor]:
    """Stack targets: float32 [n, 3] and bool [n] that marks the binary ones."""
    targets = torch.tensor([example.target[:3] for example in examples], dtype=torch.float32)
    return targets, torch.tensor([example.target.binary for example in examples])
