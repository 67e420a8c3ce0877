"""Figures of scored pairs, and the threshold rule: which cut is best, and which of equals is taken.

A score counts as positive when it is strictly greater than the threshold. The candidates are the
distinct scores themselves, the largest left out (nothing would be positive), and the one of highest
balanced accuracy wins, the lowest of equally good ones. So the threshold is the largest score
that still counts as negative, which is how the published 0.4194 of ROUGE-1 came about, and it is
exact in the scorer's own precision. With ``midpoints``, the same cut is placed halfway to the next
score: better for few pairs, whose scores lie far apart. With ``logistic``, the cut lies where a
Platt curve passes the share of positives, so that both classes weigh the same: it follows all
pairs, not the few near the cut, and moves less from one sample to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.stats import rankdata

from prevalence.scorers.calibrated import (
    Labels,
    Scores,
    balanced_cut,
    check_choice,
    checked_pairs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from prevalence.stats.arrays import Bools, Floats

__all__ = [
    "BINS",
    "THRESHOLD_RULES",
    "Threshold",
    "ThresholdRule",
    "auc",
    "balanced_accuracy",
    "best_threshold",
    "calibration_error",
    "confusion",
    "rates",
    "tally",
    "weighted_auc",
]


BINS = 10
"""Equally wide bins of the expected calibration error."""

_TP, _FP, _FN, _TN, _SQUARES = range(5)


def tally(
    probabilities: Floats, decided: Bools, labels: Bools, groups: NDArray[np.int64], size: int
) -> Floats:
    """Sum over the pairs of each group.

    Args:
        probabilities: [P] in [0, 1].
        decided: bool [P], C of each pair.
        labels: bool [P].
        groups: int64 [P], numbers below ``size``.
        size: number of groups G.

    Returns:
        float64 [G, 5 + 2 BINS]: true and false positives, false and true negatives, squared
        errors, then positives and probabilities by bin.
    """
    place = np.clip((probabilities * BINS).astype(np.int64), 0, BINS - 1)
    outcomes = np.where(decided, np.where(labels, _TP, _FP), np.where(labels, _FN, _TN))
    columns: list[tuple[NDArray[np.int64], int, Floats]] = [
        (outcomes, _SQUARES, np.ones_like(probabilities)),
        (np.zeros_like(place), 1, (probabilities - labels) ** 2),
        (place, BINS, labels.astype(np.float64)),
        (place, BINS, probabilities),
    ]
    sums = [
        np.bincount(groups * width + column, weights, size * width).reshape(size, width)
        for column, width, weights in columns
    ]
    return np.concatenate(sums, axis=1)


def confusion(sums: Floats) -> dict[str, int]:
    """Counts of the four outcomes in a sum over groups."""
    names = ("true_positives", "false_positives", "false_negatives", "true_negatives")
    return {name: int(sums[column]) for column, name in enumerate(names)}


def rates(sums: Floats) -> dict[str, Floats]:
    """Figures from sums over pairs.

    Args:
        sums: float64 [..., 5 + 2 BINS].

    Returns:
        float64 [...] by name; NaN where a figure is not defined (recall without positives,
        precision without decisions).
    """
    tp, fp, fn, tn, squares = (sums[..., column] for column in range(_SQUARES + 1))
    positive, predicted = tp + fn, tp + fp
    total = positive + fp + tn
    bins = sums[..., _SQUARES + 1 :]
    gaps = np.abs(bins[..., :BINS] - bins[..., BINS:]).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        recall, specificity = tp / positive, tn / (fp + tn)
        return {
            "balanced_accuracy": (recall + specificity) / 2,
            "accuracy": (tp + tn) / total,
            "precision": tp / predicted,
            "recall": recall,
            "specificity": specificity,
            "f1": 2 * tp / (positive + predicted),
            "brier": squares / total,
            "ece": gaps / total,
        }


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


ThresholdRule = Literal["scores", "midpoints", "logistic"]
THRESHOLD_RULES: tuple[ThresholdRule, ...] = ("scores", "midpoints", "logistic")

_EQUAL = 1e-12
"""Balanced accuracies nearer than this differ by rounding only."""


class Threshold(NamedTuple):
    """A cut and the balanced accuracy that a strictly greater score reaches with it."""

    value: float
    balanced_accuracy: float


def best_threshold(
    scores: Scores, labels: Labels, *, candidates: ThresholdRule = "scores"
) -> Threshold:
    """The threshold by one of three rules, and the balanced accuracy that it reaches.

    Args:
        scores: [n], higher means more positive.
        labels: [n] of 0 and 1.
        candidates: ``scores``: on the lower of the two neighbouring scores between which balanced
            accuracy is highest; ``midpoints``: midway; ``logistic``: where a fitted curve gives
            both classes the same weight.

    Returns:
        The threshold and its balanced accuracy; for equal scores all over, that score and 0.5.

    Raises:
        ConfigurationError: an unknown rule.
        InputError: lengths differ, a class is missing, or a score is not finite; with
            ``logistic``, also where a score lies outside [0, 1] or scores fall as labels rise.

    >>> best_threshold([0.1, 0.2, 0.6, 0.8], [0, 0, 1, 1])
    Threshold(value=0.2, balanced_accuracy=1.0)
    >>> best_threshold([0.1, 0.2, 0.6, 0.8], [0, 0, 1, 1], candidates="midpoints").value
    0.4
    """
    check_choice("threshold rule", candidates, THRESHOLD_RULES)
    s, y = checked_pairs(scores, labels)
    values, inverse = np.unique(s, return_inverse=True)
    if values.size == 1:
        return Threshold(float(values[0]), 0.5)
    if candidates == "logistic":
        value = balanced_cut(s, y)
        return Threshold(value, balanced_accuracy(s, y, value))
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
