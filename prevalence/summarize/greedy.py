"""Greedy construction: the best supported sentences that do not repeat one another.

Algorithm 1 of Malon 2023: split all reviews into sentences, drop those that the product statement
implies, order the others by their support (the number of reviews that imply them; ties in source
order), walk down and add each sentence that no sentence added before implies, until the summary is
long enough.

:class:`_Walk` asks for no more than the walk needs. It keeps for every sentence an upper bound of
its support. A sentence is settled as the next of the walk when all reviews were asked about it
and no other sentence's bound ranks before it; until then, only sentences whose bound does rank
before it are asked about. A sentence is checked against those chosen before it costs more reviews:
what a chosen sentence implies is never added, whatever its rank.

With exact bounds (what has not been asked may all be support) the summary is Algorithm 1's. With
confidence bounds it is Algorithm 1's with the probability asked for. Proof. Let a_1 ... a_k be what
Algorithm 1 chooses; they depend on the answers and not on the random order of the reviews.
Suppose that while the i-th sentence is sought, the bound of a_i is never below its support, for
every i. If a_1 ... a_(i-1) were chosen, then the next one is a sentence that none of them implies,
whose support is known, and which is a_i or ranks before the bound of a_i, so before a_i itself. But
a_i is the first of all sentences that none of them implies, so it is a_i. Bounds of other sentences
may fail: one that is too low can only set a sentence aside, and only a_i must not be set aside
during the i-th search. During that search bounds are looked at on a fixed ladder of sample sizes
with K rungs below the whole, each with error probability α_i / K, so the i-th search fails with
probability at most α_i, and the construction with at most Σ α_i ≤ δ, where the α_i are fixed before
any review is asked. Samples below the first rung of that ladder have exact bounds, which cannot
fail. How the answers steer what is asked next does not matter, because the bound of a_i holds at
all rungs at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.errors import ConfigurationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prevalence.stats.arrays import Bools, Ints
    from prevalence.summarize.candidates import Candidates, LengthRule
    from prevalence.summarize.questions import Judge

__all__ = ["BATCH", "FEW", "Pick", "greedy", "ladder", "risk_share", "upper_bounds"]


_LEAST_ALPHA = 1e-250
"""Below it the tail probabilities leave the range of floats, and only exact bounds are used."""

_ROUNDING = 1e-9
"""Relative error that sums of exponentials of log-factorials stay far below."""


def upper_bounds(hits: Ints, drawn: int, population: int, alpha: float) -> Ints:
    """Upper confidence bounds of totals, from a sample without replacement.

    U(h) is the largest total s with P(H ≤ h | s) > α, where H is hypergeometric. Whatever the
    true total is, P(U(H) < s) ≤ α: U(h) < s happens only for h with P(H ≤ h | s) ≤ α, and the
    probability of such an h is at most α. With α = 0 the bound is the exact one, h plus what was
    not drawn.

    Args:
        hits: int64, counts h in the sample, each in [0, drawn].
        drawn: n, the sample's size in [0, population].
        population: M.
        alpha: in [0, 1).

    Returns:
        int64 of the shape of ``hits``, each in [h, h + population − drawn].

    >>> upper_bounds(np.array([0, 3]), 10, 100, 0.05).tolist()
    [24, 59]
    """
    unique, back = np.unique(hits, return_inverse=True)
    low, high = unique.copy(), unique + (population - drawn)
    if alpha < _LEAST_ALPHA:
        return np.asarray(high[back])
    # P(H <= h | s) falls with s: bisect for the largest s that is not refuted.
    while (low < high).any():
        middle = (low + high + 1) // 2
        likely = _lower_tail(unique, middle, drawn, population) > alpha * (1 - _ROUNDING)
        low, high = np.where(likely, middle, low), np.where(likely, high, middle - 1)
    return np.asarray(low[back])


def _lower_tail(hits: Ints, totals: Ints, drawn: int, population: int) -> NDArray[np.float64]:
    """P(H ≤ h) of H hypergeometric, for each pair of a count and a total."""
    logs = _log_factorials(population)
    outcome = np.arange(int(hits.max(initial=0)) + 1)
    total = totals[:, None]
    rest = population - total
    missed = drawn - outcome
    possible = (outcome <= hits[:, None]) & (outcome <= total) & (missed >= 0) & (missed <= rest)
    some, others = np.where(possible, outcome, 0), np.where(possible, missed, 0)
    term = (
        logs[total] - logs[some] - logs[np.where(possible, total - some, 0)]
        + logs[rest] - logs[others] - logs[np.where(possible, rest - others, 0)]
        - (logs[population] - logs[drawn] - logs[population - drawn])
    )  # fmt: skip
    return np.asarray(np.exp(np.where(possible, term, -np.inf)).sum(axis=1))


@lru_cache(maxsize=8)
def _log_factorials(largest: int) -> NDArray[np.float64]:
    logs = np.zeros(largest + 1)
    np.cumsum(np.log(np.arange(1, largest + 1)), out=logs[1:])
    return logs


def ladder(population: int, *, first: int, ratio: float) -> tuple[int, ...]:
    """Sample sizes at which bounds are looked at: geometric, the last one is everything.

    Args:
        population: M ≥ 0.
        first: size of the first sample.
        ratio: of consecutive sizes, above 1.

    >>> ladder(100, first=16, ratio=2.0)
    (16, 32, 64, 100)
    """
    rungs: list[int] = []
    size = float(first)
    while round(size) < population:
        rungs.append(round(size))
        size = max(size * ratio, size + 1)
    return (*rungs, population)


_BLOCKS = 32
"""Parts in which exact search asks the reviews."""

_FIRST, _RATIO = 12, 1.4
"""Sample sizes of racing at which bounds take a risk."""

_EARLY = (2, 4, 8)
"""Sample sizes of racing too small for that; enough where the best sentences have all reviews."""

FEW = 24
"""Reviews below which racing is exact search, which then asks less."""

_RESERVE = 0.1
"""Share of δ for more sentences than expected."""

BATCH = 16
"""Sentences looked at together where one would do, so that batches are worth a call."""

_COMPARED_COST = 4
"""Reviews that a candidate's next rung must save for each comparison that may save them: most
comparisons rule nothing out."""


class Pick(NamedTuple):
    """A sentence of the summary.

    Attributes:
        candidate: its number.
        rank: position of the place it was taken from, in source order.
        support: number of reviews that imply it; exact, all were asked.
    """

    candidate: int
    rank: int
    support: int


def greedy(
    judge: Judge,
    candidates: Candidates,
    length: LengthRule,
    *,
    delta: float = 0.0,
    seed: int = 0,
    refuse_contradictions: bool = False,
    batch: int = BATCH,
) -> list[Pick]:
    """Choose sentences by Algorithm 1, asking only what the choice depends on.

    Args:
        judge: answers questions about the candidates.
        candidates: the sentences to choose from.
        length: when to stop.
        delta: probability in [0, 1) with which the choice may differ from Algorithm 1's; 0 is
            exact search, more is racing (exact all the same for few reviews).
        seed: of the order in which racing asks the reviews.
        refuse_contradictions: also refuse a sentence that contradicts a chosen one, or that a
            chosen one contradicts.
        batch: sentences looked at together; fewer ask less in more calls of the judge.

    Returns:
        The sentences in the order of selection. It is shorter than ``length`` when no sentence
        is left.

    Raises:
        ConfigurationError: δ out of range, or a judge that knows no contradictions is asked to
            refuse them.

    Source: Malon 2023, Algorithm 1.
    """
    if not 0 <= delta < 1:
        raise ConfigurationError(f"delta must lie in [0, 1), not {delta}")
    if refuse_contradictions and not judge.three_way:
        raise ConfigurationError(
            "this model has no contradiction class, so contradictions cannot be refused: "
            "choose a three-way model"
        )
    if len(judge.rows) < FEW:
        delta = 0.0
    walk = _Walk(
        judge, candidates, delta=delta, seed=seed, refuse=refuse_contradictions, batch=batch
    )
    expected = _expected(length, candidates)
    lengths: list[int] = []
    while not length.reached(lengths):
        pick = walk.next(risk_share(delta, len(lengths) + 1, expected))
        if pick is None:
            break
        lengths.append(len(candidates.texts[pick.candidate]))
    return walk.chosen


def _expected(length: LengthRule, candidates: Candidates) -> int:
    """About how many sentences the summary will have; known before any review is asked."""
    if length.characters is None:
        return length.sentences or 1
    # What many reviews imply is short.
    sizes = [len(text) for text in candidates.texts] or [1]
    return math.ceil(length.characters / max(float(np.quantile(sizes, 0.25)), 1.0))


def risk_share(delta: float, place: int, expected: int) -> float:
    """What of δ the search for the sentence at a place may use.

    Equal parts for the places expected, and a reserve for any number of later ones; the sum over
    all places is δ.

    Args:
        delta: probability for the whole summary.
        place: of the sentence, counted from 1.
        expected: sentences that the summary will have, about.

    >>> [round(risk_share(0.1, place, 2), 4) for place in (1, 2, 3, 4)]
    [0.045, 0.045, 0.005, 0.0017]
    """
    if place <= expected:
        return (1 - _RESERVE) * delta / expected
    later = place - expected
    return _RESERVE * delta / (later * (later + 1))


@dataclass(slots=True)
class _State:
    """What is known of each of N candidates.

    Attributes:
        asked: how many reviews, the first ones of the order, were asked about it.
        hits: how many of them imply it.
        ranks: position of its first place that is not used up.
        uses: how many of its places are used up.
        alive: it may still be chosen.
        compared: how many of the chosen sentences it was compared with.
    """

    asked: Ints
    hits: Ints
    ranks: Ints
    uses: Ints
    alive: Bools
    compared: Ints


class _Walk:
    """The walk down the sentences, in the order of supports that are found out on the way."""

    def __init__(
        self,
        judge: Judge,
        candidates: Candidates,
        *,
        delta: float,
        seed: int,
        refuse: bool,
        batch: int,
    ) -> None:
        self.chosen: list[Pick] = []
        self._judge = judge
        self._places = candidates.ranks
        self._refuse = refuse
        self._batch = batch
        self._tables: dict[tuple[int, float], Ints] = {}
        self._order = judge.rows
        size = len(self._order)
        if delta > 0:
            self._order = np.random.default_rng(seed).permutation(judge.rows)
            rungs = ladder(size, first=_FIRST, ratio=_RATIO)
            self._looks = len(rungs) - 1
            self._rungs = (*_EARLY, *rungs)
        else:
            block = -(-size // _BLOCKS) or 1
            self._rungs = (*range(block, size, block), size)
            self._looks = 0
        count = len(candidates)
        self._state = _State(
            asked=np.zeros(count, np.int64),
            hits=np.zeros(count, np.int64),
            ranks=candidates.first_ranks,
            uses=np.zeros(count, np.int64),
            alive=np.ones(count, np.bool_),
            compared=np.zeros(count, np.int64),
        )
        self._state.alive = ~judge.trivial(np.arange(count))
        self._drop_unreadable()

    def next(self, alpha: float) -> Pick | None:
        """Choose the next sentence, or None when none is left.

        Args:
            alpha: probability with which it may be another one than Algorithm 1's.
        """
        state = self._state
        while state.alive.any():
            leader = self._leader()
            if leader is not None and self._refused(np.array([leader])):
                continue
            rivals = self._rivals(leader, alpha / max(self._looks, 1))
            if leader is not None and not rivals.size:
                return self._choose(leader)
            rivals = self._worth_asking(rivals, leader)
            if not self._refused(rivals[self._cheap_to_compare(rivals)]):
                self._ask(rivals)
        return None

    def _leader(self) -> int | None:
        """The best of the candidates of which the support is known."""
        state = self._state
        known = np.flatnonzero(state.alive & (state.asked == len(self._order)))
        if not known.size:
            return None
        return int(known[np.lexsort((state.ranks[known], -state.hits[known]))[0]])

    def _rivals(self, leader: int | None, alpha: float) -> Ints:
        """Candidates that may rank before the leader, as far as is known."""
        state = self._state
        open_ = np.flatnonzero(state.alive & (state.asked < len(self._order)))
        if leader is None:
            return open_
        bounds = np.empty(len(open_), np.int64)
        asked = state.asked[open_]
        for drawn in np.unique(asked).tolist():
            level = asked == drawn
            risk = alpha if drawn >= _FIRST else 0.0
            bounds[level] = self._bounds(state.hits[open_[level]], drawn, risk)
        best = state.hits[leader]
        before = (bounds == best) & (state.ranks[open_] < state.ranks[leader])
        return np.asarray(open_[(bounds > best) | before])

    def _bounds(self, hits: Ints, drawn: int, alpha: float) -> Ints:
        """Upper bounds of supports; each count of a sample size is looked up once."""
        table = self._tables.setdefault((drawn, alpha), np.full(drawn + 1, -1))
        new = np.unique(hits[table[hits] < 0])
        if new.size:
            table[new] = upper_bounds(new, drawn, len(self._order), alpha)
        return np.asarray(table[hits])

    def _worth_asking(self, rivals: Ints, leader: int | None) -> Ints:
        """Of the rivals, those to ask about next.

        All are asked first about the first rung. Then the most promising go ahead, so that the
        leader is soon one that the others need not be asked much to be ranked behind.
        """
        state = self._state
        fresh = rivals[state.asked[rivals] == 0]
        if fresh.size:
            return np.asarray(fresh)
        shares = state.hits[rivals] / state.asked[rivals]
        if leader is not None:
            ahead = shares > state.hits[leader] / len(self._order)
            if not ahead.any():
                return np.asarray(rivals)
            rivals, shares = rivals[ahead], shares[ahead]
        return np.asarray(rivals[np.lexsort((state.ranks[rivals], -shares))[: self._batch]])

    def _steps(self, candidates: Ints) -> Ints:
        """How many reviews each candidate's next rung adds."""
        rungs = np.asarray(self._rungs)
        asked = self._state.asked[candidates]
        return np.asarray(rungs[np.searchsorted(rungs, asked, side="right")] - asked)

    def _cheap_to_compare(self, candidates: Ints) -> Bools:
        """Whether to compare with the chosen sentences first, rather than when settled."""
        pending = len(self.chosen) - self._state.compared[candidates]
        return np.asarray(pending * _COMPARED_COST <= self._steps(candidates))

    def _refused(self, candidates: Ints) -> bool:
        """Drop the candidates that a chosen sentence rules out; whether there was one."""
        state = self._state
        dropped = False
        first = int(state.compared[candidates].min(initial=len(self.chosen)))
        for place in range(first, len(self.chosen)):
            left = candidates[state.alive[candidates] & (state.compared[candidates] == place)]
            if not left.size:
                continue
            chosen = np.full(len(left), self.chosen[place].candidate)
            implied, contradicted = self._judge.between(chosen, left)
            out = implied
            if self._refuse:
                out = out | contradicted
                rest = np.flatnonzero(~out)
                out[rest] = self._judge.between(left[rest], chosen[rest]).contradicted
            state.alive[left[out]] = False
            state.compared[left] = place + 1
            dropped |= bool(out.any())
        return dropped

    def _ask(self, candidates: Ints) -> None:
        """Ask each candidate's next reviews, up to its next rung."""
        state = self._state
        steps = self._steps(candidates)
        owners = np.repeat(np.arange(len(candidates)), steps)
        starts = np.cumsum(steps) - steps
        turns = np.arange(len(owners)) - np.repeat(starts - state.asked[candidates], steps)
        implied = self._judge.reviews(self._order[turns], candidates[owners])
        state.hits[candidates] += np.bincount(owners, implied, len(candidates)).astype(np.int64)
        state.asked[candidates] += steps
        self._drop_unreadable()

    def _choose(self, leader: int) -> Pick:
        state = self._state
        pick = Pick(leader, int(state.ranks[leader]), int(state.hits[leader]))
        self.chosen.append(pick)
        state.uses[leader] += 1
        # The same text may stand elsewhere; it goes on as a candidate there, which it usually
        # does not survive, because a sentence implies itself.
        places = self._places[leader]
        if state.uses[leader] < len(places):
            state.ranks[leader] = places[state.uses[leader]]
        else:
            state.alive[leader] = False
        return pick

    def _drop_unreadable(self) -> None:
        self._state.alive[self._judge.unreadable()] = False
