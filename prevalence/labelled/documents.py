"""Documents: one premise with the statements judged against it, and the lines they come from."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import InputError
from prevalence.readers.key_points import NO_LABEL, NOT_ENTAILED, YES_NO
from prevalence.readers.streams import EmptyInputError, open_source

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = [
    "GROUP_FIELDS",
    "RELATIONS",
    "Document",
    "Record",
    "Target",
    "group_named",
    "items_of",
    "majority_target",
    "mean_target",
    "parse_label",
    "parse_target",
    "read_records",
    "text_of",
]


_ROUNDING = 0.01
"""How far three probabilities written with few digits may be from a sum of 1."""
_LONGEST_GROUP = 64
"""Characters. Arrays of groups give each as much room as the longest has."""


class Target(NamedTuple):
    """Probabilities of entailment, neutral and contradiction.

    With `binary` the second and third are unknown apart from their sum, which `neutral` holds.
    """

    entailment: float
    neutral: float
    contradiction: float
    binary: bool


_BINARY_NO = Target(0.0, 1.0, 0.0, True)
_NAMES = {
    "entailment": Target(1.0, 0.0, 0.0, False),
    "neutral": Target(0.0, 1.0, 0.0, False),
    "contradiction": Target(0.0, 0.0, 1.0, False),
}
_NAMES |= {name[0]: target for name, target in _NAMES.items()}
_NAMES |= dict.fromkeys(NOT_ENTAILED, _BINARY_NO)
_NAMES |= {
    name: Target(1.0, 0.0, 0.0, True) if said else _BINARY_NO for name, said in YES_NO.items()
}
_FORMS = (
    "entailment, neutral, contradiction or not_entailment (or e, n, c), 1 or 0, true or false, "
    "yes or no, supported or not supported, a probability, or nothing where there is no label"
)


def parse_target(label: object, where: str) -> Target:
    """Turn one label of any accepted spelling into a target.

    Args:
        label: 0 or 1, a probability of entailment, a label name, or three probabilities. Names
            count in any case; numbers may be text.
        where: File and line for messages.

    Returns:
        The target.

    Raises:
        InputError: The label is none of these.
    """
    if isinstance(label, str):
        name = label.strip().lower()
        if name in _NAMES:
            return _NAMES[name]
        if (number := _number(name)) is None:
            raise InputError(f"{where}: unknown label {label!r}; use {_FORMS}")
        return Target(number, 1.0 - number, 0.0, True)
    if isinstance(label, bool | int | float) and 0 <= label <= 1:
        return Target(float(label), 1.0 - float(label), 0.0, True)
    if _is_distribution(label):
        total = sum(label)  # type: ignore[call-overload]
        first, second, third = (float(value) / total for value in label)  # type: ignore[attr-defined]
        return Target(first, second, third, False)
    raise InputError(
        f"{where}: label {label!r} is not 0, 1, a probability, a label name or three "
        "probabilities that sum to 1"
    )


def _number(text: str) -> float | None:
    """The probability that a text spells, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def parse_label(label: object, where: str) -> Target | None:
    """Turn one label into a target, or None where there is none: null, an empty text, or NaN.

    Args:
        label: As for :func:`parse_target`; or missing.
        where: File and line for messages.

    Raises:
        InputError: There is a label, and it is none that is known.
    """
    missing = (
        label is None
        or (isinstance(label, str) and label.strip().casefold() in NO_LABEL)
        or (isinstance(label, float) and math.isnan(label))
    )
    return None if missing else parse_target(label, where)


def _is_distribution(label: object) -> bool:
    return (
        isinstance(label, list)
        and len(label) == 3
        # An integer beyond the range of floats compares with one, but cannot be added to it.
        and all(isinstance(value, int | float) and 0 <= value <= 1 + _ROUNDING for value in label)
        and abs(sum(label) - 1.0) < _ROUNDING
    )


def mean_target(targets: Sequence[Target]) -> Target:
    """Average the annotators of one pair; one binary voice makes the result binary.

    Args:
        targets: One target an annotator, at least one.

    Returns:
        The mean.
    """
    n = len(targets)
    entailment = sum(t.entailment for t in targets) / n
    if any(t.binary for t in targets):
        return Target(entailment, 1.0 - entailment, 0.0, True)
    neutral = sum(t.neutral for t in targets) / n
    return Target(entailment, neutral, sum(t.contradiction for t in targets) / n, False)


def majority_target(targets: Sequence[Target]) -> Target:
    """What most annotators say: entailment if more than half do; a tie is no entailment.

    Args:
        targets: One target an annotator, at least one.

    Returns:
        A target of zeros and a one. It is binary if one voice is. Otherwise, what is not entailed
        is contradicted if more annotators say so than say neutral.
    """
    entailed = sum(target.entailment > 0.5 for target in targets)
    yes = entailed * 2 > len(targets)
    if any(target.binary for target in targets):
        return Target(float(yes), 1.0 - yes, 0.0, True)
    against = sum(t.entailment <= 0.5 and t.contradiction > t.neutral for t in targets)
    no = not yes and against > len(targets) - entailed - against
    return Target(float(yes), float(not (yes or no)), float(no), False)


GROUP_FIELDS = ("group", "product_id", "id")
"""What names the product of a record, in any layout; the first that is given counts."""

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
        votes: One row an annotator, with P(entailment) of each hypothesis, None where the annotator
            gave no label; empty when unknown.
    """

    premise: str
    hypotheses: tuple[str, ...]
    targets: tuple[Target, ...]
    group: str
    domain: str = ""
    relation: str = "review"
    unlabelled: tuple[str, ...] = ()
    votes: tuple[tuple[float | None, ...], ...] = ()


def read_records(path: Path) -> Iterator[tuple[str, Record]]:
    """Read JSON Lines.

    Args:
        path: A UTF-8 file of one JSON object a line, gzipped or not, or "-" for stdin; empty lines
            are passed over.

    Yields:
        `FILE:LINE` and the object.

    Raises:
        InputError: The file cannot be read, or a line is no JSON object.
    """
    for number, line in _numbered_lines(path):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            deep = isinstance(error, RecursionError)
            usual = "nested too deeply" if deep else "an integer has too many digits"
            reason = getattr(error, "msg", usual)
            raise InputError(f"{where}: not valid JSON ({reason})") from error
        if not isinstance(record, dict):
            raise InputError(f"{where}: expected a JSON object, found {type(record).__name__}")
        yield where, record


def _numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file, none of an empty one."""
    try:
        with open_source(path) as source:
            # Only line feeds end a line: texts may hold the other separators that splitlines knows.
            yield from source.texts()
    except EmptyInputError:
        return


def group_named(text: str) -> str:
    """The group of a text that names no product: itself, or its beginning and a digest if long."""
    if len(text) <= _LONGEST_GROUP:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{text[: _LONGEST_GROUP - len(digest) - 1]} {digest}"


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
