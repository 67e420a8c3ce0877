"""From raw values to a :class:`Product`: the checks that every source format shares."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.readers.fields import FieldError, Position, describe
from prevalence.records import BadRecord, Product, Review, Summary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Draft", "Item", "RawReview", "RawSummary", "ReadOptions", "finish"]

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
    """An unchecked summary, the field it came from, and the key of its text in an object."""

    where: str
    system: str
    value: object
    text_key: str = "text"


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
        good, faults = _summaries(draft.summaries)
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
    return tuple(_review(*item) for item in raw)


def _review(where: str, value: object) -> Review:
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


def _summaries(raw: Sequence[RawSummary]) -> tuple[tuple[Summary, ...], list[FieldError]]:
    if not raw:
        raise FieldError("summaries", "has no summary", _NO_SUMMARY)
    good: dict[str, Summary] = {}
    faults: list[FieldError] = []
    for item in raw:
        try:
            if item.system in good:
                raise _repeated(item)
            good[item.system] = _summary(item)
        except FieldError as fault:
            faults.append(fault)
    return tuple(good.values()), faults


def _repeated(raw: RawSummary) -> FieldError:
    problem = f"is a second summary of the system {raw.system!r}"
    return FieldError(raw.where, problem, "give every system its own name", system=raw.system)


def _summary(raw: RawSummary) -> Summary:
    where, system, value, text_key = raw
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
    return Summary(system, text, {key: item for key, item in value.items() if key != text_key})
