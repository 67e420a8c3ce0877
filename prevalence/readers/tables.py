"""Tables with named columns (CSV, TSV and the like), and Copycat's gold summaries.

The latter are tab-separated and unquoted: cat prod_id rev1..rev8 summ1..summ3.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import InputError
from prevalence.readers.fields import (
    ID_KEYS,
    Draft,
    FieldError,
    Item,
    Position,
    RawReview,
    RawSummary,
    ReadOptions,
    escaped,
    finish,
)
from prevalence.readers.jsonfiles import decode_line
from prevalence.readers.native import DEFAULT_SYSTEM, listed_reviews
from prevalence.readers.streams import MAX_LINE_BYTES, Source
from prevalence.records import LONE_SURROGATE, well_formed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "WHOLE_FILE",
    "Columns",
    "Row",
    "best_delimiter",
    "cells_of",
    "copycat_items",
    "header_of",
    "is_copycat",
    "is_table",
    "open_table",
    "plain_rows",
    "plan_columns",
    "quoted_rows",
    "stated_delimiter",
    "table_items",
    "wide_item",
]


_LONG_REVIEW = ("review", "review_text")
_TEXT = "text"
_OF_PRODUCTS = ("product_id", "asin", "prod_id")
"""Those of the names of identifiers that can be of no review."""
_WIDE_REVIEW = re.compile(r"(?:rev|review)[_ ]?(\d+)")
_NUMBERED_SUMMARY = re.compile(r"(?:summ|summary)[_ ]?\d+")
_NAMED_SUMMARY = re.compile(r"summary:(.+)", re.DOTALL | re.IGNORECASE)
_SINGLE = frozenset({*ID_KEYS, "name", "summary", "system", "reviews", *_LONG_REVIEW, _TEXT})
_READ_ELSEWHERE = frozenset({"rating", "reference", "references"})
"""Names of other columns under which their cells are looked for, in whatever case they stand."""
_LIKE = {
    "review": "reviewtext reviewbody reviewcontent reviewcomment customerreview comment comments "
    "content feedback body text",
    "summary": "summarytext summarization generatedsummary modelsummary",
    "id": "sku asin parentasin productid productcode productsku itemid itemcode articleid ean gtin "
    "businessid",
    "name": "productname producttitle itemname itemtitle",
}
"""Names, without all but letters and digits, that shops give to columns that are needed here."""
_DELIMITERS = (",", "\t", ";", "|")
_STATED_DELIMITER = re.compile(r'"?sep=([,\t;|])"?', re.IGNORECASE)
"""The line that Excel understands and writes no column in; a header follows."""
_AS_UTF8 = 'save the file as UTF-8 (Excel calls it "CSV UTF-8")'


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
    _refuse_repeated(header, path)
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


def _normal(cell: str) -> str:
    return cell.strip().casefold()


def _refuse_repeated(header: Sequence[str], path: str) -> None:
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
    found = ", ".join(escaped(cell.strip()) or "(no name)" for cell in columns.header)
    if columns.ways > 1:
        advice = "keep one of reviews, rev1..., review"
        raise InputError(f"{path}:1: has reviews in two ways; {advice}; the columns are: {found}")
    needs = _needs(columns, reviews_only)
    if needs:
        needed, advice = " and ".join(needs.values()), _renaming(columns, needs)
        raise InputError(f"{path}:1: needs {needed}{advice}; the columns are: {found}")


def _needs(columns: Columns, reviews_only: bool) -> dict[str, str]:
    """What a header lacks, in words, by the name of the column that would do."""
    needs = {}
    if not columns.ways:
        needs["review"] = (
            'reviews in columns rev1, rev2, ..., in one column "reviews" or row by row in "review"'
        )
    if reviews_only:
        return needs
    if not columns.has_summaries:
        needs["summary"] = 'a column "summary", "summary:SYSTEM" or "summ1"'
    if columns.id is None and not (columns.wide or columns.reviews is not None):
        needs["id"] = f"a column with the product's id ({', '.join(ID_KEYS)}) in every row"
    return needs


def _renaming(columns: Columns, needs: Iterable[str]) -> str:
    """Which columns to rename, as far as their own names tell; empty where none does."""
    wanted = [*needs, *(["name"] if columns.name is None else [])]
    found = [
        f"{escaped(like[0].strip())!r} to {name!r}"
        for name in wanted
        if len(like := [c for c in columns.header if _letters(c) in _LIKE[name].split()]) == 1
    ]
    return f"; rename {' and '.join(found)}" if found else ""


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


def is_table(line: str, *, reviews_only: bool = False) -> bool:
    """Whether a first line is a header: it names reviews, or two columns with a meaning.

    One in which a name stands twice needs both, and is refused by who reads it.
    """
    cells = list(filter(None, cells_of(line, best_delimiter(line))))
    has_reviews = any(
        cell in ("reviews", *_LONG_REVIEW)
        or _WIDE_REVIEW.fullmatch(cell)
        or (reviews_only and cell == _TEXT)
        for cell in cells
    )
    several = _recognised(set(cells)) >= 2
    return has_reviews and several if len(set(cells)) < len(cells) else has_reviews or several


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
        or cell.startswith("summary:")
        or _WIDE_REVIEW.fullmatch(cell) is not None
        or _NUMBERED_SUMMARY.fullmatch(cell) is not None
        for cell in cells
    )


class Row(NamedTuple):
    """One row: the line on which it starts, its cells, and what is wrong with it.

    Of a row that cannot be read, the cells are those that a lenient reader finds in its first line.
    ``joined`` says that it takes several lines, among which others' rows may be lost.
    """

    line: int
    cells: tuple[str, ...]
    fault: FieldError | None = None
    joined: bool = False


class _Feed:
    """Decoded lines for the csv module; what cannot be read is set aside, not raised."""

    def __init__(self, source: Source) -> None:
        self._lines = source.lines()
        self.faults: list[Row] = []
        self.first = ""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        if line.fault is not None:
            self.faults.append(Row(line.number, (), FieldError("", line.fault, "repair the file")))
            return "\n"
        # A wrong byte becomes a lone surrogate, which strict UTF-8 never yields: cells show it.
        text = line.data.decode("utf-8", errors="surrogateescape")
        self.first = self.first or text
        return text

    def taken(self) -> list[Row]:
        taken, self.faults = self.faults, []
        return taken


def quoted_rows(source: Source, delimiter: str) -> Iterator[Row]:
    """Read rows whose cells may be quoted, and may then hold delimiters and line ends.

    Args:
        source: the open input.
        delimiter: one character.

    Yields:
        The rows that hold something, the header included.
    """
    # The csv module has one limit for the whole process; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    feed = _Feed(source)
    reader = csv.reader(feed, delimiter=delimiter, strict=True)
    ended = False
    while not ended:
        feed.first, start = "", reader.line_num + 1
        cells: Sequence[str] = ()
        row = None
        try:
            cells = next(reader)
        except StopIteration:
            ended = True
        except csv.Error as error:
            fault = _csv_fault(error, start, reader.line_num)
            row = Row(start, _loose(feed.first, delimiter), fault, reader.line_num > start)
        yield from feed.taken()
        if _holds_text(cells):
            row = checked(Row(start, tuple(cells)))
        if row is not None:
            yield row


def _loose(line: str, delimiter: str) -> tuple[str, ...]:
    """The cells of a line whose quotes are wrong, as far as a lenient reader finds some."""
    try:
        return tuple(next(csv.reader([line], delimiter=delimiter), ()))
    except csv.Error:
        return ()


def _holds_text(cells: Iterable[str]) -> bool:
    """Whether a row is more than the empty cells that spreadsheets leave below a table."""
    return any(cell.strip() for cell in cells)


def _csv_fault(error: csv.Error, start: int, end: int) -> FieldError:
    if "unexpected end of data" in str(error):
        problem = "a quote opened in this row is never closed, so the rest of the file is lost"
        return FieldError("", problem, 'close it, or double it ("") inside a quoted cell')
    fix = 'put the cell in quotes and double the quotes ("") inside it'
    if "new-line character" in str(error):
        error = csv.Error("a carriage return stands outside quotes")
        fix = "save the file with line feeds between its rows"
    what = "the row" if end <= start else f"the rows up to line {end}"
    return FieldError("", f"{what} cannot be read ({error})", fix)


def plain_rows(source: Source) -> Iterator[Row]:
    """Read rows of a tab-separated file in which quotes are ordinary characters.

    Args:
        source: the open input.

    Yields:
        The rows that hold something, the header included.
    """
    for line in source.lines():
        if line.fault is not None:
            yield Row(line.number, (), FieldError("", line.fault, "repair the file"))
        elif line.data.strip():
            text = line.data.decode("utf-8", errors="surrogateescape").removesuffix("\n")
            yield checked(Row(line.number, tuple(text.removesuffix("\r").split("\t"))))


def checked(row: Row) -> Row:
    """Mark a row that held wrong bytes; its readable cells stay."""
    for index, cell in enumerate(row.cells):
        if LONE_SURROGATE.search(cell):
            fault = FieldError(f"cell {index + 1}", "is not UTF-8", _AS_UTF8)
            return row._replace(fault=fault)
    return row


WHOLE_FILE = "reviews"
"""The id of the one product of a table that has reviews row by row and no id."""


def open_table(
    source: Source, delimiter: str | None, *, reviews_only: bool
) -> tuple[Iterator[Row], Columns]:
    """Read the header of a table; see :func:`table_items`.

    Returns:
        The rows below it, and what their cells mean.
    """
    head = source.head(1)
    first = head[0].data.decode(errors="replace") if head else ""
    stated = stated_delimiter(first)
    rows = quoted_rows(source, stated or delimiter or best_delimiter(first))
    if stated is not None:
        next(rows)
    header = header_of(rows, source.path)
    return rows, plan_columns(header, source.path, reviews_only=reviews_only)


def table_items(source: Source, options: ReadOptions, delimiter: str | None) -> Iterator[Item]:
    """Read a table with a header.

    Args:
        source: the open input.
        options: the caller's wishes.
        delimiter: the character between cells, or None to take the one that suits the header.

    Yields:
        Products and bad records in source order.

    Raises:
        InputError: the header lacks a needed column.
    """
    rows, columns = open_table(source, delimiter, reviews_only=not options.needs_summaries)
    if columns.long is not None:
        yield from _long_items(rows, columns, source.path, options)
        return
    for row in rows:
        yield from wide_item(row, columns, source.path, options)


def header_of(rows: Iterator[Row], path: str) -> tuple[str, ...]:
    """The cells of the first row.

    Args:
        rows: the rows, which advance by one.
        path: the file's name.

    Returns:
        The column names.

    Raises:
        InputError: there is no row, or it cannot be read.
    """
    first = next(rows, None)
    if first is None:
        raise InputError(f"{path}: holds no header line; there is nothing to score")
    if first.fault is not None:
        raise InputError(f"{path}:{first.line}: header: {first.fault.problem}; {first.fault.fix}")
    return first.cells


def wide_item(row: Row, columns: Columns, path: str, options: ReadOptions) -> list[Item]:
    """Build the product of one row.

    Args:
        row: the row.
        columns: what its cells mean.
        path: the file's name.
        options: the caller's wishes.

    Returns:
        A product, bad records, or both.
    """
    position = Position(path, f":{row.line}")
    identity = _stated_id(row, columns)
    extra: dict[str, Any] = {}
    try:
        _refuse_misfit(row, columns)
        extra = {name: row.cells[index] for name, index in columns.extra}
        draft = Draft(
            reviews=_wide_reviews(row, columns),
            summaries=_row_summaries(row, columns),
            name=_name(row, columns),
            extra=extra,
        )
        return finish(
            draft, identity=identity or position.fallback_id, position=position, options=options
        )
    except FieldError as fault:
        return [fault.at(position, identity=identity, extra=extra)]


def _cell(row: Row, index: int | None) -> str | None:
    """A cell's text without surrounding spaces, or None where it is missing or empty."""
    if index is None or index >= len(row.cells):
        return None
    return well_formed(row.cells[index]).strip() or None


def _stated_id(row: Row, columns: Columns) -> str | None:
    """The product's id; None where there is none, or a fault leaves its cell uncertain."""
    certain = row.fault is None or len(row.cells) == len(columns.header)
    return _cell(row, columns.id) if certain else None


def _name(row: Row, columns: Columns) -> str | None:
    name = None if columns.name is None else row.cells[columns.name].strip()
    return name or None


def _refuse_misfit(row: Row, columns: Columns) -> None:
    if row.fault is not None:
        raise row.fault
    if len(row.cells) != len(columns.header):
        problem = f"has {len(row.cells)} cells where the header has {len(columns.header)}"
        raise FieldError("", problem, "quote cells that hold the delimiter, or add cells")


def _where(columns: Columns, index: int) -> str:
    return f'column "{columns.header[index].strip()}"'


def _wide_reviews(row: Row, columns: Columns) -> Sequence[RawReview]:
    if columns.reviews is None:
        cells = [RawReview(_where(columns, index), row.cells[index]) for index in columns.wide]
        # A product with fewer reviews than the widest one leaves its last columns empty.
        while cells and cells[-1].value == "" and not columns.fixed:
            cells.pop()
        return cells
    where = _where(columns, columns.reviews)
    try:
        value = decode_line(row.cells[columns.reviews])
        return listed_reviews(value, present=True)
    except FieldError as fault:
        raise FieldError(where, fault.problem, "give a JSON list of review texts") from None


def _row_summaries(row: Row, columns: Columns) -> list[RawSummary]:
    raw = [
        RawSummary(_where(columns, index), system, row.cells[index])
        for system, index in columns.summaries
    ]
    if columns.summary is not None:
        system = _cell(row, columns.system) or DEFAULT_SYSTEM
        raw.append(RawSummary(_where(columns, columns.summary), system, row.cells[columns.summary]))
    return raw


@dataclass(slots=True)
class _Group:
    """The rows of one product."""

    id: str
    line: int
    reviews: list[RawReview] = field(default_factory=list)
    summaries: dict[tuple[str, str], RawSummary] = field(default_factory=dict)
    name: str | None = None
    fault: FieldError | None = None

    def add(self, row: Row, columns: Columns) -> None:
        """Take one more row in; its first fault spoils the product, whose m would be wrong."""
        try:
            _refuse_misfit(row, columns)
        except FieldError as fault:
            lost = "the whole file" if columns.id is None else f"product {self.id!r}"
            spoilt = FieldError(fault.where, f"{fault.problem}, so {lost} is left out", fault.fix)
            spoilt.line = row.line
            self.fault = self.fault or spoilt
            return
        self.reviews.append(_long_review(row, columns, len(self.reviews)))
        self.name = self.name or _name(row, columns)
        for raw in _row_summaries(row, columns):
            if str(raw.value).strip():
                key = (raw.system, str(raw.value))
                self.summaries.setdefault(key, raw._replace(line=row.line))

    def items(self, path: str, options: ReadOptions) -> list[Item]:
        """The product, or what is wrong with it."""
        position = Position(path, f":{self.line}")
        try:
            if self.fault is not None:
                raise self.fault
            draft = Draft(self.reviews, list(self.summaries.values()), name=self.name)
            return finish(draft, identity=self.id, position=position, options=options)
        except FieldError as fault:
            return [fault.at(position, identity=self.id)]


def _nameless() -> FieldError:
    problem = "the row has no product id, so it is left out"
    return FieldError("", problem, "give the product's id in every row")


def _long_review(row: Row, columns: Columns, index: int) -> RawReview:
    value: dict[str, Any] = {name: row.cells[place] for name, place in columns.extra}
    value["text"] = "" if columns.long is None else row.cells[columns.long]
    if (identity := _cell(row, columns.review_id)) is not None:
        value["id"] = identity
    return RawReview(f"reviews[{index}]", value)


def _long_items(
    rows: Iterator[Row], columns: Columns, path: str, options: ReadOptions
) -> Iterator[Item]:
    """Every row is read first: those of a product may stand anywhere in the table."""
    groups: dict[str, _Group] = {}
    group: _Group | None = None
    nameless: list[Row] = []
    unsure: list[Row] = []
    for row in rows:
        identity = WHOLE_FILE if columns.id is None else _stated_id(row, columns)
        whole = row.fault is None and len(row.cells) == len(columns.header)
        if identity is not None:
            group = groups.setdefault(identity, _Group(identity, row.line))
            for before in unsure:
                group.add(before, columns)
            unsure = []
        elif whole:
            nameless.append(row)
            continue
        if group is not None:
            group.add(row, columns)
        # One that does not name its product is of the one before it, or of the one after it.
        if row.joined or identity is None:
            unsure.append(row)
    for group in groups.values():
        yield from group.items(path, options)
    # Last, because a summary a line counts products, which these are not.
    for row in nameless if groups else (*unsure, *nameless):
        yield (row.fault or _nameless()).at(Position(path, f":{row.line}"))


_NUMBERED = re.compile(r"summ(\d+)")


def copycat_items(source: Source, options: ReadOptions) -> Iterator[Item]:
    """Read Copycat's layout.

    Args:
        source: the open input.
        options: the caller's wishes.

    Yields:
        Products with the systems human1, human2, human3 and the extra key "category".

    Raises:
        InputError: a needed column is missing.
    """
    rows = plain_rows(source)
    header = header_of(rows, source.path)
    planned = plan_columns(header, source.path, reviews_only=not options.needs_summaries)
    systems = ((_NUMBERED.sub(r"human\1", name), index) for name, index in planned.summaries)
    extra = (("category" if name == "cat" else name, index) for name, index in planned.extra)
    columns = replace(planned, summaries=tuple(systems), extra=tuple(extra), fixed=True)
    for row in rows:
        yield from wide_item(row, columns, source.path, options)
