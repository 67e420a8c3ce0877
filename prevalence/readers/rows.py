"""The rows of a delimited file with their line numbers; a broken row costs only itself."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, NamedTuple

from prevalence.characters import LONE_SURROGATE
from prevalence.readers.fields import FieldError
from prevalence.readers.streams import MAX_LINE_BYTES, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Row", "plain_rows", "quoted_rows"]


class Row(NamedTuple):
    """One row: the line on which it starts, and its cells or the fault in their place."""

    line: int
    cells: tuple[str, ...]
    fault: FieldError | None = None


class _Feed:
    """Decoded lines for the csv module; what cannot be read is set aside, not raised."""

    def __init__(self, source: Source) -> None:
        self._lines = source.lines()
        self.faults: list[Row] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        if line.fault is not None:
            self.faults.append(Row(line.number, (), FieldError("", line.fault, "repair the file")))
            return "\n"
        # A wrong byte becomes a lone surrogate, which strict UTF-8 never yields: cells show it.
        return line.data.decode("utf-8", errors="surrogateescape")

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
        start = reader.line_num + 1
        row, ended = _next_row(reader, start)
        yield from feed.taken()
        if row is not None:
            yield row


def _next_row(reader: Iterator[list[str]], start: int) -> tuple[Row | None, bool]:
    try:
        cells = next(reader)
    except StopIteration:
        return None, True
    except csv.Error as error:
        return Row(start, (), _csv_fault(error)), False
    return (checked(Row(start, tuple(cells))) if cells else None), False


def _csv_fault(error: csv.Error) -> FieldError:
    if "unexpected end of data" in str(error):
        problem = "a quote opened in this row is never closed, so the rest of the file is lost"
        return FieldError("", problem, 'close it, or double it ("") inside a quoted cell')
    fix = 'put the cell in quotes and double the quotes ("") inside it'
    return FieldError("", f"the row cannot be read ({error})", fix)


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
        elif line.data.strip(b"\r\n"):
            text = line.data.decode("utf-8", errors="surrogateescape").removesuffix("\n")
            yield checked(Row(line.number, tuple(text.removesuffix("\r").split("\t"))))


def checked(row: Row) -> Row:
    """Mark a row that held wrong bytes; its readable cells stay."""
    for index, cell in enumerate(row.cells):
        if LONE_SURROGATE.search(cell):
            fault = FieldError(f"cell {index + 1}", "is not UTF-8", "save the file as UTF-8")
            return row._replace(fault=fault)
    return row
