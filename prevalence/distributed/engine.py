"""The engine's place taken by a cluster: the same rows in the same order, scored elsewhere."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from prevalence.distributed.reading import Reading
from prevalence.distributed.splits import Split, count_lines, numbered, plan_splits
from prevalence.distributed.worker import (
    Description,
    Failure,
    Outline,
    SplitScorer,
    counted,
    describe,
    identities,
)
from prevalence.errors import BackendError, InputError
from prevalence.nli.pairs import ScorerCounts
from prevalence.scored import ScoredSummary
from prevalence.scoring.engine import WorkCounts, add_name
from prevalence.scoring.options import ScoringOptions
from prevalence.scoring.unread_values import UnreadValues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from prevalence.distributed.cluster import Pool
    from prevalence.nli.pairs import Progress
    from prevalence.runs.resuming import Mark
    from prevalence.scoring.engine import Engine

__all__ = ["DistributedEngine"]


class DistributedEngine:
    """Scores files on a cluster as :class:`prevalence.scoring.engine.Engine` scores products.

    Rows come in input order, and are those of one process: workers run the package's engine.

    Args:
        pool: workers of an open cluster, see :meth:`prevalence.distributed.Cluster.open`.
        files: JSON Lines, gzipped or not, or Parquet; every node sees them under these names.
        open_engine: opens the engine; sent to the workers, and called once in each.
        reading: how records are read.
        split_bytes: bytes of input that a worker takes at a time, see
            :func:`prevalence.distributed.splits.plan_splits`.

    Attributes:
        threshold: entailment is decided above this probability.
        calibrated: whether the threshold was calibrated or chosen, and not only assumed.
        error_rates: those that scores are corrected for, or None.
        cached: whether caches keep the answers of the workers' scorers.
        counts: work of the splits whose rows have been given.
        foreign: ids of products in them that are probably not in English, as far as workers
            name them.
        unread: values of reviews in them that could not be read as the options ask.
        systems: who wrote the summaries that were seen so far.
        finished: whether the input was read to its end.
        read: bytes of the input whose rows have been given.
        scorer_counts: what the workers' scorers did for the splits whose rows have been given.

    Raises:
        InputError: a file is missing, or cannot be read by many.
        PrevalenceError: no worker can open the engine; the message is the worker's.
    """

    def __init__(
        self,
        pool: Pool,
        files: Sequence[str],
        open_engine: Callable[[], Engine],
        *,
        reading: Reading | None = None,
        split_bytes: int | None = None,
    ) -> None:
        self._pool = pool
        self._open_engine = open_engine
        self._reading = reading or Reading()
        splits = plan_splits(
            files,
            workers=pool.size,
            source_format=self._reading.source_format,
            split_bytes=split_bytes,
        )
        found = pool.once(describe, open_engine)
        if isinstance(found, Failure):
            found.throw()
        self._known: Description = found
        self.threshold, self.calibrated, self.cached = (
            found.threshold, found.calibrated, found.cached,
        )  # fmt: skip
        self.error_rates = found.error_rates
        self._splits = numbered(splits, pool.each(count_lines, ((split,) for split in splits)))
        self._done: Callable[[int], None] | None = None
        self.counts = WorkCounts()
        self.foreign: list[str] = []
        self.unread = UnreadValues(ScoringOptions())
        self.read = 0
        self.systems: set[str] = set()
        self.finished = False
        self.scorer_counts = ScorerCounts()
        self._told: set[str] = set()

    @staticmethod
    def marks(item: Outline) -> Sequence[Mark]:
        """What tells the rows of an item from those of other input or other settings."""
        return item.marks

    rest = staticmethod(Outline.rest)

    def check(self) -> None:
        """Refuse wanted systems that no record has, once all were read.

        Raises:
            InputError: a name stands for no system of the input.
        """
        missing = sorted(self._reading.systems - self.systems)
        if missing and self.finished:
            raise InputError(f"--systems: no summary by {', '.join(missing)} in the input")

    def items(self, reader: Callable[[], Callable[[int], None]] | None = None) -> Iterator[Outline]:
        """The input without its texts, read by the workers as far as it is asked for.

        Args:
            reader: gives what is told, while :meth:`run` gives rows, the bytes of input done so
                far.

        Yields:
            An outline of each item. Leave out those that are done, from the first on, and give
            the others to :meth:`run`.

        Raises:
            InputError: a file cannot be read; the items before come first.
        """
        self._done = None if reader is None else reader()
        reading = self._pool.shared(self._reading)
        asked = ((split, place, reading, self._known) for place, split in enumerate(self._splits))
        for found, failure in self._pool.each(identities, asked):
            for item in found:
                self.systems.update(item.systems)
                yield item
            if failure is not None:
                failure.throw()
        self.finished = True

    def run(
        self,
        items: Iterable[Outline],
        *,
        progress: Progress | None = None,
        planned: Callable[[int], None] | None = None,
        announced: Callable[[int], None] | None = None,  # noqa: ARG002 - the engine's shape
    ) -> Iterator[ScoredSummary]:
        """Score the input from an item on; see :meth:`prevalence.scoring.engine.Engine.run`.

        Args:
            items: what is left of :meth:`items`; only the first is looked at.
            progress: called with the number of pairs that a split took.
            planned: called, with 0, when work goes on after rows were given.
            announced: not called: workers have no word to say before they are done.

        Yields:
            One scored summary for each summary and bad record, in input order. When a file fails,
            the rows of what was read before come first and the failure is raised then.

        Raises:
            BackendError: a worker has died over the same split several times, or the cluster has.
        """
        first = next(iter(items), None)
        if first is None:
            return
        left = self._from(first)
        known = {
            "open_engine": self._open_engine,
            "reading": self._reading,
            "expected": self._known,
        }
        tasks = [{"place": place, **asdict(split)} for place, split in left]
        reports = self._pool.stream(SplitScorer, known, tasks)
        for place, split in left:
            if planned is not None:
                planned(0)
            report = next(reports, None)
            if report is None or report["place"] != place:
                raise BackendError(
                    f"the cluster gave no rows of {split.name} from {split.kind} {split.start} "
                    "on; the same command continues from there"
                )
            self._count(split, report, progress)
            for row in report["rows"]:
                scored = ScoredSummary.from_json(json.loads(row))
                self.systems.update([scored.system] if scored.system else [])
                yield scored
            if report["failure"]:
                Failure(*report["failure"]).throw()
        self.finished = True

    def _from(self, first: Outline) -> list[tuple[int, Split]]:
        """The splits from an item on, the first without what comes before the item."""
        left = list(enumerate(self._splits))[first.place :]
        split = replace(left[0][1], skip=first.number, last=len(first.marks))
        left[0] = first.place, split
        self.read = sum(split.size for split in self._splits[: first.place])
        return left

    def _count(self, split: Split, report: dict[str, Any], progress: Progress | None) -> None:
        before = self.counts.unique
        counted(self.counts, report["counts"])
        for name in report["foreign"]:
            add_name(self.foreign, name)
        self.unread.join(report["unread"])
        self.scorer_counts += ScorerCounts(*report["scorer_counts"])
        self._warn(report["warnings"])
        self.read += split.size
        if self._done is not None:
            self._done(self.read)
        if progress is not None:
            progress(self.counts.unique - before)

    def _warn(self, texts: Sequence[str]) -> None:
        """Say what workers were warned of, the same once."""
        for text in texts:
            if text not in self._told:
                self._told.add(text)
                warnings.warn(text, RuntimeWarning, stacklevel=2)
