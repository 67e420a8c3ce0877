"""The GPU kernel of :mod:`prevalence.kernels.attention`; importing it imports Triton.

One program computes one tile of queries in one head. It runs over the keys of the premise and then
over those of the queries' own texts, a block at a time, and keeps for each query the greatest score
so far, the sum of the weights and the weighted sum of values, all in float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import triton
import triton.language as tl

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["OPTIONS", "attend_tile", "constants", "launch", "warps"]

_LOG2_E = 1.4426950408889634
_NARROWEST = 16
"""Tensor cores take no fewer columns than this; those of smaller heads are filled up with 0."""
_KEYS = 32
"""In a block. More of them take more registers, and more padding where texts are short."""
_WARPS = {torch.float32: 8}
"""Of a program, where 4 would have too few registers: float32 is not for tensor cores."""
_UNALIGNED = ["tiles", "positions", "rows", "places"]
"""Parts of a batch that is sent in one copy: they begin anywhere, and one program is for all."""

OPTIONS = {"enable_fp_fusion": True, "num_stages": 2}
"""Of the compiler."""


def _kernel(function: Callable[..., object]) -> Any:
    return triton.jit(do_not_specialize=["reach"], do_not_specialize_on_alignment=_UNALIGNED)(
        function
    )


@triton.jit
def _whole(at):  # type: ignore[no-untyped-def]
    """A number of a row of a table, or many; rows are fewer than 2^31, their elements are not."""
    return tl.load(at).to(tl.int32)


@triton.jit
def _rows(matrix, stride, row, column, mask):  # type: ignore[no-untyped-def]
    """The numbers of one head in rows of a matrix, with 0 outside the mask."""
    at = row[:, None].to(tl.int64) * stride + column[None, :]
    return tl.load(matrix + at, mask=mask, other=0)


@_kernel
def attend_tile(  # type: ignore[no-untyped-def]  # noqa: PLR0917
    query, key, value, out, query_stride, key_stride, value_stride, out_stride,
    tiles, positions, rows, places, biases, reach, scale, bias_scale,
    heads: tl.constexpr, size: tl.constexpr, width: tl.constexpr, queries: tl.constexpr,
    keys: tl.constexpr, selected: tl.constexpr, relative: tl.constexpr,
):  # fmt: skip
    """Write what the queries of a tile take from the values, in one head; scores are to base 2."""
    head = tl.program_id(0) % heads
    tile = tiles + (tl.program_id(0) // heads) * 6
    first, count = _whole(tile), _whole(tile + 1)
    premise, premise_end = _whole(tile + 2), _whole(tile + 3)
    own, own_end = _whole(tile + 4), _whole(tile + 5)
    row = first + tl.arange(0, queries)
    asked = row < first + count
    place = row
    if selected:
        row = tl.load(rows + row, mask=asked, other=0).to(tl.int32)
        place = tl.load(places + row, mask=asked, other=0).to(tl.int32)
    position = tl.load(positions + place, mask=asked, other=0).to(tl.int32)
    # A hypothesis is seen as following its premise.
    follows = tl.where(own < own_end, premise_end, premise) + position

    columns = tl.arange(0, width)
    used = columns[None, :] < size
    column = head * size + columns
    q = _rows(query, query_stride, row, column, asked[:, None] & used)
    greatest = tl.full([queries], float("-inf"), tl.float32)
    total = tl.zeros([queries], tl.float32)
    taken = tl.zeros([queries, width], tl.float32)
    premise_blocks = tl.cdiv(premise_end - premise, keys)
    for block in range(premise_blocks + tl.cdiv(own_end - own, keys)):
        is_own = block >= premise_blocks
        begin = tl.where(is_own, own + (block - premise_blocks) * keys, premise + block * keys)
        known = begin + tl.arange(0, keys)
        inside = known < tl.where(is_own, own_end, premise_end)
        k = _rows(key, key_stride, known, column, inside[:, None] & used)
        v = _rows(value, value_stride, known, column, inside[:, None] & used)
        # The place of its first token tells a text from all others.
        text = known - tl.load(positions + known, mask=inside, other=0).to(tl.int32)
        text = tl.where(inside, text, -1)
        seen = text[None, :] == tl.where(is_own, place - position, premise)[:, None]
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        if relative:
            # Keys that are not seen may be farther away than the table reaches.
            distance = known[None, :] - tl.where(is_own, place, follows)[:, None]
            distance = tl.minimum(tl.maximum(distance, -reach), reach)
            bias = tl.load(biases + (head * (2 * reach + 1) + reach) + distance)
            scores += bias.to(tl.float32) * bias_scale
        scores = tl.where(seen, scores, float("-inf"))
        # The premise comes first and is never empty, so that no query has seen nothing here.
        greater = tl.maximum(greatest, tl.max(scores, 1))
        shrunk = tl.exp2(greatest - greater)
        weights = tl.exp2(scores - greater[:, None])
        total = total * shrunk + tl.sum(weights, 1)
        taken = tl.dot(weights.to(v.dtype), v, taken * shrunk[:, None], input_precision="ieee")
        greatest = greater

    at = row[:, None].to(tl.int64) * out_stride + column[None, :]
    mixed = (taken / total[:, None]).to(out.dtype.element_ty)
    tl.store(out + at, mixed, mask=asked[:, None] & used)


def constants(
    heads: int, size: int, *, queries: int, selected: bool, relative: bool
) -> dict[str, Any]:
    """What the kernel is compiled for, by parameter.

    Args:
        heads: number of heads.
        size: numbers in one head.
        queries: most queries in a tile, a power of 2 of at least 16.
        selected: whether queries are rows of their own, and not all tokens.
        relative: whether there are biases.
    """
    width = max(_NARROWEST, triton.next_power_of_2(size))
    return {"heads": heads, "size": size, "width": width, "queries": queries, "keys": _KEYS,
            "selected": selected, "relative": relative}  # fmt: skip


def warps(dtype: torch.dtype) -> int:
    """Of one program."""
    return _WARPS.get(dtype, 4)


def launch(
    given: tuple[Any, Any, Any],
    out: Any,
    where: tuple[Any, Any, Any, Any],
    biases: Any | None,
    *,
    heads: int,
    queries: int,
) -> None:
    """Fill ``out``, all tensors on one device, with rows whose numbers lie next to each other.

    Args:
        given: queries [Q, H], keys [T, H] and values [T, H].
        out: [Q, H], written.
        where: tiles int64 [N, 6], positions int64 [T], and either rows int64 [Q] and places
            int64 [Q] or None twice.
        biases: [heads, 2 · reach + 1], or None.
        heads: number of heads.
        queries: most queries in a tile.
    """
    tiles, positions, rows, places = where
    size = out.shape[1] // heads
    reach = 0 if biases is None else biases.shape[1] // 2
    selected = rows is not None
    # Pointers that the kernel is compiled not to read need to be pointers all the same.
    pointers = (rows, places) if selected else (positions, positions)
    attend_tile[(len(tiles) * heads,)](
        *given, out, *(part.stride(0) for part in (*given, out)),
        tiles, positions, *pointers, out if biases is None else biases, reach,
        size**-0.5 * _LOG2_E, _LOG2_E,
        **constants(heads, size, queries=queries, selected=selected, relative=biases is not None),
        num_warps=warps(out.dtype), **OPTIONS,
    )  # fmt: skip
