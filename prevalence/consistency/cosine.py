"""Cosine of sentence vectors as a consistency scorer."""

from __future__ import annotations

import hashlib
import re
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from prevalence.consistency.units import UnitCutter, in_proportion, sentences_of
from prevalence.errors import ConfigurationError
from prevalence.metric import check_threshold
from prevalence.nli.protocol import FLAG_TRUNCATED, PairScores, Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from prevalence.consistency.encoder import Encoder
    from prevalence.texts import TextTable

__all__ = ["COSINE_MODES", "CosineScorer"]


_WORD = re.compile(r"\w")


def _whole(text: str) -> list[str]:
    return [text] if _WORD.search(text) else []


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in sentences_of(text) if _WORD.search(sentence)]


COSINE_MODES: dict[str, Callable[[str], list[str]]] = {
    "document": _whole,
    "sentence-max": _sentences,
}
"""What the hypothesis is compared with: the whole premise, or its most similar sentence."""

_WORK_UNIT = 2_048
_UNCALIBRATED = 0.75


@dataclass(slots=True)
class _Vectors:
    """Vectors of the units of one table, as far as they were asked for."""

    rows: dict[int, NDArray[np.float32]] = field(default_factory=dict)
    truncated: set[int] = field(default_factory=set)


class CosineScorer:
    """Cosine between the vectors of premise and hypothesis, as a pair scorer.

    The cosine c lies in [-1, 1] and is given as (1 + c)/2. A text without a word says nothing: any
    pair with one scores 0. There is no contradiction class.

    Args:
        encoder: gives vectors.
        mode: one of :data:`COSINE_MODES`.
        threshold: decision threshold on the given scale; None takes 0.75, a cosine of 0.5, which
            is not calibrated.

    Raises:
        ConfigurationError: an unknown mode, a threshold outside [0, 1), or an encoder in half
            precision.
    """

    three_way = False
    probability = False
    work_unit = _WORK_UNIT

    def __init__(
        self, encoder: Encoder, mode: str = "sentence-max", *, threshold: float | None = None
    ) -> None:
        if mode not in COSINE_MODES:
            raise ConfigurationError(
                f"unknown mode {mode!r} of cosine: choose from {', '.join(COSINE_MODES)}"
            )
        if encoder.dtype != "float32":
            raise ConfigurationError(
                "cosine needs --dtype float32: how far half precision moves a cosine has no bound "
                "that would tell which decisions it may turn"
            )
        self._encoder = encoder
        self._cutter = UnitCutter(COSINE_MODES[mode], _whole)
        self.threshold = _UNCALIBRATED if threshold is None else check_threshold(threshold)
        self.calibrated = threshold is not None
        self.signature: Mapping[str, str] = {
            "consistency": "cosine",
            "encoder": encoder.name,
            "gran": mode,
            "pooling": encoder.pooling,
            "trunc": str(encoder.max_length),
        }
        described = f"cosine/{mode}/3".encode()
        self.digest = hashlib.blake2b(encoder.digest + described, digest_size=16).digest()
        self._known: weakref.WeakKeyDictionary[TextTable, _Vectors] = weakref.WeakKeyDictionary()

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.protocol.PairScorer.score`."""
        result = PairScores.empty(len(pairs))
        units = [
            (self._cutter.units(texts, a, side=0), self._cutter.units(texts, b, side=1))
            for a, b in pairs.tolist()
        ]
        wanted = {int(number) for both in units for side in both for number in side}
        known = self._embed(texts, wanted, len(pairs), progress)
        for row, (premise, hypothesis) in enumerate(units):
            if not (len(premise) and len(hypothesis)):
                result.entailment[row] = 0.0
                continue
            left = np.stack([known.rows[number] for number in premise.tolist()])
            cosine = (left @ known.rows[int(hypothesis[0])]).max()
            result.entailment[row] = np.clip((1.0 + cosine) / 2.0, 0.0, 1.0)
            if not known.truncated.isdisjoint([*premise.tolist(), int(hypothesis[0])]):
                result.flags[row] = FLAG_TRUNCATED
        return result

    def _embed(
        self, texts: TextTable, wanted: set[int], pairs: int, progress: Progress | None
    ) -> _Vectors:
        """Vectors of units, of which only new ones are computed."""
        known = self._known.get(texts)
        if known is None:
            known = self._known[texts] = _Vectors()
        table = self._cutter.table(texts)
        missing = sorted(wanted - known.rows.keys())
        new = [table[number] for number in missing]
        found = self._encoder.embed(new, progress=in_proportion(progress, len(new), pairs))
        known.rows.update(zip(missing, found.vectors, strict=True))
        known.truncated.update(np.asarray(missing, np.int64)[found.truncated].tolist())
        if progress is not None and not missing:
            progress(pairs)
        return known
