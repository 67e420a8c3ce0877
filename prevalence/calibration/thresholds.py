"""The threshold rule: which cuts are tried, what is maximised, and which of equals is taken.

A score counts as positive when it is strictly greater than the threshold. The candidates are the
distinct scores themselves, the largest left out (nothing would be positive), and the one of highest
balanced accuracy wins, the lowest of equally good ones. So the threshold is the largest score
that still counts as negative, which is how the published 0.4194 of ROUGE-1 came about, and it is
exact in the scorer's own precision. With `midpoints`, the same cut is placed halfway to the next
score: better for few pairs, whose scores lie far apart.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from prevalence.calibration.arrays import Labels, Scores, checked_pairs

__all__ = ["CANDIDATES", "Candidates", "Threshold", "best_threshold"]

Candidates = Literal["scores", "midpoints"]
CANDIDATES: tuple[Candidates, ...] = ("scores", "midpoints")

_EQUAL = 1e-12
"""Balanced accuracies nearer than this differ by rounding only."""


class Threshold(NamedTuple):
    """A cut and the balanced accuracy that a strictly greater score reaches with it."""

    value: float
    balanced_accuracy: float


def best_threshold(
    scores: Scores, labels: Labels, *, candidates: Candidates = "scores"
) -> Threshold:
    """The threshold of highest balanced accuracy, by the rule of this module.

    Args:
        scores: [n], higher means more positive.
        labels: [n] of 0 and 1.
        candidates: where the cut lies between two neighbouring scores: on the lower one, or
            midway.

    Returns:
        The threshold and its balanced accuracy; for equal scores all over, that score and 0.5.

    Raises:
        InputError: lengths differ, a class is missing, or a score is not finite.

    >>> best_threshold([0.1, 0.2, 0.6, 0.8], [0, 0, 1, 1])
    Threshold(value=0.2, balanced_accuracy=1.0)
    >>> best_threshold([0.1, 0.2, 0.6, 0.8], [0, 0, 1, 1], candidates="midpoints").value
    0.4
    """
    s, y = checked_pairs(scores, labels)
    values, inverse = np.unique(s, return_inverse=True)
    if values.size == 1:
        return Threshold(float(values[0]), 0.5)
    positives = np.bincount(inverse, weights=y, minlength=values.size)
    negatives = np.bincount(inverse, weights=~y, minlength=values.size)
    recall = 1.0 - np.cumsum(positives) / positives.sum()
    specificity = np.cumsum(negatives) / negatives.sum()
    balanced = ((recall + specificity) / 2)[:-1]
    cut = int(np.argmax(balanced >= balanced.max() - _EQUAL))
    low, high = float(values[cut]), float(values[cut + 1])
    middle = (low + high) / 2
    # Between neighbours of float32 the middle would round to one of them when it is applied.
    place = middle if candidates == "midpoints" and np.float32(middle) < high else low
    return Threshold(place, float(balanced[cut]))
