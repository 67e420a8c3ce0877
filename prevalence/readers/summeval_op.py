"""SummEval-OP as released: the file of mean ratings, and the file of each rater's ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prevalence.readers.fields import Draft, FieldError, RawSummary, describe, leftover
from prevalence.readers.opinsummeval import numbered_reviews

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DIMENSIONS", "KNOWN", "NAMES_KEYS", "draft", "matches", "snake", "system_names"]

DIMENSIONS: Mapping[str, str] = {
    "fl": "fluency",
    "co": "coherence",
    "re": "relevance",
    "fa": "faithfulness",
    "ac": "aspect_coverage",
    "sc": "sentiment_consistency",
    "sp": "specificity",
}
"""The detailed file's keys, and the names under which the ratings are kept."""

NAMES_KEYS = ("systems", "models")
"""The keys that may name the systems of a list of summaries."""

KNOWN = frozenset({"reviews", "summaries", "name", "metadata", *DIMENSIONS})
"""The keys that mean something; all others are passed through."""


def matches(record: dict[str, Any]) -> bool:
    """Whether a record has one of the two layouts."""
    summaries = record.get("summaries")
    if isinstance(summaries, list):
        return True
    if not isinstance(summaries, dict):
        return False
    return any(isinstance(value, dict) and "summary" in value for value in summaries.values())


def draft(record: dict[str, Any]) -> Draft:
    """Take a record apart.

    Args:
        record: the decoded object, its id removed.

    Returns:
        The draft; ratings are kept in each summary's extra key "human", by dimension: one number
        (mean file) or the list of the raters' numbers (detailed file). Summaries in a list are
        the systems "1", "2", ... unless the record names them under "systems" or "models".

    Raises:
        FieldError: reviews or summaries are missing, or ratings do not fit the summaries.
    """
    summaries = record.get("summaries")
    if isinstance(summaries, dict):
        raw, used = _mean(summaries), frozenset[str]()
    elif isinstance(summaries, list):
        raw, used = _detailed(record, summaries)
    else:
        found = describe(summaries) if "summaries" in record else "missing"
        raise FieldError("summaries", f"is {found}", "give an object by model, or a list of texts")
    return Draft(
        reviews=numbered_reviews(record.get("reviews"), "reviews"),
        summaries=raw,
        name=record.get("name"),
        metadata=record.get("metadata"),
        extra=leftover(record, KNOWN | used),
    )


def _mean(summaries: dict[str, Any]) -> list[RawSummary]:
    return [
        RawSummary(f"summaries.{system}", system, _rated(value), "summary")
        for system, value in summaries.items()
    ]


def _rated(value: object) -> object:
    if not isinstance(value, dict) or not isinstance(value.get("dimensions"), dict):
        return value
    human = {snake(name): rating for name, rating in value["dimensions"].items()}
    return {key: item for key, item in value.items() if key != "dimensions"} | {"human": human}


def snake(name: str) -> str:
    """A name in lower case with underscores.

    >>> snake("Aspect Coverage")
    'aspect_coverage'
    """
    return "_".join(name.casefold().replace("-", " ").split())


def _detailed(
    record: dict[str, Any], summaries: list[Any]
) -> tuple[list[RawSummary], frozenset[str]]:
    count = len(summaries)
    ratings = {
        name: _fitting(record[key], key, count) for key, name in DIMENSIONS.items() if key in record
    }
    systems, used = system_names(record, count)
    raw = []
    for index, value in enumerate(summaries):
        human = {name: values[index] for name, values in ratings.items()}
        rated = {"summary": value, "human": human} if human and isinstance(value, str) else value
        raw.append(RawSummary(f"summaries[{index}]", systems[index], rated, "summary"))
    return raw, used


def _fitting(value: object, key: str, count: int) -> list[Any]:
    if not isinstance(value, list):
        raise FieldError(key, f"is {describe(value)}", "give a list, one entry per summary")
    if len(value) != count:
        problem = f"rates {len(value)} summaries where there are {count}"
        raise FieldError(key, problem, "give one list of ratings for each summary")
    return value


def system_names(record: Mapping[str, Any], count: int) -> tuple[list[str], frozenset[str]]:
    """The systems of a list of summaries, and the keys of the record that name them.

    Args:
        record: the decoded object.
        count: number of summaries; they are "1", "2", ... without as many names.
    """
    for key in NAMES_KEYS:
        names = record.get(key)
        if (
            isinstance(names, list)
            and len(names) == count
            and all(isinstance(name, str | int) for name in names)
        ):
            return list(map(str, names)), frozenset({key})
    return [str(number + 1) for number in range(count)], frozenset()
