"""What Python code gives → products, reviews, statements: checked, or refused in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from prevalence.errors import InputError
from prevalence.readers.fields import FieldError, read_review, scrub
from prevalence.records import CLAIMS, BadRecord, Product, Review, Summary, well_formed

__all__ = [
    "checked_name",
    "checked_products",
    "checked_reviews",
    "checked_statements",
    "checked_text",
    "is_missing",
]


def checked_text(value: object, what: str) -> str:
    """A text, each lone surrogate replaced by U+FFFD, so that offsets stay as they are.

    Raises:
        InputError: the value is not a string; the message calls it ``what``.
    """
    if not isinstance(value, str):
        raise InputError(f"{what} is {type(value).__name__}, not text: give a string")
    return well_formed(value)


def checked_name(name: object) -> str | None:
    """A product name, or None.

    Raises:
        InputError: neither a text nor None, or a blank one.
    """
    if name is None:
        return None
    text = checked_text(name, "the product name")
    if not text.strip():
        raise InputError("the product name is empty: give a short name, or None")
    return text


def checked_reviews(reviews: object) -> tuple[Review, ...]:
    """At least one review.

    Raises:
        InputError: no list, an empty one, a review that is no text, no :class:`Review` and no
            mapping with a ``text``, or one whose ``extra`` is no mapping.
    """
    return tuple(
        _checked_review(item, f"review {place}")
        for place, item in enumerate(_several(reviews, "reviews"))
    )


def _checked_review(item: object, what: str) -> Review:
    if isinstance(item, Mapping):
        fields = _checked_keys(_without_missing(item), what)
        try:
            return read_review(what, fields)
        except FieldError as error:
            raise InputError(f"{error.where} {error.problem}; {error.fix}") from None
    if is_missing(item):
        return Review("")
    if not isinstance(item, Review):
        return Review(checked_text(item, what))
    _check_mapping(item.extra, what)
    return replace(item, text=checked_text(item.text, what))


def checked_statements(statements: object) -> tuple[str, ...]:
    """At least one statement, none blank.

    Raises:
        InputError: no list, an empty one, or a statement without text.
    """
    texts = tuple(
        checked_text(item, f"statement {place}")
        for place, item in enumerate(_several(statements, "statements"))
    )
    for place, text in enumerate(texts):
        if not text.strip():
            raise InputError(f"statement {place} is empty: write a claim to look for")
    return texts


def checked_products(
    records: Iterable[Product | Mapping[str, Any]],
) -> Iterator[Product | BadRecord]:
    """Products as they are or from mappings; what cannot be used becomes a bad record.

    Raises:
        InputError: the records are a name of a file, or a single record.
    """
    # Each of these can be gone through as well, as characters, keys, columns or fields. The rows of
    # a data set of Hugging Face, which alone has features, are mappings.
    table = hasattr(records, "to_dict") and not hasattr(records, "features")
    if table or isinstance(records, str | Mapping | Product) or not isinstance(records, Iterable):
        raise InputError(
            f"the records are {type(records).__name__}: give a list of products or mappings, as "
            "DataFrame.to_dict('records') does; prevalence.readers.read_products reads a file"
        )
    for place, record in enumerate(records):
        if not isinstance(record, Product):
            from prevalence.readers import parse_record

            known = _of_table(record) if isinstance(record, Mapping) else record
            yield from parse_record(known, source=f"record {place}")
            continue
        extra: dict[str, Any] = {}
        try:
            extra = _checked_keys(record.extra, "the product")
            yield _checked_product(replace(record, extra=extra))
        except InputError as error:
            yield BadRecord(
                f"record {place}: {error}",
                id=record.id if isinstance(record.id, str) else None,
                source=f"record {place}",
                extra=extra,
            )


def _of_table(record: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a data frame: lists in place of arrays, None in place of NaN, which is missing."""
    values = {k: v.tolist() if isinstance(v, np.ndarray | np.generic) else v
              for k, v in record.items()}  # fmt: skip
    found = {k: None if is_missing(v) else v for k, v in values.items()}
    if isinstance(reviews := found.get("reviews"), list | tuple):
        found["reviews"] = [_without_missing(review) if isinstance(review, Mapping)
                            else "" if is_missing(review) else review
                            for review in reviews]  # fmt: skip
    return found


def _without_missing(review: Mapping[Any, Any]) -> dict[Any, Any]:
    """A review's fields; a missing text is an empty one, as an empty cell of a table is."""
    fields = {k: None if is_missing(v) else v for k, v in review.items()}
    return {**fields, "text": ""} if fields.get("text", "") is None else fields


def is_missing(value: object) -> bool:
    """Whether data frames hold nothing there: None, NaN, NA or NaT."""
    nan = isinstance(value, float | np.floating) and bool(np.isnan(value))
    return value is None or nan or type(value).__name__ in {"NAType", "NaTType"}


def _checked_product(product: Product) -> Product:
    if not isinstance(product.summaries, tuple | list):
        raise InputError(
            f"the summaries are {type(product.summaries).__name__}: give a tuple of Summary objects"
        )
    return replace(
        product,
        id=checked_text(product.id, "id"),
        name=checked_name(product.name),
        reviews=() if _is_empty(product.reviews) else checked_reviews(product.reviews),
        summaries=tuple(_checked_summary(summary) for summary in product.summaries),
    )


def _is_empty(items: Any) -> bool:
    try:
        return len(items) == 0
    except TypeError:
        return items is None


def _checked_summary(summary: object) -> Summary:
    if not isinstance(summary, Summary):
        raise InputError(f"a summary is {type(summary).__name__}: give a tuple of Summary objects")
    system = checked_text(summary.system, "a system's name")
    text = checked_text(summary.text, f"the summary by {system!r}")
    extra = _checked_keys(summary.extra, f"the summary by {system!r}")
    if not _are_claims(summary.extra.get(CLAIMS)):
        raise InputError(
            f"the claims of {system!r} are no list of statements: give texts, or objects such as "
            '{"text": "It leaks.", "quantity": "most"}'
        )
    return replace(summary, system=system, text=text, extra=extra)


def _are_claims(claims: object) -> bool:
    if claims is None:
        return True
    from prevalence.claims import stated_claim

    return isinstance(claims, list | tuple) and None not in map(stated_claim, claims)


def _checked_keys(extra: object, whose: str) -> dict[str, Any]:
    """Keys that rows pass on, with values that JSON can hold.

    Raises:
        InputError: one cannot be written as JSON; the message calls its owner ``whose``.
    """
    _check_mapping(extra, whose)
    try:
        return cast("dict[str, Any]", scrub(extra))
    except FieldError as error:
        what = " ".join(filter(None, (error.where, error.problem)))
        raise InputError(f"the other keys of {whose}: {what}; {error.fix}") from None


def _check_mapping(extra: object, whose: str) -> None:
    if not isinstance(extra, Mapping):
        raise InputError(f"the other keys of {whose} are {type(extra).__name__}: give a mapping")


def _several(items: object, what: str) -> list[Any]:
    # One text is iterable too: without this check its characters would be scored.
    one = isinstance(items, str | Mapping | Review) or (
        isinstance(items, np.ndarray) and not items.ndim
    )
    if one or not isinstance(items, Iterable):
        raise InputError(f"the {what} are {type(items).__name__}: give a list of texts")
    listed = list(items)
    if not listed:
        raise InputError(f"no {what}: give at least one")
    return listed
