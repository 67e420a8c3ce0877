"""Decisions of float32 at the price of half precision: what rounding could turn is asked again."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from prevalence.metric import check_threshold, decisions, near
from prevalence.nli.pairs import PairScorer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from prevalence.nli.pairs import PairScores, Progress, TextTable

__all__ = ["RecheckedScorer"]


class RecheckedScorer(PairScorer):
    """A scorer in low precision whose answers near the threshold come from one in float32.

    An error of ``fast.traits.doubt`` in the log-odds, the most that the precision is allowed,
    cannot turn a decision of the other answers. That bound is measured, not proved, so each answer
    in float32 is held against it, and a model that exceeds it is warned of, once.

    Each scorer may stand behind a cache of its own: what they keep does not depend on the
    threshold, and float32 answers are shared with runs in float32.

    Args:
        fast: the scorer in low precision; it states its doubt.
        open_exact: opens the same model in float32; called when the first pair is asked again.
        threshold: where decisions are made; None takes the scorer's own.

    Attributes:
        fast: as given. Its traits are the scorer's own but for the threshold, the doubt, which is
            0, and the digest and the signature, which name the recheck.

    Raises:
        ConfigurationError: the threshold is not in [0, 1).
    """

    def __init__(
        self,
        fast: PairScorer,
        open_exact: Callable[[], PairScorer],
        *,
        threshold: float | None = None,
    ) -> None:
        cut = fast.traits.threshold if threshold is None else check_threshold(threshold)
        described = f"recheck {cut!r} {fast.traits.doubt!r}".encode()
        traits = replace(
            fast.traits,
            digest=hashlib.blake2b(fast.traits.digest + described, digest_size=16).digest(),
            signature=dict(fast.traits.signature) | {"recheck": "float32"},
            threshold=cut,
            calibrated=fast.traits.calibrated or threshold is not None,
            doubt=0.0,
            rechecks=True,
        )
        super().__init__(traits, fast)
        self.fast = fast
        self._open_exact = cache(open_exact)
        self._told = False

    def at(self, threshold: float) -> RecheckedScorer:
        """The same models, deciding at another threshold."""
        if threshold == self.traits.threshold:
            return self
        return RecheckedScorer(self.fast, self._open_exact, threshold=threshold)

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.pairs.PairScorer.score`."""
        scores = self.fast.score(texts, pairs, progress=progress)
        reach = self.fast.traits.doubt
        rows = np.flatnonzero(near(scores.entailment, self.traits.threshold, reach))
        if rows.size:
            exact = self._open_exact().score(texts, pairs[rows])
            self._compare(scores.entailment[rows], exact.entailment)
            scores.put(rows, exact)
        return scores

    def _compare(self, rounded: NDArray[np.float32], exact: NDArray[np.float32]) -> None:
        """Count, and make sure that the precision does what is expected of it."""
        before, after = (decisions(found, self.traits.threshold) for found in (rounded, exact))
        self._did.rechecked += rounded.size
        self._did.turned += int((before != after).sum())
        moved = float(np.abs(_log_odds(rounded) - _log_odds(exact)).max())
        reach = self.fast.traits.doubt
        if moved > reach and not self._told:
            self._told = True
            warnings.warn(
                f"rounding moved the log-odds of a pair by {moved:.2f}, and {reach:g} was "
                "allowed for: other decisions may differ from float32's; choose float32 (dtype= or "
                "--dtype)",
                RuntimeWarning,
                stacklevel=3,
            )


def _log_odds(probabilities: NDArray[np.float32]) -> NDArray[np.float64]:
    # Where a probability is rounded to 0 or 1, its odds are not known.
    held = np.clip(probabilities.astype(np.float64), 1e-6, 1 - 1e-6)
    return np.asarray(np.log(held / (1 - held)))
