"""Assemble padded pair inputs from token slices: one memory pass a batch, no Python loop a pair.

A batch row is ``prefix + premise + middle + hypothesis + suffix``, then padding; the special
tokens come from the tokenizer's own pair template.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Assembled", "PairLayout", "assemble", "assemble_reference"]

Ints = NDArray[np.int64]


class PairLayout(NamedTuple):
    """The special tokens around a pair, and the token types of its five parts.

    Attributes:
        prefix: int64, before the premise.
        middle: int64, between premise and hypothesis.
        suffix: int64, after the hypothesis.
        types: int64 [5], token type of prefix, premise, middle, hypothesis, suffix.
        pad: padding token.
        pad_type: token type of padding.
    """

    prefix: Ints
    middle: Ints
    suffix: Ints
    types: Ints
    pad: int
    pad_type: int = 0

    @property
    def special(self) -> int:
        """Number of special tokens in a pair."""
        return len(self.prefix) + len(self.middle) + len(self.suffix)


class Assembled(NamedTuple):
    """A padded batch: int64 [B, L] each."""

    ids: Ints
    mask: Ints
    types: Ints


def assemble_reference(tokens: Ints, spans: Ints, layout: PairLayout) -> Assembled:
    """The plain version: concatenate five parts a row, then pad on the right.

    Args:
        tokens: int64 [T], all texts' tokens without special ones, one after the other.
        spans: int64 [B, 4]: premise start and length, hypothesis start and length, in ``tokens``.
        layout: special tokens.

    Returns:
        Token ids, attention mask and token types, int64 [B, longest row].
    """
    rows = []
    for p_start, p_length, h_start, h_length in spans:
        parts = (
            layout.prefix,
            tokens[p_start : p_start + p_length],
            layout.middle,
            tokens[h_start : h_start + h_length],
            layout.suffix,
        )
        rows.append((np.concatenate(parts), np.repeat(layout.types, [len(p) for p in parts])))
    width = max((len(ids) for ids, _ in rows), default=0)
    shape = (len(rows), width)
    batch = Assembled(
        np.full(shape, layout.pad, np.int64),
        np.zeros(shape, np.int64),
        np.full(shape, layout.pad_type, np.int64),
    )
    for row, (ids, types) in enumerate(rows):
        batch.ids[row, : len(ids)] = ids
        batch.mask[row, : len(ids)] = 1
        batch.types[row, : len(ids)] = types
    return batch


def assemble(tokens: Ints, spans: Ints, layout: PairLayout) -> Assembled:
    """Same as :func:`assemble_reference`, compiled.

    Args:
        tokens: int64 [T], contiguous.
        spans: int64 [B, 4].
        layout: special tokens.

    Returns:
        Token ids, attention mask and token types, int64 [B, longest row].

    Raises:
        ValueError: a span lies outside ``tokens``; the compiled loop would read foreign memory.

    numba is imported on the first call; its machine code is cached on disk.
    """
    from prevalence.kernels.assembly_numba import fill

    ends = spans[:, ::2] + spans[:, 1::2]
    if spans.min(initial=0) < 0 or ends.max(initial=0) > tokens.size:
        raise ValueError(f"spans must lie within the {tokens.size} tokens")
    lengths = layout.special + spans[:, 1] + spans[:, 3]
    shape = (len(spans), int(lengths.max(initial=0)))
    batch = Assembled(*(np.empty(shape, np.int64) for _ in range(3)))
    fill(
        tokens,
        np.ascontiguousarray(spans),
        layout.prefix,
        layout.middle,
        layout.suffix,
        layout.types,
        layout.pad,
        layout.pad_type,
        *batch,
    )
    return batch
