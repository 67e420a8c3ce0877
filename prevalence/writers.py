"""Scored summaries → files: JSON Lines that a killed run continues, CSV, and one JSON array."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol, Self

from prevalence.errors import InputError
from prevalence.jobs import input_digest
from prevalence.records import BadRecord, Product, ScoredSummary

__all__ = [
    "FORMATS",
    "CsvWriter",
    "JsonLinesWriter",
    "JsonWriter",
    "RowWriter",
    "atomic_file",
    "finished_rows",
    "neutral_cell",
    "skip_finished",
]

FORMATS = ("table", "jsonl", "csv", "json")

CSV_COLUMNS = (
    "id", "system", "prevalence", "n_reviews", "n_sentences", "trivial", "redundant",
    "unsupported", "error", "warning", "signature",
)  # fmt: skip

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


class RowWriter(Protocol):
    """Takes rows in order."""

    def write(self, row: ScoredSummary) -> None:
        """Write one row."""
        ...

    def close(self) -> None:
        """Write what ends the document."""
        ...


class JsonLinesWriter:
    """One JSON object a line; each line is complete on disk before the next is begun."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, row: ScoredSummary) -> None:
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
    """One line a summary, cells that a spreadsheet would run as a formula made harmless."""

    def __init__(self, file: IO[str]) -> None:
        self._writer = csv.writer(file, lineterminator="\n")
        self._writer.writerow(CSV_COLUMNS)

    def write(self, row: ScoredSummary) -> None:
        """Write one line."""
        scored = row.error is None
        cells = {
            "id": row.id,
            "system": row.system,
            "prevalence": row.prevalence,
            "n_reviews": row.n_reviews,
            "n_sentences": row.n_sentences,
            "trivial": sum(s.trivial for s in row) if scored else None,
            "redundant": sum(s.redundant_with is not None for s in row) if scored else None,
            "unsupported": sum(s.counts and s.support == 0 for s in row) if scored else None,
            "error": row.error,
            "warning": row.warning,
            "signature": row.signature,
        }
        self._writer.writerow([neutral_cell(cells[name]) for name in CSV_COLUMNS])

    def close(self) -> None:
        """Nothing ends the document."""


def neutral_cell(value: object) -> object:
    """A CSV cell that no spreadsheet evaluates: text that looks like a formula gets a quote.

    >>> neutral_cell("=1+1"), neutral_cell(0.5)
    ("'=1+1", 0.5)
    """
    if isinstance(value, str):
        value = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
        return "'" + value if value.startswith(_FORMULA_STARTS) else value
    return value


class atomic_file:  # noqa: N801 - used as a function
    """Context: a text file that appears under its name only when the block ends well."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    def __enter__(self) -> IO[str]:
        self._file = tempfile.NamedTemporaryFile(  # noqa: SIM115 - closed in __exit__
            "w", encoding="utf-8", newline="", dir=self._path.parent, delete=False
        )
        return self._file

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is None:
            return
        self._file.close()
        if kind is None:
            os.replace(self._file.name, self._path)
        else:
            os.unlink(self._file.name)


def finished_rows(path: Path) -> Iterator[ScoredSummary]:
    """Rows of an earlier run of the same output, after cutting a last line left incomplete.

    Raises:
        InputError: the file holds something else; it is left untouched.
    """
    end = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                break
            try:
                row = ScoredSummary.from_json(json.loads(line))
            except (ValueError, AttributeError) as error:
                raise InputError(
                    f"{path}:{number}: not a row of an earlier run ({error}); "
                    "choose another --output, or --overwrite"
                ) from error
            end += len(line)
            yield row
    if path.stat().st_size > end:
        os.truncate(path, end)


def skip_finished(
    items: Iterable[Product | BadRecord],
    done: Iterator[ScoredSummary],
    *,
    path: Path,
    signature: Callable[[Product], str],
    keep: Callable[[ScoredSummary], None],
) -> Iterator[Product | BadRecord]:
    """Leave out what an earlier run has finished, checking that it was the same run.

    Args:
        items: the input, from its beginning.
        done: rows of the earlier run, in order.
        path: the output, for messages.
        signature: signature that a product's rows have in this run.
        keep: called with each finished row.

    Yields:
        What is still to be scored; a product with some finished summaries keeps the others.

    Raises:
        InputError: a finished row belongs to other input or other settings.
    """
    row = next(done, None)
    for item in items:
        if row is None:
            yield item
            continue
        if isinstance(item, BadRecord):
            _check(row.error == item.error, row, path)
            keep(row)
            row = next(done, None)
            continue
        left = []
        for summary in item.summaries:
            if row is None:
                left.append(summary)
                continue
            same = (row.id, row.system) == (item.id, summary.system)
            _check(same and row.input_digest == input_digest(item, summary), row, path)
            if row.signature != signature(item):
                raise InputError(
                    f"{path}: holds scores of other settings ({row.signature}); "
                    "choose another --output, or --overwrite"
                )
            keep(row)
            row = next(done, None)
        if left:
            yield item.with_summaries(left)
    _check(row is None, row, path)


def _check(same: bool, row: ScoredSummary | None, path: Path) -> None:
    if not same:
        what = f"{row.id!r} by {row.system!r}" if row else "a row"
        raise InputError(
            f"{path}: holds {what}, which is not what this input has in its place; "
            "choose another --output, or --overwrite"
        )
