"""Decisions of float32 at the price of half precision: what rounding could turn is asked again."""

from __future__ import annotations

import hashlib
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from prevalence.metric import check_threshold, decisions, near

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from prevalence.nli.pairs import PairScorer, PairScores, Progress, TextTable

__all__ = ["RecheckedScorer"]


class RecheckedScorer:
    """A scorer in low precision whose answers near the threshold come from one in float32.

    An error of ``fast.doubt`` in the log-odds, the most that the precision is allowed, cannot turn
    a decision of the other answers. That bound is measured, not proved, so each answer in float32
    is held against it, and a model that exceeds it is warned of, once.

    Each scorer may stand behind a cache of its own: what they keep does not depend on the
    threshold, and float32 answers are shared with runs in float32.

    Args:
        fast: the scorer in low precision; it states its doubt.
        open_exact: opens the same model in float32; called when the first pair is asked again.
        threshold: where decisions are made; None takes the scorer's own.

    Attributes:
        fast: as given.
        rechecked: pairs asked again so far.
        turned: decisions on entailment that this has turned so far.
        doubt: 0; rounding can turn no decision at this threshold.

    The other attributes are those of ``fast``; the digest and the signature name the recheck.

    Raises:
        ConfigurationError: the threshold is not in [0, 1).
    """

    doubt = 0.0

    def __init__(
        self,
        fast: PairScorer,
        open_exact: Callable[[], PairScorer],
        *,
        threshold: float | None = None,
    ) -> None:
        self.fast = fast
        self._open_exact = cache(open_exact)
        self.threshold = fast.threshold if threshold is None else check_threshold(threshold)
        self.calibrated: bool = getattr(fast, "calibrated", True) or threshold is not None
        self.three_way = fast.three_way
        self.work_unit = fast.work_unit
        self.signature: Mapping[str, str] = dict(fast.signature) | {"recheck": "float32"}
        described = f"recheck {self.threshold!r} {self._reach!r}"
        self.digest = hashlib.blake2b(fast.digest + described.encode(), digest_size=16).digest()
        self.rechecked = 0
        self.turned = 0
        self._told = False

    def at(self, threshold: float) -> RecheckedScorer:
        """The same models, deciding at another threshold."""
        return RecheckedScorer(self.fast, self._open_exact, threshold=threshold)

    @property
    def hits(self) -> int:
        """Pairs that ``fast`` had in its cache; absent without one."""
        return int(cast("Any", self.fast).hits)

    @property
    def _reach(self) -> float:
        return float(getattr(self.fast, "doubt", 0.0))

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.pairs.PairScorer.score`."""
        scores = self.fast.score(texts, pairs, progress=progress)
        rows = np.flatnonzero(near(scores.entailment, self.threshold, self._reach))
        if rows.size:
            exact = self._open_exact().score(texts, pairs[rows])
            self._compare(scores.entailment[rows], exact.entailment)
            scores.put(rows, exact)
        return scores

    def _compare(self, rounded: NDArray[np.float32], exact: NDArray[np.float32]) -> None:
        """Count, and make sure that the precision does what is expected of it."""
        before, after = (decisions(found, self.threshold) for found in (rounded, exact))
        self.rechecked += rounded.size
        self.turned += int((before != after).sum())
        moved = float(np.abs(_log_odds(rounded) - _log_odds(exact)).max())
        if moved > self._reach and not self._told:
            self._told = True
            warnings.warn(
                f"rounding moved the log-odds of a pair by {moved:.2f}, and {self._reach:g} is "
                "what is allowed for: other decisions may differ from float32's; use --dtype "
                "float32",
                RuntimeWarning,
                stacklevel=3,
            )


def _log_odds(probabilities: NDArray[np.float32]) -> NDArray[np.float64]:
    # Where a probability is rounded to 0 or 1, its odds are not known.
    held = np.clip(probabilities.astype(np.float64), 1e-6, 1 - 1e-6)
    return np.asarray(np.log(held / (1 - held)))
