"""The compiled loops that lay out pairs, padded and packed; importing it imports numba."""

from __future__ import annotations

from prevalence.kernels.compiling import compiled

__all__ = ["fill", "fill_packed"]


@compiled
def _copy(  # type: ignore[no-untyped-def]  # noqa: PLR0917
    ids, kinds, at, source, start, length, kind
):
    for i in range(length):
        ids[at + i] = source[start + i]
        kinds[at + i] = kind
    return at + length


@compiled
def fill(  # type: ignore[no-untyped-def]  # noqa: PLR0917
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


@compiled
def fill_packed(  # type: ignore[no-untyped-def]  # noqa: PLR0917
    tokens, spans, starts, prefix, middle, suffix, types, first_position, ids, kinds, positions
):
    """Fill ``ids``, ``kinds`` and ``positions`` (int [N]) pair by pair, without padding."""
    for row in range(spans.shape[0]):
        at = _copy(ids, kinds, starts[row], prefix, 0, len(prefix), types[0])
        at = _copy(ids, kinds, at, tokens, spans[row, 0], spans[row, 1], types[1])
        at = _copy(ids, kinds, at, middle, 0, len(middle), types[2])
        at = _copy(ids, kinds, at, tokens, spans[row, 2], spans[row, 3], types[3])
        _copy(ids, kinds, at, suffix, 0, len(suffix), types[4])
        for i in range(starts[row], starts[row + 1]):
            positions[i] = first_position + i - starts[row]
