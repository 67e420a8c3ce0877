"""Correlations and comparisons of metrics → sheets and records."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.meta.conventions import cut
from prevalence.meta.means import MARKED, ranks
from prevalence.report.directions import direction
from prevalence.report.sheets import Cell, Printer, Report, Sheet
from prevalence.stats.resampling import FEWEST_PRODUCTS
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from prevalence.meta.conventions import Convention
    from prevalence.meta.correlate import Correlation, NoInterval

__all__ = [
    "MetricTest",
    "comparison_sheet",
    "correlation_report",
    "undefined_notes",
]


_NO_INTERVAL: dict[NoInterval, str] = {
    "few items": f"fewer than {FEWEST_PRODUCTS} items to draw from",
    "few systems": f"fewer than {FEWEST_PRODUCTS} systems to draw from",
    "undefined": "resamples have no coefficient",
    "constant": "nearly all resamples have the same coefficient",
}


class _Column(NamedTuple):
    dimension: str
    level: str
    kind: str


@dataclass(frozen=True, slots=True)
class MetricTest:
    """A test between two metrics in one cell of the result.

    Attributes:
        first, second: names of the metrics.
        dimension, level, kind: the cell.
        test: ``permutation`` or ``williams``.
        value_first, value_second: their correlations.
        statistic: difference, or Williams' t.
        p: two-sided p-value.
        compared, summaries: rated summaries with both metrics, which are compared, and with either.
        p_holm: the same after Holm's correction over all comparisons; NaN without it.
    """

    first: str
    second: str
    dimension: str
    level: str
    kind: str
    test: str
    value_first: float
    value_second: float
    statistic: float
    p: float
    compared: int
    summaries: int
    p_holm: float


def correlation_report(
    cells: Sequence[Correlation],
    convention: Convention,
    *,
    settings: Mapping[str, object],
    marked: int = MARKED,
    average: bool = False,
    parts: bool = False,
    comparisons: Sequence[MetricTest] = (),
    comparison_notes: Sequence[str] = (),
) -> Report:
    """Lay correlations out as papers do: a line a metric, a column a dimension.

    Args:
        cells: the correlations.
        convention: decimals, rounding, stars.
        settings: what the report says it was computed with.
        marked: number of best values to mark in each column; 0 marks none.
        average: add a column with the mean over dimensions.
        parts: add sheets with the coefficients by system (candidate level) or item.
        comparisons: tests between metrics, for a sheet of their own.
        comparison_notes: what stands below that.
    """
    layout = _Layout(Printer(convention), marked, average)
    sheets = [layout.sheet(group) for group in _groups(cells)]
    if parts:
        sheets += [layout.parts_sheet(group) for group in _parted(cells)]
    if comparisons:
        sheets.append(comparison_sheet(comparisons, convention, cells, notes=comparison_notes))
    records: list[dict[str, object]] = [{"type": "correlation", **asdict(cell)} for cell in cells]
    records += [{"type": "comparison", **asdict(entry)} for entry in comparisons]
    return Report("correlate", settings, tuple(sheets), tuple(records))


def undefined_notes(undefined: int, absent: int, convention: Convention) -> list[str]:
    """What became of coefficients of constant values, and of those without two values."""
    rule = "counted as 0" if convention.undefined == "zero" else "left out of means"
    notes = [f"{counted(undefined, 'coefficient')} of constant values {rule}"] if undefined else []
    if absent:
        notes.append(f"{counted(absent, 'coefficient')} left out of means for lack of two values")
    return notes


def comparison_sheet(
    comparisons: Sequence[MetricTest],
    convention: Convention,
    cells: Sequence[Correlation],
    *,
    notes: Sequence[str] = (),
) -> Sheet:
    """Tests between metrics, a line a test.

    Args:
        comparisons: the tests, at least one.
        convention: decimals, rounding, stars.
        cells: the correlations of the same metrics, each over all summaries that the metric has.
        notes: what stands below the table beside its own notes.
    """
    printer = Printer(convention)
    figure = printer.figure
    corrected = any(not np.isnan(entry.p_holm) for entry in comparisons)
    rows = [
        (
            Cell(f"{entry.first} against {entry.second}"),
            *(Cell(name) for name in (entry.dimension, entry.level, entry.kind)),
            Cell(f"{entry.compared:,} of {entry.summaries:,}"),
            *(figure(value) for value in (entry.value_first, entry.value_second, entry.statistic)),
            printer.p_value(entry.p),
            *([Cell(printer.p_value(entry.p_holm).text)] if corrected else []),
        )
        for entry in comparisons
    ]
    test = comparisons[0].test
    statistic = "difference" if test == "permutation" else "t"
    names = ("metrics", "dimension", "level", "coefficient", "summaries", "first", "second")
    own = [
        *printer.star_notes(rows),
        "p is two-sided, of each comparison alone" + ("; Holm's is of all" if corrected else ""),
    ]
    if _differ(comparisons, cells, printer):
        own.append(
            "first and second are over the summaries with both metrics, figures above over all "
            "that a metric has"
        )
    columns = (*names, statistic, "p", *(["p (Holm)"] if corrected else []))
    return Sheet(f"Differences between metrics, {test} test", columns, tuple(rows), (*own, *notes))


def _differ(
    comparisons: Sequence[MetricTest], cells: Sequence[Correlation], printer: Printer
) -> bool:
    """Whether any metric that is compared has another printed figure among the correlations."""
    # The sign is turned where low is good.
    above: dict[tuple[str, ...], str] = {
        (c.row, c.dimension, c.level, c.kind): printer.figure(abs(c.value)).text for c in cells
    }
    return any(
        above.get((row, entry.dimension, entry.level, entry.kind))
        != printer.figure(abs(value)).text
        for entry in comparisons
        if entry.compared < entry.summaries
        for row, value in ((entry.first, entry.value_first), (entry.second, entry.value_second))
    )


def _groups(cells: Sequence[Correlation]) -> list[list[Correlation]]:
    """The cells of each sheet: all levels of a coefficient, or all coefficients of one level."""
    with_intervals = any(cell.resamples or cell.no_interval for cell in cells)
    one_level = len({cell.level for cell in cells}) == 1
    groups: dict[tuple[str, ...], list[Correlation]] = {}
    for cell in cells:
        key = (cell.kind, cell.level) if with_intervals else () if one_level else (cell.kind,)
        groups.setdefault(key, []).append(cell)
    return list(groups.values())


def _parted(cells: Iterable[Correlation]) -> list[list[Correlation]]:
    groups: dict[tuple[str, str], list[Correlation]] = {}
    for cell in cells:
        if cell.parts:
            groups.setdefault((cell.level, cell.kind), []).append(cell)
    return list(groups.values())


class _Layout(NamedTuple):
    printer: Printer
    marked: int
    average: bool

    def sheet(self, cells: Sequence[Correlation]) -> Sheet:
        columns = _columns(cells)
        rows = list(dict.fromkeys(cell.row for cell in cells))
        places = {
            (cell.row, _Column(cell.dimension, cell.level, cell.kind)): cell for cell in cells
        }
        values = [[self._ranked(places.get((row, column))) for column in columns] for row in rows]
        low = self._low(cells)
        factors = np.array([[-1.0 if row in low else 1.0] for row in rows])
        marks = ranks(np.array(values).reshape(len(rows), -1) * factors, marked=self.marked)
        lines = []
        for number, row in enumerate(rows):
            found = [places.get((row, column)) for column in columns]
            figures = [self._figure(c, int(m)) for c, m in zip(found, marks[number], strict=True)]
            lines.append((Cell(row), *figures, *self._averages(columns, found)))
        return Sheet(
            self._title(cells),
            ("metric", *_headers(columns), *self._average_headers(columns)),
            tuple(lines),
            (*self.printer.star_notes(lines), *self._notes(cells)),
        )

    @staticmethod
    def _low(cells: Sequence[Correlation]) -> list[str]:
        """Rows of metrics whose low values are good."""
        dimensions = {cell.dimension for cell in cells}
        metrics = {cell.row: cell.metric for cell in cells}
        return [row for row, metric in metrics.items() if direction(metric, dimensions) < 0]

    def parts_sheet(self, cells: Sequence[Correlation]) -> Sheet:
        names = list(cells[0].parts)
        rows = [
            (
                Cell(f"{cell.row} · {cell.dimension}"),
                *(
                    self.printer.figure(value, cell.parts_p.get(name, float("nan")))
                    for name, value in cell.parts.items()
                ),
            )
            for cell in cells
        ]
        unit = "item" if cells[0].level == "summary" else "system"
        title = f"{cells[0].kind.capitalize()} by {unit}"
        notes = tuple(self.printer.star_notes(rows))
        return Sheet(title, ("metric · dimension", *names), tuple(rows), notes)

    def _ranked(self, cell: Correlation | None) -> float:
        """The value that a place is given for; that of two systems gets none."""
        return float("nan") if cell is not None and _of_two(cell) else self._cut(cell)

    def _cut(self, cell: Correlation | None) -> float:
        value = float("nan") if cell is None else cell.value
        return cut(value, self.printer.convention.decimals, self.printer.convention.rounding)

    def _figure(self, cell: Correlation | None, place: int) -> Cell:
        if cell is None:
            return Cell("")
        shown = self.printer.figure(cell.value, cell.p, place=place)
        if np.isnan(cell.low):
            return shown
        low, high = (self.printer.figure(end).text for end in (cell.low, cell.high))
        return replace(shown, text=f"{shown.text} [{low}, {high}]")

    def _averages(
        self, columns: Sequence[_Column], found: Sequence[Correlation | None]
    ) -> list[Cell]:
        averages = []
        for group in self._average_groups(columns):
            cells = [c for column, c in zip(columns, found, strict=True) if column[1:] == group]
            rounded = self.printer.convention.average_rounded
            # NaN goes on: an average over other dimensions than another metric's misleads.
            values = [self._cut(c) if rounded or c is None else c.value for c in cells]
            averages.append(self.printer.figure(float(np.mean(values))))
        return averages

    def _average_groups(self, columns: Sequence[_Column]) -> list[tuple[str, str]]:
        return list(dict.fromkeys(c[1:] for c in columns)) if self.average else []

    def _average_headers(self, columns: Sequence[_Column]) -> list[str]:
        return _headers([_Column("average", *group) for group in self._average_groups(columns)])

    def _title(self, cells: Sequence[Correlation]) -> str:
        kinds, levels = (
            list(dict.fromkeys(getattr(cell, name) for cell in cells)) for name in ("kind", "level")
        )
        coefficients = ", ".join(kind.capitalize() for kind in kinds)
        at = "level" if len(levels) == 1 else "levels"
        return f"{coefficients} with people, {' and '.join(levels)} {at}"

    def _notes(self, cells: Sequence[Correlation]) -> list[str]:
        notes = []
        if any(cell.level == "pooled" and not np.isnan(cell.p) for cell in cells):
            notes.append("pooled: p is too small where the summaries of an item are alike")
        notes += _two_notes(cells)
        drawn = [cell.resamples for cell in cells if not np.isnan(cell.low)]
        if drawn:
            least, most = min(drawn), max(drawn)
            number = f"{most:,}" if least == most else f"{least:,} to {most:,}"
            notes.append(f"in brackets: bootstrap interval, of {number} resamples")
        notes += _interval_notes(cells)
        if self.marked:
            notes.append(f"small figures: place in the column, up to {self.marked}")
            low = self._low(cells)
            if low:
                notes.append(
                    f"low is good, so the most negative correlation is best: {', '.join(low)}"
                )
        undefined, absent = (sum(getattr(c, n) for c in cells) for n in ("undefined", "absent"))
        return [*notes, *undefined_notes(undefined, absent, self.printer.convention)]


def _of_two(cell: Correlation) -> bool:
    return cell.level == "system" and cell.n == 2 and not np.isnan(cell.value)


def _two_notes(cells: Sequence[Correlation]) -> list[str]:
    """Which metrics are correlated over two systems, whose coefficient is 1 or -1 anyway."""
    rows = dict.fromkeys(cell.row for cell in cells if _of_two(cell))
    if not rows:
        return []
    return [
        f"system level: of 2 systems alone, which is no evidence, so unmarked: {', '.join(rows)}"
    ]


def _interval_notes(cells: Sequence[Correlation]) -> list[str]:
    """Why figures have no interval, and how many of them."""
    counts = Counter(cell.no_interval for cell in cells if cell.no_interval)
    return [
        f"no interval for {count} of {counted(len(cells), 'figure')}: {_NO_INTERVAL[reason]}"
        for reason, count in counts.items()
    ]


def _columns(cells: Iterable[Correlation]) -> list[_Column]:
    """Columns by dimension, and within one by level and coefficient as they come."""
    columns = dict.fromkeys(_Column(cell.dimension, cell.level, cell.kind) for cell in cells)
    dimensions = list(dict.fromkeys(column.dimension for column in columns))
    return sorted(columns, key=lambda column: dimensions.index(column.dimension))


def _headers(columns: Sequence[_Column]) -> list[str]:
    several_levels = len({column.level for column in columns}) > 1
    several_kinds = len({column.kind for column in columns}) > 1
    return [
        " ".join(
            [
                column.dimension,
                *([column.level] if several_levels else []),
                *([column.kind] if several_kinds else []),
            ]
        )
        for column in columns
    ]
