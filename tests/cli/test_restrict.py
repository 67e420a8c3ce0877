"""`prevalence score` with conditions on statements and reviews."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]


def rated(boots: dict[str, Any]) -> dict[str, Any]:
    reviews = [{"text": t, "rating": 5 - 2 * k} for k, t in enumerate(boots["reviews"])]
    return {**boots, "reviews": reviews}


def test_conditions_shrink_m_and_n(score: Run, write: Write, boots: dict[str, Any]) -> None:
    # Ratings 5, 3, 1: the first two reviews imply "Warm boots.", the last "They leak."
    path = write(rated(boots))
    rows = [
        json.loads(line)
        for line in score(
            path, "--format", "jsonl", "--reviews-where", "rating <= 3",
            "--statements-where", "text has leak, leaks",
        ).stdout.splitlines()
    ]  # fmt: skip
    assert [(row["system"], row["prevalence"]) for row in rows] == [("good", None), ("double", 0.5)]
    assert rows[0]["warning"] == "no statement satisfies text has leak,leaks"
    assert rows[1]["sentences"][0]["supporting_reviews"] == [2]
    assert rows[1]["restriction"] == {
        "reviews": [1, 2], "of_reviews": 3, "sentences": [2], "of_sentences": 3,
    }  # fmt: skip


def test_records_without_anything_left_are_noted_and_no_failure(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    path = write(rated(boots))
    kept = score(path, "--reviews-where", "rating <= 3")
    assert "\n2 of 3 reviews counted\n" in kept.stderr
    assert "\n1 of 3 reviews counted\n" in score(path, "--first-reviews", "1").stderr
    result = score(path, "--statements-where", "text has leak")
    assert "counted" not in result.stderr
    boots["summaries"]["good"] = "Most reviewers say that they are warm boots."
    alone = score(write(rated(boots)), "--reviews-where", "rating <= 3", "--quantities").stderr
    assert "\n2 of 3 reviews counted; quantities were compared with these alone\n" in alone
    assert result.exit_code == 0
    assert "1 summary has no score: the conditions leave no statement" in result.stderr
    assert result.stdout.splitlines()[1].split()[:2] == ["double", "0.333"]
    nothing = score(path, "--reviews-where", "stars = 5", "--format", "jsonl")
    assert nothing.exit_code == 2
    assert "2 summaries have no score" in nothing.stderr
    assert "0 summaries scored, 0 failed\n" in nothing.stderr
    assert "not asked" not in nothing.stderr
    silent = score(path, "--reviews-where", "stars = 5", "--format", "jsonl", "--quiet")
    assert silent.exit_code == 2
    assert silent.stderr.startswith("error: 2 summaries have no score: the conditions leave no")
    why = "no review satisfies stars=5 (none has stars; the fields are: rating, text)"
    assert f'the first: "{why}"' in nothing.stderr
    first = json.loads(nothing.stdout.splitlines()[0])
    assert first["warning"] == why


def test_reviews_that_cannot_be_compared_are_noted(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    record = rated(boots)
    record["reviews"][0]["rating"] = "five"
    result = score(write(record), "--reviews-where", "Rating <= 3")
    told = "Rating: 1 of 3 reviews has no number (one has 'five') and is left out\n"
    assert told in result.stderr
    assert told not in score(write(record), "--reviews-where", "Rating <= 3", "--quiet").stderr


def test_a_continued_run_says_again_why_nothing_has_a_score(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    words = (write(boots), "--reviews-where", "stars = 5", "--output", tmp_path / "rows.jsonl")
    for _ in range(2):
        result = score(*words)
        assert result.exit_code == 2
        assert "2 summaries have no score: the conditions leave no" in result.stderr


def test_other_ratings_or_conditions_are_other_input(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    path, output = write(rated(boots)), tmp_path / "rows.jsonl"
    words = ("--output", output, "--reviews-where", "rating <= 3")
    assert score(path, *words).exit_code == 0
    assert "2 rows were in" in score(path, *words).stderr
    assert "scores of other settings" in score(path, *words[:3], "rating < 3").stderr
    other = rated(boots)
    other["reviews"][0]["rating"] = 1
    write(other)
    assert "whose reviews, name or summary have changed" in score(path, *words).stderr


def test_the_explanation_says_what_counts(score: Run, write: Write, boots: dict[str, Any]) -> None:
    shown = score(
        write(rated(boots)), "--explain", "--reviews-where", "rating <= 3", "--systems", "double"
    ).stdout
    assert "p1 · double · prevalence 0.333 · 2 of 3 reviews · 3 of 3 sentences" in shown


def test_a_wrong_condition_is_one_line(score: Run, write: Write, boots: dict[str, Any]) -> None:
    result = score(write(boots), "--reviews-where", "rating is 3")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: condition 'rating is 3': 'is' is no operator")
    assert result.stderr.count("\n") == 1
