"""Documents: one premise with the statements judged against it, and the lines they come from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from prevalence.labelled.targets import Target

__all__ = ["RELATIONS", "Document", "Record", "items_of", "read_records", "text_of"]

RELATIONS = ("review", "product", "sentence")
"""What a premise may be."""

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Document:
    """One premise with the hypotheses judged against it.

    Attributes:
        premise: Text of the review, product statement or sentence.
        hypotheses: Statements; empty for unlabelled text.
        targets: One target a hypothesis.
        group: Product or record identifier, the unit that cross-validation keeps together.
        domain: Where easy negatives are drawn from; empty when unknown.
        relation: `review`, `product` or `sentence`.
        unlabelled: Hypotheses that nobody has judged, for a teacher.
        votes: One row an annotator, with P(entailment) of each hypothesis; empty when unknown.
    """

    premise: str
    hypotheses: tuple[str, ...]
    targets: tuple[Target, ...]
    group: str
    domain: str = ""
    relation: str = "review"
    unlabelled: tuple[str, ...] = ()
    votes: tuple[tuple[float, ...], ...] = ()


def read_records(path: Path) -> Iterator[tuple[str, Record]]:
    """Read JSON Lines.

    Args:
        path: A UTF-8 file of one JSON object a line; empty lines are passed over.

    Yields:
        `FILE:LINE` and the object.

    Raises:
        InputError: The file cannot be read, or a line is no JSON object.
    """
    try:
        # Only line feeds end a line: texts may hold the other separators that splitlines knows.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text ({error})") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            record = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            reason = getattr(error, "msg", "nested too deeply")
            raise InputError(f"{where}: not valid JSON ({reason})") from error
        if not isinstance(record, dict):
            raise InputError(f"{where}: expected a JSON object, found {type(record).__name__}")
        yield where, record


def text_of(record: Record, field: str, where: str) -> str:
    """The non-empty string in a field; anything else there is an InputError."""
    value = record.get(field) if isinstance(record, dict) else None
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: field {field!r} must be a non-empty string")
    return value


def items_of(record: Record, field: str, where: str) -> list[Any]:
    """The list in a field; anything else there is an InputError."""
    value = record.get(field)
    if not isinstance(value, list):
        raise InputError(f"{where}: field {field!r} must be a list")
    return value
