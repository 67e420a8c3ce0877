"""Tables of baseline metrics: what there is, and the mean of each system."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from prevalence.baselines.registry import missing
from prevalence.report.console import make_table, plain
from prevalence.report.sheets import finite

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.table import Table

    from prevalence.baselines.protocol import Entry
    from prevalence.baselines.rows import ScoreRow

__all__ = ["SystemMeans", "listing", "listing_rows"]


class SystemMeans:
    """Unweighted means of every metric over the summaries of each system that have a value.

    Args:
        metrics: names, in the order of the columns.
    """

    def __init__(self, metrics: Sequence[str]) -> None:
        self.scored = 0
        self.failed = 0
        self._metrics = tuple(metrics)
        self._values: dict[str, dict[str, list[float]]] = {}

    def add(self, row: ScoreRow) -> None:
        """Take a row; one with an error counts as failed, and what values it has still count."""
        if row.error is None:
            self.scored += 1
        else:
            self.failed += 1
        if row.system is not None:
            values = self._values.setdefault(row.system, defaultdict(list))
            for name, value in row.metrics.items():
                if value is not None:
                    values[name].append(value)

    def table(self) -> Table:
        """One line a system, in order of appearance."""
        rows = []
        for system, values in self._values.items():
            count = max((len(found) for found in values.values()), default=0)
            cells = [_mean(values[name]) for name in self._metrics]
            rows.append((plain(system), f"{count:,}", *cells))
        return make_table(("system", "n", *map(plain, self._metrics)), rows, whole=())


def listing_rows(entries: Iterable[Entry]) -> list[dict[str, object]]:
    """What is known of each metric, as JSON objects."""
    return [
        {
            "name": entry.name,
            "about": entry.about,
            "needs": list(entry.needs),
            "reference_free": entry.reference_free,
            "range": finite(entry.range),
            "higher_is_better": entry.higher_is_better,
            "weights": entry.weights,
            "batchable": entry.batchable,
            "extra": entry.extra,
            "missing": missing(entry),
            "options": dict(entry.options),
            "citation": entry.citation,
        }
        for entry in entries
    ]


def listing(entries: Sequence[Entry]) -> Table:
    """What is known of each metric, as a table."""
    headers = ("name", "needs", "range", "better", "weights", "about", "installed")
    rows = (
        (
            entry.name,
            " + ".join(entry.needs) or "–",
            "–".join(map(_bound, entry.range)),
            "higher" if entry.higher_is_better else "lower",
            entry.weights or "–",
            entry.about,
            "yes" if (lacking := missing(entry)) is None else f"no: {lacking}",
        )
        for entry in entries
    )
    return make_table(headers, rows, left=headers, whole=headers[:5])


def _mean(values: Sequence[float]) -> str:
    return f"{math.fsum(values) / len(values):.4f}" if values else "–"


def _bound(bound: float) -> str:
    return f"{bound:g}".replace("inf", "∞")
