"""The output of an earlier run as a file: its rows, and its end where the run was killed."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, TypeVar

from prevalence.errors import InputError, foreign_output
from prevalence.scored import SCHEMA, ScoredSummary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

__all__ = ["drop_last_row", "finished_records", "finished_rows", "without_key"]

Line = TypeVar("Line")

_ROW_HEADS = tuple(f'{{"schema": {SCHEMA}, "id": , "{key}": '.encode() for key in ("system", "a"))
_RECORD_HEADS = (b'{"id": , "name": , "reviews": [', b'{"id": , "reviews": [')
_VALUE = re.compile(rb'(?<=": )(?:"(?:[^"\\]|\\.)*(?:"|\\?\Z)|null|n(?:u|ul)?\Z)', re.DOTALL)
"""A text or null in a row, or what is there of it where the row was cut."""


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
