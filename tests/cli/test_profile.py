"""`prevalence score --profile`: columns, rows, explanations, and going on after a kill."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]


@pytest.fixture
def coats() -> dict[str, Any]:
    """A second product, of other words."""
    return {
        "id": "p2",
        "reviews": [{"text": "soft coats", "rating": 4}, {"text": "soft warm coats", "rating": 2}],
        "summaries": {"good": "Soft coats.", "double": "Warm boots."},
    }


def table_of(result: Result) -> dict[str, dict[str, str]]:
    lines = [line for line in result.stdout.splitlines() if line.strip()]
    headers = [name.strip() for name in lines[0].split("  ") if name.strip()]
    rows = [[cell for cell in line.split("  ") if cell.strip()] for line in lines[1:3]]
    return {
        row[0].strip(): dict(zip(headers, (c.strip() for c in row), strict=True)) for row in rows
    }


def test_the_table_keeps_its_columns_and_adds_the_profiles(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    # Statements "Such warm boots." and "warm warm boots." (3 words each), "they leak badly.".
    # Reviews 0 and 1 share 2 of 3 words with either of the first two, so each has weight 2 and
    # the two are one; the third weighs 1. "Warm boots." has 2 of the 3 words: 2 of 3.
    path = write(boots)
    plain, found = table_of(score(path)), table_of(score(path, "--profile"))
    headers = list(plain["good"])
    assert list(found["good"])[: len(headers)] == headers
    assert list(found["good"])[len(headers) :] == ["coverage", "soft coverage", "attested"]
    assert {name: found["good"][name] for name in headers} == plain["good"]
    assert found["good"]["coverage"] == "0.667"
    # "They leak." adds 2 of the 3 words of the third statement.
    assert found["double"]["coverage"] == "1.000"


def test_rows_and_csv_have_the_profile(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    path = write(boots)
    plain = [json.loads(line) for line in score(path, "--format", "jsonl").stdout.splitlines()]
    rows = score(path, "--format", "jsonl", "--profile").stdout.splitlines()
    for line, without in zip(map(json.loads, rows), plain, strict=True):
        profile = line.pop("profile")
        assert profile["contested"] is None
        assert profile["missing"]["contested"] == "the model has no contradiction class"
        assert line.pop("signature") != without.pop("signature")
        assert line.pop("input_digest") != without.pop("input_digest")
        assert line == without
    assert profile["attested"] == 1.0
    output = tmp_path / "rows.csv"
    score(path, "--profile", "--output", output)
    with output.open(encoding="utf-8", newline="") as file:
        first = next(csv.DictReader(file))
    assert float(first["coverage"]) == pytest.approx(2 / 3)
    assert first["contested"] == ""


def test_the_explanation_shows_what_is_left_out(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    shown = score(write(boots), "--profile", "--explain", "--systems", "good").stdout
    assert "coverage 0.667 · soft coverage" in shown
    assert "no contested: the model has no contradiction class" in shown
    assert "left out, of 2 statements of the reviews:" in shown
    assert "1/3 support  they leak badly." in " ".join(shown.split("\n"))


def test_groups_others_and_polarity(
    score: Run, write: Write, boots: dict[str, Any], coats: dict[str, Any]
) -> None:
    path = write(boots, coats)
    result = score(
        path, "--profile", "--groups", "rating <= 2, rating >= 4", "--others", 3, "--format",
        "jsonl",
    )  # fmt: skip
    rows = {(row["id"], row["system"]): row for row in map(json.loads, result.stdout.splitlines())}
    # "Soft coats." is all in both reviews of p2: rated 4 and 2, as all reviews are.
    good = rows["p2", "good"]["profile"]
    assert (good["polarity"], good["polarity_target"], good["polarity_distance"]) == (3, 3, 0)
    assert good["equal_coverage"] == 0.0
    assert [group["reviews"] for group in good["groups"].values()] == [1, 1]
    # "Warm boots." of p2 is what "double" says of p1 too; no review of p2 has both words.
    generic = rows["p2", "double"]["profile"]
    assert (generic["genericness"], generic["sap"]) == (1.0, -0.5)
    assert "profiles asked" in result.stderr
    assert "no review is in the group" not in result.stderr


def test_explain_says_which_group_fares_worst(score: Run, write: Write) -> None:
    texts = {"warm boots": 5, "they leak": 1, "warm leak": 2}
    reviews = [{"text": text, "rating": rating} for text, rating in texts.items()]
    record = {"id": "p", "reviews": reviews, "summary": "Warm boots."}
    groups = "rating >= 4, rating <= 2, rating >= 9"
    result = score(write(record), "--profile", "--groups", groups, "--explain")
    # They have 2, 0 and 1 of the two words: 1 / 1, (0 + .5) / 2 and 1.5 / 3.
    assert (
        "least covered group first: rating<=2 0.250 (2 reviews) · rating>=4 1.000 (1 review) · "
        "rating>=9 – (0 reviews) · all reviews 0.500"
    ) in " ".join(result.stdout.split())


def test_a_group_without_a_review_is_noted(score: Run, write: Write, boots: dict[str, Any]) -> None:
    result = score(write(boots), "--profile", "--groups", "stars <= 2, text has boots")
    assert "no review is in the group stars<=2 (check the field and its values)" in result.stderr
    assert "the group text has boots" not in result.stderr


def test_a_cut_run_goes_on_and_other_settings_are_refused(
    score: Run, write: Write, boots: dict[str, Any], coats: dict[str, Any], tmp_path: Path
) -> None:
    path, output = write(boots, coats), tmp_path / "rows.jsonl"
    words = ("--profile", "--others", "2", "--output", output)
    assert score(path, *words).exit_code == 0
    whole = output.read_bytes()
    for size in (0, len(whole) // 3, len(whole) - 1):
        output.write_bytes(whole[:size])
        assert score(path, *words).exit_code == 0
        assert output.read_bytes() == whole
    for more in (("--coverage-statements", "5"), ("--sap-alpha", "1")):
        assert "scores of other settings" in score(path, *words, *more).stderr
    # Without a profile a row does not depend on ratings, so its input has another digest.
    assert "scores of other settings" in score(path, "--output", output).stderr
    write(boots)
    assert "scores of other settings" in score(path, *words).stderr
    assert output.read_bytes() == whole


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--others", "2"), "others needs the profile"),
        (("--groups", "rating <= 2"), "groups needs the profile"),
        (("--sap-alpha", ".2"), "--sap-alpha goes with --profile"),
        (("--coverage-statements", "5"), "--coverage-statements goes with --profile"),
        (("--profile", "--sap-alpha", ".2"), "--sap-alpha goes with --others"),
        (("--profile", "--groups", "rating"), "a clause needs a field"),
    ],
)
def test_what_cannot_be_is_one_line(
    score: Run, write: Write, boots: dict[str, Any], words: tuple[str, ...], message: str
) -> None:
    result = score(write(boots), *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_others_need_input_that_can_be_read_twice(
    score: Run, boots: dict[str, Any], tmp_path: Path
) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("Warm boots.\n")
    for words in (("-",), (lines, "--reviews", "-")):
        result = score(*words, "--profile", "--others", "2", stdin=json.dumps(boots))
        assert result.exit_code == 2
        assert "standard input is read once, and --others reads it a second time" in result.stderr


def test_others_read_the_names_of_products_once(
    score: Run, write: Write, boots: dict[str, Any], coats: dict[str, Any]
) -> None:
    words = (write(boots, coats), "--profile", "--others", "2", "--product-names", "-")
    result = score(*words, stdin="p1 boot\np2 coat\n")
    assert result.exit_code == 0, result.stderr
    assert "have no product name" not in result.stderr


def test_claims_of_the_record_are_counted(score: Run, write: Write, boots: dict[str, Any]) -> None:
    record = {**boots, "claims": {"good": ["Warm boots."], "double": ["Warm boots.", "They leak."]}}
    path = write(record)
    rows = [
        json.loads(line)
        for line in score(path, "--unit", "claim", "--format", "jsonl").stdout.splitlines()
    ]
    # Two of three reviews imply the first claim, one the second.
    assert [row["prevalence"] for row in rows] == [pytest.approx(2 / 3), pytest.approx(0.5)]
    assert all("|unit:claim-record|" in row["signature"] for row in rows)
