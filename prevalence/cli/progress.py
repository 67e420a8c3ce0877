"""Progress of runs: on stderr, only where a person watches."""

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
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["RunProgress", "pair_bar"]


class RunProgress:
    """Shows rows done, what was counted for them and how fast, and the time left.

    The bar follows the bytes read. Where waves of work are announced (``planned``), it follows
    within the records under way what was counted. It is hidden while rows are written, which may
    go to the same terminal.

    Args:
        inputs: paths; there is no time left to show when one is not a regular file.
        rows: what a row stands for, in the plural.
        counted: what is counted, in the plural.
        admitted: how much of that the records read so far may take at most, where it is known
            before it is planned.
        quiet: show nothing.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        *,
        rows: str = "summaries",
        counted: str = "pairs",
        admitted: Callable[[], int] = int,
        quiet: bool,
    ) -> None:
        self._names = rows, counted
        self._admitted = admitted
        self._total = _bytes_of(inputs)
        self._finished_files = self._in_file = 0
        self._settled_share, self._settled_count = 0.0, 0
        self._under_way = self._expected = 0
        self._rows = self._count = 0
        self._started: float | None = None
        self._bar = _bar(TextColumn("{task.fields[status]}"), quiet=quiet)
        self._task = self._bar.add_task("", total=1.0 if self._total else None, status="reading")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    @property
    def share(self) -> float:
        """Share of the work that is done, in [0, 1]; 0 when the input's size is unknown."""
        ahead = self._read_share() - self._settled_share
        done = self._under_way / self._expected if self._expected else 1.0
        return self._settled_share + ahead * min(done, 1.0)

    @property
    def status(self) -> str:
        """Rows, what was counted, and speed, in words."""
        elapsed = 0.0 if self._started is None else time.monotonic() - self._started
        rate = self._count / elapsed if elapsed > 0 else 0.0
        rows, counted = self._names
        return f"{self._rows:,} {rows} · {self._count:,} {counted} · {rate:,.0f} {counted}/s"

    def reader(self) -> Callable[[int], None]:
        """A callback for the next input's reader: bytes consumed of it so far."""
        self._finished_files, self._in_file = self._finished_files + self._in_file, 0

        def read(consumed: int) -> None:
            self._in_file = consumed

        return read

    def planned(self, count: int) -> None:
        """A wave of so much work begins."""
        # Before the first wave is answered, only what the records may take is known.
        most = 0 if self._under_way else self._admitted() - self._settled_count
        self._expected = max(self._under_way + count, most)
        self._show()

    def pause(self) -> None:
        """Make way for a line on stderr, until work goes on."""
        self._bar.stop()

    def done(self, count: int) -> None:
        """So much work is done."""
        self._count += count
        self._under_way += count
        self._show()

    def row(self) -> None:
        """A row is about to be written: all that was read is done."""
        self._bar.stop()
        self._rows += 1
        self._settled_share, self._settled_count = self._read_share(), self._admitted()
        self._under_way = self._expected = 0

    def _read_share(self) -> float:
        read = self._finished_files + self._in_file
        return min(read / self._total, 1.0) if self._total else 0.0

    def _show(self) -> None:
        if self._started is None:
            self._started = time.monotonic()
        self._bar.start()
        self._bar.update(self._task, completed=self.share, status=self.status)


@contextmanager
def pair_bar(pairs: int, *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """A bar over a known number of pairs; gives the callback that takes pairs just scored."""
    with _bar(MofNCompleteColumn(), TextColumn("pairs"), quiet=quiet) as bar:
        task = bar.add_task("", total=pairs)
        yield lambda scored: bar.update(task, advance=scored)


def _bar(*columns: ProgressColumn, quiet: bool) -> Progress:
    console = Console(stderr=True)
    watched = sys.stderr.isatty() and not console.is_dumb_terminal
    return Progress(
        SpinnerColumn(),
        BarColumn(bar_width=20),
        *columns,
        TimeRemainingColumn(),
        console=console,
        transient=True,
        # Standard output must stay what it is: the rows may go there.
        redirect_stdout=False,
        disable=quiet or not watched,
    )


def _bytes_of(inputs: Sequence[str]) -> int:
    if any(path == "-" or not os.path.isfile(path) for path in inputs):
        return 0
    return sum(os.path.getsize(path) for path in inputs)
