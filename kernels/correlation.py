"""Kendall's tau-b, Spearman's rho and Pearson's r over many rows or many resamples at once.

A resample is a vector of whole weights: how often each point was drawn. A point drawn w times
counts as w equal points, so a bootstrap copies no data, and a point of weight 0 is left out.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "KINDS",
    "Kind",
    "correlation_reference",
    "resampled_correlations",
    "row_correlations",
]

Kind = Literal["kendall", "spearman", "pearson"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The coefficients; Kendall is tau-b, Spearman gives tied values their mean rank."""

_FEW = 48
"""Up to so many columns, all pairs of them are compared by matrix products."""
_EXACT = 5792
"""So many draws make at most 2^24 pairs, the whole numbers that float32 holds."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def correlation_reference(kind: Kind, x: Floats, y: Floats, weights: Ints | None = None) -> float:
    """The plain version: repeat each point as its weight says, then the textbook formula.

    Args:
        kind: the coefficient.
        x: float64 [n].
        y: float64 [n].
        weights: int64 [n], not negative; None is all ones.

    Returns:
        The coefficient in [-1, 1]; NaN where x or y is constant, has fewer than two points, or
        holds a NaN.

    Source: Kendall 1945 for tau-b.
    """
    if weights is not None:
        x, y = np.repeat(x, weights), np.repeat(y, weights)
    if x.size < 2 or np.isnan(x).any() or np.isnan(y).any() or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    if kind == "kendall":
        x, y = (np.sign(v[:, None] - v[None, :]).ravel() for v in (x, y))
        return float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))
    if kind == "spearman":
        x, y = (_mean_ranks(values) for values in (x, y))
    return float(np.clip(np.corrcoef(x, y)[0, 1], -1.0, 1.0))


def _mean_ranks(values: Floats) -> Floats:
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: Floats = (ends - (counts - 1) / 2.0)[group]
    return ranks


def row_correlations(kind: Kind, x: Floats, y: Floats, weights: Ints | None = None) -> Floats:
    """Correlate each row of x with the same row of y, compiled.

    Args:
        kind: the coefficient.
        x: float64 [R, n].
        y: float64 [R, n].
        weights: int64 [R, n], not negative; None is all ones.

    Returns:
        float64 [R]; see :func:`correlation_reference`.

    Raises:
        ValueError: the shapes differ, or a weight is negative.

    numba is imported on the first call; its machine code is cached on disk.
    """
    from prevalence.kernels.correlation_numba import correlate_rows

    if weights is None:
        weights = np.ones(x.shape, np.int64)
    _check(x.ndim == 2 and x.shape == y.shape == weights.shape, x, y, weights)
    out = np.empty(len(x))
    correlate_rows(KINDS.index(kind), *_contiguous(x, y), np.ascontiguousarray(weights), out)
    return out


def resampled_correlations(kind: Kind, x: Floats, y: Floats, weights: Ints) -> Floats:
    """Correlate each row of x with that of y in each of many resamples of the columns.

    Args:
        kind: the coefficient.
        x: float64 [R, n].
        y: float64 [R, n].
        weights: int64 [B, n], not negative: how often each resample drew each column.

    Returns:
        float64 [B, R]; a NaN counts as a point of weight 0, otherwise see
        :func:`correlation_reference`.

    Raises:
        ValueError: the shapes differ, or a weight is negative.
    """
    fits = x.ndim == weights.ndim == 2 and x.shape == y.shape
    _check(fits and x.shape[1:] == weights.shape[1:], x, y, weights)
    if kind == "kendall" and x.shape[1] <= _FEW:
        return _resampled_taus(x, y, weights)
    from prevalence.kernels.correlation_numba import correlate_resamples

    out = np.empty((len(x), len(weights)))
    for row, (a, b) in enumerate(zip(x, y, strict=True)):
        present = ~(np.isnan(a) | np.isnan(b))
        drawn = np.ascontiguousarray(weights if present.all() else weights[:, present])
        correlate_resamples(
            KINDS.index(kind), *_contiguous(a[present], b[present]), drawn, out[row]
        )
    return out.T


def _resampled_taus(x: Floats, y: Floats, weights: Ints) -> Floats:
    """Tau-b as three matrix products over all pairs of columns.

    A resample draws a pair of columns w_i·w_j times. float32 holds these whole numbers and their
    sums exactly as long as a resample has at most _EXACT draws.
    """
    first, second = np.triu_indices(x.shape[1], k=1)
    present = ~(np.isnan(x) | np.isnan(y))
    x_signs, y_signs = (
        np.sign(np.where(present, v, 0.0)[:, first] - np.where(present, v, 0.0)[:, second])
        * (present[:, first] & present[:, second])
        for v in (x, y)
    )
    dtype = np.float32 if weights.sum(axis=1).max(initial=0) <= _EXACT else np.float64
    drawn = (weights[:, first] * weights[:, second]).astype(dtype)
    score, x_pairs, y_pairs = (
        (drawn @ signs.T.astype(dtype)).astype(np.float64)
        for signs in (x_signs * y_signs, np.abs(x_signs), np.abs(y_signs))
    )
    pairs = x_pairs * y_pairs
    out = np.full(score.shape, np.nan)
    taus: Floats = np.divide(score, np.sqrt(pairs), out=out, where=pairs > 0)
    return np.clip(taus, -1.0, 1.0, out=taus)


def _contiguous(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    return np.ascontiguousarray(x, np.float64), np.ascontiguousarray(y, np.float64)


def _check(shapes_fit: bool, x: Floats, y: Floats, weights: Ints) -> None:
    # The compiled loops index without bounds.
    if not shapes_fit:
        raise ValueError(f"x {x.shape}, y {y.shape} and weights {weights.shape} do not fit")
    if weights.min(initial=0) < 0:
        raise ValueError("weights must not be negative")
