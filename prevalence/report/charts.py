"""Plots of rows, drawn with matplotlib (extra ``figures``) in the style of :mod:`.figures`.

Each says what it needs: a plot of rows that lack it is refused when it was asked for by name, and
left out otherwise.
"""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.errors import InputError
from prevalence.report.contents import unseen_figures
from prevalence.report.figures import (
    COLOURS,
    MARKERS,
    PANEL,
    add_legend,
    axis_label,
    colour_of,
    panel_grid,
    save,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from prevalence.report.contents import Contents
    from prevalence.report.parts import ReportSummary

__all__ = ["CHARTS", "Chart", "available", "chart", "svg_of"]

_BINS = 10


class Chart(NamedTuple):
    """A plot.

    Attributes:
        about: what it shows, in one sentence.
        needs: what rows must have for it.
        there: whether they have.
        draw: makes the figure.
    """

    about: str
    needs: str
    there: Callable[[Contents], bool]
    draw: Callable[[Contents], Figure]


def chart(name: str, contents: Contents) -> Figure:
    """Draw a plot.

    Args:
        name: one of :data:`CHARTS`.
        contents: the rows.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        InputError: the rows lack what the plot shows.
    """
    found = CHARTS[name]
    if not found.there(contents):
        raise InputError(f"nothing to draw in {name!r}: it needs {found.needs}")
    return found.draw(contents)


def available(contents: Contents) -> list[str]:
    """Names of the plots that the rows have something for."""
    return [name for name, found in CHARTS.items() if found.there(contents)]


def svg_of(figure: Figure) -> bytes:
    """A figure as SVG; equal figures give equal bytes."""
    file = io.BytesIO()
    save(figure, file, form="svg")
    return file.getvalue()


def _summaries(contents: Contents) -> Iterator[ReportSummary]:
    for product in contents.products:
        yield from product.summaries.values()


def _by_system(contents: Contents) -> dict[str, list[ReportSummary]]:
    """Scored summaries by system, in the order of the systems table."""
    found: dict[str, list[ReportSummary]] = {line.name: [] for line in contents.systems}
    for summary in _summaries(contents):
        if "prevalence" in summary.values:
            found[summary.system].append(summary)
    return {name: summaries for name, summaries in found.items() if summaries}


def _scored(contents: Contents) -> bool:
    return any("prevalence" in summary.values for summary in _summaries(contents))


def _covered(contents: Contents) -> bool:
    return any({"prevalence", "coverage"} <= {*s.values} for s in _summaries(contents))


def _systems(contents: Contents) -> Figure:
    lines = [line for line in contents.systems if line.statistics and line.statistics.summaries]
    height = max(2.0, 1.1 + 0.34 * len(lines))
    ends: set[str] = set()
    figure, (axis, *_) = panel_grid(1, (6.0, height))
    for place, line in enumerate(lines):
        statistics = line.statistics
        if statistics is None:
            continue
        value, interval = statistics.prevalence, statistics.interval
        if interval is not None:
            axis.plot([interval.low, interval.high], [place, place], color=COLOURS[0], linewidth=2)
        named = not place
        axis.plot(value, place, MARKERS[0], color=COLOURS[0], label="mean" if named else None)
        for number, end in enumerate(("floor", "ceiling"), start=1):
            if end in line.means:
                axis.plot(line.means[end], place, MARKERS[number], color=colour_of(number),
                          markersize=5, label=None if end in ends else end)  # fmt: skip
                ends.add(end)
    axis.set_yticks(range(len(lines)), [axis_label(line.name) for line in lines])
    axis.set_ylim(len(lines) - 0.5, -0.5)
    axis.set_xlim(0, None)
    axis.set_xlabel("prevalence, with 95% bootstrap interval over products")
    add_legend(figure, axis, len(axis.get_legend_handles_labels()[1]) > 1)
    return figure


def _prefixes(contents: Contents) -> Figure:
    figure, (axis, *_) = panel_grid(1, (6.0, 3.8))
    for number, (name, summaries) in enumerate(_by_system(contents).items()):
        curves = [summary.prefix_curve for summary in summaries if summary.prefix_curve]
        points = []
        for size in range(1, max(map(len, curves), default=0) + 1):
            reaching = [curve[size - 1] for curve in curves if len(curve) >= size]
            # The mean over a few long summaries says nothing of the others.
            if 2 * len(reaching) < len(curves):
                break
            points.append(math.fsum(reaching) / len(reaching))
        _line(axis, range(1, len(points) + 1), points, name, number)
    axis.set_ylim(0, None)
    axis.locator_params(axis="x", integer=True)
    axis.set_xlabel("sentences kept, the best supported first")
    axis.set_ylabel("mean prevalence")
    add_legend(figure, axis, True)
    return figure


def _supports(contents: Contents) -> Figure:
    figure, (axis, *_) = panel_grid(1, (6.0, 3.8))
    edges = np.linspace(0, 1, _BINS + 1)
    for number, (name, summaries) in enumerate(_by_system(contents).items()):
        shares = [
            sentence.support / summary.n_reviews
            for summary in summaries
            for sentence in summary.sentences
            if sentence.support is not None and sentence.mask is None and summary.n_reviews
        ]
        counts = np.histogram(shares, edges)[0] / max(len(shares), 1)
        _line(axis, (edges[:-1] + edges[1:]) / 2, counts.tolist(), name, number, style="steps-mid")
    axis.set_xlim(0, 1)
    axis.set_ylim(0, None)
    axis.set_xlabel("share of the reviews that support a sentence")
    axis.set_ylabel("share of the sentences that count")
    add_legend(figure, axis, True)
    return figure


def _coverage(contents: Contents) -> Figure:
    figure, (axis, *_) = panel_grid(1, (5.2, 4.2))
    for number, (name, summaries) in enumerate(_by_system(contents).items()):
        pairs = [
            (summary.values["coverage"], summary.values["prevalence"])
            for summary in summaries
            if "coverage" in summary.values
        ]
        if not pairs:
            continue
        x, y = np.array(pairs).T
        marker, colour = MARKERS[number % len(MARKERS)], colour_of(number)
        axis.plot(x, y, marker, color=colour, markersize=3, alpha=0.35, linestyle="none")
        axis.plot(x.mean(), y.mean(), marker, color=colour, markersize=9, markeredgecolor="black",
                  linestyle="none", label=axis_label(name))  # fmt: skip
    axis.set_xlim(0, None)
    axis.set_ylim(0, None)
    axis.set_xlabel("coverage (of what reviews say, said by the summary)", fontsize=9)
    axis.set_ylabel("prevalence (of what it says, backed by reviews)", fontsize=9)
    add_legend(figure, axis, True)
    return figure


def _curves(contents: Contents, name: str) -> list[tuple[str, list[Any]]]:
    """A curve of each calibration that has it, on the pairs that no choice has seen."""
    found = []
    for result in contents.calibrations:
        points = (unseen_figures(result).get("curves") or {}).get(name)
        if points:
            found.append((str(result["scorer"]), points))
    return found


def _reliability(contents: Contents) -> Figure:
    figure, (axis, *_) = panel_grid(1, PANEL)
    axis.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, zorder=0)
    for number, (name, points) in enumerate(_curves(contents, "reliability")):
        _line(axis, [p[0] for p in points], [p[1] for p in points], name, number)
    axis.set_xlabel("mean probability of the bin")
    axis.set_ylabel("share that is entailed")
    add_legend(figure, axis, True)
    return figure


def _roc(contents: Contents) -> Figure:
    figure, (axis, *_) = panel_grid(1, PANEL)
    axis.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, zorder=0)
    for number, (name, points) in enumerate(_curves(contents, "roc")):
        _line(axis, [p[0] for p in points], [p[1] for p in points], name, number, every=10)
    axis.set_xlabel("false supports")
    axis.set_ylabel("supports found")
    axis.set_aspect("equal")
    add_legend(figure, axis, True)
    return figure


def _heat_map(contents: Contents) -> Figure:
    cells = contents.defined_correlations
    panels = list(dict.fromkeys((cell["level"], cell["kind"]) for cell in cells))
    rows = list(dict.fromkeys(cell["row"] for cell in cells))
    columns = list(dict.fromkeys(cell["dimension"] for cell in cells))
    size = (1.8 + 0.62 * len(columns), 1.5 + 0.34 * len(rows))
    figure, axes = panel_grid(len(panels), size, sharey=True)
    image = None
    for axis, (level, kind) in zip(axes, panels, strict=False):
        grid = np.full((len(rows), len(columns)), np.nan)
        for cell in cells:
            if (cell["level"], cell["kind"]) == (level, kind):
                grid[rows.index(cell["row"]), columns.index(cell["dimension"])] = cell["value"]
        # Purple and orange are told apart by every colour vision; 0 is white.
        image = axis.imshow(grid, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
        _write_values(axis, grid)
        axis.set_title(axis_label(f"{level} level, {kind}"), fontsize=10)
        axis.set_xticks(range(len(columns)), [axis_label(c) for c in columns],
                        rotation=45, ha="right")  # fmt: skip
        axis.set_yticks(range(len(rows)), [axis_label(row) for row in rows])
        axis.spines[:].set_visible(False)
    if image is not None:
        figure.colorbar(image, ax=axes, label="correlation", shrink=0.9)
    return figure


def _write_values(axis: Axes, grid: np.ndarray[Any, Any]) -> None:
    for (row, column), value in np.ndenumerate(grid):
        if not math.isnan(value):
            shown = f"{value:.2f}".replace("0.", ".").replace("-", "−")
            axis.text(column, row, shown, ha="center", va="center", fontsize=8,
                      color="white" if abs(value) > 0.65 else "black")  # fmt: skip


def _racing(contents: Contents) -> Figure:
    figure, (axis, *_) = panel_grid(1, (5.0, 4.0))
    series: dict[str, list[tuple[int, int]]] = {}
    for extract in contents.extracts:
        calls = extract["calls"]
        kind = "racing" if extract.get("delta") else "exact"
        asked = int(calls["reviews"])
        name = f"{extract['system']}, {kind}"
        series.setdefault(name, []).append((asked + int(calls["avoided"]), asked))
    most = max(total for points in series.values() for total, _ in points)
    axis.plot([1, most], [1, most], color="0.6", linewidth=0.8, zorder=0)
    for number, (name, points) in enumerate(series.items()):
        x, y = np.array(points).T
        axis.plot(x, y, MARKERS[number % len(MARKERS)], color=colour_of(number), markersize=4,
                  linestyle="none", label=axis_label(name))  # fmt: skip
    axis.set_xlabel("pairs of a review and a candidate sentence, by product")
    axis.set_ylabel("pairs asked (grey: all)")
    axis.set_xlim(0, None)
    axis.set_ylim(0, None)
    add_legend(figure, axis, True)
    return figure


def _line(
    axis: Axes, x: Iterable[float], y: Sequence[float], name: str, number: int, *,
    every: int = 1, style: str = "default",
) -> None:  # fmt: skip
    axis.plot(
        list(x), y, color=colour_of(number), marker=MARKERS[number % len(MARKERS)], markersize=4,
        markevery=every, linewidth=1.3, drawstyle=style, label=axis_label(name),
    )  # fmt: skip


CHARTS: Mapping[str, Chart] = {
    "systems": Chart(
        "Prevalence by system, with intervals.", "rows of prevalence score", _scored, _systems
    ),
    "prefixes": Chart(
        "Prevalence of the best supported sentences, by how many are kept.",
        "rows of prevalence score with prefix_curve",
        lambda contents: any(s.prefix_curve for s in _summaries(contents)),
        _prefixes,
    ),
    "supports": Chart(
        "How many reviews support a sentence that counts, by system.",
        "rows of prevalence score",
        _scored,
        _supports,
    ),
    "coverage": Chart(
        "Prevalence against coverage: small marks are summaries, large ones their means.",
        "rows of prevalence score with a profile that has coverage",
        _covered,
        _coverage,
    ),
    "reliability": Chart(
        "Calibration: probabilities against what is entailed.",
        "a result of prevalence calibrate --curves",
        lambda contents: bool(_curves(contents, "reliability")),
        _reliability,
    ),
    "roc": Chart(
        "ROC: supports found against false supports, over all thresholds.",
        "a result of prevalence calibrate --curves",
        lambda contents: bool(_curves(contents, "roc")),
        _roc,
    ),
    "correlations": Chart(
        "Correlations of metrics with people.",
        "a defined correlation in a result of prevalence meta correlate --format json",
        lambda contents: bool(contents.defined_correlations),
        _heat_map,
    ),
    "racing": Chart(
        "Pairs that the search for a summary asked, against all pairs.",
        "records that prevalence summarize made",
        lambda contents: bool(contents.extracts),
        _racing,
    ),
}
"""The plots by name."""
