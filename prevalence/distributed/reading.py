"""A split → its products and bad records, the same as when the file is read as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from prevalence.distributed.splits import GZIP, PARQUET, Split
from prevalence.errors import InputError
from prevalence.readers.fields import Item, Position, ReadOptions
from prevalence.readers.jsonfiles import LAYOUTS, line_items
from prevalence.readers.parquet import parquet_rows, row_items
from prevalence.readers.streams import Source, display, open_source
from prevalence.records import BadRecord
from prevalence.runs.selection import by_systems

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Reading"]

_BLOCK = 1 << 16


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
        name, options = display(split.name), ReadOptions(self.names)
        with _opened(split) as file:
            rows = parquet_rows(file, name, split.start, split.end)
            for number, row in enumerate(rows, start=split.before + 1):
                yield from row_items(row, Position(name, f":{number}"), options)


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
