"""Pairs → token spans within the model's limit → length-sorted batches under a token budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Fitted", "batches", "cut_longest_first", "fit"]

Ints = NDArray[np.int64]


class Fitted(NamedTuple):
    """Model inputs for pairs, several for a pair when its premise is read in windows.

    Attributes:
        spans: int64 [R, 4]: premise start and length, hypothesis start and length.
        owner: int64 [R], the pair that each row answers, ascending.
        truncated: bool [P], the end of a text is not read.
        too_long: bool [P], the hypothesis leaves the premise no room; such pairs have no row.
    """

    spans: Ints
    owner: Ints
    truncated: NDArray[np.bool_]
    too_long: NDArray[np.bool_]


def fit(
    premises: tuple[Ints, Ints],
    hypotheses: tuple[Ints, Ints],
    *,
    room: int,
    stride: int | None = None,
    longest_first: bool = False,
) -> Fitted:
    """Make every pair fit, cutting the premise only, or whichever text is the longer.

    Args:
        premises: starts and lengths of each pair's premise, int64 [P] each.
        hypotheses: likewise of the hypotheses.
        room: tokens for premise and hypothesis together.
        stride: tokens by which successive windows over a long premise advance; None reads its
            beginning only. A window is never advanced by more than its own length.
        longest_first: cut as :func:`cut_longest_first` does, so that no hypothesis is too long.

    Returns:
        Rows in pair order.
    """
    p_start, p_length = premises
    h_start, h_length = hypotheses
    shortened = np.zeros(p_length.size, np.bool_)
    if longest_first:
        shortened = p_length + h_length > room
        p_length, h_length = cut_longest_first(p_length, h_length, room=room)
    space = room - h_length
    too_long = space < np.minimum(p_length, 1)
    over = (p_length > space) & ~too_long
    windows = np.where(too_long, 0, 1)
    if stride is not None:
        step = np.maximum(np.minimum(stride, space), 1)
        windows = np.where(over, 1 + -(-(p_length - space) // step), windows)
    owner = np.repeat(np.arange(p_length.size), windows)
    spans = np.stack([p_start, np.minimum(p_length, space), h_start, h_length], axis=1)[owner]
    if stride is not None:
        nth = np.arange(owner.size) - np.repeat(np.cumsum(windows) - windows, windows)
        last = np.maximum(p_length - space, 0)[owner]
        spans[:, 0] += np.minimum(nth * step[owner], last)
        over = np.zeros_like(over)
    return Fitted(spans, owner, over | shortened, too_long)


def cut_longest_first(first: Ints, second: Ints, *, room: int) -> tuple[Ints, Ints]:
    """Lengths of two texts after the longer one has given way until both fit.

    Args:
        first: tokens of the first texts, int64 [P].
        second: tokens of the second texts, int64 [P].
        room: tokens for both together.

    Returns:
        The lengths to keep. When both are longer than half the room, the first text gets half
        of it, rounded down if it is not the longer one and up if it is.

    Source: the strategy ``longest_first`` of Hugging Face tokenizers.

    >>> [kept.tolist() for kept in cut_longest_first(np.array([9, 9]), np.array([2, 9]), room=7)]
    [[5, 3], [2, 4]]
    """
    short, long = np.minimum(first, second), np.maximum(first, second)
    over, half = first + second > room, room // 2
    kept_short = np.where(over, np.minimum(short, half), short)
    kept_long = np.where(over, room - kept_short, long)
    swapped = first > second
    return np.where(swapped, kept_long, kept_short), np.where(swapped, kept_short, kept_long)


def batches(lengths: Ints, budget: int) -> Iterator[Ints]:
    """Group rows of similar length so that no padded batch exceeds a token budget.

    Args:
        lengths: tokens of each row, int64 [R].
        budget: most tokens in a batch, padding included; a longer row goes alone.

    Yields:
        Row numbers of a batch, longest first: memory trouble shows at the start, not at the end.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < order.size:
        rows = max(1, int(budget // max(int(lengths[order[start]]), 1)))
        yield order[start : start + rows]
        start += rows
