"""Which metric agrees with people: every metric against every dimension at every level."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from prevalence.errors import InputError
from prevalence.meta.conventions import CONVENTIONS, Convention, Missing
from prevalence.meta.levels import (
    Level,
    Resamples,
    correlate_level,
    correlate_resampled,
    draw_resamples,
)
from prevalence.meta.table import own_dimension, unrated_dimension
from prevalence.stats.resampling import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    FEWEST_PRODUCTS,
    check_drawing,
    percentile_interval,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prevalence.meta.table import RatingTable
    from prevalence.stats.arrays import Bools, Floats
    from prevalence.stats.coefficients import Kind

__all__ = [
    "Bootstrap",
    "Correlation",
    "NoInterval",
    "Pairing",
    "correlate",
    "metric_gaps",
    "one_sided",
    "pairings",
    "score_grids",
    "unrated_metrics",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """Percentile intervals.

    Attributes:
        over: what is drawn with replacement: ``items``, ``systems`` or ``both``; of key points
            ``topics``.
        resamples: number of resamples.
        seed: of the generator.
        confidence: share of the resamples that the interval holds.
    """

    over: str = "both"
    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED
    confidence: float = 0.95


NoInterval = Literal["", "few items", "few systems", "undefined", "constant"]
"""Why a correlation has no interval though one was asked for: fewer than :data:`FEWEST_PRODUCTS`
items or systems to draw from; no two resamples with a coefficient; an interval without width."""

_NO_WIDTH = 1e-12


class Pairing(NamedTuple):
    """A metric and a dimension to correlate; ``row`` names the metric's line in a table."""

    row: str
    metric: str
    dimension: str


@dataclass(frozen=True, slots=True)
class Correlation:
    """One cell of the result.

    Attributes:
        row: name of the metric; of its family where it judges this dimension alone, and no other
            metric is called like the family or judges this dimension in it.
        metric: name of the metric.
        dimension: name of the dimension.
        level: of aggregation.
        kind: coefficient.
        value: the coefficient or the mean of coefficients; NaN where undefined.
        p: two-sided p-value; NaN at levels that are means, and where undefined.
        n: points of the coefficient, or coefficients in the mean.
        undefined: coefficients that constant values leave undefined.
        absent: items (summary level) or systems (candidate level) without two values.
        missing: rated summaries without a metric value.
        low: lower end of the bootstrap interval; NaN without one.
        high: upper end.
        no_interval: why there is none, where one was asked for; otherwise empty.
        resamples: resamples in which the value is defined.
        parts: the averaged coefficients by item (summary level) or system (candidate level).
        parts_p: their p-values by system (candidate level).
    """

    row: str
    metric: str
    dimension: str
    level: Level
    kind: Kind
    value: float
    p: float
    n: int
    undefined: int
    absent: int
    missing: int
    low: float
    high: float
    no_interval: NoInterval
    resamples: int
    parts: Mapping[str, float]
    parts_p: Mapping[str, float]


def correlate(
    table: RatingTable,
    convention: Convention = CONVENTIONS["default"],
    *,
    bootstrap: Bootstrap | None = None,
    all_pairs: bool = False,
    own: Mapping[str, str] | None = None,
) -> list[Correlation]:
    """Correlate metrics with human ratings.

    Args:
        table: scores and ratings.
        convention: coefficients, levels and rules.
        bootstrap: how to draw intervals; None draws none.
        all_pairs: compare a metric of one dimension (FAMILY.DIMENSION) with all others too.
        own: dimension by metric, for metrics of one dimension whose names do not end in it.
            Otherwise metrics of a dimension that nobody rated are left out, see
            :func:`unrated_metrics`.

    Returns:
        Cells by coefficient, level, metric and dimension, in the order of the table.

    Raises:
        InputError: the table lacks metrics or ratings, or values are missing under ``fail``.
        ConfigurationError: bootstrap settings out of range.
    """
    pairs = pairings(table, all_pairs=all_pairs, own=own)
    run = _Run(table, convention, bootstrap, _drawn(table, bootstrap))
    return [
        run.cell(pair, level, kind)
        for kind in convention.kinds
        for level in convention.levels
        for pair in pairs
    ]


def pairings(
    table: RatingTable, *, all_pairs: bool = False, own: Mapping[str, str] | None = None
) -> list[Pairing]:
    """Which metric is compared with which dimension; see :func:`correlate`.

    Raises:
        InputError: the table has no metric of a rated dimension, or no rating, or ``own`` names
            what it has not.
    """
    own = own or {}
    for what, found in (("metric", table.metrics), ("human rating", table.human)):
        if not found:
            raise InputError(f"no {what} to correlate; add a file that holds some")
    for metric, dimension in own.items():
        table.select(metrics=[metric], dimensions=[dimension])
    unrated = {} if all_pairs else unrated_metrics(table, own)
    if len(unrated) == len(table.metrics):
        named = ", ".join(f"{metric} judges {dimension}" for metric, dimension in unrated.items())
        raise InputError(
            f"no metric judges what people rated ({', '.join(table.dimensions)}): {named}; --own "
            "METRIC=DIMENSION or --all-pairs compares them all the same"
        )
    pairs = [pair for pair in _pairings(table, all_pairs, own) if pair.metric not in unrated]
    cells = Counter((pair.row, pair.dimension) for pair in pairs)
    # A family's name is that of a line only where no other metric would stand in it.
    shared = {row for (row, _), count in cells.items() if count > 1 or row in table.metrics}
    return [pair._replace(row=pair.metric) if pair.row in shared else pair for pair in pairs]


def unrated_metrics(table: RatingTable, own: Mapping[str, str] | None = None) -> dict[str, str]:
    """The metrics that judge a known dimension which nobody rated, each with that dimension.

    Args:
        table: scores and ratings.
        own: metrics with the dimension to compare them with, which are never among these.
    """
    judged = {metric: unrated_dimension(metric, table.dimensions) for metric in table.metrics}
    return {
        metric: dimension
        for metric, dimension in judged.items()
        if dimension is not None and metric not in (own or {})
    }


def _pairings(table: RatingTable, all_pairs: bool, own: Mapping[str, str]) -> Iterator[Pairing]:
    for metric in table.metrics:
        family, judged = own_dimension(metric, table.dimensions)
        if metric in own:
            family, judged = metric, own[metric]
        if all_pairs or judged is None:
            yield from (Pairing(metric, metric, dimension) for dimension in table.dimensions)
        else:
            yield Pairing(family, metric, judged)


def score_grids(table: RatingTable, pair: Pairing, *, missing: Missing) -> tuple[Floats, Floats]:
    """The metric's and the people's mean scores of a pairing, float64 [items, systems] each.

    Raises:
        InputError: a rated summary has no metric value under ``fail``.
    """
    metric, human = table.metric(pair.metric), table.mean_human(pair.dimension)
    gaps = metric_gaps(table, pair)
    if missing == "fail" and gaps.any():
        item, system = np.argwhere(gaps)[0]
        raise InputError(
            f"metric {pair.metric!r}: {int(gaps.sum())} summaries that people rated have no value, "
            f"the first one of {table.items[item]!r} by {table.systems[system]!r}; score them, or "
            "choose drop or zero"
        )
    return (np.where(gaps, 0.0, metric) if missing == "zero" else metric), human


def metric_gaps(table: RatingTable, pair: Pairing) -> Bools:
    """The summaries that people rated and the metric did not, bool [items, systems]."""
    unrated = np.isnan(table.mean_human(pair.dimension))
    return np.asarray(np.isnan(table.metric(pair.metric)) & ~unrated)


def shares_summary(table: RatingTable, pair: Pairing) -> bool:
    """Whether any summary that people rated has a value of the metric."""
    rated = ~np.isnan(table.mean_human(pair.dimension))
    return bool((rated & ~np.isnan(table.metric(pair.metric))).any())


def one_sided(
    table: RatingTable, pairs: Sequence[Pairing]
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Systems and ids that only people rated, and those that only metrics scored.

    Args:
        table: scores and ratings.
        pairs: what is compared, at least one pairing.

    Returns:
        Under "system" and "id" the names with ratings and no score, and with scores and no rating.
    """
    rated = np.any([~np.isnan(table.mean_human(p.dimension)) for p in pairs], axis=0)
    scored = np.any([~np.isnan(table.metric(p.metric)) for p in pairs], axis=0)
    found = {}
    for what, names, axis in (("system", table.systems, 0), ("id", table.items, 1)):
        people, metrics = rated.any(axis=axis), scored.any(axis=axis)
        one, other = people & ~metrics, metrics & ~people
        found[what] = (
            tuple(name for name, alone in zip(names, one, strict=True) if alone),
            tuple(name for name, alone in zip(names, other, strict=True) if alone),
        )
    return found


def unrated(table: RatingTable, pair: Pairing) -> Bools:
    """The summaries with a value that people did not rate.

    Returns:
        bool [items, systems].
    """
    rated = ~np.isnan(table.mean_human(pair.dimension))
    scored = ~np.isnan(table.metric(pair.metric))
    return np.asarray(scored & ~rated)


def _drawn(table: RatingTable, bootstrap: Bootstrap | None) -> Resamples | None:
    if bootstrap is None:
        return None
    check_drawing(bootstrap.resamples, bootstrap.confidence)
    return draw_resamples(
        len(table.items),
        len(table.systems),
        over=bootstrap.over,
        resamples=bootstrap.resamples,
        seed=bootstrap.seed,
    )


class _Run(NamedTuple):
    """What all cells share."""

    table: RatingTable
    convention: Convention
    bootstrap: Bootstrap | None
    drawn: Resamples | None

    def cell(self, pair: Pairing, level: Level, kind: Kind) -> Correlation:
        grids = score_grids(self.table, pair, missing=self.convention.missing)
        try:
            found = correlate_level(level, kind, *grids, undefined=self.convention.undefined)
        except InputError as error:
            raise InputError(f"{pair.metric} against {pair.dimension}: {error}") from None
        interval = self._interval(level, kind, grids)
        names = {"summary": self.table.items, "candidate": self.table.systems}.get(level, ())
        return Correlation(
            *pair,
            level=level,
            kind=kind,
            value=found.value,
            p=found.p,
            n=found.n,
            undefined=int(np.isnan(found.parts).sum()) - found.absent,
            absent=found.absent,
            missing=int(metric_gaps(self.table, pair).sum()),
            **interval._asdict(),
            parts=dict(zip(names, found.parts.tolist(), strict=True)),
            parts_p=dict(zip(names, found.parts_p.tolist(), strict=False)),
        )

    def _interval(self, level: Level, kind: Kind, grids: tuple[Floats, Floats]) -> _Drawn:
        if self.bootstrap is None or self.drawn is None:
            return _Drawn()
        few = _few(level, grids, self.bootstrap)
        if few:
            return _Drawn(no_interval=few)
        undefined = self.convention.undefined
        values = correlate_resampled(level, kind, *grids, self.drawn, undefined=undefined)
        return _percentiles(values, self.bootstrap.confidence)


class _Drawn(NamedTuple):
    """An interval, or why there is none."""

    low: float = float("nan")
    high: float = float("nan")
    no_interval: NoInterval = ""
    resamples: int = 0


def _few(level: Level, grids: tuple[Floats, Floats], bootstrap: Bootstrap) -> NoInterval:
    """Of what there is too little to draw from; empty where there is enough."""
    both = ~(np.isnan(grids[0]) | np.isnan(grids[1]))
    items = both.sum(axis=1) >= (2 if level == "summary" else 1)
    systems = both.sum(axis=0) >= (2 if level == "candidate" else 1)
    if bootstrap.over != "systems" and items.sum() < FEWEST_PRODUCTS:
        return "few items"
    return "few systems" if bootstrap.over != "items" and systems.sum() < FEWEST_PRODUCTS else ""


def _percentiles(values: Floats, confidence: float) -> _Drawn:
    """Percentiles of the defined values, unless they are fewer than two, or equal."""
    defined = values[~np.isnan(values)]
    if defined.size < 2:
        return _Drawn(no_interval="undefined", resamples=defined.size)
    found = percentile_interval(defined, confidence)
    if found.high - found.low < _NO_WIDTH:
        return _Drawn(no_interval="constant", resamples=defined.size)
    return _Drawn(found.low, found.high, resamples=defined.size)
