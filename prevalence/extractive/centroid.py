"""Centroid: sentences whose embeddings together point where the reviews' mean points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["centroid_order"]


def centroid_order(vectors: NDArray[np.float32], weights: NDArray[np.float64]) -> Iterator[int]:
    """Sentences in the order in which they best complete a summary.

    The next sentence is the one for which the sum of all chosen vectors has the highest cosine
    with the centroid; the first of equal ones.

    Args:
        vectors: float [N, width], unit vectors of distinct sentences.
        weights: float [N], how often each of them stands in the reviews.

    Yields:
        Indices of sentences, each once.
    """
    wide = vectors.astype(np.float64)
    centroid = weights @ wide
    total = np.zeros(wide.shape[1])
    left = np.ones(len(wide), np.bool_)
    while left.any():
        sums = total + wide
        norms = np.maximum(np.linalg.norm(sums, axis=1), 1e-12)
        cosines = np.where(left, (sums @ centroid) / norms, -np.inf)
        best = int(cosines.argmax())
        left[best] = False
        total = sums[best]
        yield best
