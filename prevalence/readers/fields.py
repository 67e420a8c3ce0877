"""Fields of a record, checked: what each may hold, where it stands, and the product they make."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.records import CLAIMS, BadRecord, Product, Review, Summary, well_formed

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "FINITE",
    "ID_KEYS",
    "MAX_DEPTH",
    "Draft",
    "FieldError",
    "Item",
    "Position",
    "RawReview",
    "RawSummary",
    "ReadOptions",
    "Repeated",
    "checked_summaries",
    "describe",
    "escaped",
    "finish",
    "leftover",
    "read_id",
    "read_review",
    "scrub",
]


ID_KEYS = ("id", "product_id", "asin", "prod_id", "case")
"""Names under which the known sources keep a product's identifier; the first present wins."""

MAX_DEPTH = 100
"""Deeper nesting is refused: it means nothing in a review record and breaks JSON writers."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")

FINITE = 'leave it out, or write null for a number and "" for a text'
"""What to do about NaN and infinity, whose place does not say what should stand there."""

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

    Attributes:
        identity: the id of a record that cannot be decoded, if it can be told all the same.
        line: where it stands, if not on the line where the record begins.
    """

    def __init__(self, where: str, problem: str, fix: str, *, system: str | None = None) -> None:
        super().__init__(where, problem, fix)
        self.where = where
        self.problem = problem
        self.fix = fix
        self.system = system
        self.identity: str | None = None
        self.line: int | None = None

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
        source = position.source if self.line is None else f"{position.path}:{self.line}"
        parts = [source, self.where, f"{self.problem}; {self.fix}"]
        return BadRecord(
            error=escaped(": ".join(part for part in parts if part)),
            id=identity or self.identity,
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


class Repeated:
    """Stands for the values of a key that an object in JSON holds more than once."""


def scrub(value: Any, *, finite: bool = True) -> Any:
    """Copy a value into one that every JSON writer can hold.

    Args:
        value: what the JSON decoder returned, or a caller's mapping.
        finite: whether NaN and infinity are faults; they stay as they are otherwise.

    Returns:
        The same value with each lone surrogate replaced by U+FFFD, and tuples as lists.

    Raises:
        FieldError: a number is not finite, a key stood twice, the nesting is deeper than
            ``MAX_DEPTH``, or JSON has no such type.
    """
    return _scrubbed(value, "", 0, finite)


def _scrubbed(value: Any, place: str, depth: int, finite: bool) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping | list | tuple):
        return _scrubbed_inside(value, place, depth, finite)
    if value is None or (isinstance(value, int) and value.bit_length() <= _MAX_BITS):
        return value
    where = place.removeprefix(".")
    if isinstance(value, int):
        raise FieldError(where, "has too many digits", "write it as a string")
    if isinstance(value, Repeated):
        raise FieldError(where, "appears twice in one object", "keep one of the two")
    if not isinstance(value, float):
        raise FieldError(where, f"is a {type(value).__name__}", "give a JSON value")
    if finite and not math.isfinite(value):
        raise FieldError(where, "is not a finite number", FINITE)
    return value


def _scrubbed_inside(
    value: Mapping[Any, Any] | list[Any] | tuple[Any, ...], place: str, depth: int, finite: bool
) -> Any:
    if depth >= MAX_DEPTH:
        raise FieldError("", f"is nested deeper than {MAX_DEPTH} levels", "flatten the record")
    if not isinstance(value, Mapping):
        return [_scrubbed(v, f"{place}[{i}]", depth + 1, finite) for i, v in enumerate(value)]
    for key in value:
        if not isinstance(key, str):
            problem = f"has a key that is a {type(key).__name__}"
            raise FieldError(place.removeprefix("."), problem, "give keys that are strings")
    return {
        well_formed(key): _scrubbed(item, f"{place}.{key}", depth + 1, finite)
        for key, item in value.items()
    }


Item = Product | BadRecord
"""What readers yield."""

_NO_SUMMARY = 'give "summary": "..." or "summaries": {"SYSTEM": "..."}'


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the caller wants of every record.

    Attributes:
        names: product names by id; they win over names in the source.
        reviews_only: leave summaries aside, and accept records that have none.
        unsummarised: accept records that have no summary; others keep theirs.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    reviews_only: bool = False
    unsummarised: bool = False

    @property
    def needs_summaries(self) -> bool:
        """Whether a record without a summary is a fault."""
        return not (self.reviews_only or self.unsummarised)


class RawReview(NamedTuple):
    """An unchecked review and the field it came from."""

    where: str
    value: object


class RawSummary(NamedTuple):
    """An unchecked summary, the field it came from, and the key of its text in an object.

    ``line`` is where it stands, if not on the line where its record begins; ``fix`` says what to do
    if its system has one already.
    """

    where: str
    system: str
    value: object
    text_key: str = "text"
    line: int | None = None
    fix: str = "give every system its own name"


@dataclass(frozen=True, slots=True)
class Draft:
    """A record taken apart but not yet checked."""

    reviews: Sequence[RawReview]
    summaries: Sequence[RawSummary]
    name: object = None
    metadata: object = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def finish(draft: Draft, *, identity: str, position: Position, options: ReadOptions) -> list[Item]:
    """Check a draft and build what it holds.

    Args:
        draft: the record's parts.
        identity: the product's id.
        position: where the record stands.
        options: the caller's wishes.

    Returns:
        The product with its good summaries, if it has any, and a bad record for each other one.

    Raises:
        FieldError: the record as a whole cannot be used.
    """
    reviews = _reviews(draft.reviews)
    metadata = _metadata(draft.metadata)
    name = options.names.get(identity) or _name(draft.name)
    good: tuple[Summary, ...] = ()
    bad: list[Item] = []
    if options.needs_summaries or (draft.summaries and not options.reviews_only):
        good, faults = checked_summaries(draft.summaries)
        bad = [fault.at(position, identity=identity, extra=draft.extra) for fault in faults]
        if not good and options.needs_summaries:
            return bad
    product = Product(
        id=identity,
        reviews=reviews,
        summaries=good,
        name=name,
        metadata=metadata,
        extra=draft.extra,
        source=position.source,
    )
    return [product, *bad]


def _reviews(raw: Sequence[RawReview]) -> tuple[Review, ...]:
    if not raw:
        raise FieldError("reviews", "has no review", "a product needs at least one")
    return tuple(read_review(*item) for item in raw)


def read_review(where: str, value: object) -> Review:
    """The review that a decoded value is: a text, or an object that holds one.

    Raises:
        FieldError: it is none; ``where`` says which.
    """
    if isinstance(value, str):
        return Review(value)
    if not isinstance(value, dict):
        raise FieldError(where, f"is {describe(value)}", 'give a string or {"text": "..."}')
    text = value.get("text")
    if not isinstance(text, str):
        found = describe(text) if "text" in value else "missing"
        raise FieldError(f"{where}.text", f"is {found}", "give a string")
    simplified = value.get("simplified")
    if simplified is not None and not isinstance(simplified, str):
        found = describe(simplified)
        raise FieldError(f"{where}.simplified", f"is {found}", "give a string, or leave it out")
    extra = {key: item for key, item in value.items() if key not in ("text", "simplified")}
    identity = extra.get("id")
    if isinstance(identity, str) or type(identity) is int:
        return Review(text, str(extra.pop("id")), extra, simplified)
    return Review(text, None, extra, simplified)


def _name(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and value.strip():
        return value
    raise FieldError("name", f"is {describe(value)}", "give a short name, or leave it out")


def _metadata(value: object) -> Mapping[str, Any]:
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise FieldError("metadata", f"is {describe(value)}", "give an object, or leave it out")


def checked_summaries(raw: Sequence[RawSummary]) -> tuple[tuple[Summary, ...], list[FieldError]]:
    """The summaries of one product that can be used, and what is wrong with the others.

    Raises:
        FieldError: there is none at all.
    """
    if not raw:
        raise FieldError("summaries", "has no summary", _NO_SUMMARY)
    good: dict[str, Summary] = {}
    faults: list[FieldError] = []
    for item in raw:
        try:
            if item.system in good:
                problem = f"is a second summary of the system {item.system!r}"
                raise FieldError(item.where, problem, item.fix, system=item.system)
            good[item.system] = _summary(item)
        except FieldError as fault:
            fault.line = item.line
            faults.append(fault)
    return tuple(good.values()), faults


def _summary(raw: RawSummary) -> Summary:
    where, system, value, text_key, *_ = raw
    if not system.strip():
        raise FieldError(where, "the system's name is empty", "name the system", system=system)
    if isinstance(value, str):
        return Summary(system, value)
    if not isinstance(value, dict):
        fix = f'give a string or {{"{text_key}": "..."}}'
        problem = "is an empty list" if value == [] else f"is {describe(value)}"
        raise FieldError(where, problem, fix, system=system)
    text = value.get(text_key)
    if not isinstance(text, str):
        found = describe(text) if text_key in value else "missing"
        raise FieldError(f"{where}.{text_key}", f"is {found}", "give a string", system=system)
    extra = {key: item for key, item in value.items() if key != text_key}
    _check_claims(f"{where}.{CLAIMS}", extra.get(CLAIMS), system)
    return Summary(system, text, extra)


def _check_claims(where: str, claims: object, system: str) -> None:
    if claims is None:
        return
    if not isinstance(claims, list):
        fix = "give a list of statements, or leave it out"
        raise FieldError(where, f"is {describe(claims)}", fix, system=system)
    # Most records give no claims, and the rules for claims take a tenth of a second to load.
    from prevalence.claims import stated_claim

    for place, claim in enumerate(claims):
        if stated_claim(claim) is None:
            fix = 'give a statement, or {"text": "It leaks.", "quantity": "most"}'
            raise FieldError(f"{where}[{place}]", f"is {describe(claim)}", fix, system=system)
