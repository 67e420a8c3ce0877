"""OpinSummEval's released model outputs: revs, summ (the reference), case, model_output."""

from __future__ import annotations

import re
from typing import Any

from prevalence.readers.fields import Draft, FieldError, RawReview, RawSummary, describe, leftover

__all__ = ["KNOWN", "draft", "matches", "numbered_reviews"]

KNOWN = frozenset({"revs", "summ", "model_output", "name", "metadata"})
"""The keys that mean something; all others are passed through."""

_NUMBER = re.compile(r"(\d+)$")


def matches(record: dict[str, Any]) -> bool:
    """Whether a record has this layout."""
    return "model_output" in record and "reviews" not in record


def draft(record: dict[str, Any]) -> Draft:
    """Take a record apart.

    Args:
        record: the decoded object, its id removed.

    Returns:
        The draft; the reference is kept as extra key "reference", not scored as a system.

    Raises:
        FieldError: reviews or outputs are missing.
    """
    outputs = record.get("model_output")
    if not isinstance(outputs, dict):
        found = describe(outputs) if "model_output" in record else "missing"
        raise FieldError("model_output", f"is {found}", 'give an object {"MODEL": "summary text"}')
    extra = leftover(record, KNOWN)
    if "summ" in record:
        extra["reference"] = record["summ"]
    return Draft(
        reviews=numbered_reviews(record.get("revs"), "revs"),
        summaries=[
            RawSummary(f"model_output.{model}", model, text) for model, text in outputs.items()
        ],
        name=record.get("name"),
        metadata=record.get("metadata"),
        extra=extra,
    )


def numbered_reviews(value: object, where: str) -> list[RawReview]:
    """The reviews of an object ``{"rev1": ..., "rev2": ...}`` or of a list.

    Args:
        value: what stands under ``where``.
        where: the key's name.

    Returns:
        The unchecked reviews: by their numbers, or in source order where a key has none.

    Raises:
        FieldError: the value is neither an object nor a list.
    """
    if isinstance(value, list):
        return [RawReview(f"{where}[{index}]", item) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        found = "missing" if value is None else describe(value)
        raise FieldError(where, f"is {found}", 'give an object {"rev1": "...", "rev2": "..."}')
    return [RawReview(f"{where}.{key}", value[key]) for key in _by_number(list(value))]


def _by_number(keys: list[str]) -> list[str]:
    numbers = {key: _NUMBER.search(key) for key in keys}
    if not all(numbers.values()):
        return keys
    return sorted(keys, key=lambda key: int(match.group()) if (match := numbers[key]) else 0)
