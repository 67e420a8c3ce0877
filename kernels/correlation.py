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
    """Correlate x with y in each of many resamples, compiled; the points are sorted only once.

    Args:
        kind: the coefficient.
        x: float64 [n].
        y: float64 [n].
        weights: int64 [B, n], not negative: how often each resample drew each point.

    Returns:
        float64 [B]; see :func:`correlation_reference`.

    Raises:
        ValueError: the shapes differ, or a weight is negative.
    """
    from prevalence.kernels.correlation_numba import correlate_resamples

    _check(x.ndim == 1 and x.shape == y.shape == weights.shape[1:], x, y, weights)
    out = np.empty(len(weights))
    correlate_resamples(KINDS.index(kind), *_contiguous(x, y), np.ascontiguousarray(weights), out)
    return out


def _contiguous(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    return np.ascontiguousarray(x, np.float64), np.ascontiguousarray(y, np.float64)


def _check(shapes_fit: bool, x: Floats, y: Floats, weights: Ints) -> None:
    # The compiled loops index without bounds.
    if not shapes_fit:
        raise ValueError(f"x {x.shape}, y {y.shape} and weights {weights.shape} do not fit")
    if weights.min(initial=0) < 0:
        raise ValueError("weights must not be negative")
