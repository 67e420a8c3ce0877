"""A scorer under a calibration: its threshold decides, its map gives the probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from prevalence.calibration.maps import LogitMap
from prevalence.errors import ConfigurationError
from prevalence.nli.protocol import PairScores, Progress, decided_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from prevalence.calibration.maps import ScoreMap
    from prevalence.calibration.record import Calibration
    from prevalence.nli.protocol import PairScorer
    from prevalence.texts import TextTable

__all__ = ["CalibratedScorer"]

_HIGHEST = float(np.nextafter(np.float32(1), np.float32(0)))
"""Largest threshold that leaves a probability above it."""


class CalibratedScorer:
    """A pair scorer whose decisions are those of the threshold on the inner scorer's scores.

    With a map, probabilities are the mapped ones and the threshold is mapped as well. Rounding and
    flat stretches of the map cannot turn a decision: probabilities are held on the side of the
    threshold that the inner score is on. P(contradiction) keeps its share of what entailment
    leaves.

    Args:
        inner: the scorer that was calibrated.
        calibration: its calibration.

    Raises:
        ModelError: the calibration is another scorer's.
        ConfigurationError: an isotonic map with a scorer in half precision, whose doubtful
            decisions could not be counted.
    """

    calibrated = True

    def __init__(self, inner: PairScorer, calibration: Calibration) -> None:
        calibration.check(getattr(inner, "fast", inner))
        self._inner = inner = decided_at(inner, calibration.threshold)
        self._cut = calibration.threshold
        self._map = calibration.score_map
        self.digest = inner.digest + bytes.fromhex(calibration.digest)
        self.signature: Mapping[str, str] = dict(inner.signature) | {"calib": calibration.digest}
        self.threshold = self._mapped_threshold()
        self.three_way = inner.three_way
        self.work_unit = inner.work_unit
        self.probability: bool = self._map is not None or getattr(inner, "probability", True)
        self.doubt = self._mapped_doubt(getattr(inner, "doubt", 0.0))

    @property
    def hits(self) -> int:
        """Pairs answered by the inner scorer's cache; absent without one."""
        return int(cast("Any", self._inner).hits)

    @property
    def rechecked(self) -> int:
        """Pairs that the inner scorer asked again in float32; absent where it does not."""
        return int(cast("Any", self._inner).rechecked)

    @property
    def turned(self) -> int:
        """Decisions that this has turned."""
        return int(cast("Any", self._inner).turned)

    def at(self, threshold: float) -> CalibratedScorer:
        """Itself: it can decide at any threshold, unless it makes sure of decisions at its own.

        Raises:
            ConfigurationError: the inner scorer asks again what is near the calibrated threshold.
        """
        if hasattr(self._inner, "rechecked"):
            raise ConfigurationError(
                f"threshold {threshold:g} is not the calibration's {self.threshold:g}, where "
                "decisions are checked in float32; use --dtype float32 or --no-recheck"
            )
        return self

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.protocol.PairScorer.score`."""
        scores = self._inner.score(texts, pairs, progress=progress)
        if self._map is None:
            return scores
        raw, readable = scores.entailment, np.isfinite(scores.entailment)
        entailment = np.full_like(raw, np.nan)
        entailment[readable] = self._mapped(raw[readable], self._map)
        rest = np.divide(1 - entailment, 1 - raw, out=np.zeros_like(raw), where=raw < 1)
        return PairScores(entailment, scores.contradiction * rest, scores.flags)

    def _mapped(self, raw: NDArray[np.float32], score_map: ScoreMap) -> NDArray[np.float32]:
        mapped = np.clip(score_map(raw.astype(np.float64)), 0.0, 1.0).astype(np.float32)
        cut = np.float32(self.threshold)
        above = np.nextafter(cut, np.float32(1))
        decided = raw > np.float32(self._cut)
        return np.where(decided, np.maximum(mapped, above), np.minimum(mapped, cut))

    def _mapped_threshold(self) -> float:
        if self._map is None:
            return self._cut
        mapped = float(np.float32(self._map(np.asarray([self._cut]))[0]))
        return min(max(mapped, 0.0), _HIGHEST)

    def _mapped_doubt(self, doubt: float) -> float:
        if not doubt or self._map is None:
            return doubt
        if isinstance(self._map, LogitMap):
            return doubt * self._map.scale
        raise ConfigurationError(
            "an isotonic map needs --dtype float32: near its steps, decisions that half precision "
            "may turn cannot be counted"
        )
