"""Files of rows that commands wrote → their JSON objects."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.readers.fields import FieldError
from prevalence.readers.jsonfiles import refuse_cut
from prevalence.readers.streams import EmptyInputError, display, open_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["read_rows"]


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Read rows: JSON Lines, a JSON array, or one JSON object over several lines.

    Args:
        path: the file, gzipped or not; "-" for stdin.

    Raises:
        InputError: the file is missing or holds something else; the message says where.
    """
    name = display(path)
    with suppress(EmptyInputError), open_source(path) as source:
        lines = ((number, line) for number, line in source.texts() if line.strip())
        for number, first in lines:
            if isinstance(row := _parsed(first), dict):
                yield row
                yield from (_object(line, f"{name}:{place}") for place, line in lines)
                return
            rest = list(lines)
            text = first + "".join(line for _, line in rest)
            whole = _parsed(text)
            if isinstance(whole, list):
                yield from (_checked(row, f"{name}: entry {n}") for n, row in enumerate(whole))
                return
            last = rest[-1][0] if rest else number
            yield _object(text, f"{name}:{number}", end=f"{name}:{last}")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _object(text: str, where: str, *, end: str | None = None) -> dict[str, Any]:
    """The object that a text is; `end` is where the text ends, if not in the line of `where`."""
    row = _parsed(text)
    if row is None:
        try:
            refuse_cut(text)
        except FieldError as fault:
            raise InputError(f"{end or where}: {fault.problem}; {fault.fix}") from None
    return _checked(row, where)


def _checked(row: Any, where: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise InputError(f"{where}: not a JSON object; give .jsonl or .json rows, not .csv")
    return row
