"""SummaC's zero-shot score: NLI between the units of two texts, brought down to one number.

Source: Laban et al. 2022, SummaC-ZS, and the behaviour of the summac package, version 0.0.4.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from prevalence.consistency.units import GRANULARITIES, UnitAnswers, UnitCutter, ask_units
from prevalence.errors import ConfigurationError
from prevalence.metric import check_threshold
from prevalence.nli.protocol import FLAG_TOO_LONG, PairScorer, PairScores, Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from prevalence.texts import TextTable

__all__ = [
    "MOST_TOKENS",
    "MOST_UNITS",
    "OPERATORS",
    "SUMMAC_MODELS",
    "Granularity",
    "UnitScorer",
    "ZeroShotScorer",
]

MOST_UNITS = 100
"""Units of a premise that SummaC reads."""
MOST_TOKENS = 500
"""Tokens of a unit pair that SummaC reads; the longer text gives way."""

OPERATORS: dict[str, Callable[..., Any]] = {"max": np.max, "mean": np.mean, "min": np.min}

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
        premise: one of :data:`~prevalence.consistency.units.GRANULARITIES`.
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

    def __str__(self) -> str:
        """One name where both are cut alike."""
        return self.premise if self.premise == self.hypothesis else "-".join(self._names)

    @property
    def _names(self) -> tuple[str, str]:
        return self.premise, self.hypothesis


class UnitScorer:
    """What scorers on units share: cutting, the wave of unit pairs, flags and progress.

    A child says what becomes of the answers in :meth:`reduce`.

    Args:
        inner: answers pairs of units.
        cutter: cuts texts.
        name: the scorer's name, for signature and digest.
        described: what else changes a score, by its key in the signature.
        threshold: decision threshold in [0, 1).
        calibrated: whether it was calibrated, or given.

    Attributes:
        digest: of the inner scorer and of every setting, 16 bytes.
        signature: the inner scorer's with ``consistency`` and ``described``.
    """

    three_way = False

    def __init__(
        self,
        inner: PairScorer,
        cutter: UnitCutter,
        *,
        name: str,
        described: Mapping[str, str],
        threshold: float,
        calibrated: bool,
    ) -> None:
        self.inner = inner
        self._cutter = cutter
        self.threshold = check_threshold(threshold)
        self.calibrated = calibrated
        self.signature: Mapping[str, str] = {
            **inner.signature, "consistency": name, **described,
        }  # fmt: skip
        settings = repr((name, sorted(described.items())))
        self.digest = hashlib.blake2b(inner.digest + settings.encode(), digest_size=16).digest()
        self.work_unit = max(1, inner.work_unit // 8)

    @property
    def hits(self) -> int:
        """Unit pairs answered by the inner scorer's cache; absent without one."""
        return int(cast("Any", self.inner).hits)

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.protocol.PairScorer.score`."""
        answers = ask_units(self.inner, self._cutter, texts, pairs, progress=progress)
        result = PairScores.empty(len(pairs))
        result.flags[:] = answers.flags
        result.entailment[:] = np.clip(self.reduce(answers), 0.0, 1.0)
        result.entailment[(result.flags & FLAG_TOO_LONG) > 0] = np.nan
        return result

    def reduce(self, answers: UnitAnswers) -> NDArray[np.float64]:
        """One score in [0, 1] a pair, float64 [P]."""
        raise NotImplementedError


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
        if minus_contradiction and not inner.three_way:
            raise ConfigurationError(
                "this model reports no contradiction, so nothing can be subtracted"
            )
        self._over = OPERATORS[over_premise], OPERATORS[over_hypothesis]
        self._minus = minus_contradiction
        described = {"gran": str(cut), "ops": f"{over_premise}-{over_hypothesis}"}
        if minus_contradiction:
            described["minus"] = "contradiction"
        if most_units != MOST_UNITS:
            described["units"] = str(most_units)
        own = 0.5 if minus_contradiction else inner.threshold
        super().__init__(
            inner,
            UnitCutter(GRANULARITIES[cut.premise], GRANULARITIES[cut.hypothesis], most=most_units),
            name="summac-zs",
            described=described,
            threshold=own if threshold is None else threshold,
            calibrated=threshold is not None,
        )

    def reduce(self, answers: UnitAnswers) -> NDArray[np.float64]:
        """One score in [0, 1] a pair, float64 [P]."""
        scores = answers.scores
        entailed = (self._over[0](image, axis=0) for image in _filled(answers, scores.entailment))
        if not self._minus:
            return np.array([self._over[1](row) for row in entailed], np.float64)
        opposed = (self._over[0](image, axis=0) for image in _filled(answers, scores.contradiction))
        raw = [self._over[1](e - c) for e, c in zip(entailed, opposed, strict=True)]
        return (1.0 + np.array(raw, np.float64)) / 2.0


def _filled(answers: UnitAnswers, values: NDArray[np.float32]) -> Any:
    """Matrices of one field, where a pair without unit pairs has a single zero."""
    return (image if image.size else np.zeros((1, 1)) for image in answers.matrices(values))
