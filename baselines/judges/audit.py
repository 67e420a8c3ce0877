"""How far a judge's scores can be trusted, from the rows that it wrote, some of them under attack.

Every figure here is a known weakness of language models as judges: they sit at the top of the
scale, give one score to everything, change their mind between samples, between wordings and
between orders, and can be talked into a better score.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.baselines.judges.packs import PACKS
from prevalence.meta.preferences import OrderBias, order_bias
from prevalence.meta.raters import judge_profile
from prevalence.meta.table import own_dimension
from prevalence.records import BadRecord, Product, Review
from prevalence.stats.coefficients import coefficients, mean_coefficient
from prevalence.toml_files import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prevalence.meta.table import RatingTable
    from prevalence.stats.arrays import Floats
    from prevalence.stats.coefficients import Kind

__all__ = [
    "MARK",
    "Attack",
    "AttackAudit",
    "Consistency",
    "MethodContrast",
    "MetricAudit",
    "attacked",
    "audit_attacks",
    "audit_contrasts",
    "audit_metrics",
    "audit_orders",
    "consistency",
    "load_attacks",
    "without_attacks",
]


MARK = "#"
"""Stands between a system and the attack that its summary is judged under."""


class Attack(NamedTuple):
    """One text.

    Attributes:
        name: of the attack.
        place: ``review``, a further review, or ``summary``, the end of the summary.
        text: what is put there.
    """

    name: str
    place: str
    text: str


@cache
def load_attacks() -> tuple[Attack, ...]:
    """The attacks that ship with the package."""
    rows = read_toml(PACKS / "attacks.toml")["attack"]
    return tuple(Attack(**row) for row in rows)


def attacked(item: Product | BadRecord) -> Iterator[Product | BadRecord]:
    """A record, and then the same record under each attack, as systems ``SYSTEM#ATTACK``.

    Human ratings stay with the record as it was, and empty summaries stay empty.
    """
    yield item
    if isinstance(item, BadRecord):
        return
    for attack in load_attacks():
        yield _under(item, attack)


def _under(product: Product, attack: Attack) -> Product:
    in_summary = attack.place == "summary"
    summaries = tuple(
        replace(
            summary,
            system=f"{summary.system}{MARK}{attack.name}",
            text=f"{summary.text} {attack.text}"
            if in_summary and summary.text.strip()
            else summary.text,
            extra={},
        )
        for summary in product.summaries
    )
    reviews = product.reviews if in_summary else (*product.reviews, Review(attack.text))
    return replace(product, reviews=reviews, summaries=summaries)


class Consistency(NamedTuple):
    """Whether a judge says the same when it is asked again.

    Attributes:
        items: summaries with two readable samples or more.
        spread: mean over them of the standard deviation between samples (ddof 1).
        modal: mean over them of the share of samples that equal the most frequent one.
    """

    items: int
    spread: float
    modal: float


@dataclass(frozen=True, slots=True)
class MetricAudit:
    """How a judge uses the scale.

    Attributes:
        metric: its name.
        summaries: summaries with a score.
        mean: of their scores.
        offset: mean of judge minus human over summaries rated by both; NaN without ratings.
        at_maximum: share of scores that are the top of the scale.
        constant: systems whose summaries, two or more, all have the same score.
        consistency: between samples; None where there is one sample each.
    """

    metric: str
    summaries: int
    mean: float
    offset: float
    at_maximum: float
    constant: Sequence[str]
    consistency: Consistency | None


@dataclass(frozen=True, slots=True)
class MethodContrast:
    """Two methods, or two wordings of one, on the same dimension.

    Attributes:
        first: metric.
        second: metric.
        summaries: scored by both.
        difference: mean of first minus second.
        distance: mean of its absolute value.
        agreement: R_i, the coefficient over a system's summaries, by system; NaN where undefined.
        unreliable: systems whose R_i is undefined or below the tolerance.
    """

    first: str
    second: str
    summaries: int
    difference: float
    distance: float
    agreement: Mapping[str, float]
    unreliable: Sequence[str]


class AttackAudit(NamedTuple):
    """What an attack gains.

    Attributes:
        metric: the judge's score.
        attack: name of the attack.
        summaries: judged with and without it.
        lost: judged without it, but with no readable score under it.
        shift: mean of the score under attack minus the score without.
        raised: share of summaries whose score went up.
        to_maximum: share that was brought to the top of the scale from below it.
    """

    metric: str
    attack: str
    summaries: int
    lost: int
    shift: float
    raised: float
    to_maximum: float


def without_attacks(table: RatingTable) -> RatingTable:
    """The table without the systems that stand for attacked summaries."""
    return table.select(systems=[name for name in table.systems if not _divided(name)[1]])


def consistency(samples: Floats) -> Consistency | None:
    """Agreement of samples with each other.

    Args:
        samples: float64 [..., samples], NaN = no readable reply.

    Returns:
        None where no summary has two readable samples.

    >>> consistency(np.array([[4.0, 4.0, 5.0, np.nan], [3.0, 3.0, 3.0, 3.0]])).modal.round(3).item()
    0.833
    """
    rows = samples.reshape(-1, samples.shape[-1])
    rows = rows[(~np.isnan(rows)).sum(axis=1) >= 2]
    if not len(rows):
        return None
    known = [row[~np.isnan(row)] for row in rows]
    spread = np.mean([row.std(ddof=1) for row in known])
    modal = np.mean([np.unique(row, return_counts=True)[1].max() / len(row) for row in known])
    return Consistency(len(rows), float(spread), np.float64(modal))


def audit_metrics(table: RatingTable, *, maximum: float = 5.0) -> list[MetricAudit]:
    """How each judge of a table, a metric called METHOD.DIMENSION, uses the scale.

    Args:
        table: scores, and human ratings where there are any.
        maximum: top of the scale.

    Raises:
        ConfigurationError: a score lies above the maximum.
    """
    judges = [name for name in table.metrics if _dimension(name)]
    return [_metric(without_attacks(table), name, maximum) for name in judges]


def audit_contrasts(
    table: RatingTable, *, kind: Kind = "spearman", tolerance: float = 0.5
) -> list[MethodContrast]:
    """Every two metrics of the same dimension against each other.

    Args:
        table: scores named METHOD.DIMENSION, or LABEL:METHOD.DIMENSION.
        kind: coefficient of R_i.
        tolerance: a system with a lower R_i is one on which the judge is not to be trusted.

    Source: Shen et al. 2023, section 5 (R_i between RTS and MCQ tells how reliable a judge is).
    """
    plain = without_attacks(table)
    found = []
    for first, second in combinations(plain.metrics, 2):
        if _dimension(first) and _dimension(first) == _dimension(second):
            contrast = _contrast(plain, first, second, kind, tolerance)
            if contrast.summaries:
                found.append(contrast)
    return found


def audit_attacks(table: RatingTable, *, maximum: float = 5.0) -> list[AttackAudit]:
    """What each attack gains on each metric, over all systems."""
    places = {name: place for place, name in enumerate(table.systems)}
    under: dict[str, list[tuple[int, int]]] = {}
    for name, place in places.items():
        system, attack = _divided(name)
        if attack and system in places:
            under.setdefault(attack, []).append((places[system], place))
    return [
        _attack(metric, attack, scores, pairs, maximum)
        for metric, scores in table.metrics.items()
        if _dimension(metric)
        for attack, pairs in under.items()
    ]


def audit_orders(verdicts: Mapping[str, Sequence[tuple[float, float]]]) -> dict[str, OrderBias]:
    """How often the order of two summaries decided, by dimension.

    Args:
        verdicts: by dimension, (verdict with a first, verdict with b first), NaN without one.
    """
    return {name: order_bias(np.array(rows)) for name, rows in verdicts.items()}


def _divided(name: str) -> tuple[str, str]:
    """A system, and the attack that its summaries are under; the latter is empty without one."""
    system, mark, attack = name.rpartition(MARK)
    known = mark and any(attack == one.name for one in load_attacks())
    return (system, attack) if known else (name, "")


def _metric(table: RatingTable, name: str, maximum: float) -> MetricAudit:
    scores = table.metric(name)
    dimension = own_dimension(name, table.dimensions)[1]
    nothing = np.full(scores.shape, np.nan)
    human = nothing if dimension is None else table.mean_human(dimension)
    profile = judge_profile(scores, human, maximum=maximum)
    several = (~np.isnan(scores)).sum(axis=0) >= 2
    constant = np.flatnonzero(profile.constant & several)
    samples = table.samples.get(name)
    return MetricAudit(
        metric=name,
        summaries=int((~np.isnan(scores)).sum()),
        mean=float(mean_coefficient(scores.ravel())),
        offset=profile.offset,
        at_maximum=profile.at_maximum,
        constant=tuple(table.systems[place] for place in constant),
        consistency=None if samples is None else consistency(samples),
    )


def _dimension(metric: str) -> str:
    """What a metric's name says that it rates."""
    return metric.rpartition(".")[2] if "." in metric else ""


def _contrast(
    table: RatingTable, first: str, second: str, kind: Kind, tolerance: float
) -> MethodContrast:
    one, two = table.metric(first), table.metric(second)
    gap = (one - two)[~np.isnan(one - two)]
    agreement = coefficients(kind, one.T, two.T).value
    systems = [
        place for place in range(len(table.systems)) if not np.isnan((one - two)[:, place]).all()
    ]
    return MethodContrast(
        first=first,
        second=second,
        summaries=len(gap),
        difference=float(gap.mean()) if len(gap) else float("nan"),
        distance=float(np.abs(gap).mean()) if len(gap) else float("nan"),
        agreement={table.systems[place]: float(agreement[place]) for place in systems},
        unreliable=tuple(
            table.systems[place] for place in systems if not agreement[place] >= tolerance
        ),
    )


def _attack(
    metric: str, attack: str, scores: Floats, pairs: Sequence[tuple[int, int]], maximum: float
) -> AttackAudit:
    before = np.concatenate([scores[:, first] for first, _ in pairs])
    after = np.concatenate([scores[:, second] for _, second in pairs])
    lost = int((~np.isnan(before) & np.isnan(after)).sum())
    both = ~np.isnan(before) & ~np.isnan(after)
    gain = (after - before)[both]
    if not len(gain):
        return AttackAudit(metric, attack, 0, lost, *(float("nan"),) * 3)
    reached = (after == maximum) & (before < maximum)
    return AttackAudit(
        metric, attack, len(gain), lost, float(gain.mean()), float((gain > 0).mean()),
        float(reached[both].mean()),
    )  # fmt: skip
