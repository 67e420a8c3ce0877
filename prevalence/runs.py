"""A run of a command: select records, skip what is done, chunk, compute, write in order, report.

Every command that makes rows out of records goes through here, so that all of them choose records,
go on after a kill and end in the same way; what differs is how a row is made.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass, field
from itertools import groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, Self, TypeVar

from prevalence.errors import InputError, PrevalenceError, foreign_output
from prevalence.language import counted
from prevalence.records import BadRecord, Product, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from prevalence.writers import RowWriter

__all__ = [
    "Finished",
    "Incomplete",
    "Mark",
    "Selection",
    "Tally",
    "by_systems",
    "chunks",
    "row_mark",
    "run",
    "skip_finished",
    "summary_marks",
    "systems_of",
    "until_failure",
]

Record = Product | BadRecord
Item = TypeVar("Item")
Row = TypeVar("Row")

_SHOWN_ERRORS = 20
_SHOWN_SYSTEMS = 20
_PATH = re.compile(r".*?(?=(?::\d+|\[\d+\])*: )")
"""The file that the error of a record begins with, up to the place in it."""


class Incomplete(Exception):  # noqa: N818 - a state, not an error of its own
    """Raised from the error that ended a run which had made something by then."""


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

    @staticmethod
    def rest(item: Record, left: Sequence[int]) -> Record:
        """A record with some of its summaries, by their places."""
        if isinstance(item, BadRecord):
            return item
        return item.part([item.summaries[place] for place in left])

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


def chunks(
    items: Iterable[Item], size: Callable[[Item], int], full: int = 1
) -> Iterator[list[Item]]:
    """Gather items that are worth working on together.

    Args:
        items: any stream, read no further than for the chunk under way.
        size: what an item adds to a chunk; called once, in order.
        full: size of a chunk that is given away.

    Yields:
        Chunks in order. When the stream fails, what came before is given first.

    Raises:
        Exception: whatever ended the stream.

    >>> def reader():
    ...     yield from (1, 2, 3)
    ...     raise OSError("the disk is gone")
    >>> stream = chunks(reader(), size=int, full=3)
    >>> next(stream), next(stream)
    ([1, 2], [3])
    >>> next(stream)
    Traceback (most recent call last):
    OSError: the disk is gone
    """
    chunk: list[Item] = []
    filled = 0
    failure: list[Exception] = []
    for item in until_failure(items, failure):
        chunk.append(item)
        filled += size(item)
        if filled >= full:
            yield chunk
            chunk, filled = [], 0
    if chunk:
        yield chunk
    for error in failure:
        raise error


def until_failure(items: Iterable[Item], failure: list[Exception]) -> Iterator[Item]:
    """The items of a stream; an exception that ends it is put on a list instead of raised."""
    try:
        yield from items
    except Exception as error:
        failure.append(error)


class Mark(NamedTuple):
    """What tells a row of an output from every other.

    Attributes:
        name: what a message calls it.
        content: what it is about: names, and a digest of the input or the input itself.
        signature: of the settings; None where these settings make no such row.
    """

    name: str
    content: object
    signature: str | None


class Fault(NamedTuple):
    """What a record that cannot be read is known by.

    Attributes:
        error: why, without the file, which may be named otherwise the next time.
    """

    error: str

    @classmethod
    def of(cls, error: str | None) -> Fault:
        """Take the file off an error.

        >>> Fault.of("./in.jsonl:2: reviews: missing; add a list")
        Fault(error=':2: reviews: missing; add a list')
        """
        return cls(_PATH.sub("", error or "", count=1))


class FinishedRow(Protocol):
    """What every row about a summary says of where it comes from."""

    @property
    def id(self) -> str | None:
        """The product's id, or None where the record could not be read."""
        ...

    @property
    def system(self) -> str | None:
        """The system whose summary it is."""
        ...

    @property
    def signature(self) -> str:
        """The settings that made the row."""
        ...

    @property
    def error(self) -> str | None:
        """Why the summary has no score, or None."""
        ...

    @property
    def input_digest(self) -> str | None:
        """Digest of the texts that were read, or None."""
        ...


def row_mark(row: FinishedRow) -> Mark:
    """The mark of a row about a summary; a record that cannot be read is known by its error."""
    digest = row.input_digest
    content = Fault.of(row.error) if digest is None else (row.id, row.system, digest)
    return Mark(_called(row.id, row.system), content, row.signature)


def _called(identity: str | None, system: str | None) -> str:
    """What a message calls a row."""
    if system is not None:
        return f"{identity!r} by {system!r}"
    return "a record that could not be read" if identity is None else repr(identity)


def summary_marks(
    item: Record, signature: str, digest: Callable[[Product, Summary], str]
) -> list[Mark]:
    """The marks that :func:`row_mark` finds in the rows of an item.

    Args:
        item: a row for each summary, or one for a bad record.
        signature: of its rows in this run.
        digest: of everything in the input that a row depends on.
    """
    if isinstance(item, BadRecord):
        return [Mark(_called(item.id, item.system), Fault.of(item.error), signature)]
    return [
        Mark(_called(item.id, one.system), (item.id, one.system, digest(item, one)), signature)
        for one in item.summaries
    ]


@dataclass(slots=True, kw_only=True)
class Finished(Generic[Row]):
    """What an earlier run of the same output has written, taken row by row.

    Attributes:
        path: the output.
        rows: its rows in order.
        mark: tells them apart; called once for each.
        made: what a message calls that which settings make.
        changed: what it says of a row whose texts are others now.
        misplaced: what it says of a row in whose place the input has another.
        unknown: what it says of a row for which the input has nothing left.
        drop: takes the last row off the output. It is dropped where a record could not be read and
            now can, which is what becomes of input that was cut short. None where no row can be.
        advice: what it adds about rows of other settings.
        in_order: whether all that has a mark has a row, in input order. Otherwise what failed has
            none; it is tried again, and its row stands below those of items that come after it.
        row: the next row that is not kept, once :meth:`advance` was called; None after the last.
    """

    path: Path
    rows: Iterator[Row]
    mark: Callable[[Row], Mark] = row_mark  # type: ignore[assignment]
    made: str = "scores"
    changed: str = "whose input has changed since"
    misplaced: str = "which is not what this input has in its place"
    unknown: str = misplaced
    drop: Callable[[], object] | None = None
    advice: str = ""
    in_order: bool = True
    row: Row | None = field(default=None, init=False)
    _mark: Mark = field(default=Mark("", None, None), init=False)
    _deferred: dict[str, list[tuple[int, Mark]]] = field(default_factory=dict, init=False)

    def advance(self) -> None:
        """Go on to the next row."""
        self.row = next(self.rows, None)
        if self.row is not None:
            self._mark = self.mark(self.row)

    def take(self, expected: Mark, keep: Callable[[Row], object]) -> bool:
        """Keep the current row and go on to the next, if it is the one expected."""
        if self.row is None:
            return False
        same = self._mark.content == expected.content
        known = same or (self.in_order and self._mark.name == expected.name)
        # Settings may decide what of the input matters, and so whether its content is the same.
        if known and self._mark.signature != expected.signature:
            found = f"{self.made} of other settings ({self._mark.signature})"
            raise foreign_output(self.path, found, advice=self.advice)
        if not same:
            if self.in_order and not self._dropped():
                raise self.foreign(self._difference(expected))
            return False
        keep(self.row)
        self.advance()
        return True

    def _dropped(self) -> bool:
        """Drop the current row, if it is the last and only says that a record was unreadable."""
        if self.drop is None or not isinstance(self._mark.content, Fault):
            return False
        why = self._mark
        self.advance()
        if self.row is None:
            self.drop()
            return True
        self._mark = why
        return False

    def _difference(self, expected: Mark) -> str:
        """What a message says of the current row, in whose place another is expected."""
        if isinstance(self._mark.content, Fault) and not isinstance(expected.content, Fault):
            return (
                f"where this input has {expected.name} now (to keep the rows above it, delete its "
                "line and those below)"
            )
        if self._mark.name != expected.name:
            return self.misplaced
        both = isinstance(self._mark.content, Fault) and isinstance(expected.content, Fault)
        return "whose error is another one now" if both else self.changed

    def defer(self, number: int, marks: Iterable[Mark]) -> None:
        """Remember what an item without its row would have had."""
        for mark in marks:
            self._deferred.setdefault(mark.name, []).append((number, mark))

    def late(self, keep: Callable[[Row], object]) -> Iterator[int]:
        """The deferred items whose rows come now, which were tried again and written later."""
        while self.row is not None:
            places = self._deferred.get(self._mark.name, [])
            found = next((entry for entry in places if self.take(entry[1], keep)), None)
            if found is None:
                return
            places.remove(found)
            yield found[0]

    def unmatched(self) -> str:
        """What a message says of the current row, once the whole input was read."""
        seen = not self.in_order and self._mark.name in self._deferred
        return "which this input has with other texts or summaries" if seen else self.unknown

    def foreign(self, why: str) -> InputError:
        """The error of a row that this run would not have written."""
        return foreign_output(self.path, f"{self._mark.name}, {why}")


def skip_finished(
    items: Iterable[Item],
    finished: Finished[Row],
    *,
    marks: Callable[[Item], Sequence[Mark]],
    keep: Callable[[Row], object],
    rest: Callable[[Item, Sequence[int]], Item] = Selection.rest,  # type: ignore[assignment]
) -> Iterator[Item]:
    """Leave out what an earlier run has finished, checking that it was the same run.

    Args:
        items: the input, from its beginning.
        finished: the earlier run.
        marks: of the rows that this run would write about an item; those without are never done.
        keep: called with each finished row.
        rest: an item with only those of its rows that stand at these places.

    Yields:
        What is still to be done, in input order. Nothing is yielded before every row has found its
        item, so that a refusal costs nothing and leaves the output untouched.

    Raises:
        InputError: a row belongs to other input or other settings.
    """
    finished.advance()
    source, waiting = enumerate(items), dict[int, Item]()
    while finished.row is not None:
        number, item = next(source, (0, None))
        if item is None:
            raise finished.foreign(finished.unmatched())
        expected = marks(item)
        left = [at for at, mark in enumerate(expected) if not finished.take(mark, keep)]
        if left or not expected:
            waiting[number] = rest(item, left) if len(left) < len(expected) else item
            finished.defer(number, [expected[place] for place in left])
        else:
            for late in finished.late(keep):
                del waiting[late]
    yield from waiting.values()
    for _, item in source:
        yield item


class Tally(Generic[Row]):
    """Counts rows, those of an earlier run too, and says why some have no value.

    Args:
        output: where rows of an earlier run stand.
        note: shows a line to the user.
        limited: whether only the first errors are shown, the others being in the rows.

    Attributes:
        earlier: rows that were there already.
        made: rows of this run.
        failed: rows with an error, and records without a row.
    """

    def __init__(
        self, output: Path | None, note: Callable[[str], None], *, limited: bool = True
    ) -> None:
        self._output = output
        self._note = note
        self._limited = limited
        self.earlier = self.made = self.failed = 0
        self._shown = self._hidden = 0

    @property
    def scored(self) -> int:
        """Rows without an error, where all that fails has a row."""
        return self.earlier + self.made - self.failed

    def keep(self, row: Row) -> None:
        """Take a row that an earlier run has written."""
        self.earlier += 1
        self.count(row)

    def take(self, row: Row) -> None:
        """Take a row that was just written."""
        self.made += 1
        self.count(row)

    def count(self, row: Row) -> None:
        """Add a row to what the run reports."""

    def fail(self, error: str) -> None:
        """Count something without a value, and show why."""
        self.failed += 1
        self.tell(error)

    def tell(self, error: str) -> None:
        """Show why something that is counted has no value, unless enough was shown."""
        if self._limited and self._shown >= _SHOWN_ERRORS:
            self._hidden += 1
        else:
            self._shown += 1
            self._note(f"error: {error}")

    def good(self, items: Iterable[Record]) -> Iterator[Product]:
        """The products among items; bad records have no row here, and fail."""
        for item in items:
            if isinstance(item, BadRecord):
                self.fail(item.error)
            else:
                yield item

    def note_earlier(self, what: str = "row") -> None:
        """Say how many rows were there already, and what a row is called."""
        if self.earlier:
            there = counted(self.earlier, f"{what} was", f"{what}s were")
            self._note(f"{there} in {self._output} already")

    def note_hidden(self) -> None:
        """Say how many errors were not shown."""
        if self._hidden:
            more = counted(self._hidden, "more error is", "more errors are")
            self._note(f'{more} in the "error" fields of the rows')


class Progress(Protocol):
    """What is told of rows about to be written, perhaps to the screen that it uses itself."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...

    def row(self) -> None:
        """One more row is about to be written."""
        ...


def run(
    items: Iterable[Item],
    compute: Callable[[Iterable[Item]], Iterator[Row]],
    *,
    marks: Callable[[Item], Sequence[Mark]],
    finished: Finished[Any] | None,
    tally: Tally[Row],
    progress: Progress,
    writer: Callable[[ExitStack], RowWriter[Row] | None],
    kept: Callable[[], str],
    worth: Callable[[], object],
    rest: Callable[[Item, Sequence[int]], Item] = Selection.rest,  # type: ignore[assignment]
    check: Callable[[], object] = bool,
) -> PrevalenceError | None:
    """Make rows of what the output lacks, and write each as soon as it is made.

    Args:
        items: the input, see :meth:`Selection.items`.
        compute: makes rows, in input order.
        marks: see :func:`skip_finished`.
        finished: what is left of an earlier run, if there was one.
        tally: counts rows.
        progress: shown meanwhile.
        writer: opens the output, if there is one, which the stack closes.
        kept: says what an interrupted run leaves behind, which the next one need not do.
        worth: whether so much was made that an error leaves the run incomplete, and not void.
        rest: see :func:`skip_finished`.
        check: refuses, in the end, what was asked for and not found.

    Returns:
        What ended the run after a part of it, or None.

    Raises:
        PrevalenceError: nothing could be made.
        KeyboardInterrupt: with a message that says what is kept.
    """
    if finished is not None:
        items = skip_finished(items, finished, marks=marks, keep=tally.keep, rest=rest)
    try:
        with ExitStack() as stack:
            stack.enter_context(progress)
            out = writer(stack)
            for row in compute(items):
                progress.row()
                if out is not None:
                    out.write(row)
                tally.take(row)
            if out is not None:
                out.close()
        check()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted: {kept()}") from None
    except PrevalenceError as error:
        if not worth():
            raise
        return error
    return None
