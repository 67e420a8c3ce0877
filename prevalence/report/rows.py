"""Files of rows that commands wrote → their JSON objects."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
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
                yield from (_object(_parsed(line), f"{name}:{place}") for place, line in lines)
                return
            whole = _parsed(first + "".join(line for _, line in lines))
            rows = whole if isinstance(whole, list) else [_object(whole, f"{name}:{number}")]
            yield from (_object(row, f"{name}: entry {place}") for place, row in enumerate(rows))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _object(row: Any, where: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise InputError(f"{where}: not a JSON object; give .jsonl or .json rows, not .csv")
    return row
