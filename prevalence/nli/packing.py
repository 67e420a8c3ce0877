"""Pairs → token spans within the model's limit → length-sorted batches under a token budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from prevalence.stats.arrays import Ints

__all__ = ["Fitted", "batches", "cut_longest_first", "fit", "fit_blocks", "packs"]


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
    shortened = np.zeros(premises[1].size, np.bool_)
    if longest_first:
        shortened = premises[1] + hypotheses[1] > room
        kept = cut_longest_first(premises[1], hypotheses[1], room=room)
        premises, hypotheses = (premises[0], kept[0]), (hypotheses[0], kept[1])
    space = room - hypotheses[1]
    too_long = space < np.minimum(premises[1], 1)
    fitted = _cut(premises, hypotheses, space=space, too_long=too_long, stride=stride)
    return fitted._replace(truncated=fitted.truncated | shortened)


def fit_blocks(
    premises: tuple[Ints, Ints],
    hypotheses: tuple[Ints, Ints],
    *,
    premise_room: int,
    hypothesis_room: int,
    stride: int | None,
    longest_first: bool,
) -> Fitted:
    """Like :func:`fit`, where each part of a pair has a limit of its own.

    Args:
        premises: starts and lengths of each pair's premise, int64 [P] each.
        hypotheses: likewise of the hypotheses.
        premise_room: tokens for the premise.
        hypothesis_room: tokens for the hypothesis; a longer one has no row.
        stride: as in :func:`fit`.
        longest_first: cut a longer hypothesis as well, so that every pair has a row.

    Returns:
        Rows in pair order. Pairs of one premise have the same windows.
    """
    space = np.full_like(hypotheses[1], premise_room)
    over = hypotheses[1] > hypothesis_room
    if not longest_first:
        return _cut(premises, hypotheses, space=space, too_long=over, stride=stride)
    kept = (hypotheses[0], np.minimum(hypotheses[1], hypothesis_room))
    fitted = _cut(premises, kept, space=space, too_long=np.zeros_like(over), stride=stride)
    return fitted._replace(truncated=fitted.truncated | over)


def _cut(
    premises: tuple[Ints, Ints],
    hypotheses: tuple[Ints, Ints],
    *,
    space: Ints,
    too_long: NDArray[np.bool_],
    stride: int | None,
) -> Fitted:
    """Cut premises, or read them in windows, to the space that each pair has for its own."""
    p_start, p_length = premises
    over = (p_length > space) & ~too_long
    windows = np.where(too_long, 0, 1)
    if stride is not None:
        step = np.maximum(np.minimum(stride, space), 1)
        windows = np.where(over, 1 + -(-(p_length - space) // step), windows)
    owner = np.repeat(np.arange(p_length.size), windows)
    spans = np.stack([p_start, np.minimum(p_length, space), *hypotheses], axis=1)[owner]
    if stride is not None:
        nth = np.arange(owner.size) - np.repeat(np.cumsum(windows) - windows, windows)
        last = np.maximum(p_length - space, 0)[owner]
        spans[:, 0] += np.minimum(nth * step[owner], last)
        over = np.zeros_like(over)
    return Fitted(spans, owner, over, too_long)


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


def packs(lengths: Ints, budget: int, *, most: int = 32_768) -> Iterator[Ints]:
    """Group rows so that their tokens together, without padding, stay within a budget.

    Args:
        lengths: tokens of each row, int64 [R], positive.
        budget: most tokens in a pack; a longer row goes alone.
        most: rows in a pack, a limit of attention kernels.

    Yields:
        Row numbers of a pack, longest first, as in :func:`batches`.

    >>> [pack.tolist() for pack in packs(np.array([2, 9, 3, 4]), 7)]
    [[1], [3, 2], [0]]
    """
    order = np.argsort(-lengths, kind="stable")
    ends = np.cumsum(lengths[order])
    start, used = 0, 0
    while start < order.size:
        fitting = int(np.searchsorted(ends, used + budget, side="right"))
        end = min(max(start + 1, fitting), start + most)
        yield order[start:end]
        start, used = end, int(ends[end - 1])
