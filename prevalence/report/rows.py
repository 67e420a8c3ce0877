"""Files of rows that commands wrote, and folders of Parquet → their JSON objects."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.readers.fields import FieldError
from prevalence.readers.jsonfiles import decoded_or_none, refuse_cut
from prevalence.readers.streams import (
    PARQUET_MAGIC,
    STDIN,
    EmptyInputError,
    begins_with,
    display,
    open_source,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["is_parquet", "read_rows"]


def is_parquet(path: Path) -> bool:
    """Whether rows are in Parquet: in a folder of parts, or a file that begins like one."""
    if str(path) == STDIN:
        return False
    try:
        if not path.is_file():  # What a pipe has given would be lost.
            return path.is_dir()
        return begins_with(path, PARQUET_MAGIC)
    except (OSError, ValueError):
        return False  # Whoever reads it says why it cannot be read.


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Read rows: JSON Lines, a JSON array, one JSON object over several lines, or Parquet.

    Args:
        path: the file, gzipped or not; "-" for stdin. Or a folder of Parquet parts, or one of them,
            as ``prevalence score --engine ray`` writes them.

    Raises:
        InputError: the file is missing or holds something else; the message says where.
        MissingDependencyError: rows are in Parquet, and pyarrow is not installed.
    """
    if is_parquet(path):
        from prevalence.distributed import part_rows

        yield from (row for _, row in part_rows(path))
        return
    name = display(path)
    with suppress(EmptyInputError), open_source(path) as source:
        lines = ((number, line) for number, line in source.texts() if line.strip())
        for number, first in lines:
            if isinstance(row := decoded_or_none(first), dict):
                yield row
                yield from (_object(line, f"{name}:{place}") for place, line in lines)
                return
            rest = list(lines)
            text = first + "".join(line for _, line in rest)
            whole = decoded_or_none(text)
            if isinstance(whole, list):
                yield from (_checked(row, f"{name}: entry {n}") for n, row in enumerate(whole))
                return
            last = rest[-1][0] if rest else number
            yield _object(text, f"{name}:{number}", end=f"{name}:{last}")


def _object(text: str, where: str, *, end: str | None = None) -> dict[str, Any]:
    """The object that a text is; `end` is where the text ends, if not in the line of `where`."""
    row = decoded_or_none(text)
    if row is None:
        try:
            refuse_cut(text)
        except FieldError as fault:
            raise InputError(f"{end or where}: {fault.problem}; {fault.fix}") from None
    return _checked(row, where)


def _checked(row: Any, where: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise InputError(
            f"{where}: not a JSON object; give .jsonl or .json rows, not .csv; for ratings in a "
            "table, give the result of prevalence meta correlate --format json"
        )
    return row
