"""A scorer that asks a store of pair probabilities before it computes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from prevalence.nli.protocol import (
    FLAG_TOO_LONG,
    PairScorer,
    PairScores,
    PairStore,
    Progress,
    decided_at,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prevalence.texts import TextTable

__all__ = ["CachedScorer"]

_READING = b""
"""Part of every key: change it (b"1", b"2") when our own reading of pairs changes answers, since
digests name weights and settings alone. The first is empty."""

_MOST_UNIT = 32_768
"""Pairs that a device scores between two times that answers are stored."""


class CachedScorer:
    """A scorer that asks the cache first and stores what it had to compute.

    Work is handed to the inner scorer in its own units, or parts of them, each stored when it is
    done: a killed run loses 32,768 pairs a device at most, which a small model answers in seconds.

    Attributes:
        hits: pairs answered by the cache so far.
        misses: pairs computed so far.
    """

    def __init__(self, inner: PairScorer, cache: PairStore) -> None:
        self._inner = inner
        self._cache = cache
        self.digest = inner.digest
        self.signature = inner.signature
        self.threshold = inner.threshold
        self.calibrated: bool = getattr(inner, "calibrated", True)
        self.doubt: float = getattr(inner, "doubt", 0.0)
        self.probability: bool = getattr(inner, "probability", True)
        self.three_way = inner.three_way
        self.work_unit = inner.work_unit
        self.hits = 0
        self.misses = 0

    def at(self, threshold: float) -> CachedScorer:
        """The scorer to decide with at another threshold."""
        inner = decided_at(self._inner, threshold)
        return self if inner is self._inner else CachedScorer(inner, self._cache)

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`PairScorer.score`."""
        result = PairScores.empty(len(pairs))
        unit = min(self.work_unit, _MOST_UNIT * getattr(self._inner, "devices", 1))
        for start in range(0, len(pairs), unit):
            part = slice(start, start + unit)
            result.put(part, self._score_unit(texts, pairs[part], progress))
        return result

    def _score_unit(
        self, texts: TextTable, pairs: NDArray[np.int64], progress: Progress | None
    ) -> PairScores:
        keys = [self._key(texts, premise, hypothesis) for premise, hypothesis in pairs.tolist()]
        stored = self._cache.get(keys)
        result = PairScores.empty(len(pairs))
        missing = []
        for row, key in enumerate(keys):
            if key in stored:
                result.entailment[row], result.contradiction[row], result.flags[row] = stored[key]
            else:
                missing.append(row)
        self.hits += len(pairs) - len(missing)
        self.misses += len(missing)
        if progress is not None and len(missing) < len(pairs):
            progress(len(pairs) - len(missing))
        if missing:
            rows = np.asarray(missing, np.int64)
            fresh = self._inner.score(texts, pairs[rows], progress=progress)
            result.put(rows, fresh)
            self._keep([keys[row] for row in missing], fresh)
        return result

    def _keep(self, keys: list[bytes], fresh: PairScores) -> None:
        """Store answers; a pair without a probability is asked again next time."""
        answered = np.isfinite(fresh.entailment) & (fresh.flags & FLAG_TOO_LONG == 0)
        values = zip(*(column.tolist() for column in fresh), strict=True)
        self._cache.put(
            {
                key: value
                for key, value, kept in zip(keys, values, answered.tolist(), strict=True)
                if kept
            }
        )

    def _key(self, texts: TextTable, premise: int, hypothesis: int) -> bytes:
        parts = self.digest + texts.digest(premise) + texts.digest(hypothesis)
        return hashlib.blake2b(parts, digest_size=16, person=_READING).digest()
