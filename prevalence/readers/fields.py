"""What all readers share about single values: faults, positions, checks and repair."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from prevalence.characters import well_formed
from prevalence.records import BadRecord

__all__ = [
    "ID_KEYS",
    "MAX_DEPTH",
    "FieldError",
    "Position",
    "describe",
    "escaped",
    "leftover",
    "read_id",
    "scrub",
]

ID_KEYS = ("id", "product_id", "asin", "prod_id", "case")
"""Names under which the known sources keep a product's identifier; the first present wins."""

MAX_DEPTH = 100
"""Deeper nesting is refused: it means nothing in a review record and breaks JSON writers."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")

_SHOWN = 40
_MAX_BITS = 14_000  # Python writes integers of at most 4300 digits, which is 14,284 bits


@dataclass(frozen=True, slots=True)
class Position:
    """Where a record stands: the file as the user named it, and a mark such as ":12" or "[12]"."""

    path: str
    mark: str

    @property
    def source(self) -> str:
        """The position for messages."""
        return f"{self.path}{self.mark}"

    @property
    def fallback_id(self) -> str:
        """The id of a record that has none; free of folders, so that it moves with the file."""
        return f"{PurePath(self.path).name}{self.mark}"


class FieldError(Exception):
    """Something wrong in one record; turned into a :class:`BadRecord` where the place is known.

    Args:
        where: the field, in the source's own terms ("reviews[3]"), or "" for the whole record.
        problem: what was found there.
        fix: what to do about it.
        system: the summary's system where only one summary is concerned.
    """

    def __init__(self, where: str, problem: str, fix: str, *, system: str | None = None) -> None:
        super().__init__(where, problem, fix)
        self.where = where
        self.problem = problem
        self.fix = fix
        self.system = system

    def at(
        self,
        position: Position,
        *,
        identity: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> BadRecord:
        """The fault as a record.

        Args:
            position: where the record stands.
            identity: the record's id, if known.
            extra: the record's unknown keys.

        Returns:
            The record with a message of one line.
        """
        parts = [position.source, self.where, f"{self.problem}; {self.fix}"]
        return BadRecord(
            error=escaped(": ".join(part for part in parts if part)),
            id=identity,
            system=self.system,
            source=position.source,
            extra={} if extra is None else extra,
        )


def escaped(text: str) -> str:
    """Escape control characters, and replace what UTF-8 cannot hold."""
    printable = _CONTROL.sub(lambda match: ascii(match.group())[1:-1], text)
    return well_formed(printable)


def describe(value: object) -> str:
    """Name a JSON value for a message: its kind, and the value itself where it is short.

    >>> describe(None), describe(3.5), describe("  "), describe([1])
    ('null', 'the number 3.5', 'an empty string', 'a list')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        text = repr(value) if isinstance(value, float) or abs(value) < 10**_SHOWN else "too long"
        return f"the number {text}"
    if isinstance(value, str):
        return f"the string {_shortened(value)!r}" if value.strip() else "an empty string"
    return "an object" if isinstance(value, dict) else "a list"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def read_id(record: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Find a record's identifier.

    Args:
        record: the decoded object.

    Returns:
        The identifier (integers become strings) and the key that held it; None and None where
        no key holds one.

    Raises:
        FieldError: the identifier is neither a string nor an integer.
    """
    for key in ID_KEYS:
        value = record.get(key)
        if value is None or value == "":
            continue
        if isinstance(value, str):
            return value, key
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value), key
        raise FieldError(key, f"is {describe(value)}", "give a string or an integer")
    return None, None


def leftover(record: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """The keys that the reader does not know, in source order."""
    return {key: value for key, value in record.items() if key not in known}


@dataclass(slots=True)
class _Scrubber:
    """One walk over a decoded value; ``trail`` is the way down to where it stands."""

    trail: list[str] = field(default_factory=list)

    def walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return well_formed(value)
        if isinstance(value, float) and not math.isfinite(value):
            raise FieldError(self._place(), "is not a finite number", "leave it out or write null")
        if isinstance(value, Mapping | list | tuple):
            return self._walk_inside(value)
        if isinstance(value, int) and value.bit_length() > _MAX_BITS:
            raise FieldError(self._place(), "has too many digits", "write it as a string")
        if value is None or isinstance(value, int | float):
            return value
        raise FieldError(self._place(), f"is a {type(value).__name__}", "give a JSON value")

    def _walk_inside(self, value: Mapping[str, Any] | list[Any] | tuple[Any, ...]) -> Any:
        if len(self.trail) >= MAX_DEPTH:
            raise FieldError("", f"is nested deeper than {MAX_DEPTH} levels", "flatten the record")
        if not isinstance(value, Mapping):
            return [self._step(f"[{index}]", item) for index, item in enumerate(value)]
        return {self._key(key): self._step(f".{key}", item) for key, item in value.items()}

    def _key(self, key: object) -> str:
        if isinstance(key, str):
            return well_formed(key)
        problem = f"has a key that is a {type(key).__name__}"
        raise FieldError(self._place(), problem, "give keys that are strings")

    def _step(self, name: str, value: Any) -> Any:
        self.trail.append(name)
        cleaned = self.walk(value)
        self.trail.pop()
        return cleaned

    def _place(self) -> str:
        return "".join(self.trail).removeprefix(".")


def scrub(value: Any) -> Any:
    """Copy a value into one that every JSON writer can hold.

    Args:
        value: what the JSON decoder returned, or a caller's mapping.

    Returns:
        The same value with each lone surrogate replaced by U+FFFD, and tuples as lists.

    Raises:
        FieldError: a number is not finite, the nesting is deeper than ``MAX_DEPTH``, or JSON
            has no such type.
    """
    return _Scrubber().walk(value)
