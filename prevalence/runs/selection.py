"""Which records and summaries of the inputs a run takes."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from itertools import groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING

from prevalence.errors import InputError
from prevalence.records import BadRecord, Product
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["Record", "Selection", "by_systems", "systems_of"]

Record = Product | BadRecord

_SHOWN_SYSTEMS = 20


@dataclass(slots=True)
class Selection:
    """The records of the inputs that a run takes; read as often as asked.

    Attributes:
        inputs: files, each of which is looked for at once.
        source_format: as :func:`read_products` takes it.
        reviews: where the products are, if the inputs hold their summaries alone.
        names: file of product names.
        summaries: whether a record needs some.
        systems: whose summaries are wanted; all where it is empty.
        limit: most records; a product and its faulty summaries are one.
        limit_left: whether records without a wanted summary do not count.
        prepared: what becomes of whole records before systems are chosen.
        changed: what becomes of a record after that.
        handed_out: records so far.

    Raises:
        InputError: a file is missing, or two files of lines name one system, or nothing can be read
            in the first file; better now than after a model is opened or files are read.
    """

    inputs: Sequence[str]
    _: KW_ONLY
    source_format: str = "auto"
    reviews: Path | None = None
    names: Path | None = None
    summaries: bool = True
    systems: Sequence[str] = ()
    limit: int | None = None
    limit_left: bool = False
    prepared: Callable[[Iterable[Record]], Iterable[Record]] = iter
    changed: Callable[[Record], Iterable[Record]] | None = None
    handed_out: int = field(default=0, init=False)
    _names: Mapping[str, str] | None = field(default=None, init=False)
    _seen: set[str] = field(default_factory=set, init=False)
    _exhausted: bool = field(default=False, init=False)
    _unmatched: set[str] = field(default_factory=set, init=False)
    _repeats: dict[str, tuple[int, int]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        from prevalence.readers import read_product_names
        from prevalence.readers.products import check_header
        from prevalence.readers.streams import check_readable

        for path in (*self.inputs, self.reviews):
            if path is not None:
                check_readable(path)
        if self.reviews is not None:
            self._check_authors()
        else:
            # A fault in a later file costs nothing of those before it.
            for path in self.inputs[:1]:
                check_header(path, format=self.source_format, summaries=self.summaries)
        if self.names is not None:
            self._names = read_product_names(self.names)
            self._unmatched = set(self._names)

    def _check_authors(self) -> None:
        from prevalence.readers.side_files import own_system

        files: dict[str, str] = {}
        for path in self.inputs:
            system = own_system(path)
            if system is None:
                continue
            if system in files:
                raise InputError(
                    f"{files[system]} and {path} both name the system {system!r}, after the "
                    "file; rename one"
                )
            files[system] = path

    def items(self, reader: Callable[[], Callable[[int], None]] | None = None) -> Iterator[Record]:
        """Read the inputs.

        Args:
            reader: gives, for each file, what is to be told the bytes read of it.
        """
        every = (item for path in self.inputs for item in self._read(path, reader))
        first = every if self.limit_left else self._first(every)
        chosen = self._chosen(self.prepared(self._noted(first)))
        for item in self._first(chosen) if self.limit_left else chosen:
            self.handed_out += 1
            yield from (item,) if self.changed is None else self.changed(item)

    def check(self) -> None:
        """Refuse wanted systems that no record has, once all were read.

        Raises:
            InputError: a name stands for no system.
        """
        if self._exhausted:
            self.check_names("--systems", self.systems)

    def check_names(self, option: str, asked: Iterable[str]) -> None:
        """Refuse names that no record read so far had.

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
            raise InputError(
                f"{option}: no summary by {', '.join(missing)}; choose from {shown}{more}"
            )

    def notes(self) -> list[str]:
        """What the user may want to know of the records read so far, a line each."""
        found = []
        # Products that were not handed out may have the other names.
        whole = self._exhausted and self.limit is None and self.reviews is None
        if self._unmatched and whole:
            names = counted(len(self._unmatched), "name matches", "names match")
            found.append(
                f"{self.names}: {names} no product (such as that of {min(self._unmatched)!r}); "
                "write ids as in the input, with a tab after those that hold spaces"
            )
        if self._repeats:
            repeated = sum(count for count, _ in self._repeats.values())
            reviews = sum(count for _, count in self._repeats.values())
            products = counted(len(self._repeats), "product")
            repeat = "repeats" if repeated == 1 else "repeat"
            found.append(
                f"{repeated:,} of {reviews:,} reviews of {products} {repeat} another of the same "
                "product word for word; each counts"
            )
        return found

    def check_repeatable(self, why: str) -> None:
        """Refuse to read standard input twice.

        Raises:
            InputError: it is an input, or the file of reviews.
        """
        if "-" in map(str, (*self.inputs, self.reviews)):
            raise InputError(f"standard input is read once, and {why}")

    def _read(
        self, path: str, reader: Callable[[], Callable[[int], None]] | None
    ) -> Iterator[Record]:
        from prevalence.readers import read_authors, read_products

        progress = None if reader is None else reader()
        if self.reviews is not None:
            return read_authors(path, reviews=self.reviews, names=self._names, progress=progress)
        return read_products(
            path,
            format=self.source_format,
            names=self._names,
            summaries=self.summaries,
            progress=progress,
        )

    def _first(self, items: Iterable[Record]) -> Iterator[Record]:
        for _, parts in islice(groupby(items, key=attrgetter("source")), self.limit):
            yield from parts

    def _noted(self, items: Iterable[Record]) -> Iterator[Record]:
        for item in items:
            self._seen.update(systems_of(item))
            self._unmatched.discard(item.id or "")
            if isinstance(item, Product) and (repeated := _repeated(item)):
                self._repeats[item.id] = repeated, len(item.reviews)
            yield item

    def _chosen(self, items: Iterable[Record]) -> Iterator[Record]:
        yield from by_systems(items, frozenset(self.systems))
        self._exhausted = True


def by_systems(items: Iterable[Record], systems: frozenset[str]) -> Iterator[Record]:
    """Items with only the summaries by these systems, or all for none; without any, none."""
    for item in items:
        if not systems or (isinstance(item, BadRecord) and item.system in {None, *systems}):
            yield item
        elif isinstance(item, Product):
            chosen = [summary for summary in item.summaries if summary.system in systems]
            if chosen:
                yield item.with_summaries(chosen)


def _repeated(product: Product) -> int:
    """How many reviews without an id have the words of another one."""
    texts = [one.text for one in product.reviews if one.id is None and one.text.strip()]
    return len(texts) - len(set(texts))


def systems_of(item: Record) -> list[str]:
    """Who wrote an item's summaries, or the one that is at fault."""
    if isinstance(item, Product):
        return [summary.system for summary in item.summaries]
    return [] if item.system is None else [item.system]
