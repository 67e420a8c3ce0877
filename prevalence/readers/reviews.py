"""The reviews of one product, from whatever holds them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from prevalence.characters import well_formed
from prevalence.errors import InputError
from prevalence.readers.copycat import copycat_items
from prevalence.readers.detect import detect_container
from prevalence.readers.drafts import Item, ReadOptions
from prevalence.readers.fields import FieldError, escaped
from prevalence.readers.jsonfiles import document_items, document_text, line_items
from prevalence.readers.jsontext import decode_utf8
from prevalence.readers.streams import Source, open_source
from prevalence.readers.tables import table_items
from prevalence.records import BadRecord, Product, Review

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["read_reviews"]

_OPTIONS = ReadOptions(reviews_only=True)
_LISTED = 5


def read_reviews(path: str | Path, *, product: str | None = None) -> tuple[Review, ...]:
    """Read the reviews of one product.

    Args:
        path: plain text with one review a line (blank lines are skipped), a JSON list of texts,
            a table with a column "review" or "text", or any file of products; "-" is stdin.
        product: the id of the product to take; needed where the file holds several.

    Returns:
        The reviews in source order, at least one.

    Raises:
        InputError: nothing can be read, the product is not there or is faulty, or the file holds
            several products and none was chosen.
    """
    with open_source(path) as source:
        container = detect_container(source, allow_text=True)
        if container == "text":
            _refuse_choice(product, source.path)
            return _text_reviews(source)
        if container == "document":
            text = document_text(source)
            listed = _listed_texts(text)
            if listed:
                _refuse_choice(product, source.path)
                return listed
            return _chosen(document_items(text, source.path, _OPTIONS, None), product, source.path)
        return _chosen(_packed_items(source, container), product, source.path)


def _packed_items(source: Source, container: str) -> Iterator[Item]:
    if container == "lines":
        return line_items(source, _OPTIONS, None)
    if container == "copycat":
        return copycat_items(source, _OPTIONS)
    return table_items(source, _OPTIONS, "\t" if container == "tsv" else None)


def _refuse_choice(product: str | None, path: str) -> None:
    if product is not None:
        raise InputError(
            f"{path}: holds reviews without product ids, so {escaped(product)!r} cannot be "
            "chosen; leave the choice out"
        )


def _text_reviews(source: Source) -> tuple[Review, ...]:
    reviews = []
    for line in source.lines():
        try:
            if line.fault is not None:
                raise FieldError("", line.fault, "repair the file")
            text = decode_utf8(line.data).removesuffix("\n").removesuffix("\r")
        except FieldError as fault:
            where = f"{source.path}:{line.number}"
            raise InputError(f"{where}: {fault.problem}; {fault.fix}") from None
        if text.strip():
            reviews.append(Review(text))
    return tuple(reviews)


def _listed_texts(text: str) -> tuple[Review, ...]:
    """The reviews of a JSON list of strings, or nothing where the document is something else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return ()
    return tuple(Review(well_formed(item)) for item in value)


def _chosen(items: Iterator[Item], product: str | None, path: str) -> tuple[Review, ...]:
    """The reviews of the product asked for, or of the only one."""
    first: Product | None = None
    first_bad: BadRecord | None = None
    # Of the others only the ids are kept: the file may be larger than the memory.
    ids: dict[str, None] = {}
    for item in items:
        if isinstance(item, BadRecord):
            if product in (None, item.id):
                first_bad = first_bad or item
            continue
        if item.id == product:
            return item.reviews
        first = first or item
        ids[item.id] = None
    if first_bad is not None:
        raise InputError(first_bad.error)
    if first is not None and product is None and len(ids) == 1:
        return first.reviews
    raise InputError(_choices(list(ids), product, path))


def _choices(found: list[str], product: str | None, path: str) -> str:
    if not found:
        return f"{path}: holds no record; there is nothing to read"
    ids = ", ".join(escaped(identity) for identity in found[:_LISTED])
    ids += ", ..." if len(found) > _LISTED else ""
    if product is None:
        return f"{path}: holds {len(found)} products; choose one by its id: {ids}"
    return f"{path}: holds no product {escaped(product)!r}; its ids are: {ids}"
