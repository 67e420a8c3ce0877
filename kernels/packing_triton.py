"""The GPU kernel of :mod:`prevalence.kernels.packing`; importing it imports Triton.

One program fills up to ``_BLOCK`` tokens of one pair. Reads and writes run along the tokens, so
they are coalesced; a program beyond the end of its pair does nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import triton
import triton.language as tl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["OPTIONS", "fill", "launch"]

_BLOCK = 128
"""Most pairs of a review and a sentence have between 64 and 256 tokens."""

OPTIONS = {"enable_fp_fusion": False}
"""Of the compiler. There is nothing to fuse, but Triton warns where nothing is said of it."""


def _kernel(function: Callable[..., object]) -> Any:
    return triton.jit(function)


@_kernel
def fill(  # type: ignore[no-untyped-def]  # noqa: PLR0917
    tokens,
    spans,
    starts,
    table,
    ids,
    kinds,
    positions,
    prefix,
    middle,
    first_position,
    block: tl.constexpr,
):
    """Write a block of a row's tokens, their kinds and positions."""
    row = tl.program_id(0)
    begin = tl.load(starts + row)
    length = tl.load(starts + row + 1) - begin
    at = tl.program_id(1) * block + tl.arange(0, block)
    premise = tl.load(spans + row * 4)
    hypothesis = tl.load(spans + row * 4 + 2)
    after_premise = prefix + tl.load(spans + row * 4 + 1)
    after_middle = after_premise + middle
    after_hypothesis = after_middle + tl.load(spans + row * 4 + 3)

    inside = at < length
    part = (at >= prefix).to(tl.int32) + (at >= after_premise).to(tl.int32)
    part += (at >= after_middle).to(tl.int32) + (at >= after_hypothesis).to(tl.int32)
    is_text = (part == 1) | (part == 3)
    source = tl.where(part == 1, premise + at - prefix, hypothesis + at - after_middle)
    text = tl.load(tokens + source, mask=inside & is_text, other=0)
    # The texts that a special token follows are no special tokens: count them out.
    nth = tl.where(part == 0, at, at - (after_premise - prefix))
    nth = tl.where(part == 4, nth - (after_hypothesis - after_middle), nth)
    special = tl.load(table + 5 + nth, mask=inside & (is_text == 0), other=0)
    kind = tl.load(table + part, mask=inside, other=0)

    out = begin + at
    tl.store(ids + out, tl.where(is_text, text.to(tl.int64), special), mask=inside)
    tl.store(kinds + out, kind, mask=inside)
    tl.store(positions + out, first_position + at, mask=inside)


def launch(
    given: tuple[Any, Any, Any],
    table: Any,
    out: tuple[Any, Any, Any],
    *,
    longest: int,
    fixed: Sequence[int],
    first_position: int,
) -> None:
    """Fill ids, token types and positions, all tensors on one device.

    Args:
        given: tokens [T], spans int64 [B, 4], starts int32 [B + 1].
        table: int64, the five parts' token types, then the special tokens.
        out: [N] each, written.
        longest: tokens of the longest pair, at least 1.
        fixed: numbers of special tokens before, between and behind the texts.
        first_position: of each pair.
    """
    grid = (len(given[1]), triton.cdiv(longest, _BLOCK))
    sizes = fixed[0], fixed[1], first_position
    fill[grid](*given, table, *out, *sizes, block=_BLOCK, **OPTIONS)
