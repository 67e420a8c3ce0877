"""Attention among the tokens of each sequence, where sequences lie one after the other in one row.

On a CUDA device in half precision it is torch's own attention over sequences of unequal length.
Elsewhere, and in float32, sequences of similar length are copied into padded blocks: as exact, and
at most about twice the work.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prevalence.stats.arrays import Ints

__all__ = ["Added", "Block", "Segments", "attend", "attend_in_blocks", "similar_runs",
           "varlen_fits", "varlen_options"]  # fmt: skip


_VARLEN_OPTIONS = {"scale", "window_size"}
_VARLEN_CAPABILITY = (8, 0)
_WIDEST_HEAD = 256
_HEAD_UNIT = 8


class Block(NamedTuple):
    """Sequences of similar length, padded.

    Attributes:
        rows: the sequences.
        tokens: their tokens.
        places: int64 [n * longest], of tokens in the row; anything at padding.
        inside: bool [n, 1, 1, longest], no padding; None when there is none.
        back: int64, where each token of ``tokens`` lies among the ``n * longest``.
        longest: tokens of the longest.
    """

    rows: slice
    tokens: slice
    places: Tensor
    inside: Tensor | None
    back: Tensor
    longest: int


Added = Callable[[Block, Tensor, Tensor], Tensor | None]
"""From a block, its queries [n, heads, Q, d] and its keys [n, heads, longest, d] to what can be
broadcast to its scores, [n, heads, Q, longest]."""


class Segments:
    """Where sequences lie in one row of tokens.

    Args:
        starts: int32 [N + 1] on the device of the tokens, where each begins, and their end.
        lengths: int64 [N] in the host's memory, at least one sequence, none empty.
        varlen: attend with torch's kernel for sequences of unequal length.
        area: most scores of one head in a block; see :func:`similar_runs`.

    Attributes:
        uses: how often attention among them was asked for.
    """

    def __init__(
        self,
        starts: Tensor,
        lengths: Ints,
        *,
        varlen: bool = False,
        area: int | None = None,
    ) -> None:
        self.starts = starts
        self.lengths = lengths
        self.varlen = varlen
        self.area = area
        self.uses = 0

    @property
    def firsts(self) -> Tensor:
        """int32 [N], the first token of each."""
        return self.starts[:-1]

    @cached_property
    def longest(self) -> int:
        """Tokens of the longest."""
        return int(self.lengths.max())

    @cached_property
    def singles(self) -> Tensor:
        """int32 [N + 1], the starts when each sequence is one token."""
        return torch.arange(len(self.lengths) + 1, dtype=torch.int32, device=self.starts.device)

    @cached_property
    def blocks(self) -> list[Block]:
        """The sequences in padded blocks, built once for all layers."""
        ends = np.concatenate([[0], np.cumsum(self.lengths)])
        return [
            self._block(a, b, int(ends[a]), int(ends[b]))
            for a, b in similar_runs(self.lengths, self.area)
        ]

    def _block(self, first: int, last: int, begin: int, end: int) -> Block:
        device = self.starts.device
        lengths = self.lengths[first:last]
        longest = int(lengths.max())
        starts = self.starts[first:last].long()
        counts = self.starts[first + 1 : last + 1] - starts
        along = torch.arange(longest, device=device)
        inside = along < counts[:, None]
        places = torch.where(inside, starts[:, None] + along, begin).flatten()
        row = torch.repeat_interleave(
            torch.arange(last - first, device=device), counts, output_size=end - begin
        )
        back = row * longest + torch.arange(begin, end, device=device) - starts[row]
        padded = bool(lengths.min() < longest)
        mask = inside[:, None, None] if padded else None
        return Block(slice(first, last), slice(begin, end), places, mask, back, longest)


def similar_runs(lengths: Ints, area: int | None = None) -> Iterator[tuple[int, int]]:
    """Cut sequences, in their order, into runs in which none is over twice as long as another.

    Args:
        lengths: int64 [N].
        area: most that the number of sequences in a run times the square of the longest may be;
            a sequence for which this is too little makes a run alone. None for no such limit.

    Yields:
        First and one past the last sequence of each run.

    >>> list(similar_runs(np.array([9, 8, 5, 4, 9])))
    [(0, 3), (3, 4), (4, 5)]
    >>> list(similar_runs(np.array([9, 8, 5, 4, 9]), 200))
    [(0, 2), (2, 4), (4, 5)]
    """
    most = np.inf if area is None else area
    start = 0
    shortest = longest = int(lengths[0]) if len(lengths) else 0
    for row, length in enumerate(lengths.tolist()):
        low, high = min(shortest, length), max(longest, length)
        if high > 2 * low or (row > start and (row + 1 - start) * high**2 > most):
            yield start, row
            start, low, high = row, length, length
        shortest, longest = low, high
    if len(lengths):
        yield start, len(lengths)


_Function = TypeVar("_Function", bound=Callable[..., Any])


def _never_compiled(function: _Function) -> _Function:
    """A function that compiled layers call as it is.

    What :class:`Segments` knows is in the host's memory and differs from batch to batch. A compiler
    would take it for a part of the layer: it turns the lengths into a tensor, on which it fails in
    inference mode, and compiles anew for other numbers.
    """
    compiler: Any = torch.compiler
    return cast("_Function", compiler.disable(function))


@_never_compiled
def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    segments: Segments,
    *,
    scale: float | None = None,
    reach: int | None = None,
    firsts_only: bool = False,
) -> Tensor:
    """Attention of tokens to those of their own sequence.

    Args:
        query: float [1, heads, T, d]; with ``firsts_only`` [1, heads, N, d].
        key: float [1, heads, T, d].
        value: likewise.
        segments: the N sequences in the T tokens.
        scale: of the scores; None for one over the root of d.
        reach: how far a token sees to either side; None for all of its sequence.
        firsts_only: the queries are those of the sequences' first tokens.

    Returns:
        float [1, T or N, heads, d].
    """
    segments.uses += 1
    parts = query[0].transpose(0, 1), key[0].transpose(0, 1), value[0].transpose(0, 1)
    # The kernel counts a window from the end of a sequence, so that a first token alone has none.
    windowed = firsts_only and reach is not None
    if segments.varlen and not windowed:
        attended = _by_kernel(*parts, segments, scale=scale, reach=reach, firsts_only=firsts_only)
    else:
        attended = attend_in_blocks(
            *parts,
            segments,
            scale=scale,
            added=lambda block, *_: _mask(block, reach, firsts_only=firsts_only),
            firsts_only=firsts_only,
        )
    return attended[None]


def _by_kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    segments: Segments,
    *,
    scale: float | None,
    reach: int | None,
    firsts_only: bool,
) -> Tensor:
    from torch.nn.attention.varlen import varlen_attn

    # Keys are not split, so that the order of sums does not depend on what else is in the row.
    # Before it could be chosen (torch 2.11), sequences of unequal length were never split.
    one_split: dict[str, Any] = {"num_splits": 1} if "num_splits" in varlen_options() else {}
    attended = varlen_attn(
        query,
        key,
        value,
        segments.singles if firsts_only else segments.starts,
        segments.starts,
        1 if firsts_only else segments.longest,
        segments.longest,
        scale=scale,
        window_size=(-1, -1) if reach is None else (reach, reach),
        **one_split,
    )
    return cast("Tensor", attended)


def attend_in_blocks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    segments: Segments,
    *,
    scale: float | None,
    added: Added,
    firsts_only: bool,
) -> Tensor:
    """Attention of tokens to those of their own sequence, in padded blocks.

    Args:
        query: float [T, heads, d]; with ``firsts_only`` [N, heads, d].
        key: float [T, heads, d].
        value: likewise.
        segments: the N sequences in the T tokens.
        scale: of the scores; None for one over the root of d.
        added: what is added to the scores of each block, padding with minus infinity; or a mask.
        firsts_only: the queries are those of the sequences' first tokens.

    Returns:
        As the queries.
    """
    attended = torch.empty_like(query)
    for block in segments.blocks:
        count = block.rows.stop - block.rows.start
        asked = query[block.rows] if firsts_only else query.index_select(0, block.places)
        known = (part.index_select(0, block.places) for part in (key, value))
        queries, keys, values = (
            part.view(count, -1, *part.shape[1:]).transpose(1, 2) for part in (asked, *known)
        )
        out = nn.functional.scaled_dot_product_attention(
            queries, keys, values, attn_mask=added(block, queries, keys), scale=scale
        )
        flat = out.transpose(1, 2).flatten(0, 1)
        if firsts_only:
            attended[block.rows] = flat
        else:
            attended[block.tokens] = flat.index_select(0, block.back)
    return attended


def _mask(block: Block, reach: int | None, *, firsts_only: bool) -> Tensor | None:
    """Which keys queries see, to be broadcast to [n, heads, queries, keys]; None for all."""
    if reach is None or reach >= block.longest - 1:
        return block.inside
    keys = torch.arange(block.longest, device=block.places.device)
    queries = keys[:1] if firsts_only else keys
    near = (keys - queries[:, None]).abs() <= reach
    return near if block.inside is None else near & block.inside


def varlen_fits(device: Any, dtype: torch.dtype, head_size: int) -> bool:
    """Whether torch's kernel for sequences of unequal length can run.

    Args:
        device: torch device.
        dtype: of queries, keys and values; the kernel has no float32.
        head_size: numbers in one head.
    """
    return (
        device.type == "cuda"
        and dtype in {torch.float16, torch.bfloat16}
        and head_size <= _WIDEST_HEAD
        and head_size % _HEAD_UNIT == 0
        and torch.cuda.get_device_capability(device) >= _VARLEN_CAPABILITY
        and varlen_options() >= _VARLEN_OPTIONS
    )


@lru_cache(maxsize=1)
def varlen_options() -> frozenset[str]:
    """The options of this torch's kernel; none where it has no such kernel."""
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:
        return frozenset()
    return frozenset(inspect.signature(varlen_attn).parameters)
