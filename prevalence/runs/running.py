"""A run of a command: chunk, compute, write in order, report.

Every command that makes rows out of records goes through here, so that all of them go on after a
kill and end in the same way; what differs is how a row is made.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

from prevalence.errors import PrevalenceError
from prevalence.records import BadRecord, Product
from prevalence.runs.resuming import rest_of, skip_finished
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from prevalence.runs.resuming import Finished, Mark
    from prevalence.writers import RowWriter

__all__ = ["Incomplete", "Progress", "Tally", "chunks", "run", "until_failure"]

Item = TypeVar("Item")
Row = TypeVar("Row")

_SHOWN_ERRORS = 20


class Incomplete(Exception):  # noqa: N818 - a state, not an error of its own
    """Raised from the error that ended a run which had made something by then."""


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

    def good(self, items: Iterable[Product | BadRecord]) -> Iterator[Product]:
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
    rest: Callable[[Item, Sequence[int]], Item] = rest_of,  # type: ignore[assignment]
    check: Callable[[], object] = bool,
) -> PrevalenceError | None:
    """Make rows of what the output lacks, and write each as soon as it is made.

    Args:
        items: the input, see :meth:`~prevalence.runs.selection.Selection.items`.
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
