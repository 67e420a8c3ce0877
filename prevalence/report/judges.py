"""Listings of judging methods and of the dimensions that they rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prevalence.baselines.judges.packs import (
    dimension_set_names,
    load_dimensions,
    load_method,
    method_names,
)
from prevalence.report.console import make_table, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

__all__ = ["listing", "listing_rows"]


def listing_rows() -> dict[str, list[dict[str, Any]]]:
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


def listing() -> Sequence[Table]:
    """The same as two tables."""
    rows = listing_rows()
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
