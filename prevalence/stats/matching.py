"""How well scores tell matching pairs from others: average precision, and errors of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from prevalence.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prevalence.stats.arrays import Floats

__all__ = [
    "CountError",
    "Undecided",
    "average_precision",
    "best_pairs",
    "count_error",
    "matching_precision",
]

Undecided = Literal["strict", "relaxed"]
"""What a pair counts as on which people did not agree: no match, or a match."""

_KEPT = 0.5
"""Share of the pairs that KPM-2021 keeps, those of highest confidence."""
_UNMATCHED = 0.99
"""Score that KPM-2021 gives, after the cut, to a comment for which no key point was scored."""


def average_precision(scores: Floats, labels: NDArray[np.bool_]) -> float:
    """Sum over the distinct scores of precision times the recall gained there.

    Args:
        scores: float64 [n], higher means more of a match; equal ones are taken together.
        labels: bool [n].

    Returns:
        Value in [0, 1]; NaN without a match.

    Raises:
        InputError: the lengths differ, or a score is not finite.

    Source: scikit-learn's `average_precision_score`.

    >>> average_precision(np.array([0.9, 0.8, 0.7, 0.6]), np.array([1, 0, 1, 0], bool))
    0.8333333333333333
    """
    if scores.shape != labels.shape or not np.isfinite(scores).all():
        raise InputError(f"{scores.shape} scores, of {labels.shape} labels: give finite ones, each")
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.diff(scores[order], append=np.nan) != 0)
    found = np.cumsum(labels[order])[last]
    if not labels.any():
        return float("nan")
    return float((np.diff(found, prepend=0) * found / (last + 1)).sum() / found[-1])


def best_pairs(scores: Floats, comments: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pair of highest score of each comment, the first of equals.

    Args:
        scores: float64 [n]; NaN where a pair has none.
        comments: int64 [n], number of the comment of each pair, from 0 without a gap.

    Returns:
        int64 [comments], places of pairs; -1 for a comment of which no pair has a score.
    """
    order = np.lexsort((-np.where(np.isnan(scores), -np.inf, scores), comments))
    starts = np.flatnonzero(np.diff(comments[order], prepend=-1))
    best = order[starts]
    return np.where(np.isnan(scores[best]), -1, best)


def matching_precision(
    scores: Floats, labels: Floats, comments: NDArray[np.int64], *, undecided: Undecided
) -> float:
    """Average precision of the KPM-2021 shared task, for one topic and stance.

    Each comment is matched to its key point of highest score. Of these pairs the half of higher
    score is kept (rounded down; of equal scores the earlier comments), and their average precision
    taken.

    Args:
        scores: float64 [n]; NaN where a pair has none.
        labels: float64 [n], 1 or 0; NaN where people did not agree.
        comments: int64 [n], number of the comment of each pair, from 0 without a gap.
        undecided: whether the latter count as no match (strict) or as a match (relaxed).

    Returns:
        Value in [0, 1], 0 where nothing kept is a match; NaN for fewer than two comments. A comment
        without any score counts as a wrong match of score 0.

    Source: Friedman et al. 2021, Overview of the 2021 Key Point Analysis Shared Task, and
    its evaluation script.
    """
    best = best_pairs(scores, comments)
    matched = best >= 0
    values = np.nan_to_num(labels, nan=float(undecided == "relaxed"))
    truth = np.where(matched, values[best], 0.0) > 0
    confidence = np.where(matched, scores[best], 0.0)
    kept = np.argsort(-confidence, kind="stable")[: int(len(best) * _KEPT)]
    if not kept.size:
        return float("nan")
    last = np.where(matched, confidence, _UNMATCHED)[kept]
    return float(np.nan_to_num(average_precision(last, truth[kept])))


class CountError(NamedTuple):
    """Predicted against true numbers of supporters.

    Attributes:
        mean: mean absolute error.
        bias: mean of predicted minus true; positive where too many are found.
    """

    mean: float
    bias: float


def count_error(predicted: Floats, true: Floats) -> CountError:
    """Compare numbers of supporters.

    Args:
        predicted: float64 [n].
        true: float64 [n].

    Returns:
        The errors; NaN for no numbers.

    >>> count_error(np.array([19.0, 6.0]), np.array([21.0, 29.0]))
    CountError(mean=12.5, bias=-12.5)
    """
    if not true.size:
        return CountError(float("nan"), float("nan"))
    difference = predicted - true
    return CountError(float(np.abs(difference).mean()), float(difference.mean()))
