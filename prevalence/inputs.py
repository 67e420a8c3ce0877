"""What callers of the Python API hand over, checked and made fit for every writer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from prevalence.characters import well_formed
from prevalence.errors import InputError
from prevalence.readers import parse_record
from prevalence.records import BadRecord, Product, Review, Summary

__all__ = ["checked_name", "checked_products", "checked_reviews", "checked_statements",
           "checked_text"]  # fmt: skip


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
        InputError: no list, an empty one, or a review without text.
    """
    return tuple(
        replace(item, text=checked_text(item.text, f"review {place}"))
        if isinstance(item, Review)
        else Review(checked_text(item, f"review {place}"))
        for place, item in enumerate(_several(reviews, "reviews"))
    )


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
    """Products as they are or from mappings; what cannot be used becomes a bad record."""
    for place, record in enumerate(records):
        if not isinstance(record, Product):
            yield from parse_record(record, source=f"record {place}")
            continue
        try:
            yield _checked_product(record)
        except InputError as error:
            yield BadRecord(
                f"record {place}: {error}",
                id=record.id if isinstance(record.id, str) else None,
                source=f"record {place}",
                extra=record.extra,
            )


def _checked_product(product: Product) -> Product:
    return replace(
        product,
        id=checked_text(product.id, "id"),
        name=checked_name(product.name),
        reviews=checked_reviews(product.reviews) if product.reviews else (),
        summaries=tuple(_checked_summary(summary) for summary in product.summaries),
    )


def _checked_summary(summary: Summary) -> Summary:
    system = checked_text(summary.system, "a system's name")
    text = checked_text(summary.text, f"the summary by {system!r}")
    return replace(summary, system=system, text=text)


def _several(items: object, what: str) -> list[Any]:
    # One text is iterable too: without this check its characters would be scored.
    if isinstance(items, str | Mapping | Review) or not isinstance(items, Iterable):
        raise InputError(f"the {what} are {type(items).__name__}: give a list of texts")
    listed = list(items)
    if not listed:
        raise InputError(f"no {what}: give at least one")
    return listed
