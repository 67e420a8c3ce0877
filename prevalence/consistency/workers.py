"""How well annotators of pairs agree: with the majority, and with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from prevalence.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Agreement", "krippendorff_alpha", "majority_agreement"]


class Agreement(NamedTuple):
    """All annotators' labels, pooled, against the majority's.

    Attributes:
        labels: number of labels compared.
        accuracy: share that equal the majority's.
        false_positive_rate: share of positive ones on majority-negatives; NaN without any.
        false_negative_rate: share of negative ones on majority-positives; NaN without any.
    """

    labels: int
    accuracy: float
    false_positive_rate: float
    false_negative_rate: float


def majority_agreement(votes: ArrayLike, majority: ArrayLike) -> Agreement:
    """Compare annotators with a majority.

    Args:
        votes: float [annotators, P] of 0 and 1; NaN where an annotator gave no label.
        majority: [P] of 0 and 1.

    Returns:
        Pooled rates, the annotators' own votes included in the majority as they are.

    Raises:
        InputError: shapes do not fit, or there is no label.

    Source: Malon 2023, section 3.
    """
    given, truth = np.asarray(votes, np.float64), np.asarray(majority).astype(np.bool_)
    if given.ndim != 2 or truth.shape != given.shape[1:]:
        raise InputError(
            f"votes {given.shape} must be annotators by pairs, as many as {truth.shape}"
        )
    present = ~np.isnan(given)
    if not present.any():
        raise InputError("there is no annotator's label to compare")
    yes, whole = given > 0.5, np.broadcast_to(truth, given.shape)
    negatives, positives = present & ~whole, present & whole
    with np.errstate(invalid="ignore"):
        false_positive = np.float64((yes & negatives).sum()) / negatives.sum()
        false_negative = np.float64((~yes & positives).sum()) / positives.sum()
    return Agreement(
        int(present.sum()),
        float((yes == whole)[present].mean()),
        float(false_positive),
        float(false_negative),
    )


def krippendorff_alpha(
    values: ArrayLike, *, level: Literal["nominal", "interval"] = "nominal"
) -> float:
    """Krippendorff's alpha: 1 − observed / expected disagreement.

    Args:
        values: float [annotators, units]; NaN where an annotator gave no value.
        level: distance of two values: `nominal` 0 or 1, `interval` the squared difference.

    Returns:
        At most 1; NaN where all values are equal, or no unit has two of them.

    Raises:
        InputError: `values` has not two axes.
        ConfigurationError: unknown level.

    Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability".

    >>> round(krippendorff_alpha([[0, 0, 1, 1], [0, 1, 1, 1]]), 3)
    0.533
    """
    given = np.asarray(values, np.float64)
    if given.ndim != 2:
        raise InputError(f"values must be annotators by units, found shape {given.shape}")
    if level not in {"nominal", "interval"}:
        raise ConfigurationError(f"level must be nominal or interval, not {level!r}")
    given = given[:, (~np.isnan(given)).sum(axis=0) > 1]
    categories = np.unique(given[~np.isnan(given)])
    counts = (
        np.stack([(given == value).sum(axis=0) for value in categories], axis=-1)
        if categories.size
        else np.zeros((0, 0))
    )
    return _alpha(counts.astype(np.float64), categories, level)


def _alpha(counts: NDArray[np.float64], categories: NDArray[np.float64], level: str) -> float:
    """Alpha from counts [units, categories] of units with at least two values."""
    pairable = counts.sum(axis=1, keepdims=True)
    weighted = counts / np.maximum(pairable - 1, 1)
    coincidences = weighted.T @ counts - np.diag(weighted.sum(axis=0))
    totals = coincidences.sum(axis=0)
    gaps = categories[:, None] - categories[None, :]
    distances = gaps**2 if level == "interval" else (gaps != 0).astype(np.float64)
    expected = totals @ distances @ totals
    if not expected > 0:
        return float("nan")
    observed = (coincidences * distances).sum()
    return float(1.0 - (totals.sum() - 1) * observed / expected)
