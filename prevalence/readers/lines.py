"""JSON Lines of any kind, one value at a time, each with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.readers.fields import FieldError, Position
from prevalence.readers.jsontext import decode_line, decode_utf8
from prevalence.readers.streams import open_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from prevalence.readers.streams import Source

__all__ = ["json_lines", "line_values"]


def line_values(source: Source) -> Iterator[tuple[Position, Any]]:
    """Decode the lines of an open input; blank ones are passed over.

    Only line feeds end a line: texts may hold the other separators that Unicode knows.

    Yields:
        Place and value of each line, or the :class:`FieldError` that stands in its place.
    """
    for line in source.lines():
        if line.fault is None and not line.data.strip():
            continue
        position = Position(source.path, f":{line.number}")
        try:
            if line.fault is not None:
                raise FieldError("", line.fault, "repair the file")
            yield position, decode_line(decode_utf8(line.data))
        except FieldError as fault:
            yield position, fault


def json_lines(path: str | Path) -> Iterator[tuple[Position, Any]]:
    """Read a JSON Lines file, of which every line must be sound.

    Args:
        path: the file, gzipped or not; UTF-8, with or without a byte order mark.

    Yields:
        Place and value of each line.

    Raises:
        InputError: the file cannot be read, or a line cannot be decoded; the message names it.
    """
    with open_source(path) as source:
        for position, value in line_values(source):
            if isinstance(value, FieldError):
                raise InputError(value.at(position).error)
            yield position, value
