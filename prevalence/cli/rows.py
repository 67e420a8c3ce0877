"""What every run says of its rows: which hold an error, and which were there already."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from prevalence.cli.errors import note

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["RowSink"]

_SHOWN_ERRORS = 20


class _Row(Protocol):
    @property
    def error(self) -> str | None: ...


Row = TypeVar("Row", bound=_Row)


class RowSink(ABC, Generic[Row]):
    """Takes rows, new ones and those of an earlier run; a subclass counts what they hold.

    Args:
        output: where rows of an earlier run stand.
        limited: whether only the first errors are shown, the others being in the rows.
    """

    def __init__(self, output: Path | None, *, limited: bool = True) -> None:
        self._output = output
        self._limited = limited
        self._earlier = self._errors = 0

    def keep(self, row: Row) -> None:
        """Take a row that an earlier run has written."""
        self._earlier += 1
        self.take(row)

    def take(self, row: Row) -> None:
        """Take a row."""
        self.count(row)
        self.note_error(row)

    @abstractmethod
    def count(self, row: Row) -> None:
        """Add a row to what the run reports."""

    def note_error(self, row: Row) -> None:
        """Show why a row has no value."""
        if row.error is not None:
            self._errors += 1
            if not self._limited or self._errors <= _SHOWN_ERRORS:
                note(f"error: {row.error}")

    def note_earlier(self) -> None:
        """Say how many rows were there already."""
        if self._earlier:
            note(f"{self._earlier:,} rows were in {self._output} already")

    def note_hidden(self) -> None:
        """Say how many errors were not shown."""
        hidden = self._errors - _SHOWN_ERRORS
        if self._limited and hidden > 0:
            note(f'{hidden:,} more errors are in the "error" fields of the rows')
