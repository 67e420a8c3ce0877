"""`prevalence plot`, `prevalence report --plots` and `prevalence calibrate --curves`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("matplotlib")

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]


@pytest.fixture
def rows(score: Run, write: Write, boots: dict[str, Any], tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    assert score(write(boots), "--output", path).exit_code == 0
    return path


def test_all_that_the_rows_have_is_drawn(run: Run, rows: Path, tmp_path: Path) -> None:
    result = run("plot", rows, "--output", tmp_path / "plots")
    assert result.exit_code == 0, result.output
    names = sorted(path.name for path in (tmp_path / "plots").iterdir())
    assert names == ["prefixes.png", "supports.png", "systems.png"]
    assert result.stdout.splitlines()[0].endswith("systems.png")


def test_some_plots_in_another_format(run: Run, rows: Path, tmp_path: Path) -> None:
    folder = tmp_path / "plots"
    run("plot", rows, "--output", folder, "--figure", "systems, supports", "--format", "svg")
    assert sorted(path.name for path in folder.iterdir()) == ["supports.svg", "systems.svg"]


def test_a_figure_named_twice_is_drawn_once(run: Run, rows: Path, tmp_path: Path) -> None:
    names = ("--figure", "systems,", "--figure", "systems")
    result = run("plot", rows, "--output", tmp_path / "plots", *names)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [str(tmp_path / "plots" / "systems.png")]


@pytest.mark.parametrize(
    ("figure", "message"),
    [("curve", "'curve' is none of systems"), ("roc", "needs a result of prevalence calibrate")],
)
def test_what_cannot_be_drawn_is_said(
    run: Run, rows: Path, tmp_path: Path, figure: str, message: str
) -> None:
    result = run("plot", rows, "--output", tmp_path / "plots", "--figure", figure)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "plots").exists()


def test_plots_stand_in_the_report(run: Run, rows: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    assert run("report", rows, "--plots", "-o", page).exit_code == 0
    assert page.read_text("utf-8").count('<img src="data:image/svg+xml;base64,') == 3


def test_curves_of_a_calibration(run: Run, write: Write, tmp_path: Path) -> None:
    # Unigram precision: 1, .5 and 0; two of the pairs are positive.
    pairs = [
        {"premise": "warm boots", "hypothesis": "warm boots", "label": 1},
        {"premise": "warm", "hypothesis": "warm boots", "label": 0},
        {"premise": "boots", "hypothesis": "warm boots", "label": 1},
        {"premise": "cold", "hypothesis": "warm boots", "label": 0},
    ]
    arguments = ("calibrate", write(*pairs), "--scorer", "rouge1-precision", "--curves", "--json")
    curves = json.loads(run(*arguments, "--quiet").stdout)["dev"]["curves"]
    assert curves["roc"] == [[0, 0], [0, 0.5], [0.5, 1], [1, 1]]
    assert curves["reliability"] == [[0, 0, 1], [0.5, 0.5, 2], [1, 1, 1]]


def test_curves_go_into_json(run: Run, write: Write) -> None:
    result = run("calibrate", write({"premise": "a", "hypothesis": "a", "label": 1}), "--curves")
    assert result.exit_code == 2
    assert "--curves goes with --json or --output" in result.stderr
