"""The compiled loop of :mod:`prevalence.kernels.assembly`; importing it imports numba."""

from __future__ import annotations

import numba

__all__ = ["fill"]


@numba.njit(cache=True, nogil=True)
def _copy(ids, kinds, at, source, start, length, kind):  # type: ignore[no-untyped-def]
    for i in range(length):
        ids[at + i] = source[start + i]
        kinds[at + i] = kind
    return at + length


@numba.njit(cache=True, nogil=True)
def fill(  # type: ignore[no-untyped-def]
    tokens, spans, prefix, middle, suffix, types, pad, pad_type, ids, mask, kinds
):
    """Fill ``ids``, ``mask`` and ``kinds`` (int64 [B, L]) row by row, padding on the right."""
    for row in range(spans.shape[0]):
        at = _copy(ids[row], kinds[row], 0, prefix, 0, len(prefix), types[0])
        at = _copy(ids[row], kinds[row], at, tokens, spans[row, 0], spans[row, 1], types[1])
        at = _copy(ids[row], kinds[row], at, middle, 0, len(middle), types[2])
        at = _copy(ids[row], kinds[row], at, tokens, spans[row, 2], spans[row, 3], types[3])
        at = _copy(ids[row], kinds[row], at, suffix, 0, len(suffix), types[4])
        mask[row, :at] = 1
        mask[row, at:] = 0
        ids[row, at:] = pad
        kinds[row, at:] = pad_type
