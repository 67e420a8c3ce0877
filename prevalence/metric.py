"""Opinion prevalence as pure functions of arrays: decisions → masks → score.

Shapes and symbols follow Malon 2023, equations 1 to 3: m reviews x_i, n sentences y_k, and the
product statement t. ``C(a, b) = 1`` if P(entailment | premise a, hypothesis b) exceeds the
threshold, strictly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.errors import ConfigurationError, InputError, ModelError
from prevalence.nli.pairs import FLAG_TOO_LONG

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from prevalence.nli.pairs import PairScores
    from prevalence.stats.arrays import Bools, Floats

__all__ = [
    "NOT_REDUNDANT",
    "Masks",
    "ReviewMatrix",
    "SentenceSupport",
    "check_threshold",
    "contradictions",
    "decisions",
    "implied_pairs",
    "masks",
    "near",
    "prefix_curve",
    "prevalence",
    "redundant_with",
    "soft_masks",
    "soft_prevalence",
    "support",
]

NOT_REDUNDANT = -1
"""Stands for "no earlier sentence implies it"."""


class Masks(NamedTuple):
    """Which sentences count.

    Attributes:
        trivial: bool [n], True where t implies the sentence (τ = 0).
        redundant_with: int64 [n], smallest earlier index that implies the sentence, −1 if none.
    """

    trivial: Bools
    redundant_with: NDArray[np.int64]

    @property
    def counts(self) -> Bools:
        """τ_k ρ_k, bool [n]: neither trivial nor redundant."""
        return np.asarray(~self.trivial & (self.redundant_with == NOT_REDUNDANT))


def check_threshold(threshold: float) -> float:
    """Return the threshold, which must lie in [0, 1).

    Raises:
        ConfigurationError: it does not, or is no number.
    """
    try:
        inside = 0.0 <= threshold < 1.0
    except TypeError:
        inside = False
    if not inside:
        raise ConfigurationError(f"threshold must lie in [0, 1), not {threshold!r}")
    return float(threshold)


def decisions(probabilities: ArrayLike, threshold: float) -> Bools:
    """C: whether each probability is strictly greater than the threshold.

    Args:
        probabilities: P(entailment), any shape, in [0, 1].
        threshold: in [0, 1).

    Returns:
        bool array of the same shape.

    Raises:
        ModelError: a probability is NaN or outside [0, 1].

    >>> decisions([0.04, 0.05], 0.04).tolist()
    [False, True]
    """
    values = np.asarray(probabilities)
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    if not np.all((values >= 0) & (values <= 1)):
        raise ModelError("probabilities must lie in [0, 1] and not be NaN")
    # No threshold below 1 may be rounded to 1, which nothing is above.
    one = values.dtype.type(1)
    cut = min(values.dtype.type(threshold), np.nextafter(one, values.dtype.type(0)))
    return np.asarray(values > cut, dtype=np.bool_)


def implied_pairs(answers: PairScores, threshold: float) -> Bools:
    """C of answered pairs; 0 where the hypothesis is longer than the scorer reads.

    Args:
        answers: of P pairs.
        threshold: in [0, 1).

    Returns:
        bool [P].

    Raises:
        ModelError: a probability that was read is NaN or outside [0, 1].
    """
    read = answers.flags & FLAG_TOO_LONG == 0
    implied = np.zeros(len(read), np.bool_)
    implied[read] = decisions(answers.entailment[read], threshold)
    return implied


def near(probabilities: ArrayLike, threshold: float, doubt: float) -> Bools:
    """Whether an error of ``doubt`` in the log-odds could turn each decision.

    Args:
        probabilities: P(entailment), any shape, in [0, 1] or NaN, which is near nothing.
        threshold: in [0, 1).
        doubt: not negative; 0 makes nothing near.

    >>> near([0.03, 0.04, 0.06], 0.04, 0.4).tolist()
    [True, True, False]
    """
    values = np.asarray(probabilities, dtype=np.float64)
    if not doubt:
        return np.zeros(values.shape, np.bool_)
    odds = threshold / (1.0 - threshold)
    low, high = (odds * math.exp(error) for error in (-doubt, doubt))
    return np.asarray((values >= low / (1.0 + low)) & (values <= high / (1.0 + high)))


def redundant_with(implied: ArrayLike) -> NDArray[np.int64]:
    """For each sentence the smallest earlier sentence that implies it.

    Args:
        implied: bool [n, n]; ``implied[j, k]`` is C(y_j, y_k). Only j < k is read: an earlier
            sentence counts whether or not it is itself masked.

    Returns:
        int64 [n], −1 where no earlier sentence implies it.

    >>> redundant_with([[1, 0, 1], [0, 1, 1], [0, 0, 1]]).tolist()
    [-1, -1, 0]
    """
    earlier = np.triu(np.asarray(implied, dtype=np.bool_), k=1)
    if earlier.shape[0] == 0:
        return np.empty(0, np.int64)
    first = earlier.argmax(axis=0)
    return np.where(earlier.any(axis=0), first, NOT_REDUNDANT)


def masks(trivial: ArrayLike, implied: ArrayLike) -> Masks:
    """Both masks from decisions.

    Args:
        trivial: bool [n], C(t, y_k); all False without a product name.
        implied: bool [n, n], C(y_j, y_k).
    """
    return Masks(np.asarray(trivial, dtype=np.bool_), redundant_with(implied))


def support(implied: ArrayLike) -> NDArray[np.int64]:
    """Number of reviews that imply each sentence: int64 [n] from bool [m, n] (eq. 1)."""
    return np.asarray(np.asarray(implied, dtype=np.bool_).sum(axis=0, dtype=np.int64))


def prevalence(supports: ArrayLike, counts: ArrayLike, n_reviews: int) -> float:
    """Prev(R, S) = 1/(m n) Σ_k τ_k ρ_k Σ_i C(x_i, y_k).

    Args:
        supports: int [n], supporting reviews of each sentence; entries where ``counts`` is False
            are not read, so they may hold anything.
        counts: bool [n], τ_k ρ_k. Masked sentences still count in n.
        n_reviews: m.

    Returns:
        In [0, 1]; 0 for a summary with no sentence.

    Raises:
        InputError: ``n_reviews`` is not positive.

    >>> prevalence([6, 8, 2], [True, False, True], 8)
    0.3333333333333333
    """
    if n_reviews <= 0:
        raise InputError("prevalence needs at least one review")
    kept = np.asarray(counts, dtype=np.bool_)
    if kept.size == 0:
        return 0.0
    return int(np.asarray(supports)[kept].sum()) / (n_reviews * kept.size)


def prefix_curve(supports: ArrayLike, counts: ArrayLike, n_reviews: int) -> tuple[float, ...]:
    """Prevalence of the 1, 2, ..., n best supported sentences.

    A sentence that does not count supports nothing and comes last, so the masks stay those of the
    whole summary. The curve never rises: cutting its tail can only raise prevalence.

    Args:
        supports: int [n], supporting reviews; entries where ``counts`` is False are not read.
        counts: bool [n], τ_k ρ_k.
        n_reviews: m.

    Returns:
        n values in [0, 1], the last of which is the prevalence of the summary.

    Raises:
        InputError: ``n_reviews`` is not positive.

    >>> prefix_curve([6, 8, 2], [True, False, True], 8)
    (0.75, 0.5, 0.3333333333333333)
    """
    if n_reviews <= 0:
        raise InputError("prevalence needs at least one review")
    kept = np.where(np.asarray(counts, dtype=np.bool_), np.asarray(supports), 0)
    totals = np.cumsum(np.sort(kept)[::-1]).tolist()
    return tuple(int(total) / (n_reviews * size) for size, total in enumerate(totals, start=1))


def soft_masks(trivial: ArrayLike, implied: ArrayLike) -> Floats:
    """τ_k ρ_k with probabilities in place of decisions.

    Args:
        trivial: float [n], P(t entails y_k); zeros without a product name.
        implied: float [n, n], P(y_j entails y_k); only j < k is read.

    Returns:
        float64 [n], (1 − p_t) Π_{j<k} (1 − p_jk).
    """
    earlier = np.triu(np.asarray(implied, dtype=np.float64), k=1)
    return np.asarray((1.0 - np.asarray(trivial, np.float64)) * np.prod(1.0 - earlier, axis=0))


def soft_prevalence(entailment: ArrayLike, weights: ArrayLike) -> float:
    """Prevalence with probabilities: mean over the matrix of p_ik times the soft mask of k.

    Args:
        entailment: float [m, n], P(x_i entails y_k).
        weights: float [n], from :func:`soft_masks`.

    Raises:
        InputError: there is no review.
    """
    matrix = np.asarray(entailment, dtype=np.float64)
    if matrix.shape[0] == 0:
        raise InputError("prevalence needs at least one review")
    # An exact sum, because the order in which a BLAS adds depends on the machine.
    terms = matrix.mean(axis=0) * np.asarray(weights, dtype=np.float64)
    return math.fsum(terms.tolist()) / max(len(terms), 1)


def contradictions(entailment: ArrayLike, contradiction: ArrayLike, threshold: float) -> Bools:
    """Whether contradiction is the most probable of three classes, and entailment not decided.

    Args:
        entailment: P(entailment), any shape.
        contradiction: P(contradiction), the same shape; neutral has the rest.
        threshold: the entailment threshold. A pair is never both entailed and contradicted.

    Returns:
        bool array of the same shape.
    """
    yes = np.asarray(entailment, dtype=np.float64)
    no = np.asarray(contradiction, dtype=np.float64)
    neutral = 1.0 - yes - no
    return np.asarray((no > yes) & (no > neutral) & ~decisions(entailment, threshold))


class SentenceSupport(NamedTuple):
    """One column of the matrix: what the reviews say of one sentence.

    Attributes:
        support: number of reviews that imply it.
        supporting_reviews: their 0-based indices.
        contradicting_reviews: reviews that contradict it; None for a scorer without that class.
        entailment: P(review entails sentence) for each review, in [0, 1]; None for a review that
            was not to be asked.
    """

    support: int
    supporting_reviews: tuple[int, ...]
    contradicting_reviews: tuple[int, ...] | None
    entailment: tuple[float | None, ...]

    def spread(self, places: NDArray[np.int64], total: int) -> SentenceSupport:
        """The column of a longer list of reviews, of which only those at ``places`` were asked."""
        if len(places) == total:
            return self
        entailment: list[float | None] = [None] * total
        for place, probability in zip(places.tolist(), self.entailment, strict=True):
            entailment[place] = probability
        against = self.contradicting_reviews
        return SentenceSupport(
            support=self.support,
            supporting_reviews=_chosen(places, self.supporting_reviews),
            contradicting_reviews=None if against is None else _chosen(places, against),
            entailment=tuple(entailment),
        )


@dataclass(frozen=True, slots=True)
class ReviewMatrix:
    """Answers of m reviews about n sentences.

    Attributes:
        entailment: float32 [m, n], P(x_i entails y_k).
        implied: bool [m, n], C(x_i, y_k).
        contradicted: bool [m, n], or None for a scorer without that class.
        contradiction: float32 [m, n], P(x_i contradicts y_k), or None likewise.
    """

    entailment: NDArray[np.float32]
    implied: NDArray[np.bool_]
    contradicted: NDArray[np.bool_] | None
    contradiction: NDArray[np.float32] | None = None

    @classmethod
    def build(
        cls,
        answers: PairScores,
        *,
        rows: NDArray[np.int64],
        shape: tuple[int, int],
        threshold: float,
        three_way: bool,
    ) -> ReviewMatrix:
        """Lay answers out as a matrix; reviews that were not asked imply and contradict nothing.

        Args:
            answers: probabilities of ``len(rows) * n`` pairs, reviews varying slowest.
            rows: the reviews that were asked, int64, increasing.
            shape: (m, n).
            threshold: decision threshold in [0, 1).
            three_way: whether ``answers`` has contradiction probabilities.

        Raises:
            ModelError: a probability is NaN or outside [0, 1].
        """

        def laid_out(values: NDArray[np.float32]) -> NDArray[np.float32]:
            full = np.zeros(shape, np.float32)
            full[rows] = values.reshape(len(rows), shape[1])
            return full

        entailment = laid_out(answers.entailment)
        implied = decisions(entailment, threshold)
        if not three_way:
            return cls(entailment, implied, None)
        contradiction = laid_out(answers.contradiction)
        against = contradictions(entailment, contradiction, threshold)
        return cls(entailment, implied, against, contradiction)

    def take(self, columns: NDArray[np.int64]) -> ReviewMatrix:
        """The same answers about some of the sentences, in the order given; one may come twice."""
        against, probable = self.contradicted, self.contradiction
        return ReviewMatrix(
            self.entailment[:, columns],
            self.implied[:, columns],
            None if against is None else against[:, columns],
            None if probable is None else probable[:, columns],
        )

    def column(self, k: int) -> SentenceSupport:
        """What the reviews say of sentence ``k``."""
        supporting = _places(self.implied[:, k])
        return SentenceSupport(
            support=len(supporting),
            supporting_reviews=supporting,
            contradicting_reviews=None
            if self.contradicted is None
            else _places(self.contradicted[:, k]),
            entailment=tuple(_shortest(p) for p in self.entailment[:, k]),
        )


def _places(marks: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.flatnonzero(marks).tolist())


def _chosen(places: NDArray[np.int64], rows: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(places[list(rows)].tolist())


def _shortest(probability: np.float32) -> float:
    """The shortest decimal that reads back as the same float32: 0.91, not 0.9100000262260437."""
    return float(str(probability))
