"""Prevalence corrected for the errors of the scorer, after Rogan and Gladen (1978).

A scorer that says yes to a share s of what is true (sensitivity) and no to a share q of what is not
(specificity) sees a share p where the true one is about (p + q - 1) / (s + q - 1). Both rates come
from pairs that people have judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prevalence.errors import ConfigurationError
from prevalence.stats.resampling import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    FEWEST_PRODUCTS,
    Interval,
    ProductScores,
    blocks,
    check_drawing,
    draw_counts,
    expanded_interval,
)

if TYPE_CHECKING:
    from prevalence.stats.arrays import Floats

__all__ = ["ErrorRates", "corrected_interval", "corrected_share"]

_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Decisions of a scorer on pairs that people have judged.

    Attributes:
        products: for each product of the judged pairs, how many supported pairs were decided so
            (true positives) and not (false negatives), and how many unsupported pairs were decided
            so (true negatives) and not (false positives).
        threshold: that of the decisions.
        source: what the pairs are.

    Raises:
        ConfigurationError: counts are negative, or there is no pair of either kind.
    """

    products: tuple[tuple[int, int, int, int], ...]
    threshold: float
    source: str = ""

    def __post_init__(self) -> None:
        total = self._counts.sum(axis=0)
        if (self._counts < 0).any() or not (total[:2].sum() and total[2:].sum()):
            raise ConfigurationError(
                "error rates need counts of supported and of unsupported pairs, none negative"
            )

    @property
    def _counts(self) -> Floats:
        return np.asarray(self.products, np.float64).reshape(-1, 4)

    @property
    def sensitivity(self) -> float:
        """Share of the supported pairs that are decided so, in [0, 1]."""
        return float(_rates(self._counts.sum(axis=0))[0])

    @property
    def specificity(self) -> float:
        """Share of the unsupported pairs that are decided so, in [0, 1]."""
        return float(_rates(self._counts.sum(axis=0))[1])

    def drawn(self, resamples: int, rng: np.random.Generator) -> Floats:
        """Rates of products drawn with replacement.

        Args:
            resamples: how many draws.
            rng: draws.

        Returns:
            float64 [resamples, 2], sensitivity and specificity; NaN where a draw has no pair of
            a kind.
        """
        counts = self._counts
        return _rates(draw_counts(rng, len(counts), resamples) @ counts)


def _rates(counts: Floats) -> Floats:
    """Sensitivity and specificity [..., 2] from counts [..., 4]."""
    hits, misses, rejections, alarms = np.moveaxis(counts, -1, 0)
    with np.errstate(invalid="ignore"):
        return np.stack([hits / (hits + misses), rejections / (rejections + alarms)], axis=-1)


def corrected_share(
    observed: float, sensitivity: float, specificity: float, *, most: float = 1.0
) -> float:
    """The true share that an observed one speaks for.

    Args:
        observed: share decided as supported, in [0, ``most``].
        sensitivity: of the scorer.
        specificity: of the scorer; both together are above 1.
        most: what the share would be if everything that is asked were supported. Below 1 where
            masked sentences count as unsupported without being asked.

    Returns:
        (observed - (1 - specificity) most) / (sensitivity + specificity - 1), held in [0, most].

    Raises:
        ConfigurationError: the scorer tells supported from unsupported no better than chance.

    >>> round(corrected_share(0.5, 0.8, 0.9), 4)
    0.5714
    >>> corrected_share(0.05, 0.8, 0.9)
    0.0
    """
    told = sensitivity + specificity - 1
    if not told > 0:
        raise ConfigurationError(
            f"sensitivity {sensitivity:.3f} and specificity {specificity:.3f} are those of chance: "
            "nothing can be corrected"
        )
    return min(max((observed - (1 - specificity) * most) / told, 0.0), most)


def corrected_interval(
    observed: ProductScores,
    most: ProductScores,
    rates: ErrorRates,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Interval | None:
    """Expanded 95% percentile interval of the mean corrected share of several summaries.

    Each resample draws the scored products, and the products whose judgments gave the rates, both
    with replacement.

    Args:
        observed: shares of the summaries of n products; a product without any is not drawn.
        most: of the same summaries, see :func:`corrected_share`.
        rates: of the scorer.
        resamples: draws of the bootstrap.
        seed: of the draws.

    Returns:
        The interval, as wide as the smaller number of products demands; None where fewer than
        :data:`~prevalence.stats.resampling.FEWEST_PRODUCTS` were scored or judged.

    Raises:
        ConfigurationError: no resamples, or rates no better than chance in every draw.
    """
    check_drawing(resamples)
    used = np.flatnonzero(observed.counts)
    products = min(len(used), len(rates.products))
    if products < FEWEST_PRODUCTS:
        return None
    rng = np.random.default_rng(seed)
    parts = []
    for rows in blocks(len(used), resamples):
        places = used[rng.integers(len(used), size=(rows, len(used)))]
        summaries = observed.counts[places].sum(axis=1)
        parts.append([each.sums[places].sum(axis=1) / summaries for each in (observed, most)])
    share, top = np.concatenate(parts, axis=1)
    sensitivity, specificity = rates.drawn(resamples, rng).T
    told = sensitivity + specificity - 1
    usable = told > 0
    if not usable.any():
        raise ConfigurationError("the scorer's error rates are those of chance in every draw")
    exact = (share - (1 - specificity) * top)[usable] / told[usable]
    return expanded_interval(np.clip(exact, 0.0, top[usable]), _CONFIDENCE, products)
