"""`prevalence summarize`: what every option does, seen from outside."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from prevalence.cli.summarize import summarize as summarize_command

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Shell = Callable[..., subprocess.CompletedProcess[str]]
    Write = Callable[..., Path]

LEXICAL = ("--model", "rouge1-precision", "--threshold", "0.5")


@pytest.fixture
def summarize(run: Run, tmp_path: Path) -> Run:
    """Run the command with the lexical scorer; --output goes to out.jsonl."""

    def invoke(path: object, *arguments: object, output: str = "out.jsonl") -> Result:
        return run("summarize", path, *LEXICAL, "--output", tmp_path / output, *arguments)

    return invoke


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_new_summary_stands_beside_the_old_ones_and_score_reads_it(
    summarize: Run, score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    # "Such warm boots." has 2 of 3 words in review 1, so support 2, as has "warm warm boots."
    # (both are implied by the first); "they leak badly." has 1.
    result = summarize(write({**boots, "note": "kept"}), "--sentences", "2")
    assert (result.exit_code, result.stdout) == (0, "")
    (record,) = records(tmp_path / "out.jsonl")
    assert record["reviews"] == boots["reviews"]
    assert list(record["summaries"]) == ["good", "double", "greedy"]
    assert record["note"] == "kept"
    made = record["summaries"]["greedy"]
    assert made["text"] == "Such warm boots. they leak badly."
    assert [s["support"] for s in made["extract"]["sentences"]] == [2, 1]
    scored = score(tmp_path / "out.jsonl", "--format", "jsonl")
    rows = {row["system"]: row for row in map(json.loads, scored.stdout.splitlines())}
    assert rows["greedy"]["prevalence"] == pytest.approx(3 / 6)
    assert rows["good"]["prevalence"] == pytest.approx(2 / 3)


def test_records_without_a_summary_are_welcome(
    run: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    del boots["summaries"]
    words = ("--method", "lead", "--system", "first", "--output", tmp_path / "out.jsonl")
    assert run("summarize", write(boots), *words).exit_code == 0
    (record,) = records(tmp_path / "out.jsonl")
    assert list(record["summaries"]) == ["first"]


@pytest.mark.parametrize(
    ("options", "length"),
    [
        (["--sentences", "1"], "1s"),
        (["--length", "17.5"], "17.5c"),
        # 11 characters less half of 11.
        (["--like", "good"], "5.5c"),
        ([], "5s"),
    ],
)
def test_lengths(
    summarize: Run,
    write: Write,
    boots: dict[str, Any],
    tmp_path: Path,
    *,
    options: list[str],
    length: str,
) -> None:
    assert summarize(write(boots), *options).exit_code == 0
    (record,) = records(tmp_path / "out.jsonl")
    assert f"|length:{length}|" in record["summaries"]["greedy"]["extract"]["signature"]


@pytest.mark.parametrize("method", ["random", "lead", "lexrank"])
def test_rivals_load_no_model(
    run: Run,
    write: Write,
    boots: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    method: str,
) -> None:
    output = tmp_path / "out.jsonl"
    monkeypatch.setattr("prevalence.scorers.registry.open_scorer", None)
    result = run("summarize", write(boots), "--method", method, "--no-cache", "-o", output)
    assert result.exit_code == 0, result.stderr
    (record,) = records(output)
    assert record["summaries"][method]["extract"]["delta"] is None


def test_racing_says_what_it_promises_and_what_it_asked(
    summarize: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    boots["reviews"] = [f"{word} boots are warm." for word in "abcdefghijklmnopqrstuvwxyz"] * 4
    result = summarize(write(boots), "--search", "racing", "--racing-confidence", "0.9")
    assert "δ = 0.1 a product: with probability 0.9 or more" in result.stderr
    asked, possible, avoided = map(
        int, re.search(r"(\d+) of reviews\); of (\d+) review pairs (\d+) ",
                       result.stderr.replace(",", "")).groups(),  # type: ignore[union-attr]
    )  # fmt: skip
    assert asked + avoided == possible == 104 * 26
    (record,) = records(tmp_path / "out.jsonl")
    extract = record["summaries"]["greedy"]["extract"]
    assert extract["delta"] == pytest.approx(0.1)
    assert "with probability 0.9 or more" in extract["guarantee"]
    assert extract["calls"]["reviews"] == asked
    assert extract["calls"]["avoided"] == avoided


def test_an_interrupted_run_continues(
    summarize: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    many = [{**boots, "id": f"p{number}"} for number in range(3)]
    source, output = write(*many), tmp_path / "out.jsonl"
    summarize(source)
    whole = output.read_bytes()
    lines = whole.splitlines(keepends=True)
    output.write_bytes(lines[0] + lines[1][:25])
    result = summarize(source)
    assert result.exit_code == 0
    assert "1 product was in" in result.stderr
    assert output.read_bytes() == whole
    assert "3 products were in" in summarize(source).stderr
    assert output.read_bytes() == whole


@pytest.mark.parametrize("change", ["settings", "reviews", "fewer"])
def test_the_output_of_another_run_is_refused_and_left_alone(
    summarize: Run, write: Write, boots: dict[str, Any], tmp_path: Path, change: str
) -> None:
    other = {**boots, "id": "p2"}
    summarize(write(boots, other), "--sentences", "2")
    before = (tmp_path / "out.jsonl").read_bytes()
    options = ["--sentences", "3" if change == "settings" else "2"]
    if change == "reviews":
        other = {**other, "reviews": ["Dry boots."]}
    source = write(boots) if change == "fewer" else write(boots, other)
    result = summarize(source, *options)
    assert result.exit_code == 2
    assert "choose another --output, or --overwrite" in result.stderr
    assert (tmp_path / "out.jsonl").read_bytes() == before
    assert summarize(source, *options, "--overwrite").exit_code == 0


def test_what_cannot_be_summarised_is_said_and_left_out(
    summarize: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    source = write(
        boots,
        {**boots, "id": "p2", "summaries": {"other": "Warm."}},
        "{broken",
        {**boots, "id": "p4", "reviews": [" "]},
        {**boots, "id": "p5", "summaries": {"good": "Warm.", "greedy": "Warm."}},
        {**boots, "id": "p6"},
    )
    for _ in range(2):
        result = summarize(source, "--like", "good")
        assert result.exit_code == 1
        errors = [line for line in result.stderr.splitlines() if line.startswith("error")]
        for error, line, found in zip(
            errors,
            [2, 3, 4, 5],
            ["no summary by 'good'", "", "no sentence", "already"],
            strict=True,
        ):
            assert f"input.jsonl:{line}" in error
            assert found in error
        assert [record["id"] for record in records(tmp_path / "out.jsonl")] == ["p1", "p6"]


def test_nothing_made_is_status_2(summarize: Run, write: Write, boots: dict[str, Any]) -> None:
    assert summarize(write({**boots, "reviews": [" "]})).exit_code == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--length", "9", "--sentences", "2"], "exclude one another"),
        (["--method", "lead", "--search", "racing"], "--search goes with --method greedy"),
        (["--method", "lead", "--refuse-contradictions"], "goes with --method greedy"),
        (["--refuse-contradictions"], "three-way model"),
        (["--no-trivial", "--trivial-template", "script"], "exclude each other"),
        (["--system", " "], "--system is empty"),
        (["--racing-confidence", "0"], "--racing-confidence"),
        (["--racing-confidence", "0.9"], "--racing-confidence goes with --search racing"),
        (["--method", "lead"], "--model has no effect with --method lead"),
        (["--method", "centroid"], "--threshold has no effect with --method centroid"),
    ],
)
def test_options_that_do_not_fit_are_one_line_and_status_2(
    summarize: Run, write: Write, boots: dict[str, Any], options: list[str], message: str
) -> None:
    result = summarize(write(boots), *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("method", ["random", "lead", "lexrank", "centroid", "llm"])
@pytest.mark.parametrize(
    "given", [("--calibration", "c.json"), ("--windows", "8"), ("--threshold", "0.1")]
)
def test_what_a_method_does_not_read_is_refused(
    run: Run, write: Write, boots: dict[str, Any], method: str, given: tuple[str, str]
) -> None:
    words = ("--method", method, "--output", "out.jsonl", *given)
    result = run("summarize", write(boots), *words)
    assert result.exit_code == 2
    assert f"{given[0]} has no effect with --method {method}" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("method", ["lead", "lexrank", "centroid"])
def test_what_draws_nothing_takes_no_seed(
    run: Run, write: Write, boots: dict[str, Any], tmp_path: Path, method: str
) -> None:
    words = ("--method", method, "--seed", "1", "--output", tmp_path / "out.jsonl")
    result = run("summarize", write(boots), *words)
    assert result.exit_code == 2
    assert f"--seed has no effect with --method {method}" in result.stderr


def test_an_empty_summary_is_said(summarize: Run, write: Write, tmp_path: Path) -> None:
    # The product statement is "I bought a lamp.", of which every word counts as said.
    product = {"id": "l", "name": "lamp", "reviews": ["I bought a lamp.", "A bought lamp."]}
    result = summarize(write(product))
    assert result.exit_code == 0, result.stderr
    (record,) = records(tmp_path / "out.jsonl")
    assert record["summaries"]["greedy"]["text"] == ""
    assert "1 summary is empty" in result.stderr
    assert "--no-trivial" in result.stderr


def test_centroid_needs_an_encoder(
    run: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    words = ("--method", "centroid", "--model", "rouge1-precision", "-o", tmp_path / "o.jsonl")
    result = run("summarize", write(boots), *words)
    assert result.exit_code == 2
    assert "rouge1-precision" in result.stderr


def test_the_input_is_not_written_over(run: Run, write: Write, boots: dict[str, Any]) -> None:
    path = write(boots)
    result = run("summarize", path, "--output", path)
    assert result.exit_code == 2
    assert "would be overwritten" in result.stderr
    assert records(path) == [boots]


@pytest.mark.parametrize("suffix", [".csv", ".TSV", ".json", ".parquet"])
def test_an_output_of_another_kind_is_refused(
    run: Run, write: Write, boots: Any, tmp_path: Path, suffix: str
) -> None:
    output = tmp_path / f"out{suffix}"
    for command in (["summarize"], ["simplify", "--model", "x"]):
        result = run(*command, write(boots), "--output", output)
        assert result.exit_code == 2
        said = f"--output: {output} would hold JSON Lines; name it {tmp_path / 'out.jsonl'}"
        assert said in result.stderr
        assert not output.exists()


def test_a_folder_that_is_not_there_is_said(run: Run, write: Write, boots: Any) -> None:
    result = run("summarize", write(boots), "--output", "/nowhere/at/all.jsonl")
    assert result.exit_code == 2
    assert "no folder /nowhere/at" in result.stderr


def test_centroid_reads_the_embedded_model_unless_told_otherwise(
    run: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    output = tmp_path / "out.jsonl"
    result = run("summarize", write(boots), "--method", "centroid", "--output", output)
    assert (result.exit_code, result.stdout) == (0, "")
    made = records(output)[0]["summaries"]["centroid"]
    assert made["text"]
    assert "encoder:embedded@" in made["extract"]["signature"]


def test_limit_and_quiet(
    summarize: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    source = write(boots, {**boots, "id": "p2"})
    result = summarize(source, "--limit", "1", "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [record["id"] for record in records(tmp_path / "out.jsonl")] == ["p1"]


@pytest.mark.slow
def test_examples_of_the_help_work(shell: Shell, repository: Path, tmp_path: Path) -> None:
    epilog = summarize_command.epilog or ""
    text = epilog.partition("Examples:")[2].partition("\b")[0].replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("prevalence")]
    assert len(lines) == 5
    for line in lines:
        absolute = line.replace("examples/", f"{repository}/examples/")
        # The lexical scorer stands in for the model, which would take minutes.
        lexical = "" if "--method" in line else " --model rouge1-precision"
        done = shell(absolute + lexical, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.glob("*.jsonl")} == {
        "with-greedy.jsonl", "racing.jsonl", "lexrank.jsonl",
    }  # fmt: skip
