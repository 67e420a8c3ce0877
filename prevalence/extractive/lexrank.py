"""LexRank: sentences that are similar to many others which are similar to many others."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["lexrank_scores"]

_WORD = re.compile(r"\w+")
_SIMILAR = 0.1
_JUMP = 0.15
_TOLERANCE = 1e-10
_ROUNDS = 1000


def lexrank_scores(sentences: Sequence[str]) -> NDArray[np.float64]:
    """Centrality of each sentence in the graph of similar sentences.

    Two sentences are linked when the cosine of their tf-idf vectors is above 0.1; the score is
    the stationary probability of a walk that follows a random link, or with probability 0.15
    jumps to any sentence. Words are runs of letters and digits in lower case, and the reviews'
    sentences themselves are the documents that idf counts.

    Args:
        sentences: N texts, distinct or not.

    Returns:
        float64 [N], positive, summing to 1 (empty for no sentence).

    Source: Erkan and Radev 2004, LexRank with threshold 0.1 and d = 0.15.
    """
    count = len(sentences)
    if not count:
        return np.empty(0)
    links = _links(sentences)
    degrees = np.asarray(links.sum(axis=1)).ravel()
    # A sentence without words is linked to nothing, not even itself: it jumps.
    spread = links.multiply(1 / np.maximum(degrees, 1)[:, None]).tocsr().T
    lone = degrees == 0
    scores = np.full(count, 1 / count)
    for _ in range(_ROUNDS):
        walked = spread @ scores + scores[lone].sum() / count
        new = _JUMP / count + (1 - _JUMP) * walked
        moved = float(np.abs(new - scores).sum())
        scores = new
        if moved < _TOLERANCE:
            break
    return scores


def _links(sentences: Sequence[str]) -> Any:
    """Sparse 0/1 matrix [N, N] of pairs with a cosine above the threshold."""
    from scipy.sparse import csr_array

    rows, columns, counts = [], [], []
    vocabulary: dict[str, int] = {}
    for row, sentence in enumerate(sentences):
        for word, times in Counter(_WORD.findall(sentence.lower())).items():
            rows.append(row)
            columns.append(vocabulary.setdefault(word, len(vocabulary)))
            counts.append(float(times))
    shape = (len(sentences), max(len(vocabulary), 1))
    column = np.asarray(columns, np.int64)
    frequency = np.bincount(column, minlength=shape[1])
    idf = np.log(len(sentences) / np.maximum(frequency, 1))
    values = np.asarray(counts) * idf[column]
    norms = np.sqrt(np.bincount(rows, values**2, len(sentences))) if rows else np.zeros(shape[0])
    # A word of every sentence has idf 0; a sentence of such words alone has no direction.
    unit = values / np.where(norms > 0, norms, 1.0)[rows] if rows else values
    vectors = csr_array((unit, (np.asarray(rows, np.int64), column)), shape=shape)
    return ((vectors @ vectors.T) > _SIMILAR).astype(np.float64)
