"""Decode JSON so that one bad value costs one record, and its place can be named."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.readers.fields import ID_KEYS, MAX_DEPTH, FieldError, scrub

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Element", "decode_document", "decode_line", "decode_utf8", "first_id"]

_REVIEW_KEYS = frozenset({"reviews", "revs"})
_RECORD_KEYS = _REVIEW_KEYS | {"summaries", "summary", "model_output"}
_MAX_DIGITS = 4300  # Python's own limit for turning digits into an integer
_SPACE = re.compile(r"[ \t\r\n]*")
_FIRST_ID = re.compile(
    r'\s*\{\s*"(?:' + "|".join(ID_KEYS) + r')"\s*:\s*(?:"([^"\\]{1,200})"|(\d{1,40})\s*[,}])'
)

Element = tuple[str, Any]
"""The mark of an element in its document, and its value or the :class:`FieldError` in its place."""


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        _refuse(f"{digits[:20]}…" if len(digits) > 20 else digits)
    return value


def _refuse(constant: str) -> float:
    raise FieldError("", f"the number {constant} is not finite", "leave it out or write null")


def _integer_or_nan(digits: str) -> int | float:
    # A document is decoded before its records are known: the walk over each record finds the NaN.
    return int(digits) if len(digits) <= _MAX_DIGITS else math.nan


_LINE_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)
_DOCUMENT_DECODER = json.JSONDecoder(parse_int=_integer_or_nan)


def decode_utf8(data: bytes) -> str:
    """Decode one line strictly.

    Args:
        data: the line's bytes.

    Returns:
        The text.

    Raises:
        FieldError: the bytes are not UTF-8; the message holds the 1-based place in the line.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 at byte {error.start + 1} of the line"
        raise FieldError("", problem, "save the file as UTF-8") from None


def decode_line(text: str) -> Any:
    """Decode one line of JSON Lines.

    Args:
        text: the line.

    Returns:
        The value, with lone surrogates replaced.

    Raises:
        FieldError: the line is not JSON, or holds a number or a nesting that no writer could hold.
    """
    try:
        value = _LINE_DECODER.decode(text)
    except json.JSONDecodeError as error:
        problem = f"not valid JSON at column {error.pos + 1} ({error.msg})"
        raise FieldError("", problem, "write one JSON object a line") from None
    except RecursionError:
        raise FieldError("", "is nested too deep", "flatten the record") from None
    except ValueError:
        raise FieldError("", "an integer has too many digits", "write it as a string") from None
    return scrub(value) if _needs_scrub(text) else value


def _needs_scrub(text: str) -> bool:
    if "\\ud" in text or "\\uD" in text:
        return True
    return text.count("[") + text.count("{") > MAX_DEPTH


def first_id(data: bytes) -> str | None:
    """The id of a line that cannot be decoded, where the id is its first key.

    >>> first_id(b'{"id": "B01", "reviews": [')
    'B01'
    """
    match = _FIRST_ID.match(data[:1000].decode("utf-8", errors="replace"))
    return None if match is None else match.group(1) or match.group(2)


def decode_document(text: str, path: str) -> Iterator[Element]:
    """Decode a whole file: a list of records, one record, or an object of records by id.

    Args:
        text: the file's text.
        path: its name, for messages.

    Yields:
        Mark and value of each record, in order. An object of records is told from one record by
        its values, which are objects that hold reviews. After a fault in a list, the records
        before it stand.

    Raises:
        InputError: not even a first record can be decoded.
    """
    start = _skip(text, 0)
    try:
        if text.startswith("[", start):
            yield from _list_elements(text, start)
        else:
            yield from _object_elements(text, start)
    except FieldError as fault:
        where = fault.where.replace("line ", f"{path}:", 1)
        raise InputError(f"{where}: {fault.problem}; {fault.fix}") from None


def _object_elements(text: str, start: int) -> Iterator[Element]:
    value, end = _raw(text, start)
    after = _skip(text, end)
    if after < len(text):
        fix = "if the file has one object a line, its format is jsonl"
        raise FieldError(_line_of(text, after), "more text after the JSON document", fix)
    if not is_record_map(value):
        yield ":1", value
        return
    for key, record in value.items():
        mark = f"[{json.dumps(key, ensure_ascii=False)}]"
        yield mark, {"id": key} | record if isinstance(record, dict) else record


def is_record_map(value: object) -> bool:
    """Whether an object maps ids to records instead of being one record."""
    if not isinstance(value, dict) or not _RECORD_KEYS.isdisjoint(value):
        return False
    return any(
        isinstance(record, dict) and not _REVIEW_KEYS.isdisjoint(record)
        for record in value.values()
    )


def _list_elements(text: str, start: int) -> Iterator[Element]:
    cursor = _skip(text, start + 1)
    ended = text.startswith("]", cursor)
    index = 0
    try:
        while not ended:
            value, end = _raw(text, cursor)
            yield f"[{index}]", value
            index += 1
            cursor, ended = _after_element(text, end)
    except FieldError as fault:
        if index == 0:
            raise
        fix = f"{fault.fix}; nothing after this place was read"
        yield f"[{index}]", FieldError(fault.where, fault.problem, fix)


def _after_element(text: str, end: int) -> tuple[int, bool]:
    """Where the next element starts, and whether the list has ended instead."""
    cursor = _skip(text, end)
    if text.startswith(",", cursor):
        return _skip(text, cursor + 1), False
    if text.startswith("]", cursor) and _skip(text, cursor + 1) == len(text):
        return cursor, True
    problem = "expected a comma, or ] at the end of the file"
    raise FieldError(_line_of(text, cursor), problem, "repair the list")


def _raw(text: str, cursor: int) -> tuple[Any, int]:
    try:
        return _DOCUMENT_DECODER.raw_decode(text, cursor)
    except json.JSONDecodeError as error:
        problem = f"not valid JSON at column {error.colno} ({error.msg})"
        raise FieldError(f"line {error.lineno}", problem, "repair the file") from None
    except RecursionError:
        raise FieldError(_line_of(text, cursor), "nested too deep", "flatten the record") from None


def _line_of(text: str, cursor: int) -> str:
    line = text.count("\n", 0, cursor) + 1
    return f"line {line}"


def _skip(text: str, cursor: int) -> int:
    match = _SPACE.match(text, cursor)
    return cursor if match is None else match.end()
