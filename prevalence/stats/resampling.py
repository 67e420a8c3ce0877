"""Intervals and paired tests over cached per-summary scores; the model never runs again.

The unit that is resampled is the product. A system's score is the unweighted mean over its
summaries, so a product contributes a sum and a count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prevalence.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "BLOCK",
    "DEFAULT_RESAMPLES",
    "DEFAULT_SEED",
    "DEFAULT_TRIALS",
    "TESTS",
    "Interval",
    "PairedTest",
    "ProductScores",
    "bootstrap_interval",
    "paired_bootstrap",
    "paired_randomization",
]

DEFAULT_RESAMPLES = 1000
"""Resamples of sacreBLEU's bootstrap (its paired test uses 1,000 as well)."""
DEFAULT_TRIALS = 10_000
"""Trials of sacreBLEU's approximate randomization."""
DEFAULT_SEED = 12345
"""sacreBLEU's default seed, kept for comparability of habits, not of numbers."""

BLOCK = 1 << 22
"""Random numbers drawn at a time: bounds memory at 32 MiB for any number of products."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ProductScores:
    """Scores of one system, summed by product.

    Attributes:
        sums: float64 [products], sum of the scores of the system's summaries of a product.
        counts: float64 [products], number of those summaries; 0 where it has none.
    """

    sums: Floats
    counts: Floats

    @property
    def mean(self) -> float:
        """Unweighted mean over summaries; NaN without any."""
        total = self.counts.sum()
        return float(self.sums.sum() / total) if total else float("nan")


@dataclass(frozen=True, slots=True)
class Interval:
    """A percentile bootstrap interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Difference between two systems on the products that both summarised.

    Attributes:
        difference: mean of the second minus mean of the first.
        p_value: two-sided, (1 + extreme resamples) / (1 + resamples), in (0, 1]; NaN where there
            are too few products to test.
        products: number of products compared.
    """

    difference: float
    p_value: float
    products: int


def bootstrap_interval(
    scores: ProductScores,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    confidence: float = 0.95,
) -> Interval | None:
    """Percentile interval of the mean when products are drawn with replacement.

    Returns:
        The interval, or None with fewer than two products (there is nothing to resample).

    Raises:
        ConfigurationError: no resamples, or a confidence outside (0, 1).
    """
    _check(resamples)
    if not 0.0 < confidence < 1.0:
        raise ConfigurationError(f"confidence must lie in (0, 1), not {confidence}")
    present = scores.counts > 0
    if present.sum() < 2:
        return None
    sums, counts = scores.sums[present], scores.counts[present]
    means = np.concatenate(
        [
            sums[draw].sum(axis=1) / counts[draw].sum(axis=1)
            for draw in _draws(sums.size, resamples, seed)
        ]
    )
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return Interval(float(low), float(high))


def paired_bootstrap(
    first: ProductScores,
    second: ProductScores,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> PairedTest:
    """Two-sided paired bootstrap test of equal means, resampled differences shifted to zero.

    Returns:
        The test; its p-value is NaN with fewer than two products, whose resamples would all be
        equal.

    Source: Riezler and Maxwell 2005 (the shift), as sacreBLEU applies it.
    """
    _check(resamples)
    a, b = _common(first, second)
    observed = b.mean - a.mean
    if a.sums.size < 2:
        return PairedTest(observed, float("nan"), a.sums.size)
    resampled = np.concatenate(
        [
            b.sums[draw].sum(axis=1) / b.counts[draw].sum(axis=1)
            - a.sums[draw].sum(axis=1) / a.counts[draw].sum(axis=1)
            for draw in _draws(a.sums.size, resamples, seed)
        ]
    )
    shifted = np.abs(resampled - resampled.mean())
    return _tested(observed, shifted, a.sums.size)


def paired_randomization(
    first: ProductScores,
    second: ProductScores,
    *,
    resamples: int = DEFAULT_TRIALS,
    seed: int = DEFAULT_SEED,
) -> PairedTest:
    """Two-sided paired approximate randomization: each product's systems are swapped or not.

    Returns:
        The test; its p-value is NaN without any product that both summarised.

    Source: Noreen 1989; Riezler and Maxwell 2005.
    """
    _check(resamples)
    a, b = _common(first, second)
    size = a.sums.size
    if size == 0:
        return PairedTest(float("nan"), float("nan"), 0)
    observed = b.mean - a.mean
    rng = np.random.default_rng(seed)
    differences = []
    for rows in _blocks(size, resamples):
        swap = rng.random((rows, size)) < 0.5
        mean_b = np.where(swap, a.sums, b.sums).sum(1) / np.where(swap, a.counts, b.counts).sum(1)
        mean_a = np.where(swap, b.sums, a.sums).sum(1) / np.where(swap, b.counts, a.counts).sum(1)
        differences.append(np.abs(mean_b - mean_a))
    return _tested(observed, np.concatenate(differences), size)


TESTS: dict[str, Callable[..., PairedTest]] = {
    "bootstrap": paired_bootstrap,
    "randomization": paired_randomization,
}
"""The paired tests by the name that ``--test`` takes."""


def _tested(observed: float, null: Floats, products: int) -> PairedTest:
    # A difference equal to the observed one up to rounding is as extreme as it.
    extreme = int((null >= abs(observed) - 1e-12).sum())
    return PairedTest(observed, (extreme + 1) / (null.size + 1), products)


def _common(first: ProductScores, second: ProductScores) -> tuple[ProductScores, ProductScores]:
    both = (first.counts > 0) & (second.counts > 0)
    return (
        ProductScores(first.sums[both], first.counts[both]),
        ProductScores(second.sums[both], second.counts[both]),
    )


def _blocks(size: int, resamples: int) -> Iterator[int]:
    step = max(1, BLOCK // max(size, 1))
    for start in range(0, resamples, step):
        yield min(step, resamples - start)


def _draws(size: int, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    for rows in _blocks(size, resamples):
        yield rng.integers(0, size, (rows, size))


def _check(resamples: int) -> None:
    if resamples < 1:
        raise ConfigurationError(f"resamples must be at least 1, not {resamples}")
