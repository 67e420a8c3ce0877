"""Sums by product from which every figure but AUC follows, for the set and for any resample of it.

A figure is computed by one formula from sums over pairs; a resample of products only weighs those
sums. So the bootstrap is a matrix product, and the observed figure cannot differ from its interval
in definition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prevalence.calibration.arrays import Bools, Floats

__all__ = ["BINS", "RATES", "confusion", "rates", "tally"]

BINS = 10
"""Equally wide bins of the expected calibration error."""
RATES = (
    "balanced_accuracy", "accuracy", "precision", "recall", "specificity", "f1", "brier", "ece",
)  # fmt: skip

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
        float64 [...] for each of :data:`RATES`; NaN where a figure is not defined (recall without
        positives, precision without decisions).
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
