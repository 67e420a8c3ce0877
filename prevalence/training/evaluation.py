"""Figures on labelled pairs: AUC, balanced accuracy, threshold, calibration, grouped folds."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from prevalence.errors import InputError

__all__ = [
    "Threshold",
    "auc",
    "balanced_accuracy",
    "best_threshold",
    "calibration_error",
    "grouped_folds",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Threshold(NamedTuple):
    """A cut and the balanced accuracy that a strictly greater score reaches with it."""

    value: float
    balanced_accuracy: float


def _checked(
    scores: Sequence[float] | Floats, labels: Sequence[int] | Floats
) -> tuple[Floats, Any]:
    s = np.asarray(scores, dtype=np.float64)
    y = np.asarray(labels).astype(bool)
    if s.shape != y.shape or s.ndim != 1:
        raise InputError(f"scores {s.shape} and labels {y.shape} must be equally long lists")
    if y.all() or not y.any():
        raise InputError("both positive and negative labels are needed for this figure")
    return s, y


def auc(scores: Sequence[float] | Floats, labels: Sequence[int] | Floats) -> float:
    """Area under the ROC curve, ties counted half (Mann–Whitney).

    Args:
        scores: [n], higher means more positive.
        labels: [n] of 0 and 1.

    Returns:
        Area in [0, 1].

    Raises:
        InputError: Lengths differ or a class is missing.

    >>> auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.75
    """
    s, y = _checked(scores, labels)
    positives = int(y.sum())
    negatives = len(y) - positives
    rank_sum = float(rankdata(s)[y].sum())
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)


def balanced_accuracy(
    scores: Sequence[float] | Floats, labels: Sequence[int] | Floats, threshold: float
) -> float:
    """Mean of true-positive and true-negative rate, where positive is `score > threshold`.

    Args:
        scores: [n].
        labels: [n] of 0 and 1.
        threshold: Cut.

    Returns:
        Value in [0, 1].

    Raises:
        InputError: Lengths differ or a class is missing.
    """
    s, y = _checked(scores, labels)
    predicted = s > threshold
    return (float(predicted[y].mean()) + float((~predicted[~y]).mean())) / 2


def best_threshold(scores: Sequence[float] | Floats, labels: Sequence[int] | Floats) -> Threshold:
    """Threshold with the highest balanced accuracy, midway between two neighbouring scores.

    Args:
        scores: [n].
        labels: [n] of 0 and 1.

    Returns:
        The threshold (the middle one of equally good ones) and its balanced accuracy.

    Raises:
        InputError: Lengths differ or a class is missing.

    >>> best_threshold([0.1, 0.2, 0.6, 0.8], [0, 0, 1, 1])
    Threshold(value=0.4, balanced_accuracy=1.0)
    """
    s, y = _checked(scores, labels)
    values, inverse = np.unique(s, return_inverse=True)
    positives = np.bincount(inverse, weights=y, minlength=len(values))
    negatives = np.bincount(inverse, weights=~y, minlength=len(values))
    recall = 1.0 - np.cumsum(positives) / positives.sum()
    specificity = np.cumsum(negatives) / negatives.sum()
    balanced = ((recall + specificity) / 2)[:-1]
    if not len(balanced):
        return Threshold(float(values[0]), 0.5)
    best = np.flatnonzero(balanced >= balanced.max() - 1e-12)
    cut = int(best[len(best) // 2])
    return Threshold(float((values[cut] + values[cut + 1]) / 2), float(balanced[cut]))


def calibration_error(
    scores: Sequence[float] | Floats, labels: Sequence[int] | Floats, *, bins: int = 10
) -> float:
    """Expected calibration error over equally wide bins.

    Args:
        scores: [n] probabilities.
        labels: [n] of 0 and 1.
        bins: Number of bins over [0, 1].

    Returns:
        Mean over pairs of |share of positives − mean probability| of their bin.

    Raises:
        InputError: Lengths differ or a class is missing.
    """
    s, y = _checked(scores, labels)
    place = np.minimum((s * bins).astype(int), bins - 1)
    gaps = np.bincount(place, weights=y, minlength=bins) - np.bincount(place, s, minlength=bins)
    return float(np.abs(gaps).sum() / len(s))


def grouped_folds(groups: Sequence[str], *, folds: int, seed: int) -> list[frozenset[str]]:
    """Deal groups into folds of nearly equal numbers of pairs.

    Args:
        groups: Group of each pair.
        folds: Number of folds.
        seed: Shuffles the groups first.

    Returns:
        Held-out groups of each fold; they cover every group once.

    Raises:
        InputError: There are fewer groups than folds.
    """
    names, counts = np.unique(np.asarray(groups), return_counts=True)
    if len(names) < folds:
        raise InputError(f"{folds} folds need at least as many groups, found {len(names)}")
    order = np.random.default_rng(seed).permutation(len(names))
    order = order[np.argsort(-counts[order], kind="stable")]
    held: list[set[str]] = [set() for _ in range(folds)]
    sizes = np.zeros(folds, dtype=np.int64)
    for index in order.tolist():
        fold = int(np.argmin(sizes))
        held[fold].add(str(names[index]))
        sizes[fold] += counts[index]
    return [frozenset(fold) for fold in held]
