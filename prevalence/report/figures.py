"""Figures of a meta-evaluation, drawn with matplotlib (extra ``figures``), safe for all eyes.

Colours are Okabe and Ito's, which people of every colour vision tell apart, and each series has a
marker or a hatch of its own, so that a print in grey can be read too.
"""

from __future__ import annotations

import math
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from prevalence.errors import InputError, MissingDependencyError
from prevalence.meta.correlate import correlate, score_grids
from prevalence.meta.levels import system_means
from prevalence.report.text import one_line
from prevalence.stats.coefficients import coefficients, mean_coefficient

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from prevalence.meta.correlate import Bootstrap, Correlation, Pairing
    from prevalence.meta.table import RatingTable
    from prevalence.report.sheets import Study

__all__ = [
    "COLOURS",
    "FIGURES",
    "MARKERS",
    "PANEL",
    "add_legend",
    "axis_label",
    "colour_of",
    "panel_grid",
    "save",
]

COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000",
)  # fmt: skip
"""Okabe and Ito 2008, the darker ones first."""
MARKERS = "osD^vP*X"
"""One for each colour."""
_HATCHES = ("", "//", "..", "xx", "--", "\\\\", "++", "oo")
PANEL = (4.2, 3.4)
"""Width and height of a panel in inches."""
_LINE = 0.24
_NAMED = 26


def save(figure: Figure, file: Path | IO[bytes], *, form: str | None = None) -> None:
    """Write a figure as png, svg or pdf; equal figures give equal files.

    Args:
        figure: what was drawn.
        file: where it goes.
        form: its format; None takes the suffix of a path.
    """
    import matplotlib

    form = form or str(file).rpartition(".")[2]
    absent = {"png": "Software", "pdf": "CreationDate"}.get(form, "Date")
    with matplotlib.rc_context({"svg.hashsalt": "prevalence", "svg.fonttype": "none"}):
        figure.savefig(file, format=form, dpi=150, metadata={absent: None})


def _correlations(study: Study, bootstrap: Bootstrap | None) -> Figure:
    """A panel a dimension, a line a metric, a marker a level; bars are bootstrap intervals."""
    kind = study.convention.kinds[0]
    cells = [
        cell
        for cell in correlate(
            study.table,
            study.convention,
            bootstrap=bootstrap,
            all_pairs=study.all_pairs,
            own=study.own,
        )
        if cell.kind == kind
    ]
    rows = list(dict.fromkeys(cell.row for cell in cells))
    dimensions = list(dict.fromkeys(cell.dimension for cell in cells))
    levels = list(dict.fromkeys(cell.level for cell in cells))
    height = max(PANEL[1], 1.2 + _LINE * len(rows) * len(levels))
    figure, axes = panel_grid(len(dimensions), (PANEL[0], height), sharey=True)
    places = {row: -place for place, row in enumerate(rows)}
    for axis, dimension in zip(axes, dimensions, strict=False):
        for number, level in enumerate(levels):
            chosen = [c for c in cells if (c.dimension, c.level) == (dimension, level)]
            shift = (len(levels) - 1) / 2 - number
            lines = [places[cell.row] + shift * 0.7 / len(levels) for cell in chosen]
            _dots(axis, chosen, lines, level, number)
        axis.axvline(0, color="0.6", linewidth=0.8, zorder=0)
        axis.set_title(axis_label(dimension))
        axis.set_xlabel(f"{kind} with people")
        axis.set_yticks([*places.values()], [axis_label(row) for row in rows])
    add_legend(figure, axes[0], len(levels) > 1)
    return figure


def _dots(
    axis: Axes, cells: Sequence[Correlation], lines: Sequence[float], label: str, number: int
) -> None:
    values = np.array([cell.value for cell in cells])
    ends = np.array([(cell.value - cell.low, cell.high - cell.value) for cell in cells])
    with_bars = bool(cells) and not np.isnan(ends).all()
    axis.errorbar(
        values,
        lines,
        # A percentile interval need not hold the value itself.
        xerr=np.clip(np.nan_to_num(ends.T), 0, None) if with_bars else None,
        fmt=MARKERS[number % len(MARKERS)],
        color=colour_of(number),
        markersize=4,
        linewidth=1,
        label=label,
    )


def _candidates(study: Study, _: Bootstrap | None) -> Figure:
    """A panel a dimension, a box a metric: its coefficients over the systems, each one a dot."""
    kind = study.convention.kinds[0]
    found: dict[str, dict[str, np.ndarray[Any, Any]]] = {}
    for pair in study.pairs:
        metric, human = score_grids(study.table, pair, missing=study.convention.missing)
        values = coefficients(kind, metric.T, human.T).value
        found.setdefault(pair.dimension, {})[pair.row] = values
    rows = list(dict.fromkeys(row for boxes in found.values() for row in boxes))
    height = max(PANEL[1], 1.2 + 1.5 * _LINE * len(rows))
    figure, axes = panel_grid(len(found), (PANEL[0], height))
    for axis, (dimension, boxes) in zip(axes, found.items(), strict=False):
        _boxes(axis, boxes, across=True)
        axis.axvline(0, color="0.6", linewidth=0.8, zorder=0)
        axis.set_title(axis_label(dimension))
        axis.set_xlabel(f"{kind} with people, by system")
    return figure


def _scores(study: Study, _: Bootstrap | None) -> Figure:
    """A panel a dimension, a box a system: the mean human scores of its summaries."""
    table = _rated(study.table)
    figure, axes = panel_grid(len(table.dimensions), (max(PANEL[0], 0.5 * len(table.systems)), 3.4))
    for axis, dimension in zip(axes, table.dimensions, strict=False):
        grid = table.mean_human(dimension)
        boxes = {system: grid[:, place] for place, system in enumerate(table.systems)}
        _boxes(axis, boxes, across=False)
        axis.set_title(axis_label(dimension))
        axis.set_ylabel("mean human score")
    return figure


def _boxes(axis: Axes, boxes: Mapping[str, np.ndarray[Any, Any]], *, across: bool) -> None:
    values = [column[~np.isnan(column)] for column in boxes.values()]
    places = np.arange(len(values), dtype=float)
    style = {"color": "black", "linewidth": 0.9}
    axis.boxplot(
        values,
        positions=places,
        widths=0.6,
        orientation="horizontal" if across else "vertical",
        patch_artist=True,
        showfliers=False,
        boxprops={"facecolor": COLOURS[5], "edgecolor": "black", "linewidth": 0.9},
        medianprops={"color": COLOURS[1], "linewidth": 1.6},
        whiskerprops=style,
        capprops=style,
    )
    for place, column in zip(places, values, strict=True):
        spread = np.full(len(column), place)
        if len(column) > 1:
            spread += np.linspace(-0.18, 0.18, len(column))
        points = (column, spread) if across else (spread, column)
        axis.plot(*points, ".", color="black", markersize=2.5, alpha=0.6)
    labels = [axis_label(name) for name in boxes]
    if across:
        axis.set_yticks(places, labels)
        axis.invert_yaxis()
    else:
        axis.set_xticks(places, labels, rotation=60, ha="right")


def _quality(study: Study, _: Bootstrap | None) -> Figure:
    """A panel a dimension, a dot a system: its quality against a metric's performance on it."""
    kind = study.convention.kinds[0]
    panels: dict[str, list[Pairing]] = {}
    for pair in study.pairs:
        panels.setdefault(pair.dimension, []).append(pair)
    figure, axes = panel_grid(len(panels), PANEL)
    rows = list(dict.fromkeys(pair.row for pairs in panels.values() for pair in pairs))
    for axis, (dimension, pairs) in zip(axes, panels.items(), strict=False):
        for pair in pairs:
            grids = score_grids(study.table, pair, missing=study.convention.missing)
            performance = coefficients(kind, grids[0].T, grids[1].T).value
            quality = system_means(grids[1], grids[1])[1]
            number = rows.index(pair.row)
            marker = MARKERS[number % len(MARKERS)]
            colour = colour_of(number)
            axis.plot(quality, performance, marker, color=colour, label=axis_label(pair.row))
        axis.axhline(0, color="0.6", linewidth=0.8, zorder=0)
        axis.set_title(axis_label(dimension))
        axis.set_xlabel("quality (mean human score)")
        axis.set_ylabel(f"performance ({kind})")
    add_legend(figure, axes[0], len(rows) > 1)
    return figure


def _ratings(study: Study, _: Bootstrap | None) -> Figure:
    """A panel a dimension, a bar a score: how often people gave it."""
    table = _rated(study.table)
    figure, axes = panel_grid(len(table.dimensions), (3.2, 2.8), sharey=True)
    for axis, (dimension, ratings) in zip(axes, table.human.items(), strict=False):
        scores, counts = np.unique(ratings[~np.isnan(ratings)], return_counts=True)
        step = float(np.diff(scores).min()) if scores.size > 1 else 1.0
        axis.bar(scores, counts, width=0.8 * step, color=COLOURS[0], edgecolor="black")
        axis.set_title(axis_label(dimension))
        axis.set_xlabel("score")
        axis.set_ylabel("ratings")
    return figure


def _means(study: Study, _: Bootstrap | None) -> Figure:
    """A group a system, a bar a dimension: mean human scores."""
    table = _rated(study.table)
    width = max(5.0, 0.22 * len(table.systems) * (len(table.dimensions) + 1))
    figure, (axis,) = panel_grid(1, (width, 3.6))
    bar = 0.8 / len(table.dimensions)
    for number, dimension in enumerate(table.dimensions):
        axis.bar(
            np.arange(len(table.systems)) + (number + 0.5) * bar - 0.4,
            mean_coefficient(table.mean_human(dimension).T),
            width=bar,
            color=colour_of(number),
            hatch=_HATCHES[number % len(_HATCHES)],
            edgecolor="black",
            linewidth=0.6,
            label=axis_label(dimension),
        )
    axis.set_xticks(
        range(len(table.systems)),
        [axis_label(name) for name in table.systems],
        rotation=60,
        ha="right",
    )
    axis.set_ylabel("mean human score")
    add_legend(figure, axis, True)
    return figure


FIGURES: Mapping[str, Callable[[Study, Bootstrap | None], Figure]] = {
    "correlations": _correlations,
    "candidates": _candidates,
    "scores": _scores,
    "quality": _quality,
    "ratings": _ratings,
    "means": _means,
}
"""The figures by name, each of a study and of the bootstrap for intervals, if there are to be any.

They are of the first coefficient, and raise an InputError where the tables lack what they show.
"""


def _rated(table: RatingTable) -> RatingTable:
    if not table.human:
        raise InputError("no human ratings to draw; add a file that holds some")
    return table


def panel_grid(
    count: int, size: tuple[float, float], *, sharey: bool = False
) -> tuple[Figure, list[Axes]]:
    """A figure of equal panels without frames.

    Args:
        count: of panels, at least 1.
        size: of each in inches.
        sharey: whether they have one scale upwards.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError(
            "figures need matplotlib: pip install 'prevalence[figures]'"
        ) from None
    columns = min(count, 4) if sharey else min(count, 3)
    rows = math.ceil(count / columns)
    figure = Figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharey=sharey)
    axes: list[Axes] = [*grid.flat]
    for unused in axes[count:]:
        unused.set_visible(False)
    for axis in axes[:count]:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
    return figure, axes


def add_legend(figure: Figure, axis: Axes, wanted: bool) -> None:
    """Name what a panel shows below all of them, where that is wanted."""
    if wanted:
        handles, labels = axis.get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside lower center", ncols=min(len(labels), 4), fontsize=8
        )


def colour_of(number: int) -> str:
    """The colour of the series of that number; they come round again."""
    return COLOURS[number % len(COLOURS)]


def axis_label(text: str) -> str:
    """A name as a label: short, on one line, and no formula to matplotlib."""
    shown = one_line(text)
    shown = shown if len(shown) <= _NAMED else shown[: _NAMED - 1] + "…"
    # Matplotlib leaves labels that begin with _ out of a legend.
    shown = f" {shown}" if shown.startswith("_") else shown
    return shown.replace("$", r"\$")
