"""The latency benchmark at toy size: its steps are what they should be, and its ways agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks import reward_latency
from benchmarks.common import ROOT
from prevalence.errors import ConfigurationError
from prevalence.scorers.registry import open_scorer

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = [f"The strap number {k} is wide. It broke on day {k}." for k in range(12)]


def test_steps_share_their_reviews_and_differ_in_their_completions() -> None:
    first, second = reward_latency.steps(TEXTS, 5, 2)
    assert first.reviews == second.reviews
    assert first.completions != second.completions
    assert len(first.completions) == 64
    assert [len(set(group)) for group in first.reviews] == [5] * 64
    with pytest.raises(ConfigurationError, match="too few for 13"):
        next(reward_latency.steps(TEXTS, 13, 1))


def test_every_way_is_timed() -> None:
    scorer = open_scorer("rouge1-precision")
    rows = reward_latency.measure(scorer, TEXTS, 3, repeats=2, alone=True)
    assert [row["mode"] for row in rows] == ["one at a time", "usual", "latency"]
    assert [len(row["cold"]) for row in rows] == [1, 2, 2]
    assert [len(row["new"]) for row in rows[1:]] == [2, 2]


@pytest.mark.parametrize("wrong", [[0.5, 0.26], [0.5, None]])
def test_a_difference_is_noticed(wrong: list[float | None]) -> None:
    reward_latency.check([0.5, 0.25], [0.5, 0.25])
    with pytest.raises(SystemExit, match="rewards differ"):
        reward_latency.check(wrong, [0.5, 0.25])


def test_an_untrained_model_can_be_scored(tmp_path: Path) -> None:
    reward_latency.make_untrained(tmp_path, TEXTS, hidden=16, layers=1, heads=2)
    (step,) = reward_latency.steps(TEXTS, 2, 1)
    scorer = open_scorer(str(tmp_path), device="cpu")
    alone = reward_latency.one_at_a_time(scorer, step)
    assert len(alone) == 64
    assert None not in alone


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    example = str(ROOT / "examples" / "summaries.jsonl")
    reward_latency.main(
        ["--model", "rouge1-precision", "--reviews", "2", "--repeats", "1", "--data", example]
    )
    printed = capsys.readouterr().out
    assert "8 x 8 completions" in printed
    assert "latency" in printed
