"""What the reviews say of the sentences: probabilities, decisions, and one column a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence import metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prevalence.nli.pairs import PairScores

__all__ = ["ReviewMatrix", "SentenceSupport"]


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
    """

    entailment: NDArray[np.float32]
    implied: NDArray[np.bool_]
    contradicted: NDArray[np.bool_] | None

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
            InputError: a probability is NaN or outside [0, 1].
        """

        def laid_out(values: NDArray[np.float32]) -> NDArray[np.float32]:
            full = np.zeros(shape, np.float32)
            full[rows] = values.reshape(len(rows), shape[1])
            return full

        entailment = laid_out(answers.entailment)
        implied = metric.decisions(entailment, threshold)
        if not three_way:
            return cls(entailment, implied, None)
        contradiction = laid_out(answers.contradiction)
        return cls(entailment, implied, metric.contradictions(entailment, contradiction, threshold))

    def take(self, columns: NDArray[np.int64]) -> ReviewMatrix:
        """The same answers about some of the sentences, in the order given; one may come twice."""
        against = self.contradicted
        return ReviewMatrix(
            self.entailment[:, columns],
            self.implied[:, columns],
            None if against is None else against[:, columns],
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
