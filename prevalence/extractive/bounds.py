"""How large a sentence's support can still be, after some of the reviews have answered.

The reviews are asked in one random order. After n of M, h of which imply the sentence, h follows
a hypergeometric law whatever the sentence's support s is: n draws without replacement from M of
which s count. The largest s for which a count of h or fewer is not too rare is an upper bound.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["ladder", "upper_bounds"]

Ints = NDArray[np.int64]

_LEAST_ALPHA = 1e-250
"""Below it the tail probabilities leave the range of floats, and only exact bounds are used."""

_ROUNDING = 1e-9
"""Relative error that sums of exponentials of log-factorials stay far below."""


def upper_bounds(hits: Ints, drawn: int, population: int, alpha: float) -> Ints:
    """Upper confidence bounds of totals, from a sample without replacement.

    U(h) is the largest total s with P(H ≤ h | s) > α, where H is hypergeometric. Whatever the
    true total is, P(U(H) < s) ≤ α: U(h) < s happens only for h with P(H ≤ h | s) ≤ α, and the
    probability of such an h is at most α. With α = 0 the bound is the exact one, h plus what was
    not drawn.

    Args:
        hits: int64, counts h in the sample, each in [0, drawn].
        drawn: n, the sample's size in [0, population].
        population: M.
        alpha: in [0, 1).

    Returns:
        int64 of the shape of ``hits``, each in [h, h + population − drawn].

    >>> upper_bounds(np.array([0, 3]), 10, 100, 0.05).tolist()
    [24, 59]
    """
    unique, back = np.unique(hits, return_inverse=True)
    low, high = unique.copy(), unique + (population - drawn)
    if alpha < _LEAST_ALPHA:
        return np.asarray(high[back])
    # P(H <= h | s) falls with s: bisect for the largest s that is not refuted.
    while (low < high).any():
        middle = (low + high + 1) // 2
        likely = _lower_tail(unique, middle, drawn, population) > alpha * (1 - _ROUNDING)
        low, high = np.where(likely, middle, low), np.where(likely, high, middle - 1)
    return np.asarray(low[back])


def _lower_tail(hits: Ints, totals: Ints, drawn: int, population: int) -> NDArray[np.float64]:
    """P(H ≤ h) of H hypergeometric, for each pair of a count and a total."""
    logs = _log_factorials(population)
    outcome = np.arange(int(hits.max(initial=0)) + 1)
    total = totals[:, None]
    rest = population - total
    missed = drawn - outcome
    possible = (outcome <= hits[:, None]) & (outcome <= total) & (missed >= 0) & (missed <= rest)
    some, others = np.where(possible, outcome, 0), np.where(possible, missed, 0)
    term = (
        logs[total] - logs[some] - logs[np.where(possible, total - some, 0)]
        + logs[rest] - logs[others] - logs[np.where(possible, rest - others, 0)]
        - (logs[population] - logs[drawn] - logs[population - drawn])
    )  # fmt: skip
    return np.asarray(np.exp(np.where(possible, term, -np.inf)).sum(axis=1))


@lru_cache(maxsize=8)
def _log_factorials(largest: int) -> NDArray[np.float64]:
    logs = np.zeros(largest + 1)
    np.cumsum(np.log(np.arange(1, largest + 1)), out=logs[1:])
    return logs


def ladder(population: int, *, first: int, ratio: float) -> tuple[int, ...]:
    """Sample sizes at which bounds are looked at: geometric, the last one is everything.

    Args:
        population: M ≥ 0.
        first: size of the first sample.
        ratio: of consecutive sizes, above 1.

    >>> ladder(100, first=16, ratio=2.0)
    (16, 32, 64, 100)
    """
    rungs: list[int] = []
    size = float(first)
    while round(size) < population:
        rungs.append(round(size))
        size = max(size * ratio, size + 1)
    return (*rungs, population)
