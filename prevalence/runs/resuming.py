"""What an earlier run of the same output has finished, which the next one need not do again."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from prevalence.errors import InputError, foreign_output
from prevalence.records import BadRecord, Product, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = [
    "Finished",
    "FinishedRow",
    "Mark",
    "record_mark",
    "record_marks",
    "rest_of",
    "row_mark",
    "skip_finished",
    "summary_marks",
]

Item = TypeVar("Item")
Row = TypeVar("Row")

_PATH = re.compile(r".*?(?=(?::\d+|\[\d+\])*: )")
"""The file that the error of a record begins with, up to the place in it."""


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
    item: Product | BadRecord, signature: str, digest: Callable[[Product, Summary], str]
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


def record_mark(
    key: str, source: Callable[[Mapping[str, Any]], object]
) -> Callable[[Mapping[str, Any]], Mark]:
    """The mark of a record that a run has written with more in it.

    Args:
        key: of the record that holds the signature of the settings.
        source: what of a record is as it was in the input.

    Returns:
        What gives the mark of a record.
    """
    return lambda record: Mark(repr(record.get("id")), source(record), str(record.get(key)))


def record_marks(
    item: Product | BadRecord, signature: str, source: Callable[[Mapping[str, Any]], object]
) -> list[Mark]:
    """The marks that :func:`record_mark` finds in the record of an item.

    Args:
        item: a product; a bad record is in no output.
        signature: of its record in this run.
        source: as in :func:`record_mark`.
    """
    if isinstance(item, BadRecord):
        return []
    record = item.to_json()
    return [Mark(repr(record.get("id")), source(record), signature)]


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


def rest_of(item: Product | BadRecord, left: Sequence[int]) -> Product | BadRecord:
    """A record with some of its summaries, by their places."""
    if isinstance(item, BadRecord):
        return item
    return item.part([item.summaries[place] for place in left])


def skip_finished(
    items: Iterable[Item],
    finished: Finished[Row],
    *,
    marks: Callable[[Item], Sequence[Mark]],
    keep: Callable[[Row], object],
    rest: Callable[[Item, Sequence[int]], Item] = rest_of,  # type: ignore[assignment]
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
