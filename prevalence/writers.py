"""Scored summaries → files: JSON Lines that a killed run continues, CSV, and one JSON array."""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING, Protocol, TypeVar

from prevalence.scored import PROFILE_FIGURES, SENTENCE_KINDS, ScoredSummary

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CsvWriter", "JsonLinesWriter", "JsonWriter", "RowWriter", "neutral_cell"]

CSV_COLUMNS = (
    "id", "system", "prevalence", "n_reviews", "n_sentences", "trivial", "redundant",
    "unsupported", "error", "warning", "signature", "ceiling", "ceiling_share", "contradictions",
    "self_contradictions", "soft_prevalence", "corrected",
)  # fmt: skip

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What OWASP names as the start of a formula, full-width forms included."""

Row_contra = TypeVar("Row_contra", contravariant=True)


class RowWriter(Protocol[Row_contra]):
    """Takes rows in order."""

    def write(self, row: Row_contra) -> None:
        """Write one row."""
        ...

    def close(self) -> None:
        """Write what ends the document."""
        ...


class LineRow(Protocol):
    """A row that is a line of JSON."""

    def to_json_line(self) -> str:
        """The row as one line, without the newline."""
        ...


class TextSink(Protocol):
    """What lines are written to: an open text file, or what stands for one."""

    def write(self, text: str, /) -> object:
        """Write a text."""
        ...

    def flush(self) -> None:
        """Hand on what is still buffered."""
        ...


class JsonLinesWriter:
    """One JSON object a line; each line is complete on disk before the next is begun."""

    def __init__(self, file: TextSink) -> None:
        self._file = file

    def write(self, row: LineRow) -> None:
        """Write one row and flush it, so that a killed process leaves whole lines."""
        self._file.write(row.to_json_line() + "\n")
        self._file.flush()

    def close(self) -> None:
        """Nothing ends the document."""


class JsonWriter:
    """One JSON array."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._separator = "[\n"

    def write(self, row: ScoredSummary) -> None:
        """Write one element."""
        self._file.write(self._separator + row.to_json_line())
        self._separator = ",\n"

    def close(self) -> None:
        """Close the array."""
        self._file.write("[]\n" if self._separator == "[\n" else "\n]\n")


class CsvWriter:
    """One line a summary, cells that a spreadsheet would run as a formula made harmless.

    Args:
        file: open for writing.
        profile: whether to add the figures of profiles.
    """

    def __init__(self, file: IO[str], *, profile: bool = False) -> None:
        self._file = file
        self._more = PROFILE_FIGURES if profile else ()
        self._write_line([*CSV_COLUMNS, *self._more])

    def write(self, row: ScoredSummary) -> None:
        """Write one line."""
        own = (
            row.sentence_count(name) if name in SENTENCE_KINDS else getattr(row, name)
            for name in CSV_COLUMNS
        )
        more = (getattr(row.profile, name, None) for name in self._more)
        self._write_line([*map(neutral_cell, own), *more])

    def close(self) -> None:
        """Nothing ends the document."""

    def _write_line(self, cells: Sequence[object]) -> None:
        # The csv module quotes a line break inside a cell only if it is in its own line end.
        line = io.StringIO()
        csv.writer(line, lineterminator="\r\n").writerow(cells)
        self._file.write(line.getvalue().removesuffix("\r\n") + "\n")


def neutral_cell(value: object) -> object:
    """A CSV cell that no spreadsheet evaluates: text that looks like a formula gets a quote.

    >>> neutral_cell("=1+1"), neutral_cell(0.5)
    ("'=1+1", 0.5)
    """
    if isinstance(value, str):
        value = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
        return "'" + value if value.lstrip(" ").startswith(_FORMULA_STARTS) else value
    return value
