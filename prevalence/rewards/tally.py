"""What a batch of scored summaries is like, as sums: they add up over batches and processes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from prevalence.records import BadRecord, ScoredSummary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prevalence.rewards.batch import Outcome

__all__ = ["Tally"]


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over summaries and over their sentences.

    Attributes:
        prevalence: sum over scored summaries.
        scored: summaries with a score.
        failed: rows whose reviews or name cannot be used.
        unscorable: summaries that cannot be scored.
        sentences: of scored summaries, as are those below.
        trivial: sentences that having bought the product implies.
        redundant: sentences that an earlier one implies.
        unsupported: sentences that count and that no review implies.
        contradicted: sentences that count and that more reviews contradict than imply.
        judged: sentences of which it is known whether reviews contradict them.
    """

    prevalence: float = 0.0
    scored: int = 0
    failed: int = 0
    unscorable: int = 0
    sentences: int = 0
    trivial: int = 0
    redundant: int = 0
    unsupported: int = 0
    contradicted: int = 0
    judged: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Tally:
        """The sums of some outcomes."""
        return sum(map(_one, outcomes), cls())

    def __add__(self, other: Tally) -> Tally:
        names = [field.name for field in fields(Tally)]
        return Tally(*(getattr(self, name) + getattr(other, name) for name in names))

    @property
    def rows(self) -> int:
        """Summaries and bad rows."""
        return self.scored + self.failed + self.unscorable

    def metrics(self) -> dict[str, float]:
        """Means and shares by name; what nothing is known of is left out.

        ``prevalence`` and ``sentences`` are means over scored summaries; ``trivial``,
        ``redundant``, ``unsupported`` and ``contradicted`` are shares of their sentences;
        ``failed`` and ``unscorable`` are shares of all rows.
        """
        found: dict[str, float] = {}
        if self.scored:
            found["prevalence"] = self.prevalence / self.scored
            found["sentences"] = self.sentences / self.scored
        if self.sentences:
            for name in ("trivial", "redundant", "unsupported"):
                found[name] = getattr(self, name) / self.sentences
            if self.judged:
                found["contradicted"] = self.contradicted / self.sentences
        if self.rows:
            found["failed"] = self.failed / self.rows
            found["unscorable"] = self.unscorable / self.rows
        return found


def _one(outcome: Outcome) -> Tally:
    if isinstance(outcome, BadRecord):
        return Tally(failed=1)
    if outcome.prevalence is None:
        return Tally(unscorable=1)
    return _scored(outcome, outcome.prevalence)


def _scored(row: ScoredSummary, prevalence: float) -> Tally:
    counted = [sentence for sentence in row.sentences if sentence.counts]
    judged = [s for s in counted if s.contradicted_by is not None]
    return Tally(
        prevalence=prevalence,
        scored=1,
        sentences=row.n_sentences,
        trivial=sum(s.trivial for s in row.sentences),
        redundant=sum(s.redundant_with is not None for s in row.sentences),
        unsupported=sum(s.unsupported for s in counted),
        contradicted=sum((s.contradicted_by or 0) > (s.support or 0) for s in judged),
        judged=len(judged),
    )
