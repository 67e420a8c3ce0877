"""Closed streams, full disks, odd places and signals: one line that names them, and a status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Shell = Callable[..., Any]

SCORE = "prevalence score in.jsonl --model rouge1-precision --threshold 0.5 --no-cache"
FULL = "No space left on device"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    record = {"id": "p", "name": "x", "reviews": ["Warm boots."], "summary": "Warm boots."}
    (tmp_path / "in.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    (tmp_path / "loop.json").symlink_to("loop.json")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        (f"{SCORE} >&-", 2, "standard output is closed; send it to a file, or to /dev/null"),
        (f"{SCORE} > /dev/full", 2, f"standard output: {FULL}"),
        (
            f"{SCORE} -q -o /dev/full --format jsonl",
            1,
            f"/dev/full: {FULL}; the lines already written",
        ),
        (f"{SCORE} -q -o /dev/full --format json", 2, f"error: /dev/full: {FULL}"),
        (f"{SCORE} -q -o loop.json", 2, "loop.json cannot be written"),
        (f"{SCORE} --limit 99999999999999999999", 2, "is beyond 64 bits"),
        (f"{SCORE.removesuffix(' --no-cache')} --cache '~nosuchuser/x'", 2, "no known user"),
        ("prevalence score in.jsonl --model '~nosuchuser/x'", 2, "~nosuchuser/x: no such folder"),
        ("prevalence baselines in.jsonl -m meteor-1.5:jar=~nosuchuser/x.jar", 2, "name the file"),
        (f"{SCORE} --format jsonl --test both", 2, "--test goes with the table"),
        (f"{SCORE} -q --systems summary,zzz", 1, "--systems: no summary by zzz"),
    ],
)
def test_one_line_and_a_status(
    line: str, status: int, said: str, shell: Shell, place: Path
) -> None:
    result = shell(line, cwd=place)
    assert result.returncode == status
    assert len(result.stderr.splitlines()) == 1
    assert said in result.stderr
    assert "fault of prevalence" not in result.stderr


def test_a_closed_standard_error_changes_nothing(shell: Shell, place: Path) -> None:
    result = shell(f"{SCORE} --format jsonl 2>&-", cwd=place)
    assert result.returncode == 0
    assert json.loads(result.stdout)["prevalence"] == 1.0


OFFLINE = """
import contextlib, io, json, shlex, socket, sys

def refused(*_, **__):
    raise AssertionError("a socket was asked for")

for name in ("bind", "connect", "connect_ex", "sendto", "sendmsg"):
    setattr(socket.socket, name, refused)
socket.create_connection = socket.getaddrinfo = refused
from prevalence.cli import main

ended = {}
for line in sys.stdin.read().splitlines():
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            main(shlex.split(line))
    except SystemExit as end:
        ended[line] = end.code
print(json.dumps(ended))
"""

RECIPE = """
[model]
base = "{base}"
max_length = 32
[run]
batch_tokens = 256
[output]
name = "tiny"
licence = "MIT"
[[source]]
name = "pairs"
path = "{pairs}"
licence = "MIT"
[[stage]]
name = "only"
epochs = 1
learning_rate = 1e-3
mix = [{{ source = "pairs" }}]
"""


COMMANDS = (
    "score in.jsonl --model rouge1-precision --threshold 0.5 --output rows.jsonl",
    "score in.jsonl --model embedded",
    "baselines EX/summaries.jsonl --metrics rouge-1,bleu-1,ter --references balanced",
    "judge EX/summaries.jsonl --method rts --dimensions fluency --systems balanced,trivial "
    "--backend replay:EX/replies.jsonl --output judged.jsonl",
    "audit EX/ratings.jsonl EX/duels.jsonl",
    "summarize in.jsonl --method greedy --output made.jsonl",
    "support in.jsonl 'Warm boots.'",
    "models",
    "cache info",
    "calibrate EX/judgments.jsonl --scorer rouge1-precision",
    "conv train EX/judgments.jsonl --output head.safetensors --steps 5",
    "distill EX/judgments.jsonl --output taught.jsonl",
    "claims in.jsonl --output claims.jsonl",
    "report rows.jsonl --records in.jsonl --output page.html",
    "verify rows.jsonl in.jsonl",
    "table rows.jsonl --of sentences",
    "plot rows.jsonl --output drawn",
    "simplify in.jsonl --model IN/tiny-seq2seq --samples 1 --output simple.jsonl",
    "train-simplifier IN/tiny.valid.orig --base IN/tiny-seq2seq --epochs 1 --output simpler",
    "train recipe.toml --output made --device cpu",
    "meta correlate EX/ratings.jsonl",
    "meta stability EX/ratings.jsonl",
    "meta preferences EX/ratings.jsonl --duels EX/duels.jsonl",
    "meta agreement EX/ratings.jsonl",
    "meta significance EX/ratings.jsonl --level summary",
    "meta means EX/ratings.jsonl",
    "meta key-points EX/key_points.csv --scorer rouge1-precision",
    "meta figures EX/ratings.jsonl --output drawn --resamples 5",
)


def test_no_command_asks_for_the_network(place: Path, repository: Path) -> None:
    """All in one process, which loads torch once; a socket that is asked for fails its command."""
    inputs = repository / "tests" / "golden" / "inputs"
    recipe = RECIPE.format(base=inputs / "tiny-nli", pairs=repository / "examples/judgments.jsonl")
    (place / "recipe.toml").write_text(recipe, encoding="utf-8")
    said = "\n".join(COMMANDS).replace("EX/", f"{repository}/examples/")
    lines = said.replace("IN/", f"{inputs}/")
    result = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        input=lines,
        cwd=place,
        env={**os.environ, "PREVALENCE_CACHE": str(place / "cache")},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert "a socket was asked for" not in result.stderr
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == dict.fromkeys(lines.splitlines(), 0), result.stderr


HANGING = """
import os, signal, sys
from pathlib import Path

from prevalence.cli.errors import reported
from prevalence.files import atomic_file

with reported(lambda: False), atomic_file(Path("rows.json")) as file:
    file.write("[")
    os.kill(os.getpid(), signal.SIGTERM)
    signal.pause()
"""


def test_a_terminated_run_leaves_nothing_half_written(shell: Shell, place: Path) -> None:
    (place / "hanging.py").write_text(HANGING, encoding="utf-8")
    before = set(place.iterdir())
    result = shell("$(dirname $(which prevalence))/python hanging.py", cwd=place)
    assert (result.returncode, result.stderr) == (143, "interrupted\n")
    assert set(place.iterdir()) == before


def test_ctrl_c_while_the_program_loads_ends_it_without_a_word(tmp_path: Path) -> None:
    """The interrupt comes in the middle of an import, before anything could turn it into a line."""
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    # A process that was started in the background ignores interrupts, and so would its children.
    program = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
        "os.execv(sys.executable, [sys.executable, '-m', 'prevalence', 'score', 'none.jsonl'])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == -signal.SIGINT
    assert (ended.stdout, ended.stderr) == ("", "")


def test_an_ignored_interrupt_stays_ignored(place: Path) -> None:
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from prevalence.__main__ import run\n"
        "import sys; sys.argv = ['prevalence', 'models', '--json']\n"
        "try: run()\n"
        "finally: sys.exit(signal.getsignal(signal.SIGINT) is not signal.SIG_IGN)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=place, capture_output=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stderr
