"""A split → its products and bad records, the same as when the file is read as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, time
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from prevalence.distributed.splits import GZIP, PARQUET, Split, parquet
from prevalence.errors import InputError, first_line
from prevalence.readers import parse_record
from prevalence.readers.fields import FieldError, Item, Position, ReadOptions
from prevalence.readers.jsonfiles import LAYOUTS, line_items
from prevalence.readers.streams import Source, display, open_source
from prevalence.records import BadRecord
from prevalence.runs.selection import by_systems

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Reading", "plain_record"]

_BLOCK = 1 << 16
_ROWS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How splits are read; the same for all of a run.

    Attributes:
        source_format: one of :data:`prevalence.distributed.splits.FORMATS`.
        names: product names by id; they win over names in the records.
        systems: only the summaries by these; empty for all.
    """

    source_format: str = "auto"
    names: Mapping[str, str] = field(default_factory=dict)
    systems: frozenset[str] = frozenset()

    def items(self, split: Split) -> Iterator[Item]:
        """Read what is left of a split.

        Args:
            split: where the records are.

        Yields:
            Products and bad records, in the order of the file.

        Raises:
            InputError: the file cannot be read any more.
        """
        left = islice(by_systems(self._every(split), self.systems), split.skip, None)
        for place, item in enumerate(left):
            if place == 0 and split.last and not isinstance(item, BadRecord):
                yield item.part(item.summaries[-split.last :])
            else:
                yield item

    def _every(self, split: Split) -> Iterator[Item]:
        if split.kind == PARQUET:
            yield from self._rows(split)
            return
        options, layout = ReadOptions(self.names), LAYOUTS.get(self.source_format)
        if split.kind == GZIP:
            with open_source(split.path) as source:
                source.path = display(split.name)
                yield from line_items(source, options, layout)
            return
        with _opened(split) as file:
            lines = cast("IO[bytes]", _Stretch(file, split.start, split.end))
            source = Source(lines, display(split.name), before=split.before)
            yield from line_items(source, options, layout, head=split.start == 0)

    def _rows(self, split: Split) -> Iterator[Item]:
        for number, row in enumerate(_parquet_rows(split), start=split.before + 1):
            where = Position(display(split.name), f":{number}")
            if isinstance(row, Exception):
                yield FieldError("", f"cannot be decoded ({first_line(row)})", "write it anew").at(
                    where
                )
                continue
            yield from parse_record(plain_record(row), source=where.source, names=self.names)


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


class _Stretch:
    """The lines that begin in a stretch of a file; the last one may end behind it."""

    def __init__(self, file: IO[bytes], start: int, end: int) -> None:
        self._file, self._end = file, end
        self._begins = True
        if start:
            file.seek(start - 1)
            while (part := file.readline(_BLOCK)) and not part.endswith(b"\n"):
                pass

    def readline(self, size: int = -1) -> bytes:
        """The next line, or as much of it as asked for; nothing at the end."""
        if self._begins and self._file.tell() >= self._end:
            return b""
        data = self._file.readline(size)
        self._begins = not data or data.endswith(b"\n")
        return data


def _opened(split: Split) -> IO[bytes]:
    try:
        return Path(split.path).open("rb")
    except OSError as error:
        raise InputError(
            f"{display(split.path)}: a worker cannot open it ({error.strerror}); every node of the "
            "cluster has to see it under this name"
        ) from None


_Row = dict[str, Any] | Exception
"""A row of a Parquet file, or why it cannot be decoded."""


def _parquet_rows(split: Split) -> Iterator[_Row]:
    with _opened(split) as opened:
        try:
            file = parquet().ParquetFile(opened)
            before = 0
            for group in range(file.num_row_groups):
                after = before + file.metadata.row_group(group).num_rows
                if before < split.end and after > split.start:
                    yield from _group_rows(file, group, split.start - before, split.end - before)
                before = after
        except (OSError, ValueError, KeyError) as error:
            raise InputError(
                f"{display(split.name)}: cannot be read ({first_line(error)}); write the file anew"
            ) from error


def _group_rows(file: Any, group: int, start: int, end: int) -> Iterator[_Row]:
    """Rows start to end of a row group; numbers outside it do no harm."""
    place = 0
    for batch in file.iter_batches(batch_size=_ROWS, row_groups=[group]):
        low, high = max(start - place, 0), min(end - place, len(batch))
        if low < high:
            yield from _decoded(batch.slice(low, high - low))
        place += len(batch)
        if place >= end:
            return


def _decoded(batch: Any) -> list[_Row]:
    """The rows of a batch, one by one where one of them cannot be decoded."""
    try:
        rows: list[_Row] = batch.to_pylist(maps_as_pydicts="strict")
    except (ValueError, KeyError, OverflowError) as error:
        if len(batch) == 1:
            return [error]
        return [row for place in range(len(batch)) for row in _decoded(batch.slice(place, 1))]
    return rows
