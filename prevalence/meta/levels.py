"""Metric against human scores at four levels, and the same under resampled items and systems.

All functions take two grids, float64 [items, systems]; NaN marks a missing value, and a summary
counts only where both grids have one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from prevalence.errors import ConfigurationError, InputError
from prevalence.kernels.correlation import resampled_correlations, row_correlations
from prevalence.stats.coefficients import (
    Kind,
    Undefined,
    coefficient,
    coefficients,
    mean_coefficient,
    settle,
)
from prevalence.stats.resampling import check_drawing, draw_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from prevalence.stats.arrays import Floats, Ints

__all__ = [
    "LEVELS",
    "Level",
    "LevelCorrelation",
    "Resamples",
    "correlate_level",
    "correlate_many",
    "correlate_resampled",
    "draw_resamples",
    "system_means",
    "without_noise",
]

Level = Literal["system", "summary", "pooled", "candidate"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""Coefficient of system means; mean over items of the coefficient across systems; all summaries at
once; mean over systems of the coefficient across items."""


_KEPT_BITS = 40
_NOISE = 2.0**-44
"""Of the largest number in a sum: what a sum that should be 0 may miss it by."""
_BLOCK = 1 << 24
"""Weights held at a time by the pooled level: 128 MiB."""


class LevelCorrelation(NamedTuple):
    """A correlation at one level.

    Attributes:
        value: the coefficient or the mean of coefficients; NaN where undefined.
        p: two-sided p-value; NaN where the value is a mean of coefficients, which has none.
        n: points of the coefficient, or coefficients in the mean.
        absent: items (summary) or systems (candidate) without two values to correlate, which are
            never in the mean.
        parts: float64 [items] (summary) or [systems] (candidate), the coefficients that are
            averaged, NaN where undefined; empty at the other levels.
        parts_p: their p-values at candidate level; empty elsewhere.
    """

    value: float
    p: float
    n: int
    absent: int
    parts: Floats
    parts_p: Floats


class Resamples(NamedTuple):
    """How often each resample drew each item (int64 [B, items]) and each system."""

    items: Ints
    systems: Ints


def correlate_level(
    level: Level, kind: Kind, metric: Floats, human: Floats, *, undefined: Undefined = "drop"
) -> LevelCorrelation:
    """Correlate a metric with human scores.

    Args:
        level: ``system``, ``summary``, ``pooled`` or ``candidate``.
        kind: the coefficient.
        metric: float64 [items, systems].
        human: float64 [items, systems].
        undefined: what a coefficient of constant values becomes: left out of the mean (``drop``),
            0 (``zero``), or an error (``fail``). One of fewer than two points is left out.

    Raises:
        ConfigurationError: an unknown level, coefficient or rule.
        InputError: the shapes differ, or a coefficient is undefined under ``fail``.
    """
    x, y = _rows(level, metric, human)
    if level in ("system", "pooled"):
        found = coefficient(kind, x[0], y[0])
        points = np.array(found.n)
        value = settle(np.array(found.value), undefined, points=points, what=f"{level} level")
        return LevelCorrelation(float(value), found.p, found.n, 0, np.empty(0), np.empty(0))
    if level == "candidate":
        parts, p, _ = coefficients(kind, x, y)
    else:
        parts, p = _values(kind, x, y), np.empty(0)
    points = _points(x, y)
    settled = settle(parts, undefined, points=points, what=f"{level} level")
    counted, absent = int((~np.isnan(settled)).sum()), int((points < 2).sum())
    mean = float(mean_coefficient(settled))
    return LevelCorrelation(mean, float("nan"), counted, absent, parts, p)


def correlate_many(
    level: Level, kind: Kind, metrics: Floats, human: Floats, *, undefined: Undefined = "drop"
) -> Floats:
    """The value of :func:`correlate_level` for many metrics at once.

    Args:
        level: the level.
        kind: the coefficient.
        metrics: float64 [T, items, systems].
        human: float64 [items, systems].
        undefined: rule for undefined coefficients.

    Returns:
        float64 [T].
    """
    rows = [_rows(level, metric, human) for metric in metrics]
    x, y = (np.concatenate(side) for side in zip(*rows, strict=True))
    parts = settle(_values(kind, x, y), undefined, points=_points(x, y), what=f"{level} level")
    return mean_coefficient(parts.reshape(len(metrics), -1))


def _rows(level: Level, metric: Floats, human: Floats) -> tuple[Floats, Floats]:
    """What a level correlates, float64 [coefficients, points] of each side."""
    metric, human = _paired(level, metric, human)
    if level == "system":
        return _drawn_means(metric, human, np.ones((1, len(metric)), np.int64))
    if level == "pooled":
        return metric.reshape(1, -1), human.reshape(1, -1)
    return (metric, human) if level == "summary" else (metric.T, human.T)


def _values(kind: Kind, x: Floats, y: Floats) -> Floats:
    return row_correlations(kind, x, y, _present(x, y))


def _present(x: Floats, y: Floats) -> Ints:
    return (~(np.isnan(x) | np.isnan(y))).astype(np.int64)


def _points(x: Floats, y: Floats) -> Ints:
    return np.asarray(_present(x, y).sum(axis=1))


def system_means(metric: Floats, human: Floats) -> tuple[Floats, Floats]:
    """Means over the items that have both values, float64 [systems] each; NaN without any.

    Means that differ by rounding noise alone are made equal, so that ties stay ties.
    """
    x, y = _rows("system", metric, human)
    return x[0], y[0]


def draw_resamples(
    items: int, systems: int, *, over: str = "both", resamples: int, seed: int
) -> Resamples:
    """Draw items, systems or both with replacement.

    Args:
        items: number of items.
        systems: number of systems.
        over: ``items``, ``systems`` or ``both``; what is not resampled counts once each time.
        resamples: number of resamples, B.
        seed: of the generator.

    Raises:
        ConfigurationError: an unknown unit, or no resamples.

    Source: Deutsch, Dror and Roth 2021, section 3 (boot-inputs, boot-systems, boot-both).
    """
    if over not in ("items", "systems", "both"):
        raise ConfigurationError(f"bootstrap over items, systems or both, not {over!r}")
    check_drawing(resamples)
    rng = np.random.default_rng(seed)

    def weights(size: int, drawn: bool) -> Ints:
        if not drawn:
            return np.ones((resamples, size), np.int64)
        return draw_counts(rng, size, resamples)

    return Resamples(weights(items, over != "systems"), weights(systems, over != "items"))


def correlate_resampled(
    level: Level,
    kind: Kind,
    metric: Floats,
    human: Floats,
    drawn: Resamples,
    *,
    undefined: Undefined = "drop",
) -> Floats:
    """The value of :func:`correlate_level` in every resample, without copying any data.

    Args:
        level: the level.
        kind: the coefficient.
        metric: float64 [items, systems].
        human: float64 [items, systems].
        drawn: B resamples.
        undefined: ``drop`` or ``zero``; ``fail`` acts as ``drop``, since a resample may well draw
            one system alone.

    Returns:
        float64 [B]; NaN where a resample leaves nothing to correlate.
    """
    metric, human = _paired(level, metric, human)
    return _RESAMPLED[level](kind, metric, human, drawn, "zero" if undefined == "zero" else "drop")


def _system(kind: Kind, metric: Floats, human: Floats, drawn: Resamples, rule: Undefined) -> Floats:
    x, y = _drawn_means(metric, human, drawn.items)
    weights = drawn.systems * _present(x, y)
    return settle(row_correlations(kind, x, y, weights), rule, points=weights.sum(axis=1))


def _candidate(
    kind: Kind, metric: Floats, human: Floats, drawn: Resamples, rule: Undefined
) -> Floats:
    swapped = Resamples(drawn.systems, drawn.items)
    return _summary(kind, metric.T, human.T, swapped, rule)


def _summary(
    kind: Kind, metric: Floats, human: Floats, drawn: Resamples, rule: Undefined
) -> Floats:
    """Mean over drawn rows of the coefficients across drawn columns, named items and systems."""
    columns = drawn.systems
    if (columns == 1).all():
        columns = columns[:1]
    parts = resampled_correlations(kind, metric, human, columns)
    parts = settle(parts, rule, points=columns @ _present(metric, human).T)
    defined = ~np.isnan(parts)
    total = (drawn.items * np.nan_to_num(parts)).sum(axis=1)
    count = (drawn.items * defined).sum(axis=1)
    mean: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean


def _pooled(kind: Kind, metric: Floats, human: Floats, drawn: Resamples, rule: Undefined) -> Floats:
    step = max(1, _BLOCK // max(metric.size, 1))
    blocks = []
    for start in range(0, len(drawn.items), step):
        items, systems = (side[start : start + step] for side in drawn)
        weights = (items[:, :, None] * systems[:, None, :]).reshape(len(items), -1)
        rows = (metric.reshape(1, -1), human.reshape(1, -1))
        values = resampled_correlations(kind, *rows, weights)[:, 0]
        blocks.append(settle(values, rule, points=weights @ _present(*rows)[0]))
    return np.concatenate(blocks)


_RESAMPLED: dict[str, Callable[[Kind, Floats, Floats, Resamples, Undefined], Floats]] = {
    "system": _system,
    "summary": _summary,
    "pooled": _pooled,
    "candidate": _candidate,
}


def _drawn_means(metric: Floats, human: Floats, drawn: Ints) -> tuple[Floats, Floats]:
    """Means of every system over drawn items, float64 [B, systems] each."""
    weights = drawn.astype(np.float64)
    count = weights @ (~np.isnan(metric)).astype(np.float64)

    def means(grid: Floats) -> Floats:
        known = np.nan_to_num(grid)
        total = weights @ known
        mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return without_noise(mean, scale=np.abs(known).max(axis=0, initial=0.0))

    return means(metric), means(human)


def without_noise(values: Floats, *, scale: ArrayLike = 0.0) -> Floats:
    """Make sums of the same numbers in another order equal again.

    Args:
        values: float64 of any shape; the leading 40 bits are kept.
        scale: largest size of what was summed, broadcast against the values. Where numbers cancel,
            a sum that should be 0 holds noise alone: what is below 2^-44 of the scale becomes 0.

    Returns:
        float64 of the values' shape; NaN stays.
    """
    mantissa, exponent = np.frexp(values)
    kept: Floats = np.ldexp(np.round(np.ldexp(mantissa, _KEPT_BITS)), exponent - _KEPT_BITS)
    return np.where(np.abs(values) < np.multiply(scale, _NOISE), 0.0, kept)


def _paired(level: str, metric: Floats, human: Floats) -> tuple[Floats, Floats]:
    """Both grids with a gap wherever one has it."""
    if level not in LEVELS:
        raise ConfigurationError(f"a level is {', '.join(LEVELS)}, not {level!r}")
    if metric.shape != human.shape or metric.ndim != 2:
        raise InputError(f"metric {metric.shape} and human {human.shape}: give [items, systems]")
    gap = np.isnan(metric) | np.isnan(human)
    return np.where(gap, np.nan, metric), np.where(gap, np.nan, human)
