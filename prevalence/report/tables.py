"""Scored summaries → tables of systems, summaries or sentences, for papers and spreadsheets."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from prevalence.records import PROFILE_FIGURES
from prevalence.report.console import system_columns
from prevalence.report.names import figure_name
from prevalence.report.sheets import Cell, Report, Sheet
from prevalence.report.standings import standings
from prevalence.report.systems import SystemStatistics, SystemTable
from prevalence.report.text import shown_number
from prevalence.signature import with_parts
from prevalence.stats.resampling import DEFAULT_RESAMPLES, DEFAULT_SEED
from prevalence.writers import SENTENCE_KINDS, sentence_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from prevalence.records import ScoredSentence, ScoredSummary

__all__ = ["TABLES", "sentences", "summaries", "systems"]

_RESAMPLING = {"bs": DEFAULT_RESAMPLES, "seed": DEFAULT_SEED}
_OF_SYSTEM = tuple(
    field.name
    for field in fields(SystemStatistics)
    # The mean of corrected scores is not the corrected mean, which needs the error rates.
    if field.name not in ("interval", "profile", "corrected", "corrected_interval", "rates_refuted")
)


def systems(rows: Iterable[ScoredSummary]) -> Report:
    """A line a system, the best first, as ``score`` prints it, with the groups of ``report``.

    Args:
        rows: a summary each; those with an error are counted as failed.
    """
    table = SystemTable()
    for row in rows:
        table.add(row)
    found = sorted(table.statistics(), key=lambda one: one.order)
    group = {
        place.system: place.group
        for place in standings(table, resamples=DEFAULT_RESAMPLES, seed=DEFAULT_SEED)
    }
    columns = system_columns(found)
    lines = [
        (Cell(one.system), Cell(str(group.get(one.system, "–"))), *map(Cell, figures))
        for one, *figures in zip(found, *(column.cells for column in columns), strict=True)
    ]
    headers = ("system", "group", *(column.header for column in columns))
    notes = (
        "A new group begins where all systems above are surely better than all below",
        *(with_parts(signature, _RESAMPLING) for signature in table.signatures),
    )
    sheet = Sheet("Opinion prevalence of systems", headers, tuple(lines), notes)
    records = tuple(_of_system(one, group.get(one.system)) for one in found)
    return Report("systems", {"signatures": table.signatures, **_RESAMPLING}, (sheet,), records)


def _of_system(one: SystemStatistics, group: int | None) -> dict[str, Any]:
    low_high = one.interval
    return {
        **{name: getattr(one, name) for name in _OF_SYSTEM},
        "group": group,
        "interval_low": None if low_high is None else low_high.low,
        "interval_high": None if low_high is None else low_high.high,
        **one.profile,
    }


def summaries(rows: Iterable[ScoredSummary]) -> Report:
    """A line a summary, in the order of the rows; what no row has is left out.

    Args:
        rows: a summary each; one without a score has its error, or its warning.
    """
    records = [_of_summary(row) for row in rows]
    return _listing("summaries", records, ("id", "system", "error", "warning"))


def _of_summary(row: ScoredSummary) -> dict[str, Any]:
    profile = {name: getattr(row.profile, name, None) for name in PROFILE_FIGURES}
    return {
        "id": row.id,
        "system": row.system,
        "error": row.error,
        "warning": row.warning,
        "prevalence": row.prevalence,
        "soft_prevalence": row.soft_prevalence,
        "corrected": row.corrected,
        "ceiling": row.ceiling,
        "ceiling_share": row.ceiling_share,
        "n_reviews": _asked(row),
        "n_sentences": row.n_sentences,
        **{kind: sentence_count(row, kind) for kind in SENTENCE_KINDS},
        "contradictions": row.contradictions,
        "self_contradictions": row.self_contradictions,
        **profile,
        "signature": row.signature,
    }


def sentences(rows: Iterable[ScoredSummary]) -> Report:
    """A line a sentence, or claim: how many reviews support and contradict it, and which.

    Args:
        rows: a summary each; one without a score has no line.
    """
    records = [
        _of_sentence(row, place, sentence)
        for row in rows
        if row.prevalence is not None
        for place, sentence in enumerate(row)
    ]
    return _listing("sentences", records, ("id", "system", "text", "masked"))


def _of_sentence(row: ScoredSummary, place: int, sentence: ScoredSentence) -> dict[str, Any]:
    asked = _asked(row)
    support = sentence.support
    return {
        "id": row.id,
        "system": row.system,
        "text": sentence.text,
        "masked": sentence.mask,
        "place": place,
        "support": support,
        "n_reviews": asked,
        "share": None if support is None or not asked else support / asked,
        "contradicted_by": sentence.contradicted_by,
        "supporting_reviews": _places(sentence.supporting_reviews),
        "contradicting_reviews": _places(sentence.contradicting_reviews),
        "contradicts": _places(sentence.contradicts),
        "signature": row.signature,
    }


def _asked(row: ScoredSummary) -> int:
    """The reviews that a score is about."""
    return row.n_reviews if row.restriction is None else len(row.restriction["reviews"])


def _places(found: Sequence[int] | None) -> str | None:
    """Places as one cell; a spreadsheet has no lists."""
    return None if found is None else ", ".join(map(str, found))


def _listing(title: str, records: Sequence[dict[str, Any]], words: Sequence[str]) -> Report:
    """Records as a sheet: the columns of words, then the figures, where any record has some."""
    known = {name for record in records for name, value in record.items() if value is not None}
    names = [name for name in _HEADERS if name in known or name in ("id", "prevalence", "text")]
    left = [name for name in words if name in names]
    columns = left + [name for name in names if name not in words and name in (records or [{}])[0]]
    sheet = Sheet(
        f"Opinion prevalence of {title}",
        tuple(_HEADERS[name] for name in columns),
        tuple(
            tuple(Cell(_shown(record[name], "" if name in left else "–")) for name in columns)
            for record in records
        ),
        tuple(dict.fromkeys(record["signature"] for record in records)),
        words=len(left),
    )
    return Report(title, {}, (sheet,), tuple(records))


def _shown(value: str | float | None, nothing: str) -> str:
    if value is None:
        return nothing
    return shown_number(value) if isinstance(value, float) else str(value)


_HEADERS: Mapping[str, str] = {
    "id": "product",
    "system": "system",
    "text": "sentence",
    "error": "error",
    "warning": "warning",
    "masked": "does not count",
    "place": "no.",
    "prevalence": "prevalence",
    "soft_prevalence": "soft prevalence",
    "corrected": "corrected",
    "ceiling_share": "of ceiling",
    "support": "support",
    "n_reviews": "reviews",
    "share": "share",
    "contradicted_by": "against",
    "n_sentences": "sentences",
    **{kind: kind for kind in SENTENCE_KINDS},
    "contradictions": "contradictions",
    "self_contradictions": "self-contradictions",
    **{name: figure_name(name) for name in PROFILE_FIGURES},
}
"""Headers of what tables for people show, in order; CSV and JSON have all that there is."""

TABLES: Mapping[str, Callable[[Iterable[ScoredSummary]], Report]] = {
    "systems": systems,
    "summaries": summaries,
    "sentences": sentences,
}
"""What there are tables of."""
