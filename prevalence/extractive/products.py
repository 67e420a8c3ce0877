"""Products → the same products with one more summary, made of their reviews' sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.extractive.length import LengthRule
from prevalence.records import BadRecord, Product, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from prevalence.sentences import Splitter

__all__ = ["EXTRACT_KEY", "Target", "skip_summarized"]

EXTRACT_KEY = "extract"
"""Key of a summary that says where its sentences come from; scores pass it through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The summary to make for every product of a file.

    Attributes:
        system: its name beside the other systems.
        length: how long it is to be, or None for that of another system.
        like: the system whose length it takes, by :meth:`LengthRule.like`.
        key: under which the summary says where it comes from.
    """

    system: str
    length: LengthRule | None = None
    like: str | None = None
    key: str = EXTRACT_KEY

    def check(self, product: Product) -> None:
        """Whether the product may get the summary.

        Raises:
            InputError: it has one by this system already.
        """
        if any(summary.system == self.system for summary in product.summaries):
            raise InputError(
                f"{_where(product)}: has a summary by {self.system!r} already; "
                "choose another name (--system)"
            )

    def length_for(self, product: Product, splitter: Splitter) -> LengthRule:
        """The length of this product's summary.

        Raises:
            InputError: the product has a summary by this system already, or none by the one
                whose length is wanted.
        """
        self.check(product)
        known = {summary.system: summary for summary in product.summaries}
        if self.length is not None:
            return self.length
        model = known.get(str(self.like))
        if model is None:
            found = ", ".join(known) or "none"
            raise InputError(
                f"{_where(product)}: no summary by {self.like!r} whose length to take (--like); "
                f"it has {found}"
            )
        try:
            return LengthRule.like(model.text, splitter)
        except InputError as error:
            raise InputError(f"{_where(product)}: summary by {self.like!r}: {error}") from error

    def added_to(self, product: Product, text: str, provenance: Mapping[str, Any]) -> Product:
        """The product with the summary after those that it has."""
        summary = Summary(self.system, text, {self.key: provenance})
        return product.with_summaries([*product.summaries, summary])


def skip_summarized(
    items: Iterable[Product | BadRecord],
    done: Iterator[Mapping[str, Any]],
    *,
    path: Path,
    system: str,
    signature: Callable[[Product], str],
    key: str = EXTRACT_KEY,
) -> Iterator[Product | BadRecord]:
    """Leave out the products that an earlier run wrote, checking that it was the same run.

    Args:
        items: the input, from its beginning. What an earlier run could not summarise stands in no
            output, and is tried again.
        done: records of the output.
        path: the output, for messages.
        system: name of the summary that was added.
        signature: what makes it in this run; raises InputError for a product that gets none.
        key: under which the summary says where it comes from.

    Raises:
        InputError: the output holds other products or other settings; it is left untouched.
    """
    row = next(done, None)
    for item in items:
        if row is None or isinstance(item, BadRecord):
            yield item
            continue
        try:
            expected = signature(item)
        except InputError:
            # It was left out then and will say again why.
            yield item
            continue
        before, extract = _taken_apart(row, system, key)
        if before != item.to_json():
            raise _refusal(path, f"{row.get('id')!r}, which is not what this input has there")
        if extract.get("signature") != expected:
            raise _refusal(path, f"summaries of other settings ({extract.get('signature')})")
        row = next(done, None)
    if row is not None:
        raise _refusal(path, f"{row.get('id')!r}, which this input does not have")


def _taken_apart(
    row: Mapping[str, Any], system: str, key: str
) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """A written record without the summary, and what is said about the summary."""
    record = dict(row)
    summaries = record.get("summaries")
    others = dict(summaries) if isinstance(summaries, dict) else {}
    summary = others.pop(system, None)
    extract = summary.get(key) if isinstance(summary, dict) else None
    record["summaries"] = others
    return record, extract if isinstance(extract, dict) else {}


def _where(product: Product) -> str:
    return product.source or f"record {product.id!r}"


def _refusal(path: Path, found: str) -> InputError:
    return InputError(f"{path}: holds {found}; choose another --output, or --overwrite")
