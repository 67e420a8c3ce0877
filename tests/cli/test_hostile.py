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
        (f"{SCORE} -q -o loop.json", 2, "loop.json cannot be written"),
        (f"{SCORE} --limit 99999999999999999999", 2, "is beyond 64 bits"),
        (f"{SCORE.removesuffix(' --no-cache')} --cache '~nosuchuser/x'", 2, "no known user"),
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
import socket, sys

def refused(*_, **__):
    raise AssertionError("a socket was asked for")

socket.socket.connect = socket.socket.connect_ex = refused
socket.create_connection = socket.getaddrinfo = refused
from prevalence.cli import main

main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    "words",
    [
        "score in.jsonl --model rouge1-precision --threshold 0.5",
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
        "meta correlate EX/ratings.jsonl",
        "distill EX/judgments.jsonl --output taught.jsonl",
    ],
)
def test_no_command_asks_for_the_network(
    words: str, shell: Shell, place: Path, repository: Path
) -> None:
    (place / "offline.py").write_text(OFFLINE, encoding="utf-8")
    words = words.replace("EX/", f"{repository}/examples/")
    result = shell(f"$(dirname $(which prevalence))/python offline.py {words}", cwd=place)
    assert "a socket was asked for" not in result.stderr
    assert result.returncode == 0, result.stderr


HANGING = """
import os, signal, sys
from pathlib import Path

from prevalence.cli.errors import reported
from prevalence.writers import atomic_file

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
