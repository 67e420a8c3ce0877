"""Audits of judges → tables and JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from prevalence.report.console import make_table, plain
from prevalence.report.sheets import finite
from prevalence.report.text import shown_number

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping, Sequence

    from rich.table import Table

    from prevalence.baselines.judges.audit import AttackAudit, MethodContrast, MetricAudit
    from prevalence.meta.preferences import OrderBias

__all__ = ["Audit", "audit_json", "audit_tables"]

_COUNTED = ("asked", "unparsable", "several", "out_of_range", "failed", "cut", "contradictions")


@dataclass(frozen=True, slots=True)
class Audit:
    """Everything that was found.

    Attributes:
        metrics: how each metric uses the scale.
        replies: what became of the replies behind it, by metric; empty without judge's rows.
        contrasts: methods or wordings against each other.
        attacks: what attacks gain.
        orders: by dimension, how often the order decided; None without pair rows.
    """

    metrics: Sequence[MetricAudit]
    replies: Mapping[str, Counter[str]]
    contrasts: Sequence[MethodContrast]
    attacks: Sequence[AttackAudit]
    orders: Mapping[str, OrderBias]


def audit_tables(audit: Audit) -> Iterator[Table]:
    """One table for each thing that was found."""
    if audit.metrics:
        yield _metrics(audit)
    if audit.replies:
        yield _table(
            "replies",
            ("metric", *(name.replace("_", " ") for name in _COUNTED)),
            [
                (metric, *(f"{counts[name]:,}" for name in _COUNTED))
                for metric, counts in audit.replies.items()
            ],
        )
    if audit.contrasts:
        yield _contrasts(audit.contrasts)
    if audit.attacks:
        yield _table(
            "attacks",
            ("metric", "attack", "n", "lost", "shift", "raised", "to maximum"),
            [
                (a.metric, a.attack, f"{a.summaries:,}", f"{a.lost:,}",
                 shown_number(a.shift, "+.3f"), shown_number(a.raised, ".1%"),
                 shown_number(a.to_maximum, ".1%"))
                for a in audit.attacks
            ],
        )  # fmt: skip
    if audit.orders:
        yield _table(
            "order of two summaries",
            ("dimension", "pairs", "same", "first shown", "second shown", "p"),
            [
                (name, f"{bias.asked:,}", _of(bias.same, bias.asked), _of(bias.first, bias.asked),
                 _of(bias.second, bias.asked), shown_number(_sign_test(bias)))
                for name, bias in audit.orders.items()
            ],
        )  # fmt: skip


def audit_json(audit: Audit) -> dict[str, Any]:
    """The same as JSON; undefined numbers are null."""
    found = {
        "metrics": [
            asdict(one) | {"consistency": one.consistency and one.consistency._asdict()}
            for one in audit.metrics
        ],
        "replies": audit.replies,
        "contrasts": [asdict(one) for one in audit.contrasts],
        "attacks": [one._asdict() for one in audit.attacks],
        "orders": {
            name: asdict(bias) | {"p": _sign_test(bias)} for name, bias in audit.orders.items()
        },
    }
    return {name: finite(part) for name, part in found.items()}


def _metrics(audit: Audit) -> Table:
    rows = []
    for one in audit.metrics:
        again = one.consistency
        rows.append(
            (
                one.metric,
                f"{one.summaries:,}",
                shown_number(one.mean),
                shown_number(one.offset, "+.3f"),
                shown_number(one.at_maximum, ".1%"),
                ", ".join(one.constant) or "–",
                shown_number(again and again.items, ","),
                shown_number(again and again.spread),
                shown_number(again and again.modal, ".1%"),
            )
        )
    shown = ("metric", "n", "mean", "offset", "at maximum", "constant")
    return _table("use of the scale", (*shown, "sampled", "SD", "same answer"), rows)


def _contrasts(contrasts: Sequence[MethodContrast]) -> Table:
    rows = []
    for one in contrasts:
        values = [value for value in one.agreement.values() if not math.isnan(value)]
        rows.append(
            (
                one.first,
                one.second,
                f"{one.summaries:,}",
                shown_number(one.difference, "+.3f"),
                shown_number(one.distance),
                shown_number(math.fsum(values) / len(values) if values else math.nan),
                shown_number(min(values, default=math.nan)),
                ", ".join(one.unreliable) or "–",
            )
        )
    headers = ("first", "second", "n", "difference", "distance", "mean R", "least R", "unreliable")
    return _table("two ways of asking", headers, rows)


def _table(title: str, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    words = ("second", "attack", "constant", "unreliable")
    return make_table(
        headers, ([*map(plain, row)] for row in rows), title=title, left=words, whole=()
    )


def _sign_test(bias: OrderBias) -> float | None:
    """Two-sided exact p-value of first against second; None where the order never decided."""
    from scipy.stats import binomtest

    decided = bias.first + bias.second
    return float(binomtest(bias.first, decided).pvalue) if decided else None


def _of(count: int, whole: int) -> str:
    return f"{count:,} ({count / whole:.0%})" if whole else "–"
