"""Averages of systems → a sheet and records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prevalence.meta.means import MARKED, model_means
from prevalence.meta.rounding import printed
from prevalence.report.sheets import Cell, Report, Sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from prevalence.meta.conventions import Convention
    from prevalence.meta.table import RatingTable

__all__ = ["means_report"]


def means_report(
    table: RatingTable,
    columns: Mapping[str, NDArray[np.float64]],
    convention: Convention,
    *,
    settings: Mapping[str, object],
    marked: int = MARKED,
    average: bool = True,
) -> Report:
    """A line a system, a column a dimension or metric, and their average.

    Args:
        table: for the names of systems.
        columns: float64 [items, systems] by name.
        convention: decimals, rounding, and whether the average is of rounded figures.
        settings: what the report says it was computed with.
        marked: number of best values to mark in each column.
        average: add the average over columns.
    """
    decimals = convention.decimals if convention.average_rounded else None
    found = model_means(np.stack([*columns.values()], axis=2), decimals=decimals, marked=marked)
    values = np.column_stack([found.values, found.average])
    names = [*columns, "average"] if average else [*columns]
    rows = [
        (
            Cell(system),
            *(
                Cell(
                    printed(float(values[row, place]), convention.decimals, convention.rounding),
                    place=int(found.marks[row, place]),
                )
                for place in range(len(names))
            ),
        )
        for row, system in enumerate(table.systems)
    ]
    notes = [f"small figures: place in the column, up to {marked}"] if marked else []
    if average and convention.average_rounded:
        notes.append("the average is of rounded figures")
    records = [
        {"system": system, **dict(zip(names, values[row].tolist(), strict=False))}
        for row, system in enumerate(table.systems)
    ]
    sheet = Sheet("Averages of systems", ("system", *names), tuple(rows), tuple(notes))
    return Report("means", settings, (sheet,), tuple(records))
