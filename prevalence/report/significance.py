"""Tests of samples, groups, counts and normality → sheets and records."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.errors import ConfigurationError
from prevalence.meta.levels import correlate_many
from prevalence.meta.significance import (
    FEWEST_EXPECTED,
    compare_groups,
    correlation_by_samples,
    goodness_of_fit,
    grouped_correlations,
    shapiro_wilk,
)
from prevalence.report.sheets import Cell, Printer, Report, Sheet, Study, records_of
from prevalence.stats.coefficients import mean_coefficient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prevalence.meta.conventions import Convention
    from prevalence.meta.correlate import Pairing
    from prevalence.meta.levels import Level
    from prevalence.meta.table import RatingTable
    from prevalence.stats.arrays import Floats
    from prevalence.stats.coefficients import Kind


__all__ = ["SampleOptions", "count_sheet", "significance_report"]


_GROUP_NOTE = (
    "U: Mann–Whitney; all tests two-sided; a small p speaks for other samples of these summaries, "
    "not for other summaries"
)


class SampleOptions(NamedTuple):
    """How sampled scores are grouped and compared.

    Attributes:
        groups: groups into which the samples are dealt; must divide their number.
        sizes: numbers of samples to correlate; None takes 1, 2, 5, 10, ... and all.
        duels: methods whose groups are tested against each other.
    """

    groups: int
    sizes: Sequence[int] | None = None
    duels: Sequence[tuple[Pairing, Pairing]] = ()


def significance_report(
    study: Study, options: SampleOptions, *, counts: Sequence[float] = ()
) -> Report:
    """All tests for which the table has data.

    Args:
        study: scores, samples and ratings.
        options: about samples.
        counts: observed counts for a test of equal shares.

    Raises:
        ConfigurationError: a method that is to be compared has no samples.
    """
    for pair in (each for duel in options.duels for each in duel):
        if not _has_samples(study.table, pair):
            raise ConfigurationError(f"--methods: {pair.metric!r} has no samples")
    sheets = list(_Sheets(study.table, Printer(study.convention), options).all(study.pairs))
    if counts:
        sheets.append(count_sheet(counts, study.convention))
    settings = study.settings | {"groups": options.groups}
    return Report("significance", settings, tuple(sheets), records_of(sheets))


def _has_samples(table: RatingTable, pair: Pairing) -> bool:
    """Whether a metric has samples, and not only nulls in their place."""
    return pair.metric in table.samples and table.samples[pair.metric].shape[2] > 0


def count_sheet(counts: Sequence[float], convention: Convention) -> Sheet:
    """Chi-square test of equal shares, exact for two small counts, with Cramér's V."""
    printer = Printer(convention)
    found = goodness_of_fit(counts)
    row = (
        Cell(" : ".join(f"{count:g}" for count in counts)),
        printer.figure(found.statistic),
        printer.whole(found.freedom),
        printer.p_value(found.p),
        printer.figure(found.cramers_v),
    )
    columns = ("counts", "χ²", "degrees of freedom", "p", "Cramér's V")
    notes = []
    if found.exact:
        notes.append(f"p: exact binomial test; expected counts are below {FEWEST_EXPECTED:g}")
    if found.rough:
        notes.append(f"p is rough: expected counts are below {FEWEST_EXPECTED:g}")
    return Sheet("Are the shares equal?", columns, (row,), tuple(notes))


class _Sheets(NamedTuple):
    table: RatingTable
    printer: Printer
    options: SampleOptions

    def all(self, pairs: Sequence[Pairing]) -> Iterator[Sheet]:
        sampled = [pair for pair in pairs if _has_samples(self.table, pair)]
        self._check_sizes([self.table.samples[pair.metric].shape[2] for pair in sampled])
        if sampled:
            for level in self.printer.convention.levels:
                for kind in self.printer.convention.kinds:
                    yield self.by_samples(sampled, level, kind)
                    if self.options.duels:
                        yield self.groups(level, kind)
        yield self.normality()

    def _check_sizes(self, samples: Sequence[int]) -> None:
        most, asked = max(samples, default=0), max(self.options.sizes or [0])
        if asked > most:
            raise ConfigurationError(
                f"sizes: {asked} samples of a score are asked for, and there are at most {most}"
            )

    def by_samples(self, pairs: Sequence[Pairing], level: Level, kind: Kind) -> Sheet:
        most = max(self.table.samples[pair.metric].shape[2] for pair in pairs)
        sizes = list(self.options.sizes or _round_sizes(most))
        rows = []
        for pair in pairs:
            samples = self.table.samples[pair.metric]
            known = [size for size in sizes if size <= samples.shape[2]]
            values = correlation_by_samples(
                samples, self._correlate(pair, level, kind), sizes=known
            )
            figures = [self.printer.figure(float(value)) for value in values]
            blank = [Cell("")] * (len(sizes) - len(known))
            rows.append((Cell(f"{pair.row} · {pair.dimension}"), *figures, *blank))
        title = f"{kind.capitalize()} at {level} level by number of samples"
        return Sheet(title, ("metric · dimension", *map(str, sizes)), tuple(rows))

    def groups(self, level: Level, kind: Kind) -> Sheet:
        rows = []
        for first, second in self.options.duels:
            values = [self._grouped(pair, level, kind) for pair in (first, second)]
            found = compare_groups(*values)
            tests = (found.mann_whitney, found.t_test, found.welch)
            rows.append(
                (
                    Cell(f"{first.row} against {second.row} · {first.dimension}"),
                    *(self.printer.figure(float(np.mean(side))) for side in values),
                    *(
                        cell
                        for test in tests
                        for cell in (
                            self.printer.figure(test.statistic),
                            self.printer.p_value(test.p),
                        )
                    ),
                )
            )
        tests_named = ("U", "p (U)", "t", "p (t)", "Welch's t", "p (Welch)")
        columns = ("methods · dimension", "first", "second", *tests_named)
        title = f"{kind.capitalize()} at {level} level, {self.options.groups} groups of samples"
        return Sheet(title, columns, tuple(rows), (_GROUP_NOTE,))

    def _grouped(self, pair: Pairing, level: Level, kind: Kind) -> Floats:
        samples = self.table.samples[pair.metric]
        correlate = self._correlate(pair, level, kind)
        return grouped_correlations(samples, correlate, groups=self.options.groups)

    def _correlate(self, pair: Pairing, level: Level, kind: Kind) -> Callable[[Floats], float]:
        human = self.table.mean_human(pair.dimension)
        undefined = self.printer.convention.undefined

        def correlate(scores: Floats) -> float:
            return float(correlate_many(level, kind, scores[None], human, undefined=undefined)[0])

        return correlate

    def normality(self) -> Sheet:
        grids = {name: self.table.mean_human(name) for name in self.table.dimensions}
        rows = []
        for name, grid in (*grids.items(), *self.table.metrics.items()):
            found = shapiro_wilk(mean_coefficient(grid.T))
            rows.append(
                (Cell(name), self.printer.figure(found.statistic), self.printer.p_value(found.p))
            )
        note = "a small p: the system means are not normally distributed"
        title = "Shapiro–Wilk test of the system means"
        return Sheet(title, ("scores", "W", "p"), tuple(rows), (note,))


def _round_sizes(most: int) -> list[int]:
    """1, 2, 5, 10, 20, 50, ... and the largest number itself.

    >>> _round_sizes(30)
    [1, 2, 5, 10, 20, 30]
    """
    sizes = [digit * 10**power for power in range(len(str(most))) for digit in (1, 2, 5)]
    return [*(size for size in sizes if size < most), most]
