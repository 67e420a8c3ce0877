"""`prevalence score --ceiling`, and what the table and the explanation say beside the score."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from prevalence.report.console import explanation, make_console, system_table
from prevalence.scored import ScoredSentence, ScoredSummary
from prevalence.scoring.systems import SystemTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]


def test_the_share_stands_in_rows_table_and_explanation(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    # "Warm boots." (11 characters, 2 of 3 reviews). The reviews' sentences: "Such warm boots." is
    # implied by reviews 0 and 1 (2 of 3 words), "warm warm boots." likewise, "they leak badly." by
    # review 2. Greedy takes the first, which has 16 characters: 2/3 too. The longer summary has
    # 32 characters: the second sentence repeats the first, so the third follows: (2 + 1) / (3 · 2).
    output = tmp_path / "rows.jsonl"
    result = score(write(boots), "--ceiling", "--explain", "--output", output)
    assert result.exit_code == 0
    good, double = [json.loads(line) for line in output.read_text().splitlines()]
    assert (good["ceiling"], good["ceiling_share"]) == (2 / 3, 1.0)
    assert (double["ceiling"], double["prevalence"]) == (0.5, 1 / 3)
    assert "|ceiling:greedy|" in good["signature"]
    assert "prevalence 0.333 · 67% of the ceiling 0.500 · 3 reviews" in result.stdout
    assert "best supported first: 0.667, 0.500, 0.333" in result.stdout
    header, first = [
        line.split()
        for line in result.stdout.splitlines()
        if "100%" in line or "of ceiling" in line
    ][-2:]
    assert header[4:6] == ["of", "ceiling"]
    assert "100%" in first
    assert "--ceiling: the first records take at most 9 more pairs" in result.stderr
    assert "of the 9 pairs of a review and a sentence of the reviews" in result.stderr
    assert "2 summaries scored, 0 failed; of 19 pairs 3 were not asked (masked" in result.stderr
    again = score(write(boots), "--ceiling", "--output", output)
    assert "2 rows were in" in again.stderr
    assert "scores of other settings" in score(write(boots), "--output", output).stderr


def test_without_it_there_is_no_column(score: Run, write: Write, boots: dict[str, Any]) -> None:
    result = score(write(boots))
    assert "ceiling" not in result.stdout + result.stderr
    assert "contradict" not in result.stdout


def row(number: int, contradicts: tuple[int, ...], against: tuple[int, ...]) -> ScoredSummary:
    known = {"trivial": False, "redundant_with": None, "support": 1, "supporting_reviews": (0,)}
    first = ScoredSentence("It fits.", 0, 8, **known, contradicting_reviews=(), contradicts=())
    second = ScoredSentence(
        "Small.", 9, 15, **known, contradicting_reviews=against, contradicts=contradicts
    )
    return ScoredSummary(f"p{number}", "s", 0.25, 4, (first, second), "prev|v:1")


def test_contradictions_in_the_table_and_the_explanation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Of 16 answers about sentences 3 contradict; one sentence of 4 contradicts an earlier one.
    rows = [row(0, (0,), (1, 2, 3)), row(1, (), ())]
    table = SystemTable()
    for entry in rows:
        table.add(entry)
    console = make_console()
    console.print(system_table(table.statistics()))
    console.print(explanation(rows[0]))
    shown = capsys.readouterr().out
    assert shown.splitlines()[0].split()[-2:] == ["contradicted", "self-contradicting"]
    assert shown.splitlines()[1].split()[-2:] == ["19%", "25%"]
    assert "contradicts 0 · against 1, 2, 3" in shown
