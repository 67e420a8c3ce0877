"""Scorers as matchers of key points → sheets and records."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prevalence.report.sheets import Cell, Printer, Report, Sheet
from prevalence.stats.resampling import FEWEST_PRODUCTS
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prevalence.meta.conventions import Convention
    from prevalence.meta.key_points import KeyPointEvaluation

__all__ = ["key_point_report"]


def key_point_report(
    found: Sequence[KeyPointEvaluation],
    convention: Convention,
    *,
    comments: bool,
    parts: bool,
    settings: Mapping[str, Any],
) -> Report:
    """Matchers side by side.

    Args:
        found: one a matcher, all about the same table.
        convention: coefficients, decimals and rounding.
        comments: whether the premises are comments, each of which has a best key point; without
            them KPM-2021's rule means nothing and is left out.
        parts: whether to show topics and key points.
        settings: what the report says it was computed with.
    """
    sheets = [_whole_sheet(found, convention, comments=comments)]
    if parts:
        sheets += [_topic_sheet(found, convention, comments=comments), _count_sheet(found)]
    records = [_record(evaluation, comments=comments) for evaluation in found]
    return Report("key-points", settings, tuple(sheets), tuple(records))


def _whole_sheet(
    found: Sequence[KeyPointEvaluation], convention: Convention, *, comments: bool
) -> Sheet:
    printer = Printer(convention)
    columns = (
        "scorer",
        "AP",
        "pooled AP",
        *_shared(comments=comments),
        "threshold",
        "count error",
        "bias",
    )
    ranks = [f"{kind} {where}" for kind in convention.kinds for where in ("within", "overall")]
    rows = tuple(_whole_row(evaluation, printer, comments=comments) for evaluation in found)
    topics = found[0].topics
    pairs, matches, undecided = (
        sum(getattr(topic, name) for topic in topics) for name in ("pairs", "matches", "undecided")
    )
    said = f"{counted(pairs, 'pair')}, {matches:,} of them matches, {undecided:,} undecided"
    said += f"; {counted(len(found[0].counts), 'key point')}, "
    notes = [
        said + counted(len(topics), "topic and stance", "topics and stances"),
        "AP: mean over topics and stances of the average precision; count error: mean absolute "
        "error of the number of supporters of a key point",
    ]
    if comments:
        notes.append("strict, relaxed: rule of KPM-2021; undecided pairs are no match, or a match")
    if any(found[0].intervals.values()):
        notes.append("in brackets: bootstrap interval, topics and stances drawn with replacement")
    elif found[0].intervals:
        notes.append(f"below {FEWEST_PRODUCTS} topics and stances there are no intervals")
    notes += [
        f"{e.name}: {counted(e.unscored, 'labelled pair')} without a score, no match in counts"
        for e in found
        if e.unscored
    ]
    return Sheet("Key points and their supporters", (*columns, *ranks), rows, tuple(notes))


def _whole_row(
    evaluation: KeyPointEvaluation, printer: Printer, *, comments: bool
) -> tuple[Cell, ...]:
    names = ("average_precision", "pooled", *_shared(comments=comments), "threshold")
    figures = {name: getattr(evaluation, name) for name in names}
    figures |= {"count_error": evaluation.error.mean, "count_bias": evaluation.error.bias}
    ranks = [
        cell
        for agreement in evaluation.ranks.values()
        for cell in (
            printer.figure(agreement.within),
            printer.figure(agreement.overall.value, agreement.overall.p),
        )
    ]
    shown = [_with_interval(evaluation, name, value, printer) for name, value in figures.items()]
    return (Cell(evaluation.name), *shown, *ranks)


def _with_interval(
    evaluation: KeyPointEvaluation, name: str, value: float, printer: Printer
) -> Cell:
    cell, found = printer.figure(value), evaluation.intervals.get(name)
    if found is None:
        return cell
    low, high = (printer.figure(end).text for end in (found.low, found.high))
    return replace(cell, text=f"{cell.text} [{low}, {high}]")


def _topic_sheet(
    found: Sequence[KeyPointEvaluation], convention: Convention, *, comments: bool
) -> Sheet:
    printer = Printer(convention)
    names = ("average_precision", *_shared(comments=comments))
    rows = [
        (
            Cell(_named(topic.topic, topic.stance)),
            *map(printer.whole, (topic.pairs, topic.matches, topic.undecided)),
            Cell(evaluation.name),
            *(printer.figure(getattr(topic, name)) for name in names),
        )
        for place in range(len(found[0].topics))
        for evaluation in found
        for topic in [evaluation.topics[place]]
    ]
    columns = ("topic · stance", "pairs", "matches", "undecided", "scorer", "AP", *names[1:])
    return Sheet("Average precision by topic and stance", columns, tuple(rows))


def _count_sheet(found: Sequence[KeyPointEvaluation]) -> Sheet:
    """True and predicted supporters; all matchers have the same key points in the same order."""
    rows = []
    for counts in zip(*(evaluation.counts for evaluation in found), strict=True):
        topic, stance, key_point, comments, true, _ = counts[0]
        figures = (comments, true, *(count.predicted for count in counts))
        name = _named(topic, stance, key_point)
        rows.append((Cell(name), *map(Printer.whole, figures)))
    columns = ("topic · stance · key point", "comments", "true", *(e.name for e in found))
    return Sheet("Supporters of key points", columns, tuple(rows))


def _shared(*, comments: bool) -> tuple[str, ...]:
    """Figures of KPM-2021's rule, where it has a meaning."""
    return ("strict", "relaxed") if comments else ()


def _named(*parts: str) -> str:
    return " · ".join(filter(None, parts)) or "all"


def _record(evaluation: KeyPointEvaluation, *, comments: bool) -> dict[str, Any]:
    names = ("threshold", "unscored", "average_precision", "pooled", *_shared(comments=comments))
    record: dict[str, Any] = {"scorer": evaluation.name}
    record |= {name: getattr(evaluation, name) for name in names}
    record |= {"count_error": evaluation.error.mean, "count_bias": evaluation.error.bias}
    for name, interval in evaluation.intervals.items():
        if name in record:
            ends = (None, None) if interval is None else (interval.low, interval.high)
            record |= dict(zip((f"{name}_low", f"{name}_high"), ends, strict=True))
    for kind, (within, overall) in evaluation.ranks.items():
        record |= {f"{kind}_within": within, f"{kind}_overall": overall.value}
        record[f"{kind}_overall_p"] = overall.p
    left_out = {"strict", "relaxed"}.difference(_shared(comments=comments))
    topics = [topic._asdict() for topic in evaluation.topics]
    record["topics"] = [{k: v for k, v in topic.items() if k not in left_out} for topic in topics]
    record["key_points"] = [count._asdict() for count in evaluation.counts]
    return record
