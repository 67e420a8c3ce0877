"""Records out of JSON Lines and of whole JSON files, whatever their layout."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import InputError
from prevalence.readers import native, opinsummeval, summeval_op
from prevalence.readers.fields import (
    FINITE,
    ID_KEYS,
    MAX_DEPTH,
    Draft,
    FieldError,
    Item,
    Position,
    ReadOptions,
    Repeated,
    describe,
    finish,
    leftover,
    read_id,
    scrub,
)
from prevalence.readers.streams import open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from prevalence.readers.streams import Source

__all__ = [
    "LAYOUTS",
    "Element",
    "Layout",
    "decode_document",
    "decode_line",
    "decoded_or_none",
    "document_items",
    "document_text",
    "document_values",
    "first_id",
    "json_lines",
    "line_items",
    "line_values",
    "parse_record",
    "refuse_cut",
]


_REVIEW_KEYS = frozenset({"reviews", "revs"})
_RECORD_KEYS = _REVIEW_KEYS | {"summaries", "summary", "model_output"}
_MAX_DIGITS = 4300  # Python's own limit for turning digits into an integer
_SPACE = re.compile(r"[ \t\r\n]*")
_FIRST_ID = re.compile(
    r'\s*\{\s*"(?:' + "|".join(ID_KEYS) + r')"\s*:\s*(?:"([^"\\]{1,200})"|(\d{1,40})\s*[,}])'
)
_ROW = re.compile(r"[^{}\[\],;\t]*([,;\t])[^{}\[\],;\t]*(?:\1[^{}\[\],;\t]*)+\Z")
"""At least three cells of CSV or its like, without JSON in them."""

Element = tuple[str, Any]
"""The mark of an element in its document, and its value or the :class:`FieldError` in its place."""


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        _refuse(f"{digits[:20]}…" if len(digits) > 20 else digits)
    return value


def _refuse(constant: str) -> float:
    raise FieldError("", f"the number {constant} is not finite", FINITE)


def _integer_or_nan(digits: str) -> int | float:
    # A document is decoded before its records are known: the walk over each record finds the NaN.
    return int(digits) if len(digits) <= _MAX_DIGITS else math.nan


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which the walk over each record finds the keys that stood twice."""
    value = dict(pairs)
    if len(value) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        value |= {key: Repeated() for key, count in counts.items() if count > 1}
    return value


def _line_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = _object(pairs)
    if len(value) < len(pairs):
        scrub(value)
    return value


_LINE_DECODER = json.JSONDecoder(
    parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_line_object
)
_DOCUMENT_DECODER = json.JSONDecoder(parse_int=_integer_or_nan, object_pairs_hook=_object)


def decode_line(text: str) -> Any:
    """Decode one line of JSON Lines.

    Args:
        text: the line.

    Returns:
        The value, with lone surrogates replaced.

    Raises:
        FieldError: the line is not JSON, names a key twice in one object, or holds a number or a
            nesting that no writer could hold.
    """
    try:
        value = _LINE_DECODER.decode(text)
    except json.JSONDecodeError as error:
        problem = f"not valid JSON at column {error.pos + 1} ({error.msg})"
        seen = " (this looks like a row of a table, such as CSV)" if _ROW.match(text) else ""
        raise FieldError("", problem, f"write one JSON object per line{seen}") from None
    except RecursionError:
        raise FieldError("", "is nested too deep", "flatten the record") from None
    except ValueError:
        raise FieldError("", "an integer has too many digits", "write it as a string") from None
    return scrub(value) if _needs_scrub(text) else value


def _needs_scrub(text: str) -> bool:
    if "\\ud" in text or "\\uD" in text:
        return True
    return text.count("[") + text.count("{") > MAX_DEPTH


def decoded_or_none(text: str) -> Any:
    """The value of a JSON text, or None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def refuse_cut(line: str) -> None:
    """Refuse the last line of a file that was cut.

    Args:
        line: a line with its ending, or a whole document.

    Raises:
        FieldError: it ends without a line feed, and in the middle of an object or a list.
    """
    if line.endswith("\n") or not line.lstrip().startswith(("{", "[")):
        return
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        ended = line.rstrip().endswith(("}", "]")) and error.pos < len(line)
        if not ended or error.msg.startswith("Unterminated"):
            fix = "get the whole file, or remove the line"
            raise FieldError("", "the last line is incomplete JSON", fix) from None
    except (ValueError, RecursionError):
        return


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
            value = _decoded(line.text())
        except FieldError as fault:
            fault.identity = first_id(line.data)
            value = fault
        yield position, value


def document_values(text: str, path: str, *, finite: bool = True) -> Iterator[tuple[Position, Any]]:
    """Decode the records of a whole document.

    Args:
        text: the document.
        path: its name.
        finite: whether NaN and infinity are faults.

    Yields:
        Place and value of each record, or the :class:`FieldError` that stands in its place.

    Raises:
        InputError: not even a first record can be decoded.
    """
    for mark, value in decode_document(text, path):
        record = value
        try:
            if not isinstance(value, FieldError):
                record = scrub(value, finite=finite)
        except FieldError as fault:
            fault.identity = _readable_id(value)
            record = fault
        yield Position(path, mark), record


def _decoded(line: str) -> Any:
    try:
        return decode_line(line)
    except FieldError:
        refuse_cut(line)
        raise


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


_RATED_KEYS = frozenset({"expert_annotations", "turker_annotations", "expert", "turker"})
_ANNOTATORS = frozenset({"annot1", "annot2"})


class Layout(NamedTuple):
    """How the fields of one record are named and arranged."""

    known: frozenset[str]
    draft: Callable[[dict[str, Any]], Draft]


_NATIVE = Layout(native.KNOWN, native.draft)
LAYOUTS = {
    "opinsummeval": Layout(opinsummeval.KNOWN, opinsummeval.draft),
    "summeval-op": Layout(summeval_op.KNOWN, summeval_op.draft),
}
"""Layouts that can be asked for by name; otherwise each record's keys decide."""


def line_items(
    source: Source, options: ReadOptions, layout: Layout | None, *, head: bool = True
) -> Iterator[Item]:
    """Read JSON Lines.

    Args:
        source: the open input.
        options: the caller's wishes.
        layout: the layout of every record, or None to tell it from each record's keys.
        head: whether the source is the beginning of a file, by which a file of ratings is told.

    Yields:
        Products and bad records in source order; blank lines are skipped.

    Raises:
        InputError: the file holds ratings and no reviews.
    """
    yield from _items(line_values(source), source.path, options, layout, head=head)


def _items(
    values: Iterator[tuple[Position, Any]],
    path: str,
    options: ReadOptions,
    layout: Layout | None,
    *,
    head: bool,
) -> Iterator[Item]:
    for position, value in values:
        if isinstance(value, FieldError):
            yield value.at(position)
            continue
        if head:
            refuse_ratings(value, path)
            head = False
        yield from record_items(value, position, options, layout)


def document_text(source: Source) -> str:
    """The whole text of an input.

    Args:
        source: the open input.

    Returns:
        The text.

    Raises:
        InputError: the stream is damaged or not UTF-8.
    """
    return "".join(text for _, text in source.texts())


def document_items(
    text: str, path: str, options: ReadOptions, layout: Layout | None
) -> Iterator[Item]:
    """Read a whole JSON document; see :func:`line_items` for the arguments.

    Args:
        text: the document.
        path: its name.
        options: the caller's wishes.
        layout: the layout of every record, or None.

    Yields:
        Products and bad records in source order.

    Raises:
        InputError: the document cannot be decoded, or holds ratings and no reviews.
    """
    yield from _items(document_values(text, path), path, options, layout, head=True)


def _readable_id(value: object) -> str | None:
    try:
        return scrub(read_id(value)[0]) if isinstance(value, Mapping) else None
    except (FieldError, ValueError):
        return None


def parse_record(
    record: Mapping[str, Any], *, source: str, names: Mapping[str, str] | None = None
) -> list[Item]:
    """Build what one mapping in the input-record form holds.

    Args:
        record: the mapping; tuples will do for lists.
        source: where it comes from, for messages, and its id if it has none.
        names: product names by id; they win over the record's own.

    Returns:
        A product, bad records, or both.
    """
    return mapping_items(record, Position(source, ""), ReadOptions({} if names is None else names))


def mapping_items(
    record: Mapping[str, Any], position: Position, options: ReadOptions
) -> list[Item]:
    """Build what one mapping holds that no JSON decoder has checked; see :func:`record_items`."""
    try:
        value = scrub(record)
    except FieldError as fault:
        return [fault.at(position, identity=_readable_id(record))]
    return record_items(value, position, options, None)


def record_items(
    record: object, position: Position, options: ReadOptions, layout: Layout | None
) -> list[Item]:
    """Build what one decoded record holds.

    Args:
        record: the decoded value.
        position: where it stands.
        options: the caller's wishes.
        layout: its layout, or None to tell it from its keys.

    Returns:
        A product, bad records, or both.
    """
    identity: str | None = None
    extra: dict[str, Any] = {}
    try:
        if not isinstance(record, dict):
            raise FieldError("", f"is {describe(record)}", "give one JSON object per product")
        chosen = layout or _layout_of(record)
        extra = leftover(record, chosen.known)
        found, key = read_id(record)
        identity = position.fallback_id if found is None else found
        fields = {name: value for name, value in record.items() if name != key}
        extra = leftover(fields, chosen.known)
        return finish(chosen.draft(fields), identity=identity, position=position, options=options)
    except FieldError as fault:
        return [fault.at(position, identity=identity, extra=extra)]


def _layout_of(record: dict[str, Any]) -> Layout:
    if opinsummeval.matches(record):
        return LAYOUTS["opinsummeval"]
    if summeval_op.matches(record):
        return LAYOUTS["summeval-op"]
    return _NATIVE


def refuse_ratings(record: object, path: str) -> None:
    """Stop at a file of human ratings or metric values, which has no reviews to score against.

    Args:
        record: the first record.
        path: the file's name.

    Raises:
        InputError: the record belongs to such a file.
    """
    if not isinstance(record, dict) or "reviews" in record or "revs" in record:
        return
    rated = not _RATED_KEYS.isdisjoint(record) or (
        bool(record) and all(_is_rating(value) for value in record.values())
    )
    if rated:
        raise InputError(
            f"{path}: holds ratings but no reviews, so there is nothing to score; "
            "give the file that holds the reviews and summaries that were rated"
        )


def _is_rating(value: object) -> bool:
    return isinstance(value, dict) and not _ANNOTATORS.isdisjoint(value)
