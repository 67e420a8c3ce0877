"""Plots: what stands in them, and that rows without their subject are refused."""

from __future__ import annotations

import numpy as np
import pytest

from prevalence.errors import InputError
from prevalence.report.charts import CHARTS, available, chart, svg_of
from prevalence.report.contents import Contents

CURVES = {
    "roc": [[0.0, 0.0], [0.25, 0.75], [1.0, 1.0]],
    "reliability": [[0.1, 0.2, 5], [0.9, 0.8, 3]],
}
CORRELATION = {"type": "correlation", "row": "rouge", "dimension": "tone", "kind": "kendall"}
CALLS = {"reviews": 60, "avoided": 40, "trivial": 1, "between": 2}


@pytest.fixture
def contents(rows):
    pytest.importorskip("matplotlib")
    found = Contents()
    for place, one in enumerate(rows):
        curve = [one["prevalence"] * 2, one["prevalence"]]
        found.add({**one, "prefix_curve": curve, "profile": {"coverage": place / 10}})
    found.add({"scorer": "r$uge", "threshold": 0.4, "dev": {"n": 3, "curves": CURVES}})
    cells = [{**CORRELATION, "level": "system", "value": 0.5},
             {**CORRELATION, "level": "summary", "value": -0.25}]  # fmt: skip
    found.add({"analysis": "correlate", "rows": cells})
    extract = {"sentences": [], "delta": 0.05, "calls": CALLS}
    found.add({"id": "p", "reviews": [], "summaries": {"greedy": {"text": "", "extract": extract}}})
    return found


def visible(figure):
    return [axis for axis in figure.axes if axis.get_visible()]


def lines(axis):
    return {line.get_label(): line.get_xydata().tolist() for line in axis.lines}


@pytest.mark.parametrize("name", CHARTS)
def test_every_plot_is_drawn_the_same_again_with_labelled_axes(contents, name):
    first, second = (svg_of(chart(name, contents)) for _ in range(2))
    assert first == second
    assert first.startswith(b"<?xml")
    figure = chart(name, contents)
    assert [axis for axis in visible(figure) if not (axis.get_xlabel() or axis.get_title()
            or axis.get_ylabel())] == []  # fmt: skip


def test_systems_have_their_means_and_intervals(contents):
    axis = visible(chart("systems", contents))[0]
    # good: (2/3 + 1) / 2, bad: (1/12 + 1/3) / 2, the better one above.
    assert [text.get_text() for text in axis.get_yticklabels()] == ["good", "bad"]
    means = [data[0] for data in (line.get_xydata() for line in axis.lines) if len(data) == 1]
    assert np.allclose(means, [[5 / 6, 0], [5 / 24, 1]])
    assert axis.get_ylim()[0] > axis.get_ylim()[1]


def test_prefix_curves_are_means_of_the_summaries_that_reach_so_far(contents):
    found = lines(visible(chart("prefixes", contents))[0])
    assert np.allclose(found["good"], [[1, 5 / 3], [2, 5 / 6]])


def test_supports_are_shares_of_sentences(contents):
    found = lines(visible(chart("supports", contents))[0])
    good, bad = ([share for _, share in found[name]] for name in ("good", "bad"))
    # good: 2/3 and 3/3; bad counts two sentences of four, 1/3 and 0, and 1/3 of the other product.
    assert good[6] == good[9] == 0.5
    assert bad[3] == pytest.approx(2 / 3)
    assert bad[0] == pytest.approx(1 / 3)


def test_coverage_stands_beside_prevalence(contents):
    found = lines(visible(chart("coverage", contents))[0])
    assert np.allclose(found["good"], [[0.1, 5 / 6]])


def test_curves_are_those_of_the_calibration(contents):
    assert lines(visible(chart("roc", contents))[0])[r"r\$uge"] == CURVES["roc"]
    found = lines(visible(chart("reliability", contents))[0])[r"r\$uge"]
    assert found == [[0.1, 0.2], [0.9, 0.8]]


def test_the_heat_map_has_a_panel_a_level_and_writes_its_values(contents):
    system, summary, bar = visible(chart("correlations", contents))
    assert [text.get_text() for text in system.texts] == [".50"]
    assert [text.get_text() for text in summary.texts] == ["−.25"]
    assert bar.get_ylim() == (-1, 1)


def test_racing_shows_what_was_asked_of_what(contents):
    found = lines(visible(chart("racing", contents))[0])
    assert found["greedy, racing"] == [[100, 60]]


def test_what_rows_lack_is_left_out_or_refused(rows):
    contents = Contents()
    contents.add(rows[0])
    assert available(contents) == ["systems", "supports"]
    with pytest.raises(InputError, match=r"'coverage': it needs rows .* profile"):
        chart("coverage", contents)
    assert available(Contents()) == []


def test_undefined_correlations_are_nothing_to_draw():
    contents = Contents()
    cell = {**CORRELATION, "level": "system", "value": None}
    contents.add({"analysis": "correlate", "rows": [cell]})
    assert available(contents) == []
    with pytest.raises(InputError, match="it needs a defined correlation"):
        chart("correlations", contents)
