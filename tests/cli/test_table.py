"""`prevalence table`: figures are those of the rows, in every format."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]

INPUT = "examples/summaries.jsonl"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> str:
    from click.testing import CliRunner

    from prevalence.cli import main

    path = tmp_path_factory.mktemp("rows") / "scores.jsonl"
    words = ["--model", "rouge1-precision", "--threshold", "0.5", "--profile", "-q"]
    found = CliRunner().invoke(main, ["score", str(repository / INPUT), *words, "-o", str(path)])
    assert found.exit_code == 0, found.output
    return path.read_text(encoding="utf-8")


@pytest.fixture
def rows(made: str, tmp_path: Path) -> Path:
    path = tmp_path / "scores.jsonl"
    path.write_text(made, encoding="utf-8")
    return path


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_line_a_system_with_the_means_of_its_rows(run: Run, rows: Path, made: str) -> None:
    found = read(run("table", rows, "--format", "csv").stdout)
    of_system: dict[str, list[dict]] = {}
    for row in map(json.loads, made.splitlines()):
        of_system.setdefault(row["system"], []).append(row)
    means = {
        name: sum(row["prevalence"] for row in own) / len(own) for name, own in of_system.items()
    }
    assert [line["system"] for line in found] == sorted(means, key=lambda name: -means[name])
    for line in found:
        own = of_system[line["system"]]
        assert float(line["prevalence"]) == pytest.approx(means[line["system"]])
        assert float(line["interval_low"]) < means[line["system"]] < float(line["interval_high"])
        marked = [s["redundant_with"] is not None for row in own for s in row["sentences"]]
        assert float(line["redundant"]) == pytest.approx(sum(marked) / len(marked))
        coverage = [row["profile"]["coverage"] for row in own]
        assert float(line["coverage"]) == pytest.approx(sum(coverage) / len(coverage))
    assert [line["group"] for line in found] == ["1", "2", "2", "2", "2"]


def test_a_line_a_summary(run: Run, rows: Path, made: str) -> None:
    found = json.loads(run("table", rows, "--of", "summaries", "--format", "json").stdout)
    for line, row in zip(found["rows"], map(json.loads, made.splitlines()), strict=True):
        assert (line["id"], line["system"]) == (row["id"], row["system"])
        assert line["prevalence"] == row["prevalence"]
        assert line["trivial"] == sum(sentence["trivial"] for sentence in row["sentences"])
        assert line["coverage"] == row["profile"]["coverage"]


def test_a_line_a_sentence_names_the_reviews_behind_it(run: Run, rows: Path, made: str) -> None:
    found = iter(read(run("table", rows, "--of", "sentences", "--format", "csv").stdout))
    for row in map(json.loads, made.splitlines()):
        for place, sentence in enumerate(row["sentences"]):
            line = next(found)
            assert (line["id"], line["system"], line["place"]) == (
                row["id"],
                row["system"],
                str(place),
            )
            assert line["text"] == sentence["text"]
            supporting = sentence["supporting_reviews"]
            if supporting is None:
                assert (line["share"], line["supporting_reviews"]) == ("", "")
                assert line["masked"] == "trivial" or line["masked"].startswith("repeats")
                continue
            named = [int(one) for one in line["supporting_reviews"].split(", ") if one]
            assert named == supporting
            assert float(line["share"]) == len(supporting) / row["n_reviews"]
    assert next(found, None) is None


@pytest.mark.parametrize("kind", ["systems", "summaries", "sentences"])
def test_formats_follow_the_suffix(run: Run, rows: Path, tmp_path: Path, kind: str) -> None:
    shown = run("table", rows, "--of", kind).stdout
    for suffix, form in ((".md", "markdown"), (".tex", "latex"), (".csv", "csv"), (".txt", None)):
        path = tmp_path / f"made{suffix}"
        assert run("table", rows, "--of", kind, "-o", path).exit_code == 0
        wanted = run("table", rows, "--of", kind, "--format", form).stdout if form else shown
        assert path.read_text(encoding="utf-8") == wanted
    refused = run("table", rows, "-o", tmp_path / "made.pdf")
    assert refused.exit_code == 2
    assert "add --format" in refused.stderr


def test_words_stand_left_and_figures_right(run: Run, rows: Path) -> None:
    latex = run("table", rows, "--of", "sentences", "--format", "latex").stdout
    assert r"\begin{tabular}{llllrrrr}" in latex
    marks = run("table", rows, "--of", "sentences", "--format", "markdown").stdout.splitlines()[3]
    assert marks == "| --- | --- | --- | --- | ---: | ---: | ---: | ---: |"
    lines = run("table", rows, "--of", "sentences").stdout.splitlines()
    assert lines[3].startswith("ex-boots       balanced       The soles grip well")


def test_a_restricted_share_is_of_the_reviews_asked(
    run: Run, tmp_path: Path, repository: Path
) -> None:
    path = tmp_path / "few.jsonl"
    words = ("--model", "rouge1-precision", "--threshold", "0.5", "--first-reviews", "4", "-q")
    assert run("score", repository / INPUT, *words, "-o", path).exit_code == 0
    found = read(run("table", path, "--of", "sentences", "--format", "csv").stdout)
    shares = [line for line in found if line["share"]]
    assert shares
    for line in shares:
        assert line["n_reviews"] == "4"
        assert float(line["share"]) == int(line["support"]) / 4


def test_failed_rows_and_formulas(run: Run, rows: Path, made: str) -> None:
    first, *others = map(json.loads, made.splitlines())
    first["sentences"][0]["text"] = '=HYPERLINK("http://example.org")'
    others[0] |= {"prevalence": None, "error": "no reviews", "sentences": [], "profile": None}
    lines = [json.dumps(row) for row in (first, *others)]
    rows.write_text("\n".join(lines), encoding="utf-8")
    sentences = run("table", rows, "--of", "sentences", "--format", "csv").stdout
    assert read(sentences)[0]["text"] == '\'=HYPERLINK("http://example.org")'
    assert all(line["system"] != "trivial" for line in read(sentences) if line["id"] == first["id"])
    summaries = run("table", rows, "--of", "summaries").stdout
    assert "no reviews" in summaries
    by_name = {line["system"]: line for line in read(run("table", rows, "--format", "csv").stdout)}
    assert (by_name["trivial"]["failed"], by_name["trivial"]["summaries"]) == ("1", "5")


def test_rows_of_two_runs_are_refused(run: Run, rows: Path, made: str, tmp_path: Path) -> None:
    again = tmp_path / "again.jsonl"
    again.write_text(made, encoding="utf-8")
    found = run("table", rows, again)
    assert found.exit_code == 2
    assert "the summary of ex-boots by balanced was read before" in found.stderr
    parts = made.splitlines(keepends=True)
    rows.write_text("".join(parts[:10]), encoding="utf-8")
    again.write_text("".join(parts[10:]), encoding="utf-8")
    whole = tmp_path / "whole.jsonl"
    whole.write_text(made, encoding="utf-8")
    assert run("table", rows, again).stdout == run("table", whole).stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no row; there is nothing to show"),
        ('{"id": "a", "reviews": []}\n', "row 1: not a scored summary"),
    ],
)
def test_what_holds_no_rows(run: Run, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(text, encoding="utf-8")
    found = run("table", path)
    assert found.exit_code == 2
    assert said in found.stderr


def test_unequal_signatures_are_noted(run: Run, rows: Path, made: str) -> None:
    lines = made.splitlines()
    lines[0] = lines[0].replace("thr:0.5", "thr:0.6")
    rows.write_text("\n".join(lines), encoding="utf-8")
    assert "the signatures differ in thr" in run("table", rows).stderr
    assert run("table", rows, "--quiet").stderr == ""
