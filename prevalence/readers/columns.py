"""What the columns of a table mean."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prevalence.errors import InputError
from prevalence.readers.fields import ID_KEYS, escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Columns", "best_delimiter", "is_copycat", "is_table", "plan_columns"]

_LONG_REVIEW = ("review", "review_text")
_TEXT = "text"
_WIDE_REVIEW = re.compile(r"(?:rev|review)_?(\d+)")
_NUMBERED_SUMMARY = re.compile(r"(?:summ|summary)_?\d+")
_NAMED_SUMMARY = re.compile(r"summary:(.+)", re.DOTALL | re.IGNORECASE)
_SINGLE = frozenset({*ID_KEYS, "name", "summary", "system", "reviews", *_LONG_REVIEW, _TEXT})
_DELIMITERS = (",", "\t", ";", "|")


@dataclass(frozen=True, slots=True)
class Columns:
    """The meaning of each column; positions count from 0, and None means that it is not there.

    Attributes:
        header: the names as they stand in the file.
        id: the product's id.
        name: the product's name.
        summary: the one summary's text.
        system: who wrote it.
        summaries: system and position, where several systems have a column each.
        reviews: all reviews, as a JSON list.
        wide: one review each.
        long: one review a row.
        review_id: the id of the row's review.
        extra: name and position of all other columns.
        fixed: whether an empty cell is a review too, because every product fills every column.
    """

    header: tuple[str, ...]
    id: int | None
    name: int | None
    summary: int | None
    system: int | None
    summaries: tuple[tuple[str, int], ...]
    reviews: int | None
    wide: tuple[int, ...]
    long: int | None
    review_id: int | None
    extra: tuple[tuple[str, int], ...]
    fixed: bool = False

    @property
    def has_summaries(self) -> bool:
        """Whether any column can hold a summary."""
        return self.summary is not None or bool(self.summaries)


def plan_columns(header: Sequence[str], path: str, *, reviews_only: bool = False) -> Columns:
    """Give every column its meaning.

    Args:
        header: the names in the first row; case and surrounding spaces do not matter.
        path: the file's name, for messages.
        reviews_only: whether a table without summaries will do; "text" then means a review.

    Returns:
        The meanings.

    Raises:
        InputError: a needed column is missing, stands twice, or contradicts another.
    """
    names = [_normal(cell) for cell in header]
    _refuse_repeated(names, path)
    places = {name: index for index, name in enumerate(names)}
    id_name = next((key for key in ID_KEYS if key in places), None)
    columns = Columns(
        header=tuple(header),
        id=None if id_name is None else places[id_name],
        name=places.get("name"),
        summary=places.get("summary"),
        system=places.get("system"),
        summaries=tuple(_summary_columns(header)),
        reviews=places.get("reviews"),
        wide=_wide_columns(names),
        long=_long_column(places, reviews_only),
        review_id=places.get("review_id"),
        extra=(),
    )
    _refuse_unusable(columns, path, reviews_only)
    return _with_extra(columns)


def _normal(cell: str) -> str:
    return cell.strip().casefold()


def _refuse_repeated(names: Sequence[str], path: str) -> None:
    repeated = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if repeated:
        listed = ", ".join(escaped(name) for name in repeated)
        raise InputError(f"{path}:1: columns stand twice: {listed}; rename one of each")


def _summary_columns(header: Sequence[str]) -> Iterable[tuple[str, int]]:
    for index, cell in enumerate(header):
        name = cell.strip()
        if _NUMBERED_SUMMARY.fullmatch(name.casefold()):
            yield name, index
        elif match := _NAMED_SUMMARY.fullmatch(name):
            yield match.group(1).strip(), index


def _wide_columns(names: Sequence[str]) -> tuple[int, ...]:
    found = [
        (int(match.group(1)), index)
        for index, name in enumerate(names)
        if (match := _WIDE_REVIEW.fullmatch(name))
    ]
    return tuple(index for _, index in sorted(found))


def _long_column(places: dict[str, int], reviews_only: bool) -> int | None:
    wanted = (*_LONG_REVIEW, _TEXT) if reviews_only else _LONG_REVIEW
    return next((places[name] for name in wanted if name in places), None)


def _refuse_unusable(columns: Columns, path: str, reviews_only: bool) -> None:
    found = ", ".join(escaped(cell.strip()) or "(no name)" for cell in columns.header)
    kinds = [columns.reviews is not None, bool(columns.wide), columns.long is not None]
    if sum(kinds) == 0:
        needed = 'reviews in columns rev1, rev2, ..., in one column "reviews" or row by row in '
        raise InputError(f'{path}:1: needs {needed}"review"; the columns are: {found}')
    if sum(kinds) > 1:
        advice = "keep one of reviews, rev1..., review"
        raise InputError(f"{path}:1: has reviews in two ways; {advice}; the columns are: {found}")
    if reviews_only:
        return
    if not columns.has_summaries:
        needed = 'a column "summary", "summary:SYSTEM" or "summ1"'
        raise InputError(f"{path}:1: needs {needed}; the columns are: {found}")
    if columns.long is not None and columns.id is None:
        needed = f"a column with the product's id ({', '.join(ID_KEYS)}) in every row"
        raise InputError(f"{path}:1: needs {needed}; the columns are: {found}")


def _with_extra(columns: Columns) -> Columns:
    used = {columns.id, columns.name, columns.summary, columns.system, columns.reviews}
    used |= {columns.long, columns.review_id if columns.long is not None else None}
    used |= set(columns.wide) | {index for _, index in columns.summaries}
    extra = tuple(
        (cell.strip(), index) for index, cell in enumerate(columns.header) if index not in used
    )
    return replace(columns, extra=extra)


def best_delimiter(line: str) -> str:
    """The delimiter under which most columns of a header line have a meaning.

    >>> best_delimiter("id;summary;review")
    ';'
    """
    return max(_DELIMITERS, key=lambda delimiter: _recognised(_cells(line, delimiter)))


def is_table(line: str, *, reviews_only: bool = False) -> bool:
    """Whether a first line is a header: it names reviews, or two columns with a meaning."""
    cells = _cells(line, best_delimiter(line))
    if len(set(cells)) < len(cells):
        return False
    has_reviews = any(
        cell in ("reviews", *_LONG_REVIEW)
        or _WIDE_REVIEW.fullmatch(cell)
        or (reviews_only and cell == _TEXT)
        for cell in cells
    )
    return has_reviews or _recognised(cells) >= 2


def is_copycat(line: str) -> bool:
    """Whether a first line is the header of Copycat's files."""
    cells = line.strip("\r\n").split("\t")
    return {"prod_id", "rev1"} <= set(cells)


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        cells = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []
    return [_normal(cell) for cell in cells]


def _recognised(cells: Iterable[str]) -> int:
    return sum(
        cell in _SINGLE
        or cell.startswith("summary:")
        or _WIDE_REVIEW.fullmatch(cell) is not None
        or _NUMBERED_SUMMARY.fullmatch(cell) is not None
        for cell in cells
    )
