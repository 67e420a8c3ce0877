"""SummaC's zero-shot score: NLI between the units of two texts, brought down to one number.

Source: Laban et al. 2022, SummaC-ZS, and the behaviour of the summac package, version 0.0.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.errors import ConfigurationError
from prevalence.scorers.units import (
    GRANULARITIES,
    SUMMAC_SPLITTER,
    UnitAnswers,
    UnitCutter,
    UnitScorer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prevalence.nli.pairs import PairScorer

__all__ = [
    "MOST_TOKENS",
    "MOST_UNITS",
    "OPERATORS",
    "SUMMAC_MODELS",
    "Granularity",
    "ZeroShotScorer",
]

MOST_UNITS = 100
"""Units of a premise that SummaC reads."""
MOST_TOKENS = 500
"""Tokens of a unit pair that SummaC reads; the longer text gives way."""

OPERATORS: dict[str, Callable[..., Any]] = {"max": np.max, "mean": np.mean, "min": np.min}

_UNCUT = {"document", "paragraph"}

_EMC = ("entailment", "neutral", "contradiction")
_CNE = ("contradiction", "neutral", "entailment")
_VITAMINC = ("entailment", "contradiction", "neutral")
SUMMAC_MODELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "snli-base": ("boychaboy/SNLI_roberta-base", _EMC),
    "snli-large": ("boychaboy/SNLI_roberta-large", _EMC),
    "mnli-base": ("microsoft/deberta-base-mnli", _CNE),
    "mnli": ("roberta-large-mnli", _CNE),
    "anli": ("ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli", _EMC),
    "vitc-base": ("tals/albert-base-vitaminc-mnli", _VITAMINC),
    "vitc": ("tals/albert-xlarge-vitaminc-mnli", _VITAMINC),
    "vitc-only": ("tals/albert-xlarge-vitaminc", _VITAMINC),
}
"""SummaC's short names: hub name and classes in output order."""


@dataclass(frozen=True, slots=True)
class Granularity:
    """How premises and hypotheses are cut.

    Attributes:
        premise: one of :data:`~prevalence.scorers.units.GRANULARITIES`.
        hypothesis: likewise.
    """

    premise: str
    hypothesis: str

    @classmethod
    def parse(cls, text: str) -> Granularity:
        """Read ``sentence`` (both) or ``document-sentence`` (premise, then hypothesis).

        Raises:
            ConfigurationError: an unknown name, or more than two.

        >>> Granularity.parse("document-sentence").hypothesis
        'sentence'
        """
        names = text.split("-")
        if len(names) > 2 or not set(names) <= set(GRANULARITIES):
            raise ConfigurationError(
                f"unknown granularity {text!r}: choose from {', '.join(GRANULARITIES)}, or two of "
                "them with a hyphen, the premise's first"
            )
        return cls(names[0], names[-1])

    @property
    def signature(self) -> dict[str, str]:
        """The cuts, and what cuts sentences where any are cut."""
        cut = {} if {self.premise, self.hypothesis} <= _UNCUT else {"cut": SUMMAC_SPLITTER}
        return {"gran": str(self), **cut}

    def __str__(self) -> str:
        """One name where both are cut alike."""
        return "-".join(dict.fromkeys((self.premise, self.hypothesis)))


class ZeroShotScorer(UnitScorer):
    """SummaC-ZS: ``over_hypothesis`` (``over_premise`` of the unit scores).

    A pair in which a text has no unit scores as if all probabilities were 0. With
    ``minus_contradiction`` the score lies in [-1, 1] and is given as (1 + s)/2; contradiction is
    brought down over premise units by the same operator before it is subtracted.

    Args:
        inner: answers pairs of units.
        granularity: how texts are cut.
        over_premise: one of :data:`OPERATORS`.
        over_hypothesis: likewise.
        minus_contradiction: subtract P(contradiction).
        most_units: units of a premise that are read.
        threshold: decision threshold in [0, 1); None takes the inner scorer's, or 0.5 when
            contradiction is subtracted.

    Raises:
        ConfigurationError: an unknown operator, or contradiction from a scorer without it.
    """

    def __init__(
        self,
        inner: PairScorer,
        granularity: Granularity | str = "sentence",
        *,
        over_premise: str = "max",
        over_hypothesis: str = "mean",
        minus_contradiction: bool = False,
        most_units: int = MOST_UNITS,
        threshold: float | None = None,
    ) -> None:
        cut = Granularity.parse(granularity) if isinstance(granularity, str) else granularity
        for operator in (over_premise, over_hypothesis):
            if operator not in OPERATORS:
                raise ConfigurationError(
                    f"unknown operator {operator!r}: choose from {', '.join(OPERATORS)}"
                )
        if minus_contradiction and not inner.traits.three_way:
            raise ConfigurationError(
                "this model reports no contradiction, so nothing can be subtracted"
            )
        self._over = OPERATORS[over_premise], OPERATORS[over_hypothesis]
        self._minus = minus_contradiction
        described = {**cut.signature, "ops": f"{over_premise}-{over_hypothesis}"}
        if minus_contradiction:
            described["minus"] = "contradiction"
        if most_units != MOST_UNITS:
            described["units"] = str(most_units)
        own = 0.5 if minus_contradiction else inner.traits.threshold
        super().__init__(
            [inner],
            UnitCutter(GRANULARITIES[cut.premise], GRANULARITIES[cut.hypothesis], most=most_units),
            name="summac-zs",
            described=described,
            threshold=own if threshold is None else threshold,
            calibrated=threshold is not None,
            probability=inner.traits.probability and not minus_contradiction,
        )

    def reduce(self, answers: Sequence[UnitAnswers]) -> NDArray[np.float64]:
        """One score in [0, 1] a pair, float64 [P]."""
        (only,) = answers
        over_premise, over_hypothesis = self._over
        entailed = [over_premise(image, axis=0) for image in only.images(only.scores.entailment)]
        if not self._minus:
            return np.array([over_hypothesis(row) for row in entailed], np.float64)
        opposed = [over_premise(image, axis=0) for image in only.images(only.scores.contradiction)]
        raw = [over_hypothesis(e - c) for e, c in zip(entailed, opposed, strict=True)]
        return (1.0 + np.array(raw, np.float64)) / 2.0
