"""Model-wise averages as papers print them: a row a system, a column a dimension, ranks marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prevalence.errors import ConfigurationError, InputError
from prevalence.meta.conventions import cut
from prevalence.meta.levels import without_noise
from prevalence.stats.coefficients import mean_coefficient

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from prevalence.meta.conventions import Rounding
    from prevalence.stats.arrays import Floats, Ints

__all__ = ["MARKED", "ModelMeans", "model_means", "ranks", "round_half_up"]


MARKED = 6
"""Places that published tables mark: the best and the second to the sixth."""


@dataclass(frozen=True, slots=True)
class ModelMeans:
    """Averages of systems.

    Attributes:
        values: float64 [systems, columns], mean over items.
        average: float64 [systems], mean over columns.
        marks: int64 [systems, columns + 1], place in the column (1 = best), 0 beyond the marked
            ones; the last column is that of ``average``.
    """

    values: Floats
    average: Floats
    marks: Ints


def model_means(
    scores: ArrayLike,
    *,
    decimals: int | None = None,
    rounding: Rounding = "half-up",
    marked: int = MARKED,
    directions: Sequence[int] | None = None,
) -> ModelMeans:
    """Average every column of every system, then the columns.

    Args:
        scores: float64 [items, systems, columns], NaN = no score.
        decimals: average the columns after cutting them to so many decimals, as printed tables
            do; None averages them as they are.
        rounding: how they are cut.
        marked: number of places to mark.
        directions: of each column 1 where high values are good, -1 where low ones are, 0 where
            that is not known and no place is marked; None for 1 everywhere. The average has the
            direction that all columns share.

    Returns:
        Averages and marks, both from unrounded values unless ``decimals`` is given.

    Raises:
        InputError: another number of axes.
        ConfigurationError: negative decimals or places.
    """
    cube = np.asarray(scores, dtype=np.float64)
    if cube.ndim != 3:
        raise InputError(f"scores have {cube.ndim} axes: give [items, systems, columns]")
    values = mean_coefficient(np.moveaxis(cube, 0, -1))
    printed = values if decimals is None else _cut(values, decimals, rounding)
    average = printed.mean(axis=1) if printed.shape[1] else np.full(len(printed), np.nan)
    columns = np.column_stack([printed, average])
    signs = [1] * printed.shape[1] if directions is None else [*directions]
    shared = set(signs)
    factors = np.array([*signs, shared.pop() if len(shared) == 1 else 0], dtype=np.float64)
    places = ranks(columns * factors, marked=marked)
    return ModelMeans(values, average, np.where(factors == 0.0, 0, places))


def ranks(values: ArrayLike, *, marked: int = MARKED) -> Ints:
    """Place of each value in its column, the highest first; equals share the better place.

    Values that differ by rounding noise alone are equals.

    Args:
        values: float64 [rows, columns]; NaN gets no place.
        marked: number of places; beyond them, 0.

    Returns:
        int64 [rows, columns].

    Raises:
        ConfigurationError: a negative number of places.

    >>> ranks([[3.0], [5.0], [3.0], [1.0]], marked=3).ravel().tolist()
    [2, 1, 2, 0]
    """
    if marked < 0:
        raise ConfigurationError(f"marked is {marked}: it must not be negative")
    table = np.asarray(values, dtype=np.float64)
    table = without_noise(table, scale=np.abs(np.nan_to_num(table)).max(axis=0, initial=0.0))
    places = 1 + (table[None, :, :] > table[:, None, :]).sum(axis=1)
    return np.where(np.isnan(table) | (places > marked), 0, places)


def round_half_up(values: ArrayLike, decimals: int) -> Floats:
    """Round as by hand: a five goes up (away from zero), binary noise left aside.

    Args:
        values: float64 of any shape; NaN and infinities stay.
        decimals: not negative.

    Returns:
        float64 of the same shape.

    Raises:
        ConfigurationError: negative decimals.

    >>> round_half_up([3.575, 0.125, -0.125, 2.4449], 2).tolist()
    [3.58, 0.13, -0.13, 2.44]
    """
    return _cut(values, decimals, "half-up")


def _cut(values: ArrayLike, decimals: int, rounding: Rounding) -> Floats:
    if decimals < 0:
        raise ConfigurationError(f"decimals is {decimals}: it must not be negative")
    array = np.asarray(values, dtype=np.float64)
    rounded = [cut(value, decimals, rounding) for value in array.ravel().tolist()]
    return np.array(rounded, dtype=np.float64).reshape(array.shape)
