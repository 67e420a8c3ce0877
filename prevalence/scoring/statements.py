"""What the reviews of a product say: their distinct statements, each with the reviews behind it.

Statements are the sentences (or claims) of the reviews, without trivial ones and without those that
say the same as a better supported one: each implies the other, and the review that states either
implies the other too. A statement weighs as many reviews as imply it, and coverage
is the share of that weight which a summary implies.

The cost is bounded. At most a stated number of statements is drawn. Up to :data:`ASKED` reviews,
all of them are asked about every statement, and weights and coverage are exact. Of more, as many
pairs of a review and a statement are drawn, without replacement and the same for all summaries of
the product. Among the drawn pairs whose statement the summary implies, the number that agree is
then hypergeometric, and so it is among the others, so that the bounds which racing uses hold for
both weights; four of them, each failing with a quarter of 5%, bound their share. Nothing that
decides which statements are kept may depend on the drawn answers for this to hold: of two that
imply each other the first drawn is kept then, and not the better supported one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence import metric
from prevalence.nli.pairs import FLAG_TOO_LONG, no_pairs
from prevalence.scored import LeftOut
from prevalence.summarize.candidates import Candidates, number_of
from prevalence.summarize.greedy import upper_bounds
from prevalence.text.sentences import says_anything

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prevalence.nli.pairs import PairPlan, PairScores, TextTable
    from prevalence.scoring.conditions import Where
    from prevalence.stats.arrays import Bools, Floats, Ints
    from prevalence.text.sentences import Splitter

__all__ = ["ASKED", "Coverage", "Statements", "coverage_interval"]

ASKED = 64
"""Reviews asked about a statement, on average where there are more."""

RISK = 0.05
"""Probability with which the interval of a sampled coverage may fail."""

SHOWN = 5
"""Statements shown of those that a summary leaves out."""


class Coverage(NamedTuple):
    """How much of what the reviews say a summary implies.

    Attributes:
        hard: share of the weight; None where the statements have none.
        soft: likewise with probabilities.
        interval: 95% interval of ``hard`` where reviews were sampled, else None.
        left_out: the statements with most support among those that it does not imply.
    """

    hard: float | None
    soft: float | None
    interval: tuple[float, float] | None
    left_out: tuple[LeftOut, ...]


def coverage_interval(
    hits: Sequence[int], drawn: Sequence[int], populations: Sequence[int], *, risk: float = RISK
) -> tuple[float, float]:
    """Bounds of W_1 / (W_1 + W_2) from samples of two populations, without replacement.

    Args:
        hits: pairs that agree in each sample.
        drawn: sizes of the samples.
        populations: sizes of the populations.
        risk: probability in (0, 1) with which the bounds may fail.

    Returns:
        Lower and upper bound in [0, 1]; both populations' totals may be 0, which bounds nothing.

    >>> coverage_interval([3, 1], [4, 4], [4, 4])
    (0.75, 0.75)
    """
    lows, highs = [], []
    for found, size, population in zip(hits, drawn, populations, strict=True):
        count = np.asarray([found], np.int64)
        highs.append(int(upper_bounds(count, size, population, risk / 4)[0]))
        missed = upper_bounds(size - count, size, population, risk / 4)
        lows.append(population - int(missed[0]))
    low = lows[0] / (lows[0] + highs[1]) if lows[0] + highs[1] else 0.0
    high = highs[0] / (highs[0] + lows[1]) if highs[0] + lows[1] else 1.0
    return low, high


@dataclass(slots=True)
class _Sample:
    """Answers of the drawn pairs of a review and a statement.

    Attributes:
        rows, columns: int64 [drawn], reviews and statements.
        entailment: float64 [drawn].
        implied: bool [drawn].
    """

    rows: Ints
    columns: Ints
    entailment: Floats = field(default_factory=lambda: np.empty(0))
    implied: Bools = field(default_factory=lambda: np.empty(0, np.bool_))


class Statements:
    """The statements of one product, from plans to weights; asked once for all its summaries.

    Use: plan and read ``trivial``, ``reviews``, ``repeats`` and ``returns`` in this order.

    Args:
        reviews: M texts, none empty.
        places: int64 [M], where they stand in the product.
        texts: the table of all texts.
        splitter: cuts reviews into statements.
        read: gives what models read of a review.
        most: statements to draw where there are more.
        product_statement: text number of the product statement, or None for no trivial mask.
        where: condition on the text of statements, or None.
        threshold: decision threshold in [0, 1).

    Attributes:
        of_statements: distinct statements before drawing.
        exact: whether all reviews are asked about every statement.
        kept: bool [Q], statements that are neither trivial, nor repeated, nor too long to read.
    """

    def __init__(
        self,
        reviews: Sequence[str],
        places: Ints,
        *,
        texts: TextTable,
        splitter: Splitter,
        read: Callable[[str], str],
        most: int,
        product_statement: int | None,
        where: Where | None,
        threshold: float,
    ) -> None:
        found = Candidates.of(reviews, splitter, says=says_anything)
        fitting = [
            k for k, text in enumerate(found.texts) if where is None or where.holds({"text": text})
        ]
        rng = np.random.default_rng(number_of(reviews))
        drawn = [fitting[k] for k in sorted(rng.permutation(len(fitting))[:most].tolist())]
        self.of_statements = len(fitting)
        self._texts = [found.texts[k] for k in drawn]
        self._origins = [found.places[found.ranks[k][0]] for k in drawn]
        self._own = np.asarray([place.review for place in self._origins], np.int64)
        self._places = places
        self._reviews = texts.add_all(map(read, reviews))
        self._ids = texts.add_all(self._texts)
        self._product_statement = product_statement
        self._threshold = threshold
        self.kept: Bools = np.ones(len(drawn), np.bool_)
        self.exact = len(reviews) <= ASKED
        cells = len(reviews) * len(drawn)
        chosen = np.arange(cells)
        if not self.exact:
            chosen = np.sort(rng.choice(cells, ASKED * len(drawn), replace=False, shuffle=False))
        self._sample = _Sample(*np.divmod(chosen, max(len(drawn), 1)))
        self._request = no_pairs()
        self._stated: list[slice] = []
        self._pairs = np.empty((2, 0), np.int64)

    def plan_trivial(self, plan: PairPlan) -> None:
        """Ask which statements follow from having bought the product."""
        if self._product_statement is not None:
            self._request = plan.add_product([self._product_statement], self._ids)

    def read_trivial(self, answers: PairScores) -> None:
        """Leave those aside."""
        if self._product_statement is not None:
            own = answers.take(self._request)
            self.kept = ~self._implied(own) & (own.flags & FLAG_TOO_LONG == 0)

    def plan_reviews(self, plan: PairPlan) -> None:
        """Ask the reviews about the statements."""
        sample = self._sample
        wanted = self.kept[sample.columns]
        sample.rows, sample.columns = sample.rows[wanted], sample.columns[wanted]
        self._request = plan.add(self._reviews[sample.rows], self._ids[sample.columns])

    def read_reviews(self, answers: PairScores) -> None:
        """Learn who implies what; a statement that is too long to read is left aside."""
        own, sample = answers.take(self._request), self._sample
        sample.entailment = np.nan_to_num(own.entailment.astype(np.float64))
        sample.implied = self._implied(own)
        self.kept[sample.columns[own.flags & FLAG_TOO_LONG > 0]] = False

    def plan_repeats(self, plan: PairPlan) -> None:
        """Ask which statements imply later ones: better supported first, else as drawn."""
        order = np.flatnonzero(self.kept)
        if self.exact:
            order = order[np.argsort(-self._hits[order], kind="stable")]
        first, second = np.triu_indices(len(order), k=1)
        self._pairs = np.stack([order[first], order[second]])
        if self.exact:
            # What the reviews have answered leaves fewer to ask; see read_returns.
            implied = np.zeros((len(self._reviews), len(self._ids)), np.bool_)
            implied[self._sample.rows, self._sample.columns] = self._sample.implied
            one, other = self._pairs
            possible = implied[self._own[one], other] & implied[self._own[other], one]
            self._pairs = self._pairs[:, possible]
        self._request = plan.add(*self._ids[self._pairs])

    def read_repeats(self, answers: PairScores) -> None:
        """Learn which do; see :meth:`plan_returns`."""
        self._pairs = self._pairs[:, self._implied(answers.take(self._request))]

    def plan_returns(self, plan: PairPlan) -> None:
        """Ask of these pairs whether they imply each other, and what their reviews imply."""
        self._request = plan.add(*self._ids[self._pairs[::-1]])
        if not self.exact:
            one, other = self._pairs
            self._stated = [
                plan.add(self._reviews[self._own[own]], self._ids[said])
                for own, said in ((one, other), (other, one))
            ]

    def read_returns(self, answers: PairScores) -> None:
        """Keep one of those that do, and of which the review that states one implies the other."""
        alike = [self._implied(answers.take(place)) for place in (self._request, *self._stated)]
        same = self._pairs[:, np.logical_and.reduce(alike)]
        for one, other in same.T.tolist():
            if self.kept[one]:
                self.kept[other] = False

    @property
    def ids(self) -> Ints:
        """Text numbers of the statements that are kept."""
        return self._ids[self.kept]

    def covered(self, answers: PairScores) -> Coverage:
        """What a summary covers.

        Args:
            answers: of the summary about each of :attr:`ids`, in order.
        """
        probability = np.zeros(len(self._ids))
        probability[self.kept] = np.nan_to_num(answers.entailment)
        implied = np.zeros(len(self._ids), np.bool_)
        implied[self.kept] = self._implied(answers)
        hits, drawn, size = (
            np.asarray([values[self.kept & side].sum() for side in (implied, ~implied)], np.int64)
            for values in (self._hits, self._drawn, np.full(len(implied), len(self._reviews)))
        )
        weights = hits * size / np.maximum(drawn, 1)
        soft = np.where(self.kept, self._sums / np.maximum(self._drawn, 1), 0.0)
        return Coverage(
            hard=float(weights[0] / weights.sum()) if weights.any() else None,
            soft=float(soft @ probability / soft.sum()) if soft.any() else None,
            interval=None
            if self.exact
            else coverage_interval(hits.tolist(), drawn.tolist(), size.tolist()),
            left_out=self._left_out(implied),
        )

    @property
    def _hits(self) -> Ints:
        """How many of the reviews asked imply each statement."""
        implied = self._sample.columns[self._sample.implied]
        return np.bincount(implied, minlength=len(self._ids)).astype(np.int64)

    @property
    def _drawn(self) -> Ints:
        """How many reviews were asked about it."""
        return np.bincount(self._sample.columns, minlength=len(self._ids)).astype(np.int64)

    @property
    def _sums(self) -> Floats:
        """The sum of their probabilities."""
        sample = self._sample
        return np.bincount(sample.columns, sample.entailment, len(self._ids)).astype(np.float64)

    def _left_out(self, implied: Bools) -> tuple[LeftOut, ...]:
        hits, drawn = self._hits, self._drawn
        open_ = np.flatnonzero(self.kept & ~implied & (hits > 0))
        shares = hits[open_] / drawn[open_]
        best = open_[np.lexsort((open_, -self._sums[open_], -shares))[:SHOWN]]
        return tuple(self._one_left_out(k, int(hits[k]), int(drawn[k])) for k in best.tolist())

    def _one_left_out(self, k: int, support: int, asked: int) -> LeftOut:
        sample, origin = self._sample, self._origins[k]
        behind = sample.rows[(sample.columns == k) & sample.implied]
        return LeftOut(
            text=self._texts[k],
            support=support,
            asked=asked,
            supporting_reviews=tuple(self._places[behind].tolist()),
            **origin._replace(review=int(self._places[origin.review]))._asdict(),
        )

    def _implied(self, answers: PairScores) -> Bools:
        return metric.implied_pairs(answers, self._threshold)
