"""The project's own record: reviews, and one summary or summaries by system."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from prevalence.readers.fields import Draft, FieldError, RawReview, RawSummary, describe, leftover
from prevalence.records import CLAIMS

__all__ = ["KNOWN", "draft", "listed_reviews", "listed_summaries"]

KNOWN = frozenset({"name", "reviews", "summaries", "summary", "metadata", "claims"})
"""The keys that mean something; all others are passed through."""

DEFAULT_SYSTEM = "summary"


def draft(record: dict[str, Any]) -> Draft:
    """Take a native record apart.

    Args:
        record: the decoded object, its id removed.

    Returns:
        The draft; ``{"human": [a, b]}`` becomes the systems human.1 and human.2.

    Raises:
        FieldError: the record has no reviews, or two kinds of summaries.
    """
    known = KNOWN if record.get("summary") is None else KNOWN | {"system"}
    return Draft(
        reviews=_reviews(record),
        summaries=listed_summaries(record),
        name=record.get("name"),
        metadata=record.get("metadata"),
        extra=leftover(record, known),
    )


def _reviews(record: dict[str, Any]) -> list[RawReview]:
    if "reviews" in record:
        return listed_reviews(record["reviews"])
    alike = get_close_matches("reviews", [key.casefold() for key in record], 1, 0.8)
    meant = [key for key in record if key.casefold() in alike]
    rename = f"; rename {meant[0]!r} if it holds them" if meant else ""
    raise FieldError("reviews", "is missing", f"give a list of review texts{rename}")


def listed_reviews(value: object) -> list[RawReview]:
    """The reviews of a list, each with its place.

    Args:
        value: what stands under "reviews".

    Returns:
        The unchecked reviews.

    Raises:
        FieldError: the value is not a list.
    """
    if isinstance(value, list):
        return [RawReview(f"reviews[{index}]", item) for index, item in enumerate(value)]
    raise FieldError("reviews", f"is {describe(value)}", "give a list of review texts")


def listed_summaries(record: dict[str, Any]) -> list[RawSummary]:
    """The unchecked summaries of a record, each with the claims that it gives for it.

    Raises:
        FieldError: they are of two kinds or no object, or the claims are of none of them.
    """
    return _with_claims(_summaries(record), record.get("claims"))


def _summaries(record: dict[str, Any]) -> list[RawSummary]:
    single, several = record.get("summary"), record.get("summaries")
    if single is not None and several is not None:
        raise FieldError("summaries", 'stands beside "summary"', "keep one of the two")
    if single is not None:
        return _expanded("summary", _system(record.get("system")), single)
    if several is None:
        return []
    if not isinstance(several, dict):
        fix = 'give an object {"SYSTEM": "summary text"}'
        raise FieldError("summaries", f"is {describe(several)}", fix)
    return [
        raw
        for system, value in several.items()
        for raw in _expanded(f"summaries.{system}", system, value)
    ]


def _with_claims(summaries: list[RawSummary], claims: object) -> list[RawSummary]:
    """The summaries, each with the claims that the record gives for it."""
    if claims is None:
        return summaries
    if isinstance(claims, list) and len(summaries) == 1:
        claims = {summaries[0].system: claims}
    if not isinstance(claims, dict):
        fix = 'give {"SYSTEM": ["statement", ...]}, or a list beside a single "summary"'
        raise FieldError("claims", f"is {describe(claims)}", fix)
    unknown = [system for system in claims if system not in {raw.system for raw in summaries}]
    if unknown:
        fix = "name a system that has a summary"
        raise FieldError(f"claims.{unknown[0]}", "belongs to no summary of the record", fix)
    return [_claimed(raw, claims[raw.system]) if raw.system in claims else raw for raw in summaries]


def _claimed(raw: RawSummary, claims: object) -> RawSummary:
    value = raw.value
    if isinstance(value, str):
        return raw._replace(value={raw.text_key: value, CLAIMS: claims})
    if isinstance(value, dict) and CLAIMS in value:
        fix = "keep one of the two"
        raise FieldError(f"claims.{raw.system}", f'stands beside "{raw.where}.claims"', fix)
    return raw._replace(value={**value, CLAIMS: claims}) if isinstance(value, dict) else raw


def _system(value: object) -> str:
    if value is None:
        return DEFAULT_SYSTEM
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise FieldError("system", f"is {describe(value)}", "give the system's name as a string")


def _expanded(where: str, system: str, value: object) -> list[RawSummary]:
    if not isinstance(value, list) or not value:
        return [RawSummary(where, system, value)]
    return [
        RawSummary(f"{where}[{index}]", f"{system}.{index + 1}", item)
        for index, item in enumerate(value)
    ]
