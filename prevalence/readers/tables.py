"""Tables with named columns (CSV, TSV and the like), and Copycat's gold summaries.

The latter are tab-separated and unquoted: cat prod_id rev1..rev8 summ1..summ3.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import InputError
from prevalence.readers.columns import (
    Columns,
    advice_on_systems,
    best_delimiter,
    plan_columns,
    plan_summary_columns,
    stated_delimiter,
    with_point,
)
from prevalence.readers.fields import (
    Draft,
    FieldError,
    Item,
    Position,
    RawReview,
    RawSummary,
    ReadOptions,
    finish,
)
from prevalence.readers.jsonfiles import decode_line
from prevalence.readers.native import DEFAULT_SYSTEM, listed_reviews
from prevalence.readers.streams import MAX_LINE_BYTES, Source
from prevalence.records import LONE_SURROGATE, RATING, BadRecord, well_formed
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "NO_VALUE",
    "WHOLE_FILE",
    "Row",
    "TableSummary",
    "copycat_items",
    "delimited_rows",
    "header_of",
    "open_summary_table",
    "open_table",
    "plain_rows",
    "summary_rows",
    "table_items",
    "wide_item",
]


NO_VALUE = {
    "NA", "N/A", "NaN", "nan", "NULL", "<NA>", "#N/A", "#NAME?", "#REF!", "#VALUE!", "#DIV/0!",
    "#NUM!", "#NULL!",
}  # fmt: skip
"""How R, pandas, databases and spreadsheets write that a cell has no value."""

_AS_UTF8 = 'save the file as UTF-8 (Excel calls it "CSV UTF-8")'


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


def delimited_rows(source: Source, first: str, delimiter: str) -> tuple[Iterator[Row], str]:
    """The rows of a table from its header on, and what stands between their cells.

    Args:
        source: the open input.
        first: its first line, from which nothing is taken.
        delimiter: what stands between cells, unless the line says it ("sep=;").
    """
    stated = stated_delimiter(first)
    rows = _quoted_rows(source, stated or delimiter)
    if stated is not None:
        next(rows)
    return rows, stated or delimiter


def _quoted_rows(source: Source, delimiter: str) -> Iterator[Row]:
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
        cells: tuple[str, ...] = ()
        row = None
        try:
            cells = tuple(map(_value, next(reader)))
        except StopIteration:
            ended = True
        except csv.Error as error:
            fault = _csv_fault(error, start, reader.line_num)
            row = Row(start, _loose(feed.first, delimiter), fault, reader.line_num > start)
        yield from feed.taken()
        if _holds_text(cells):
            row = checked(Row(start, cells))
        if row is not None:
            yield row


def _value(cell: str) -> str:
    return "" if cell.strip() in NO_VALUE else cell


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
        problem = "a quote opened in this row is never closed and takes in the rest of the file"
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
    rows, delimiter = _rows_of(source, delimiter)
    header = header_of(rows, source.path)
    columns = plan_columns(header, source.path, reviews_only=reviews_only)
    return rows, replace(columns, delimiter=delimiter)


def _rows_of(source: Source, delimiter: str | None) -> tuple[Iterator[Row], str]:
    head = source.head(1)
    first = head[0].data.decode(errors="replace") if head else ""
    return delimited_rows(source, first, delimiter or best_delimiter(first))


def open_summary_table(source: Source, delimiter: str | None) -> tuple[Iterator[Row], Columns]:
    """Read the header of a table that has summaries, and no reviews; as :func:`open_table`."""
    rows, delimiter = _rows_of(source, delimiter)
    return rows, plan_summary_columns(header_of(rows, source.path), source.path)


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
        return listed_reviews(value)
    except FieldError as fault:
        raise FieldError(where, fault.problem, "give a JSON list of review texts") from None


def _row_summaries(row: Row, columns: Columns, default: str = DEFAULT_SYSTEM) -> list[RawSummary]:
    raw = [
        RawSummary(_where(columns, index), system, row.cells[index])
        for system, index in columns.summaries
    ]
    if columns.summary is not None:
        system = _cell(row, columns.system) or default
        raw.append(RawSummary(_where(columns, columns.summary), system, row.cells[columns.summary]))
    return raw


def _advised(summaries: list[RawSummary], columns: Columns) -> list[RawSummary]:
    """The summaries, which say what the table lacks if several are of one system."""
    if columns.system is not None or columns.summary is None:
        return summaries
    fix = advice_on_systems(columns)
    return [raw._replace(fix=fix) for raw in summaries]


class _Origin(NamedTuple):
    """What the row of a review says of it: the system, or "", the review's id, and its text."""

    system: str
    id: str | None
    text: str


@dataclass(slots=True)
class _Group:
    """The rows of one product; `origins` has an entry for each review."""

    id: str
    line: int
    reviews: list[RawReview] = field(default_factory=list)
    origins: list[_Origin] = field(default_factory=list)
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
        text = "" if columns.long is None else row.cells[columns.long]
        system = _cell(row, columns.system) or ""
        self.origins.append(_Origin(system, _cell(row, columns.review_id), text))
        self.name = self.name or _name(row, columns)
        for raw in _row_summaries(row, columns):
            if str(raw.value).strip():
                key = (raw.system, str(raw.value))
                self.summaries.setdefault(key, raw._replace(line=row.line))

    def drop_copies(self, *, by_system: bool) -> int:
        """Keep a review once that has several rows.

        Rows with an id are one review if id and text are the same. Of the others, those of one
        system are copies of another's if all systems have the same texts, each equally often:
        otherwise two people may have written the same.

        Args:
            by_system: whether a review may have a row for every system.

        Returns:
            How many rows were copies.
        """
        copies = self._copies_with_ids()
        if by_system:
            copies |= self._copies_of_systems()
        self.reviews = [one for place, one in enumerate(self.reviews) if place not in copies]
        return len(copies)

    def _copies_with_ids(self) -> set[int]:
        first: dict[tuple[str, str], int] = {}
        return {
            place
            for place, origin in enumerate(self.origins)
            if origin.id and first.setdefault((origin.id, origin.text), place) != place
        }

    def _copies_of_systems(self) -> set[int]:
        systems: dict[str, Counter[str]] = {}
        kept: Counter[str] = Counter()
        copies = set()
        for place, origin in enumerate(self.origins):
            if origin.id:
                continue
            own = systems.setdefault(origin.system, Counter())
            own[origin.text] += 1
            # What one system has twice is no copy of another system's.
            if own[origin.text] > kept[origin.text]:
                kept[origin.text] += 1
            else:
                copies.add(place)
        return set() if any(own != kept for own in systems.values()) else copies

    def items(self, columns: Columns, path: str, options: ReadOptions) -> list[Item]:
        """The product, or what is wrong with it."""
        position = Position(path, f":{self.line}")
        try:
            if self.fault is not None:
                raise self.fault
            summaries = _advised(list(self.summaries.values()), columns)
            draft = Draft(self.reviews, summaries, name=self.name)
            return finish(draft, identity=self.id, position=position, options=options)
        except FieldError as fault:
            return [fault.at(position, identity=self.id)]


def _nameless() -> FieldError:
    problem = "the row has no product id, so it is left out"
    return FieldError("", problem, "give the product's id in every row")


class TableSummary(NamedTuple):
    """A summary in a row of a table without reviews, and the id of its product."""

    id: str
    raw: RawSummary


def summary_rows(
    source: Source, delimiter: str | None, *, system: str
) -> Iterator[TableSummary | BadRecord]:
    """Read a table that has summaries, and no reviews.

    Args:
        source: the open input.
        delimiter: the character between cells, or None to take the one that suits the header.
        system: who wrote a summary of which no cell says it.

    Yields:
        The summaries, and what is wrong with rows that have none.

    Raises:
        InputError: the header lacks a needed column, or has reviews.
    """
    rows, columns = open_summary_table(source, delimiter)
    for row in rows:
        identity = _stated_id(row, columns)
        try:
            _refuse_misfit(row, columns)
            if identity is None:
                raise _nameless()
            summaries = _advised(_row_summaries(row, columns, system), columns)
        except FieldError as fault:
            yield fault.at(Position(source.path, f":{row.line}"), identity=identity)
        else:
            for raw in summaries:
                yield TableSummary(identity, raw._replace(line=row.line))


def _long_review(row: Row, columns: Columns, index: int) -> RawReview:
    value: dict[str, Any] = {name: row.cells[place] for name, place in columns.extra}
    if RATING in value:
        value[RATING] = with_point(value[RATING], columns.delimiter)
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
    _drop_copies(groups.values(), columns, path)
    for group in groups.values():
        yield from group.items(columns, path, options)
    # Last, because a summary a line counts products, which these are not.
    for row in nameless if groups else (*unsure, *nameless):
        yield (row.fault or _nameless()).at(Position(path, f":{row.line}"))


def _drop_copies(groups: Iterable[_Group], columns: Columns, path: str) -> None:
    """Count reviews once that have several rows, and say so."""
    by_system = columns.system is not None and columns.has_summaries
    copies = list(filter(None, (group.drop_copies(by_system=by_system) for group in groups)))
    if copies:
        products, rows = counted(len(copies), "product"), counted(sum(copies), "row")
        what = "the reviews for every system" if columns.review_id is None else "reviews"
        warnings.warn(
            f"{path}: the rows of {products} repeat {what}; each review is counted once, without "
            f"{rows}",
            RuntimeWarning,
            stacklevel=2,
        )


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
