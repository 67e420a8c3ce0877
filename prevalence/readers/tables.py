"""CSV and TSV with named columns: one product a row, or one review a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prevalence.characters import well_formed
from prevalence.errors import InputError
from prevalence.readers.columns import Columns, best_delimiter, plan_columns
from prevalence.readers.drafts import Draft, Item, RawReview, RawSummary, ReadOptions, finish
from prevalence.readers.fields import FieldError, Position
from prevalence.readers.jsontext import decode_line
from prevalence.readers.native import DEFAULT_SYSTEM, listed_reviews
from prevalence.readers.rows import Row, quoted_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prevalence.readers.streams import Source

__all__ = ["WHOLE_FILE", "header_of", "table_items", "wide_item"]

WHOLE_FILE = "reviews"
"""The id of the one product of a table that has reviews row by row and no id."""


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
    if delimiter is None:
        head = source.head(1)
        delimiter = best_delimiter(head[0].data.decode(errors="replace")) if head else ","
    rows = quoted_rows(source, delimiter)
    header = header_of(rows, source.path)
    columns = plan_columns(header, source.path, reviews_only=not options.needs_summaries)
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
    identity = _cell(row, columns.id)
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
    """Consecutive rows of one product."""

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
            if columns.id is not None and _cell(row, columns.id) is None:
                raise _nameless()
        except FieldError as fault:
            place = f"line {row.line}"
            where = f"{place}: {fault.where}" if fault.where else place
            self.fault = self.fault or FieldError(where, fault.problem, fault.fix)
            return
        self.reviews.append(_long_review(row, columns, len(self.reviews)))
        self.name = self.name or _name(row, columns)
        for raw in _row_summaries(row, columns):
            if raw.value:
                place = f"line {row.line}: {raw.where}"
                self.summaries.setdefault((raw.system, str(raw.value)), raw._replace(where=place))

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
    return FieldError("", "has no product id", "give the product's id in every row")


def _long_review(row: Row, columns: Columns, index: int) -> RawReview:
    value: dict[str, Any] = {name: row.cells[place] for name, place in columns.extra}
    value["text"] = "" if columns.long is None else row.cells[columns.long]
    if (identity := _cell(row, columns.review_id)) is not None:
        value["id"] = identity
    return RawReview(f"reviews[{index}]", value)


def _long_items(
    rows: Iterator[Row], columns: Columns, path: str, options: ReadOptions
) -> Iterator[Item]:
    group: _Group | None = None
    for row in rows:
        identity = _identity(row, columns, group)
        if identity is None:
            position = Position(path, f":{row.line}")
            yield (row.fault or _nameless()).at(position)
            continue
        if group is None or group.id != identity:
            if group is not None:
                yield from group.items(path, options)
            group = _Group(identity, row.line)
        group.add(row, columns)
    if group is not None:
        yield from group.items(path, options)


def _identity(row: Row, columns: Columns, group: _Group | None) -> str | None:
    """The product a row belongs to; a row that does not say so belongs to the one before it."""
    if columns.id is None:
        return WHOLE_FILE
    found = _cell(row, columns.id)
    return group.id if found is None and group is not None else found
