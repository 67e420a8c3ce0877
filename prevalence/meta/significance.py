"""Tests on sampled scores and on counts.

A judge that is asked many times for one score gives samples; grouping them tells how far its
correlation with people moves by chance, and a growing mean tells how many samples are enough.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prevalence.errors import ConfigurationError, InputError
from prevalence.stats.coefficients import mean_coefficient

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from prevalence.stats.arrays import Floats

__all__ = [
    "FEWEST_EXPECTED",
    "GoodnessOfFit",
    "GroupTest",
    "Significance",
    "compare_groups",
    "correlation_by_samples",
    "goodness_of_fit",
    "grouped_correlations",
    "shapiro_wilk",
]

NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Significance:
    """A statistic and its two-sided p-value; both NaN where the test is undefined."""

    statistic: float
    p: float


@dataclass(frozen=True, slots=True)
class GroupTest:
    """Whether two sets of values differ.

    Attributes:
        difference: mean of the first minus mean of the second.
        mann_whitney: U of the first, p exact for small groups without ties.
        t_test: Student's t, equal variances assumed.
        welch: Welch's t, which does not assume them.
    """

    difference: float
    mann_whitney: Significance
    t_test: Significance
    welch: Significance


FEWEST_EXPECTED = 5.0
"""Expected counts from which chi-square is used (Cochran 1954, "Some methods for strengthening the
common χ² tests")."""


@dataclass(frozen=True, slots=True)
class GoodnessOfFit:
    """Chi-square goodness of fit.

    Attributes:
        statistic: chi-square.
        p: of a larger statistic by chance; of the binomial test if `exact`.
        freedom: categories − 1.
        cramers_v: sqrt(chi-square / (n · freedom)), in [0, 1].
        exact: whether p is exact: of two whole counts, one of which is expected to be below
            :data:`FEWEST_EXPECTED`.
        rough: whether a count is expected to be below it, and p is that of chi-square all the same.
    """

    statistic: float
    p: float
    freedom: int
    cramers_v: float
    exact: bool = False
    rough: bool = False


def grouped_correlations(
    samples: ArrayLike, correlate: Callable[[Floats], float], *, groups: int = 10
) -> Floats:
    """Correlations of the means of consecutive groups of samples.

    Args:
        samples: float64 [items, systems, n], NaN = no score in that sample.
        correlate: from scores [items, systems] to their correlation with people.
        groups: number of groups; n must be a multiple of it.

    Returns:
        float64 [groups]: one hundred samples in ten groups are ten means of ten each.

    Raises:
        InputError: another number of axes.
        ConfigurationError: the samples cannot be dealt evenly.
    """
    cube = _cube(samples)
    if groups < 1 or cube.shape[2] % groups or not cube.shape[2]:
        raise ConfigurationError(
            f"{cube.shape[2]} samples cannot be dealt into {groups} groups: give a divisor"
        )
    dealt = cube.reshape(*cube.shape[:2], groups, -1)
    means = mean_coefficient(dealt)
    return np.array([correlate(means[:, :, group]) for group in range(groups)], dtype=np.float64)


def correlation_by_samples(
    samples: ArrayLike,
    correlate: Callable[[Floats], float],
    *,
    sizes: Sequence[int],
) -> Floats:
    """Correlations of the mean of the first samples, for growing numbers of them.

    Args:
        samples: float64 [items, systems, n], NaN = no score in that sample.
        correlate: from scores [items, systems] to their correlation with people.
        sizes: numbers of samples, each in 1..n.

    Returns:
        float64 [sizes].

    Raises:
        InputError: another number of axes.
        ConfigurationError: a size outside its range.
    """
    cube = _cube(samples)
    if any(not 1 <= size <= cube.shape[2] for size in sizes):
        raise ConfigurationError(f"sizes must lie in 1..{cube.shape[2]}, the number of samples")
    means = (mean_coefficient(cube[:, :, :size]) for size in sizes)
    return np.array([correlate(mean) for mean in means], dtype=np.float64)


def compare_groups(first: ArrayLike, second: ArrayLike) -> GroupTest:
    """Mann–Whitney U and t-tests between two sets of values, two-sided.

    Args:
        first: float64 [n], NaN left out.
        second: float64 [m].

    Returns:
        The tests; a t-test is NaN with fewer than two values a side or without any variance.
    """
    from scipy import stats

    a, b = _known(first), _known(second)
    if not (a.size and b.size):
        return GroupTest(NAN, *[Significance(NAN, NAN)] * 3)
    u = stats.mannwhitneyu(a, b, alternative="two-sided")
    difference = float(a.mean() - b.mean())
    if min(a.size, b.size) < 2 or np.ptp(a) == np.ptp(b) == 0:
        return GroupTest(difference, _tested(u), *[Significance(NAN, NAN)] * 2)
    with warnings.catch_warnings():
        # SciPy doubts the moments of a constant group; the other group's are sound.
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        student, welch = (_tested(stats.ttest_ind(a, b, equal_var=same)) for same in (True, False))
    return GroupTest(difference, _tested(u), student, welch)


def goodness_of_fit(observed: ArrayLike) -> GoodnessOfFit:
    """Chi-square goodness of fit of counts to equal ones, with Cramér's V as its size.

    The p-value of two small counts is that of the exact binomial test.

    Args:
        observed: float64 [categories], counts, not negative.

    Returns:
        The test; NaN without any count.

    Raises:
        InputError: fewer than two categories, or a count that is negative or not finite.

    >>> found = goodness_of_fit([5196, 804])
    >>> round(found.statistic, 1), round(found.cramers_v, 3)
    (3214.9, 0.732)
    """
    from scipy import special, stats

    counts = np.asarray(observed, dtype=np.float64)
    if counts.ndim != 1 or counts.size < 2:
        raise InputError(f"counts: {counts.size} given; give two or more, in one row")
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise InputError("counts must be finite and not negative")
    total, freedom = counts.sum(), counts.size - 1
    if not total:
        return GoodnessOfFit(NAN, NAN, freedom, NAN)
    wanted = total / counts.size
    statistic = float(((counts - wanted) ** 2 / wanted).sum())
    small = bool(wanted < FEWEST_EXPECTED)
    exact = small and counts.size == 2 and not (counts % 1).any()
    if exact:
        p = float(stats.binomtest(int(counts[0]), int(total)).pvalue)
    else:
        p = float(special.chdtrc(freedom, statistic))
    size = float(np.sqrt(statistic / (total * freedom)))
    return GoodnessOfFit(statistic, p, freedom, size, exact=exact, rough=small and not exact)


def shapiro_wilk(values: ArrayLike) -> Significance:
    """Shapiro–Wilk test of normality.

    Args:
        values: float64 [n], NaN left out.

    Returns:
        W and p; NaN with fewer than three values, or where all are equal.
    """
    from scipy import stats

    known = _known(values)
    if known.size < 3 or np.ptp(known) == 0:
        return Significance(NAN, NAN)
    return _tested(stats.shapiro(known))


def _tested(result: tuple[float, float]) -> Significance:
    statistic, p = result
    return Significance(float(statistic), float(p))


def _known(values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64).ravel()
    return array[~np.isnan(array)]


def _cube(samples: ArrayLike) -> Floats:
    cube = np.asarray(samples, dtype=np.float64)
    if cube.ndim != 3:
        raise InputError(f"samples have {cube.ndim} axes: give [items, systems, samples]")
    return cube
