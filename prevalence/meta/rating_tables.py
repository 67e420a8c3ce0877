"""Tables of ratings (CSV, TSV and the like): a summary a row, a column for each dimension."""

from __future__ import annotations

import math
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import InputError
from prevalence.meta.layouts import SYSTEM_KEYS
from prevalence.readers.columns import (
    best_delimiter,
    cells_of,
    refuse_repeated,
    stated_delimiter,
    with_point,
)
from prevalence.readers.fields import ID_KEYS, FieldError, Position, describe, escaped
from prevalence.readers.products import first_text
from prevalence.readers.tables import delimited_rows, header_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prevalence.readers.streams import Source
    from prevalence.readers.tables import Row

__all__ = ["is_rating_table", "rating_rows"]

_RATERS = ("rater", "annotator")
_METRIC = "metric:"
_OF_SCORES = ("prevalence", "n_sentences", "signature")
"""Columns of what `prevalence score` writes as CSV, whose numbers are no ratings."""
_SUFFIXES = (".csv", ".tsv", ".tab")
_ALONE = "1"
"""The rater of a table that names none."""


class _Columns(NamedTuple):
    """Names as they stand in the header, and places of columns; None where there is none."""

    header: Sequence[str]
    id: int
    system: int
    rater: int | None
    summary: int | None
    metrics: dict[str, int]
    dimensions: dict[str, int]


def is_rating_table(source: Source) -> bool:
    """Whether an open input is a table, by its name or its columns; nothing is taken from it.

    Raises:
        InputError: the input holds nothing.
    """
    first = first_text(source)
    if first[:1] in ("{", "["):
        return False
    if PurePath(source.path.casefold().removesuffix(".gz")).suffix in _SUFFIXES:
        return True
    if stated_delimiter(first) is not None:
        return True
    cells = cells_of(first, best_delimiter(first))
    return not set(ID_KEYS).isdisjoint(cells) and not set(SYSTEM_KEYS).isdisjoint(cells)


def rating_rows(source: Source) -> Iterator[tuple[Position, dict[str, Any] | FieldError]]:
    """Read a table of ratings.

    Args:
        source: the open input.

    Yields:
        Place and score row of each row below the header, or the fault that stands in its place.

    Raises:
        InputError: the header cannot be read, lacks a column or names one twice.
    """
    first = first_text(source)
    rows, delimiter = delimited_rows(source, first, best_delimiter(first))
    columns = _columns(header_of(rows, source.path), source.path)
    seen: dict[tuple[str, ...], int] = {}
    for row in rows:
        position = Position(source.path, f":{row.line}")
        try:
            record = _record(row, columns, delimiter)
            _refuse_second(record, row.line, seen)
        except FieldError as fault:
            yield position, fault
        else:
            yield position, record


def _columns(header: Sequence[str], path: str) -> _Columns:
    names = [cell.strip() for cell in header]
    places = {name.casefold(): place for place, name in enumerate(names)}
    listed = ", ".join(escaped(name) or "(no name)" for name in names)
    refuse_repeated(names, path)
    if any(name in places for name in _OF_SCORES):
        raise InputError(
            f"{path}: holds scores, not ratings by people; give the rows as JSON Lines "
            "(`prevalence score --output FILE.jsonl`)"
        )
    item, system = _first(places, ID_KEYS), _first(places, SYSTEM_KEYS)
    if item is None or system is None:
        lacking = "id" if item is None else "system"
        raise InputError(f"{path}: needs a column {lacking!r}; the columns are: {listed}")
    rater, summary = _first(places, _RATERS), places.get("summary")
    others = {
        name: place
        for place, name in enumerate(names)
        if name and place not in (item, system, rater, summary)
    }
    metrics = {
        name[len(_METRIC) :].strip(): place
        for name, place in others.items()
        if name.casefold().startswith(_METRIC)
    }
    dimensions = {n: at for n, at in others.items() if not n.casefold().startswith(_METRIC)}
    if "" in metrics or len(metrics) + len(dimensions) < len(others):
        problem = f"each {_METRIC}NAME needs a name of its own"
        raise InputError(f"{path}: {problem}; the columns are: {listed}")
    if not others:
        problem = f"needs a column of numbers for each dimension, or {_METRIC}NAME for a metric"
        raise InputError(f"{path}: {problem}; the columns are: {listed}")
    return _Columns(names, item, system, rater, summary, metrics, dimensions)


def _first(places: dict[str, int], names: Sequence[str]) -> int | None:
    return next((places[name] for name in names if name in places), None)


def _record(row: Row, columns: _Columns, delimiter: str) -> dict[str, Any]:
    """The row as a score row."""
    if row.fault is not None:
        raise row.fault
    if len(row.cells) != len(columns.header):
        problem = f"has {len(row.cells)} cells where the header has {len(columns.header)}"
        raise FieldError("", problem, "quote cells that hold the delimiter, or add cells")

    def number(place: int) -> float | None:
        return _number(row.cells[place], _where(columns, place), delimiter)

    rater = _ALONE if columns.rater is None else _name(row, columns, columns.rater)
    record: dict[str, Any] = {
        "id": _name(row, columns, columns.id),
        "system": _name(row, columns, columns.system),
        "metrics": {name: number(place) for name, place in columns.metrics.items()},
        "human": {name: {rater: number(place)} for name, place in columns.dimensions.items()},
        "rater": rater,
    }
    if columns.summary is not None and row.cells[columns.summary].strip():
        record["summary"] = row.cells[columns.summary]
    return record


def _refuse_second(record: dict[str, Any], line: int, seen: dict[tuple[str, ...], int]) -> None:
    """Two people may well give one summary the same rating, which merging would count once."""
    key = record["id"], record["system"], record["rater"]
    before = seen.setdefault(key, line)
    if before != line:
        problem = f"rates {key[0]!r} by {key[1]!r} again, as line {before} does"
        raise FieldError("", problem, 'name the rater of each row in a column "rater"')


def _where(columns: _Columns, place: int) -> str:
    return f'column "{columns.header[place]}"'


def _name(row: Row, columns: _Columns, place: int) -> str:
    name = row.cells[place].strip()
    if not name:
        raise FieldError(_where(columns, place), "is empty", "give it in every row")
    return name


def _number(cell: str, where: str, delimiter: str) -> float | None:
    """A cell's number, or None where it is empty or NaN."""
    text = with_point(cell, delimiter).strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if math.isinf(value):
        fix = "give a number or leave it empty, and leave out columns of texts"
        raise FieldError(where, f"is {describe(cell)}", fix)
    return None if math.isnan(value) else value
