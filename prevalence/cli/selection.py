"""Which records of the inputs a run takes, and whether they are what was asked for."""

from __future__ import annotations

from itertools import groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING

from prevalence.errors import InputError
from prevalence.readers import read_products
from prevalence.readers.streams import check_readable
from prevalence.records import BadRecord, Product

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    Item = Product | BadRecord

__all__ = ["Selection", "SystemNames", "first_records", "only"]

_SHOWN_SYSTEMS = 20


def first_records(items: Iterable[Item], limit: int | None) -> Iterator[Item]:
    """The first records; a product and its faulty summaries are one, and share their source."""
    for _, parts in islice(groupby(items, key=attrgetter("source")), limit):
        yield from parts


def only(item: Item, wanted: Collection[str]) -> Item | None:
    """The item with the wanted systems only; None when nothing of it is left."""
    if not wanted:
        return item
    if isinstance(item, BadRecord):
        return item if item.system is None or item.system in wanted else None
    chosen = [summary for summary in item.summaries if summary.system in wanted]
    return item.with_summaries(chosen) if chosen else None


class SystemNames:
    """The systems that were met."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def noted(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, each of whose systems is noted before it is handed on."""
        for item in items:
            if isinstance(item, Product):
                self._seen.update(summary.system for summary in item.summaries)
            elif item.system is not None:
                self._seen.add(item.system)
            yield item

    def check(self, option: str, asked: Iterable[str]) -> None:
        """Refuse names that no record had.

        Args:
            option: what asked for them.
            asked: the names.

        Raises:
            InputError: a name stands for no system that was met.
        """
        missing = [system for system in asked if system not in self._seen]
        if missing:
            known = sorted(self._seen)
            shown = ", ".join(known[:_SHOWN_SYSTEMS]) or "none that can be read"
            more = ", ..." if len(known) > _SHOWN_SYSTEMS else ""
            found = f"no summary by {', '.join(missing)}; there is {shown}{more}"
            raise InputError(f"{option}: {found}")


class Selection:
    """The first records of the inputs, with the wanted systems only; read as often as asked.

    Args:
        inputs: files, of which each is looked for at once.
        input_format: as :func:`read_products` takes it.
        systems: what is wanted; all where it is empty.
        limit: most records.

    Attributes:
        limit: most records, or None.
        names: the systems of the records read, wanted or not.
        left: items handed out.

    Raises:
        InputError: a file is missing; better now than after the files before it are read.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        *,
        input_format: str,
        systems: Sequence[str] = (),
        limit: int | None = None,
    ) -> None:
        for path in inputs:
            check_readable(path)
        self.names = SystemNames()
        self.left = 0
        self._inputs = inputs
        self._format = input_format
        self._systems = systems
        self.limit = limit

    def items(
        self, reader: Callable[[], Callable[[int], None]] | None = None
    ) -> Iterator[Product | BadRecord]:
        """Read the inputs.

        Args:
            reader: gives, for each file, what is to be told the bytes read of it.
        """
        every = (item for path in self._inputs for item in self._read(path, reader))
        wanted = frozenset(self._systems)
        for item in self.prepared(self.names.noted(first_records(every, self.limit))):
            kept = only(item, wanted)
            if kept is not None:
                self.left += 1
                yield kept

    def prepared(self, items: Iterable[Item]) -> Iterable[Item]:
        """What becomes of whole records before systems are chosen."""
        return items

    def check(self) -> None:
        """Refuse wanted systems that no record has, once all were read.

        Raises:
            InputError: a name stands for no system.
        """
        self.names.check("--systems", self._systems)

    def check_repeatable(self, why: str) -> None:
        """Refuse to read standard input twice.

        Raises:
            InputError: it is an input.
        """
        if "-" in self._inputs:
            raise InputError(f"standard input is read once, and {why}")

    def _read(
        self, path: str, reader: Callable[[], Callable[[int], None]] | None
    ) -> Iterator[Item]:
        progress = None if reader is None else reader()
        return read_products(path, format=self._format, progress=progress)
