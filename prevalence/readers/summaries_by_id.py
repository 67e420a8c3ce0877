"""Summaries that stand in a file of their own with the ids of their products → products.

The file is a table or JSON. It is read first and kept; the products, which are much longer, stream
past it. So records come in the order of the products.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.readers.fields import (
    FieldError,
    Item,
    Position,
    RawSummary,
    checked_summaries,
    describe,
    escaped,
    read_id,
)
from prevalence.readers.native import listed_summaries
from prevalence.readers.products import json_values
from prevalence.readers.tables import TableSummary, summary_rows
from prevalence.records import BadRecord, Product
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prevalence.readers.streams import Source

__all__ = ["joined_by_id"]


@dataclass(slots=True)
class _Summaries:
    """The summaries of one file by the ids of their products.

    Attributes:
        path: of the file, for messages.
        by_id: those of products that were not met yet.
        taken: a digest of the reviews of each product that had some.
        faults: what is wrong with rows that have no summary.
    """

    path: str
    by_id: dict[str, list[RawSummary]] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)
    faults: list[BadRecord] = field(default_factory=list)

    def add(self, found: TableSummary | BadRecord) -> None:
        """Take in what a row holds; a row that stands twice is one."""
        if isinstance(found, BadRecord):
            self.faults.append(found)
            return
        known = self.by_id.setdefault(found.id, [])
        if all((found.raw.system, found.raw.value) != (raw.system, raw.value) for raw in known):
            known.append(found.raw)

    def of(self, item: Item) -> list[Item] | None:
        """What becomes of a record of reviews; None for a product without a summary."""
        found = [] if item.id is None else self.by_id.pop(item.id, [])
        if isinstance(item, BadRecord):
            return [replace(item, system=raw.system) for raw in found] or [item]
        digest = hash(tuple(review.text for review in item.reviews))
        if not found:
            if item.id not in self.taken:
                return None
            return [] if self.taken[item.id] == digest else [_second_record(item)]
        self.taken[item.id] = digest
        good, faults = checked_summaries(found)
        bad = [fault.at(Position(self.path, ""), identity=item.id) for fault in faults]
        products = [item.with_summaries(good)] if good else []
        # A product and its faulty summaries are one record, which --limit tells by the place.
        return [*products, *(replace(one, source=item.source) for one in bad)]

    def left(self, reviews: str) -> Iterator[BadRecord]:
        """What belongs to no product of the file of reviews."""
        yield from self.faults
        for identity, summaries in self.by_id.items():
            for raw in summaries:
                problem = f"is of the product {identity!r}, which is not in {reviews}"
                fault = FieldError(raw.where, problem, "check the id", system=raw.system)
                fault.line = raw.line
                yield fault.at(Position(self.path, ""), identity=identity)


def joined_by_id(
    source: Source, container: str, products: Iterator[Item], *, reviews: str, system: str
) -> Iterator[Item]:
    """Give every product the summaries that have its id.

    Args:
        source: the open file of summaries.
        container: how they are packed, see :func:`~prevalence.readers.products.detect_summaries`.
        products: those of the file of reviews.
        reviews: its name, for messages.
        system: who wrote a summary of which the file does not say it.

    Yields:
        Products that have a summary, and bad records; those of summaries without a product come
        last. How many products have no summary is a warning.

    Raises:
        InputError: the file cannot be read, has reviews, or has no summary.
    """
    summaries = _Summaries(source.path)
    for found in _found(source, container, system):
        summaries.add(found)
    if not (summaries.by_id or summaries.faults):
        raise InputError(f"{source.path}: holds no summary; there is nothing to score")
    without = 0
    for item in products:
        items = summaries.of(item)
        without += items is None
        yield from items or ()
    yield from summaries.left(reviews)
    if without:
        count = counted(without, "product has", "products have")
        warnings.warn(
            f"{reviews}: {count} no summary in {source.path} and {'is' if without == 1 else 'are'} "
            "left out",
            RuntimeWarning,
            stacklevel=2,
        )


def _second_record(item: Product) -> BadRecord:
    problem = f"belongs to the product {item.id!r}, which an earlier record has with other reviews"
    fault = FieldError("", problem, "put its reviews into one record")
    return replace(fault.at(Position(item.source, ""), identity=item.id), source=item.source)


def _found(source: Source, container: str, system: str) -> Iterator[TableSummary | BadRecord]:
    if container not in ("lines", "document"):
        yield from summary_rows(source, "\t" if container == "tsv" else None, system=system)
        return
    for position, value in json_values(source):
        identity = None
        try:
            if isinstance(value, FieldError):
                raise value
            identity = _id_of(value, position)
            summaries = _of_record(value, system)
        except FieldError as fault:
            yield fault.at(position, identity=identity)
        else:
            for raw in summaries:
                yield TableSummary(identity, _placed(raw, position))


def _id_of(value: Any, position: Position) -> str:
    if not isinstance(value, dict):
        raise FieldError("", f"is {describe(value)}", 'give {"id": "...", "summary": "..."}')
    if "reviews" in value:
        raise InputError(f"{position.source}: has reviews of its own; leave --reviews out")
    identity, _ = read_id(value)
    if identity is None:
        raise FieldError("id", "is missing", "give the id of the product")
    return identity


def _of_record(value: dict[str, Any], system: str) -> list[RawSummary]:
    record = dict(value)
    if "summaries" not in record:
        record.setdefault("summary", record.get("text"))
        record["system"] = system if record.get("system") is None else record["system"]
    summaries = listed_summaries(record)
    if not summaries:
        raise FieldError("summary", "is missing", "give the text of the summary")
    return summaries


def _placed(raw: RawSummary, position: Position) -> RawSummary:
    """The summary with its place in its file, which is a line or the number of an element."""
    mark = position.mark.removeprefix(":")
    if mark.isdecimal():
        return raw._replace(line=int(mark))
    return raw._replace(where=f"{escaped(mark)}: {raw.where}")
