"""How far the figures of the profile agree with people on OpinSummEval, beside length.

    python -m benchmarks.agreement
    python -m benchmarks.agreement --model roberta-large-mnli --unit claim
    python -m benchmarks.agreement --cases 5 --model rouge1-precision

For every figure, for length and for the best released metrics: tau-b and rho with the mean of the
two annotators, over the means of the 14 systems (system) and within each case (summary), with 95%
intervals from resampled cases and systems. Beside them stands the partial rho given the length in
characters: what is left of an agreement when longer summaries are not simply preferred. Answers
are kept in the pair cache, so a run that was cut short goes on. Rows go to `benchmarks/results/`.

Only the lines that are shown get intervals. A line under each table counts the released metrics,
language models left aside, that agree with people less than coverage and ``combined`` do.

``combined`` is the harmonic mean of soft coverage and the attested share, a recall and a precision.
It was fixed before any run on all cases (docs/findings.md). Released metrics for which lower is
better are turned around; those of ChatGPT stand beside the dimension that they were asked about.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common import DATA, append_row, environment, show_table
from prevalence.api import OpinionPrevalence
from prevalence.claims import cut
from prevalence.meta.levels import (
    correlate_level,
    correlate_resampled,
    draw_resamples,
    system_means,
)
from prevalence.nli.cache import default_folder
from prevalence.readers import read_products
from prevalence.records import Product
from prevalence.scored import PROFILE_FIGURES
from prevalence.stats.coefficients import coefficients, mean_coefficient
from prevalence.stats.resampling import percentile_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prevalence.meta.levels import Level, Resamples
    from prevalence.stats.arrays import Floats
    from prevalence.stats.coefficients import Kind

__all__ = ["Agreement", "Grids", "agreement", "partial_rho", "read_grids"]

DIMENSIONS = {
    "asp_rel": "aspect relevance",
    "self_coh": "self-coherence",
    "sent_con": "sentiment consistency",
    "readblty": "readability",
}
ASKED_ABOUT = {
    "Relevance": "asp_rel", "Coherence": "self_coh", "Consistency": "sent_con",
    "Readability": "readblty",
}  # fmt: skip
"""Dimensions of the released ratings by ChatGPT, by the end of their names."""
LOWER_IS_BETTER = ("ter_score", "ppl_", "baryscore_", "infoLM_")
LENGTH = "characters"
OURS = ("prevalence", "combined", *PROFILE_FIGURES)
CELLS: tuple[tuple[Level, Kind], ...] = (
    ("system", "kendall"), ("summary", "kendall"), ("system", "spearman"), ("summary", "spearman"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Grids:
    """Values of every summary, float64 [cases, systems] each.

    Attributes:
        ours: figures of the profile, and lengths.
        released: metrics that OpinSummEval stores, higher being better.
        people: mean of the annotators by dimension.
        signature: of our figures.
    """

    ours: Mapping[str, Floats]
    released: Mapping[str, Floats]
    people: Mapping[str, Floats]
    signature: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """One line of a table.

    Attributes:
        name: of the figure.
        values: tau-b at system and summary level, rho likewise.
        intervals: of these, 95%.
        partial: partial rho given length at both levels; NaN for length itself.
    """

    name: str
    values: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    partial: tuple[float, float]

    def to_json(self) -> dict[str, Any]:
        """The line as a JSON object, null where undefined."""

        def plain(value: float) -> float | None:
            return None if np.isnan(value) else round(value, 6)

        names = [f"{kind} {level}" for level, kind in CELLS]
        return {
            "name": self.name,
            **{name: plain(value) for name, value in zip(names, self.values, strict=True)},
            "intervals": [[plain(low), plain(high)] for low, high in self.intervals],
            "partial rho given length": [plain(value) for value in self.partial],
        }


def read_grids(
    path: Path, *, model: str, unit: str, cases: int | None = None, **options: Any
) -> Grids:
    """Score the cases, and lay everything out.

    Args:
        path: ``opinsummeval.jsonl``.
        model: the scorer.
        unit: ``sentence`` or ``claim``.
        cases: only the first so many.
        options: others of :class:`prevalence.api.OpinionPrevalence`.

    Raises:
        SystemExit: a record cannot be read or scored.
    """
    products = []
    for item in islice(read_products(path), cases):
        if not isinstance(item, Product):
            raise SystemExit(item.error)
        products.append(item)
    scorer = OpinionPrevalence(model, unit=unit, profile=True, **options)
    systems = [summary.system for summary in products[0].summaries]
    ours: dict[str, list[float]] = {}
    rows = scorer.score_many(products, progress=_Shown())
    for product in products:
        for summary in product.summaries:
            row = next(rows)
            if row.error is not None or row.profile is None:
                raise SystemExit(row.error or "a summary has no profile")
            figures = {"prevalence": row.prevalence} | {
                name: getattr(row.profile, name) for name in PROFILE_FIGURES
            }
            figures["combined"] = harmonic(row.profile.soft_coverage, row.profile.attested)
            figures |= {LENGTH: len(summary.text), f"{unit}s": row.n_sentences}
            figures["claims"] = len(cut(summary.text))
            for name, value in figures.items():
                ours.setdefault(name, []).append(np.nan if value is None else float(value))
    counts = scorer.counts
    print(f"{counts.planned:,} pairs for prevalence, {counts.profile_asked:,} for the profile")
    shape = len(products), len(systems)
    known = {name: grid(values, shape) for name, values in ours.items()}
    return Grids(
        {name: values for name, values in known.items() if not np.isnan(values).all()},
        released(products, shape),
        people(products, shape),
        scorer.signature,
    )


class _Shown:
    """Tells on stderr how many pairs are answered, every ten seconds."""

    def __init__(self) -> None:
        self._pairs, self._begin = 0, time.monotonic()
        self._last = self._begin

    def __call__(self, pairs: int) -> None:
        self._pairs += pairs
        now = time.monotonic()
        if now - self._last >= 10:
            self._last = now
            rate = self._pairs / (now - self._begin)
            print(f"{self._pairs:,} pairs, {rate:,.0f} a second", file=sys.stderr, flush=True)


def grid(values: Sequence[float], shape: tuple[int, int]) -> Floats:
    """Values of summaries in order, float64 [cases, systems]."""
    return np.asarray(values, np.float64).reshape(shape)


def released(products: Sequence[Product], shape: tuple[int, int]) -> dict[str, Floats]:
    """The stored metrics, turned around where lower is better."""
    stored = [summary.extra["metrics"] for product in products for summary in product.summaries]
    return {
        name: grid([one[name] for one in stored], shape)
        * (-1.0 if name.startswith(LOWER_IS_BETTER) else 1.0)
        for name in stored[0]
    }


def people(products: Sequence[Product], shape: tuple[int, int]) -> dict[str, Floats]:
    """Mean ratings by dimension."""
    ratings = [summary.extra["human"] for product in products for summary in product.summaries]
    return {
        name: grid([float(np.mean(one[name])) for one in ratings], shape) for name in DIMENSIONS
    }


def harmonic(one: float | None, other: float | None) -> float | None:
    """The harmonic mean of two shares; 0 where both are, None where one is not known.

    >>> harmonic(0.25, 0.75), harmonic(0.0, 0.0), harmonic(None, 1.0)
    (0.375, 0.0, None)
    """
    if one is None or other is None:
        return None
    return 2 * one * other / (one + other) if one + other else 0.0


def partial_rho(x: Floats, y: Floats, given: Floats) -> tuple[float, float]:
    """Spearman's partial correlation of two figures given a third.

    Args:
        x: float64 [cases, systems].
        y: likewise.
        given: the third, likewise.

    Returns:
        That of the system means, and the mean of those of the cases; NaN where undefined.
    """
    gap = np.isnan(x) | np.isnan(y) | np.isnan(given)
    x, y, given = (np.where(gap, np.nan, grid) for grid in (x, y, given))
    mean_x, mean_y = system_means(x, y)
    mean_given, _ = system_means(given, y)
    return (
        float(_partial(mean_x[None], mean_y[None], mean_given[None])[0]),
        float(mean_coefficient(_partial(x, y, given))),
    )


def _partial(x: Floats, y: Floats, given: Floats) -> Floats:
    xy, xz, yz = (
        coefficients("spearman", *pair).value for pair in ((x, y), (x, given), (y, given))
    )
    scale = np.sqrt(np.maximum((1 - xz**2) * (1 - yz**2), 0.0))
    # A figure that orders as length does has nothing left.
    blank = np.full(xy.shape, np.nan)
    left: Floats = np.divide(xy - xz * yz, scale, out=blank, where=scale > 1e-9)
    return left


def agreement(
    name: str, metric: Floats, human: Floats, length: Floats, drawn: Resamples | None = None
) -> Agreement:
    """The line of one figure on one dimension.

    Args:
        name: of the figure.
        metric: float64 [cases, systems].
        human: likewise.
        length: likewise.
        drawn: resamples of cases and systems; None for no intervals.
    """
    values: list[float] = []
    intervals: list[tuple[float, float]] = []
    for level, kind in CELLS:
        values.append(correlate_level(level, kind, metric, human).value)
        if drawn is None:
            intervals.append((np.nan, np.nan))
            continue
        found = correlate_resampled(level, kind, metric, human, drawn)
        found = found[~np.isnan(found)]
        interval = percentile_interval(found, 0.95) if found.size else None
        intervals.append((np.nan, np.nan) if interval is None else (interval.low, interval.high))
    partial = (np.nan, np.nan) if name == LENGTH else partial_rho(metric, human, length)
    return Agreement(name, tuple(values), tuple(intervals), partial)


def chosen(grids: Grids, dimension: str, lines: Sequence[Agreement], most: int) -> list[Agreement]:
    """Ours in the order of the profile, the released ones best at either level, ChatGPT's."""
    by_name = {line.name: line for line in lines}
    own = [by_name[name] for name in dict.fromkeys((*OURS, *grids.ours)) if name in grids.ours]
    rest = [line for line in lines if line.name not in grids.ours]
    asked = {line.name: ASKED_ABOUT.get(line.name.rpartition("_")[2]) for line in rest}
    judges = [line for line in rest if asked[line.name] == dimension]
    others = [line for line in rest if asked[line.name] is None]
    best = [
        line
        for level in (1, 0)
        for line in sorted(others, key=lambda one: -np.nan_to_num(one.values[level], nan=-1.0))[
            :most
        ]
    ]
    return [*own, *dict.fromkeys(best), *judges]


def _above(ours: float, other: float) -> bool:
    """Whether a figure of ours is above another; one that is undefined is above none."""
    return not np.isnan(ours) and not other >= ours


def beaten(grids: Grids, lines: Sequence[Agreement], name: str) -> str:
    """How many released metrics that are no language model a figure of ours is above."""
    ours = next((line for line in lines if line.name == name), None)
    others = [line for line in lines if line.name not in grids.ours
              and line.name.rpartition("_")[2] not in ASKED_ABOUT]  # fmt: skip
    if ours is None:
        return f"{name}: not known"
    counts = [
        sum(_above(ours.values[cell], line.values[cell]) for line in others)
        for cell in range(len(CELLS))
    ]
    said = ", ".join(
        f"{count} of {len(others)} ({kind}, {level})"
        for count, (level, kind) in zip(counts, CELLS, strict=True)
    )
    return f"{name} is above {said}"


def shown(line: Agreement) -> list[str]:
    """A line of the table."""

    def number(value: float) -> str:
        return "–" if np.isnan(value) else f"{value:+.2f}"

    cells = [
        f"{number(value)} ({number(low)} to {number(high)})"
        for value, (low, high) in zip(line.values, line.intervals, strict=True)
    ]
    return [line.name, *cells, *map(number, line.partial)]


def main() -> None:
    """Score, correlate, print and keep the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA / "opinsummeval.jsonl")
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--unit", choices=("sentence", "claim"), default="sentence")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--others", type=int, help="Also genericness, against N other products.")
    parser.add_argument("--cases", type=int, help="Only the first N of the 100.")
    parser.add_argument("--published", type=int, default=5, help="Released metrics to show.")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=12345)
    options = parser.parse_args()
    if not options.data.is_file():
        raise SystemExit(f"{options.data} is not here; name it with --data")
    grids = read_grids(
        options.data, model=options.model, unit=options.unit, cases=options.cases,
        device=options.device, others=options.others, cache=default_folder(),
    )  # fmt: skip
    cases, systems = grids.ours[LENGTH].shape
    drawn = draw_resamples(cases, systems, resamples=options.resamples, seed=options.seed)
    result = []
    every = {**grids.ours, **grids.released}
    for dimension, title in DIMENSIONS.items():
        lines = [
            agreement(name, values, grids.people[dimension], grids.ours[LENGTH])
            for name, values in every.items()
        ]
        best = [
            agreement(one.name, every[one.name], grids.people[dimension], grids.ours[LENGTH], drawn)
            for one in chosen(grids, dimension, lines, options.published)
        ]
        headers = ("figure", *(f"{kind} {level}" for level, kind in CELLS),
                   "partial system", "partial summary")  # fmt: skip
        show_table(headers, map(shown, best), title=title)
        verdicts = [beaten(grids, lines, name) for name in ("coverage", "combined")]
        print(*verdicts, "", sep="\n", flush=True)
        shown_lines = [line.to_json() for line in best]
        result.append({"dimension": dimension, "lines": shown_lines, "beaten": verdicts})
    print(grids.signature)
    append_row(
        "agreement",
        environment(options.device)
        | {"signature": grids.signature, "cases": cases, "systems": systems, "tables": result},
    )


if __name__ == "__main__":
    main()
