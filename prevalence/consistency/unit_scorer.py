"""What scorers on parts of texts share: the wave of unit pairs, flags, progress, names."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from prevalence.consistency.units import UnitAnswers, UnitCutter, ask_units, in_proportion
from prevalence.metric import check_threshold
from prevalence.nli.protocol import FLAG_TOO_LONG, PairScorer, PairScores, Progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from prevalence.texts import TextTable

__all__ = ["UnitScorer", "models_of"]

_UNIT_PAIRS = 8
"""Unit pairs that a pair is taken to need, when the work of a call is planned."""


def models_of(inners: Sequence[PairScorer]) -> str:
    """The scorers as signatures name them, with ``+`` between."""
    signatures = [inner.signature for inner in inners]
    return "+".join(parts.get("nli", parts.get("consistency", "")) for parts in signatures)


class UnitScorer(ABC):
    """A pair scorer that asks others about units; a child says what becomes of the answers.

    Args:
        inners: one or more scorers, each of which answers every pair of units.
        cutter: cuts texts.
        name: the scorer's name, for signature and digest.
        described: what else changes a score, by its key in the signature.
        threshold: decision threshold in [0, 1).
        calibrated: whether it was calibrated, or given.

    Attributes:
        inners: as given.
        digest: of the inner scorers and of every setting, 16 bytes.
        signature: the first inner scorer's, with all models, ``consistency`` and ``described``.
        doubt: how far rounding may move the log-odds of a score. It is the inner scorers', which
            holds for whatever is made of probabilities and their complements by means, maxima and
            minima alone: σ(logit p + d) is concave in p for d > 0 and convex for d < 0, so that a
            mean's log-odds move no further than d. A child that does more refuses doubt.
    """

    three_way = False

    def __init__(
        self,
        inners: Sequence[PairScorer],
        cutter: UnitCutter,
        *,
        name: str,
        described: Mapping[str, str],
        threshold: float,
        calibrated: bool,
    ) -> None:
        self.inners = tuple(inners)
        self._cutter = cutter
        self.threshold = check_threshold(threshold)
        self.calibrated = calibrated
        self.doubt = max(float(getattr(inner, "doubt", 0.0)) for inner in inners)
        self.signature: Mapping[str, str] = {
            **inners[0].signature,
            "nli": models_of(inners),
            "consistency": name,
            **described,
        }
        settings = repr((name, sorted(described.items())))
        self.digest = hashlib.blake2b(
            b"".join(inner.digest for inner in inners) + settings.encode(), digest_size=16
        ).digest()
        self.work_unit = max(1, inners[0].work_unit // _UNIT_PAIRS)

    @property
    def hits(self) -> int:
        """Unit pairs answered by the inner scorers' caches; absent without one."""
        return sum(int(cast("Any", inner).hits) for inner in self.inners)

    def answers(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> list[UnitAnswers]:
        """What each inner scorer says about the units of every pair."""
        step = in_proportion(progress, len(self.inners) * len(pairs), len(pairs))
        return [
            ask_units(inner, self._cutter, texts, pairs, progress=step) for inner in self.inners
        ]

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.protocol.PairScorer.score`."""
        answers = self.answers(texts, pairs, progress=progress)
        result = PairScores.empty(len(pairs))
        result.flags[:] = np.bitwise_or.reduce([answer.flags for answer in answers])
        readable = (result.flags & FLAG_TOO_LONG) == 0
        result.entailment[readable] = np.clip(self.reduce(answers), 0.0, 1.0)[readable]
        return result

    @abstractmethod
    def reduce(self, answers: Sequence[UnitAnswers]) -> NDArray[np.float64]:
        """One score in [0, 1] a pair, float64 [P], from each inner scorer's answers."""
