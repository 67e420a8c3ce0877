"""Averages of systems, and how far they lie from those of one → sheets and records."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.errors import InputError
from prevalence.meta.means import MARKED, model_means
from prevalence.report.directions import direction
from prevalence.report.sheets import Cell, Printer, Report, Sheet, Study
from prevalence.stats.paired import PairedDifferences
from prevalence.stats.resampling import (
    FEWEST_PRODUCTS,
    Interval,
    PairedTest,
    ProductScores,
    bootstrap_interval,
    paired_randomization,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prevalence.stats.arrays import Floats

__all__ = ["means_report"]


class _Difference(NamedTuple):
    system: str
    column: str
    interval: Interval | None
    test: PairedTest


def means_report(
    study: Study,
    columns: Mapping[str, Floats],
    *,
    marked: int = MARKED,
    average: bool = True,
    intervals: bool = False,
    against: str | None = None,
    resamples: int,
    seed: int,
) -> Report:
    """A line a system, a column a dimension or metric, and their average.

    Args:
        study: for systems, decimals, rounding, and whether the average is of rounded figures.
        columns: float64 [items, systems] by name.
        marked: number of best values to mark in each column.
        average: add the average over columns.
        intervals: add the 95% bootstrap interval over items to each mean.
        against: a system from which a second sheet has the differences of all others.
        resamples: of intervals and tests.
        seed: of the generator.

    Raises:
        InputError: no system is called ``against``.
    """
    if against is not None and against not in study.table.systems:
        known = ", ".join(study.table.systems)
        raise InputError(f"--against: no system {against!r}; choose one of {known}")
    drawing = {"resamples": resamples, "seed": seed}
    scores = {name: _by_system(grid, study.table.systems) for name, grid in columns.items()}
    drawn = {
        (system, name): bootstrap_interval(one, **drawing)
        for name, found in (scores.items() if intervals else ())
        for system, one in found.items()
    }
    settings = study.settings | (drawing if intervals or against else {})
    settings |= {"against": against} if against else {}
    sheet, records = _averages(study, columns, drawn, marked=marked, average=average)
    if against is None:
        return Report("means", settings, (sheet,), tuple(records))
    found = _differences(scores, against, drawing)
    compared = _difference_sheet(study, found, against)
    records += [_record(one, against) for one in found]
    return Report("means", settings, (sheet, compared), tuple(records))


def _by_system(grid: Floats, systems: Sequence[str]) -> dict[str, ProductScores]:
    sums, counts = np.nan_to_num(grid), (~np.isnan(grid)).astype(np.float64)
    return {
        system: ProductScores(sums[:, place], counts[:, place])
        for place, system in enumerate(systems)
    }


def _averages(
    study: Study,
    columns: Mapping[str, Floats],
    intervals: Mapping[tuple[str, str], Interval | None],
    *,
    marked: int,
    average: bool,
) -> tuple[Sheet, list[dict[str, object]]]:
    table, convention = study.table, study.convention
    printer = Printer(convention)
    decimals = convention.decimals if convention.average_rounded else None
    directions = {name: direction(name, table.dimensions) for name in columns}
    found = model_means(
        np.stack([*columns.values()], axis=2),
        decimals=decimals,
        rounding=convention.rounding,
        marked=marked,
        directions=[*directions.values()],
    )
    values = np.column_stack([found.values, found.average])
    names = [*columns, "average"] if average else [*columns]
    rows = [
        (
            Cell(system),
            *(
                _with_interval(
                    printer.figure(values[row, place], place=int(found.marks[row, place])),
                    intervals.get((system, name)),
                    printer,
                )
                for place, name in enumerate(names)
            ),
        )
        for row, system in enumerate(table.systems)
    ]
    notes = _place_notes(directions, marked) if marked else []
    if average and convention.average_rounded:
        notes.append("the average is of rounded figures")
    if intervals:
        notes.append(f"{_INTERVAL}; {_FEW}")
    records: list[dict[str, object]] = []
    for row, system in enumerate(table.systems):
        record: dict[str, object] = {"system": system}
        for name, value in zip(names, values[row].tolist(), strict=False):
            record[name] = value
            if (interval := intervals.get((system, name))) is not None:
                record |= {f"{name}.low": interval.low, f"{name}.high": interval.high}
        records.append(record)
    return Sheet("Averages of systems", ("system", *names), tuple(rows), tuple(notes)), records


_INTERVAL = "in brackets: 95% bootstrap interval over items"
_FEW = f"none with fewer than {FEWEST_PRODUCTS}"


def _with_interval(cell: Cell, interval: Interval | None, printer: Printer) -> Cell:
    if interval is None:
        return cell
    low, high = (printer.figure(end).text for end in (interval.low, interval.high))
    return replace(cell, text=f"{cell.text} [{low}, {high}]")


def _place_notes(directions: Mapping[str, int], marked: int) -> list[str]:
    """What the marked places mean, and in which columns low is best, or nothing is marked."""
    unknown = [name for name, found in directions.items() if not found]
    notes = []
    if len(unknown) < len(directions):
        notes.append(f"small figures: place in the column, up to {marked}")
    notes += _low_notes(directions)
    if unknown:
        names = ", ".join(unknown)
        notes.append(f"unmarked, since it is not known whether high or low is best: {names}")
    return notes


def _low_notes(directions: Mapping[str, int]) -> list[str]:
    low = [name for name, found in directions.items() if found < 0]
    return [f"low is best: {', '.join(low)}"] if low else []


def _differences(
    scores: Mapping[str, Mapping[str, ProductScores]], against: str, drawing: Mapping[str, int]
) -> list[_Difference]:
    found = []
    for name, systems in scores.items():
        lies = PairedDifferences(systems, **drawing)
        for system in systems:
            if system == against:
                continue
            test = paired_randomization(systems[against], systems[system], **drawing)
            found.append(_Difference(system, name, lies(system, against).interval, test))
    return found


def _difference_sheet(study: Study, found: Sequence[_Difference], against: str) -> Sheet:
    printer = Printer(study.convention)
    rows = [
        (
            Cell(one.system),
            Cell(one.column),
            Cell(str(one.test.products)),
            _with_interval(printer.figure(one.test.difference), one.interval, printer),
            printer.p_value(one.test.p_value),
        )
        for one in found
    ]
    notes = [
        *printer.star_notes(rows),
        f"{_INTERVAL} that both systems have; {_FEW}",
        "p: two-sided, of equal means, by a paired randomization test; of each difference alone",
        *_low_notes({one.column: direction(one.column, study.table.dimensions) for one in found}),
    ]
    columns = ("system", "figure", "items", "difference", "p")
    return Sheet(f"Differences from {against}", columns, tuple(rows), tuple(notes), words=2)


def _record(one: _Difference, against: str) -> dict[str, object]:
    low, high = (None, None) if one.interval is None else (one.interval.low, one.interval.high)
    return {
        "system": one.system,
        "against": against,
        "figure": one.column,
        "items": one.test.products,
        "difference": one.test.difference,
        "low": low,
        "high": high,
        "p": one.test.p_value,
    }
