"""`prevalence meta` as a user meets it: examples, formats, files, errors."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prevalence.cli.meta import meta
from prevalence.cli.sheets import write_sheets
from prevalence.report.sheets import Report

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]

WILLIAMS = ("--test", "williams")
JUDGED = "judge,characters"
RATINGS = "examples/ratings.jsonl"


def epilog_lines() -> list[str]:
    lines = []
    for command in (meta, *meta.commands.values()):
        lines += re.findall(r"^  (prevalence .*)$", str(command.epilog), re.MULTILINE)
    return list(dict.fromkeys(lines))


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the examples lie as they do in the repository, and files may be left."""
    (tmp_path / "examples").symlink_to(repository / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("line", epilog_lines())
def test_examples_of_the_help_texts_run(line: str, run: Run) -> None:
    result = run(*shlex.split(line)[1:])
    assert result.exit_code == 0, result.stderr
    assert result.stdout


def test_there_are_enough_examples() -> None:
    assert len(epilog_lines()) >= 15


@pytest.mark.parametrize("name", ["", *meta.commands])
def test_help_is_short_and_has_examples(run: Run, name: str) -> None:
    result = run("meta", *filter(None, [name]), "--help")
    assert result.exit_code == 0
    assert "Example" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100
    if name:
        lines = [line.strip() for line in result.stdout.splitlines()]
        assert str(meta.commands[name].help).partition("\n")[0] in lines


def test_correlations_in_every_format(run: Run) -> None:
    words = ("meta", "correlate", RATINGS, "--level", "summary")
    table = run(*words).stdout
    assert re.search(r"^judge +0\.743¹ +0\.737¹$", table, re.MULTILINE)
    assert "| judge | **0.743** | **0.737** |" in run(*words, "--format", "markdown").stdout
    assert r"judge & \textbf{0.743} & \textbf{0.737} \\" in run(*words, "--format", "latex").stdout
    document = json.loads(run(*words, "--format", "json").stdout)
    assert document["settings"]["systems"][0] == "balanced"
    values = [row["value"] for row in document["rows"]]
    assert values[0] == pytest.approx(0.7428650873898471)
    assert set(document["rows"][0]["parts"]) >= {"ex-boots"}
    rows = [*csv.DictReader(io.StringIO(run(*words, "--format", "csv").stdout))]
    assert [float(row["value"]) for row in rows] == values


def test_conventions_and_single_options_that_win(run: Run) -> None:
    words = ("meta", "correlate", RATINGS, "--format", "json")
    preset = json.loads(run(*words, "--convention", "llm-summeval").stdout)["settings"]
    assert preset["levels"] == ["pooled"]
    assert preset["coefficients"] == ["spearman", "pearson", "kendall"]
    changed = run(*words, "--convention", "summeval-op", "--coefficient", "pearson").stdout
    assert json.loads(changed)["settings"]["coefficients"] == ["pearson"]
    two = run("meta", "correlate", RATINGS, "--convention", "opinsummeval").stdout
    assert re.search(r"^judge +0\.95\*¹ ", two, re.MULTILINE)


def test_output_goes_to_a_file_named_by_its_suffix(run: Run, tmp_path: Path) -> None:
    for name, start in (("t.md", "**"), ("t.tex", "\\begin"), ("t.json", "{"), ("t.csv", "type,")):
        result = run("meta", "correlate", RATINGS, "-o", name)
        assert (result.exit_code, result.stdout) == (0, "")
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["correlate", "none.jsonl"], "no such file"),
        (["correlate", RATINGS, "--metrics", "bleu"], "no metric 'bleu'; there are: "),
        (["correlate", RATINGS, "--own", "judge"], "METRIC=DIMENSION"),
        (["correlate", RATINGS, "--compare", "judge"], "FIRST,SECOND"),
        (["correlate", RATINGS, "--compare", "judge,bleu"], "there are: judge, characters"),
        (["correlate", RATINGS, "-o", "t.xyz"], "add --format"),
        (["correlate", RATINGS, "-o", "no/t.md"], "no folder"),
        (["correlate", RATINGS, "-o", RATINGS, "--format", "csv"], "is an input"),
        (["correlate", RATINGS, "--test", "williams", "--compare", "judge,characters"], "Williams"),
        (["correlate", RATINGS, "--holm"], "--holm goes with --compare"),
        (["correlate", RATINGS, "--permute", "items"], "--permute goes with --compare"),
        (["correlate", RATINGS, "--test", "williams"], "--test goes with --compare"),
        (["correlate", RATINGS, "--confidence", "0.9"], "--confidence goes with --bootstrap"),
        (["correlate", RATINGS, "--seed", "1"], "--seed goes with --bootstrap, or with"),
        (
            ["correlate", RATINGS, "--compare", JUDGED, *WILLIAMS, "--resamples", "9"],
            "--resamples goes with --bootstrap, or with --compare by permutation",
        ),
        (
            [
                "correlate",
                RATINGS,
                "--compare",
                "judge,characters",
                *WILLIAMS,
                "--permute",
                "items",
            ],
            "--permute goes with --test permutation",
        ),
        (["significance"], "give an INPUT, or --counts"),
        (["significance", "--counts", "many"], "takes numbers"),
        (["significance", RATINGS, "--groups", "3", "--methods", "judge,judge"], "10 samples"),
        (
            ["significance", RATINGS, "--methods", "judge,characters"],
            "--methods: 'characters' has no samples",
        ),
        (
            ["significance", RATINGS, "--metrics=characters", "--methods=characters,characters"],
            "--methods: 'characters' has no samples",
        ),
        (["significance", RATINGS, "--groups", "3"], "--groups goes with --methods"),
        (["significance", RATINGS, "--sizes", "zz"], "--sizes takes numbers"),
        (["significance", RATINGS, "--sizes", "1.5"], "--sizes takes whole numbers of at least 1"),
        (["significance", RATINGS, "--sizes", "0,5"], "--sizes takes whole numbers of at least 1"),
        (["significance", RATINGS, "--sizes", "5,11"], "11 samples of a score are asked for"),
        (["significance", "--counts", "5,3", "--sizes", "3"], "--sizes goes with an INPUT"),
        (["significance", "--counts", "5,3", "--metrics", "zz"], "--metrics goes with an INPUT"),
        (["preferences", RATINGS, "--duels", RATINGS], "no head-to-head row"),
        (
            ["preferences", RATINGS, *2 * ("--duels", "examples/duels.jsonl")],
            "called 'duels'; tell",
        ),
        (["agreement", RATINGS, "--maximum", "3"], "maximum is 3"),
        (["figures", RATINGS, "-o", "f", "--figure", "pie"], "'pie' is none of correlations"),
        (["means", RATINGS, "--systems", "best"], "no system 'best'"),
        (["correlate", RATINGS, "--metrics", ""], "--metrics names no metric"),
        (["correlate", RATINGS, "--dimensions", " , "], "--dimensions names no dimension"),
        (["agreement", RATINGS, "--systems", ","], "--systems names no system"),
        (["figures", RATINGS, "-o", "f", "--figure", ""], "--figure names no figure"),
        (["key-points", "examples/key_points.csv", "--metrics", ""], "--metrics names no metric"),
        (["means", RATINGS, "--metrics", "judge.coverage"], "--metrics goes with --of metrics"),
        (["means", RATINGS, "--of", "both", "--average-rounded"], "goes with --of human"),
        (["means", RATINGS, "--of", "metrics", "--dimensions", "coverage"], "--dimensions goes"),
        (["agreement", RATINGS, "--people"], "--people goes with --maximum"),
        (["stability", RATINGS, "--undefined", "zero"], "No such option"),
        (["figures", RATINGS, "-o", "f", "--bootstrap", "none", "--seed", "3"], "--seed goes"),
        (["key-points", "examples/key_points.csv", "--seed", "3"], "--seed goes with --bootstrap"),
        (["key-points", "examples/key_points.csv", "--no-cache"], "--no-cache goes with --scorer"),
    ],
)
def test_mistakes_are_one_line_and_status_2(run: Run, words: list[str], said: str) -> None:
    result = run("meta", *words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_an_output_that_cannot_be_written_is_said_before_the_inputs_are_read(run: Run) -> None:
    for output, said in (("no/such/folder.md", "no folder"), ("report.doc", "add --format")):
        found = run("meta", "correlate", "not-there.jsonl", "--output", output)
        assert found.exit_code == 2
        assert said in found.stderr


def test_figures_compare_all_pairs_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    module = import_module("prevalence.report.figures")
    monkeypatch.setitem(module.FIGURES, "correlations", lambda study, _: seen.append(study.pairs))
    monkeypatch.setattr(module, "save", lambda *_: None)
    words = ("meta", "figures", RATINGS, "--output", "drawn", "--figure", "correlations")
    for more in ((), ("--all-pairs",)):
        result = run(*words, *more)
        assert result.exit_code == 0, result.output
    usual, every = seen
    assert {(p.metric, p.dimension) for p in usual} < {(p.metric, p.dimension) for p in every}


def test_williams_and_holm(run: Run) -> None:
    words = ("meta", "correlate", RATINGS, "--level", "pooled", "--compare", "judge,characters")
    document = json.loads(run(*words, "--test", "williams", "--holm", "--format", "json").stdout)
    tests = [row for row in document["rows"] if row["type"] == "comparison"]
    assert [row["dimension"] for row in tests] == ["faithfulness", "coverage"]
    smaller, larger = sorted(row["p"] for row in tests)
    assert sorted(row["p_holm"] for row in tests) == pytest.approx(
        [2 * smaller, max(2 * smaller, larger)]
    )


def test_tables_say_what_their_p_values_are_not_about(run: Run) -> None:
    words = ("meta", "correlate", RATINGS, "--level")
    note = "pooled: p is too small where the summaries of an item are alike"
    assert note in run(*words, "pooled").stdout
    assert note not in run(*words, "system").stdout
    methods = "judge.coverage,judge.coverage"
    shown = run("meta", "significance", RATINGS, "--methods", methods, "--level", "pooled")
    assert shown.exit_code == 0, shown.stderr
    assert "not for other summaries" in " ".join(shown.stdout.split())


def test_a_comparison_that_is_asked_for_twice_is_made_once(run: Run) -> None:
    words = ("meta", "correlate", RATINGS, "--level", "system", "--holm", "--format", "json")
    once, twice = (run(*words, *n * ("--compare", JUDGED)).stdout for n in (1, 2))
    assert once == twice
    williams = json.loads(run(*words, *WILLIAMS, "--compare", JUDGED).stdout)["settings"]
    assert williams["test"] == "williams"
    assert williams.keys().isdisjoint({"permute", "resamples", "seed"})


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("correlate", ["--level", "system", "--compare", JUDGED, "--holm"]),
        ("correlate", ["--coefficient", "pearson", "--compare", JUDGED, "--holm"]),
        ("stability", ["--coefficient", "pearson", "--methods", JUDGED, "--parts"]),
        ("significance", ["--level", "system", "--methods", "judge,judge"]),
        ("agreement", ["--coefficient", "pearson"]),
        ("key-points", ["--coefficient", "pearson"]),
    ],
)
def test_options_that_are_given_twice_count_once(run: Run, command: str, words: list[str]) -> None:
    file = "examples/key_points.csv" if command == "key-points" else RATINGS
    once, twice = run("meta", command, file, *words), run("meta", command, file, *words, *words)
    assert (twice.exit_code, twice.stdout) == (0, once.stdout)


def test_a_comparison_says_which_summaries_it_is_about(run: Run, write: Write) -> None:
    # Of the last item, where "one" turns people's order round, "two" has no values.
    rows = [
        {"id": f"{n}", "system": s, "human": {"tone": [k]},
         "metrics": {"one": -k if n == 3 else k, **({} if n == 3 else {"two": k + (k == 1) * n})}}
        for n in range(4) for k, s in enumerate("xyz")
    ]  # fmt: skip
    words = ("meta", "correlate", write(*rows), "--level", "summary", "--compare", "one,two")
    shown = run(*words).stdout
    # (1 + 1 + 1 - 1) / 4 of all items, 1 of the first three.
    assert re.search(r"^one +0\.500", shown, re.MULTILINE)
    assert re.search(r"^one against two .* 9 of 12 +1\.000 ", shown, re.MULTILINE)
    note = "first and second are over the summaries with both metrics"
    assert note in shown
    row = json.loads(run(*words, "--format", "json").stdout)["rows"][-1]
    assert (row["compared"], row["summaries"]) == (9, 12)
    whole = run(*words, "--missing", "zero").stdout
    assert " 12 of 12 " in whole
    assert note not in whole


@pytest.mark.parametrize(
    ("rows", "said"), [(7, "of 40 resamples"), (6, r"of \d+ to \d+ resamples")]
)
def test_intervals_say_how_many_resamples_they_rest_on(
    run: Run, write: Write, rows: int, said: str
) -> None:
    # Where a metric has one value for all but one product, some resamples have no coefficient.
    records = [
        {"id": str(n), "system": "x", "human": {"tone": [n % 5]},
         "metrics": {"m": n * n % 7, **({} if rows == 7 else {"rare": int(n == 3)})}}
        for n in range(rows)
    ]  # fmt: skip
    words = ("--level", "pooled", "--bootstrap", "items", "--resamples", "40")
    shown = run("meta", "correlate", write(*records), *words).stdout
    assert re.search(rf"in brackets: bootstrap interval, {said}", shown)


def test_tables_say_why_there_is_no_interval(run: Run, write: Write) -> None:
    words = ("meta", "correlate", RATINGS, "--resamples", "40", "--level", "system", "--bootstrap")
    # Six items and five systems.
    assert re.search(r"^characters +-0\.200 \[-", run(*words, "items").stdout, re.MULTILINE)
    shown = run(*words, "both").stdout
    assert "[" not in shown
    assert "no interval for 4 of 4 figures: fewer than 6 systems to draw from" in shown
    # Seven systems in perfect order.
    rows = [
        {"id": f"{n}", "system": s, "human": {"tone": [k]}, "metrics": {"m": k}}
        for n in range(6) for k, s in enumerate("abcdefg")
    ]  # fmt: skip
    words = ("meta", "correlate", write(*rows), "--level", "summary", "--bootstrap", "systems")
    shown = run(*words).stdout
    assert "[" not in shown
    assert "no interval for 1 of 1 figure: nearly all resamples have the same coefficient" in shown


def test_an_average_is_of_all_dimensions_or_none(run: Run) -> None:
    words = ("meta", "correlate", RATINGS, "--level", "system", "--average", "--metrics")
    shown = run(*words, "judge.coverage,characters").stdout
    assert re.search(r"^judge +1\.000\*¹ +–$", shown, re.MULTILINE)
    assert re.search(r"^characters +-0\.200² +-0\.200¹ +-0\.200$", shown, re.MULTILINE)


def test_small_p_values_of_comparisons_are_no_zeros(run: Run, write: Write) -> None:
    rows = [
        {"id": f"{n}", "system": s, "human": {"tone": [n + k]},
         "metrics": {"good": n + k + 0.1 * (n % 3), "bad": (7 * n + 5 * k) % 11}}
        for n in range(30) for k, s in enumerate("xy")
    ]  # fmt: skip
    words = ("meta", "correlate", write(*rows), "--level", "pooled", "--all-pairs")
    shown = run(*words, "--compare", "good,bad", "--test", "williams", "--holm").stdout
    line = next(line for line in shown.splitlines() if line.startswith("good against bad"))
    assert re.search(r" \d\.\de-\d\d\S* +\d\.\de-\d\d$", line)


def test_preferences_need_ratings(run: Run, write: Write) -> None:
    rows = [{"id": "p", "system": s, "metrics": {"m": 1}} for s in "xy"]
    result = run("meta", "preferences", write(*rows))
    assert result.exit_code == 2
    assert "no human rating to compare with" in result.stderr


def test_stability_and_method_agreement(run: Run) -> None:
    words = ("meta", "stability", RATINGS, "--methods", "judge,characters", "--parts")
    shown = run(*words).stdout
    assert re.search(r"^judge · coverage +kendall +-0\.800 ", shown, re.MULTILINE)
    rows = json.loads(run(*words, "--format", "json").stdout)["rows"]
    assert {row["type"] for row in rows} == {"stability", "method agreement"}
    assert rows[0]["quality"]["balanced"] == pytest.approx(13 / 3)


def test_preferences_of_metrics_and_judges(run: Run) -> None:
    words = ("meta", "preferences", RATINGS, "--duels", "other=examples/duels.jsonl")
    shown = run(*words).stdout
    assert re.search(r"^judge +6/10 +9/10$", shown, re.MULTILINE)
    assert "balanced > repetitive > trivial > contradicting > unsupported" in shown
    rows = json.loads(run(*words, "--format", "json").stdout)["rows"]
    assert {row["row"] for row in rows} == {"judge", "characters", "other"}
    assert rows[0]["random"] == pytest.approx(10 / 3)


def test_a_head_to_head_judge_named_like_a_metric_has_a_line_of_its_own(run: Run) -> None:
    words = ("meta", "preferences", RATINGS, "--duels", "judge=examples/duels.jsonl")
    shown = run(*words).stdout
    assert re.search(r"^judge +6/10 +9/10$", shown, re.MULTILINE)
    assert re.search(r"^judge \(duels\) +9/10 +10/10$", shown, re.MULTILINE)
    rows = json.loads(run(*words, "--format", "json").stdout)["rows"]
    assert len({(row["row"], row["dimension"]) for row in rows}) == len(rows) == 6


def test_comparisons_without_a_verdict_are_counted(run: Run, tmp_path: Path) -> None:
    # Of ten pairs on each of six items that people rated, one has a verdict, in one order.
    duel = {"id": "ex-boots", "a": "balanced", "b": "trivial", "verdict_ab": 1, "verdict_ba": None}
    path = tmp_path / "duels.jsonl"
    path.write_text(
        json.dumps(duel | {"dimension": "coverage"}) + "\n"
        + json.dumps(duel | {"dimension": "humour", "verdict_ba": 2}) + "\n"
    )  # fmt: skip
    words = ("meta", "preferences", RATINGS, "--duels", f"h={path}")
    shown = run(*words)
    assert "comparisons by people without a verdict, left out: h.coverage 59" in shown.stderr
    assert re.search(r"^h · coverage +1 +0 +– +– +–$", shown.stdout, re.MULTILINE)
    assert re.search(r"^h · humour +0 +1 +0.000 +1.000 +0.000$", shown.stdout, re.MULTILINE)
    found = json.loads(run(*words, "--format", "json").stdout)
    assert found["settings"]["without_verdict"] == {"h.coverage": 59}
    coverage, humour = found["rows"][-2:]
    order = {"asked": 0, "once": 1, "same": 0, "first": 0, "second": 0}
    assert coverage.items() >= ({"correct": 1, "pairs": 1, "without_verdict": 59} | order).items()
    assert humour == {
        "row": "h", "metric": "h.humour", "dimension": "humour",
        "asked": 1, "once": 0, "same": 0, "first": 1, "second": 0,
    }  # fmt: skip
    lines = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").stdout)))
    assert [line["once"] for line in lines] == ["", "", "", "", "1", "0"]
    refused = run(*words, "--missing", "fail")
    assert refused.exit_code == 2
    assert "no verdict on 59 comparisons in coverage that people made" in refused.stderr


def test_metrics_of_a_dimension_that_nobody_rated_are_told(run: Run, write: Write) -> None:
    rows = [
        {"id": i, "system": s, "human": {"Fluency": [n]},
         "metrics": {"rts.fluency": n, "rts.relevance": -n}}
        for i in "ab" for n, s in enumerate("xyz")
    ]  # fmt: skip
    path = write(*rows)
    words = ("meta", "correlate", path, "--format", "json")
    found = run(*words)
    assert "did not rate, compared with none: rts.relevance (relevance); --own" in found.stderr
    assert run(*words, "--quiet").stderr == ""
    shown = json.loads(found.stdout)
    assert {row["metric"] for row in shown["rows"]} == {"rts.fluency"}
    assert shown["settings"]["unrated_dimension"] == {"rts.relevance": "relevance"}
    both = run(*words, "--own", "rts.relevance=Fluency")
    assert {row["metric"] for row in json.loads(both.stdout)["rows"]} == set(rows[0]["metrics"])
    none = run(*words, "--metrics", "rts.relevance", "--quiet")
    assert none.exit_code == 2
    assert "no metric judges what people rated (Fluency)" in none.stderr
    means = run("meta", "means", path, "--of", "metrics")
    assert (means.exit_code, "did not rate" in means.stderr) == (0, False)
    duel = {"id": "a", "a": "x", "b": "y", "dimension": "Fluency", "verdict_ab": 2}
    duels = write(duel, name="duels.jsonl")
    only = ("meta", "preferences", path, "--metrics", "rts.relevance", "--duels", duels)
    assert run(*only).exit_code == 0


def test_duels_of_a_record_that_could_not_be_read_are_left_out_and_counted(
    run: Run, tmp_path: Path
) -> None:
    bad = {"schema": 1, "id": None, "a": None, "b": None, "dimension": None, "verdict_ab": None,
           "verdict_ba": None, "signature": "judge", "error": "in.jsonl:3: not JSON"}  # fmt: skip
    duels = tmp_path / "duels.jsonl"
    sound = Path("examples/duels.jsonl").read_text(encoding="utf-8")
    duels.write_text(json.dumps(bad) + "\n" + sound, encoding="utf-8")
    words = ("meta", "preferences", RATINGS, "--format", "json", "--duels")
    found, known = run(*words, f"other={duels}"), run(*words, "other=examples/duels.jsonl")
    assert found.exit_code == 0, found.output
    assert f"left out: 1 row of {duels} with an error" in found.stderr
    assert json.loads(found.stdout)["rows"] == json.loads(known.stdout)["rows"]


def test_the_challenge_set_is_the_same_for_every_dimension(run: Run) -> None:
    alone = run("meta", "preferences", RATINGS, "--dimensions", "coverage").stdout
    assert "balanced > repetitive > trivial > contradicting > unsupported" in alone


def test_small_counts_are_tested_exactly(run: Run) -> None:
    shown = run("meta", "significance", "--counts", "5,0").stdout
    assert "0.0625 " in shown
    assert "p: exact binomial test; expected counts are below 5" in shown
    assert "p is rough: expected" in run("meta", "significance", "--counts", "5,0,1").stdout
    assert "expected counts" not in run("meta", "significance", "--counts", "9,1").stdout


def test_agreement_in_cells_and_lists(run: Run) -> None:
    shown = run("meta", "agreement", RATINGS, "--rerate", 2, "--batch", 3, "--reannotate", 0.61)
    assert "mean over cells of 3 items and one system" in shown.stdout
    assert re.search(r"^ex-kettle +repetitive +faithfulness +5, 4, 3$", shown.stdout, re.MULTILINE)
    assert "Batches to annotate again" in shown.stdout
    preset = run("meta", "agreement", RATINGS, "--convention", "opinsummeval").stdout
    assert "mean over cells of 10 items" in preset


def test_significance_of_counts_is_the_published_one(run: Run) -> None:
    shown = run("meta", "significance", "--counts", "5196,804").stdout
    assert re.search(r"^5196 : 804 +3214\.944 +1 +0\.0000\*\* +0\.732$", shown, re.MULTILINE)
    words = ("--decimals", 2, "--rounding", "truncate", "--quiet", "--debug")
    shown = run("meta", "significance", "--counts", "5196,804", *words).stdout
    assert re.search(r"^5196 : 804 +3214\.94 +1 +0\.0000\*\* +0\.73$", shown, re.MULTILINE)


def test_json_on_a_terminal_drives_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = Report("means", {"systems": ["a\u009bb\u202ec"]}, ())
    for watched, shown in ((True, "a␦b␦c"), (False, "a\u009bb\u202ec")):
        monkeypatch.setattr(sys.stdout, "isatty", lambda watched=watched: watched)
        write_sheets(report, form="json", output=None)
        assert json.loads(capsys.readouterr().out)["settings"]["systems"] == [shown]


def test_figures_without_metrics_leave_out_those_that_need_some(run: Run, write: Write) -> None:
    pytest.importorskip("matplotlib")
    path = write(
        *({"id": "a", "system": s, "human": {"tone": [n, n + 1]}} for n, s in enumerate("xy"))
    )
    result = run("meta", "figures", path, "-o", "drawn", "--format", "svg")
    assert result.stdout.split() == ["drawn/scores.svg", "drawn/ratings.svg", "drawn/means.svg"]
    asked = run("meta", "figures", path, "-o", "none", "--figure", "means,correlations")
    assert asked.exit_code == 2
    assert asked.stderr == "error: --figure correlations: the inputs hold no metrics\n"
    assert not Path("none").exists()


def test_folders_say_what_they_skip_and_stdin_is_read(
    run: Run, write: Write, tmp_path: Path
) -> None:
    row = {"id": "a", "system": "s", "human": {"tone": [1]}, "metrics": {"m": 2}}
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "rows.jsonl").write_text(json.dumps(row) + "\n")
    (folder / "texts.jsonl").write_text('{"id": "a", "text": "words"}\n')
    result = run("meta", "means", folder)
    assert result.exit_code == 0
    assert result.stderr.startswith("skipped: ")
    result = run("meta", "means", "-", "--of", "metrics", stdin=json.dumps(row) + "\n")
    assert re.search(r"^s +2\.000$", result.stdout, re.MULTILINE)


TINY = {
    "one summary": [("a", "x", 3, 1.0)],
    "two systems": [("a", "x", 3, 1.0), ("a", "y", 4, 2.0)],
    "constants": [(item, system, 3, 1.0) for item in "ab" for system in "xyz"],
    "gaps": [(item, s, None if s == "x" else 3, n) for n, item in enumerate("abc") for s in "xyz"],
}


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("command", sorted({*meta.commands} - {"figures", "key-points"}))
def test_tiny_and_degenerate_tables(run: Run, write: Write, name: str, command: str) -> None:
    rows = [
        {"id": item, "system": system, "human": {"tone": [rating]}, "metrics": {"m": value}}
        for item, system, rating, value in TINY[name]
    ]
    result = run("meta", command, write(*rows), "--format", "json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["analysis"] == command


@pytest.mark.parametrize("name", TINY)
def test_figures_of_tiny_and_degenerate_tables(run: Run, write: Write, name: str) -> None:
    pytest.importorskip("matplotlib")
    rows = [
        {"id": item, "system": system, "human": {"tone": [rating]}, "metrics": {"m": value}}
        for item, system, rating, value in TINY[name]
    ]
    words = ("--resamples", 10, "--level", "system", "--format", "svg")
    result = run("meta", "figures", write(*rows), "-o", "drawn", *words)
    assert result.exit_code == 0, result.stderr
    assert len(result.stdout.split()) == 6


def test_summaries_that_people_did_not_rate_are_counted(run: Run, write: Write) -> None:
    rows = [
        {"id": item, "system": s, "metrics": {"m": n, "k": n},
         "human": {"tone": [n if item == "a" or n else None], "ease": [n + 1]}}
        for item in "abc" for n, s in enumerate("xyz")
    ]  # fmt: skip
    rows += [{"id": "unrated", "system": s, "metrics": {"m": 1}} for s in "xyz"]
    words = ("meta", "correlate", write(*rows), "--convention", "summeval-op")
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    # Of tone the first system's on b and c, of both dimensions all three of the fourth item.
    said = "summaries that people did not rate, left out: tone 5, ease 3\n"
    assert result.stderr == said
    unrated = json.loads(run(*words, "--format", "json").stdout)["settings"]["unrated"]
    assert unrated == {"tone": 5, "ease": 3}
    assert run(*words, "-q").stderr == ""


def test_a_metric_of_other_summaries_is_named(run: Run, write: Write) -> None:
    people = [{"id": 1, "system": s, "human": {"tone": n}} for n, s in enumerate("xyz")]
    other = [{"id": 1, "system": s, "metrics": {"m": n}} for n, s in enumerate("XYZ")]
    result = run("meta", "correlate", write(*people, *other))
    assert (
        "m has no value for any rated summary: files must give ids and systems alike (m has id "
        "'1' of system 'X'; people rated id '1' of system 'x')\n"
    ) in result.stderr
    alike = run("meta", "correlate", write(*people, {**other[0], "system": "x"}))
    assert "alike" not in alike.stderr


def test_a_table_of_ratings_is_told_from_broken_json(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "ratings.txt"
    path.write_text("item,by,rater,tone\n1,x,r1,3\n")
    result = run("meta", "correlate", path)
    assert result.exit_code == 2
    assert "this looks like a row of a table, such as CSV" in result.stderr


def test_a_table_of_ratings_beside_scores(run: Run, write: Write, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("id;system;tone\n1;x;1,5\n1;y;2,5\n1;z;3\n")
    scores = write(*({"id": 1, "system": s, "metrics": {"m": n}} for n, s in enumerate("xyz")))
    words = ("meta", "correlate", scores, path, "--level", "summary", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(run(*words).stdout))
    assert float(row["value"]) == 1


@pytest.mark.parametrize("command", ["correlate", "stability", "preferences", "agreement"])
def test_what_is_missing_is_counted_by_every_command(run: Run, write: Write, command: str) -> None:
    rows = [
        {"id": item, "system": s, "human": {"tone": [n, n if item == "a" else None]},
         "metrics": {"m": n if item == "a" else None}}
        for item in "ab" for n, s in enumerate("xyz")
    ]  # fmt: skip
    words = ("meta", command, write(*rows), "--convention", "summeval-op")
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    assert "rated summaries without a value, left out: m 3" in result.stderr
    assert json.loads(run(*words, "--format", "json").stdout)["settings"]["without_value"] == {
        "m": 3
    }
    assert run(*words, "-q").stderr == ""
    if command == "correlate":
        assert re.search(r"^m +1\.00¹ +1\.00¹$", result.stdout, re.MULTILINE)
        assert "2 coefficients left out of means for lack of two values" in result.stdout
    if command == "agreement":
        assert "ratings that are missing, of summaries that others rated: tone 3" in result.stdout
        assert "2 coefficients left out of means" not in result.stdout
        assert "1 coefficient left out of means for lack of two values" in result.stdout


def test_people_agree_with_themselves(run: Run) -> None:
    words = ("meta", "correlate", RATINGS, "--people", "--all-pairs", "--level", "pooled")
    rows = json.loads(run(*words, "--format", "json").stdout)["rows"]
    found = {(row["metric"], row["dimension"]): row["value"] for row in rows}
    assert found["people.coverage", "coverage"] == pytest.approx(1.0)
    other = found["people.coverage", "faithfulness"]
    assert other == pytest.approx(found["people.faithfulness", "coverage"])
    assert other < 1


def test_duels_of_systems_and_dimensions_that_are_not_chosen_are_passed_over(run: Run) -> None:
    words = ("meta", "preferences", RATINGS, "--duels", "other=examples/duels.jsonl")
    shown = run(*words, "--systems", "trivial,balanced", "--dimensions", "coverage").stdout
    assert re.search(r"^other +1/1$", shown, re.MULTILINE)
    assert "order by mean human score over all dimensions: balanced > trivial" in shown
    assert "not rated by people" not in shown


def test_samples_that_are_all_null_are_none(run: Run, write: Write) -> None:
    rows = [
        {"id": "a", "system": s, "samples": {"m": [None, None]}, "human": {"q": [1, 2]}}
        for s in "abc"
    ]
    path = write(*rows)
    found = run("meta", "significance", path)
    assert found.exit_code == 0, found.output
    assert "number of samples" not in found.stdout
    assert "'m' has no samples" in run("meta", "significance", path, "--methods", "m,m").stderr


def test_a_name_that_is_given_twice_counts_once(run: Run) -> None:
    words = ("meta", "correlate", RATINGS, "--format", "csv", "--systems")
    once = run(*words, "balanced,trivial,repetitive")
    assert once.exit_code == 0
    assert run(*words, "balanced,trivial,balanced,repetitive").stdout == once.stdout


def test_a_metric_of_a_dimension_that_is_not_chosen_is_left_out(run: Run) -> None:
    words = ("meta", "correlate", RATINGS, "--dimensions", "coverage", "--format", "json")
    every, chosen = (
        {(row["metric"], row["dimension"], row["level"]): row for row in json.loads(text)["rows"]}
        for text in (run(*words[:3], *words[5:]).stdout, run(*words).stdout)
    )
    assert chosen == {key: row for key, row in every.items() if key[1] == "coverage"}
    for also in ("--all-pairs", "--own=judge.faithfulness=coverage"):
        rows = json.loads(run(*words, also).stdout)["rows"]
        assert "judge.faithfulness" in {row["metric"] for row in rows}
    refused = run(*words, "--metrics", "judge.faithfulness")
    assert refused.exit_code == 2
    assert "--dimensions leaves out faithfulness, which judge.faithfulness judges" in refused.stderr


def test_duels_without_a_dimension_are_named(run: Run, tmp_path: Path) -> None:
    duel = {"id": "ex-boots", "a": "balanced", "b": "trivial", "verdict_ab": 1, "verdict_ba": 1}
    path = tmp_path / "duels.jsonl"
    path.write_text(json.dumps(duel) + "\n")
    words = ("meta", "preferences", RATINGS, "--duels", path)
    refused = run(*words)
    assert refused.exit_code == 2
    assert f"{path}:1: dimension: is missing; name what was compared; people rated:" in (
        refused.stderr
    )
    one = run(*words, "--dimensions", "coverage", "--format", "json")
    assert {row["row"] for row in json.loads(one.stdout)["rows"]} >= {"duels"}
    path.write_text(json.dumps(duel | {"b": "balanced"}) + "\n")
    refused = run(*words)
    assert f"{path}:1: b: is the string 'balanced', as a is; give two systems" in refused.stderr
    path.write_text(json.dumps(duel | {"dimension": "humour"}) + "\n")
    assert "compared, but not rated by people: duels · humour" in run(*words).stdout
