"""From a scored summary to a reward: prevalence as it is, or shaped against being gamed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prevalence.errors import ConfigurationError

if TYPE_CHECKING:
    from prevalence.records import ScoredSummary

__all__ = ["Shaping"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaping:
    """What the reward adds to prevalence; nothing unless asked for.

    With base b (prevalence, soft prevalence, or prevalence / ceiling), n sentences, coverage c
    and contradicted share d, the reward is

        (1 − coverage) · b · min(1, n / sentences) + coverage · c − contradiction · d

    Attributes:
        soft: probabilities in place of decisions as the base: a slope where decisions are flat.
        ceiling: the base is the share of what greedy construction reaches on the same reviews at
            the same length, so that products with much and little agreement weigh alike. It may
            exceed 1.
        sentences: a summary shorter than this counts as if empty sentences filled it up; the
            mean alone favours one sentence.
        coverage: weight in [0, 1] of the share of reviews that imply some sentence that counts.
        contradiction: weight of the share of (review, sentence) pairs where the review
            contradicts a sentence that counts; needs a model with that class.

    Raises:
        ConfigurationError: a value out of range, or both bases at once.
    """

    soft: bool = False
    ceiling: bool = False
    sentences: int | None = None
    coverage: float = 0.0
    contradiction: float = 0.0

    def __post_init__(self) -> None:
        if self.soft and self.ceiling:
            raise ConfigurationError(
                "a ceiling is of decisions, so soft prevalence has none: choose one of the two"
            )
        if self.sentences is not None and not (
            isinstance(self.sentences, int) and self.sentences >= 1
        ):
            raise ConfigurationError(
                f"the sentences to reach must be a whole number from 1 on, not {self.sentences!r}"
            )
        if not 0.0 <= self.coverage <= 1.0:
            raise ConfigurationError(
                f"the weight of coverage must lie in [0, 1], not {self.coverage}"
            )
        if not (math.isfinite(self.contradiction) and self.contradiction >= 0.0):
            raise ConfigurationError(
                f"the weight of contradiction must not be negative, but is {self.contradiction}"
            )

    @property
    def signature(self) -> dict[str, str]:
        """What departs from plain prevalence, in the order of the formula."""
        parts = {
            "base": "soft" if self.soft else "ceiling" if self.ceiling else "",
            "sentences": str(self.sentences or ""),
            "coverage": f"{self.coverage:.12g}" if self.coverage else "",
            "contradiction": f"{self.contradiction:.12g}" if self.contradiction else "",
        }
        return {f"reward-{key}": part for key, part in parts.items() if part}

    def reward(self, row: ScoredSummary) -> float:
        """The reward of a summary that has a score.

        Args:
            row: scored with soft prevalence or a ceiling where the base asks for it.

        Returns:
            At most 1 but for a base above its ceiling, and at least minus the weight of
            contradiction.

        Raises:
            ConfigurationError: a contradiction weight, and a model without that class.
        """
        value = self._base(row)
        if self.sentences is not None:
            value *= min(1.0, row.n_sentences / self.sentences)
        if self.coverage:
            value = (1.0 - self.coverage) * value + self.coverage * _coverage(row)
        if self.contradiction:
            value -= self.contradiction * _contradicted(row)
        return value

    def _base(self, row: ScoredSummary) -> float:
        prevalence = row.prevalence or 0.0
        if self.soft:
            return row.soft_prevalence or 0.0
        # Without a ceiling above 0 no review agrees with any sentence of another.
        return prevalence / row.ceiling if self.ceiling and row.ceiling else prevalence


def _coverage(row: ScoredSummary) -> float:
    """Share of the reviews that imply at least one sentence that counts."""
    heard = {i for s in row.sentences if s.counts for i in s.supporting_reviews or ()}
    return len(heard) / row.n_reviews


def _contradicted(row: ScoredSummary) -> float:
    """Contradicting pairs of reviews and sentences that count, as a share of m times n."""
    counted = [sentence.contradicted_by for sentence in row.sentences if sentence.counts]
    known = [pairs for pairs in counted if pairs is not None]
    if len(known) < len(counted):
        raise ConfigurationError(
            "a contradiction weight needs a model with a contradiction class; this one has none"
        )
    return sum(known) / (row.n_reviews * max(row.n_sentences, 1))
