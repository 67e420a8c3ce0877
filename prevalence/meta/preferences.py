"""Head-to-head rows: which of two systems a judge prefers on an item, asked in both orders."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.errors import InputError
from prevalence.meta.levels import without_noise
from prevalence.readers.fields import FieldError, describe, read_id
from prevalence.readers.jsonfiles import json_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from numpy.typing import ArrayLike

    from prevalence.meta.table import RatingTable
    from prevalence.stats.arrays import Bools, Floats, Ints

__all__ = [
    "RANDOM_SHARE",
    "DuelFile",
    "Duels",
    "OrderBias",
    "Preferences",
    "all_pairs",
    "correct_preferences",
    "head_to_head_points",
    "neighbour_pairs",
    "order_bias",
    "preference_points",
    "read_duels",
    "read_verdict",
    "without_verdict",
]


RANDOM_SHARE = 1.0 / 3.0
"""Share of pairs that a guess between better, worse and equal gets right."""

_FIRST, _SECOND, _EQUAL = 1, 2, 0


@dataclass(frozen=True, slots=True)
class Preferences:
    """A metric's preferences beside people's, one entry a pair that share an item.

    Attributes:
        pairs: int64 [p, 2], positions of the two systems.
        items: int64 [p], items on which both metric and people compare the two.
        metric: float64 [p], points of the pair's first system by the metric, in [0, items].
        human: float64 [p], the same by people.
    """

    pairs: Ints
    items: Ints
    metric: Floats
    human: Floats

    @property
    def correct(self) -> Bools:
        """Whether metric and people prefer the same system, or neither: bool [p]."""
        metric, human = (
            np.sign(without_noise(points - self.items / 2.0, scale=self.items))
            for points in (self.metric, self.human)
        )
        return np.asarray(metric == human)

    @property
    def count(self) -> int:
        """#CP, the number of correct pairs."""
        return int(self.correct.sum())

    @property
    def random(self) -> float:
        """What guessing gets right on average."""
        return len(self.pairs) * RANDOM_SHARE


@dataclass(frozen=True, slots=True)
class OrderBias:
    """What became of the comparisons that were asked in both orders.

    Attributes:
        asked: comparisons with both verdicts.
        once: comparisons with one verdict, which are none of the others.
        same: of these, the same verdict in both orders.
        first: of these, the text shown first won both times.
        second: of these, the text shown second won both times.
    """

    asked: int
    same: int
    first: int
    second: int
    once: int


def all_pairs(systems: int) -> Ints:
    """Every pair of systems once, int64 [systems (systems − 1) / 2, 2].

    >>> all_pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return np.array([*combinations(range(systems), 2)], dtype=np.int64).reshape(-1, 2)


def neighbour_pairs(quality: ArrayLike) -> Ints:
    """The challenge set: systems next to each other when ordered by quality.

    Args:
        quality: float64 [systems], mean human score over all items and dimensions. Equals, up to
            rounding noise, keep their order; a NaN leaves.

    Returns:
        int64 [systems − 1, 2], the better one first, from the best pair to the worst.

    Raises:
        InputError: not one value a system.

    >>> neighbour_pairs([3.0, 5.0, 4.0]).tolist()
    [[1, 2], [2, 0]]
    """
    values = np.asarray(quality, dtype=np.float64)
    if values.ndim != 1:
        raise InputError(f"quality has {values.ndim} axes: give one value per system")
    scale = np.abs(np.nan_to_num(values)).max(initial=0.0)
    order = np.argsort(-without_noise(values, scale=scale), kind="stable")
    order = order[~np.isnan(values[order])]
    return np.stack([order[:-1], order[1:]], axis=1).astype(np.int64)


def preference_points(scores: ArrayLike) -> Floats:
    """Points of every system against every other on each item, by exact comparison.

    Args:
        scores: float64 [items, systems], higher is better, NaN = no score.

    Returns:
        float64 [items, systems, systems]: 1 where the first is better, 0.5 for equals, 0 where it
        is worse, NaN where one has no score.

    Raises:
        InputError: the scores have another number of axes.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2:
        raise InputError(f"scores have {values.ndim} axes: give [items, systems]")
    first, second = values[:, :, None], values[:, None, :]
    points = np.where(first > second, 1.0, np.where(first < second, 0.0, 0.5))
    points[np.isnan(first) | np.isnan(second)] = np.nan
    return points


def head_to_head_points(
    places: ArrayLike, verdicts: ArrayLike, *, items: int, systems: int
) -> Floats:
    """Points from head-to-head verdicts: the mean of the orders that were answered.

    Args:
        places: int64 [rows, 3], positions of the item, of system a and of system b.
        verdicts: float64 [rows, 2], a shown first and b shown first; 1 = a better, 2 = b better,
            0 = equal (turned back for the swapped order), NaN = no verdict.
        items: number of items.
        systems: number of systems.

    Returns:
        float64 [items, systems, systems] as :func:`preference_points`, NaN where nothing was
        answered. Several rows on one comparison are averaged.

    Raises:
        InputError: a verdict is none of these, or a position lies outside its range.
    """
    where, answers = _checked(places, verdicts, items, systems)
    given = np.array([0.5, 1.0, 0.0, np.nan])[np.where(np.isnan(answers), 3, answers).astype(int)]
    known = ~np.isnan(given)
    totals = np.zeros((items, systems, systems))
    counts = np.zeros_like(totals)
    item, a, b = where.T
    won = np.where(known, given, 0.0).sum(axis=1)
    asked = known.sum(axis=1).astype(np.float64)
    np.add.at(totals, (item, a, b), won)
    np.add.at(totals, (item, b, a), asked - won)
    np.add.at(counts, (item, a, b), asked)
    np.add.at(counts, (item, b, a), asked)
    return np.divide(totals, counts, out=np.full_like(totals, np.nan), where=counts > 0)


def correct_preferences(
    metric: ArrayLike, human: ArrayLike, *, pairs: ArrayLike | None = None
) -> Preferences:
    """#CP: compare whom a metric prefers with whom people prefer, pair by pair.

    Args:
        metric: float64 [items, systems, systems], points as :func:`preference_points` or
            :func:`head_to_head_points` gives them.
        human: the same shape, of mean human scores.
        pairs: int64 [p, 2]; None takes all pairs.

    Returns:
        The sums over the items that both compare. Pairs that share no item are left out.

    Raises:
        InputError: the shapes differ.
    """
    ours, theirs = np.asarray(metric, np.float64), np.asarray(human, np.float64)
    if ours.shape != theirs.shape or ours.ndim != 3:
        raise InputError(
            f"points have shapes {ours.shape} and {theirs.shape}: give [items, systems, systems]"
        )
    chosen = all_pairs(ours.shape[1]) if pairs is None else np.asarray(pairs, np.int64)
    ours, theirs = (points[:, chosen[:, 0], chosen[:, 1]] for points in (ours, theirs))
    shared = ~np.isnan(ours) & ~np.isnan(theirs)
    judged = shared.any(axis=0)
    return Preferences(
        pairs=chosen[judged],
        items=shared.sum(axis=0)[judged],
        metric=np.where(shared, ours, 0.0).sum(axis=0)[judged],
        human=np.where(shared, theirs, 0.0).sum(axis=0)[judged],
    )


def without_verdict(points: ArrayLike, human: ArrayLike) -> int:
    """How many comparisons that people made have no verdict of a judge.

    Args:
        points: float64 [items, systems, systems], as :func:`head_to_head_points` gives them.
        human: float64 [items, systems], mean human scores, NaN = not rated.
    """
    gaps = np.isnan(np.asarray(points)) & ~np.isnan(preference_points(human))
    first, second = all_pairs(gaps.shape[1]).T
    return int(gaps[:, first, second].sum())


def order_bias(verdicts: ArrayLike) -> OrderBias:
    """How often the order of the two texts decided.

    Args:
        verdicts: float64 [rows, 2] as :func:`head_to_head_points` takes them.

    Returns:
        The counts; an answer "equal" in one order only is none of same, first and second.

    >>> order_bias([[1, 1], [1, 2], [2, 1], [0, 1]])
    OrderBias(asked=4, same=1, first=1, second=1, once=0)
    """
    rows = np.asarray(verdicts, dtype=np.float64).reshape(-1, 2)
    known = ~np.isnan(rows)
    both = rows[known.all(axis=1)]
    shown_first, shown_second = both.T
    return OrderBias(
        asked=len(both),
        same=int((shown_first == shown_second).sum()),
        first=int(((shown_first == _FIRST) & (shown_second == _SECOND)).sum()),
        second=int(((shown_first == _SECOND) & (shown_second == _FIRST)).sum()),
        once=int((known.sum(axis=1) == 1).sum()),
    )


def _checked(
    places: ArrayLike, verdicts: ArrayLike, items: int, systems: int
) -> tuple[Ints, Floats]:
    where = np.asarray(places, dtype=np.int64).reshape(-1, 3)
    answers = np.asarray(verdicts, dtype=np.float64).reshape(-1, 2)
    if len(where) != len(answers):
        raise InputError(f"{len(where)} places but {len(answers)} verdicts: give one row each")
    if not (np.isnan(answers) | np.isin(answers, (_EQUAL, _FIRST, _SECOND))).all():
        raise InputError("verdicts hold other values than 0, 1, 2 and NaN")
    if not ((where >= 0) & (where < [items, systems, systems])).all():
        raise InputError(f"places point outside {items} items and {systems} systems")
    if (where[:, 1] == where[:, 2]).any():
        raise InputError("places compare a system with itself: give two systems")
    return where, answers


_VERDICTS = (0, 1, 2, None)


class Duels(NamedTuple):
    """The verdicts of one judge on one dimension.

    Attributes:
        dimension: what was judged.
        points: float64 [items, systems, systems], of the first system against the second.
        verdicts: float64 [rows, 2], in both orders; NaN where there is none.
    """

    dimension: str
    points: Floats
    verdicts: Floats


class DuelFile(NamedTuple):
    """What a file of head-to-head rows holds.

    Attributes:
        duels: one entry a dimension, in order of first appearance.
        left_out: rows of records that could not be read, which compare nothing.
    """

    duels: list[Duels]
    left_out: int


class _Row(NamedTuple):
    place: tuple[int, int, int]
    dimension: str
    verdicts: tuple[float, float]


def read_duels(path: str | Path, table: RatingTable, *, unchosen: Collection[str] = ()) -> DuelFile:
    """Read pair rows, one a line: id, a, b, dimension, verdict_ab, verdict_ba.

    Args:
        path: the file, JSON Lines. A verdict is 1 (a better), 2 (b better), 0 (equal) or null,
            already turned back where b was shown first.
        table: names the items and systems.
        unchosen: other systems, whose rows are passed over.

    Returns:
        The verdicts, and how many rows report an error in place of two systems.

    Raises:
        InputError: a row is none, names an item or a system that the table has not, or names no
            dimension where people rated several.
    """
    rows: list[_Row] = []
    left_out = 0
    for position, record in json_lines(path):
        if _compares_nothing(record):
            left_out += 1
            continue
        if isinstance(record, dict) and _names_one(record, unchosen):
            continue
        try:
            rows.append(_row(record, table))
        except FieldError as fault:
            raise InputError(fault.at(position).error) from None
    duels = [
        _duels(dimension, [row for row in rows if row.dimension == dimension], table)
        for dimension in dict.fromkeys(row.dimension for row in rows)
    ]
    return DuelFile(duels, left_out)


def _compares_nothing(record: object) -> bool:
    """Whether it is the row of a record that a judge could not read."""
    if not isinstance(record, dict) or "verdict_ab" not in record:
        return False
    unnamed = record.get("a") is None or record.get("b") is None
    return unnamed and record.get("error") is not None


def _names_one(record: Mapping[str, Any], unchosen: Collection[str]) -> bool:
    return any(isinstance(name := record.get(k), str) and name in unchosen for k in ("a", "b"))


def _duels(dimension: str, rows: list[_Row], table: RatingTable) -> Duels:
    verdicts = np.array([row.verdicts for row in rows])
    points = head_to_head_points(
        np.array([row.place for row in rows]),
        verdicts,
        items=len(table.items),
        systems=len(table.systems),
    )
    return Duels(dimension, points, verdicts)


def _row(record: object, table: RatingTable) -> _Row:
    if not isinstance(record, dict) or "verdict_ab" not in record:
        found = describe(record)
        raise FieldError("", f"is {found}, no head-to-head row", "give id, a, b and verdict_ab")
    item, _ = read_id(record)
    place = (
        _place(item, table.items, "id"),
        _place(record.get("a"), table.systems, "a"),
        _place(record.get("b"), table.systems, "b"),
    )
    if place[1] == place[2]:
        raise FieldError("b", f"is {describe(record['b'])}, as a is", "give two systems")
    verdicts = (read_verdict(record, "verdict_ab"), read_verdict(record, "verdict_ba"))
    return _Row(place, _dimension(record, table), verdicts)


def _dimension(record: dict[str, Any], table: RatingTable) -> str:
    """What a row compares: what it says, or the only dimension that people rated."""
    named = record.get("dimension")
    if isinstance(named, str) and named:
        return named
    if named is None and len(table.dimensions) == 1:
        return table.dimensions[0]
    known = ", ".join(table.dimensions)
    problem = "is missing" if named is None else f"is {describe(named)}"
    raise FieldError("dimension", problem, f"name what was compared; people rated: {known}")


def _place(name: object, known: tuple[str, ...], key: str) -> int:
    if not isinstance(name, str) or name not in known:
        problem = f"is {describe(name)}, which no rating names"
        raise FieldError(key, problem, "give the ratings of the same items and systems too")
    return known.index(name)


def read_verdict(record: Mapping[str, object], key: str) -> float:
    """The verdict under a key of a head-to-head row: 0, 1 or 2, NaN for none.

    Raises:
        FieldError: it is something else.
    """
    value = record.get(key)
    if isinstance(value, bool) or value not in _VERDICTS:
        fix = "give 1 (a better), 2 (b better), 0 (equal) or null"
        raise FieldError(key, f"is {describe(value)}", fix)
    return float("nan") if value is None else float(value)
