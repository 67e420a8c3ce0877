"""ROUGE-1 precision as a consistency scorer: no model, deterministic to the last bit.

Source: Malon 2023, Table 2: precision of stemmed ROUGE-1, the whole review as target and the
sentence as prediction. Tokens are made as in the rouge-score package: lower case, runs of ASCII
letters and digits, Porter stems of tokens longer than three characters.
"""

from __future__ import annotations

import hashlib
import re
import weakref
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.metric import check_threshold
from prevalence.nli.protocol import PairScores, Progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from prevalence.texts import TextTable

__all__ = [
    "DEV_THRESHOLD",
    "ROUGE1_PRECISION",
    "Rouge1PrecisionScorer",
    "rouge1_precision",
    "unigrams",
    "words",
]

ROUGE1_PRECISION = "rouge1-precision"

DEV_THRESHOLD = 0.4202
"""Threshold of best balanced accuracy on ReviewNLI dev, .6609 over 848 pairs (AUC .696).

Candidates lie midway between consecutive distinct scores, a decision is strictly greater, and the
lowest of equally good candidates would win; here the best one, between 13/31 and 8/19, is alone.
"""

_WORD = re.compile(r"[a-z0-9]+")
_STEM_LONGER_THAN = 3


def unigrams(text: str) -> Counter[str]:
    """Stemmed unigram counts of a text.

    >>> sorted(unigrams("The boots fitted, really.").items())
    [('boot', 1), ('fit', 1), ('realli', 1), ('the', 1)]
    """
    return Counter(words(text))


def words(text: str, *, stem: bool = True) -> list[str]:
    """The words of a text in order, stemmed unless told otherwise.

    >>> words("The boots fitted!", stem=False)
    ['the', 'boots', 'fitted']
    """
    found = _WORD.findall(text.lower())
    return [_stem(word) for word in found] if stem else found


def rouge1_precision(target: Counter[str], prediction: Counter[str]) -> float:
    """Share of the prediction's unigrams that the target has, clipped; 0 for no unigram."""
    total = prediction.total()
    # The intersection walks its left side, which should be the short one.
    return (prediction & target).total() / total if total else 0.0


class Rouge1PrecisionScorer:
    """ROUGE-1 precision of the hypothesis against the premise, as a pair scorer.

    It is a lexical measure in [0, 1] and not a probability of entailment; it has no contradiction
    class and never truncates.
    """

    signature: Mapping[str, str] = {"consistency": ROUGE1_PRECISION, "gran": "document"}
    digest = hashlib.blake2b(b"rouge1-precision/porter/1", digest_size=16).digest()
    three_way = False
    work_unit = 8192

    def __init__(self, *, threshold: float | None = None) -> None:
        self.threshold = DEV_THRESHOLD if threshold is None else check_threshold(threshold)
        self._counts: weakref.WeakKeyDictionary[TextTable, dict[int, Counter[str]]] = (
            weakref.WeakKeyDictionary()
        )

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.protocol.PairScorer.score`."""
        counts = self._counts.setdefault(texts, {})
        for number in np.unique(pairs).tolist():
            if number not in counts:
                counts[number] = unigrams(texts[number])
        result = PairScores.empty(len(pairs))
        for row, (premise, hypothesis) in enumerate(pairs.tolist()):
            result.entailment[row] = rouge1_precision(counts[premise], counts[hypothesis])
        if progress is not None:
            progress(len(pairs))
        return result


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return str(_stemmer().stem(word)) if len(word) > _STEM_LONGER_THAN else word


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()
