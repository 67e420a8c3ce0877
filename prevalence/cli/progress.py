"""The progress bar of scoring: on stderr, only where a person watches."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from prevalence.scoring.engine import WorkCounts

__all__ = ["ReadingProgress", "ScoringProgress", "pair_bar"]


class ScoringProgress:
    """Shows summaries done, pairs/s and time left.

    Pairs are counted only as records are read, so the bar follows the bytes read, and within the
    records under way the pairs scored. It is hidden while rows are written, which may go to the
    same terminal.

    Args:
        inputs: paths; there is no time left to show when one is not a regular file.
        counts: the engine's, whose ``naive`` grows as records are read.
        quiet: show nothing.
    """

    def __init__(self, inputs: Sequence[str], *, counts: WorkCounts, quiet: bool) -> None:
        self._counts = counts
        self._total = _bytes_of(inputs)
        self._finished_files = self._in_file = 0
        self._settled_share, self._settled_pairs = 0.0, 0
        self._under_way = self._expected = 0
        self._rows = self._pairs = 0
        self._started: float | None = None
        console = Console(stderr=True)
        # Standard output must stay what it is: the rows may go there.
        self._bar = Progress(
            SpinnerColumn(),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[status]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            redirect_stdout=False,
            disable=quiet or not _watched(console),
        )
        self._task = self._bar.add_task("", total=1.0 if self._total else None, status="reading")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    @property
    def share(self) -> float:
        """Share of the work that is done, in [0, 1]; 0 when the input's size is unknown."""
        ahead = self._read_share() - self._settled_share
        return self._settled_share + ahead * self._under_way / max(self._expected, 1)

    @property
    def status(self) -> str:
        """Summaries, pairs and speed, in words."""
        elapsed = 0.0 if self._started is None else time.monotonic() - self._started
        rate = self._pairs / elapsed if elapsed > 0 else 0.0
        return f"{self._rows:,} summaries · {self._pairs:,} pairs · {rate:,.0f} pairs/s"

    def reader(self) -> Callable[[int], None]:
        """A callback for the next input's reader: bytes consumed of it so far."""
        self._finished_files, self._in_file = self._finished_files + self._in_file, 0

        def read(consumed: int) -> None:
            self._in_file = consumed

        return read

    def planned(self, pairs: int) -> None:
        """A wave of so many pairs begins."""
        if self._started is None:
            self._started = time.monotonic()
        # Before the first wave is answered, only the pairs that the equations name are known.
        admitted = 0 if self._under_way else self._counts.naive - self._settled_pairs
        self._expected = max(self._under_way + pairs, admitted)
        self._bar.start()
        self._show()

    def pause(self) -> None:
        """Make way for a line on stderr, until the next wave."""
        self._bar.stop()

    def scored(self, pairs: int) -> None:
        """So many pairs are done."""
        self._pairs += pairs
        self._under_way += pairs
        self._show()

    def row(self) -> None:
        """A row is about to be written: all that was read is done."""
        self._bar.stop()
        self._rows += 1
        self._settled_share, self._settled_pairs = self._read_share(), self._counts.naive
        self._under_way = self._expected = 0
        self._show()

    def _read_share(self) -> float:
        read = self._finished_files + self._in_file
        return min(read / self._total, 1.0) if self._total else 0.0

    def _show(self) -> None:
        self._bar.update(self._task, completed=self.share, status=self.status)


class ReadingProgress:
    """Shows the share of the input that was read, summaries done and values computed.

    Args:
        inputs: paths; there is no share to show when one is not a regular file.
        quiet: show nothing.
    """

    def __init__(self, inputs: Sequence[str], *, quiet: bool) -> None:
        self._total = _bytes_of(inputs)
        self._finished_files = self._in_file = 0
        self._rows = self._values = 0
        console = Console(stderr=True)
        self._bar = Progress(
            SpinnerColumn(),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[status]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            redirect_stdout=False,
            disable=quiet or not _watched(console),
        )
        self._task = self._bar.add_task("", total=self._total or None, status="reading")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    @property
    def status(self) -> str:
        """Summaries and values, in words."""
        return f"{self._rows:,} summaries · {self._values:,} values"

    def reader(self) -> Callable[[int], None]:
        """A callback for the next input's reader: bytes consumed of it so far."""
        self._finished_files, self._in_file = self._finished_files + self._in_file, 0

        def read(consumed: int) -> None:
            self._in_file = consumed

        return read

    def computed(self, values: int) -> None:
        """So many values more are there."""
        self._values += values
        self._bar.start()
        read = min(self._finished_files + self._in_file, self._total)
        self._bar.update(self._task, completed=read, status=self.status)

    def row(self) -> None:
        """A row is about to be written, perhaps to the same terminal."""
        self._bar.stop()
        self._rows += 1


@contextmanager
def pair_bar(pairs: int, *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """A bar over a known number of pairs; gives the callback that takes pairs just scored."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), BarColumn(bar_width=20), MofNCompleteColumn(),
               TextColumn("pairs"), TimeRemainingColumn())  # fmt: skip
    with Progress(
        *columns,
        console=console,
        transient=True,
        redirect_stdout=False,
        disable=quiet or not _watched(console),
    ) as bar:
        task = bar.add_task("", total=pairs)
        yield lambda scored: bar.update(task, advance=scored)


def _watched(console: Console) -> bool:
    return sys.stderr.isatty() and not console.is_dumb_terminal


def _bytes_of(inputs: Sequence[str]) -> int:
    if any(path == "-" or not os.path.isfile(path) for path in inputs):
        return 0
    return sum(os.path.getsize(path) for path in inputs)
