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
            ids = row.get("review_ids") or range(row["n_reviews"])
            named = ", ".join(str(ids[place]) for place in supporting)
            assert line["supporting_reviews"] == named
            assert float(line["share"]) == len(supporting) / row["n_reviews"]
    assert next(found, None) is None


@pytest.mark.parametrize("kind", ["systems", "summaries", "sentences"])
def test_formats_follow_the_suffix(run: Run, rows: Path, tmp_path: Path, kind: str) -> None:
    forms = {".md": "markdown", ".tex": "latex", ".csv": "csv", ".json": "json", ".txt": "table"}
    for suffix, form in forms.items():
        path = tmp_path / f"made{suffix}"
        found = run("table", rows, "--of", kind, "-o", path)
        if (kind, form) == ("sentences", "latex"):
            assert (found.exit_code, path.exists()) == (2, False)
            assert "too long for a table in LaTeX" in found.stderr
            continue
        assert found.exit_code == 0
        shown = run("table", rows, "--of", kind, "--format", form).stdout
        assert path.read_text(encoding="utf-8") == shown
    refused = run("table", rows, "-o", tmp_path / "made.pdf")
    assert refused.exit_code == 2
    assert "add --format" in refused.stderr


def sentence(text: str, support: int | None, against: tuple[int, ...] = (), **more: object) -> dict:
    supporting = None if support is None else list(range(support))
    return {
        "text": text, "start": 0, "end": len(text), "support": support,
        "supporting_reviews": supporting,
        "contradicting_reviews": None if support is None else list(against),
        "trivial": False, "redundant_with": None, "entailment": None, "contradicts": [],
    } | more  # fmt: skip


def row(product: str | None, system: str, prevalence: float | None, *found: dict) -> dict:
    return {
        "schema": 1, "id": product, "system": system, "prevalence": prevalence, "n_reviews": 4,
        "sentences": list(found), "signature": "prev|nli:x|thr:0.5|v:1", "input_digest": None,
        "error": None if prevalence is not None else "no reviews",
    }  # fmt: skip


HAND = (
    row(
        "lamp", "a_1", 0.375,
        sentence("It is bright.", 3, (3,)),
        sentence("It isn't bright.", 0, (0, 1, 2), contradicts=[0]),
        sentence("It shines.", None, redundant_with=0),
    ),
    row("lamp", "b|2", 1, sentence("It is *bright*.", 4)),
    row(None, "b|2", None),
)  # fmt: skip


@pytest.fixture
def by_hand(tmp_path: Path) -> Path:
    path = tmp_path / "hand.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in HAND), encoding="utf-8")
    return path


def test_sentences_in_markdown(run: Run, by_hand: Path) -> None:
    found = run("table", by_hand, "--of", "sentences", "--format", "markdown")
    assert found.stdout.splitlines()[2:] == [
        "| product | system | sentence | does not count "
        "| no. | support | reviews | share | against |",
        "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: |",
        "| lamp | a\\_1 | It is bright. |  | 0 | 3 | 4 | 0.750 | 1 |",
        "| lamp | a\\_1 | It isn't bright. |  | 1 | 0 | 4 | 0.000 | 3 |",
        "| lamp | a\\_1 | It shines. | repeats 0 | 2 | – | 4 | – | – |",
        "| lamp | b\\|2 | It is \\*bright\\*. |  | 0 | 4 | 4 | 1.000 | 0 |",
        "",
        "prev\\|nli:x\\|thr:0.5\\|v:1",
    ]
    assert found.stderr.strip().endswith("1 row has no score")


def test_systems_in_latex(run: Run, by_hand: Path) -> None:
    found = run("table", by_hand, "--format", "latex").stdout.splitlines()
    assert found[2] == r"\begin{tabular}{lrrrrrrrrrrr}"
    assert found[6].startswith(r"b\textbar{}2 & 1.000 & -- & 1 & 1 & 1.0 & ")
    assert found[7].startswith(r"a\_1 & 0.375 & -- & 1 & 0 & 3.0 & ")
    assert r"below 6 products no systems are told apart; prev\textbar{}nli:x" in found[-2]


def test_columns_are_chosen_by_their_headers(run: Run, by_hand: Path) -> None:
    words = ("table", by_hand, "--format", "markdown", "--columns")
    found = run(*words, "summaries, prevalence").stdout.splitlines()
    assert found[2] == "| system | summaries | prevalence |"
    assert run(*words, "nonsense").exit_code == 2
    told = run(*words, "nonsense").stderr
    assert "no column 'nonsense'; there are" in told
    assert "prevalence, 95% interval" in told
    both = run("table", by_hand, "--columns", "prevalence", "--format", "csv")
    assert (both.exit_code, "CSV and JSON have all" in both.stderr) == (2, True)


def test_summaries_as_text(run: Run, by_hand: Path) -> None:
    found = run("table", by_hand, "--of", "summaries").stdout.splitlines()
    headers = "product system error prevalence reviews sentences trivial redundant unsupported"
    assert [" ".join(line.split()) for line in found[2:6]] == [
        f"{headers} contradictions self-contradictions",
        "lamp a_1 0.375 4 3 0 1 1 4 1",
        "lamp b|2 1.000 4 1 0 0 0 0 0",
        "b|2 no reviews – 4 0 – – – – –",
    ]


def test_places_are_lists_in_json_and_one_cell_in_csv(run: Run, by_hand: Path) -> None:
    words = ("table", by_hand, "--of", "sentences", "--format")
    second = json.loads(run(*words, "json").stdout)["rows"][1]
    assert (second["contradicting_reviews"], second["contradicts"]) == ([0, 1, 2], [0])
    assert second["supporting_reviews"] == []
    line = read(run(*words, "csv").stdout)[1]
    assert (line["contradicting_reviews"], line["contradicts"]) == ("0, 1, 2", "0")


def test_reviews_go_by_their_ids(run: Run, tmp_path: Path) -> None:
    texts = {"=r1": "It is warm.", "r2": "It is cold.", "r3": "Warm."}
    reviews = [{"id": name, "text": text} for name, text in texts.items()]
    record = {"id": "p", "reviews": reviews, "summary": "It is warm."}
    (tmp_path / "in.jsonl").write_text(json.dumps(record), encoding="utf-8")
    words = ("--model", "rouge1-precision", "--threshold", "0.3", "-q")
    run("score", tmp_path / "in.jsonl", *words, "-o", tmp_path / "rows.jsonl")
    found = ("table", tmp_path / "rows.jsonl", "--of", "sentences", "--format")
    assert json.loads(run(*found, "json").stdout)["rows"][0]["supporting_reviews"] == [
        "=r1", "r2", "r3",
    ]  # fmt: skip
    assert read(run(*found, "csv").stdout)[0]["supporting_reviews"] == "'=r1, r2, r3"


def test_quantities_stand_beside_their_sentences(run: Run, tmp_path: Path) -> None:
    most = {"text": "Most", "low": 0.5, "high": 1.0, "agrees": False, "interval": [0.0, 0.4],
            "support": 0, "of": None, "statement": "It is bright."}  # fmt: skip
    path = tmp_path / "said.jsonl"
    text = "Most users say that it is bright."
    sentences = (sentence(text, 0, quantity=most), sentence("It hums.", 1))
    path.write_text(json.dumps(row("lamp", "a", 0.125, *sentences)), encoding="utf-8")
    first, second = read(run("table", path, "--of", "sentences", "--format", "csv").stdout)
    assert first["quantity"] == 'says "Most" (50–100%): the reviews disagree'
    assert (first["quantity_agrees"], second["quantity_agrees"]) == ("False", "")
    shown = run("table", path, "--of", "sentences", "--format", "markdown").stdout.splitlines()
    assert shown[2].startswith("| product | system | sentence | quantity | no. |")


def test_a_signature_stands_beside_each_system(run: Run, by_hand: Path) -> None:
    found = read(run("table", by_hand, "--format", "csv").stdout)
    assert {line["signature"] for line in found} == {"prev|nli:x|thr:0.5|bs:1000|seed:12345|v:1"}
    assert {line["group"] for line in found} == {""}


def test_corrected_scores_are_said_to_be_elsewhere(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "corrected.jsonl"
    path.write_text(json.dumps(HAND[0] | {"corrected": 0.4, "corrected_most": 1.0}))
    assert "corrected scores of systems are in the table of" in run("table", path).stdout
    assert "corrected" in run("table", path, "--of", "summaries").stdout.splitlines()[2]


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
    assert run("table", rows).stderr.strip().endswith("1 row has no score")


def test_rows_of_two_runs_are_refused(run: Run, rows: Path, made: str, tmp_path: Path) -> None:
    again = tmp_path / "again.jsonl"
    again.write_text(made, encoding="utf-8")
    found = run("table", rows, again)
    assert found.exit_code == 2
    assert f"{rows} has the summary of ex-boots by balanced too" in found.stderr
    parts = made.splitlines(keepends=True)
    rows.write_text("".join(parts[:10]), encoding="utf-8")
    again.write_text("".join(parts[10:]), encoding="utf-8")
    whole = tmp_path / "whole.jsonl"
    whole.write_text(made, encoding="utf-8")
    assert run("table", rows, again).stdout == run("table", whole).stdout


def test_one_file_may_have_an_id_twice(run: Run, rows: Path, made: str) -> None:
    rows.write_text(made + made, encoding="utf-8")
    found = read(run("table", rows, "--format", "csv").stdout)
    assert {line["summaries"] for line in found} == {"12"}


@pytest.mark.parametrize("kind", ["systems", "summaries", "sentences"])
@pytest.mark.parametrize(
    "odd",
    [
        {"signature": "mine"},
        {"restriction": {}},
        {
            "profile": {
                "coverage": 0.5, "coverage_interval": None, "left_out": [],
                "groups": {"a": {"reviews": 3, "coverage": None}},
            }
        },
    ],
)  # fmt: skip
def test_rows_that_others_wrote(run: Run, tmp_path: Path, odd: dict, kind: str) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text(json.dumps(HAND[0] | odd), encoding="utf-8")
    found = run("table", path, "--of", kind)
    assert (found.exit_code, found.stderr) == (0, "")
    assert "a_1" in found.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no row; there is nothing to show"),
        ('{"id": "a", "reviews": []}\n', "row 1: not a scored summary"),
        (json.dumps(HAND[2]), "no row with a score; there is nothing to show"),
        (
            json.dumps(HAND[0] | {"profile": {"coverage": "abc", "groups": {}}}),
            "coverage cannot be 'abc'",
        ),
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
    assert "the signatures differ in thr: 0.6 or 0.5" in run("table", rows).stderr
    assert "group" not in run("table", rows).stdout
    assert run("table", rows, "--quiet").stderr == ""
