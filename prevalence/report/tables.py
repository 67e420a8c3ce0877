"""Scored summaries → tables of systems, summaries or sentences, for papers and spreadsheets."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from prevalence.report.console import system_columns
from prevalence.report.names import figure_name, quantity_note, repeated_note
from prevalence.report.sheets import Cell, Places, Report, Sheet
from prevalence.report.text import shown_number
from prevalence.scored import PROFILE_FIGURES, SENTENCE_KINDS
from prevalence.scoring.systems import SystemStatistics, SystemTable, standings
from prevalence.signature import differences, with_parts
from prevalence.stats.resampling import DEFAULT_RESAMPLES, DEFAULT_SEED, FEWEST_PRODUCTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from prevalence.scored import ScoredSentence, ScoredSummary

__all__ = ["TABLES", "sentences", "summaries", "systems"]

_RESAMPLING = {"bs": DEFAULT_RESAMPLES, "seed": DEFAULT_SEED}
_OF_SYSTEM = tuple(
    field.name
    for field in fields(SystemStatistics)
    # The mean of corrected scores is not the corrected mean, which needs the error rates.
    if field.name not in ("interval", "profile", "corrected", "corrected_interval", "rates_refuted")
)


def systems(rows: Iterable[ScoredSummary]) -> Report:
    """A line a system, the best first, with intervals and groups.

    Args:
        rows: a summary each; those with an error are counted as failed. Where their signatures
            differ, and below six products, there are no groups.
    """
    table = SystemTable()
    signatures: dict[str, dict[str, None]] = {}
    corrected = False
    for row in rows:
        table.add(row)
        corrected |= row.corrected is not None
        if row.system is not None and row.prevalence is not None:
            signatures.setdefault(row.system, {})[with_parts(row.signature, _RESAMPLING)] = None
    found = sorted(table.statistics(), key=lambda one: one.order)
    groups, notes = _groups(table)
    if corrected:
        notes.append("corrected scores of systems are in the table of `prevalence score`")
    if table.repeated:
        notes.append(repeated_note(table.repeated))
    columns = system_columns(found)
    lines = tuple(
        (
            Cell(one.system),
            *([Cell(str(groups.get(one.system, "–")))] if groups else []),
            *map(Cell, figures),
        )
        for one, *figures in zip(found, *(column.cells for column in columns), strict=True)
    )
    headers = ("system", *(["group"] if groups else []), *(column.header for column in columns))
    named = [with_parts(signature, _RESAMPLING) for signature in table.signatures]
    sheet = Sheet("Opinion prevalence: systems", headers, lines, (*notes, *named))
    records = tuple(
        _of_system(one, groups.get(one.system), list(signatures.get(one.system, ())))
        for one in found
    )
    return Report("systems", {"signatures": named}, (sheet,), records)


def _groups(table: SystemTable) -> tuple[dict[str, int], list[str]]:
    """Numbers of the groups by system, where there are some, and what to say of them."""
    if table.scored == 0 or differences(table.signatures):
        return {}, []
    places = standings(table, resamples=DEFAULT_RESAMPLES, seed=DEFAULT_SEED)
    if len(places) < 2:
        return {}, []
    if any(place.behind and place.behind.interval is None for place in places):
        return {}, [f"below {FEWEST_PRODUCTS} products no systems are told apart"]
    return {place.system: place.group for place in places}, [
        "a new group begins where all systems above are surely better than all below"
    ]


def _of_system(
    one: SystemStatistics, group: int | None, signatures: Sequence[str]
) -> dict[str, Any]:
    interval = one.interval
    return {
        **{name: getattr(one, name) for name in _OF_SYSTEM},
        "group": group,
        "interval_low": None if interval is None else interval.low,
        "interval_high": None if interval is None else interval.high,
        **one.profile,
        "signature": "; ".join(signatures),
    }


def summaries(rows: Iterable[ScoredSummary]) -> Report:
    """A line a summary, in the order of the rows.

    Args:
        rows: a summary each; one without a score has its error, or its warning.
    """
    words = {"id": "product", "system": "system", "error": "error", "warning": "warning"}
    return _listing("summaries", [_of_summary(row) for row in rows], words, _SUMMARY)


def _of_summary(row: ScoredSummary) -> dict[str, Any]:
    # Of a summary without sentences nothing is known, whatever the model.
    known = bool(row.sentences)
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
        "n_reviews": row.n_reviews,
        "n_sentences": row.n_sentences,
        **{kind: row.sentence_count(kind) for kind in SENTENCE_KINDS},
        "contradictions": row.contradictions if known else None,
        "self_contradictions": row.self_contradictions if known else None,
        **{name: getattr(row.profile, name, None) for name in PROFILE_FIGURES},
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
    words = {
        "id": "product", "system": "system", "text": "sentence", "masked": "does not count",
        "quantity": "quantity",
    }  # fmt: skip
    return _listing("sentences", records, words, _SENTENCE)


def _of_sentence(row: ScoredSummary, place: int, sentence: ScoredSentence) -> dict[str, Any]:
    support, said = sentence.support, sentence.quantity
    return {
        "id": row.id,
        "system": row.system,
        "place": place,
        "text": sentence.text,
        "masked": sentence.mask,
        "support": support,
        "n_reviews": row.n_reviews,
        "share": None if support is None or not row.n_reviews else support / row.n_reviews,
        "contradicted_by": sentence.contradicted_by,
        "supporting_reviews": _reviews(row, sentence.supporting_reviews),
        "contradicting_reviews": _reviews(row, sentence.contradicting_reviews),
        "contradicts": _places(sentence.contradicts),
        "quantity": None if said is None else quantity_note(said, row.n_reviews),
        "quantity_agrees": None if said is None else said.get("agrees"),
        "signature": row.signature,
    }


def _reviews(row: ScoredSummary, found: Sequence[int] | None) -> Places | None:
    return None if found is None else Places(row.named(found))


def _places(found: Sequence[int] | None) -> Places | None:
    return None if found is None else Places(found)


def _listing(
    analysis: str,
    records: Sequence[dict[str, Any]],
    words: Mapping[str, str],
    figures: Mapping[str, tuple[str, str]],
) -> Report:
    """Records as a sheet, without the columns in which no record has anything.

    Args:
        analysis: name of the table.
        records: all with the same keys.
        words: headers of the columns of words, by key.
        figures: header and format of the columns of figures, by key.
    """
    known = {name for record in records for name, value in record.items() if value is not None}
    left = [name for name in words if name in known]
    right = [name for name in figures if name in known]
    lines = tuple(
        (
            *(Cell(record[name] or "") for name in left),
            *(Cell(shown_number(record[name], figures[name][1])) for name in right),
        )
        for record in records
    )
    headers = (*(words[name] for name in left), *(figures[name][0] for name in right))
    signatures = list(dict.fromkeys(record["signature"] for record in records))
    title = f"Opinion prevalence: {analysis}"
    sheet = Sheet(title, headers, lines, tuple(signatures), words=len(left))
    return Report(analysis, {"signatures": signatures}, (sheet,), tuple(records))


_SUMMARY: Mapping[str, tuple[str, str]] = {
    "prevalence": ("prevalence", ".3f"),
    "soft_prevalence": ("soft prevalence", ".3f"),
    "corrected": ("corrected", ".3f"),
    "ceiling_share": ("of ceiling", ".0%"),
    "n_reviews": ("reviews", ",d"),
    "n_sentences": ("sentences", ",d"),
    **{kind: (kind, ",d") for kind in SENTENCE_KINDS},
    "contradictions": ("contradictions", ",d"),
    "self_contradictions": ("self-contradictions", ",d"),
    **{name: (figure_name(name), ".3f") for name in PROFILE_FIGURES},
}
_SENTENCE: Mapping[str, tuple[str, str]] = {
    "place": ("no.", ",d"),
    "support": ("support", ",d"),
    "n_reviews": ("reviews", ",d"),
    "share": ("share", ".3f"),
    "contradicted_by": ("against", ",d"),
}

TABLES: Mapping[str, Callable[[Iterable[ScoredSummary]], Report]] = {
    "systems": systems,
    "summaries": summaries,
    "sentences": sentences,
}
"""What there are tables of."""
