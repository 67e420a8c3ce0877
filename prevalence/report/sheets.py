"""Sheets of figures, printed as a convention has it, as text, Markdown, LaTeX, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.cells import cell_len

from prevalence.errors import InputError
from prevalence.meta.conventions import printed
from prevalence.meta.correlate import pairings, score_grids, unrated_metrics
from prevalence.report.directions import direction
from prevalence.report.text import one_line
from prevalence.stats.coefficients import stars
from prevalence.writers import neutral_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from prevalence.meta.conventions import Convention
    from prevalence.meta.correlate import Pairing
    from prevalence.meta.table import RatingTable
    from prevalence.stats.arrays import Floats

__all__ = [
    "Cell",
    "Places",
    "Printer",
    "Report",
    "Sheet",
    "Study",
    "finite",
    "records_of",
    "render",
]


_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_GAP = "  "
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$",
    "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "–": "--", "×": r"$\times$", "χ": r"$\chi$", "α": r"$\alpha$", "κ": r"$\kappa$",
    "²": r"$^{2}$", "≥": r"$\geq$", "≤": r"$\leq$", "ρ": r"$\rho$", "−": r"$-$", "±": r"$\pm$",
    "<": r"\textless{}", ">": r"\textgreater{}",
    "…": r"\ldots{}", "·": r"$\cdot$", "│": r"\textbar{}", "|": r"\textbar{}",
    # Behind a line's end these two would be read as its options.
    "[": "{[}", "*": "{*}",
}  # fmt: skip


class Places(tuple[int | str, ...]):
    """Places in a list, or names that stand there: a list in JSON, one cell in CSV.

    >>> str(Places((0, 3)))
    '0, 3'
    """

    __slots__ = ()

    def __str__(self) -> str:
        return ", ".join(map(str, self))


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure.

    Attributes:
        text: what is printed.
        stars: printed behind it.
        place: in the column, 0 where it is not marked.
        value: the unrounded number, where the cell holds one.
    """

    text: str
    stars: int = 0
    place: int = 0
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table: the first columns hold words, the others figures.

    Attributes:
        title: above it, or its caption.
        columns: headers.
        rows: a cell a column each.
        notes: below it.
        words: how many columns hold words.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    words: int = 1

    def only(self, figures: Sequence[str]) -> Sheet:
        """The sheet with its words, and of its figures those with these headers, in this order.

        Raises:
            InputError: a header is not among them.
        """
        known = self.columns[self.words :]
        unknown = [name for name in figures if name not in known]
        if unknown:
            raise InputError(f"no column {unknown[0]!r}; there are {', '.join(known)}")
        kept = [*range(self.words), *(self.columns.index(name, self.words) for name in figures)]
        return replace(
            self,
            columns=tuple(self.columns[place] for place in kept),
            rows=tuple(tuple(row[place] for place in kept) for row in self.rows),
        )


@dataclass(frozen=True, slots=True)
class Study:
    """What every analysis starts from.

    Attributes:
        table: the merged scores and ratings, cut to what was asked for.
        whole: the same with all metrics and dimensions.
        convention: coefficients, levels, rules, decimals, stars.
        settings: what the report says it was computed with.
        own, all_pairs: see :func:`prevalence.meta.correlate.pairings`.
        unchosen: systems that were read and are not in the tables.
    """

    table: RatingTable
    whole: RatingTable
    convention: Convention
    settings: dict[str, Any]
    own: Mapping[str, str]
    all_pairs: bool
    unchosen: frozenset[str] = frozenset()

    @property
    def pairs(self) -> list[Pairing]:
        """Metrics with the dimensions that they are compared with."""
        return pairings(self.table, all_pairs=self.all_pairs, own=self.own)

    @property
    def unrated(self) -> dict[str, str]:
        """Metrics that are compared with nothing, each with the unrated dimension it judges."""
        if self.all_pairs or not self.table.human:
            return {}
        return unrated_metrics(self.table, self.own)

    @property
    def comparable(self) -> bool:
        """Whether there are ratings and a metric to compare with them."""
        return bool(self.table.human) and len(self.unrated) < len(self.table.metrics)

    def low_is_good(self, metric: str) -> bool:
        """Whether low values of a metric are good, as far as its name tells."""
        return direction(metric, self.whole.dimensions) < 0

    def turned_grids(self, pair: Pairing) -> tuple[Floats, Floats]:
        """The scores of a pairing as :func:`~prevalence.meta.correlate.score_grids` gives them.

        Those of a metric whose low values are good have the other sign, so that high is good.
        """
        metric, human = score_grids(self.table, pair, missing=self.convention.missing)
        return (-metric if self.low_is_good(pair.metric) else metric), human

    def turned_note(self, pairs: Iterable[Pairing]) -> list[str]:
        """Says which metrics of some pairings :meth:`turned_grids` turns round, if any."""
        turned = dict.fromkeys(pair.row for pair in pairs if self.low_is_good(pair.metric))
        said = f"low is good, so the signs of scores are turned round: {', '.join(turned)}"
        return [said] if turned else []


@dataclass(frozen=True, slots=True)
class Report:
    """An analysis.

    Attributes:
        analysis: its name.
        settings: what it was computed with.
        sheets: tables for people.
        records: one flat or nested object a figure, unrounded.
    """

    analysis: str
    settings: Mapping[str, Any]
    sheets: tuple[Sheet, ...]
    records: tuple[Mapping[str, Any], ...] = field(default=())


def records_of(sheets: Iterable[Sheet]) -> tuple[dict[str, object], ...]:
    """One record a cell, for reports whose sheets hold all that there is to say."""
    return tuple(
        {"sheet": sheet.title, "row": row[0].text, "column": column, "value": _content(cell)}
        for sheet in sheets
        for row in sheet.rows
        for column, cell in zip(sheet.columns[1:], row[1:], strict=True)
    )


def _content(cell: Cell) -> float | str:
    return cell.text if cell.value is None else cell.value


def render(report: Report, form: str) -> str:
    """The report as text, with a line end at its end.

    Args:
        report: the analysis.
        form: table, markdown, latex, json or csv.
    """
    return _RENDERERS[form](report)


def _table(report: Report) -> str:
    return "\n".join(_plain_sheet(sheet) for sheet in report.sheets)


def _plain_sheet(sheet: Sheet) -> str:
    lines = [[one_line(name) for name in sheet.columns]]
    lines += [[_plain_cell(cell) for cell in row] for row in sheet.rows]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    shown = [
        _GAP.join(
            _padded(text, width, left=place < sheet.words)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    notes = [one_line(note) for note in sheet.notes]
    return "\n".join([one_line(sheet.title), "", *shown, *([""] if notes else []), *notes]) + "\n"


def _padded(text: str, width: int, *, left: bool) -> str:
    space = " " * (width - cell_len(text))
    return text + space if left else space + text


def _plain_cell(cell: Cell) -> str:
    place = _SUPERSCRIPTS[cell.place] if 0 < cell.place < 10 else " "
    stars = "*" * cell.stars
    return one_line(cell.text) + stars + (place if cell.place else "")


def _markdown(report: Report) -> str:
    parts = []
    for sheet in report.sheets:
        lines = [
            f"**{_markdown_text(sheet.title)}**",
            "",
            _markdown_row([_markdown_text(name) for name in sheet.columns]),
            _markdown_row([*["---"] * sheet.words, *["---:"] * (len(sheet.columns) - sheet.words)]),
            *(_markdown_row([_markdown_cell(cell) for cell in row]) for row in sheet.rows),
        ]
        notes = [text for note in sheet.notes for text in ("", _markdown_text(note))]
        parts.append("\n".join([*lines, *notes]) + "\n")
    return "\n".join(parts)


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(cell: Cell) -> str:
    text = _markdown_text(cell.text) + "\\*" * cell.stars
    if cell.place == 1:
        return f"**{text}**"
    return f"{text}<sup>{cell.place}</sup>" if cell.place else text


def _markdown_text(text: str) -> str:
    escaped = one_line(text).replace("\\", "\\\\")
    for mark in "|*_`[]~$":
        escaped = escaped.replace(mark, f"\\{mark}")
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _latex(report: Report) -> str:
    parts = []
    for sheet in report.sheets:
        figures = len(sheet.columns) - sheet.words
        head = " & ".join(_latex_text(name) for name in sheet.columns)
        body = [" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in sheet.rows]
        notes = "; ".join(_latex_text(note) for note in sheet.notes)
        parts.append(
            "\n".join(
                [
                    r"\begin{table}",
                    r"\centering",
                    rf"\begin{{tabular}}{{{'l' * sheet.words}{'r' * figures}}}",
                    r"\hline",
                    rf"{head} \\",
                    r"\hline",
                    *body,
                    r"\hline",
                    r"\end{tabular}",
                    rf"\caption{{{_latex_text(sheet.title)}{'. ' + notes if notes else ''}}}",
                    r"\end{table}",
                ]
            )
            + "\n"
        )
    return "\n".join(parts)


def _latex_cell(cell: Cell) -> str:
    text = _latex_text(cell.text)
    if cell.stars:
        text += f"$^{{{'*' * cell.stars}}}$"
    if cell.place == 1:
        return rf"\textbf{{{text}}}"
    return f"{text}$_{{{cell.place}}}$" if cell.place else text


def _latex_text(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in one_line(text))


def _json(report: Report) -> str:
    document = {
        "schema": 1,
        "analysis": report.analysis,
        "settings": dict(report.settings),
        "rows": list(report.records),
    }
    return json.dumps(finite(document), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    """A value for JSON, which has no NaN and no infinity: what is undefined is null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list | tuple) else value


def _csv(report: Report) -> str:
    """One line a record, without the fields that hold several values."""
    names: dict[str, None] = {}
    for record in report.records:
        names |= {name: None for name, value in record.items() if _is_single(value)}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([neutral_cell(one_line(name)) for name in names])
    for record in report.records:
        values = (_single(record.get(name)) for name in names)
        shown = (one_line(value) if isinstance(value, str) else value for value in values)
        writer.writerow([neutral_cell(value) for value in shown])
    return text.getvalue()


def _single(value: Any) -> Any:
    return str(value) if isinstance(value, Places) else finite(value)


def _is_single(value: object) -> bool:
    return isinstance(value, Places) or not isinstance(value, Mapping | list | tuple)


_RENDERERS: Mapping[str, Callable[[Report], str]] = {
    "table": _table,
    "markdown": _markdown,
    "latex": _latex,
    "json": _json,
    "csv": _csv,
}


class Printer(NamedTuple):
    """Prints figures with a convention's decimals, rounding and stars."""

    convention: Convention

    def figure(self, value: float, p: float = float("nan"), *, place: int = 0) -> Cell:
        """A rounded figure with the stars of its p-value."""
        text = printed(value, self.convention.decimals, self.convention.rounding)
        return Cell(text, len(stars(p, self.convention.thresholds)), place, float(value))

    def row(self, name: str, values: Iterable[float]) -> tuple[Cell, ...]:
        """A name, and rounded figures behind it."""
        return (Cell(name), *map(self.figure, values))

    def p_value(self, p: float) -> Cell:
        """A p-value, to four decimals at least; small ones in powers of ten."""
        small = 0.0 < p < 10.0**-4
        text = f"{p:.1e}" if small else printed(p, max(4, self.convention.decimals))
        return Cell(text, len(stars(p, self.convention.thresholds)), value=float(p))

    def star_notes(self, rows: Iterable[Iterable[Cell]]) -> list[str]:
        """What stars mean, where any of the cells has some."""
        if not any(cell.stars for row in rows for cell in row):
            return []
        limits = enumerate(self.convention.thresholds, start=1)
        return [", ".join(f"{'*' * place} p ≤ {p:g}" for place, p in limits)]

    @staticmethod
    def whole(number: float) -> Cell:
        """A whole number."""
        return Cell(f"{int(number)}", value=float(number))
