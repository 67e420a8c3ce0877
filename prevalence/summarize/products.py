"""Products → the same products with one more summary, made of their reviews' sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.records import BadRecord, Product, Summary
from prevalence.runs.earlier import finished_records
from prevalence.runs.resuming import Finished, Mark
from prevalence.summarize.candidates import LengthRule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from prevalence.text.sentences import Splitter

__all__ = ["EXTRACT_KEY", "Target"]

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
                f"{product.where}: has a summary by {self.system!r} already; "
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
                f"{product.where}: no summary by {self.like!r} whose length to take (--like); "
                f"it has {found}"
            )
        try:
            return LengthRule.like(model.text, splitter)
        except InputError as error:
            raise InputError(f"{product.where_of(model.system)}: {error}") from error

    def added_to(self, product: Product, text: str, provenance: Mapping[str, Any]) -> Product:
        """The product with the summary after those that it has."""
        summary = Summary(self.system, text, {self.key: provenance})
        return product.with_summaries([*product.summaries, summary])

    def finished(self, path: Path) -> Finished[dict[str, Any]]:
        """The records that an earlier run has written to the same output, in any order."""
        return Finished(
            path=path,
            rows=finished_records(path),
            mark=self._mark,
            made="summaries",
            unknown="which this input does not have",
            in_order=False,
        )

    def marks(self, item: Product | BadRecord, signature: Callable[[Product], str]) -> list[Mark]:
        """What tells the record of an item from others; bad records are in no output.

        Args:
            item: what is read.
            signature: what makes its summary; raises InputError for a product that gets none.
        """
        if isinstance(item, BadRecord):
            return []
        try:
            expected = signature(item)
        except InputError:
            expected = None
        return [Mark(repr(item.id), item.to_json(), expected)]

    def _mark(self, row: Mapping[str, Any]) -> Mark:
        """The mark of a record of the output: what it was, and what is said of its summary."""
        summaries = row.get("summaries")
        others = dict(summaries) if isinstance(summaries, dict) else {}
        summary = others.pop(self.system, None)
        made = summary.get(self.key) if isinstance(summary, dict) else None
        signature = made.get("signature") if isinstance(made, dict) else None
        return Mark(repr(row.get("id")), {**row, "summaries": others}, str(signature))
