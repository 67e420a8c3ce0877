"""ROUGE as consistency scorers: no model, deterministic to the last bit.

Source: Malon 2023, Table 2: precision of stemmed ROUGE-1, the whole review as target and the
sentence as prediction; Lin 2004 for the other variants. Tokens are made as in the rouge-score
package: lower case, runs of ASCII letters and digits, Porter stems of tokens longer than three
characters.
"""

from __future__ import annotations

import re
import weakref
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.errors import ConfigurationError
from prevalence.metric import check_threshold
from prevalence.nli.pairs import PairScorer, PairScores, Progress, ScorerTraits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prevalence.nli.pairs import TextTable

__all__ = [
    "DEV_THRESHOLDS",
    "ROUGE_NAMES",
    "RougeParts",
    "RougeScorer",
    "common_subsequence",
    "ngrams",
    "words",
]

DEV_THRESHOLDS = {"rouge1-precision": 0.4194}
"""Thresholds of best balanced accuracy on ReviewNLI dev, by scorer, as `prevalence calibrate` finds
them.

ROUGE-1 precision reaches .6609 over 848 pairs (AUC .6965) with any cut from 13/31 up to 8/19.
"""

_UNCALIBRATED = 0.5
_WORK_UNIT = 8_192
_WORD = re.compile(r"[a-z0-9]+")
_STEM_LONGER_THAN = 3


class RougeParts(NamedTuple):
    """The three figures of a ROUGE measure, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


ROUGE_NAMES = tuple(
    f"rouge{kind}-{part}" for kind in ("1", "2", "L") for part in RougeParts._fields
)
"""``rouge1-precision`` ... ``rougeL-f1``: n-grams or the longest common subsequence."""


def words(text: str, *, stem: bool = True) -> list[str]:
    """The words of a text in order, stemmed unless told otherwise.

    >>> words("The boots fitted, really.")
    ['the', 'boot', 'fit', 'realli']
    >>> words("The boots fitted!", stem=False)
    ['the', 'boots', 'fitted']
    """
    found = _WORD.findall(text.lower())
    return [_stem(word) for word in found] if stem else found


def ngrams(tokens: Sequence[str], n: int) -> Counter[Any]:
    """Counts of the runs of ``n`` tokens.

    >>> sorted(ngrams(("a", "b", "a", "b"), 2).items())
    [(('a', 'b'), 2), (('b', 'a'), 1)]
    """
    return Counter(zip(*(tokens[start:] for start in range(n)), strict=False))


def common_subsequence(target: Sequence[str], prediction: Sequence[str]) -> int:
    """Length of the longest common subsequence.

    Bits of one integer stand for the target's positions, so that a step costs one addition.

    Source: Hyyrö 2004, bit-parallel LCS: V ← (V + (V & M)) | (V & ~M); zero bits count matches.

    >>> common_subsequence("the boots fit".split(), "boots they fit".split())
    2
    """
    places: dict[str, int] = {}
    for place, token in enumerate(target):
        places[token] = places.get(token, 0) | 1 << place
    everything = (1 << len(target)) - 1
    row = everything
    for token in prediction:
        matches = row & places.get(token, 0)
        row = (row + matches | row & ~matches) & everything
    return len(target) - row.bit_count()


class _Measure(NamedTuple):
    """How a ROUGE measure sees a text, and what it counts in two of them."""

    profile: Callable[[Sequence[str]], Any]
    overlap: Callable[[Any, Any], int]
    size: Callable[[Any], int]


def _clipped(target: Counter[Any], prediction: Counter[Any]) -> int:
    # The intersection walks its left side, which should be the short one.
    return (prediction & target).total()


_MEASURES = {
    "1": _Measure(lambda tokens: ngrams(tokens, 1), _clipped, Counter.total),
    "2": _Measure(lambda tokens: ngrams(tokens, 2), _clipped, Counter.total),
    "L": _Measure(tuple, common_subsequence, len),
}


def _parts(measure: _Measure, target: Any, prediction: Any) -> RougeParts:
    """A measure of two profiles; 0 where a text has nothing to count."""
    overlap = measure.overlap(target, prediction)
    wanted, given = measure.size(target), measure.size(prediction)
    precision = overlap / given if given else 0.0
    recall = overlap / wanted if wanted else 0.0
    total = precision + recall
    return RougeParts(precision, recall, 2 * precision * recall / total if total else 0.0)


class RougeScorer(PairScorer):
    """A ROUGE measure of the hypothesis against the premise, as a pair scorer.

    It is a lexical measure in [0, 1] and not a probability of entailment; it has no contradiction
    class and never truncates.

    Args:
        name: one of :data:`ROUGE_NAMES`.
        threshold: decision threshold; None takes the one of :data:`DEV_THRESHOLDS`, or 0.5.

    Raises:
        ConfigurationError: an unknown name, or a threshold outside [0, 1).
    """

    def __init__(self, name: str, *, threshold: float | None = None) -> None:
        if name not in ROUGE_NAMES:
            raise ConfigurationError(
                f"unknown scorer {name!r}: choose from {', '.join(ROUGE_NAMES)}"
            )
        kind, part = name.removeprefix("rouge").split("-")
        self._measure, self._part = _MEASURES[kind], RougeParts._fields.index(part)
        known = DEV_THRESHOLDS.get(name, _UNCALIBRATED)
        traits = ScorerTraits.unwrapped(
            f"{name}/porter/1".encode(),
            signature={"consistency": name, "gran": "document"},
            threshold=known if threshold is None else check_threshold(threshold),
            calibrated=threshold is not None or name in DEV_THRESHOLDS,
            three_way=False,
            probability=True,
            doubt=0.0,
            work_unit=_WORK_UNIT,
        )
        super().__init__(traits)
        self._profiles: weakref.WeakKeyDictionary[TextTable, dict[int, Any]] = (
            weakref.WeakKeyDictionary()
        )

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.pairs.PairScorer.score`."""
        profiles = self._profiles.setdefault(texts, {})
        result = PairScores.empty(len(pairs))
        for start in range(0, len(pairs), _WORK_UNIT):
            unit = pairs[start : start + _WORK_UNIT]
            for number in np.unique(unit).tolist():
                if number not in profiles:
                    profiles[number] = self._measure.profile(words(texts[number]))
            for row, (premise, hypothesis) in enumerate(unit.tolist(), start):
                parts = _parts(self._measure, profiles[premise], profiles[hypothesis])
                result.entailment[row] = parts[self._part]
            if progress is not None:
                progress(len(unit))
        return result


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return str(_stemmer().stem(word)) if len(word) > _STEM_LONGER_THAN else word


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()
