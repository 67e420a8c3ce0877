"""What every pair scorer is, whatever computes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prevalence.texts import TextTable

__all__ = ["FLAG_TOO_LONG", "FLAG_TRUNCATED", "PairScorer", "PairScores", "PairStore",
           "Progress", "decided_at"]  # fmt: skip

FLAG_TRUNCATED = 1
"""The end of the premise, or of another text that the scorer cuts, was not read."""
FLAG_TOO_LONG = 2
"""The hypothesis alone leaves the premise no room; the pair has no probability (NaN)."""

Progress = Callable[[int], None]
"""Called with the number of pairs just scored."""


class PairScores(NamedTuple):
    """Answers for P pairs, in the order of the pairs.

    Attributes:
        entailment: float32 [P], P(entailment) in [0, 1]; NaN where FLAG_TOO_LONG is set.
        contradiction: float32 [P], P(contradiction); NaN for a scorer without that class.
        flags: uint8 [P], a sum of FLAG_* values.
    """

    entailment: NDArray[np.float32]
    contradiction: NDArray[np.float32]
    flags: NDArray[np.uint8]

    @classmethod
    def empty(cls, size: int) -> PairScores:
        """Scores to be filled in: NaN probabilities and no flags."""
        return cls(
            np.full(size, np.nan, np.float32),
            np.full(size, np.nan, np.float32),
            np.zeros(size, np.uint8),
        )

    def take(self, rows: NDArray[np.int64] | slice) -> PairScores:
        """The scores at some rows."""
        return PairScores(self.entailment[rows], self.contradiction[rows], self.flags[rows])

    def put(self, rows: NDArray[np.int64] | slice, other: PairScores) -> None:
        """Write other scores at some rows, in place."""
        self.entailment[rows] = other.entailment
        self.contradiction[rows] = other.contradiction
        self.flags[rows] = other.flags


@runtime_checkable
class PairScorer(Protocol):
    """Scores (premise, hypothesis) pairs.

    Scores lie in [0, 1] whatever the scorer measures, so that decisions, caches, calibration and
    soft prevalence need to know nothing about it. A measure s whose own range is [-1, 1] (a cosine,
    entailment minus contradiction) is given as (1 + s)/2, which keeps every order and every
    decision; soft prevalence alone refuses it, since there texts without any relation have ½.

    Attributes:
        digest: names everything that changes a probability: weights, tokenizer, truncation,
            precision. Keys the cache.
        signature: ordered parts of the signature, such as ``{"nli": "name@digest"}``.
        threshold: calibrated decision threshold in [0, 1).
        three_way: whether contradiction probabilities exist.
        work_unit: number of pairs that is worth one call (on a CPU a few seconds of work).

    A scorer may also have ``calibrated`` (whether the threshold was, True when absent), ``doubt``
    (how far rounding may move the log-odds of a probability, 0 when absent), ``probability``
    (whether a score may stand for a probability, True when absent), ``hits`` (pairs answered by
    a cache), ``devices`` (how many share its work, 1 when absent), and ``rechecked`` and ``at``,
    see :class:`prevalence.nli.recheck.RecheckedScorer`.
    """

    digest: bytes
    signature: Mapping[str, str]
    threshold: float
    three_way: bool
    work_unit: int

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs of text numbers, int64 [P, 2] of (premise, hypothesis)."""
        ...


class PairStore(Protocol):
    """Keeps answers by key: what a cache is to a scorer, on disk or in memory."""

    def get(self, keys: Sequence[bytes]) -> Mapping[bytes, tuple[Any, ...]]:
        """Stored (entailment, contradiction, flags) of those keys that are present."""
        ...

    def put(self, entries: Mapping[bytes, tuple[Any, ...]]) -> None:
        """Store entries, dropping others when room is short."""
        ...


def decided_at(scorer: PairScorer, threshold: float) -> PairScorer:
    """The scorer to decide with at a threshold: another one where it cares, usually itself."""
    at = getattr(scorer, "at", None)
    if at is None or threshold == scorer.threshold:
        return scorer
    return cast("PairScorer", at(threshold))
