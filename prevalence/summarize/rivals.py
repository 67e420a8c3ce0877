"""What greedy construction is compared with: random, lead, LexRank and centroid summaries."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from prevalence.summarize.candidates import Candidates

__all__ = ["centroid_order", "drawn", "leading", "lexrank_scores"]

_SHORTEST = 1e-12
_EQUAL = 1e-9


def drawn(candidates: Candidates, seed: list[int]) -> list[int]:
    """All places in random order: sentences are drawn without replacement.

    Args:
        candidates: the sentences.
        seed: of the generator.

    Returns:
        Positions in ``candidates.places``.

    Source: Malon 2023, section 5; the draw stops when the length is exceeded.
    """
    return list(np.random.default_rng(seed).permutation(len(candidates.places)).tolist())


def leading(candidates: Candidates) -> list[int]:
    """The first sentence of every review in source order, then the second of every review, ...

    Args:
        candidates: the sentences.

    Returns:
        Positions in ``candidates.places``.
    """
    seen: dict[int, int] = {}
    turns = []
    for position, place in enumerate(candidates.places):
        turn = seen.get(place.review, 0)
        seen[place.review] = turn + 1
        turns.append((turn, position))
    return [position for _, position in sorted(turns)]


def centroid_order(vectors: NDArray[np.float32], weights: NDArray[np.float64]) -> Iterator[int]:
    """Sentences in the order in which they best complete a summary.

    The next sentence is the one for which the sum of all chosen vectors has the highest cosine
    with the centroid. Cosines that differ only by rounding are equal, and the first is taken.

    Args:
        vectors: float [N, width], vectors of distinct sentences, of unit length but for rounding.
        weights: float [N], how often each of them stands in the reviews.

    Yields:
        Indices of sentences, each once.
    """
    wide = vectors.astype(np.float64)
    wide /= np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), _SHORTEST)
    centroid = weights @ wide
    centroid /= max(float(np.linalg.norm(centroid)), _SHORTEST)
    total = np.zeros(wide.shape[1])
    left = np.ones(len(wide), np.bool_)
    while left.any():
        sums = total + wide
        norms = np.maximum(np.linalg.norm(sums, axis=1), _SHORTEST)
        cosines = np.where(left, (sums @ centroid) / norms, -np.inf)
        best = int(np.flatnonzero(cosines >= cosines.max() - _EQUAL)[0])
        left[best] = False
        total = sums[best]
        yield best


_WORD = re.compile(r"\w+")
_SIMILAR = 0.1
_JUMP = 0.15
_TOLERANCE = 1e-10
_ROUNDS = 1000
BLOCK = 512
"""Sentences that are compared with all others at a time."""


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
    from scipy.sparse import csr_array, vstack

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
    turned = vectors.T.tocsr()
    # Cosines of all pairs at once would fill far more memory than the links that are left of them.
    links = [(vectors[start : start + BLOCK] @ turned) > _SIMILAR
             for start in range(0, len(sentences), BLOCK)]  # fmt: skip
    return vstack(links, format="csr").astype(np.float64)
