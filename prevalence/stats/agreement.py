"""Agreement of raters corrected for chance: alpha, kappas and AC1 over ratings with gaps.

Every coefficient takes float64 [items, raters], NaN where a rater did not rate, and is a float. It
is NaN where nothing can be compared. Where all comparable ratings are one category, chance explains
everything and the ratio is 0/0: ``one_category`` says what to return then, NaN unless a convention
wants a figure (OpinSummEval counts such a cell as 1).
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from prevalence.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from prevalence.stats.arrays import Floats

__all__ = [
    "SCALES",
    "Scale",
    "agreement_by_cell",
    "cohen_kappa",
    "fleiss_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "shared_ratings",
]

Scale = Literal["nominal", "ordinal", "interval"]
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval")
"""Levels of measurement that alpha knows."""

NAN = float("nan")


class _Counts(NamedTuple):
    """How often each item got each category.

    Attributes:
        categories: float64 [c], the observed values, ascending.
        table: float64 [items, c].
    """

    categories: Floats
    table: Floats

    @property
    def per_item(self) -> Floats:
        """Ratings of each item."""
        return np.asarray(self.table.sum(axis=1))


def krippendorff_alpha(
    ratings: ArrayLike, *, level: Scale = "interval", one_category: float = NAN
) -> float:
    """Krippendorff's alpha, 1 − observed over expected disagreement.

    Args:
        ratings: float64 [items, raters], NaN = not rated; items with one rating are left out.
        level: how far two categories are apart: nominal 1, ordinal by ranks, interval squared.
        one_category: what to return where all ratings that can be paired are equal.

    Returns:
        At most 1; NaN where no item has two ratings.

    Raises:
        ConfigurationError: no such level.
        InputError: the ratings are not a finite-or-NaN table.

    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.

    >>> round(krippendorff_alpha([[1, 1], [2, 2], [3, 4]], level="nominal"), 4)
    0.6154
    """
    if level not in SCALES:
        raise ConfigurationError(f"level is {level!r}: give one of {', '.join(SCALES)}")
    counts = _counts(_pairable(_table(ratings)))
    if not counts.table.size:
        return NAN
    if counts.categories.size == 1:
        return one_category
    totals = counts.table.sum(axis=0)
    values = _values(counts.categories, totals, level)
    observed = float((_distances(counts.table, values) / (counts.per_item - 1.0)).sum())
    return 1.0 - observed / float(_distances(totals, values) / (totals.sum() - 1.0))


def cohen_kappa(ratings: ArrayLike, *, one_category: float = NAN) -> float:
    """Cohen's kappa of two raters, and its mean over the pairs of more raters (Light's kappa).

    Args:
        ratings: float64 [items, raters], NaN = not rated; a pair of raters is judged on the items
            that both rated.
        one_category: kappa of a pair whose common ratings are one category.

    Returns:
        At most 1; NaN without two raters who share an item. Pairs that are NaN leave the mean.

    Raises:
        InputError: the ratings are not a finite-or-NaN table.

    Source: Cohen 1960; Light 1971 for the mean.

    >>> round(cohen_kappa([[1, 1], [1, 2], [2, 2], [2, 2]]), 2)
    0.5
    """
    table = _table(ratings)
    kappas = [
        _cohen(table[:, [a, b]], one_category) for a, b in combinations(range(table.shape[1]), 2)
    ]
    known = [kappa for kappa in kappas if not np.isnan(kappa)]
    return float(np.mean(known)) if known else NAN


def shared_ratings(ratings: ArrayLike) -> tuple[int, int]:
    """How many items the pairs of raters of :func:`cohen_kappa` share.

    Args:
        ratings: float64 [items, raters], NaN = not rated.

    Returns:
        The least and the most, of pairs that share any; zeros where none does.

    Raises:
        InputError: the ratings are not a finite-or-NaN table.

    >>> shared_ratings([[1, 1, 2], [1, 2, float("nan")]])
    (1, 2)
    """
    known = (~np.isnan(_table(ratings))).astype(np.int64)
    shared = (known.T @ known)[np.triu_indices(known.shape[1], k=1)]
    some = shared[shared > 0]
    return (int(some.min()), int(some.max())) if some.size else (0, 0)


def fleiss_kappa(ratings: ArrayLike, *, one_category: float = NAN) -> float:
    """Fleiss' kappa for any number of raters.

    Args:
        ratings: float64 [items, raters], NaN = not rated. With gaps, agreement is averaged over
            the items with two ratings and shares over the rated items, as Gwet generalised it.
        one_category: what to return where only one category occurs.

    Returns:
        At most 1; NaN where no item has two ratings.

    Raises:
        InputError: the ratings are not a finite-or-NaN table.

    Source: Fleiss 1971; Gwet 2014, chapter 2, for the gaps.

    >>> round(fleiss_kappa([[1, 1], [1, 2], [2, 2], [2, 2]]), 4)
    0.4667
    """
    counts = _counts(_table(ratings))
    chance = float((_shares(counts) ** 2).sum())
    return _corrected(_agreement(counts), chance, one_category)


def gwet_ac1(
    ratings: ArrayLike, *, categories: int | None = None, one_category: float = NAN
) -> float:
    """Gwet's AC1, whose chance agreement does not grow when one category dominates.

    Args:
        ratings: float64 [items, raters], NaN = not rated.
        categories: size of the scale; None counts the observed categories.
        one_category: what to return where only one category is known of, observed or given.

    Returns:
        At most 1; NaN where no item has two ratings.

    Raises:
        ConfigurationError: fewer categories than were observed.
        InputError: the ratings are not a finite-or-NaN table.

    Source: Gwet 2008, Computing inter-rater reliability in the presence of high agreement.

    >>> round(gwet_ac1([[1, 1], [1, 2], [2, 2], [2, 2]]), 4)
    0.5294
    """
    counts = _counts(_table(ratings))
    observed = counts.categories.size
    size = observed if categories is None else categories
    if size < observed:
        raise ConfigurationError(
            f"categories is {size} but {observed} occur: give the size of the scale"
        )
    shares = _shares(counts)
    chance = float((shares * (1.0 - shares)).sum()) / (size - 1) if size > 1 else 1.0
    return _corrected(_agreement(counts), chance, one_category)


def agreement_by_cell(
    ratings: ArrayLike,
    coefficient: Callable[[Floats], float],
    *,
    batch: int,
) -> Floats:
    """A coefficient for every (batch of items, system) cell.

    Args:
        ratings: float64 [items, systems, raters], NaN = not rated.
        coefficient: from [items, raters] to a float.
        batch: items of a cell, in their order; the last one may be smaller.

    Returns:
        float64 [batches, systems].

    Raises:
        ConfigurationError: a batch of no item.
        InputError: the ratings have another number of axes.
    """
    if batch < 1:
        raise ConfigurationError(f"batch is {batch}: a batch holds at least one item")
    values = np.asarray(ratings, dtype=np.float64)
    if values.ndim != 3:
        raise InputError(f"ratings have {values.ndim} axes: give [items, systems, raters]")
    starts = range(0, values.shape[0], batch)
    cells = [
        [coefficient(values[start : start + batch, system]) for system in range(values.shape[1])]
        for start in starts
    ]
    return np.array(cells, dtype=np.float64).reshape(len(starts), values.shape[1])


def _table(ratings: ArrayLike) -> Floats:
    values = np.asarray(ratings, dtype=np.float64)
    if values.ndim != 2:
        raise InputError(f"ratings have {values.ndim} axes: give [items, raters]")
    if np.isinf(values).any():
        raise InputError("ratings hold an infinite value: write a missing one as NaN")
    return values


def _pairable(table: Floats) -> Floats:
    return np.asarray(table[(~np.isnan(table)).sum(axis=1) >= 2])


def _counts(table: Floats) -> _Counts:
    categories, codes = np.unique(table, return_inverse=True)
    known = ~np.isnan(table)
    size = int((~np.isnan(categories)).sum())
    counted = np.zeros((table.shape[0], size))
    rows = np.nonzero(known)[0]
    np.add.at(counted, (rows, codes.reshape(table.shape)[known]), 1.0)
    return _Counts(categories[:size], counted)


def _values(categories: Floats, totals: Floats, level: Scale) -> Floats | None:
    """What stands for each category, so that squared differences are distances; None: nominal."""
    if level == "nominal":
        return None
    # Mid-ranks: their difference is the count between two categories, half of each end.
    values = np.cumsum(totals) - totals / 2.0 if level == "ordinal" else categories
    return np.asarray(values - values.mean())


def _distances(table: Floats, values: Floats | None) -> Floats:
    """Sum of the distances between all ordered pairs of ratings, float64 [...].

    Args:
        table: float64 [..., categories], how often each occurs.
        values: float64 [categories], or None where any two categories are 1 apart.
    """
    size = table.sum(axis=-1)
    if values is None:
        return np.asarray(size**2 - (table**2).sum(axis=-1))
    # Not a matrix product, whose last digit depends on where in memory the table lies.
    first, second = ((table * values**power).sum(axis=-1) for power in (1, 2))
    return np.asarray(np.maximum(2.0 * (size * second - first**2), 0.0))


def _cohen(pair: Floats, one_category: float) -> float:
    both = _pairable(pair)
    if not both.size:
        return NAN
    categories, codes = np.unique(both, return_inverse=True)
    codes = codes.reshape(both.shape)
    first, second = (
        np.bincount(codes[:, rater], minlength=categories.size) / len(both) for rater in (0, 1)
    )
    return _corrected(float((both[:, 0] == both[:, 1]).mean()), float(first @ second), one_category)


def _agreement(counts: _Counts) -> float:
    """Mean share of agreeing pairs over items with two ratings; NaN without any."""
    table = counts.table[counts.per_item >= 2]
    if not table.size:
        return NAN
    size = table.sum(axis=1)
    return float(((table * (table - 1.0)).sum(axis=1) / (size * (size - 1.0))).mean())


def _shares(counts: _Counts) -> Floats:
    """Mean share of each category over the rated items."""
    rated = counts.table[counts.per_item > 0]
    return np.asarray((rated / rated.sum(axis=1, keepdims=True)).sum(axis=0) / max(len(rated), 1))


def _corrected(agreement: float, chance: float, one_category: float) -> float:
    if np.isnan(agreement):
        return NAN
    # Shares are quotients of counts: a chance of 1 comes out within a few roundings of it.
    if 1.0 - chance < 1e-12:
        return one_category
    return (agreement - chance) / (1.0 - chance)
