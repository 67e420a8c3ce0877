"""What a report shows: lines of systems, products with reviews, summaries with sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prevalence.scoring.systems import Standing, SystemStatistics

__all__ = [
    "CONTRADICTS",
    "NOT_ASKED",
    "REFERENCES",
    "SILENT",
    "SUPPORTS",
    "ReportLeftOut",
    "ReportProduct",
    "ReportReview",
    "ReportSentence",
    "ReportSummary",
    "SystemLine",
]

SUPPORTS, CONTRADICTS, SILENT, NOT_ASKED = "scn-"
"""States of a cell: a review's answer about a sentence; in capitals where it is doubtful."""

REFERENCES: Mapping[str, str] = {"floor": "random", "ceiling": "greedy"}
"""Systems, as ``prevalence summarize`` names them, whose mean is the floor or ceiling of others."""


class ReportReview(NamedTuple):
    """A review as the report shows it."""

    text: str
    id: str | None
    rating: float | None


class ReportLeftOut(NamedTuple):
    """A statement that a summary leaves out, and the reviews that make it, by id or index."""

    text: str
    support: int
    asked: int
    reviews: list[int | str]


@dataclass(frozen=True, slots=True)
class ReportSentence:
    """A sentence (or claim) of a summary.

    Attributes:
        text: the sentence.
        support: number of reviews that imply it; None where they were not asked.
        against: number of reviews that contradict it; None where not known.
        mask: why it does not count, or None.
        quantity: how many people it speaks of, and whether the reviews agree; None without.
        cells: a state for each review.
        entailment: P(entailment) by review, None where not asked; empty where none was.
        contradiction: likewise P(contradiction), where the row has it.
        evidence: passages, as rows have them.
        kinds: what a filter finds it by.
    """

    text: str
    support: int | None
    against: int | None
    mask: str | None
    quantity: str | None
    cells: str
    entailment: tuple[float | None, ...]
    contradiction: tuple[float | None, ...]
    evidence: tuple[Mapping[str, Any], ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """One system's summary of a product, and every value that rows give it.

    Attributes:
        system: its name.
        names: of the figures that its rows are for, whether they have a value or not.
        sentences: none without a prevalence row.
        n_reviews: of that row.
        values: figure by name, prevalence first.
        samples: every score behind a value that is a mean, by its name.
        prefix_curve: prevalence of the best supported 1, 2, ... sentences.
        left_out: statements that reviews make and the summary does not, the most supported first.
        notes: errors and warnings.
        failed: whether a row has an error.
        threshold: that decided, where the signature says it.
    """

    system: str
    names: frozenset[str] = frozenset()
    sentences: tuple[ReportSentence, ...] = ()
    n_reviews: int = 0
    values: dict[str, float] = field(default_factory=dict)
    samples: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    prefix_curve: tuple[float, ...] = ()
    left_out: tuple[ReportLeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    failed: bool = False
    threshold: float | None = None

    @property
    def faults(self) -> int:
        """Sentences that reviews contradict or none supports."""
        return sum(bool({"unsupported", "contradicted"} & {*s.kinds}) for s in self.sentences)


@dataclass(slots=True)
class ReportProduct:
    """A product with its summaries.

    Attributes:
        id: as rows give it.
        summaries: by system.
        name: of its record, where that is known.
        reviews: of its record, empty where that is not known.
        digests: of the input of its prevalence rows.
    """

    id: str
    summaries: dict[str, ReportSummary] = field(default_factory=dict)
    name: str | None = None
    reviews: tuple[ReportReview, ...] = ()
    digests: set[str] = field(default_factory=set)

    @property
    def failed(self) -> bool:
        """Whether any row has an error."""
        return any(summary.failed for summary in self.summaries.values())

    @property
    def faults(self) -> int:
        """Faulty sentences of all its summaries."""
        return sum(summary.faults for summary in self.summaries.values())


class SystemLine(NamedTuple):
    """A system's line at the top.

    Attributes:
        name: the system's.
        statistics: of its prevalence rows; None without any.
        standing: its group, and how far it lies behind the best system; None without a second
            system to compare with.
        p: of equal means with the best system, two-sided, by a paired randomization test; None for
            that system itself, and without a second one.
        means: mean of every further figure that its rows carry, by name; ``floor`` and ``ceiling``
            are of the systems in :data:`REFERENCES` where the rows have none, and the figures of
            profiles are those of ``statistics``.
    """

    name: str
    statistics: SystemStatistics | None
    standing: Standing | None
    p: float | None
    means: Mapping[str, float]
