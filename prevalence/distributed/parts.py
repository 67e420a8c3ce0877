"""Rows ↔ a folder of Parquet files, each of which is there as a whole or not at all."""

from __future__ import annotations

import json
import time
from functools import partial
from operator import attrgetter, methodcaller
from typing import IO, TYPE_CHECKING, Any, Self

from prevalence.errors import InputError, first_line
from prevalence.files import lock, named_output
from prevalence.readers.parquet import parquet
from prevalence.readers.streams import display
from prevalence.scored import PROFILE_FIGURES, SENTENCE_KINDS, ScoredSummary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

__all__ = ["COLUMNS", "PART_ROWS", "PartsWriter", "finished_count", "finished_parts", "part_rows"]

PART_ROWS = 4_096
_SECONDS = 60.0
_BATCH = 256
_ROW = "row"


def _figure(name: str, row: ScoredSummary) -> float | None:
    return getattr(row.profile, name, None)


_Columns = dict[str, tuple[str, "Callable[[ScoredSummary], Any]"]]


def _own(kind: str, *names: str) -> _Columns:
    return {name: (kind, attrgetter(name)) for name in names}


COLUMNS: _Columns = {
    **_own("string", "id", "system"),
    **_own("float64", "prevalence", "soft_prevalence", "corrected", "ceiling"),
    **_own("int64", "n_reviews", "n_sentences"),
    **{kind: ("int64", methodcaller("sentence_count", kind)) for kind in SENTENCE_KINDS},
    **_own("int64", "contradictions", "self_contradictions"),
    **_own("string", "error", "warning", "input_digest", "signature"),
    **{name: ("float64", partial(_figure, name)) for name in PROFILE_FIGURES},
    _ROW: ("large_string", ScoredSummary.to_json_line),
}
"""Columns of a part, their types and values; ``row`` is the whole row as JSON."""


class PartsWriter:
    """Writes rows as ``part-00000.parquet`` and so on, in order.

    A part is written when there are enough rows, when a row comes a minute after the last part, and
    when the block ends, however it ends. Until then no other run writes to the folder.

    Args:
        folder: made if it is not there.
        continues: keep the parts of an earlier run and write the next; otherwise they are removed
            when the first part is written.
        rows: in a part at most.

    Raises:
        InputError: the folder is a file, or holds something else than parts, or another run writes
            to it.
        BackendError: the folder cannot be written, be it now or later.
        MissingDependencyError: pyarrow is not installed.
    """

    def __init__(self, folder: Path, *, continues: bool, rows: int = PART_ROWS) -> None:
        self._parquet = parquet()
        self._folder = folder
        _parts(folder)  # A folder that is refused stays as it is.
        with self._named():
            folder.mkdir(exist_ok=True)
            self._lock = _locked(folder)
        earlier = _parts(folder)
        self._next = len(earlier) if continues else 0
        self._replaced = [] if continues else earlier
        self._most = rows
        self._rows: list[ScoredSummary] = []
        self._written = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, row: ScoredSummary) -> None:
        """Take one row."""
        self._rows.append(row)
        if len(self._rows) >= self._most or time.monotonic() - self._written > _SECONDS:
            self._write_part()

    def close(self) -> None:
        """Write the rows taken since the last part, if any, and let other runs write."""
        try:
            self._write_part()
        finally:
            self._lock.close()

    def _write_part(self) -> None:
        if not self._rows:
            return
        import pyarrow as pa

        columns = {
            name: pa.array([value(row) for row in self._rows], getattr(pa, kind)())
            for name, (kind, value) in COLUMNS.items()
        }
        path = self._folder / f"part-{self._next:05}.parquet"
        unfinished = path.with_name(f".{path.name}")
        with self._named():
            self._parquet.write_table(pa.table(columns), unfinished)
            # From the last on, so that those left when a run is killed go together.
            while self._replaced:
                self._replaced.pop().unlink()
            unfinished.replace(path)
        self._next += 1
        self._rows.clear()
        self._written = time.monotonic()

    def _named(self) -> AbstractContextManager[None]:
        return named_output(
            self._folder,
            "the parts already written are kept, and the same command continues from there",
        )


def _locked(folder: Path) -> IO[str]:
    """An open file of the folder, whose lock is held until it is closed."""
    file = (folder / ".lock").open("a", encoding="utf-8")
    try:
        lock(file, folder)
    except BaseException:
        file.close()
        raise
    return file


def finished_parts(folder: Path) -> Iterator[ScoredSummary]:
    """Rows of an earlier run of the same output, in order.

    Args:
        folder: of :class:`PartsWriter`.

    Raises:
        InputError: it holds something else.
    """
    for path in _parts(folder):
        try:
            for _, row in _rows_of(path):
                yield ScoredSummary.from_json(row)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise _foreign(path, error) from error


def part_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows for those who only read them; a few hundred are in memory at a time.

    Args:
        path: a folder of :class:`PartsWriter`, also while it is written, or one of its parts.

    Yields:
        Where a row stands, for messages, and its JSON object, in the order of the parts.

    Raises:
        InputError: there is no part, or one that is damaged or was not written here.
        MissingDependencyError: pyarrow is not installed.
    """
    parts = [path]
    if path.is_dir():
        found = (one for one in path.iterdir() if not one.name.startswith((".", "_")))
        parts = sorted(found, key=_number)
        if not parts or any(one.suffix != ".parquet" for one in parts):
            raise InputError(
                f"{display(path)}: is a folder; name the files in it, or give a folder of Parquet "
                "parts as prevalence score --engine ray writes it"
            )
    for part in parts:
        yield from _rows_of(part)


def _rows_of(part: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    module, place = parquet(), 0
    try:
        with module.ParquetFile(part) as file:
            if _ROW not in file.schema_arrow.names:
                raise InputError(
                    f"{display(part)}: has no column {_ROW}; give rows as prevalence score "
                    "--engine ray writes them"
                )
            for batch in file.iter_batches(batch_size=_BATCH, columns=[_ROW]):
                for text in batch.column(_ROW).to_pylist():
                    place += 1
                    where = f"{display(part)}: row {place}"
                    yield where, _row_of(text, where)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{display(part)}: cannot be read ({first_line(error)})") from error


def _row_of(text: object, where: str) -> dict[str, Any]:
    try:
        row = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise InputError(f"{where}: column {_ROW} holds no JSON object")
    return row


def finished_count(folder: Path) -> int:
    """How many rows :func:`finished_parts` would give; the footers of the parts say it.

    Raises:
        InputError: the folder holds something else.
    """
    count = 0
    for path in _parts(folder):
        try:
            count += parquet().read_metadata(path).num_rows
        except (OSError, ValueError) as error:
            raise _foreign(path, error) from error
    return count


def _foreign(path: Path, error: Exception) -> InputError:
    return InputError(
        f"{path}: not a part of an earlier run ({error}); choose another --output, or --overwrite"
    )


def _number(path: Path) -> tuple[int, str]:
    """What parts are sorted by; names have five digits, and more from the 100,000th on."""
    digits = path.stem.removeprefix("part-")
    return int(digits) if digits.isdecimal() else -1, path.name


def _parts(folder: Path) -> list[Path]:
    if folder.is_file():
        raise InputError(f"{folder}: is a file; Parquet goes to a folder of parts")
    found = folder.iterdir() if folder.is_dir() else ()
    left = sorted((path for path in found if not path.name.startswith((".", "_"))), key=_number)
    for number, path in enumerate(left):
        if path.name != f"part-{number:05}.parquet":
            raise InputError(
                f"{folder}: holds {path.name}, which is not part {number} of an earlier run; "
                "choose another --output"
            )
    return left
