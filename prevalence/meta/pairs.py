"""Head-to-head rows: which of two systems a judge prefers on an item, asked in both orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.errors import InputError
from prevalence.meta.preferences import head_to_head_points
from prevalence.readers.fields import FieldError, describe, read_id
from prevalence.readers.lines import json_lines

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from prevalence.meta.table import RatingTable

__all__ = ["DuelFile", "Duels", "read_duels"]

_VERDICTS = (0, 1, 2, None)


class Duels(NamedTuple):
    """The verdicts of one judge on one dimension.

    Attributes:
        dimension: what was judged.
        points: float64 [items, systems, systems], of the first system against the second.
        verdicts: float64 [rows, 2], in both orders; NaN where there is none.
    """

    dimension: str
    points: NDArray[np.float64]
    verdicts: NDArray[np.float64]


class DuelFile(NamedTuple):
    """What a file of head-to-head rows holds.

    Attributes:
        duels: one entry a dimension, in order of first appearance.
        left_out: rows of records that could not be read, which compare nothing.
    """

    duels: list[Duels]
    left_out: int


class _Row(NamedTuple):
    place: tuple[int, int, int]
    dimension: str
    verdicts: tuple[float, float]


def read_duels(path: str | Path, table: RatingTable) -> DuelFile:
    """Read pair rows, one a line: id, a, b, dimension, verdict_ab, verdict_ba.

    Args:
        path: the file, JSON Lines. A verdict is 1 (a better), 2 (b better), 0 (equal) or null,
            already turned back where b was shown first.
        table: names the items and systems.

    Returns:
        The verdicts, and how many rows report an error in place of two systems.

    Raises:
        InputError: a row is none, or names an item or a system that the table has not.
    """
    rows: list[_Row] = []
    left_out = 0
    for position, record in json_lines(path):
        if _compares_nothing(record):
            left_out += 1
            continue
        try:
            rows.append(_row(record, table))
        except FieldError as fault:
            raise InputError(fault.at(position).error) from None
    duels = [
        _duels(dimension, [row for row in rows if row.dimension == dimension], table)
        for dimension in dict.fromkeys(row.dimension for row in rows)
    ]
    return DuelFile(duels, left_out)


def _compares_nothing(record: object) -> bool:
    """Whether it is the row of a record that a judge could not read."""
    if not isinstance(record, dict) or "verdict_ab" not in record:
        return False
    unnamed = record.get("a") is None or record.get("b") is None
    return unnamed and record.get("error") is not None


def _duels(dimension: str, rows: list[_Row], table: RatingTable) -> Duels:
    verdicts = np.array([row.verdicts for row in rows])
    points = head_to_head_points(
        np.array([row.place for row in rows]),
        verdicts,
        items=len(table.items),
        systems=len(table.systems),
    )
    return Duels(dimension, points, verdicts)


def _row(record: object, table: RatingTable) -> _Row:
    if not isinstance(record, dict) or "verdict_ab" not in record:
        found = describe(record)
        raise FieldError("", f"is {found}, no head-to-head row", "give id, a, b and verdict_ab")
    item, _ = read_id(record)
    place = (
        _place(item, table.items, "id"),
        _place(record.get("a"), table.systems, "a"),
        _place(record.get("b"), table.systems, "b"),
    )
    verdicts = (_verdict(record, "verdict_ab"), _verdict(record, "verdict_ba"))
    return _Row(place, str(record.get("dimension", "overall")), verdicts)


def _place(name: object, known: tuple[str, ...], key: str) -> int:
    if not isinstance(name, str) or name not in known:
        problem = f"is {describe(name)}, which no rating names"
        raise FieldError(key, problem, "give the ratings of the same items and systems too")
    return known.index(name)


def _verdict(record: dict[str, Any], key: str) -> float:
    value = record.get(key)
    if isinstance(value, bool) or value not in _VERDICTS:
        fix = "give 1 (a better), 2 (b better), 0 (equal) or null"
        raise FieldError(key, f"is {describe(value)}", fix)
    return float("nan") if value is None else float(value)
