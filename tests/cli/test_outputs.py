"""Outputs: never over what is read; after an interrupt, what is said of one lies there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from prevalence.cli.outputs import LineFile, LineWriter, kept_parts
from prevalence.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]

COMMANDS = {
    "score": (["score", "--model", "rouge1-precision", "--no-cache"], "rows"),
    "baselines": (["baselines", "--metrics", "rouge-1:against=reviews"], "rows"),
    "judge": (
        ["judge", "--method", "rts", "-d", "fluency", "--backend", "replay:REPLIES"],
        "rows",
    ),
    "summarize": (["summarize", "--method", "lead", "--sentences", "1"], "products"),
    "llm": (
        ["summarize", "--method", "llm", "--backend", "replay:REPLIES"],
        "products",
    ),
}


@pytest.fixture
def line_of(write: Write, boots: dict[str, Any]) -> Callable[[str], list[str]]:
    """The words of a command over five products, all but its output."""
    many = [{**boots, "id": f"p{n}", "summaries": {"good": "Warm boots."}} for n in range(5)]
    source = write(*many)
    asked = [("rts", "good", "fluency", "Score: 3"), ("llm-summary", "", "reviews", "They leak.")]
    replies = write(
        *(
            {"id": f"p{n}", "method": method, "system": system, "dimension": dimension,
             "replies": [reply]}
            for n in range(5)
            for method, system, dimension, reply in asked
        ),
        name="replies.jsonl",
    )  # fmt: skip

    def words(name: str) -> list[str]:
        options = [word.replace("REPLIES", str(replies)) for word in COMMANDS[name][0]]
        return [options[0], str(source), *options[1:]]

    return words


def stopping(at_once: Callable[..., None], calls: int, *, before: bool) -> Callable[..., None]:
    """A method that gets Ctrl-C in its third call: before it has done its work, or after it."""
    count = 0

    def method(self: LineFile, *words: str) -> None:
        nonlocal count
        count += 1
        if count == calls and before:
            at_once(self, *(word[: len(word) // 2] for word in words))
            raise KeyboardInterrupt
        at_once(self, *words)
        if count == calls:
            raise KeyboardInterrupt

    return method


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("place", ["after the line", "inside the line"])
def test_the_count_is_that_of_the_file(
    run: Run,
    line_of: Callable[[str], list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    name: str,
    place: str,
) -> None:
    output, whole = tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    words, what = line_of(name), COMMANDS[name][1]
    assert run(*words, "--output", whole).exit_code == 0
    with monkeypatch.context() as patch:
        inside = place == "inside the line"
        method = "write" if inside else "flush"
        patch.setattr(LineFile, method, stopping(getattr(LineFile, method), 3, before=inside))
        stopped = run(*words, "--output", output)
    assert stopped.exit_code == 130
    done = output.read_text().count("\n")
    assert done == (2 if inside else 3)
    assert stopped.stderr.splitlines()[-1] == (
        f"interrupted: {done} {what} are in {output}; the same command continues from there"
    )
    again = run(*words, "--output", output)
    assert again.exit_code == 0
    assert f"{done} {what} were in {output} already" in again.stderr
    assert output.read_bytes() == whole.read_bytes()


def test_begun_anew_the_same_command_would_not_go_on(
    run: Run, line_of: Callable[[str], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out.jsonl"
    words = [*line_of("score"), "--output", str(output)]
    run(*words)
    with monkeypatch.context() as patch:
        patch.setattr(LineFile, "flush", stopping(LineFile.flush, 2, before=False))
        stopped = run(*words, "--overwrite")
    assert stopped.stderr.splitlines()[-1] == (
        f"interrupted: 2 rows are in {output}; the same command without --overwrite continues from "
        "there"
    )


def interrupt_scoring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Press Ctrl-C when the first pairs are asked about."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("prevalence.scorers.rouge.RougeScorer.score", interrupted)


@pytest.mark.parametrize(
    ("cached", "kept"), [(False, ""), (True, "; pairs scored so far are in the cache")]
)
def test_before_the_first_row_pairs_may_be_kept(
    run: Run,
    line_of: Callable[[str], list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    cached: bool,
    kept: str,
) -> None:
    interrupt_scoring(monkeypatch)
    output = tmp_path / "out.jsonl"
    words = [word for word in line_of("score") if word != "--no-cache"]
    cache = ("--cache", tmp_path / "pairs") if cached else ("--no-cache",)
    stopped = run(*words, "--output", output, *cache)
    assert stopped.stderr == f"interrupted: no row was written to {output} yet{kept}\n"


def test_a_file_that_was_not_begun_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    path.write_text("old\n")
    with LineFile(path, overwrite=True) as lines:
        assert lines.kept("row") == f"no row was written to {path} yet"
    assert path.read_text() == "old\n"
    with LineFile(path, overwrite=False) as lines:
        assert lines.kept("row").startswith(f"1 row is in {path}; the same command continues")
        lines.write(json.dumps("new") + "\n")
    assert path.read_text() == 'old\n"new"\n'


@pytest.mark.parametrize("name", ["score", "baselines"])
def test_old_rows_outlive_an_input_that_cannot_be_read(
    run: Run, line_of: Callable[[str], list[str]], tmp_path: Path, name: str
) -> None:
    output, picture = tmp_path / "out.jsonl", tmp_path / "picture.jsonl"
    words = line_of(name)
    assert run(*words, "--output", output).exit_code == 0
    whole = output.read_bytes()
    picture.write_bytes(b"PK\x03\x04 not text")
    words[1] = str(picture)
    assert run(*words, "--output", output, "--overwrite").exit_code == 2
    assert output.read_bytes() == whole
    assert run(*words, "--output", tmp_path / "new.jsonl").exit_code == 2
    assert not (tmp_path / "new.jsonl").exists()


def test_an_output_without_rows_is_begun_in_the_end(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    path.write_text("old\n")
    with LineFile(path, overwrite=True) as lines:
        LineWriter(lines).close()
    assert path.read_text() == ""


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("score IN -o IN", "an input"),
        ("score IN --calibration FILE -o FILE", "--calibration"),
        ("score IN --product-names FILE -o FILE", "--product-names"),
        ("score IN --model adapter:FILE -o FILE", "--model"),
        ("score IN --reviews FILE -o FILE", "--reviews"),
        ("summarize IN --calibration FILE -o FILE", "--calibration"),
        ("baselines IN -m rouge-1 -o IN", "an input"),
        ("judge IN -m rts --backend replay:FILE -o FILE", "--backend"),
        ("judge IN -m h2h --pairs FILE --backend hf:x -o FILE", "--pairs"),
        ("simplify IN --model x -o IN", "an input"),
        ("calibrate IN --held-out FILE --output FILE", "--held-out"),
        ("score IN --model superpal:adapter:FILE -o FILE", "--model"),
        ("calibrate IN --scorer cosine|adapter:FILE -o FILE", "--scorer"),
        ("baselines IN -m summac-conv:head=FILE,bins=even50 -o FILE", "--metrics"),
        ("meta preferences IN --duels L=FILE -o FILE", "--duels"),
        ("distill IN --output IN --overwrite", "an input"),
        ("distill IN --calibration FILE --output FILE --overwrite", "--calibration"),
        ("conv train HEAD --output HEAD", "an input"),
        ("meta correlate LABEL=FILE -o FILE", "an input"),
    ],
)
def test_nothing_that_is_read_is_written_over(
    run: Run, write: Write, boots: dict[str, Any], words: str, what: str
) -> None:
    ratings = {"id": "p", "system": "s", "metrics": {"m": 1.0}, "human": {"d": [1.0]}}
    files = {
        "IN": write(boots, name="in.jsonl"),
        "FILE": write(ratings, name="side.json"),
        "HEAD": write(boots, name="head.safetensors"),
    }
    before = {name: path.read_bytes() for name, path in files.items()}
    for name, path in files.items():
        words = words.replace(name, str(path))
    result = run(*words.split())
    assert result.exit_code == 2
    assert f" is {what}, which would be overwritten" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert {name: path.read_bytes() for name, path in files.items()} == before


def test_a_name_in_a_list_is_no_file(
    run: Run, write: Write, boots: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("baselines", write(boots), "-m", "rouge-1:against=reviews", "--systems", "good,double")
    for name in ("reviews", "good", "double"):
        codes = [run(*words, "--output", name).exit_code for _ in range(2)]
        assert codes == [0, 0], name


@pytest.mark.parametrize(
    ("cached", "kept"),
    [(False, "nothing is kept"), (True, "pairs scored so far are in the cache")],
)
def test_an_interrupted_teacher_says_what_is_kept(
    run: Run,
    write: Write,
    boots: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    cached: bool,
    kept: str,
) -> None:
    interrupt_scoring(monkeypatch)
    cache = ("--cache", tmp_path / "pairs") if cached else ("--no-cache",)
    boots["reviews"] = ["They keep my feet dry.", "The laces come undone too often."]
    words = ("--model", "rouge1-precision", "--output", tmp_path / "taught.jsonl", *cache)
    result = run("distill", write(boots), *words, "--foreign", "0")
    assert result.exit_code == 130
    assert result.stderr.startswith(f"interrupted: {kept}")
    assert len(result.stderr.splitlines()) == 1
    assert not list(tmp_path.glob("*taught*"))


NOT_ROWS = (
    "buy milk", '{"a": 1}', '{"schemas": 2}', "[1, 2", "\x00", '{"schema": 1, "id": "mine"}',
    '{"schema": 1, "id": "mine", "text": "prec', '{"schema": 2, "id": "mi',
)  # fmt: skip


@pytest.mark.parametrize("text", NOT_ROWS)
def test_a_last_line_of_something_else_is_not_cut(
    score: Run, write: Any, boots: Any, text: str
) -> None:
    data, notes = write(boots), write(name="notes")
    notes.write_text(text, encoding="utf-8")
    result = score(data, "--output", notes)
    assert result.exit_code == 2
    assert "holds a line 1 that is no row of this command" in result.stderr
    assert notes.read_text(encoding="utf-8") == text


RECORD = '{"id": "mine", "reviews": ["precious"], "summaries": {}}'


@pytest.mark.parametrize("text", ["my notes", RECORD, '{"id": "mine", "text": "prec', "[1, 2"])
@pytest.mark.parametrize("command", ["summarize --method lead", "claims"])
def test_foreign_records_are_kept(
    run: Run, write: Write, boots: dict[str, Any], command: str, text: str
) -> None:
    data, notes = write(boots), write(name="notes")
    notes.write_text(text, encoding="utf-8")
    name, *options = command.split()
    result = run(name, data, *options, "--output", notes)
    assert result.exit_code == 2
    assert "choose another --output, or --overwrite" in result.stderr
    assert notes.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("text", ["my notes", "my notes\n", '{"id": "m", "replies": 3}', RECORD])
def test_a_foreign_recording_is_kept(
    run: Run, line_of: Callable[[str], list[str]], tmp_path: Path, text: str
) -> None:
    rows, notes = tmp_path / "rows.jsonl", tmp_path / "notes"
    rows.touch()
    notes.write_text(text, encoding="utf-8")
    result = run(*line_of("judge"), "--output", rows, "--record", notes)
    assert result.exit_code == 2
    assert str(notes) in result.stderr
    assert "choose another --record, or --overwrite" in result.stderr
    assert notes.read_text(encoding="utf-8") == text
    assert rows.read_text(encoding="utf-8") == ""


@pytest.mark.parametrize("kept", [0, 1, 25, 70, -30, -2, -1])
def test_a_recording_cut_anywhere_is_finished(
    run: Run, line_of: Callable[[str], list[str]], tmp_path: Path, kept: int
) -> None:
    rows, record = tmp_path / "rows.jsonl", tmp_path / "record.jsonl"
    words = (*line_of("judge"), "--output", rows, "--record", record, "--limit", "1")
    assert run(*words).exit_code == 0
    whole = record.read_bytes()
    record.write_bytes(whole[:kept])
    rows.write_bytes(b"")
    assert run(*words).exit_code == 0
    # A line that lacks only its break was kept; the reply that was asked for again replaces it.
    again = whole[:-2] + b', "instead": true}\n'
    assert record.read_bytes() == (whole + again if kept == -1 else whole)


@pytest.mark.parametrize("command", ["summarize --method lead", "claims"])
def test_a_record_that_lacks_its_line_break_is_kept(
    run: Run, write: Write, boots: dict[str, Any], command: str
) -> None:
    data, output = write(boots), write(name="made.jsonl")
    name, *options = command.split()
    words = (name, data, *options, "--output", output)
    assert run(*words, "--overwrite").exit_code == 0
    whole = output.read_bytes()
    output.write_bytes(whole[:-1])
    result = run(*words)
    assert result.exit_code == 0
    assert output.read_bytes() == whole


@pytest.mark.parametrize("kept", [0, 1, 9, 40])
def test_a_row_cut_anywhere_is_finished(score: Run, write: Any, boots: Any, kept: int) -> None:
    data, output = write(boots), write(name="rows.jsonl")
    assert score(data, "--output", output, "--overwrite").exit_code == 0
    whole = output.read_bytes()
    output.write_bytes(whole[:kept])
    assert score(data, "--output", output).exit_code == 0
    assert output.read_bytes() == whole


def test_an_output_in_a_folder_that_is_read_is_refused(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    ratings = folder / "ratings.json"
    ratings.write_text("[]", encoding="utf-8")
    for name in ("ratings.json", "new.json"):
        result = run("meta", "means", folder, "-o", folder / name)
        assert result.exit_code == 2
        assert "and every file there is read; choose a file outside" in result.stderr
    assert ratings.read_text(encoding="utf-8") == "[]"


def test_redirected_input_is_not_written_over(shell: Any, write: Any, boots: Any) -> None:
    data = write(boots)
    before = data.read_bytes()
    for extra in ("", "--overwrite"):
        line = f"prevalence score - --model rouge1-precision -o {data} {extra} < {data}"
        result = shell(line)
        assert (result.returncode, data.read_bytes()) == (2, before)
        assert "is an input, which would be overwritten" in result.stderr


@pytest.mark.parametrize(
    ("form", "head"), [("csv", "id,system,prevalence,"), ("jsonl", '{"schema": 1, ')]
)
def test_standard_output_that_is_appended_to_a_file_keeps_it(
    shell: Any, write: Any, boots: Any, tmp_path: Path, *, form: str, head: str
) -> None:
    data, log = write(boots), tmp_path / "log"
    log.write_text("kept\n", encoding="utf-8")
    words = f"{data} --model rouge1-precision -q -o /dev/stdout --format {form}"
    assert shell(f"prevalence score {words} >> {log}").returncode == 0
    assert log.read_text(encoding="utf-8").startswith(f"kept\n{head}")


def test_two_runs_do_not_share_an_output(score: Run, write: Any, boots: Any) -> None:
    data, output = write(boots), write(name="rows.jsonl")
    other = LineFile(output, overwrite=False)
    other.write('{"schema": 1')
    other.flush()
    for extra in ([], ["--overwrite"]):
        result = score(data, "--output", output, *extra)
        assert result.exit_code == 2
        assert "another run is writing to it" in result.stderr
        assert output.read_text(encoding="utf-8") == '{"schema": 1'
    with other:
        pass
    assert score(data, "--output", output).exit_code == 0


def test_a_run_that_begins_beside_another_loses_nothing(tmp_path: Path) -> None:
    first = LineFile(tmp_path / "rows.jsonl", overwrite=False)
    second = LineFile(tmp_path / "rows.jsonl", overwrite=False)
    with first:
        first.write("a\n")
    with pytest.raises(InputError, match="another run has written"), second:
        pass
    assert (tmp_path / "rows.jsonl").read_text() == "a\n"
    with LineFile(tmp_path / "new.jsonl", overwrite=False):
        assert (tmp_path / "new.jsonl").exists()
    assert not (tmp_path / "new.jsonl").exists()


def test_a_recording_is_kept_when_the_output_is_another_runs(
    run: Run, repository: Path, tmp_path: Path
) -> None:
    output, recording = tmp_path / "scores.jsonl", tmp_path / "record.jsonl"
    recording.write_text('{"dear": 1}\n')
    examples = repository / "examples"
    words = ["judge", examples / "summaries.jsonl", "--method", "rts", "-d", "fluency",
             "--backend", f"replay:{examples / 'replies.jsonl'}", "--overwrite"]  # fmt: skip
    with LineFile(output, overwrite=False) as other:
        other.write("x")
        other.flush()
        result = run(*words, "-o", output, "--record", recording)
    assert result.exit_code == 2
    assert "another run is writing to it" in result.stderr
    assert recording.read_text() == '{"dear": 1}\n'


def test_two_outputs_are_not_one_file(run: Run, repository: Path, tmp_path: Path) -> None:
    link = tmp_path / "record.jsonl"
    link.symlink_to(tmp_path / "scores.jsonl")
    examples = repository / "examples"
    backend = f"replay:{examples / 'replies.jsonl'}"
    words = ["judge", examples / "summaries.jsonl", "--method", "op-i", "--backend", backend]
    result = run(*words, "-d", "fluency", "-o", tmp_path / "scores.jsonl", "--record", link)
    assert result.exit_code == 2
    assert "are one file" in result.stderr


def test_a_dash_is_no_output(
    run: Run, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command, option in (("summarize", "-o"), ("claims", "--output"), ("score", "--report")):
        result = run(command, repository / "examples" / "summaries.jsonl", option, "-")
        assert result.exit_code == 2
        assert " takes a file, and - is none: name one, or /dev/stdout" in result.stderr
        assert not list(tmp_path.glob("-*"))


def test_parquet_parts_begun_anew_go_on_without_overwrite(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"id": ["p", "q"]}), tmp_path / "part-00000.parquet")
    said = [kept_parts(tmp_path, overwrite=anew) for anew in (False, True)]
    assert said == [
        f"2 rows are in {tmp_path}; the same command continues from there",
        f"2 rows are in {tmp_path}; the same command without --overwrite continues from there",
    ]
