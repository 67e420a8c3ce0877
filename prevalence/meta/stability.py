"""Does a metric judge good systems as well as weak ones: meta-correlation of its performance.

A metric that agrees with people less and less as systems improve cannot be trusted for the next
system, however high its overall correlation is.

Source: Shen et al. 2023, Large Language Models are Not Yet Human-Level Evaluators, sections 5, 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prevalence.errors import InputError
from prevalence.meta.levels import without_noise
from prevalence.stats.coefficients import coefficient, coefficients, mean_coefficient

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from prevalence.stats.arrays import Floats
    from prevalence.stats.coefficients import Coefficient, Coefficients, Kind

__all__ = ["MethodAgreement", "Stability", "method_agreement", "stability"]


@dataclass(frozen=True, slots=True)
class Stability:
    """How the performance of a metric depends on the quality of what it judges.

    Attributes:
        quality: float64 [systems], Q_i, mean human score.
        performance: P_i [systems], metric against human over a system's items, with p-values.
        meta: M, coefficient of Q and P over the systems whose P is defined.
    """

    quality: Floats
    performance: Coefficients
    meta: Coefficient

    @property
    def spread(self) -> float:
        """Largest minus smallest defined P_i; NaN without any."""
        known = self.performance.value[~np.isnan(self.performance.value)]
        return float(np.ptp(known)) if known.size else float("nan")

    @property
    def sd(self) -> float:
        """Standard deviation (ddof 0) of the defined P_i; NaN without any."""
        known = self.performance.value[~np.isnan(self.performance.value)]
        return float(known.std()) if known.size else float("nan")


@dataclass(frozen=True, slots=True)
class MethodAgreement:
    """Whether two methods agree where they perform well.

    Attributes:
        agreement: R_i [systems], the first method against the second over a system's items.
        meta_first: coefficient of R and the first method's P.
        meta_second: coefficient of R and the second method's P.
    """

    agreement: Coefficients
    meta_first: Coefficient
    meta_second: Coefficient


def stability(metric: ArrayLike, human: ArrayLike, *, kind: Kind) -> Stability:
    """Q_i, P_i and their correlation M.

    Args:
        metric: float64 [items, systems], NaN = no score.
        human: float64 [items, systems], mean human scores.
        kind: the coefficient, of P and of M alike.

    Returns:
        The three, with p-values; a system whose P is undefined leaves M.

    Raises:
        InputError: the shapes differ.
        ConfigurationError: there is no coefficient of that name.

    >>> found = stability([[1, 1], [2, 3], [3, 2]], [[1, 4], [2, 5], [3, 6]], kind="pearson")
    >>> found.quality.tolist(), found.performance.value.round(2).tolist(), round(found.meta.value)
    ([2.0, 5.0], [1.0, 0.5], -1)
    """
    ours, theirs = _grids(metric, human)
    quality = mean_coefficient(theirs.T)
    performance = coefficients(kind, ours.T, theirs.T)
    tied = without_noise(quality, scale=np.abs(np.nan_to_num(theirs)).max(axis=0, initial=0.0))
    return Stability(quality, performance, _meta(kind, tied, performance.value))


def method_agreement(
    first: ArrayLike, second: ArrayLike, human: ArrayLike, *, kind: Kind
) -> MethodAgreement:
    """R_i of two methods, and its correlation with the performance of each.

    Args:
        first: float64 [items, systems], NaN = no score.
        second: float64 [items, systems].
        human: float64 [items, systems], mean human scores.
        kind: the coefficient throughout.

    Returns:
        R and both correlations; a system with an undefined value leaves them.

    Raises:
        InputError: the shapes differ.
        ConfigurationError: there is no coefficient of that name.
    """
    one, two = _grids(first, second)
    agreement = coefficients(kind, one.T, two.T)
    performances = (stability(method, human, kind=kind).performance for method in (one, two))
    tied = without_noise(agreement.value, scale=1.0)
    meta = [_meta(kind, tied, performance.value) for performance in performances]
    return MethodAgreement(agreement, *meta)


def _meta(kind: Kind, tied: Floats, performance: Floats) -> Coefficient:
    # Means and coefficients of systems tie up to the order of their sums.
    return coefficient(kind, tied, without_noise(performance, scale=1.0))


def _grids(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    one, two = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if one.shape != two.shape or one.ndim != 2:
        raise InputError(f"scores of shapes {one.shape} and {two.shape}: give [items, systems]")
    return one, two
