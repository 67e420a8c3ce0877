"""Single figures on labelled pairs: AUC, balanced accuracy, expected calibration error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from prevalence.calibration.arrays import Bools, Floats, Labels, Scores, checked_pairs
from prevalence.calibration.tally import rates, tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["auc", "balanced_accuracy", "calibration_error", "weighted_auc"]

_BLOCK = 1 << 21
"""Weights held at a time: bounds memory at a few times 16 MiB for any number of pairs."""


def auc(scores: Scores, labels: Labels) -> float:
    """Area under the ROC curve, ties counted half (Mann–Whitney).

    Args:
        scores: [n], higher means more positive.
        labels: [n] of 0 and 1.

    Returns:
        Area in [0, 1].

    Raises:
        InputError: Lengths differ, a class is missing, or a score is not finite.

    >>> auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.75
    """
    s, y = checked_pairs(scores, labels)
    positives = int(y.sum())
    negatives = len(y) - positives
    rank_sum = float(rankdata(s)[y].sum())
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)


def weighted_auc(
    scores: Scores, labels: Labels, groups: NDArray[np.int64], weights: NDArray[np.int64]
) -> Floats:
    """AUC of many resamples at once, in each of which a group counts so many times.

    Args:
        scores: [n].
        labels: [n] of 0 and 1.
        groups: int64 [n], number of the group of each pair.
        weights: int64 [B, G], how often each group was drawn.

    Returns:
        float64 [B]; NaN for a resample without one of the classes.

    Raises:
        InputError: Lengths differ, a class is missing, or a score is not finite.
    """
    s, y = checked_pairs(scores, labels)
    order = np.argsort(s, kind="stable")
    s, y, g = s[order], y[order], np.asarray(groups)[order]
    starts = np.flatnonzero(np.r_[True, s[1:] > s[:-1]])
    return np.concatenate([_areas(rows[:, g], y, starts) for rows in _blocks(weights, len(s))])


def _areas(
    weights: NDArray[np.int64], labels: NDArray[np.bool_], starts: NDArray[np.intp]
) -> Floats:
    """Areas from the weights [B, n] of sorted pairs; equal scores begin at ``starts``."""
    positive = np.add.reduceat(np.where(labels, weights, 0), starts, axis=1).astype(np.float64)
    negative = np.add.reduceat(np.where(labels, 0, weights), starts, axis=1).astype(np.float64)
    below = np.cumsum(negative, axis=1) - negative / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        total: Floats = (positive * below).sum(1) / (positive.sum(1) * negative.sum(1))
    return total


def _blocks(weights: NDArray[np.int64], width: int) -> Iterator[NDArray[np.int64]]:
    step = max(1, _BLOCK // max(width, 1))
    for start in range(0, len(weights), step):
        yield weights[start : start + step]


def balanced_accuracy(scores: Scores, labels: Labels, threshold: float) -> float:
    """Mean of true-positive and true-negative rate, where positive is `score > threshold`.

    Args:
        scores: [n].
        labels: [n] of 0 and 1.
        threshold: Cut.

    Returns:
        Value in [0, 1].

    Raises:
        InputError: Lengths differ, a class is missing, or a score is not finite.
    """
    s, y = checked_pairs(scores, labels)
    return _figure("balanced_accuracy", np.zeros(len(s)), s > threshold, y)


def calibration_error(scores: Scores, labels: Labels) -> float:
    """Expected calibration error over equally wide bins of [0, 1].

    Args:
        scores: [n] probabilities.
        labels: [n] of 0 and 1.

    Returns:
        Mean over pairs of |share of positives − mean probability| of their bin.

    Raises:
        InputError: Lengths differ, a class is missing, or a score is not finite.
    """
    s, y = checked_pairs(scores, labels)
    return _figure("ece", s, s > 0.5, y)


def _figure(name: str, probabilities: Floats, decided: Bools, labels: Bools) -> float:
    everything = np.zeros(len(labels), np.int64)
    return float(rates(tally(probabilities, decided, labels, everything, 1))[name][0])
