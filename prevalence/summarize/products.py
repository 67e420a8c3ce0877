"""Products → the same products with one more summary, made of their reviews' sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError, foreign_output
from prevalence.records import BadRecord, Product, Summary
from prevalence.summarize.candidates import LengthRule

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

    What an earlier run could not summarise stands in no output and is tried again. It is written
    after what is there, so that rows stand in the order in which they were made, and a later run
    finds them in any order.

    Args:
        items: the input, from its beginning.
        done: records of the output; the last is passed only when all belong to the input.
        path: the output, for messages.
        system: name of the summary that was added.
        signature: what makes it in this run; raises InputError for a product that gets none.
        key: under which the summary says where it comes from.

    Yields:
        In input order, what the output lacks. Nothing is yielded before every row of the output
        has found its product, so that a refusal costs nothing and leaves the output untouched.

    Raises:
        InputError: the output holds other products or other settings.
    """
    rows = _Rows(done, path=path, system=system, signature=signature, key=key)
    waiting = _Waiting()
    source = iter(items)
    while rows.current is not None:
        item = next(source, None)
        if item is None:
            found = f"{rows.current.get('id')!r}, which this input does not have"
            raise foreign_output(path, found)
        if rows.take(item):
            # What was tried again stands below rows of products that come after it.
            while rows.current is not None and waiting.remove(rows.take, rows.current.get("id")):
                pass
        else:
            waiting.add(item)
    yield from waiting.left()
    yield from source


class _Rows:
    """The rows of an earlier run, taken one by one."""

    def __init__(
        self,
        done: Iterator[Mapping[str, Any]],
        *,
        path: Path,
        system: str,
        signature: Callable[[Product], str],
        key: str,
    ) -> None:
        self._done = done
        self._path = path
        self._system = system
        self._signature = signature
        self._key = key
        self.current = next(done, None)

    def take(self, item: Product | BadRecord) -> bool:
        """Pass the current row if it is this product's.

        Raises:
            InputError: it is, and its summary was made under other settings.
        """
        if self.current is None or isinstance(item, BadRecord):
            return False
        before, made = _taken_apart(self.current, self._system, self._key)
        if before != item.to_json():
            return False
        expected = self._expected(item)
        if expected is None or made.get("signature") != expected:
            found = f"summaries of other settings ({made.get('signature')})"
            raise foreign_output(self._path, found)
        self.current = next(self._done, None)
        return True

    def _expected(self, product: Product) -> str | None:
        try:
            return self._signature(product)
        except InputError:
            return None


class _Waiting:
    """Items without a row so far, in input order."""

    def __init__(self) -> None:
        self._items: dict[int, Product | BadRecord] = {}
        self._places: dict[str | None, list[int]] = {}
        self._added = 0

    def add(self, item: Product | BadRecord) -> None:
        """Take an item."""
        self._items[self._added] = item
        self._places.setdefault(item.id, []).append(self._added)
        self._added += 1

    def remove(self, wanted: Callable[[Product | BadRecord], bool], identity: object) -> bool:
        """Remove the first item of this id that is wanted, if there is one."""
        places = self._places.get(identity, []) if isinstance(identity, str) else []
        for place in places:
            if wanted(self._items[place]):
                places.remove(place)
                del self._items[place]
                return True
        return False

    def left(self) -> Iterator[Product | BadRecord]:
        """The items that were not removed."""
        return iter(self._items.values())


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
