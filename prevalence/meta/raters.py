"""How raters differ: errors and correlations between them, spread, and what to rate again.

Ratings are float64 [items, systems, raters], NaN where a rater did not rate.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from prevalence.errors import ConfigurationError, InputError
from prevalence.meta.levels import correlate_level
from prevalence.stats.coefficients import mean_coefficient

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from prevalence.stats.arrays import Floats, Ints
    from prevalence.stats.coefficients import Kind, Undefined

__all__ = [
    "JudgeProfile",
    "RaterCorrelations",
    "ScoreCounts",
    "batches_to_reannotate",
    "items_to_rerate",
    "judge_profile",
    "mean_rating",
    "pairwise_rmse",
    "rater_correlations",
    "rater_spread",
    "raters_in_names",
    "ratings_per_score",
    "two_raters",
]

_OF_RATER = re.compile(
    r"(?P<stem>.*[^\W_])[ _.-](?P<rater>[^\W\d_]|(rater|annotator|annot|[ar])?\d+)", re.I
)


@dataclass(frozen=True, slots=True)
class RaterCorrelations:
    """Correlations between raters.

    Attributes:
        pairwise: float64 [raters, raters], symmetric, 1 or NaN on the diagonal.
        with_mean: float64 [raters], each rater against the mean rating, over the summaries that
            somebody else rated too.
        undefined: coefficients of two raters that constant ratings leave undefined.
        absent: those of items without two summaries that both rated.
    """

    pairwise: Floats
    with_mean: Floats
    undefined: int
    absent: int


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """How many ratings were a score.

    Attributes:
        scores: float64 [c], ascending.
        counts: int64 [groups, c].
        mean: float64 [c], over groups.
        sd: float64 [c], over groups (ddof 0).
    """

    scores: Floats
    counts: Ints
    mean: Floats
    sd: Floats


@dataclass(frozen=True, slots=True)
class JudgeProfile:
    """How a judge uses the scale.

    Attributes:
        offset: mean of judge minus human over the summaries that both rated.
        at_maximum: share of the judge's scores that are the top of the scale.
        constant: bool [systems], every score of the system is the same, so that no correlation
            over its summaries is defined.
    """

    offset: float
    at_maximum: float
    constant: NDArray[np.bool_]


def mean_rating(ratings: ArrayLike) -> Floats:
    """Mean over raters, the gaps left out: float64 [items, systems], NaN where nobody rated."""
    return mean_coefficient(_cube(ratings))


def rater_correlations(
    ratings: ArrayLike,
    *,
    kind: Kind,
    undefined: Undefined = "drop",
) -> RaterCorrelations:
    """Correlate every rater with every other one and with the mean, item by item.

    SummEval-OP keeps the rater in the mean, and so does this.

    Args:
        ratings: float64 [items, systems, raters].
        kind: the coefficient.
        undefined: what an item of constant ratings becomes.

    Returns:
        Means over items of the coefficient across systems; NaN where none is defined.

    Raises:
        InputError: another number of axes, or something is undefined under ``fail``.
        ConfigurationError: there is no coefficient of that name.
    """
    cube = _cube(ratings)
    raters = range(cube.shape[2])
    correlated = partial(correlate_level, "summary", kind, undefined=undefined)
    pairwise = np.full((len(raters),) * 2, np.nan)
    undefined_parts = absent = 0
    for a in raters:
        for b in range(a, len(raters)):
            found = correlated(cube[..., a], cube[..., b])
            pairwise[a, b] = pairwise[b, a] = found.value
            if a != b:
                undefined_parts += int(np.isnan(found.parts).sum()) - found.absent
                absent += found.absent
    # A rating is no evidence of agreement where nobody else gave one.
    shared = np.where((~np.isnan(cube)).sum(axis=2, keepdims=True) > 1, cube, np.nan)
    mean = mean_rating(shared)
    with_mean = [correlated(shared[..., a], mean).value for a in raters]
    means = np.array(with_mean, dtype=np.float64)
    return RaterCorrelations(pairwise, means, undefined_parts, absent)


def pairwise_rmse(ratings: ArrayLike) -> Floats:
    """Root mean squared difference between every two raters, mean over items.

    Args:
        ratings: float64 [items, systems, raters].

    Returns:
        float64 [raters, raters], 0 on the diagonal; NaN where two raters share no summary.

    Raises:
        InputError: another number of axes.

    >>> pairwise_rmse([[[1, 4], [1, 4]], [[2, 2], [2, 2]]])[0, 1].item()
    1.5
    """
    cube = _cube(ratings)
    squares = (cube[:, :, :, None] - cube[:, :, None, :]) ** 2
    per_item = np.sqrt(mean_coefficient(np.moveaxis(squares, 1, -1)))
    return mean_coefficient(np.moveaxis(per_item, 0, -1))


def rater_spread(ratings: ArrayLike) -> Floats:
    """Standard deviation between the raters of a summary, mean over a system's summaries.

    Summaries with one rating alone are left out.

    Args:
        ratings: float64 [items, systems, raters].

    Returns:
        float64 [systems], ddof 0; NaN where no summary has two ratings.

    Raises:
        InputError: another number of axes.

    >>> rater_spread([[[1, 3], [2, 2]]]).tolist()
    [1.0, 0.0]
    """
    cube = _cube(ratings)
    count = (~np.isnan(cube)).sum(axis=2)
    squares = np.nansum((cube - mean_rating(cube)[:, :, None]) ** 2, axis=2)
    variance = np.divide(squares, count, out=np.full(count.shape, np.nan), where=count > 1)
    return mean_coefficient(np.sqrt(variance).T)


def ratings_per_score(ratings: ArrayLike) -> ScoreCounts:
    """Count how often each score was given, with mean and SD over groups such as dimensions.

    Args:
        ratings: float64 [groups, ...], NaN = not rated.

    Returns:
        The counts of each group and their mean and SD.
    """
    values = np.asarray(ratings, dtype=np.float64)
    rows = values.reshape(len(values), -1)
    scale = np.unique(rows[~np.isnan(rows)])
    places = [np.searchsorted(scale, row[~np.isnan(row)]) for row in rows]
    counts = np.array([np.bincount(place, minlength=scale.size) for place in places])
    return ScoreCounts(scale, counts, counts.mean(axis=0), counts.std(axis=0))


def two_raters(ratings: ArrayLike) -> bool:
    """Whether two raters rated any one summary.

    Args:
        ratings: float64 [items, systems, raters].

    Raises:
        InputError: another number of axes.
    """
    return bool(((~np.isnan(_cube(ratings))).sum(axis=2) > 1).any())


def raters_in_names(dimensions: Iterable[str]) -> dict[str, list[str]]:
    """Dimensions whose names end like those of raters, by what they have in common.

    Args:
        dimensions: names of dimensions, or what was taken for such.

    >>> raters_in_names(["tone_A", "tone_B", "depth_1", "ease"])
    {'tone': ['tone_A', 'tone_B']}
    """
    found = defaultdict(list)
    for name in dimensions:
        match = _OF_RATER.fullmatch(name)
        if match is not None:
            found[match["stem"]].append(name)
    return {stem: names for stem, names in found.items() if len(names) > 1}


def items_to_rerate(ratings: ArrayLike, *, bound: float) -> Ints:
    """Summaries whose raters are far apart.

    Args:
        ratings: float64 [items, systems, raters].
        bound: largest minus smallest rating from which a summary is rated again; SummEval-OP takes
            2 (Round-II).

    Returns:
        int64 [n, 2], item and system, in order.

    Raises:
        InputError: another number of axes.

    >>> items_to_rerate([[[1, 3], [2, 3]]], bound=2).tolist()
    [[0, 0]]
    """
    cube = _cube(ratings)
    known = ~np.isnan(cube)
    high = np.where(known, cube, -np.inf).max(axis=2, initial=-np.inf)
    low = np.where(known, cube, np.inf).min(axis=2, initial=np.inf)
    return np.argwhere(high - low >= bound).astype(np.int64)


def batches_to_reannotate(cells: ArrayLike, *, bound: float) -> Ints:
    """Cells of batch and system whose agreement is too low.

    Args:
        cells: float64 [batches, systems] of :func:`~prevalence.stats.agreement.agreement_by_cell`.
            NaN, where agreement is undefined, is not too low.
        bound: the smallest agreement that may stay, such as 0.61, from which on agreement is
            "substantial".

    Returns:
        int64 [n, 2], batch and system, in order.

    Raises:
        InputError: another number of axes.
    """
    values = np.asarray(cells, dtype=np.float64)
    if values.ndim != 2:
        raise InputError(f"cells have {values.ndim} axes: give [batches, systems]")
    return np.argwhere(values < bound).astype(np.int64)


def judge_profile(scores: ArrayLike, human: ArrayLike, *, maximum: float) -> JudgeProfile:
    """Describe how a judge uses the scale beside people.

    Args:
        scores: float64 [items, systems], NaN = no score.
        human: float64 [items, systems], mean ratings.
        maximum: top of the scale.

    Returns:
        Offset, share at the maximum, and the systems whose scores are all equal.

    Raises:
        InputError: the shapes differ.
        ConfigurationError: a score lies above the maximum.
    """
    ours, theirs = np.asarray(scores, np.float64), np.asarray(human, np.float64)
    if ours.shape != theirs.shape or ours.ndim != 2:
        raise InputError(f"scores {ours.shape} and human {theirs.shape}: give [items, systems]")
    known = ours[~np.isnan(ours)]
    if known.size and known.max() > maximum:
        raise ConfigurationError(f"maximum is {maximum:g} but a score is {known.max():g}")
    first = np.where(np.isnan(ours), np.inf, ours).min(axis=0, initial=np.inf)
    return JudgeProfile(
        offset=float(mean_coefficient((ours - theirs).ravel())),
        at_maximum=float(mean_coefficient((known == maximum).astype(np.float64))),
        constant=(np.isnan(ours) | (ours == first)).all(axis=0) & ~np.isnan(ours).all(axis=0),
    )


def _cube(ratings: ArrayLike) -> Floats:
    cube = np.asarray(ratings, dtype=np.float64)
    if cube.ndim != 3:
        raise InputError(f"ratings have {cube.ndim} axes: give [items, systems, raters]")
    return cube
