"""The installed command in a process of its own: examples, pipes, signals, imports."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import click
import pytest

from prevalence.cli import main
from prevalence.models.registry import EMBEDDED, REGISTRY
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Shell = Callable[..., subprocess.CompletedProcess[str]]
    Write = Callable[..., Path]

ANSI = re.compile(r"\x1b")


def epilog_lines() -> list[str]:
    """The command lines that the help texts show, but for those that train a model."""
    lines = []
    context = click.Context(main)
    commands = [main.get_command(context, name) for name in ("score", "support", "models", "cache")]
    for command in (main, *commands):
        lines += re.findall(r"^  ((?:cat .*\| )?prevalence .*)$", command.epilog, re.MULTILINE)
    return list(dict.fromkeys(lines))


@pytest.fixture
def workplace(tmp_path: Path, repository: Path) -> Path:
    """A folder in which the examples lie as they do in the repository, and files may be left."""
    (tmp_path / "examples").symlink_to(repository / "examples")
    return tmp_path


def test_the_help_texts_show_enough_examples() -> None:
    assert len(epilog_lines()) >= 10


@pytest.mark.parametrize("line", epilog_lines())
def test_examples_of_the_help_texts_run(
    line: str, run: Run, shell: Shell, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lexical = re.sub(r"prevalence (score|support)", r"\g<0> --model rouge1-precision", line)
    if "|" in line:
        done = shell(lexical, cwd=workplace)
        status, shown = done.returncode, done.stdout
    else:
        monkeypatch.chdir(workplace)
        result = run(*shlex.split(lexical)[1:])
        status, shown = result.exit_code, result.stdout
    assert status == 0
    assert shown
    assert not ANSI.search(shown)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", [line for line in epilog_lines() if "--output" in line or "support examples/r" in line]
)
def test_examples_run_with_the_embedded_model(line: str, shell: Shell, workplace: Path) -> None:
    from pathlib import Path as File

    if not (File(REGISTRY[EMBEDDED].location) / "config.json").is_file():
        pytest.skip("this checkout has no embedded model")
    done = shell(line, cwd=workplace)
    assert done.returncode == 0, done.stderr
    assert not ANSI.search(done.stdout + done.stderr)


def test_redirected_output_has_no_progress(shell: Shell) -> None:
    done = shell("prevalence score examples/summaries.jsonl --model rouge1-precision --explain")
    assert done.returncode == 0
    assert not ANSI.search(done.stdout + done.stderr)
    assert "\r" not in done.stdout + done.stderr
    assert "pairs/s" not in done.stderr


def test_rows_go_to_a_file_while_a_person_watches_the_progress(
    command: str, repository: Path, tmp_path: Path
) -> None:
    pty = pytest.importorskip("pty")
    import os

    leader, follower = pty.openpty()
    with (tmp_path / "rows.jsonl").open("wb") as rows:
        process = subprocess.Popen(
            [command, "score", "examples/summaries.jsonl", "--model", "rouge1-precision",
             "--no-cache", "--format", "jsonl"],
            cwd=repository, stdout=rows, stderr=follower, env={"TERM": "xterm", "HOME": "/"},
        )  # fmt: skip
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 1 << 16)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(leader)
    assert process.wait(timeout=60) == 0
    lines = (tmp_path / "rows.jsonl").read_text().splitlines()
    assert len([json.loads(line) for line in lines]) == 30
    assert "pairs/s" in shown.decode()
    assert "30 summaries scored" in shown.decode()
    assert '"schema"' not in shown.decode()


@pytest.mark.parametrize("form", ["table --explain", "jsonl", "json"])
def test_a_reader_that_goes_away_is_no_error(shell: Shell, form: str) -> None:
    line = (
        'set -o pipefail; yes "$(cat examples/summaries.jsonl)" | head -n 300 | '
        f"prevalence score - --model rouge1-precision --quiet --format {form} | head -n 1"
    )
    done = shell(line)
    assert done.returncode == 141
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_a_reader_that_goes_away_leaves_the_report(shell: Shell, workplace: Path) -> None:
    line = "prevalence score examples/summaries.jsonl --model rouge1-precision --report r.html"
    done = shell(f"set -o pipefail; {line} | true", cwd=workplace)
    assert done.returncode == 141
    assert "<html" in (workplace / "r.html").read_text()


# A job in the background starts with Ctrl-C ignored, and so do its children: listen again.
SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from prevalence.scorers import rouge
from prevalence.scorers.rouge import RougeScorer as Scorer
at_once = Scorer.score
def slowly(self, texts, pairs, *, progress=None):
    time.sleep(0.1)
    with open(sys.argv[1], "a") as file:
        file.write("another call ")
    return at_once(self, texts, pairs, progress=progress)
Scorer.score, rouge._WORK_UNIT = slowly, 16
from prevalence.cli import main
main(sys.argv[2:])
"""


def interrupted(arguments: list[str], folder: Path, watched: str) -> subprocess.Popen[str]:
    """A slow run that got Ctrl-C when a file of its had grown."""
    calls = folder / "calls"
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(calls), "score", *arguments,
         "--model", "rouge1-precision"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until = time.monotonic() + 300
    while not any(file.stat().st_size > 20 for file in folder.glob(watched)):
        assert time.monotonic() < until
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    return process


def products(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"p{n}",
            "reviews": [f"warm boots {n}", f"they leak {n}", f"fine {n} laces"],
            "summaries": {"s": f"Warm boots {n}. They leak {n}. Fine laces."},
        }
        for n in range(count)
    ]


@pytest.mark.slow
def test_interrupt_keeps_finished_rows_and_the_same_command_goes_on(
    write: Write, tmp_path: Path, shell: Shell
) -> None:
    path, out = write(*products(200)), tmp_path / "o.jsonl"
    process = interrupted([str(path), "--output", str(out), "--no-cache"], tmp_path, out.name)
    stdout, stderr = process.communicate(timeout=300)
    done = out.read_text().count("\n")
    assert process.returncode == 130
    assert stdout == ""
    assert stderr == (
        f"interrupted: {counted(done, 'row is', 'rows are')} in {out}; "
        "the same command continues from there\n"
    )
    assert 0 < done < 200
    line = f"prevalence score {path} --model rouge1-precision --no-cache --output"
    again, whole = shell(f"{line} {out}"), shell(f"{line} {tmp_path}/whole.jsonl")
    there = counted(done, "row was", "rows were")
    assert f"{there} in {out} already" in again.stderr
    assert again.stdout == whole.stdout
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


DROPPED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from prevalence.scorers.rouge import RougeScorer as Scorer
class Finalized:
    def __del__(self):
        raise KeyboardInterrupt
at_once, first = Scorer.score, [Finalized()]
def interrupted(self, texts, pairs, *, progress=None):
    first.clear()
    return at_once(self, texts, pairs, progress=progress)
Scorer.score = interrupted
from prevalence.cli import main
main(sys.argv[1:])
"""


def test_an_interrupt_in_a_finalizer_is_not_lost(write: Write, tmp_path: Path) -> None:
    arguments = ["score", str(write(*products(3000))), "--output", str(tmp_path / "o.jsonl")]
    done = subprocess.run(
        [sys.executable, "-c", DROPPED, *arguments, "--model", "rouge1-precision", "--no-cache"],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 130
    assert done.stderr.startswith("interrupted: ")
    assert done.stderr.count("\n") == 1


def test_interrupt_leaves_no_half_of_a_csv_and_the_cache_keeps_the_work(
    write: Write, tmp_path: Path, shell: Shell
) -> None:
    path, cache = write(*products(200)), tmp_path / "cache"
    out = tmp_path / "o.csv"
    process = interrupted([str(path), "-o", str(out), "--cache", str(cache)], tmp_path, "calls")
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 130
    assert stderr == (
        "interrupted: pairs scored so far are in the cache; the same command continues from there\n"
    )
    assert not out.exists()
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("words", [["--help"], ["score", "--help"], ["--version"]])
def test_help_is_quick_and_imports_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys\nfrom prevalence.cli import main\n"
        f"try:\n    main({words!r})\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'transformers', 'numpy', 'scipy', 'numba', 'nltk', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout
    assert done.stderr.strip() == "[]"


def test_version_of_the_entry_point(shell: Shell) -> None:
    from importlib.metadata import version

    assert shell("prevalence --version").stdout == f"prevalence {version('prevalence')}\n"
