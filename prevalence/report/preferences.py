"""Preferences between systems → sheets and records."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.errors import InputError
from prevalence.meta.correlate import Pairing
from prevalence.meta.preferences import (
    Preferences,
    correct_preferences,
    neighbour_pairs,
    order_bias,
    preference_points,
    without_verdict,
)
from prevalence.report.sheets import Cell, Printer, Report, Sheet, Study
from prevalence.stats.coefficients import mean_coefficient
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from prevalence.meta.conventions import Convention
    from prevalence.meta.preferences import Duels, OrderBias
    from prevalence.stats.arrays import Floats

__all__ = ["preference_report"]


class _Judged(NamedTuple):
    """A metric, or a head-to-head judge: then with rated comparisons that lack a verdict."""

    row: str
    metric: str
    dimension: str
    everywhere: Preferences
    neighbours: Preferences
    missing: int | None = None
    order: OrderBias | None = None


def preference_report(
    study: Study, judges: Mapping[str, Sequence[Duels]], *, files: Sequence[str]
) -> Report:
    """Correct preferences of every metric and every head-to-head judge.

    Args:
        study: scores and ratings; those of all dimensions put the systems in order for the
            neighbours.
        judges: head-to-head verdicts by the judge's name.
        files: where they stand.

    Raises:
        InputError: nobody rated anything, no metric judges what people rated and there is no
            judge, or a value or verdict is missing and the convention refuses that.
    """
    if not study.whole.human:
        raise InputError("no human rating to compare with; add a file that holds some")
    table, whole, convention = study.table, study.whole, study.convention
    quality = [whole.mean_human(name) for name in whole.dimensions]
    over_items = np.stack([mean_coefficient(grid.T) for grid in quality])
    neighbours = neighbour_pairs(mean_coefficient(over_items.T))
    judged = []
    pairs = study.pairs if study.comparable or not judges else []
    taken = {name for pair in pairs for name in (pair.row, pair.metric)}
    judges = {f"{name} (duels)" if name in taken else name: each for name, each in judges.items()}
    for pair in pairs:
        metric, human = study.turned_grids(pair)
        judged.append(_judged(pair, preference_points(metric), human, neighbours))
    for name, found in judges.items():
        for duels in found:
            if duels.dimension in table.human:
                pair = Pairing(name, f"{name}.{duels.dimension}", duels.dimension)
                judged.append(_judge(pair, duels, study, neighbours))
    unrated = [
        f"{name} · {duels.dimension}"
        for name, found in judges.items()
        for duels in found
        if duels.dimension not in whole.human
    ]
    note = [f"compared, but not rated by people: {', '.join(unrated)}"] if unrated else []
    turned = study.turned_note(pairs)
    places = [*neighbours[:1, 0], *neighbours[:, 1]]
    order = " > ".join(table.systems[place] for place in places)
    sheets = [
        _sheet("Correct preferences, all pairs of systems", judged, "everywhere", *note, *turned),
        _sheet("Correct preferences, neighbours in quality", judged, "neighbours",
               f"order by mean human score over all dimensions: {order}"),
    ]  # fmt: skip
    if judges:
        sheets.append(_order_sheet(judges, convention))
    missing = {entry.metric: entry.missing for entry in judged if entry.missing}
    settings = study.settings | {"duels": list(files)}
    if missing:
        settings["without_verdict"] = missing
    records = [*map(_record, judged), *_unrated_records(judges, whole.dimensions)]
    return Report("preferences", settings, tuple(sheets), tuple(records))


def _judged(pair: Pairing, metric: Floats, human: Floats, neighbours: NDArray[np.int64]) -> _Judged:
    points = (metric, preference_points(human))
    return _Judged(
        *pair, correct_preferences(*points), correct_preferences(*points, pairs=neighbours)
    )


def _judge(pair: Pairing, duels: Duels, study: Study, neighbours: NDArray[np.int64]) -> _Judged:
    human = study.table.mean_human(pair.dimension)
    missing = without_verdict(duels.points, human)
    if missing and study.convention.missing == "fail":
        raise InputError(
            f"judge {pair.row!r}: no verdict on {counted(missing, 'comparison')} in "
            f"{pair.dimension} that people made; add them, or choose --missing drop"
        )
    judged = _judged(pair, duels.points, human, neighbours)
    return judged._replace(missing=missing, order=order_bias(duels.verdicts))


def _sheet(title: str, judged: Sequence[_Judged], field: str, *notes: str) -> Sheet:
    dimensions = list(dict.fromkeys(entry.dimension for entry in judged))
    found = {(entry.row, entry.dimension): getattr(entry, field) for entry in judged}
    rows = [
        (Cell(row), *(_count(found.get((row, dimension))) for dimension in dimensions))
        for row in dict.fromkeys(entry.row for entry in judged)
    ]
    chances = sorted({f"{entry.random:.1f}" for entry in found.values()}, key=float)
    note = f"correct / pairs; guessing gets {', '.join(chances)} right on average"
    return Sheet(title, ("metric", *dimensions), tuple(rows), (*notes, note))


def _count(found: Preferences | None) -> Cell:
    return Cell("" if found is None else f"{found.count}/{len(found.pairs)}")


def _order_sheet(judges: Mapping[str, Sequence[Duels]], convention: Convention) -> Sheet:
    printer = Printer(convention)
    rows = []
    for name, found in judges.items():
        for duels in found:
            bias = order_bias(duels.verdicts)
            counts = (bias.same, bias.first, bias.second)
            shares = (count / bias.asked if bias.asked else float("nan") for count in counts)
            figures = (Cell(str(bias.once)), Cell(str(bias.asked)), *map(printer.figure, shares))
            rows.append((Cell(f"{name} · {duels.dimension}"), *figures))
    columns = (
        "judge · dimension",
        "one order",
        "both orders",
        "same",
        "first shown",
        "second shown",
    )
    return Sheet("Does the order decide?", columns, tuple(rows))


def _record(entry: _Judged) -> dict[str, object]:
    record = {
        "row": entry.row,
        "metric": entry.metric,
        "dimension": entry.dimension,
        "correct": entry.everywhere.count,
        "pairs": len(entry.everywhere.pairs),
        "random": entry.everywhere.random,
        "correct_neighbours": entry.neighbours.count,
        "neighbours": len(entry.neighbours.pairs),
        "random_neighbours": entry.neighbours.random,
    }
    if entry.order is None:
        return record
    return record | {"without_verdict": entry.missing} | asdict(entry.order)


def _unrated_records(
    judges: Mapping[str, Sequence[Duels]], rated: Collection[str]
) -> Iterator[dict[str, object]]:
    """The order in dimensions that people did not rate, where nothing is correct or not."""
    for name, found in judges.items():
        for duels in found:
            if duels.dimension not in rated:
                metric = {"row": name, "metric": f"{name}.{duels.dimension}"}
                order = asdict(order_bias(duels.verdicts))
                yield metric | {"dimension": duels.dimension} | order
