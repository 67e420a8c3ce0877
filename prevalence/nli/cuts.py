"""How many decisions hang on the end of a long premise that was not read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from prevalence.metric import check_threshold, decisions
from prevalence.nli.pairs import FLAG_TOO_LONG, FLAG_TRUNCATED, PairScorer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from prevalence.nli.pairs import PairScores, Progress, TextTable

__all__ = ["CutChecker", "CutCounts"]


@dataclass(frozen=True, slots=True)
class CutCounts:
    """What the model's limit cut, as `prevalence score` notes it.

    The difference of two counts is what was cut between them.

    Attributes:
        pairs: distinct pairs whose premise was cut.
        premises: distinct premises among them, within a chunk of records.
        reread: of these pairs, those that did not count as support and were also read in windows;
            None where cuts are not checked.
        turned: decisions among these that windows would change; None where cuts are not checked.
    """

    pairs: int
    premises: int
    reread: int | None
    turned: int | None

    def __sub__(self, other: CutCounts) -> CutCounts:
        """What was cut since the other was counted, by the same object."""

        def since(now: int | None, then: int | None) -> int | None:
            return None if now is None or then is None else now - then

        return CutCounts(
            self.pairs - other.pairs,
            self.premises - other.premises,
            since(self.reread, other.reread),
            since(self.turned, other.turned),
        )


class CutChecker(PairScorer):
    """A scorer that cuts long premises, and counts the decisions that reading them whole turns.

    Its answers are those of the scorer that cuts, so that scores and signatures are the same. The
    first window of a premise is what the cut leaves of it, and the window of highest P(entailment)
    decides: reading in windows can turn a no into a yes and never the other way. So only pairs that
    were cut and decided no are read again.

    Args:
        cut: reads the beginning of a premise.
        open_whole: opens the same model, reading in windows; called when the first pair is read
            again.
        threshold: where decisions are made; None takes the scorer's own.

    Raises:
        ConfigurationError: the threshold is not in [0, 1).
    """

    def __init__(
        self,
        cut: PairScorer,
        open_whole: Callable[[], PairScorer],
        *,
        threshold: float | None = None,
    ) -> None:
        super().__init__(cut.traits, cut)
        self._cut = cut
        self._open_whole = cache(open_whole)
        self._threshold = cut.traits.threshold if threshold is None else check_threshold(threshold)

    def at(self, threshold: float) -> CutChecker:
        """The same models, deciding at another threshold."""
        inner = self._cut.at(threshold)
        if inner is self._cut and threshold == self._threshold:
            return self
        return CutChecker(inner, self._open_whole, threshold=threshold)

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.pairs.PairScorer.score`."""
        scores = self._cut.score(texts, pairs, progress=progress)
        cut = (scores.flags & (FLAG_TRUNCATED | FLAG_TOO_LONG)) == FLAG_TRUNCATED
        rows = np.flatnonzero(cut)
        rows = rows[~decisions(scores.entailment[rows], self._threshold)]
        if rows.size:
            whole = self._open_whole().at(self._threshold).score(texts, pairs[rows])
            self._did.reread += rows.size
            self._did.reread_turned += int(decisions(whole.entailment, self._threshold).sum())
        return scores
