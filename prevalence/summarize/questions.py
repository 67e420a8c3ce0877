"""Who answers the questions of a construction: a model through the engine, or a known matrix.

Three kinds of questions, all entailment decisions C(premise, hypothesis): does the product
statement imply a sentence, does one sentence imply another, does a review imply a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from prevalence import metric
from prevalence.metric import ReviewMatrix
from prevalence.nli.pairs import FLAG_TOO_LONG, PairPlan, PairScores, TextTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prevalence.stats.arrays import Bools, Ints

__all__ = ["Calls", "Judge", "KnownJudge", "PairJudge", "Relations"]


class Relations(NamedTuple):
    """Decisions about pairs of sentences.

    Attributes:
        implied: bool [pairs], the premise implies the hypothesis.
        contradicted: bool [pairs], it contradicts it; all False for a scorer without that class.
    """

    implied: Bools
    contradicted: Bools


@dataclass(slots=True)
class Calls:
    """Pairs asked so far, by kind; answers that a cache gave are counted too.

    Attributes:
        trivial: (product statement, sentence).
        between: (sentence, sentence).
        reviews: (review, sentence).
    """

    trivial: int = 0
    between: int = 0
    reviews: int = 0

    @property
    def total(self) -> int:
        """All kinds together."""
        return self.trivial + self.between + self.reviews

    def __add__(self, other: Calls) -> Calls:
        """What both asked."""
        return Calls(
            self.trivial + other.trivial, self.between + other.between, self.reviews + other.reviews
        )


class Judge(Protocol):
    """Answers questions about numbered reviews and numbered candidate sentences.

    Attributes:
        n_reviews: m, empty reviews included.
        rows: int64, the reviews that are worth asking, in the order that is best for exact
            search; an empty one implies nothing.
        three_way: whether contradictions are known.
        calls: pairs asked so far.
    """

    n_reviews: int
    rows: Ints
    three_way: bool
    calls: Calls

    def trivial(self, candidates: Ints) -> Bools:
        """Whether the product statement implies each candidate; no pair without a statement."""
        ...

    def between(self, premises: Ints, hypotheses: Ints) -> Relations:
        """Decisions about pairs of candidates."""
        ...

    def reviews(self, rows: Ints, candidates: Ints) -> Bools:
        """Whether review ``rows[i]`` implies candidate ``candidates[i]``, bool [pairs]."""
        ...

    def unreadable(self) -> Ints:
        """Candidates found so far that are longer than the model reads; they have no answer."""
        ...

    def matrix(self, candidates: Sequence[int]) -> ReviewMatrix:
        """All reviews' answers about candidates that every one of ``rows`` was asked about.

        Args:
            candidates: their numbers, one for each column; one may come twice.
        """
        ...


class _Wave(NamedTuple):
    """Questions to the reviews that were asked together, and the answers."""

    rows: Ints
    candidates: Ints
    answers: PairScores


class PairJudge:
    """Asks a pair scorer, and keeps its answers about reviews.

    Args:
        ask: answers the requests of a plan, such as
            :meth:`prevalence.scoring.engine.Engine.answer`.
        reviews: m texts.
        sentences: N distinct texts.
        statement: the product statement, or None for no trivial mask.
        threshold: decision threshold in [0, 1).
        three_way: whether the scorer knows contradiction.
        texts: a table that holds some of these texts already; None for a new one.
    """

    def __init__(
        self,
        ask: Callable[[TextTable, PairPlan], PairScores],
        *,
        reviews: Sequence[str],
        sentences: Sequence[str],
        statement: str | None,
        threshold: float,
        three_way: bool,
        texts: TextTable | None = None,
    ) -> None:
        self.n_reviews = len(reviews)
        filled = [row for row, text in enumerate(reviews) if text.strip()]
        # Short reviews are asked first: they cost least and rule most sentences out.
        self.rows = np.asarray(sorted(filled, key=lambda row: len(reviews[row])), np.int64)
        self.three_way = three_way
        self.calls = Calls()
        self._ask = ask
        self._threshold = threshold
        self._texts = TextTable() if texts is None else texts
        # Empty reviews have no number; no one asks them.
        self._reviews = np.full(self.n_reviews, -1, np.int64)
        self._reviews[filled] = self._texts.add_all(reviews[row] for row in filled)
        self._sentences = self._texts.add_all(sentences)
        self._statement = None if statement is None else self._texts.add(statement)
        self._unreadable: set[int] = set()
        self._waves: list[_Wave] = []

    def trivial(self, candidates: Ints) -> Bools:
        """See :class:`Judge`."""
        if self._statement is None:
            return np.zeros(len(candidates), np.bool_)
        premises = np.full(len(candidates), self._statement)
        answers = self._answers(premises, candidates)
        self.calls.trivial += len(candidates)
        return self._implied(answers)

    def between(self, premises: Ints, hypotheses: Ints) -> Relations:
        """See :class:`Judge`."""
        answers = self._answers(self._sentences[premises], hypotheses)
        self.calls.between += len(premises)
        if not self.three_way:
            return Relations(self._implied(answers), np.zeros(len(premises), np.bool_))
        read = answers.flags & FLAG_TOO_LONG == 0
        against = np.zeros(len(premises), np.bool_)
        against[read] = metric.contradictions(
            answers.entailment[read], answers.contradiction[read], self._threshold
        )
        return Relations(self._implied(answers), against)

    def reviews(self, rows: Ints, candidates: Ints) -> Bools:
        """See :class:`Judge`."""
        answers = self._answers(self._reviews[rows], candidates)
        self.calls.reviews += len(rows)
        self._waves.append(_Wave(rows, candidates, answers))
        return self._implied(answers)

    def unreadable(self) -> Ints:
        """See :class:`Judge`."""
        return np.asarray(sorted(self._unreadable), np.int64)

    def matrix(self, candidates: Sequence[int]) -> ReviewMatrix:
        """See :class:`Judge`."""
        # A sentence that does not imply itself may have been chosen at several of its places.
        distinct, back = np.unique(np.asarray(candidates, np.int64), return_inverse=True)
        width = len(distinct)
        answers = PairScores.empty(len(self.rows) * width)
        rows = np.sort(self.rows)
        column = np.full(len(self._sentences), -1, np.int64)
        column[distinct] = np.arange(width)
        for wave in self._waves:
            wanted = np.flatnonzero(column[wave.candidates] >= 0)
            places = np.searchsorted(rows, wave.rows[wanted]) * width
            answers.put(places + column[wave.candidates[wanted]], wave.answers.take(wanted))
        matrix = ReviewMatrix.build(
            answers,
            rows=rows,
            shape=(self.n_reviews, width),
            threshold=self._threshold,
            three_way=self.three_way,
        )
        return matrix.take(back)

    def _answers(self, premises: Ints, candidates: Ints) -> PairScores:
        plan = PairPlan()
        request = plan.add(premises, self._sentences[candidates])
        answers = self._ask(self._texts, plan).take(request)
        self._unreadable.update(candidates[answers.flags & FLAG_TOO_LONG > 0].tolist())
        return answers

    def _implied(self, answers: PairScores) -> Bools:
        return metric.implied_pairs(answers, self._threshold)


class KnownJudge:
    """Answers from decisions that are known already: recorded, simulated or made up.

    Args:
        matrix: m reviews by N candidates.
        implied: bool [N, N], candidate j (row) implies candidate k.
        trivial: bool [N]; None for no trivial mask.
        contradicted: bool [N, N], candidate j contradicts candidate k; None when not known.
    """

    def __init__(
        self,
        matrix: ReviewMatrix,
        *,
        implied: Bools,
        trivial: Bools | None = None,
        contradicted: Bools | None = None,
    ) -> None:
        self.n_reviews = len(matrix.implied)
        self.rows = np.arange(self.n_reviews)
        self.three_way = contradicted is not None
        self.calls = Calls()
        self._matrix = matrix
        self._between = implied
        self._trivial = trivial
        self._contradicted = contradicted

    def trivial(self, candidates: Ints) -> Bools:
        """See :class:`Judge`."""
        if self._trivial is None:
            return np.zeros(len(candidates), np.bool_)
        self.calls.trivial += len(candidates)
        return np.asarray(self._trivial[candidates])

    def between(self, premises: Ints, hypotheses: Ints) -> Relations:
        """See :class:`Judge`."""
        self.calls.between += len(premises)
        against = np.zeros(len(premises), np.bool_)
        if self._contradicted is not None:
            against = self._contradicted[premises, hypotheses]
        return Relations(self._between[premises, hypotheses], against)

    def reviews(self, rows: Ints, candidates: Ints) -> Bools:
        """See :class:`Judge`."""
        self.calls.reviews += len(rows)
        return np.asarray(self._matrix.implied[rows, candidates])

    def unreadable(self) -> Ints:
        """See :class:`Judge`."""
        return np.empty(0, np.int64)

    def matrix(self, candidates: Sequence[int]) -> ReviewMatrix:
        """See :class:`Judge`."""
        return self._matrix.take(np.asarray(candidates, np.int64))
