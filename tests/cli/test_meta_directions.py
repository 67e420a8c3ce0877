"""A metric whose low values are good is treated as its mirror image, and a note says so."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]

TURNED = "low is good, so the signs of scores are turned round: ter"


@pytest.fixture
def mirrored(tmp_path: Path) -> Path:
    """Five systems on seven items; ter is 3 minus rouge-1, which people agree with."""
    chance = random.Random(5)
    path = tmp_path / "mirrored.jsonl"
    rows = []
    for item in range(7):
        for system in range(5):
            rating = chance.randint(1, 5)
            metric = rating / 5 + chance.random()
            rows.append(
                {
                    "id": f"p{item}",
                    "system": f"s{system}",
                    "metrics": {"rouge-1": metric, "ter": 3 - metric},
                    "human": {"coverage": rating},
                }
            )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def records(run: Run, mirrored: Path) -> Callable[..., list[dict[str, Any]]]:
    def found(command: str, *options: str) -> list[dict[str, Any]]:
        result = run("meta", command, str(mirrored), "--format", "json", *options)
        assert result.exit_code == 0, result.stderr
        told: list[dict[str, Any]] = json.loads(result.stdout)["rows"]
        return told

    return found


@pytest.mark.parametrize("level", ["system", "summary", "pooled"])
@pytest.mark.parametrize("test", ["permutation", "williams"])
def test_comparisons_see_no_difference_from_the_mirror_image(
    records: Any, run: Run, mirrored: Path, level: str, test: str
) -> None:
    if (level, test) == ("summary", "williams"):
        pytest.skip("Williams' test is for one coefficient")
    options = ("--compare", "rouge-1,ter", "--level", level, "--test", test)
    (found,) = (one for one in records("correlate", *options) if one["type"] == "comparison")
    assert found["value_first"] == pytest.approx(found["value_second"])
    assert found["value_first"] > 0.2
    signs = {one["row"]: one["value"] for one in records("correlate", "--level", level)}
    assert signs["ter"] == pytest.approx(-signs["rouge-1"])
    assert TURNED in run("meta", "correlate", str(mirrored), *options).stdout


def test_preferences_and_stability_of_the_mirror_image_are_the_same(
    records: Any, run: Run, mirrored: Path
) -> None:
    straight, turned = records("preferences")
    assert straight["correct"] == turned["correct"] > straight["random"]
    assert straight["correct_neighbours"] == turned["correct_neighbours"]
    straight, turned = records("stability")
    assert straight["meta"] == pytest.approx(turned["meta"])
    for command in ("preferences", "stability"):
        assert TURNED in run("meta", command, str(mirrored)).stdout


def test_metrics_of_which_high_is_good_have_no_such_note(run: Run) -> None:
    for command in ("preferences", "stability"):
        result = run("meta", command, "examples/ratings.jsonl")
        assert "low is good" not in result.stdout
