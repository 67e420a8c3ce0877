"""Similarity of two texts by their words' vectors, put together in three ways.

With ``static`` the vectors are the encoder's input embeddings, which know no context, as in the
published metrics (there by word, here by token); otherwise those of a layer. Special tokens are
left out.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from prevalence.baselines.neural.vectors import open_words, unit
from prevalence.baselines.rules import comparing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["open_averages"]


def _average(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    return _cosine(left.mean(0), right.mean(0))


def _extrema(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    return _cosine(_extreme(left), _extreme(right))


def _greedy(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    cosines = unit(left) @ unit(right).T
    return float(cosines.max(1).mean() + cosines.max(0).mean()) / 2


_WAYS: dict[str, Callable[[NDArray[np.float32], NDArray[np.float32]], float]] = {
    "embedding-average": _average,
    "vector-extrema": _extrema,
    "greedy-matching": _greedy,
}


def open_averages(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open embedding average, vector extrema or greedy matching: a cosine in [-1, 1].

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: an option has a value that it does not know.
    """
    encoder = open_words(entry, spec, runtime)
    way = _WAYS[entry.name]

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        known = encoder.words(text for pair in comparisons for text in (pair.summary, pair.text))
        tables = [(known[pair.summary], known[pair.text]) for pair in comparisons]
        return [
            float(np.clip(way(a, b), -1.0, 1.0)) if len(a) and len(b) else math.nan
            for a, b in tables
        ]

    return comparing(
        entry, spec, compute, signature=encoder.signature, cuts=lambda: encoder.truncated
    )


def _extreme(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """In every dimension the value farthest from 0; the positive one of equals."""
    high, low = table.max(0), table.min(0)
    farthest: NDArray[np.float32] = np.where(high >= np.abs(low), high, low)
    return farthest


def _cosine(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    return float(unit(left) @ unit(right))
