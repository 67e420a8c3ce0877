"""Stability of metrics across systems → sheets and records."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from prevalence.meta.stability import MethodAgreement, Stability, method_agreement, stability
from prevalence.report.sheets import Cell, Printer, Report, Sheet, Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.meta.correlate import Pairing
    from prevalence.stats.arrays import Floats
    from prevalence.stats.coefficients import Coefficient, Coefficients, Kind


__all__ = ["stability_report"]


class _Stable(NamedTuple):
    pair: Pairing
    kind: Kind
    found: Stability


class _Agreed(NamedTuple):
    first: Pairing
    second: Pairing
    kind: Kind
    found: MethodAgreement


def stability_report(
    study: Study,
    *,
    duels: Sequence[tuple[Pairing, Pairing]] = (),
    parts: bool = False,
) -> Report:
    """How the performance of metrics depends on the quality of what they judge.

    Args:
        study: scores and ratings, and how to compare them.
        duels: pairs of methods whose agreement R is asked for.
        parts: add sheets with Q and P (and R) of every system.
    """
    table, convention, pairs = study.table, study.convention, study.pairs
    sheet_of = _Sheets(Printer(convention), table.systems)
    stable = [
        _Stable(pair, kind, stability(*study.turned_grids(pair), kind=kind))
        for kind in convention.kinds
        for pair in pairs
    ]
    agreed = [
        _Agreed(*duel, kind, _method_agreement(study, duel, kind))
        for kind in convention.kinds
        for duel in duels
    ]
    turned = study.turned_note([*pairs, *(pair for duel in duels for pair in duel)])
    sheets = [sheet_of.meta_sheet(stable, turned)]
    sheets += [sheet_of.agreement_sheet(agreed)] if agreed else []
    if parts:
        sheets += [sheet_of.quality_sheet(stable), *sheet_of.performance_sheets(stable, agreed)]
    records = [sheet_of.record(entry) for entry in stable]
    records += [sheet_of.agreement_record(entry) for entry in agreed]
    return Report("stability", study.settings, tuple(sheets), tuple(records))


def _method_agreement(study: Study, duel: tuple[Pairing, Pairing], kind: Kind) -> MethodAgreement:
    first, human = study.turned_grids(duel[0])
    second, _ = study.turned_grids(duel[1])
    return method_agreement(first, second, human, kind=kind)


class _Sheets(NamedTuple):
    printer: Printer
    systems: tuple[str, ...]

    def meta_sheet(self, stable: Sequence[_Stable], turned: Sequence[str]) -> Sheet:
        rows = [
            (
                Cell(f"{entry.pair.row} · {entry.pair.dimension}"),
                Cell(entry.kind),
                self.printer.figure(entry.found.meta.value, entry.found.meta.p),
                self.printer.figure(entry.found.meta.p),
                Cell(str(entry.found.meta.n)),
                self.printer.figure(entry.found.spread),
                self.printer.figure(entry.found.sd),
            )
            for entry in stable
        ]
        columns = ("metric · dimension", "coefficient", "M", "p", "systems", "spread of P",
                   "SD of P")  # fmt: skip
        note = (
            "M: coefficient between quality Q (mean human score of a system) and performance P "
            "(metric against people over its summaries); a system with an undefined P is left out"
        )
        return Sheet("Does performance depend on quality?", columns, tuple(rows), (note, *turned))

    def agreement_sheet(self, agreed: Sequence[_Agreed]) -> Sheet:
        rows = [
            (
                Cell(f"ρ(R, P {side.row})"),
                Cell(side.dimension),
                Cell(entry.kind),
                self.printer.figure(found.value, found.p),
                self.printer.figure(found.p),
                Cell(str(found.n)),
            )
            for entry in agreed
            for side, found in self._sides(entry)
        ]
        note = "R: coefficient between the scores of the two methods over a system's summaries"
        columns = ("", "dimension", "coefficient", "value", "p", "systems")
        return Sheet("Do methods agree where they perform well?", columns, tuple(rows), (note,))

    def _sides(self, entry: _Agreed) -> list[tuple[Pairing, Coefficient]]:
        metas = (entry.found.meta_first, entry.found.meta_second)
        return list(zip((entry.first, entry.second), metas, strict=True))

    def quality_sheet(self, stable: Sequence[_Stable]) -> Sheet:
        quality = {entry.pair.dimension: entry.found.quality for entry in stable}
        rows = [self.printer.row(dimension, values) for dimension, values in quality.items()]
        return Sheet("Quality Q: mean human score", ("dimension", *self.systems), tuple(rows))

    def performance_sheets(
        self, stable: Sequence[_Stable], agreed: Sequence[_Agreed]
    ) -> list[Sheet]:
        sheets = []
        for kind in self.printer.convention.kinds:
            rows = [
                self._row(f"P {entry.pair.row} · {entry.pair.dimension}", entry.found.performance)
                for entry in stable
                if entry.kind == kind
            ]
            rows += [
                self._row(
                    f"R {entry.first.row}, {entry.second.row} · {entry.first.dimension}",
                    entry.found.agreement,
                )
                for entry in agreed
                if entry.kind == kind
            ]
            title = f"{kind.capitalize()} over the summaries of each system"
            sheets.append(Sheet(title, ("", *self.systems), tuple(rows)))
        return sheets

    def _row(self, name: str, found: Coefficients) -> tuple[Cell, ...]:
        return (Cell(name), *map(self.printer.figure, found.value.tolist(), found.p.tolist()))

    def record(self, entry: _Stable) -> dict[str, object]:
        found = entry.found
        return {
            "type": "stability",
            **entry.pair._asdict(),
            "kind": entry.kind,
            "meta": found.meta.value,
            "p": found.meta.p,
            "systems": found.meta.n,
            "spread": found.spread,
            "sd": found.sd,
            "quality": self._by_system(found.quality),
            "performance": self._by_system(found.performance.value),
            "performance_p": self._by_system(found.performance.p),
        }

    def agreement_record(self, entry: _Agreed) -> dict[str, object]:
        found = entry.found
        return {
            "type": "method agreement",
            "first": entry.first.row,
            "second": entry.second.row,
            "dimension": entry.first.dimension,
            "kind": entry.kind,
            "meta_first": found.meta_first.value,
            "p_first": found.meta_first.p,
            "meta_second": found.meta_second.value,
            "p_second": found.meta_second.p,
            "agreement": self._by_system(found.agreement.value),
        }

    def _by_system(self, values: Floats) -> dict[str, float]:
        return dict(zip(self.systems, values.tolist(), strict=True))
