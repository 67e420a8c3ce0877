"""Is one metric closer to people than another? Permutations, Williams' test, Holm's correction."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.errors import ConfigurationError, InputError
from prevalence.meta.levels import correlate_many, system_means
from prevalence.stats.coefficients import coefficient
from prevalence.stats.resampling import draw_swaps, paired_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.meta.levels import Level
    from prevalence.stats.arrays import Floats
    from prevalence.stats.coefficients import Kind, Undefined

__all__ = ["MetricComparison", "holm", "permutation_test", "williams_test"]

_BLOCK = 64
"""Permutations held in memory at a time."""


class MetricComparison(NamedTuple):
    """Two metrics against the same people.

    Attributes:
        first: correlation of the first metric.
        second: correlation of the second.
        statistic: first minus second for a permutation, Williams' t otherwise.
        p: two-sided p-value of equal correlations; NaN where one of them is undefined, or one in
            every trial.
        compared: summaries that people rated and that have both metrics: those that count.
        summaries: summaries that people rated and that have either metric.
    """

    first: float
    second: float
    statistic: float
    p: float
    compared: int
    summaries: int


def permutation_test(
    level: Level,
    kind: Kind,
    first: Floats,
    second: Floats,
    human: Floats,
    *,
    over: str = "both",
    trials: int,
    seed: int,
    undefined: Undefined = "drop",
) -> MetricComparison:
    """Swap the two metrics' scores at random and see how far their correlations then differ.

    Both metrics are standardised over the summaries that have all three scores, since scores
    change places only on one scale.

    Args:
        level: the level.
        kind: the coefficient.
        first: float64 [items, systems].
        second: float64 [items, systems].
        human: float64 [items, systems].
        over: what is swapped as a whole: all scores of an item (``items``), of a system
            (``systems``), or each summary on its own (``both``).
        trials: number of permutations; 1,000 in the study that the test is from.
        seed: of the generator.
        undefined: rule for undefined coefficients; trials may well have some, and take ``fail`` for
            ``drop``.

    Returns:
        The comparison; p is (1 + extreme trials) / (1 + trials), of trials with both correlations.

    Raises:
        ConfigurationError: an unknown unit or no trials.
        InputError: the shapes differ.

    Source: Deutsch, Dror and Roth 2021, section 4 (perm-inputs, perm-systems, perm-both).
    """
    if over not in ("items", "systems", "both"):
        raise ConfigurationError(f"permute items, systems or both, not {over!r}")
    if trials < 1:
        raise ConfigurationError(f"a permutation test needs at least 1 trial, not {trials}")
    if not first.shape == second.shape == human.shape:
        raise InputError(f"scores of shapes {first.shape}, {second.shape} and {human.shape}")
    counts = _counts(first, second, human)
    gap = np.isnan(first) | np.isnan(second) | np.isnan(human)
    a, b = (_standardised(np.where(gap, np.nan, grid)) for grid in (first, second))
    values = partial(correlate_many, level, kind, human=human)
    one, two = values(np.stack([a, b]), undefined=undefined).tolist()
    if np.isnan(one - two):
        return MetricComparison(one, two, one - two, float("nan"), *counts)
    shape = {"items": (len(human), 1), "systems": (1, human.shape[1]), "both": human.shape}[over]
    rule: Undefined = "zero" if undefined == "zero" else "drop"
    differences = [
        values(np.where(swap, b, a), undefined=rule) - values(np.where(swap, a, b), undefined=rule)
        for swap in draw_swaps(shape, trials, seed, block=_BLOCK)
    ]
    p = _p_value(one - two, np.concatenate(differences), len(human))
    return MetricComparison(one, two, one - two, p, *counts)


def _counts(first: Floats, second: Floats, human: Floats) -> tuple[int, int]:
    """Rated summaries with both metrics, and with either."""
    rated, one, two = (~np.isnan(grid) for grid in (human, first, second))
    return int((rated & one & two).sum()), int((rated & (one | two)).sum())


def _p_value(observed: float, trials: Floats, items: int) -> float:
    """The p-value by the trials that have a difference; NaN without any."""
    null = trials[~np.isnan(trials)]
    return paired_test(observed, null, items).p_value if null.size else float("nan")


def _standardised(grid: Floats) -> Floats:
    present = grid[~np.isnan(grid)]
    spread = present.std() if present.size else 0.0
    return grid if spread == 0.0 else (grid - present.mean()) / spread


def williams_test(
    level: Level, kind: Kind, first: Floats, second: Floats, human: Floats
) -> MetricComparison:
    """Williams' test of two correlations that share the human scores.

    Args:
        level: ``system`` or ``pooled``, where a correlation is one coefficient.
        kind: the coefficient; the test is derived for ``pearson``, and approximate for ranks.
        first: float64 [items, systems].
        second: float64 [items, systems].
        human: float64 [items, systems].

    Returns:
        The comparison, with Williams' t and its two-sided p with n - 3 degrees of freedom; NaN
        with fewer than four points.

    Raises:
        ConfigurationError: a level that averages coefficients.
        InputError: the shapes differ.

    Source: Williams 1959; for metrics, Graham and Baldwin 2014, equation 1.
    """
    if level not in ("system", "pooled"):
        raise ConfigurationError(f"Williams' test is for system or pooled level, not {level!r}")
    if not first.shape == second.shape == human.shape:
        raise InputError(f"scores of shapes {first.shape}, {second.shape} and {human.shape}")
    gap = np.isnan(first) | np.isnan(second) | np.isnan(human)
    a, b, h = (np.where(gap, np.nan, grid) for grid in (first, second, human))
    if level == "system":
        (a, h), (b, _) = system_means(a, h), system_means(b, h)
    a, b, h = (side.ravel() for side in (a, b, h))
    n = coefficient(kind, a, h).n
    r1, r2, between = (coefficient(kind, *pair).value for pair in ((a, h), (b, h), (a, b)))
    statistic, p = _williams(r1, r2, between, n)
    return MetricComparison(r1, r2, statistic, p, *_counts(first, second, human))


def _williams(r1: float, r2: float, between: float, n: int) -> tuple[float, float]:
    """Williams' t and p for correlations r1 and r2 with people and ``between`` the metrics."""
    from scipy.special import stdtr

    if n < 4 or np.isnan([r1, r2, between]).any():
        return float("nan"), float("nan")
    determinant = 1 - r1**2 - r2**2 - between**2 + 2 * r1 * r2 * between
    spread = 2 * max(determinant, 0.0) * (n - 1) / (n - 3)
    spread += (r1 + r2) ** 2 / 4 * (1 - between) ** 3
    if r1 == r2:
        return 0.0, 1.0
    if spread <= 0.0:
        return float("nan"), float("nan")
    t = (r1 - r2) * np.sqrt((n - 1) * (1 + between) / spread)
    return float(t), float(2.0 * stdtr(n - 3, -abs(t)))


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """Holm's step-down correction of a family of p-values; NaN is no member of it.

    Args:
        p_values: float [m].

    Returns:
        float64 [m], adjusted, each at least as large as before and at most 1.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, np.float64)
    adjusted = np.full(p.shape, np.nan)
    order = np.argsort(p)[: int((~np.isnan(p)).sum())]
    factors = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return adjusted
