"""Scored summaries → files: JSON Lines that a killed run continues, CSV, and one JSON array."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import secrets
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeVar

from prevalence.errors import BackendError, InputError, foreign_output
from prevalence.scored import PROFILE_FIGURES, SCHEMA, ScoredSentence, ScoredSummary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = [
    "SENTENCE_KINDS",
    "CsvWriter",
    "JsonLinesWriter",
    "JsonWriter",
    "RowWriter",
    "atomic_file",
    "drop_last_row",
    "finished_records",
    "finished_rows",
    "is_stream",
    "lock",
    "named_output",
    "neutral_cell",
    "sentence_count",
    "without_key",
]

CSV_COLUMNS = (
    "id", "system", "prevalence", "n_reviews", "n_sentences", "trivial", "redundant",
    "unsupported", "error", "warning", "signature", "ceiling", "ceiling_share", "contradictions",
    "self_contradictions", "soft_prevalence", "corrected",
)  # fmt: skip

SENTENCE_KINDS: Mapping[str, Callable[[ScoredSentence], bool]] = {
    "trivial": lambda sentence: sentence.trivial,
    "redundant": lambda sentence: sentence.redundant_with is not None,
    "unsupported": lambda sentence: sentence.unsupported,
}
"""Sentences that tables count, by the names of the columns."""

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What OWASP names as the start of a formula, full-width forms included."""

_STREAM = re.compile(r"/dev/(?:stdout|stderr|fd/\d+)|/proc/[^/]+/fd/\d+")

_ROW_HEADS = tuple(f'{{"schema": {SCHEMA}, "id": , "{key}": '.encode() for key in ("system", "a"))
_RECORD_HEADS = (b'{"id": , "name": , "reviews": [', b'{"id": , "reviews": [')
_VALUE = re.compile(rb'(?<=": )(?:"(?:[^"\\]|\\.)*(?:"|\\?\Z)|null|n(?:u|ul)?\Z)', re.DOTALL)
"""A text or null in a row, or what is there of it where the row was cut."""

Line = TypeVar("Line")
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
            sentence_count(row, name) if name in SENTENCE_KINDS else getattr(row, name)
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


def sentence_count(row: ScoredSummary, kind: str) -> int | None:
    """How many sentences of a row are of one of :data:`SENTENCE_KINDS`; None without a score."""
    return None if row.prevalence is None else sum(map(SENTENCE_KINDS[kind], row))


def neutral_cell(value: object) -> object:
    """A CSV cell that no spreadsheet evaluates: text that looks like a formula gets a quote.

    >>> neutral_cell("=1+1"), neutral_cell(0.5)
    ("'=1+1", 0.5)
    """
    if isinstance(value, str):
        value = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
        return "'" + value if value.lstrip(" ").startswith(_FORMULA_STARTS) else value
    return value


@contextmanager
def named_output(path: Path, kept: str) -> Iterator[None]:
    """Turn a disk that is full, and its like, into an error that names the file.

    Args:
        path: the file that is written.
        kept: what is kept of it, for the message.

    Raises:
        BackendError: it cannot be written.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise BackendError(f"{path}: {error.strerror or error}; {kept}") from error


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[str]]:
    """A text file that appears under its name only when the block ends well.

    Args:
        path: the file; a pipe or another device, /dev/stdout among them whatever it leads to, is
            written directly.

    Yields:
        The open file; UTF-8, line ends as written.

    Raises:
        OSError: it cannot be written; the error names it.
    """
    try:
        with _replaced(path) as file:
            yield file
    except OSError as error:
        if isinstance(error, ConnectionError) or error.filename is not None or error.errno is None:
            raise
        # That of a full disk does not say where.
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def _replaced(path: Path) -> Iterator[IO[str]]:
    if path.exists() and (is_stream(path) or not path.is_file()):
        with path.open("a", encoding="utf-8", newline="") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    part = target.with_name(f".prevalence-{secrets.token_hex(8)}.part")
    try:
        with part.open("x", encoding="utf-8", newline="") as file:
            if target.is_file():
                part.chmod(target.stat().st_mode & 0o7777)
            yield file
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def is_stream(path: Path) -> bool:
    """Whether a path names something that is open already, such as /dev/stdout.

    A shell may have opened a file there to append to it, which replacing or cutting it would lose.
    """
    return _STREAM.fullmatch(str(path)) is not None


def lock(file: IO[Any], path: Path) -> None:
    """Keep other runs from writing to an open file, until it is closed.

    Raises:
        InputError: another run writes to it.
    """
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            f"{path}: another run is writing to it; wait for its end, or choose another --output"
        ) from None
    except OSError:
        # Some file systems know no locks.
        return


def finished_rows(
    path: Path,
    read: Callable[[Any], Line] = ScoredSummary.from_json,  # type: ignore[assignment]
    *,
    kind: str = "row",
    begins: Sequence[bytes] = _ROW_HEADS,
    option: str = "--output",
) -> Iterator[Line]:
    """Rows of an earlier run of the same output, which is mended where a killed run ended it.

    A last line that is the beginning of a row is cut, and a whole row gets its line break, both
    only once every row before was taken.

    Args:
        path: the output.
        read: makes a row of its JSON object.
        kind: what messages call a row.
        begins: how rows begin, texts and nulls left out; a last line that is neither a row nor the
            beginning of one is nobody's to cut.
        option: names the output in messages.

    Raises:
        InputError: the file holds something else; it is left untouched.
    """
    if not path.is_file():
        return
    end = 0
    line = b""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                row = read(json.loads(line))
            except (ValueError, AttributeError, RecursionError) as error:
                if _is_cut(line, begins):
                    break
                if not line.endswith(b"\n"):
                    found = f"a line {number} that is no {kind} of this command"
                    raise foreign_output(path, found, option=option) from error
                raise InputError(
                    f"{path}:{number}: not a {kind} of an earlier run ({error}); "
                    f"choose another {option}, or --overwrite"
                ) from error
            end += len(line)
            yield row
    if path.stat().st_size > end:
        os.truncate(path, end)
    elif end and not line.endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")


def drop_last_row(path: Path) -> None:
    """Take the last line off an output of :func:`finished_rows`, once all rows were taken."""
    end = last = 0
    with path.open("rb") as file:
        for line in file:
            last = len(line)
            end += last
    os.truncate(path, end - last)


def _is_cut(line: bytes, begins: Sequence[bytes]) -> bool:
    """Whether a line without an end may be the beginning of a row, and is not a whole value."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        head = _VALUE.sub(b"", line, count=5)
        fits = any(head.startswith(begin) or begin.startswith(head) for begin in begins)
        return fits and not line.endswith(b"\n")
    return False


def finished_records(path: Path) -> Iterator[dict[str, Any]]:
    """Input records that an earlier run of the same output wrote, as :func:`finished_rows`."""
    return finished_rows(path, _record, kind="record", begins=_RECORD_HEADS)


def without_key(item: object, key: str) -> object:
    """A review or summary as it stood in a record before it got a key.

    >>> without_key({"text": "It leaks.", "claims": ["It leaks."]}, "claims")
    'It leaks.'
    """
    if not isinstance(item, dict):
        return item
    plain = {name: value for name, value in item.items() if name != key}
    return plain["text"] if list(plain) == ["text"] else plain


def _record(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not isinstance(value.get("reviews"), list):
        raise ValueError("no list of reviews")
    return value
