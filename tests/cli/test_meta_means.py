"""`prevalence meta means`: intervals of means, and differences from one system."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]

ITEMS = 8
SCORES = {
    "low": [1, 2, 1, 3, 2, 1, 2, 2],
    "high": [3, 3, 4, 3, 5, 2, 4, None],
    "same": [2, 1, 2, 2, 3, 1, 1, 2],
}


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.jsonl"
    rows = [
        {"id": f"p{item}", "system": system, "human": {"fit": found[item]}, "metrics": {"ter": 0}}
        for system, found in SCORES.items()
        for item in range(ITEMS)
        if found[item] is not None
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rows_of(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    found: list[dict[str, Any]] = json.loads(result.stdout)["rows"]
    return found


def test_differences_and_their_p_are_those_of_all_swaps_counted_out(
    run: Run, ratings: Path
) -> None:
    rows = rows_of(run("meta", "means", str(ratings), "--against", "low", "--format", "json"))
    found = {row["system"]: row for row in rows if "against" in row}
    assert list(found) == ["high", "same"]
    for system, row in found.items():
        pairs = [(a, b) for a, b in zip(SCORES["low"], SCORES[system], strict=True) if b]
        gaps = np.array([b - a for a, b in pairs], float)
        swaps = np.array([*itertools.product((1, -1), repeat=len(gaps))])
        exact = np.mean(np.abs((swaps * gaps).mean(axis=1)) >= abs(gaps.mean()) - 1e-12)
        assert row["items"] == len(pairs)
        assert row["difference"] == pytest.approx(gaps.mean())
        assert row["p"] == pytest.approx(exact, abs=0.02)
        assert row["low"] <= row["difference"] <= row["high"]
    assert found["high"]["low"] > 0 > found["same"]["low"]


def test_intervals_hold_the_means_and_are_written_beside_them(run: Run, ratings: Path) -> None:
    rows = rows_of(run("meta", "means", str(ratings), "--intervals", "--format", "json"))
    for row in rows:
        own = np.array([value for value in SCORES[row["system"]] if value], float)
        rng = np.random.default_rng(1)
        drawn = rng.choice(own, (4000, len(own))).mean(axis=1)
        # The expanded interval is a little wider than the plain one.
        low, high = np.quantile(drawn, [0.025, 0.975])
        assert row["fit"] == pytest.approx(own.mean())
        assert low - 0.3 < row["fit.low"] <= low + 0.05
        assert high - 0.05 <= row["fit.high"] < high + 0.3
    shown = run("meta", "means", str(ratings), "--intervals").stdout
    assert "in brackets: 95% bootstrap interval over items; none with fewer than 6" in shown


def test_what_was_drawn_and_compared_stands_in_the_settings(run: Run, ratings: Path) -> None:
    given = ("--against", "low", "--resamples", "50", "--seed", "7")
    result = run("meta", "means", str(ratings), *given, "--of", "both", "--format", "json")
    settings = json.loads(result.stdout)["settings"]
    assert {"against": "low", "resamples": 50, "seed": 7}.items() <= settings.items()
    plain = run("meta", "means", str(ratings), "--format", "json")
    assert "seed" not in json.loads(plain.stdout)["settings"]
    assert run("meta", "means", str(ratings), *given, "--of", "both").stdout.count(
        "low is best: ter"
    ) == 2  # fmt: skip


def test_few_items_have_no_interval(run: Run, ratings: Path) -> None:
    lines = ratings.read_text(encoding="utf-8").splitlines(keepends=True)
    ratings.write_text("".join(line for line in lines if '"p1"' in line or '"p2"' in line))
    rows = rows_of(run("meta", "means", str(ratings), "--intervals", "--against", "low",
                       "--format", "json"))  # fmt: skip
    assert not any("fit.low" in row for row in rows)
    assert all(row["low"] is None for row in rows if "against" in row)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--against", "lowest"), "--against: no system 'lowest'; choose one of low, high, same"),
        (("--seed", "3"), "--seed goes with --intervals or --against"),
    ],
)
def test_options_that_do_not_fit(
    run: Run, ratings: Path, given: tuple[str, ...], message: str
) -> None:
    result = run("meta", "means", str(ratings), *given)
    assert result.exit_code == 2
    assert message in result.stderr


def test_means_with_marks(run: Run, repository: Path) -> None:
    examples = str(repository / "examples" / "ratings.jsonl")
    shown = run("meta", "means", examples, "--mark", 2).stdout
    assert re.search(r"^balanced +4\.333¹ +3\.833¹ +4\.083¹$", shown, re.MULTILINE)
    assert re.search(r"^trivial +4\.000 +1\.278 +2\.639$", shown, re.MULTILINE)
    # 4.333 and 3.833 are cut to 4 and 3, whose mean is 3.5.
    words = ("--average-rounded", "--rounding", "truncate", "--decimals", 0, "--mark", 0)
    assert re.search(r"^balanced +4 +3 +3$", run("meta", "means", examples, *words).stdout, re.M)


def test_a_dimension_and_a_metric_of_one_name_have_a_column_each(run: Run, write: Write) -> None:
    human = {"tone": [2, 4], "depth": [1, 2]}
    path = write({"id": "a", "system": "s", "human": human, "metrics": {"tone": 9}})
    shown = run("meta", "means", path, "--of", "both", "--mark", 0, "--format", "csv").stdout
    assert shown == "system,people.tone,depth,tone\ns,3.0,1.5,9.0\n"


def test_means_of_what_the_inputs_lack_name_the_other(run: Run, write: Write) -> None:
    scored = write({"id": 1, "system": "x", "metrics": {"m": 1}})
    lacking = run("meta", "means", scored)
    assert lacking.exit_code == 2
    assert "--of human: the inputs hold no ratings; add a file, or use --of metrics" in (
        lacking.stderr
    )
    rated = write({"id": 1, "system": "x", "human": {"tone": 1}})
    assert "hold no metrics; add a file, or use --of human" in (
        run("meta", "means", rated, "--of", "metrics").stderr
    )
