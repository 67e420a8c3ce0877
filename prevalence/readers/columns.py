"""The header of a table → what its columns mean.

Names of columns may be in any case, and tables may be cut by commas, tabs, semicolons or bars.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prevalence.errors import InputError
from prevalence.readers.fields import ID_KEYS, escaped
from prevalence.records import RATING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "Columns",
    "advice_on_systems",
    "best_delimiter",
    "cells_of",
    "is_copycat",
    "is_summary_table",
    "is_table",
    "named_columns",
    "plan_columns",
    "plan_summary_columns",
    "refuse_repeated",
    "stated_delimiter",
    "with_point",
]

_LONG_REVIEW = ("review", "review_text")
_TEXT = "text"
_LONE_SUMMARY = ("summary", "summaries", _TEXT)
"""Names of the column of texts in a table of summaries alone."""
_OF_PRODUCTS = ("product_id", "asin", "prod_id")
"""Those of the names of identifiers that can be of no review."""
_WIDE_REVIEW = re.compile(r"(?:rev|review)[_ ]?(\d+)")
_NUMBERED_SUMMARY = re.compile(r"(?:summ|summary)[_ ]?\d+")
_NAMED_SUMMARY = re.compile(r"summary\s*:(.+)", re.DOTALL | re.IGNORECASE)
_SINGLE = frozenset({*ID_KEYS, "name", "summary", "system", "reviews", *_LONG_REVIEW, _TEXT})
_READ_ELSEWHERE = frozenset({RATING, "reference", "references"})
"""Names of other columns under which their cells are looked for, in whatever case they stand."""
_LIKE = {
    "review": "reviewtext reviewbody reviewcontent reviewcomment customerreview comment comments "
    "content feedback body text",
    "summary": "summarytext summarization generatedsummary modelsummary",
    "id": "sku asin parentasin productid productcode productsku itemid itemcode articleid ean gtin "
    "businessid",
    "name": "productname producttitle itemname itemtitle",
    "system": "vendor model modelname source systemname generator writer author",
}
"""Names, without all but letters and digits, that shops give to columns that are needed here."""
_DELIMITERS = (",", "\t", ";", "|")
_STATED_DELIMITER = re.compile(r'"?sep=([,\t;|])\1*"?', re.IGNORECASE)
"""The line that Excel understands and writes no column in; a header follows."""
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")


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
        extra: name and position of all other columns; a name as it stands, but for those that are
            looked for, such as "rating", which are in lower case.
        fixed: whether an empty cell is a review too, because every product fills every column.
        delimiter: the character between cells.
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
    delimiter: str = "\t"

    @property
    def ways(self) -> int:
        """In how many ways the columns hold reviews: 1 in a table that can be used."""
        return sum((self.reviews is not None, bool(self.wide), self.long is not None))

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
    refuse_repeated(header, path)
    places = {name: index for index, name in enumerate(names)}
    long = _long_column(places, reviews_only)
    id_name = _id_column(places, rows_are_reviews=long is not None)
    own_id = None if id_name == "id" else places.get("id")
    columns = Columns(
        header=tuple(header),
        id=None if id_name is None else places[id_name],
        name=places.get("name"),
        summary=places.get("summary"),
        system=places.get("system"),
        summaries=tuple(_summary_columns(header)),
        reviews=places.get("reviews"),
        wide=_wide_columns(names),
        long=long,
        review_id=places.get("review_id", own_id),
        extra=(),
    )
    _refuse_unusable(columns, path, reviews_only)
    return _with_extra(columns)


def plan_summary_columns(header: Sequence[str], path: str) -> Columns:
    """Give the columns of a table their meaning that has summaries, and no reviews.

    Args:
        header: the names in the first row.
        path: the file's name, for messages.

    Returns:
        The meanings.

    Raises:
        InputError: a needed column is missing or stands twice, or there are reviews.
    """
    refuse_repeated(header, path)
    names = [_normal(cell) for cell in header]
    places = {name: index for index, name in enumerate(names)}
    summary = next((places[name] for name in _LONE_SUMMARY if name in places), None)
    columns = Columns(
        header=tuple(header),
        id=next((places[key] for key in ID_KEYS if key in places), None),
        name=None,
        summary=summary,
        system=places.get("system"),
        summaries=tuple(_summary_columns(header)),
        reviews=None,
        wide=_wide_columns(names),
        long=next((places[name] for name in _LONG_REVIEW if name in places), None),
        review_id=None,
        extra=(),
    )
    _refuse_no_summaries(columns, path)
    return columns


def _refuse_no_summaries(columns: Columns, path: str) -> None:
    found = named_columns(columns.header)
    if columns.ways:
        advice = "leave --reviews out, or take its columns of reviews away"
        raise InputError(f"{path}:1: has reviews of its own; {advice}; the columns are: {found}")
    needs = {}
    if columns.id is None:
        needs["id"] = f"a column with the product's id ({', '.join(ID_KEYS)})"
    if not columns.has_summaries:
        needs["summary"] = 'a column "summary", "summary:SYSTEM" or "summ1"'
    if needs:
        needed, advice = " and ".join(needs.values()), _renaming(columns, needs)
        raise InputError(f"{path}:1: needs {needed}{advice}; the columns are: {found}")


def advice_on_systems(columns: Columns) -> str:
    """What to do about a table that has several summaries of a product and no column "system"."""
    advice = f'give every system its own name in a column "system"{_renaming(columns, ["system"])}'
    return f"{advice}; the columns are: {named_columns(columns.header)}"


def named_columns(header: Sequence[str]) -> str:
    """The names of a header's columns for a message."""
    return ", ".join(escaped(cell.strip()) or "(no name)" for cell in header)


def _normal(cell: str) -> str:
    return cell.strip().casefold()


def refuse_repeated(header: Sequence[str], path: str) -> None:
    """Refuse two columns of one name; those without a name, as spreadsheets add them, do not count.

    Args:
        header: names of the columns; case does not matter.
        path: of the table, for the message.

    Raises:
        InputError: two columns have one name.
    """
    counts = Counter(map(_normal, header))
    repeated = sorted(name for name, count in counts.items() if name and count > 1)
    if not repeated:
        return
    listed = ", ".join(map(escaped, repeated))
    cells = dict.fromkeys(cell.strip() for cell in header if _normal(cell) in repeated)
    cased = ""
    if len(cells) > len(repeated):
        cased = f" (case does not matter: {', '.join(map(escaped, cells))})"
    raise InputError(f"{path}:1: columns appear twice: {listed}{cased}; rename one of each")


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


def _id_column(places: dict[str, int], *, rows_are_reviews: bool) -> str | None:
    """The column of the product's id; an `id` beside it is that of the review in the row."""
    keys = (*_OF_PRODUCTS, *ID_KEYS) if rows_are_reviews else ID_KEYS
    return next((key for key in keys if key in places), None)


def _long_column(places: dict[str, int], reviews_only: bool) -> int | None:
    wanted = (*_LONG_REVIEW, _TEXT) if reviews_only else _LONG_REVIEW
    return next((places[name] for name in wanted if name in places), None)


def _refuse_unusable(columns: Columns, path: str, reviews_only: bool) -> None:
    found = named_columns(columns.header)
    if columns.ways > 1:
        advice = "keep one of reviews, rev1..., review"
        raise InputError(f"{path}:1: has reviews in two ways; {advice}; the columns are: {found}")
    needs = _needs(columns, reviews_only)
    if needs:
        needed, advice = " and ".join(needs.values()), _renaming(columns, needs)
        if not reviews_only and needs.keys() in ({"review"}, {"summary"}):
            advice += "; `score` also takes reviews in a file of their own, as --reviews"
        raise InputError(f"{path}:1: needs {needed}{advice}; the columns are: {found}")


def _needs(columns: Columns, reviews_only: bool) -> dict[str, str]:
    """What a header lacks, in words, by the name of the column that would do."""
    needs = {}
    if not columns.ways:
        needs["review"] = (
            'reviews in columns rev1, rev2, ..., in one column "reviews" or row by row in "review"'
        )
    if not (reviews_only or columns.has_summaries):
        needs["summary"] = 'a column "summary", "summary:SYSTEM" or "summ1"'
    by_row = not (columns.wide or columns.reviews is not None)
    # Reviews alone may be of one product; a column such as "SKU" says that they are of several.
    if columns.id is None and by_row and (_like(columns, "id") or not reviews_only):
        needs["id"] = f"a column with the product's id ({', '.join(ID_KEYS)}) in every row"
    return needs


def _renaming(columns: Columns, needs: Iterable[str]) -> str:
    """Which columns to rename, as far as their own names tell; empty where none does."""
    wanted = [*needs, *(["name"] if columns.name is None else [])]
    found = [
        f"{escaped(like[0].strip())!r} to {name!r}"
        for name in wanted
        if len(like := _like(columns, name)) == 1
    ]
    return f"; rename {' and '.join(found)}" if found else ""


def _like(columns: Columns, name: str) -> list[str]:
    """The columns that may be the one of that name under another name."""
    return [cell for cell in columns.header if _letters(cell) in _LIKE[name].split()]


def _letters(cell: str) -> str:
    return "".join(filter(str.isalnum, cell.casefold()))


def _with_extra(columns: Columns) -> Columns:
    used = {columns.id, columns.name, columns.summary, columns.system, columns.reviews}
    used |= {columns.long, columns.review_id if columns.long is not None else None}
    used |= set(columns.wide) | {index for _, index in columns.summaries}
    extra = tuple(
        (_kept_name(cell), index) for index, cell in enumerate(columns.header) if index not in used
    )
    return replace(columns, extra=extra)


def _kept_name(cell: str) -> str:
    """The name under which a cell is kept that has no meaning here."""
    name = _normal(cell)
    return name if name in _READ_ELSEWHERE else cell.strip()


def best_delimiter(line: str) -> str:
    """The delimiter under which most columns of a header line have a meaning, or else most cells.

    >>> best_delimiter("id;summary;review"), best_delimiter("SKU;Review Text")
    (';', ';')
    """

    def meaning(delimiter: str) -> tuple[int, int]:
        cells = cells_of(line, delimiter)
        return _recognised(cells), len(cells)

    return max(_DELIMITERS, key=meaning)


def stated_delimiter(line: str) -> str | None:
    r"""The delimiter that a line before the header names, as Excel does; None for other lines.

    >>> stated_delimiter("sep=;\r\n")
    ';'
    """
    match = _STATED_DELIMITER.fullmatch(line.rstrip("\r\n"))
    return None if match is None else match.group(1)


def with_point(cell: str, delimiter: str) -> str:
    """A cell of a column of numbers, whose decimal comma becomes a point.

    Only tables cut by semicolons have such commas; other cells stay as they are.

    >>> with_point("4,5", ";"), with_point("4,5", "|"), with_point("1,234,5", ";")
    ('4.5', '4,5', '1,234,5')
    """
    if delimiter == ";" and _DECIMAL_COMMA.fullmatch(cell.strip()):
        return cell.replace(",", ".")
    return cell


def is_table(line: str, *, reviews_only: bool = False) -> bool:
    """Whether a first line is a header: it names reviews, or two columns with a meaning.

    One in which a name stands twice needs both, and is refused by who reads it.
    """
    cells = list(filter(None, cells_of(line, best_delimiter(line))))
    has_reviews = any(
        cell in ("reviews", *_LONG_REVIEW)
        or (_WIDE_REVIEW.fullmatch(cell) and not (reviews_only and " " in cell))
        or (reviews_only and cell == _TEXT)
        for cell in cells
    )
    several = _recognised(set(cells)) >= 2
    return has_reviews and several if len(set(cells)) < len(cells) else has_reviews or several


def is_summary_table(line: str) -> bool:
    """Whether a first line is the header of a table of summaries, and no summary by itself.

    >>> is_summary_table("hotel;summary"), is_summary_table("Summary: a good text, and short.")
    (True, False)
    """
    cells = list(filter(None, cells_of(line, best_delimiter(line))))
    named = not {"summary", "summaries"}.isdisjoint(cells) or _recognised(set(cells)) >= 2
    return len(cells) >= 2 and named


def is_copycat(line: str) -> bool:
    """Whether a first line is the header of Copycat's files."""
    cells = line.strip("\r\n").split("\t")
    return {"cat", "prod_id", "rev1"} <= set(cells)


def cells_of(line: str, delimiter: str) -> list[str]:
    """The cells of a header line, normalised; none where it cannot be read."""
    try:
        cells = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []
    return [_normal(cell) for cell in cells]


def _recognised(cells: Iterable[str]) -> int:
    return sum(
        cell in _SINGLE
        or _NAMED_SUMMARY.fullmatch(cell) is not None
        or _WIDE_REVIEW.fullmatch(cell) is not None
        or _NUMBERED_SUMMARY.fullmatch(cell) is not None
        for cell in cells
    )
