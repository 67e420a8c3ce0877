"""Per-system statistics of a run, gathered row by row in a few numbers a summary."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from prevalence.records import ScoredSummary
from prevalence.statistics import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    TESTS,
    Interval,
    PairedTest,
    ProductScores,
    bootstrap_interval,
)

__all__ = ["Comparison", "SystemStatistics", "SystemTable"]


@dataclass(frozen=True, slots=True)
class SystemStatistics:
    """A system's line in the table.

    Attributes:
        system: its name.
        summaries: number of scored summaries.
        failed: number of rows without a score.
        prevalence: unweighted mean over its summaries; NaN without any.
        soft_prevalence: likewise of soft prevalence, or None.
        interval: 95% bootstrap interval over products, or None with fewer than two.
        sentences: mean sentences a summary.
        characters: mean characters a summary, without the white space between sentences.
        trivial, redundant, unsupported: shares of all its sentences, in [0, 1]; unsupported
            sentences are those that count and that no review implies.
    """

    system: str
    summaries: int
    failed: int
    prevalence: float
    soft_prevalence: float | None
    interval: Interval | None
    sentences: float
    characters: float
    trivial: float
    redundant: float
    unsupported: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired test between two systems."""

    first: str
    second: str
    result: PairedTest


@dataclass(slots=True)
class _System:
    products: array[int] = field(default_factory=lambda: array("l"))
    scores: array[float] = field(default_factory=lambda: array("d"))
    soft: array[float] = field(default_factory=lambda: array("d"))
    failed: int = 0
    sentences: int = 0
    characters: int = 0
    trivial: int = 0
    redundant: int = 0
    unsupported: int = 0


class SystemTable:
    """Collects rows; memory grows by a few numbers a summary, not by texts."""

    def __init__(self) -> None:
        self._systems: dict[str, _System] = {}
        self._products: dict[str, int] = {}
        self.unreadable = 0

    def add(self, row: ScoredSummary) -> None:
        """Count a row."""
        if row.system is None:
            self.unreadable += 1
            return
        system = self._systems.setdefault(row.system, _System())
        if row.prevalence is None:
            system.failed += 1
            return
        product = self._products.setdefault(str(row.id), len(self._products))
        system.products.append(product)
        system.scores.append(row.prevalence)
        if row.soft_prevalence is not None:
            system.soft.append(row.soft_prevalence)
        system.sentences += row.n_sentences
        system.characters += sum(len(sentence.text) for sentence in row)
        system.trivial += sum(sentence.trivial for sentence in row)
        system.redundant += sum(sentence.redundant_with is not None for sentence in row)
        system.unsupported += sum(s.counts and s.support == 0 for s in row)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names in order of first appearance."""
        return tuple(self._systems)

    @property
    def failed(self) -> int:
        """Rows without a score."""
        return self.unreadable + sum(system.failed for system in self._systems.values())

    @property
    def scored(self) -> int:
        """Rows with a score."""
        return sum(len(system.scores) for system in self._systems.values())

    def statistics(
        self, *, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
    ) -> list[SystemStatistics]:
        """One entry a system, in order of first appearance."""
        return [self._statistics(name, resamples, seed) for name in self._systems]

    def product_scores(self, system: str) -> ProductScores:
        """The system's scores, summed by product, aligned over all systems."""
        entry = self._systems[system]
        places = np.frombuffer(entry.products, dtype=np.dtype("l"))
        size = len(self._products)
        return ProductScores(
            np.bincount(places, weights=np.frombuffer(entry.scores), minlength=size),
            np.bincount(places, minlength=size).astype(np.float64),
        )

    def compare(
        self, test: str, *, resamples: int, seed: int, systems: Sequence[str] | None = None
    ) -> list[Comparison]:
        """Every pair of systems under a paired test of :data:`prevalence.statistics.TESTS`."""
        names = [name for name in systems or self._systems if len(self._systems[name].scores)]
        scores = {name: self.product_scores(name) for name in names}
        return [
            Comparison(a, b, TESTS[test](scores[a], scores[b], resamples=resamples, seed=seed))
            for place, a in enumerate(names)
            for b in names[place + 1 :]
        ]

    def _statistics(self, name: str, resamples: int, seed: int) -> SystemStatistics:
        entry = self._systems[name]
        count, sentences = len(entry.scores), max(entry.sentences, 1)
        scores = self.product_scores(name) if count else None
        return SystemStatistics(
            system=name,
            summaries=count,
            failed=entry.failed,
            prevalence=scores.mean if scores else float("nan"),
            soft_prevalence=float(np.mean(entry.soft)) if entry.soft else None,
            interval=bootstrap_interval(scores, resamples=resamples, seed=seed)
            if scores
            else None,
            sentences=entry.sentences / max(count, 1),
            characters=entry.characters / max(count, 1),
            trivial=entry.trivial / sentences,
            redundant=entry.redundant / sentences,
            unsupported=entry.unsupported / sentences,
        )
