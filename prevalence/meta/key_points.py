"""Scorers as matchers of comments to key points: average precision, and numbers of supporters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.errors import InputError
from prevalence.stats.coefficients import Coefficient, coefficient, mean_coefficient
from prevalence.stats.matching import average_precision, count_error, matching_precision
from prevalence.stats.resampling import ProductScores, bootstrap_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from prevalence.meta.correlate import Bootstrap
    from prevalence.readers.key_points import KeyPointPair, KeyPointTable
    from prevalence.stats.arrays import Floats
    from prevalence.stats.coefficients import Kind
    from prevalence.stats.matching import CountError
    from prevalence.stats.resampling import Interval

__all__ = [
    "DEFAULT_THRESHOLD",
    "KeyPointEvaluation",
    "Matcher",
    "RankAgreement",
    "SupportCount",
    "TopicPrecision",
    "evaluate",
    "table_matchers",
]

DEFAULT_THRESHOLD = 0.5
"""Of scores that a table brings along, whose own threshold is not known."""


@dataclass(frozen=True, slots=True, eq=False)
class Matcher:
    """What one scorer says about the pairs of a table.

    Attributes:
        name: the scorer, or the column.
        threshold: a comment supports a key point above this score.
        scores: float64 [pairs]; NaN where it has none.
    """

    name: str
    threshold: float
    scores: Floats


class TopicPrecision(NamedTuple):
    """One topic and stance; figures are NaN where they are not defined.

    Attributes:
        topic, stance: as the table has them.
        pairs: number of pairs, of which `undecided` have no label.
        undecided: see above.
        matches: pairs labelled as matching.
        average_precision: over the labelled pairs.
        strict, relaxed: by KPM-2021's rule, see :func:`prevalence.stats.matching_precision`.
    """

    topic: str
    stance: str
    pairs: int
    undecided: int
    matches: int
    average_precision: float
    strict: float
    relaxed: float


class SupportCount(NamedTuple):
    """How many comments make a key point, of those on which people agreed."""

    topic: str
    stance: str
    key_point: str
    comments: int
    true: int
    predicted: int


class RankAgreement(NamedTuple):
    """Whether predicted numbers of supporters put key points in the order of the true ones.

    Attributes:
        within: mean over topics and stances of the coefficient; NaN where none has one.
        overall: of all key points together, with its p-value and their number.
    """

    within: float
    overall: Coefficient


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPointEvaluation:
    """One matcher's figures.

    Attributes:
        name, threshold: the matcher's.
        unscored: labelled pairs without a score. Average precision leaves them out; KPM-2021's rule
            and the numbers of supporters take each for no match.
        pooled: average precision over the labelled pairs of all topics in one ranking.
        average_precision, strict, relaxed: means over topics and stances, see
            :class:`TopicPrecision`; the first over those that have a match.
        error: of the number of supporters of a key point.
        ranks: by kind of coefficient.
        topics, counts: what these are made of.
        intervals: of the means over topics and stances and of both errors, by name, where any were
            asked for; None for a figure that fewer topics and stances have than
            :data:`~prevalence.stats.resampling.FEWEST_PRODUCTS`.
    """

    name: str
    threshold: float
    unscored: int
    pooled: float
    average_precision: float
    strict: float
    relaxed: float
    error: CountError
    ranks: dict[Kind, RankAgreement]
    topics: tuple[TopicPrecision, ...]
    counts: tuple[SupportCount, ...]
    intervals: Mapping[str, Interval | None]


def table_matchers(table: KeyPointTable) -> list[Matcher]:
    """The matchers whose scores a table brings along, one a column."""
    names = dict.fromkeys(name for pair in table.pairs for name in pair.scores)
    columns = ([pair.scores.get(name, np.nan) for pair in table.pairs] for name in names)
    return [
        Matcher(name, DEFAULT_THRESHOLD, np.asarray(column))
        for name, column in zip(names, columns, strict=True)
    ]


def evaluate(
    table: KeyPointTable,
    matcher: Matcher,
    *,
    kinds: Sequence[Kind] = ("kendall",),
    bootstrap: Bootstrap | None = None,
) -> KeyPointEvaluation:
    """Compare a matcher with people.

    Args:
        table: P pairs with people's labels.
        matcher: P scores.
        kinds: coefficients between predicted and true numbers of supporters.
        bootstrap: how to draw topics and stances for intervals; None draws none.

    Returns:
        Its figures.

    Raises:
        InputError: no pair is labelled as a match, or there is not one score a pair.
    """
    labels = np.asarray([np.nan if p.label is None else float(p.label) for p in table.pairs])
    if matcher.scores.shape != labels.shape:
        raise InputError(f"{matcher.name}: {len(labels)} pairs, {len(matcher.scores)} scores")
    if not (labels == 1).any():
        raise InputError("no pair is labelled as a match: there is nothing to find")
    labelled = ~np.isnan(labels)
    usable = labelled & ~np.isnan(matcher.scores)
    places = _places([(pair.group, pair.stance) for pair in table.pairs])
    topics = tuple(_topic(table, inside, labels, matcher.scores, usable) for inside in places)
    counts = tuple(
        count
        for inside in places
        for count in _counts([(table.pairs[i], i) for i in inside[labelled[inside]]], matcher)
    )
    return KeyPointEvaluation(
        name=matcher.name,
        threshold=matcher.threshold,
        unscored=int((labelled & ~usable).sum()),
        pooled=average_precision(matcher.scores[usable], labels[usable] > 0),
        average_precision=_mean([topic.average_precision for topic in topics]),
        strict=_mean([topic.strict for topic in topics]),
        relaxed=_mean([topic.relaxed for topic in topics]),
        error=count_error(_predicted(counts), _true(counts)),
        ranks={kind: _ranks(counts, kind) for kind in kinds},
        topics=topics,
        counts=counts,
        intervals={} if bootstrap is None else _intervals(topics, counts, bootstrap),
    )


def _intervals(
    topics: Sequence[TopicPrecision], counts: Sequence[SupportCount], bootstrap: Bootstrap
) -> dict[str, Interval | None]:
    """Topics and stances are drawn, which KPM-2021 averages over; key points go with their own."""
    groups = _places([(count.topic, count.stance) for count in counts])
    errors = [_predicted([counts[i] for i in g]) - _true([counts[i] for i in g]) for g in groups]

    def over_topics(value: Callable[[TopicPrecision], float]) -> ProductScores:
        values = np.asarray([value(topic) for topic in topics])
        return ProductScores(np.nan_to_num(values), np.isfinite(values).astype(np.float64))

    sizes = np.asarray([error.size for error in errors], np.float64)
    parts = {
        "average_precision": over_topics(lambda topic: topic.average_precision),
        "strict": over_topics(lambda topic: topic.strict),
        "relaxed": over_topics(lambda topic: topic.relaxed),
        "count_error": ProductScores(np.asarray([np.abs(e).sum() for e in errors]), sizes),
        "count_bias": ProductScores(np.asarray([e.sum() for e in errors]), sizes),
    }
    return {
        name: bootstrap_interval(
            part,
            resamples=bootstrap.resamples,
            seed=bootstrap.seed,
            confidence=bootstrap.confidence,
        )
        for name, part in parts.items()
    }


def _places(keys: Sequence[tuple[str, ...]]) -> list[NDArray[np.int64]]:
    """Places of the entries of each key, in order of first appearance."""
    found: dict[tuple[str, ...], list[int]] = {}
    for place, key in enumerate(keys):
        found.setdefault(key, []).append(place)
    return [np.asarray(places, np.int64) for places in found.values()]


def _topic(
    table: KeyPointTable,
    inside: NDArray[np.int64],
    labels: Floats,
    scores: Floats,
    usable: NDArray[np.bool_],
) -> TopicPrecision:
    pairs = [table.pairs[place] for place in inside]
    numbers = {name: i for i, name in enumerate(dict.fromkeys(pair.comment for pair in pairs))}
    comments = np.asarray([numbers[pair.comment] for pair in pairs], np.int64)
    known = inside[usable[inside]]
    return TopicPrecision(
        pairs[0].group,
        pairs[0].stance,
        len(inside),
        int(np.isnan(labels[inside]).sum()),
        int((labels[inside] == 1).sum()),
        average_precision(scores[known], labels[known] > 0),
        matching_precision(scores[inside], labels[inside], comments, undecided="strict"),
        matching_precision(scores[inside], labels[inside], comments, undecided="relaxed"),
    )


def _counts(labelled: Sequence[tuple[KeyPointPair, int]], matcher: Matcher) -> list[SupportCount]:
    """Supporters of each key point of a topic and stance; a pair without a score is no match."""
    key_points: dict[str, list[tuple[KeyPointPair, int]]] = {}
    for pair, place in labelled:
        key_points.setdefault(pair.hypothesis, []).append((pair, place))
    return [
        SupportCount(
            asked[0][0].group,
            asked[0][0].stance,
            key_point,
            len(asked),
            sum(bool(pair.label) for pair, _ in asked),
            sum(bool(matcher.scores[place] > matcher.threshold) for _, place in asked),
        )
        for key_point, asked in key_points.items()
    ]


def _ranks(counts: Sequence[SupportCount], kind: Kind) -> RankAgreement:
    by_topic = _places([(count.topic, count.stance) for count in counts])
    predicted, true = _predicted(counts), _true(counts)
    values = [coefficient(kind, predicted[inside], true[inside]).value for inside in by_topic]
    return RankAgreement(_mean(values), coefficient(kind, predicted, true))


def _predicted(counts: Sequence[SupportCount]) -> Floats:
    return np.asarray([count.predicted for count in counts], np.float64)


def _true(counts: Sequence[SupportCount]) -> Floats:
    return np.asarray([count.true for count in counts], np.float64)


def _mean(values: Sequence[float]) -> float:
    return float(mean_coefficient(np.asarray(values, np.float64)))
