"""Agreement between raters → sheets and records."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.meta.conventions import cut
from prevalence.meta.correlate import score_grids
from prevalence.meta.raters import (
    batches_to_reannotate,
    items_to_rerate,
    judge_profile,
    pairwise_rmse,
    rater_correlations,
    rater_spread,
    ratings_per_score,
)
from prevalence.report.correlations import undefined_notes
from prevalence.report.sheets import Cell, Printer, Report, Sheet, Study, records_of
from prevalence.stats.agreement import (
    SCALES,
    agreement_by_cell,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    shared_ratings,
)
from prevalence.stats.coefficients import mean_coefficient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from prevalence.meta.correlate import Pairing
    from prevalence.meta.table import RatingTable
    from prevalence.stats.arrays import Floats

    Coefficients = Mapping[str, Callable[[Floats], float]]

__all__ = ["AgreementOptions", "agreement_report"]

_LOST = ("undefined", "absent")
_FEW_SHARED = 10
"""Ratings below which the kappa of two raters says little by itself."""


class AgreementOptions(NamedTuple):
    """What to report beside the coefficients.

    Attributes:
        batch: items of a cell (batch, system), over which coefficients are averaged; None pools
            all summaries.
        one_category: figure of ratings that are all one category; NaN leaves them out.
        categories: size of the scale for AC1; None counts what occurs.
        rerate: range of a summary's ratings from which it is listed; None lists none.
        reannotate: Cohen's kappa below which a cell is listed; None lists none.
        maximum: top of the scale, to describe judges beside people; None describes none.
    """

    batch: int | None = None
    one_category: float = float("nan")
    categories: int | None = None
    rerate: float | None = None
    reannotate: float | None = None
    maximum: float | None = None


def agreement_report(study: Study, options: AgreementOptions) -> Report:
    """How far raters agree, dimension by dimension.

    Args:
        study: ratings, and the judges' scores where they are described.
        options: what to report.
    """
    pairs = [] if options.maximum is None else study.pairs
    sheets = tuple(_Sheets(study.table, Printer(study.convention), options).all(pairs))
    return Report("agreement", study.settings | options._asdict(), sheets, records_of(sheets))


class _Sheets(NamedTuple):
    table: RatingTable
    printer: Printer
    options: AgreementOptions

    def all(self, pairs: Sequence[Pairing]) -> Iterator[Sheet]:
        yield self.coefficients()
        yield self.rmse()
        for kind in self.printer.convention.kinds:
            yield self.correlations(kind)
        yield self.spread()
        yield self.scores()
        if self.options.rerate is not None:
            yield self.to_rerate(self.options.rerate)
        if self.options.reannotate is not None:
            yield self.to_reannotate(self.options.reannotate)
        if self.options.maximum is not None:
            yield self.judges(pairs, self.options.maximum)

    def coefficients(self) -> Sheet:
        known = _coefficients(self.options)
        shared = {
            dimension: shared_ratings(ratings.reshape(-1, ratings.shape[2]))
            for dimension, ratings in self.table.human.items()
        }
        rows = [
            (
                *self.printer.row(dimension, (self._agreement(ratings, f) for f in known.values())),
                *map(self.printer.whole, shared[dimension]),
            )
            for dimension, ratings in self.table.human.items()
        ]
        over = "over all summaries"
        if self.options.batch is not None:
            over = f"mean over cells of {self.options.batch} items and one system"
        size = self.options.categories or "the observed"
        notes = [f"AC1 of {size} categories; shared: ratings that a pair of raters has in common"]
        gaps = {name: _missing(ratings) for name, ratings in self.table.human.items()}
        if any(gaps.values()):
            counts = ", ".join(f"{name} {count:,}" for name, count in gaps.items() if count)
            notes.append(f"ratings that are missing, of summaries that others rated: {counts}")
        if any(least < _FEW_SHARED and least < most for least, most in shared.values()):
            notes.append(
                f"some pairs of raters share fewer than {_FEW_SHARED} ratings, and Cohen κ counts "
                "each pair alike: prefer α"
            )
        columns = ("dimension", *known, "least shared", "most shared")
        return Sheet(f"Agreement, {over}", columns, tuple(rows), tuple(notes))

    def _agreement(self, ratings: Floats, coefficient: Callable[[Floats], float]) -> float:
        if self.options.batch is None:
            return coefficient(ratings.reshape(-1, ratings.shape[2]))
        cells = agreement_by_cell(ratings, coefficient, batch=self.options.batch)
        return float(mean_coefficient(cells.ravel()))

    def rmse(self) -> Sheet:
        found = {name: pairwise_rmse(ratings) for name, ratings in self.table.human.items()}
        rows = [
            self.printer.row(
                f"{self.table.raters[a]} and {self.table.raters[b]}",
                (values[a, b] for values in found.values()),
            )
            for a, b in self._rater_pairs()
        ]
        rows.append(self._average("average", rows))
        title = "Root mean squared difference of raters, by item and averaged"
        return Sheet(title, ("raters", *found), tuple(rows), self._average_note())

    def correlations(self, kind: str) -> Sheet:
        found = {
            name: rater_correlations(
                ratings,
                kind=kind,  # type: ignore[arg-type]
                undefined=self.printer.convention.undefined,
            )
            for name, ratings in self.table.human.items()
        }
        names = self.table.raters
        between = [
            self.printer.row(
                f"{names[a]} and {names[b]}", (entry.pairwise[a, b] for entry in found.values())
            )
            for a, b in self._rater_pairs()
        ]
        with_mean = [
            self.printer.row(f"{name} and mean", (entry.with_mean[a] for entry in found.values()))
            for a, name in enumerate(names)
        ]
        rows = [
            *between,
            self._average("average of raters", between),
            *with_mean,
            self._average("average with mean", with_mean),
        ]
        title = f"{kind.capitalize()} between raters, mean over items"
        undefined, absent = (sum(getattr(e, n) for e in found.values()) for n in _LOST)
        notes = (
            "the mean includes the rater",
            *self._average_note(),
            *undefined_notes(undefined, absent, self.printer.convention),
        )
        return Sheet(title, ("raters", *found), tuple(rows), notes)

    def _rater_pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(len(self.table.raters)), 2))

    def _average(self, name: str, rows: Sequence[tuple[Cell, ...]]) -> tuple[Cell, ...]:
        """Mean of the rows above, of the rounded figures where the convention has it so."""
        columns = zip(*(row[1:] for row in rows), strict=True) if rows else ()
        averages = [
            float(mean_coefficient(np.array([self._kept(cell.value) for cell in column])))
            for column in columns
        ]
        if not rows:
            averages = [float("nan")] * len(self.table.human)
        return self.printer.row(name, averages)

    def _kept(self, value: float | None) -> float:
        number = float("nan") if value is None else value
        if not self.printer.convention.average_rounded:
            return number
        return cut(number, self.printer.convention.decimals, self.printer.convention.rounding)

    def _average_note(self) -> tuple[str, ...]:
        return (
            ("averages are of rounded figures",) if self.printer.convention.average_rounded else ()
        )

    def spread(self) -> Sheet:
        found = {name: rater_spread(ratings) for name, ratings in self.table.human.items()}
        rows = [
            self.printer.row(system, (values[place] for values in found.values()))
            for place, system in enumerate(self.table.systems)
        ]
        title = "Standard deviation of a summary's ratings, mean by system"
        return Sheet(title, ("system", *found), tuple(rows), ("ddof 0",))

    def scores(self) -> Sheet:
        found = ratings_per_score(np.stack([*self.table.human.values()]))
        rows = [
            (
                Cell(f"{score:g}"),
                *(self.printer.whole(count) for count in found.counts[:, place]),
                self.printer.figure(float(found.mean[place])),
                self.printer.figure(float(found.sd[place])),
            )
            for place, score in enumerate(found.scores)
        ]
        columns = ("score", *self.table.human, "mean", "SD")
        return Sheet("Ratings of each score", columns, tuple(rows))

    def to_rerate(self, bound: float) -> Sheet:
        rows = [
            (
                Cell(self.table.items[item]),
                Cell(self.table.systems[system]),
                Cell(dimension),
                Cell(", ".join(f"{r:g}" for r in ratings[item, system] if not np.isnan(r))),
            )
            for dimension, ratings in self.table.human.items()
            for item, system in items_to_rerate(ratings, bound=bound)
        ]
        title = f"Summaries to rate again: ratings {bound:g} or more apart"
        return Sheet(title, ("item", "system", "dimension", "ratings"), tuple(rows))

    def to_reannotate(self, bound: float) -> Sheet:
        batch = self.options.batch or len(self.table.items)
        kappa = _coefficients(self.options)["Cohen κ"]
        rows = []
        for dimension, ratings in self.table.human.items():
            cells = agreement_by_cell(ratings, kappa, batch=batch)
            for place, system in batches_to_reannotate(cells, bound=bound):
                items = self.table.items[place * batch : (place + 1) * batch]
                rows.append(
                    (
                        Cell(f"{items[0]} … {items[-1]}"),
                        Cell(self.table.systems[system]),
                        Cell(dimension),
                        self.printer.figure(float(cells[place, system])),
                    )
                )
        title = f"Batches to annotate again: Cohen κ below {bound:g}"
        return Sheet(title, ("items", "system", "dimension", "κ"), tuple(rows))

    def judges(self, pairs: Sequence[Pairing], maximum: float) -> Sheet:
        rows = []
        for pair in pairs:
            grids = score_grids(self.table, pair, missing="drop")
            found = judge_profile(*grids, maximum=maximum)
            constant = [
                name for name, same in zip(self.table.systems, found.constant, strict=True) if same
            ]
            rows.append(
                (
                    Cell(f"{pair.row} · {pair.dimension}"),
                    self.printer.figure(found.offset),
                    self.printer.figure(found.at_maximum),
                    Cell(", ".join(constant) or "none"),
                )
            )
        columns = ("judge · dimension", "mean offset", f"share at {maximum:g}", "constant for")
        return Sheet("Judges beside people", columns, tuple(rows))


def _missing(ratings: Floats) -> int:
    absent = np.isnan(ratings)
    return int((absent & ~absent.all(axis=2, keepdims=True)).sum())


def _coefficients(options: AgreementOptions) -> Coefficients:
    rest = {"one_category": options.one_category}
    known: dict[str, Callable[[Floats], float]] = {
        f"α {level}": partial(krippendorff_alpha, level=level, **rest) for level in SCALES
    }
    return known | {
        "Cohen κ": partial(cohen_kappa, **rest),
        "Fleiss κ": partial(fleiss_kappa, **rest),
        "Gwet AC1": partial(gwet_ac1, categories=options.categories, **rest),
    }
