"""Records out of JSON Lines and of whole JSON files, whatever their layout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import InputError
from prevalence.readers import native, opinsummeval, summeval_op
from prevalence.readers.drafts import Draft, Item, ReadOptions, finish
from prevalence.readers.fields import FieldError, Position, describe, leftover, read_id, scrub
from prevalence.readers.jsontext import decode_document, decode_line, decode_utf8, first_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prevalence.readers.streams import Line, Source

__all__ = ["LAYOUTS", "Layout", "document_items", "document_text", "line_items", "parse_record"]

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
    decoded_any = not head
    for line in source.lines():
        if line.fault is None and not line.data.strip():
            continue
        position = Position(source.path, f":{line.number}")
        try:
            record = _decoded(line)
        except FieldError as fault:
            yield fault.at(position, identity=first_id(line.data))
            continue
        if not decoded_any:
            refuse_ratings(record, source.path)
            decoded_any = True
        yield from record_items(record, position, options, layout)


def _decoded(line: Line) -> Any:
    if line.fault is not None:
        raise FieldError("", line.fault, "repair the file")
    return decode_line(decode_utf8(line.data))


def document_text(source: Source) -> str:
    """The whole text of an input.

    Args:
        source: the open input.

    Returns:
        The text.

    Raises:
        InputError: the stream is damaged or not UTF-8.
    """
    parts = []
    for line in source.lines():
        try:
            if line.fault is not None:
                raise FieldError("", line.fault, "repair the file")
            parts.append(decode_utf8(line.data))
        except FieldError as fault:
            where = f"{source.path}:{line.number}"
            raise InputError(f"{where}: {fault.problem}; {fault.fix}") from None
    return "".join(parts)


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
    for index, (mark, value) in enumerate(decode_document(text, path)):
        position = Position(path, mark)
        try:
            if isinstance(value, FieldError):
                raise value
            record = scrub(value)
        except FieldError as fault:
            yield fault.at(position, identity=_readable_id(value))
            continue
        if index == 0:
            refuse_ratings(record, path)
        yield from record_items(record, position, options, layout)


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
    position = Position(source, "")
    try:
        value = scrub(record)
    except FieldError as fault:
        return [fault.at(position, identity=_readable_id(record))]
    return record_items(value, position, ReadOptions({} if names is None else names), None)


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
            raise FieldError("", f"is {describe(record)}", "give one JSON object a product")
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
