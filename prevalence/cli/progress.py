"""The progress bar of scoring: on stderr, only where a person watches."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

__all__ = ["ScoringProgress"]

_WINDOW_SECONDS = 30.0


class ScoringProgress:
    """Shows the share of the input read, summaries done, pairs/s and time left.

    The number of pairs is not known before the input is read, so the bar follows the input's
    bytes, refined by the pairs of the wave under way.

    Args:
        inputs: paths; the total is unknown when one is not a regular file.
        quiet: show nothing.
    """

    def __init__(self, inputs: Sequence[str], *, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._total = _bytes_of(inputs)
        self._before = 0
        self._at = 0
        self._settled = 0.0
        self._wave = (0, 0)
        self._rows = 0
        self._marks: list[tuple[float, int]] = [(time.monotonic(), 0)]
        self._pairs = 0
        self._bar = Progress(
            SpinnerColumn(),
            BarColumn(),
            TextColumn("{task.fields[status]}"),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=Console(stderr=True),
            transient=True,
            disable=not self._shown,
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

    def reader(self) -> Callable[[int], None]:
        """A callback for the next input's reader: bytes consumed of it so far."""
        self._before, self._at = self._before + self._at, 0

        def read(consumed: int) -> None:
            self._at = consumed

        return read

    def planned(self, pairs: int) -> None:
        """A wave of so many pairs begins."""
        self._wave = (0, pairs)

    def scored(self, pairs: int) -> None:
        """So many pairs are done."""
        self._pairs += pairs
        self._wave = (self._wave[0] + pairs, self._wave[1])
        self._marks.append((time.monotonic(), self._pairs))
        while self._marks[-1][0] - self._marks[0][0] > _WINDOW_SECONDS and len(self._marks) > 2:
            self._marks.pop(0)
        self._show()

    def row(self) -> None:
        """A row is written."""
        self._rows += 1
        self._settled = self._read_share()
        self._wave = (0, 0)
        self._show()

    def _read_share(self) -> float:
        return (self._before + self._at) / self._total if self._total else 0.0

    def _show(self) -> None:
        if not self._shown:
            return
        done, size = self._wave
        share = self._settled + (self._read_share() - self._settled) * (done / size if size else 0)
        (start, first), (end, last) = self._marks[0], self._marks[-1]
        rate = (last - first) / (end - start) if end > start else 0.0
        status = f"{self._rows:,} summaries · {self._pairs:,} pairs · {rate:,.0f} pairs/s"
        self._bar.update(self._task, completed=min(share, 1.0), status=status)


def _bytes_of(inputs: Sequence[str]) -> int:
    if any(path == "-" or not os.path.isfile(path) for path in inputs):
        return 0
    return sum(os.path.getsize(path) for path in inputs)
