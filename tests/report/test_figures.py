"""Figures: what stands in them, and that equal figures give equal files."""

from __future__ import annotations

import builtins
from dataclasses import replace

import numpy as np
import pytest

from prevalence.errors import InputError, MissingDependencyError
from prevalence.meta.conventions import CONVENTIONS
from prevalence.meta.correlate import Bootstrap
from prevalence.meta.table import RatingTable
from prevalence.report.figures import COLOURS, FIGURES, axis_label, save
from prevalence.report.sheets import Study


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    return RatingTable(
        items=tuple("123456"),
        systems=("good", "bad", "co$t", "x" * 60),
        raters=("1", "2"),
        metrics={"rouge": rng.normal(size=(6, 4)), "judge.tone": rng.normal(size=(6, 4))},
        human={name: rng.integers(1, 6, (6, 4, 2)).astype(float) for name in ("tone", "depth")},
        samples={},
    )


@pytest.fixture
def study(table):
    pytest.importorskip("matplotlib")
    return Study(table, table, CONVENTIONS["default"], settings={}, own={}, all_pairs=False)


def draw(name, study):
    return FIGURES[name](study, Bootstrap(over="items", resamples=30))


def visible(figure):
    return [axis for axis in figure.axes if axis.get_visible()]


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_every_figure_is_drawn_the_same_again(study, tmp_path, name, suffix):
    files = []
    for number in range(2):
        path = tmp_path / f"{number}{suffix}"
        save(draw(name, study), path)
        files.append(path.read_bytes())
    assert files[0] == files[1]
    assert files[0].startswith(b"\x89PNG" if suffix == ".png" else b"<?xml")


def test_correlations_show_values_and_intervals(study):
    figure = draw("correlations", study)
    tone, depth = visible(figure)
    assert [tone.get_title(), depth.get_title()] == ["tone", "depth"]
    assert [label.get_text() for label in tone.get_yticklabels()] == ["rouge", "judge"]
    # Two levels a panel: markers of both metrics for tone, of one for depth.
    drawn = [container.lines[0].get_xdata() for container in tone.containers]
    assert [len(values) for values in drawn] == [2, 2]
    assert [len(c.lines[0].get_xdata()) for c in depth.containers] == [1, 1]
    assert all(container.has_xerr for container in tone.containers)


def test_quality_has_a_dot_a_system(study):
    for axis in visible(draw("quality", study)):
        sizes = [len(line.get_xdata()) for line in axis.get_lines() if line.get_marker() != "None"]
        assert set(sizes) == {4}


def test_ratings_count_all_ratings(study, table):
    heights = [
        sum(bar.get_height() for bar in axis.patches) for axis in visible(draw("ratings", study))
    ]
    assert heights == [48, 48]


def test_means_are_the_means(study, table):
    (axis,) = visible(draw("means", study))
    first = [bar.get_height() for bar in axis.containers[0]]
    np.testing.assert_allclose(first, table.mean_human("tone").mean(axis=0))
    labels = [label.get_text() for label in axis.get_xticklabels()]
    assert labels[2] == r"co\$t"
    assert labels[3].endswith("…")


def test_boxes_of_systems_and_of_metrics(study):
    assert len(visible(draw("scores", study))[0].get_xticks()) == 4
    assert len(visible(draw("candidates", study))[0].get_yticks()) == 2


def test_a_legend_names_a_system_that_begins_with_an_underscore():
    axis = pytest.importorskip("matplotlib.figure").Figure().subplots()
    axis.plot([1], [1], label=axis_label("_mine"))
    assert axis.get_legend_handles_labels()[1] == [" _mine"]


def test_without_ratings_or_without_matplotlib(study, table, monkeypatch):
    for name in FIGURES:
        with pytest.raises(InputError):
            draw(name, replace(study, table=replace(table, human={})))
    real = builtins.__import__

    def without(name, *arguments, **extra):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **extra)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependencyError, match=r"prevalence\[figures\]"):
        draw("means", study)


def test_colours_differ_in_lightness_or_hue_for_dichromats():
    # Protanopes and deuteranopes lose the red-green axis: what stays is roughly blue against
    # yellow, and lightness. Any two colours must differ in one of the two.
    def seen(colour):
        red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        return np.array([0.3 * red + 0.59 * green + 0.11 * blue, blue - (red + green) / 2])

    points = [seen(colour) for colour in COLOURS]
    apart = [np.abs(a - b).max() for n, a in enumerate(points) for b in points[:n]]
    assert min(apart) > 0.08
