"""Records in Parquet: rows of a file one by one, decoded, and the products that they hold."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from prevalence.errors import InputError, MissingDependencyError, first_line
from prevalence.readers.fields import FieldError, Item, Position, ReadOptions
from prevalence.readers.jsonfiles import mapping_items
from prevalence.readers.streams import PARQUET_MAGIC, begins_with, display

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "holds_parquet",
    "parquet",
    "parquet_rows",
    "plain_record",
    "read_parquet",
    "row_count",
    "row_items",
]

_ROWS = 256

Row = dict[str, Any] | Exception
"""A row of a Parquet file, or why it cannot be decoded."""


def parquet() -> Any:
    """The module that reads and writes Parquet.

    Raises:
        MissingDependencyError: it is not installed.
    """
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError("Parquet needs pyarrow: pip install pyarrow") from None
    return pyarrow.parquet


def holds_parquet(path: str | Path) -> bool:
    """Whether an input is a file that begins like Parquet; pipes are not looked at."""
    try:
        # A table may begin with the letters, but not with the byte after them.
        return Path(path).is_file() and begins_with(path, PARQUET_MAGIC + b"\x15")
    except (OSError, ValueError):
        return False  # Whoever reads it says why it cannot be read.


def read_parquet(
    path: str | Path, options: ReadOptions, progress: Callable[[int], None] | None
) -> Iterator[Item]:
    """Read the records of a Parquet file, one a row.

    Args:
        path: the file.
        options: the caller's wishes.
        progress: called with the share of the file read so far, in bytes.

    Yields:
        Products and bad records, in the order of the file.

    Raises:
        InputError: the file is damaged.
        MissingDependencyError: pyarrow is not installed.
    """
    name, size, total = display(path), Path(path).stat().st_size, row_count(path)
    with Path(path).open("rb") as file:
        for number, row in enumerate(parquet_rows(file, name, 0, total), start=1):
            yield from row_items(row, Position(name, f":{number}"), options)
            if progress is not None:
                progress(size * number // total)


def row_count(path: str | Path) -> int:
    """Rows of a Parquet file, as its footer has it.

    Raises:
        InputError: it is damaged.
        MissingDependencyError: pyarrow is not installed.
    """
    module = parquet()
    try:
        return int(module.read_metadata(path).num_rows)
    except (OSError, ValueError) as error:
        raise _damaged(display(path), error) from error


def row_items(row: Row, position: Position, options: ReadOptions) -> list[Item]:
    """The products and bad records that a row holds.

    Args:
        row: decoded, or why it cannot be.
        position: where it stands.
        options: the caller's wishes.
    """
    if isinstance(row, Exception):
        problem = f"cannot be decoded ({first_line(row)})"
        return [FieldError("", problem, "write it anew").at(position)]
    return mapping_items(plain_record(row), position, options)


def plain_record(value: Any) -> Any:
    """A Parquet row as the JSON object that it stands for.

    Columns have one type, so a field that a record lacks is there and null: nulls in objects are
    left out. Dates and times become their ISO texts, and decimals numbers.

    >>> plain_record({"id": "p1", "name": None, "reviews": ["Warm.", {"text": "Dry.", "id": None}]})
    {'id': 'p1', 'reviews': ['Warm.', {'text': 'Dry.'}]}
    """
    if isinstance(value, Mapping):
        return {key: plain_record(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [plain_record(item) for item in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value.isoformat() if isinstance(value, date | time) else value


def parquet_rows(opened: IO[bytes], name: str, start: int, end: int) -> Iterator[Row]:
    """Decode the rows of a Parquet file from ``start`` to ``end``, which does not belong.

    Args:
        opened: the file.
        name: its name for messages.
        start: the first row, counted from 0.
        end: the row after the last.

    Raises:
        InputError: the file is damaged.
        MissingDependencyError: pyarrow is not installed.
    """
    try:
        file = parquet().ParquetFile(opened)
        before = 0
        for group in range(file.num_row_groups):
            after = before + file.metadata.row_group(group).num_rows
            if before < end and after > start:
                yield from _group_rows(file, group, start - before, end - before)
            before = after
    except (OSError, ValueError, KeyError) as error:
        raise _damaged(name, error) from error


def _group_rows(file: Any, group: int, start: int, end: int) -> Iterator[Row]:
    """Rows start to end of a row group; numbers outside it do no harm."""
    place = 0
    for batch in file.iter_batches(batch_size=_ROWS, row_groups=[group]):
        low, high = max(start - place, 0), min(end - place, len(batch))
        if low < high:
            yield from _decoded(batch.slice(low, high - low))
        place += len(batch)
        if place >= end:
            return


def _decoded(batch: Any) -> list[Row]:
    """The rows of a batch, one by one where one of them cannot be decoded."""
    try:
        rows: list[Row] = batch.to_pylist(maps_as_pydicts="strict")
    except (ValueError, KeyError, OverflowError) as error:
        if len(batch) == 1:
            return [error]
        return [row for place in range(len(batch)) for row in _decoded(batch.slice(place, 1))]
    return rows


def _damaged(name: str, error: Exception) -> InputError:
    return InputError(f"{name}: cannot be read ({first_line(error)}); write the file anew")
