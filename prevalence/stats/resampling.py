"""Intervals and paired tests over cached per-summary scores; the model never runs again.

The unit that is resampled is the product. A system's score is the unweighted mean over its
summaries, so a product contributes a sum and a count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prevalence.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from prevalence.stats.arrays import Bools, Floats

__all__ = [
    "BLOCK",
    "DEFAULT_RESAMPLES",
    "DEFAULT_SEED",
    "DEFAULT_TRIALS",
    "FEWEST_PRODUCTS",
    "TESTS",
    "Interval",
    "PairedTest",
    "ProductScores",
    "blocks",
    "bootstrap_interval",
    "check_drawing",
    "draw_counts",
    "draw_swaps",
    "expanded_interval",
    "paired_bootstrap",
    "paired_randomization",
    "paired_test",
    "percentile_interval",
    "resampled_means",
]

DEFAULT_RESAMPLES = 1000
"""Resamples of sacreBLEU's bootstrap (its paired test uses 1,000 as well)."""
DEFAULT_TRIALS = 10_000
"""Trials of sacreBLEU's approximate randomization."""
DEFAULT_SEED = 12345
"""sacreBLEU's default seed, kept for comparability of habits, not of numbers."""

FEWEST_PRODUCTS = 6
"""Products from which intervals are given and systems told apart. All differences of five have the
same sign by chance in 1 of 16 samples, so nothing without assumptions about them reaches 5%."""

BLOCK = 1 << 22
"""Random numbers drawn at a time: bounds memory at 32 MiB for any number of products."""


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

    @property
    def present(self) -> ProductScores:
        """Those of the products that have a summary."""
        return self.only(self.counts > 0)

    def only(self, kept: Bools) -> ProductScores:
        """Those of some products, bool [products]."""
        return ProductScores(self.sums[kept], self.counts[kept])


@dataclass(frozen=True, slots=True)
class Interval:
    """A bootstrap interval."""

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
    """Expanded percentile interval of the mean when products are drawn with replacement.

    Returns:
        The interval, or None with fewer than :data:`FEWEST_PRODUCTS`.

    Raises:
        ConfigurationError: no resamples, or a confidence outside (0, 1).
    """
    check_drawing(resamples, confidence)
    used = scores.present
    products = used.sums.size
    if products < FEWEST_PRODUCTS:
        return None
    return expanded_interval(resampled_means(used, resamples, seed), confidence, products)


def paired_bootstrap(
    first: ProductScores,
    second: ProductScores,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> PairedTest:
    """Two-sided paired bootstrap test of equal means, resampled differences shifted to zero.

    Returns:
        The test; its p-value is NaN with fewer than :data:`FEWEST_PRODUCTS`, whose resamples say
        nothing of chance: of two products that differ by the same sign, none is as extreme.

    Source: Riezler and Maxwell 2005 (the shift), as sacreBLEU applies it.
    """
    check_drawing(resamples)
    a, b = _common(first, second)
    observed = b.mean - a.mean
    if a.sums.size < FEWEST_PRODUCTS:
        return PairedTest(observed, float("nan"), a.sums.size)
    resampled = resampled_means(b, resamples, seed) - resampled_means(a, resamples, seed)
    return paired_test(observed, resampled - resampled.mean(), a.sums.size)


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
    check_drawing(resamples)
    a, b = _common(first, second)
    size = a.sums.size
    if size == 0:
        return PairedTest(float("nan"), float("nan"), 0)
    observed = b.mean - a.mean
    differences = []
    for swap in draw_swaps((size,), resamples, seed):
        mean_b = np.where(swap, a.sums, b.sums).sum(1) / np.where(swap, a.counts, b.counts).sum(1)
        mean_a = np.where(swap, b.sums, a.sums).sum(1) / np.where(swap, b.counts, a.counts).sum(1)
        differences.append(mean_b - mean_a)
    return paired_test(observed, np.concatenate(differences), size)


TESTS: dict[str, Callable[..., PairedTest]] = {
    "bootstrap": paired_bootstrap,
    "randomization": paired_randomization,
}
"""The paired tests by the name that ``--test`` takes."""


def percentile_interval(values: Floats, confidence: float) -> Interval:
    """What lies between the two percentiles that leave equal tails of the resamples."""
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(values, [tail, 1.0 - tail])
    return Interval(float(low), float(high))


def expanded_interval(values: Floats, confidence: float, products: int) -> Interval:
    """The percentile interval, widened as Student's interval of so many products would be.

    A bootstrap of n products takes their spread for that of all products, and so is too narrow by
    about sqrt((n - 1) / n), and it takes a normal quantile where the spread is only estimated.

    Args:
        values: means of the resamples.
        confidence: in (0, 1).
        products: n, at least 2.

    Source: Hesterberg 2015, "What teachers should know about the bootstrap", The American
    Statistician 69: the expanded percentile interval.
    """
    from scipy.special import ndtr, stdtrit

    quantile = float(stdtrit(products - 1, (1.0 + confidence) / 2.0))
    tail = float(ndtr(-math.sqrt(products / (products - 1)) * quantile))
    return percentile_interval(values, 1.0 - 2.0 * tail)


def paired_test(observed: float, null: Floats, products: int) -> PairedTest:
    """The two-sided test of a difference against those of resamples in which both are equal."""
    # A difference equal to the observed one up to rounding is as extreme as it.
    extreme = int((np.abs(null) >= abs(observed) - 1e-12).sum())
    return PairedTest(observed, (extreme + 1) / (null.size + 1), products)


def draw_counts(rng: np.random.Generator, size: int, resamples: int) -> NDArray[np.int64]:
    """How often each resample draws each of ``size`` units, int64 [resamples, size]."""
    return rng.multinomial(size, np.full(size, 1.0 / size), size=resamples)


def draw_swaps(
    shape: tuple[int, ...], trials: int, seed: int, *, block: int | None = None
) -> Iterator[NDArray[np.bool_]]:
    """What each trial of a randomization swaps.

    Args:
        shape: of the units.
        trials: how many.
        seed: of the generator.
        block: most trials held in memory at a time; the draws do not depend on it.

    Yields:
        bool [trials of a block, *shape].
    """
    rng = np.random.default_rng(seed)
    for rows in blocks(math.prod(shape), trials, block):
        yield rng.random((rows, *shape)) < 0.5


def check_drawing(resamples: int, confidence: float = 0.95) -> None:
    """Refuse options out of range.

    Raises:
        ConfigurationError: no resamples, or a confidence outside (0, 1).
    """
    if resamples < 1:
        raise ConfigurationError(f"resamples must be at least 1, not {resamples}")
    if not 0.0 < confidence < 1.0:
        raise ConfigurationError(f"confidence must lie in (0, 1), not {confidence}")


def _common(first: ProductScores, second: ProductScores) -> tuple[ProductScores, ProductScores]:
    both = (first.counts > 0) & (second.counts > 0)
    return first.only(both), second.only(both)


def blocks(size: int, resamples: int, block: int | None = None) -> Iterator[int]:
    """How many resamples to draw at a time.

    Args:
        size: random numbers that a resample takes.
        resamples: of all blocks together.
        block: most resamples of a block; None for as many as :data:`BLOCK` numbers make.
    """
    step = block or max(1, BLOCK // max(size, 1))
    for start in range(0, resamples, step):
        yield min(step, resamples - start)


def resampled_means(scores: ProductScores, resamples: int, seed: int) -> Floats:
    """Mean of each resample, float64 [resamples]; equal seeds draw the same products."""
    rng = np.random.default_rng(seed)
    size = scores.sums.size
    draws = (rng.integers(0, size, (rows, size)) for rows in blocks(size, resamples))
    means = [scores.sums[draw].sum(axis=1) / scores.counts[draw].sum(axis=1) for draw in draws]
    return np.concatenate(means)
