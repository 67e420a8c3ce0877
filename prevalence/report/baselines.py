"""Tables of baseline metrics and of judges: what there is, and the mean of each system."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from prevalence.baselines.judges.packs import (
    dimension_set_names,
    load_dimensions,
    load_method,
    method_names,
)
from prevalence.baselines.registry import lacking, missing
from prevalence.report.console import make_table, plain
from prevalence.report.sheets import finite
from prevalence.report.text import one_line
from prevalence.wording import first_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from prevalence.baselines.protocol import Entry
    from prevalence.baselines.rows import ScoreRow

__all__ = ["SystemMeans", "method_rows", "method_tables", "metric_rows", "metric_table"]


_NAMED = 6
"""Means of fewer values that a note names."""
_UNDECLARED = "not declared"
_WIDTHS = {0: 24, 2: 22, 5: 36, 6: 27, 7: 44}
"""Of the columns that wrap, so that the table is the same whatever runs here."""


class SystemMeans:
    """Unweighted means of every metric over the summaries of each system that have a value.

    Args:
        metrics: names, in the order of the columns.
    """

    def __init__(self, metrics: Sequence[str]) -> None:
        self._metrics = tuple(metrics)
        self._values: dict[str, dict[str, list[float]]] = {}

    def add(self, row: ScoreRow) -> None:
        """Take a row; what values one with an error has still count."""
        if row.system is not None:
            values = self._values.setdefault(row.system, defaultdict(list))
            for name, value in row.metrics.items():
                if value is not None:
                    values[name].append(value)

    def table(self) -> RenderableType:
        """One line a system, in order of appearance; a note on means of fewer values than n."""
        rows, fewer = [], []
        for system, values in self._values.items():
            count = max((len(found) for found in values.values()), default=0)
            cells = [_mean(values[name]) for name in self._metrics]
            rows.append((plain(system), f"{count:,}", *cells))
            counts = {name: len(values[name]) for name in self._metrics}
            fewer += [f"{system} {name}: {n:,}" for name, n in counts.items() if 0 < n < count]
        table = make_table(("system", "n", *map(plain, self._metrics)), rows, whole=())
        if not fewer:
            return table
        return Group(
            table, Text(one_line(f"fewer values than n: {first_of(fewer, _NAMED)}"), "dim")
        )


_BETTER = {True: "higher", False: "lower", None: "–"}


def metric_rows(entries: Iterable[Entry]) -> list[dict[str, object]]:
    """What is known of each metric, as JSON objects."""
    return [
        {
            "name": entry.name,
            "about": entry.about,
            "needs": list(entry.needs),
            "reference_free": entry.reference_free,
            "dimension": entry.dimension,
            "range": finite(entry.range),
            "higher_is_better": entry.higher_is_better,
            "weights": entry.weights,
            "models": list(entry.models),
            "licence": entry.licence,
            "batchable": entry.batchable,
            "extra": entry.extra,
            "missing": missing(entry),
            "runs_here": (steps := lacking(entry)) is None,
            "to_run": steps,
            "options": dict(entry.options),
            "citation": entry.citation,
        }
        for entry in entries
    ]


def metric_table(entries: Sequence[Entry]) -> Table:
    """What is known of each metric, as a table."""
    headers = ("name", "reads", "dimension", "range", "better", "weights", "licence", "runs here")
    rows = (
        (
            entry.name,
            " + ".join(entry.needs) or "–",
            entry.dimension or _UNDECLARED,
            "–".join(map(_bound, entry.range)),
            _BETTER[entry.higher_is_better],
            entry.weights or "–",
            entry.licence or _UNDECLARED,
            "yes" if (steps := lacking(entry)) is None else f"no: {steps}",
        )
        for entry in entries
    )
    table = make_table(headers, rows, left=headers, whole=(*headers[:2], *headers[3:5]))
    for place, width in _WIDTHS.items():
        table.columns[place].width = width
    return table


def method_rows() -> dict[str, list[dict[str, Any]]]:
    """What is known of methods and dimensions, as JSON objects."""
    methods = [load_method(name) for name in method_names()]
    sets = [load_dimensions(name) for name in dimension_set_names()]
    return {
        "methods": [
            {
                "name": method.name,
                "about": method.about,
                "citation": method.citation,
                "inputs": list(method.inputs),
                "dimensions": list(method.sets),
                "samples": method.preset.samples,
                "temperature": method.preset.temperature,
                "compares": method.compares,
            }
            for method in methods
        ],
        "dimensions": [
            {
                "set": one.name,
                "about": one.about,
                "citation": one.citation,
                "names": list(one.dimensions),
            }
            for one in sets
        ],
    }


def method_tables() -> Sequence[Table]:
    """The same as two tables."""
    rows = method_rows()
    return (
        _table(
            ("method", "inputs", "dimensions", "n", "T", "about", "citation"),
            [
                (
                    row["name"],
                    ", ".join(row["inputs"]),
                    ", ".join(row["dimensions"]),
                    str(row["samples"]),
                    f"{row['temperature']:g}",
                    row["about"],
                    row["citation"],
                )
                for row in rows["methods"]
            ],
        ),
        _table(
            ("set", "dimensions", "about", "citation"),
            [
                (row["set"], ", ".join(row["names"]), row["about"], row["citation"])
                for row in rows["dimensions"]
            ],
        ),
    )


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    return make_table(
        headers, ([*map(plain, row)] for row in rows), left=headers, whole=headers[:1]
    )


def _mean(values: Sequence[float]) -> str:
    return f"{math.fsum(values) / len(values):.4f}" if values else "–"


def _bound(bound: float) -> str:
    return f"{bound:g}".replace("inf", "∞")
