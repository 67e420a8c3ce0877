"""What `prevalence meta` notes beside its tables: stars, marks, raters and names."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]

WILLIAMS = ("--test", "williams")
JUDGED = "judge,characters"
RATINGS = "examples/ratings.jsonl"


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the examples lie as they do in the repository, and files may be left."""
    (tmp_path / "examples").symlink_to(repository / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_table_with_stars_explains_them(run: Run) -> None:
    words = ("meta", "correlate", RATINGS, "--compare", JUDGED, *WILLIAMS, "--format", "markdown")
    shown = run(*words, "--level", "pooled").stdout
    assert shown.count("p ≤ 0.05") == 2, "of the correlations, and of the tests"
    plain = run("meta", "correlate", RATINGS, "--level", "summary").stdout
    assert "p ≤" not in plain
    one = run("meta", "correlate", RATINGS, "--level", "system", "--metrics", "characters").stdout
    assert "p ≤" not in one


def test_raters_in_columns_of_their_own_are_recognised(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("id,system,tone_A,tone_B,ease 1,ease 2,depth\n1,x,3,4,1,2,5\n1,y,2,2,1,1,3\n")
    result = run("meta", "agreement", path)
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "no summary has two raters, so nothing is known of agreement; give each rating a row, with "
        'its rater in a column "rater" (in JSON, a list with one rating a rater)',
        "tone_A, tone_B look like raters of tone, and are taken for dimensions",
        "ease 1, ease 2 look like raters of ease, and are taken for dimensions",
    ]
    assert run("meta", "agreement", path, "-q").stderr == ""
    path.write_text("id,system,rater,tone_A,tone_B\n1,x,r1,3,4\n1,x,r2,2,2\n")
    assert run("meta", "agreement", path).stderr == ""


def test_the_lowest_mean_is_marked_where_low_is_best(run: Run, write: Write) -> None:
    rows = [
        {"id": 1, "system": s, "metrics": {"ter": n, "A:rouge-1": n, "length": n}}
        for n, s in enumerate("xyz")
    ]
    shown = run("meta", "means", write(*rows), "--of", "metrics", "--mark", 1).stdout
    assert re.search(r"^x +0\.000¹ +0\.000 +0\.000$", shown, re.MULTILINE)
    assert re.search(r"^z +2\.000 +2\.000¹ +2\.000$", shown, re.MULTILINE)
    assert "\nlow is best: ter\n" in shown
    assert "\nunmarked, since it is not known whether high or low is best: length\n" in shown
    words = ("--of", "metrics", "--metrics", "length")
    assert "small figures" not in run("meta", "means", write(*rows), *words).stdout
    assert "best" not in run("meta", "means", write(*rows), "--of", "metrics", "--mark", 0).stdout


def test_a_metric_of_which_low_is_good_is_best_at_minus_one(run: Run, write: Write) -> None:
    rows = [
        {"id": 1, "system": s, "human": {"tone": n}, "metrics": {"ter": -n, "length": n % 3}}
        for n, s in enumerate("wxyz")
    ]
    words = ("meta", "correlate", write(*rows), "--level", "summary")
    shown = run(*words).stdout
    assert re.search(r"^ter +-1\.000¹$", shown, re.MULTILINE)
    assert re.search(r"^length +0\.183²$", shown, re.MULTILINE)
    assert "\nlow is good, so the most negative correlation is best: ter\n" in shown
    assert "low is good" not in run(*words, "--mark", 0).stdout


def test_names_on_one_side_only_are_asked_about(run: Run, write: Write) -> None:
    people = [
        {"id": i, "system": s, "human": {"tone": n}}
        for i in "ab" for n, s in enumerate(["x", "y", "T5", "LLM", "GPT", "Old"])
    ]  # fmt: skip
    scores = [
        {"id": i, "system": s, "metrics": {"m": n}}
        for i in "ab" for n, s in enumerate(["x", "y", "t5", "llm"])
    ]  # fmt: skip
    result = run("meta", "correlate", write(*people, *scores), "--level", "system")
    assert (
        "systems with ratings and no scores: T5, LLM, GPT and 1 more; with scores and no ratings: "
        "t5, llm; if these are the same, give them alike in all files\n"
    ) in result.stderr
    assert "ids with" not in result.stderr
    assert re.search(r"^m +1\.000$", result.stdout, re.MULTILINE), "two systems get no mark"
    assert "\nsystem level: of 2 systems alone, which is no evidence, so unmarked: m\n" in (
        result.stdout
    )
    other = [{"id": "A", "system": "x", "metrics": {"m": 1}}, {**people[0], "id": "c"}]
    result = run("meta", "correlate", write(*people, *scores, *other), "--level", "summary")
    assert "ids with ratings and no scores: c; with scores and no ratings: A; " in result.stderr
    assert "of 2 systems alone" not in result.stdout
    fewer = run("meta", "correlate", write(*people, *scores), "--systems", "x,y,T5")
    assert "systems with" not in fewer.stderr, "one side alone may well be so"


def test_pairs_of_raters_that_share_little_are_noted(run: Run, write: Write) -> None:
    # Raters 1 and 2 rate twelve items, and rater 3 the first two of them.
    rows = [
        {"id": str(n), "system": "x", "human": {"tone": [n % 3, n % 2, n % 3 if n < 2 else None]}}
        for n in range(12)
    ]
    shown = run("meta", "agreement", write(*rows)).stdout
    assert re.search(r"^dimension .*  least shared  most shared$", shown, re.MULTILINE)
    assert re.search(r"^tone .* 2 +12$", shown, re.MULTILINE)
    note = "some pairs of raters share fewer than 10 ratings"
    assert note in shown
    assert note not in run("meta", "agreement", RATINGS).stdout
    records = json.loads(run("meta", "agreement", RATINGS, "--format", "json").stdout)["rows"]
    shared = {r["column"]: r["value"] for r in records if r["row"] == "coverage"}
    assert (shared["least shared"], shared["most shared"]) == (30, 30)


def test_systems_that_were_rated_on_different_products_are_noted(run: Run, write: Write) -> None:
    rows = [
        {"id": str(n), "system": s, "human": {"tone": [n + k]}, "metrics": {"m": n}}
        for n in range(4) for k, s in enumerate("xy")
    ]  # fmt: skip
    note = "systems were rated on different products: 3 of 4 products have all systems\n"
    whole, part = write(*rows, name="whole.jsonl"), write(*rows[:-1], name="part.jsonl")
    for words in (["correlate"], ["correlate", "--level", "pooled"], ["means"]):
        assert "different products" not in run("meta", *words, whole).stderr
        assert note in run("meta", *words, part).stderr
        assert note not in run("meta", *words, part, "--quiet").stderr
    assert "different" not in run("meta", "correlate", part, "--level", "summary").stderr
    shown = run("meta", "means", part, "--of", "metrics").stderr
    assert "systems were scored on different products: 3 of 4" in shown


def test_metrics_that_lack_values_on_different_products_are_noted(run: Run, write: Write) -> None:
    rows = [
        {"id": str(n), "system": s, "human": {"tone": [n + k], "style": [n - k]},
         "metrics": {"whole": n, "even": None if n == 2 else n,
                     "uneven": None if n == k else n, "odd": None if n == k + 2 else n}}
        for n in range(4) for k, s in enumerate("xy")
    ]  # fmt: skip
    note = (
        "values are missing on different products for different systems, whose means differ with "
        "the products then: uneven, odd\n"
    )
    path = write(*rows)
    assert run("meta", "correlate", path).stderr.count(note) == 1
    for words in (["--level", "summary"], ["--missing", "zero"], ["--quiet"],
                  ["--metrics", "whole,even"]):  # fmt: skip
        assert "different products" not in run("meta", "correlate", path, *words).stderr
