"""Intervals and paired tests between scorers, with the product as the unit that is resampled.

The pairs of a product share reviews and summaries, so they are drawn, or swapped, together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.calibration.figures import auc, confusion, rates, tally, weighted_auc
from prevalence.errors import ConfigurationError
from prevalence.stats.resampling import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    DEFAULT_TRIALS,
    FEWEST_PRODUCTS,
    Interval,
    PairedTest,
    blocks,
    check_drawing,
    draw_counts,
    expanded_interval,
    paired_test,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prevalence.stats.arrays import Bools, Floats

__all__ = ["Outcome", "Resampling", "ScorerComparison", "compare", "figures_of", "intervals_of"]


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals and tests are drawn.

    Attributes:
        resamples: of bootstraps.
        trials: of randomization tests.
        seed: of both; equal seeds draw the same products for every scorer.
        confidence: of intervals.

    Raises:
        ConfigurationError: no resamples or trials, or a confidence outside (0, 1).
    """

    resamples: int = DEFAULT_RESAMPLES
    trials: int = DEFAULT_TRIALS
    seed: int = DEFAULT_SEED
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_drawing(self.resamples, self.confidence)
        if self.trials < 1:
            raise ConfigurationError(f"trials must be at least 1, not {self.trials}")


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What one scorer made of P labelled pairs.

    Attributes:
        scores: float64 [P], what AUC is computed from.
        probabilities: float64 [P] in [0, 1], what Brier score and calibration error look at.
        decided: bool [P], C of each pair.
        labels: bool [P].
        groups: int64 [P], product numbers from 0 without a gap.
    """

    scores: Floats
    probabilities: Floats
    decided: Bools
    labels: Bools
    groups: NDArray[np.int64]

    @property
    def size(self) -> int:
        """Number of products."""
        return int(self.groups.max()) + 1 if self.groups.size else 0

    @property
    def sums(self) -> Floats:
        """Sums by product, see :func:`prevalence.calibration.figures.tally`."""
        return tally(self.probabilities, self.decided, self.labels, self.groups, self.size)

    @property
    def has_both(self) -> bool:
        """Whether both classes occur."""
        return bool(self.labels.any() and not self.labels.all())


class ScorerComparison(NamedTuple):
    """Paired tests of a scorer against another: its figure minus the other's."""

    balanced_accuracy: PairedTest
    auc: PairedTest


def figures_of(outcome: Outcome) -> dict[str, float | int | None]:
    """Every figure of a set; None where it is not defined."""
    total = outcome.sums.sum(axis=0)
    area = auc(outcome.scores, outcome.labels) if outcome.has_both else None
    found = {name: _defined(float(value)) for name, value in rates(total).items()}
    return {"auc": area, **found, **confusion(total)}


def intervals_of(outcome: Outcome, resampling: Resampling) -> dict[str, Interval]:
    """Expanded percentile intervals over products.

    Args:
        outcome: Scores, decisions and labels.
        resampling: How to draw.

    Returns:
        An interval for AUC and each rate; empty with one class, or fewer products than
        :data:`~prevalence.stats.resampling.FEWEST_PRODUCTS`. A resample in which a figure is not
        defined is left out of that figure.
    """
    if outcome.size < FEWEST_PRODUCTS or not outcome.has_both:
        return {}
    weights = _weights(outcome.size, resampling)
    drawn = rates(weights @ outcome.sums)
    drawn["auc"] = weighted_auc(outcome.scores, outcome.labels, outcome.groups, weights)
    finite = {name: values[np.isfinite(values)] for name, values in drawn.items()}
    return {
        name: expanded_interval(values, resampling.confidence, outcome.size)
        for name, values in finite.items()
        if values.size
    }


def compare(outcome: Outcome, other: Outcome, resampling: Resampling) -> ScorerComparison:
    """Test whether two scorers differ on the same pairs.

    Balanced accuracy is tested by randomization: under equality, exchanging the two scorers'
    decisions on a product changes nothing. Scores of two scorers have no common scale and cannot be
    exchanged, so AUC is tested by the bootstrap, its differences shifted to zero.

    Args:
        outcome: One scorer.
        other: The scorer to compare with, on the same pairs.
        resampling: How to draw.

    Returns:
        Two-sided tests. P-values are NaN with fewer than two products or one class; that of AUC
        also below :data:`~prevalence.stats.resampling.FEWEST_PRODUCTS`.
    """
    if outcome.size < 2 or not outcome.has_both:
        nothing = PairedTest(float("nan"), float("nan"), outcome.size)
        return ScorerComparison(nothing, nothing)
    return ScorerComparison(
        _randomized(outcome, other, resampling), _shifted(outcome, other, resampling)
    )


def _randomized(outcome: Outcome, other: Outcome, resampling: Resampling) -> PairedTest:
    first, second = outcome.sums, other.sums
    rng = np.random.default_rng(resampling.seed)
    differences = []
    for rows in blocks(outcome.size, resampling.trials):
        kept = rng.integers(0, 2, (rows, outcome.size)).astype(np.float64)
        differences.append(
            _accuracy(kept @ first + (1 - kept) @ second)
            - _accuracy(kept @ second + (1 - kept) @ first)
        )
    observed = float(_accuracy(first.sum(axis=0)) - _accuracy(second.sum(axis=0)))
    return paired_test(observed, np.concatenate(differences), outcome.size)


def _shifted(outcome: Outcome, other: Outcome, resampling: Resampling) -> PairedTest:
    observed = auc(outcome.scores, outcome.labels) - auc(other.scores, other.labels)
    if outcome.size < FEWEST_PRODUCTS:
        return PairedTest(observed, float("nan"), outcome.size)
    weights = _weights(outcome.size, resampling)
    drawn = weighted_auc(outcome.scores, outcome.labels, outcome.groups, weights) - weighted_auc(
        other.scores, other.labels, other.groups, weights
    )
    drawn = drawn[np.isfinite(drawn)]
    return paired_test(observed, drawn - drawn.mean(), outcome.size)


def _accuracy(sums: Floats) -> Floats:
    return rates(sums)["balanced_accuracy"]


def _weights(size: int, resampling: Resampling) -> NDArray[np.int64]:
    """How often each product is drawn, int64 [resamples, products]."""
    return draw_counts(np.random.default_rng(resampling.seed), size, resampling.resamples)


def _defined(value: float) -> float | None:
    return value if np.isfinite(value) else None
