"""Differences between systems on the same products: intervals, what can be seen, and ties."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.stats.resampling import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    FEWEST_PRODUCTS,
    Interval,
    check_drawing,
    expanded_interval,
    resampled_means,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prevalence.stats.arrays import Bools, Floats
    from prevalence.stats.resampling import ProductScores

__all__ = ["PairedDifference", "PairedDifferences", "tied_groups"]

_CONFIDENCE = 0.95
_NOISE = 1e-12
"""A difference that is no larger is one of rounding."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How far one system lies above another on the products that both summarised.

    Attributes:
        difference: mean of the first minus mean of the second; NaN without a common product.
        interval: 95% bootstrap interval over products; None with fewer than
            :data:`~prevalence.stats.resampling.FEWEST_PRODUCTS`.
        detectable: the least true difference that a two-sided test at 5% would find in 80% of
            samples of so many products; None likewise.
        products: number of products compared.
    """

    difference: float
    interval: Interval | None
    detectable: float | None
    products: int

    @property
    def above(self) -> bool:
        """Whether the whole interval lies above 0."""
        return self.interval is not None and self.interval.low > _NOISE


class _Key(NamedTuple):
    system: str
    products: bytes


class PairedDifferences:
    """Differences between any two of several systems; equal products are drawn once.

    Args:
        scores: by system, aligned over all products.
        resamples: of the bootstrap.
        seed: of the generator.

    Raises:
        ConfigurationError: no resamples.
    """

    def __init__(
        self,
        scores: Mapping[str, ProductScores],
        *,
        resamples: int = DEFAULT_RESAMPLES,
        seed: int = DEFAULT_SEED,
    ) -> None:
        check_drawing(resamples)
        self._scores = scores
        self._drawing = resamples, seed
        self._drawn: dict[_Key, Floats] = {}

    def __call__(self, first: str, second: str) -> PairedDifference:
        """How far the first system lies above the second."""
        a, b = self._scores[first], self._scores[second]
        both = (a.counts > 0) & (b.counts > 0)
        products = int(both.sum())
        observed = a.only(both).mean - b.only(both).mean
        if products < FEWEST_PRODUCTS:
            return PairedDifference(observed, None, None, products)
        drawn = self._means(first, both) - self._means(second, both)
        return PairedDifference(
            observed,
            expanded_interval(drawn, _CONFIDENCE, products),
            _detectable(float(drawn.std(ddof=1)), products) if drawn.size > 1 else None,
            products,
        )

    def _means(self, system: str, products: Bools) -> Floats:
        key = _Key(system, np.packbits(products).tobytes())
        if key not in self._drawn:
            scores = self._scores[system].only(products)
            self._drawn[key] = resampled_means(scores, *self._drawing)
        return self._drawn[key]


def _detectable(deviation: float, products: int) -> float:
    """The least difference that would be found, from the standard deviation of the resamples.

    Source: Bloom 1995, "Minimum detectable effects": the quantiles of .975 and .8 added.
    """
    from scipy.special import stdtrit

    freedom = products - 1
    errors = stdtrit(freedom, 0.975) + stdtrit(freedom, 0.8)
    # The resamples spread as the products do, with ddof 0.
    return float(errors) * deviation * math.sqrt(products / freedom)


def tied_groups(ordered: list[str], differences: PairedDifferences) -> list[int]:
    """Divide systems where the data tell all above from all below; number the groups from 1.

    Args:
        ordered: systems from the best to the worst.
        differences: between them.

    Returns:
        The group of each system. A new group begins where all systems above are surely better than
        all below, as in the shared tasks of machine translation. Two systems of one group may still
        be told apart, where a third lies between them.
    """
    apart = {
        (i, j): differences(a, b).above
        for i, a in enumerate(ordered)
        for j, b in enumerate(ordered)
        if i < j
    }
    groups: list[int] = []
    for place in range(len(ordered)):
        above, below = range(place), range(place, len(ordered))
        begins = all(apart[i, j] for i in above for j in below)
        groups.append((groups[-1] if groups else 0) + (begins or not groups))
    return groups
