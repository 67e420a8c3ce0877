"""TOML files that a user may write: read within bounds, and their values checked by type."""

from __future__ import annotations

import math
import tomllib
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["decode_toml", "read_text", "read_toml", "taken", "texts_of"]

_MOST_CHARACTERS = 1 << 20
_MOST_DOTS = 1000
"""In one line: the time that a dotted key takes to read grows with the square of its parts."""

_NAMES = {str: "text", bool: "true or false", int: "whole number", float: "number", dict: "table"}


def read_toml(path: Path) -> dict[str, Any]:
    """Decode a TOML file.

    Raises:
        InputError: it cannot be read.
    """
    return decode_toml(read_text(path), path)


def read_text(path: Path) -> str:
    """The text of a small file in UTF-8, with or without a byte order mark.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_MOST_CHARACTERS + 1)
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 at byte {error.start + 1}"
        raise InputError(f"{path}: {problem}; save the file as UTF-8") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{str(path)!r}: cannot be read ({reason})") from error
    if len(text) > _MOST_CHARACTERS:
        raise InputError(f"{path}: is longer than {_MOST_CHARACTERS:,} characters; shorten it")
    return text


def decode_toml(text: str, path: Path) -> dict[str, Any]:
    """Decode TOML.

    Args:
        text: what the file holds.
        path: the file, for messages.

    Raises:
        InputError: it is no TOML, or has a line that would take very long to read.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if line.count(".") > _MOST_DOTS:
            raise InputError(f"{path}:{number}: more than {_MOST_DOTS:,} dots in a line; break it")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not TOML ({error})") from error


def taken(row: Mapping[str, Any], key: str, kind: type, where: object, default: Any) -> Any:
    """The value under a key, which must have one type.

    Args:
        row: a table.
        key: its key.
        kind: ``str``, ``bool``, ``int``, ``float`` (finite; whole numbers will do) or ``dict``.
        where: file and table, for messages.
        default: what stands for a missing value.

    Raises:
        InputError: the value is of another type.
    """
    value = row.get(key, default)
    if value is default:
        return value
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or (isinstance(value, float) and not math.isfinite(value)):
        raise InputError(f"{where}: {key} is {value!r}; give a {_NAMES[kind]}")
    return value


def texts_of(row: Mapping[Any, Any], key: object, where: object, default: tuple[str, ...]) -> Any:
    """The list of texts under a key, as a tuple.

    Raises:
        InputError: the value is no list of texts.
    """
    value = row.get(key, list(default))
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise InputError(f"{where}: {key} is {value!r}; give a list of texts")
    return tuple(value)
