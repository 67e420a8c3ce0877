"""`prevalence support`, `models`, `cache`, and the help of every command."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prevalence.cli import main
from prevalence.models.registry import REGISTRY, Checkpoint
from prevalence.scorers.registry import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]

LEXICAL = ("--model", "rouge1-precision", "--threshold", "0.5")


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    path = tmp_path / "reviews.txt"
    path.write_text("Such warm boots.\n\nthey leak badly\nwarm and dry boots\n")
    return path


def test_support_counts_and_names_reviews_of_a_text_file(run: Run, reviews: Path) -> None:
    # Blank lines are no reviews. Both words of "Warm boots." are in reviews 0 and 2.
    result = run("support", *LEXICAL, reviews, "Warm boots.", "It squeaks.")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0] == "2 of 3 reviews (67%)  Warm boots."
    assert lines[1].split()[:3] == ["supports", "reviews[0]", "1.000"]
    assert lines[2].split()[:3] == ["supports", "reviews[2]", "1.000"]
    assert lines[3] == "0 of 3 reviews (0%)  It squeaks."


def test_support_as_json_and_jsonl(run: Run, reviews: Path) -> None:
    words = ("support", *LEXICAL, reviews, "Warm boots.", "They leak.")
    array = json.loads(run(*words, "--format", "json").stdout)
    lines = [json.loads(x) for x in run(*words, "--format", "jsonl").stdout.splitlines()]
    assert array == lines
    assert [row["support"] for row in array] == [2, 1]
    assert array[0]["supporting_reviews"] == [0, 2]
    assert array[0]["entailment"] == [1.0, 0.0, 1.0]
    assert array[0]["contradicting_reviews"] is None
    assert "trivial:" not in array[0]["signature"]


def test_support_takes_one_product_of_several(
    run: Run, write: Write, boots: dict[str, Any]
) -> None:
    path = write(boots, {**boots, "id": "p2", "reviews": ["they leak"]})
    words = ("support", *LEXICAL, path, "They leak.")
    assert "1 of 1 review (" in run(*words, "--product", "p2").stdout
    assert "1 of 3 reviews" in run(*words, "--product", "p1").stdout
    for extra in ([], ["--product", "p3"]):
        result = run(*words, *extra)
        assert result.exit_code == 2
        assert "p1, p2" in result.stderr


def test_support_reads_stdin(run: Run) -> None:
    result = run("support", *LEXICAL, "-", "Warm boots.", stdin="warm boots\n")
    assert result.stdout.startswith("1 of 1 review (100%)")


def test_support_shows_as_many_reviews_as_asked(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "r.txt"
    path.write_text("warm boots\n" * 7)
    words = ("support", *LEXICAL, path, "Warm boots.")
    assert run(*words).stdout.count("supports") == 5
    assert "and 2 more" in run(*words).stdout
    assert run(*words, "--show", 0).stdout == "7 of 7 reviews (100%)  Warm boots.\n"


@pytest.mark.parametrize(
    ("statement", "said"), [(" ", "statement 0 is empty"), ("", "statement 0 is empty")]
)
def test_support_refuses_an_empty_statement(
    run: Run, reviews: Path, statement: str, said: str
) -> None:
    result = run("support", *LEXICAL, reviews, statement)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("baselines", "--metrics", "length,coverage", "-q", "--output"),
        ("claims", "-q", "--output"),
        ("judge", "--method", "rts", "--dimensions", "fluency", "-q", "--export"),
    ],
)
def test_reviews_may_be_in_a_file_of_their_own(
    run: Run, tmp_path: Path, words: tuple[str, ...]
) -> None:
    texts = ["Such warm boots.", "They leak badly."]
    summaries = {"a": "They are warm.", "b": "They leak. They are cold."}
    record = {"id": "p1", "reviews": texts, "summaries": summaries}
    (tmp_path / "whole.jsonl").write_text(json.dumps(record))
    (tmp_path / "reviews.csv").write_text("id,review\n" + "".join(f"p1,{t}\n" for t in texts))
    rows = "".join(f"p1,{system},{text}\n" for system, text in summaries.items())
    (tmp_path / "apart.csv").write_text(f"id,system,summary\n{rows}")
    command, *options = words
    files = {"whole.jsonl": [], "apart.csv": ["--reviews", tmp_path / "reviews.csv"]}
    made = []
    for name, more in files.items():
        result = run(command, tmp_path / name, *more, *options, tmp_path / f"{name}.out.jsonl")
        assert result.exit_code == 0, result.output
        made.append((tmp_path / f"{name}.out.jsonl").read_text())
    assert made[0] == made[1] != ""


def test_models_lists_the_registry(run: Run) -> None:
    shown = run("models").stdout
    listed = json.loads(run("models", "--json").stdout)
    assert [entry["name"] for entry in listed] == list(REGISTRY)
    assert all(name in shown for name in REGISTRY)
    paper = next(line for line in shown.splitlines() if line.startswith("roberta-large-mnli"))
    assert paper.split()[1:3] == ["0.04", "512"]
    embedded = next(line for line in shown.splitlines() if line.startswith("embedded"))
    # What its signature says: attn:premise-first|trunc:302+102.
    assert embedded.split()[2] == "302+102"
    assert "cross-encoder" not in embedded
    assert [(entry["max_length"], entry["max_hypothesis"]) for entry in listed[:2]] == [
        (302, 102), (302, 102)
    ]  # fmt: skip
    assert all(f"\n{family.usage}\n    {family.about}" in shown for family in FAMILIES.values())


def test_models_shows_error_rates_set_by_set(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    rates = [("a", "all", 0.7635), ("b", "all", 0.31249), ("a", "odd", None)]
    found = {"phenomena": [
        {"set": name, "phenomenon": what, "pairs": 9, "sensitivity": rate, "specificity": 1.0}
        for name, what, rate in rates
    ]}  # fmt: skip
    monkeypatch.setattr(Checkpoint, "stated_errors", lambda _: found)
    lines = run("models").stdout.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("set "))
    assert [line.split() for line in lines[start + 1 : start + 4]] == [
        ["a", "all", "9", "76.4%", "100.0%"],
        ["a", "odd", "9", "–", "100.0%"],
        ["b", "all", "9", "31.2%", "100.0%"],
    ]
    assert lines.count("docs/errors.md explains the sets of these tables.") == 1


def test_models_shows_one_model_or_folder(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    refused = run("models", folder)
    assert refused.exit_code == 2
    assert (
        "no folder with a config.json, and no name that `prevalence models` lists" in refused.stderr
    )
    config = folder / "config.json"
    config.write_text('{"prevalence_threshold": 0.25, "prevalence_max_length": 64}')
    plain = run("models", folder).stdout
    assert plain.splitlines()[1].split()[1:3] == ["0.25", "64"]
    assert "No error rates on held-out pairs are stated: prevalence train states them" in plain
    stated = {
        "source": "mine, 3 folds",
        "threshold": 0.25,
        "products": [[3, 1, 5, 5], [3, 1, 5, 0]],
    }
    (folder / "errors.json").write_text(json.dumps(stated))
    shown = run("models", folder).stdout
    assert (
        f"{folder} on mine, 3 folds: it finds 75.0% of what a review supports (6 of 8 pairs) and "
        "turns down 66.7% of what it does not (10 of 15)." in shown
    )
    assert "No error rates" not in shown
    assert "roberta" not in shown
    (entry,) = json.loads(run("models", folder, "--json").stdout)
    assert (entry["threshold"], entry["max_length"], entry["errors"]) == (0.25, 64, stated)
    (known,) = json.loads(run("models", "embedded", "--json").stdout)
    assert known["name"] == "embedded"
    config.write_text("[]")
    assert "config.json: cannot be read" in run("models", folder).stderr


def test_cache_info_creates_nothing(run: Run, cache_folder: Path) -> None:
    for words in (["info"], ["clear"]):
        assert run("cache", *words).stdout.startswith("no cache yet at ")
    assert not cache_folder.exists()


def test_a_cache_that_cannot_be_searched_is_none(
    run: Run, cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = os.stat

    def stat(path: Any, *more: Any, **options: Any) -> os.stat_result:
        if str(path).startswith(str(cache_folder)):
            raise PermissionError(13, "Permission denied")
        return usual(path, *more, **options)

    monkeypatch.setattr(os, "stat", stat)
    assert run("cache", "info").stdout.startswith("no cache yet at ")
    assert run("cache", "clear").stderr == "error: Permission denied\n"


@pytest.mark.filterwarnings("always")
def test_without_a_home_a_run_has_no_cache(
    run: Run, reviews: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("PREVALENCE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    for words in (["info"], ["clear"]):
        found = run("cache", *words)
        assert found.exit_code == 2
        assert found.stderr == (
            "error: the user has no home folder for a cache: set $PREVALENCE_CACHE or give "
            "--cache\n"
        )
    found = run("support", *LEXICAL, reviews, "Warm boots.")
    assert found.exit_code == 0
    assert "warning: nothing is cached: the user has no home folder" in found.stderr


def test_a_cache_of_no_known_user_is_refused(run: Run) -> None:
    result = run("cache", "--cache", "~nobody-of-that-name/cache", "info")
    assert result.exit_code == 2
    assert "begins with ~ and no known user" in result.stderr


def test_cache_info_and_clear(run: Run, reviews: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    run("support", *LEXICAL, reviews, "Warm boots.", "--cache", folder)
    info = run("cache", "--cache", folder, "info").stdout
    assert info.splitlines()[0].endswith("pairs-v1.sqlite")
    assert info.splitlines()[1].split() == ["pairs", "3"]
    assert run("cache", "--cache", folder, "clear").stdout == "cleared 3 pairs\n"
    assert "pairs   0" in run("cache", "--cache", folder, "info").stdout


@pytest.mark.parametrize(
    "words",
    [[], ["score"], ["support"], ["models"], ["cache"], ["train"], ["simplify"],
     ["train-simplifier"]],
)  # fmt: skip
def test_every_command_has_help_with_an_example(run: Run, words: list[str]) -> None:
    for flag in ("--help", "-h"):
        result = run(*words, flag)
        assert result.exit_code == 0
        assert "Example" in result.stdout
        assert result.stdout.startswith("Usage: ")
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_short_help_is_the_first_line_of_the_long_one() -> None:
    import click

    context, formatter = click.Context(main), click.HelpFormatter(width=1_000)
    main.format_commands(context, formatter)
    listed = dict(line.split(maxsplit=1) for line in formatter.getvalue().splitlines()[1:])
    assert list(listed) == main.list_commands(context)
    for name, line in listed.items():
        command = main.get_command(context, name)
        assert command is not None
        assert (command.help or "").splitlines()[0] == line or name == "train"


def test_options_stand_in_groups(run: Run) -> None:
    shown = run("score", "--help").stdout
    titles = ["Input:", "Scoring:", "Model:", "Cache:", "Output:", "Statistics:", "Other:"]
    assert [line for line in shown.splitlines() if line in titles] == titles
    assert "INPUT..." not in shown.split("Other:")[1]


def test_an_unknown_command_is_one_line(run: Run) -> None:
    result = run("scor")
    assert result.exit_code == 2
    assert result.stderr == "error: No such command 'scor' (see main --help)\n"
