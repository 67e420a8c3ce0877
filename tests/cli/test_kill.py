"""kill -9 at any moment, then the same command again: the output is that of an undisturbed run."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]

KILLS = 20
PRODUCTS = 80
ROWS = 2 * PRODUCTS + 1

DRIVER = r"""
# Loads everything once, then runs the command in forks of itself: each can be killed at a moment
# of its own work, and none spends its life on imports.
import json, os, random, shutil, signal, sys, time
from pathlib import Path

import nltk.stem.porter, numpy, rich.progress
import prevalence.cli.progress, prevalence.cli.score, prevalence.report.console
import prevalence.scoring.systems, prevalence.scoring.engine, prevalence.nli.cache
from prevalence.cli import main
from prevalence.scorers import rouge
from prevalence.scorers.rouge import RougeScorer as Scorer
from prevalence.nli.cache import PairCache
from prevalence.text.sentences import get_splitter

folder, kills = Path(sys.argv[1]), int(sys.argv[2])
get_splitter()("Loaded once. For all.")
at_once, asked = Scorer.score, folder / "asked"

def slowly(self, texts, pairs, *, progress=None):
    time.sleep(len(pairs) * 1e-4)
    with asked.open("a") as file:
        file.write(f"{len(pairs)}\n")
    return at_once(self, texts, pairs, progress=progress)

Scorer.score, rouge._WORK_UNIT = slowly, 64

def start(name):
    asked.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
        try:
            main(["score", str(folder / "input.jsonl"), "--model", "rouge1-precision", "--quiet",
                  "--output", str(folder / f"{name}.jsonl"), "--cache", str(folder / name)])
        except SystemExit as end:
            os._exit(end.code or 0)
        os._exit(99)
    return child

def finish(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def computed():
    return sum(map(int, asked.read_text().split())) if asked.exists() else 0

def cached(name):
    return PairCache(folder / name).info().pairs

for name in ("warm", "whole"):
    begin = time.monotonic()
    assert finish(start(name)) == 1  # for the broken line
    lasted = time.monotonic() - begin
everything = cached("whole")
assert computed() == everything
moments, report = random.Random(20231), []
for kill in range(kills):
    # One moment in each twentieth of the run, so that all of it is covered.
    name, delay, status = f"k{kill}", lasted * (kill + moments.random()) / kills, None
    while status != -signal.SIGKILL:
        (folder / f"{name}.jsonl").unlink(missing_ok=True)
        shutil.rmtree(folder / name, ignore_errors=True)
        child = start(name)
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        status, delay = finish(child), delay * 0.8  # it may have been done before its time
    rows = folder / f"{name}.jsonl"
    left = rows.read_bytes() if rows.exists() else b""
    stored = cached(name)
    again = finish(start(name))
    report.append({
        "rows": left.count(b"\n"), "stored": stored,
        "again": again, "computed": computed(), "total": cached(name),
    })
# And one run that is killed over and over.
attempts, done = 0, None
while done != 1:
    child, attempts = start("often"), attempts + 1
    if attempts < kills:
        time.sleep(lasted * 0.3 * moments.random())
        os.kill(child, signal.SIGKILL)
    done = finish(child)
print(json.dumps({"everything": everything, "kills": report, "attempts": attempts}))
"""


def products(count: int) -> list[dict[str, Any]]:
    """Products whose pairs are all different, so that every pair computed is a pair stored."""
    return [
        {
            "id": f"p{n}",
            "name": f"lamp {n}",
            "reviews": [f"warm boots {n} day {day}" for day in range(4)],
            "summaries": {
                "a": f"Warm boots {n}. Item {n} leaks. Grand {n} laces.",
                "b": f"Boots {n} on day 1. Good {n}.",
            },
        }
        for n in range(count)
    ]


@pytest.fixture(scope="module")
def disturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """What the driver left behind, and what it says about it."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork and SIGKILL")
    folder = tmp_path_factory.mktemp("kills")
    lines = [json.dumps(product) for product in products(PRODUCTS)]
    lines.insert(50, "{broken")
    (folder / "input.jsonl").write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DRIVER, str(folder), str(KILLS)],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


@pytest.mark.slow
def test_output_after_each_kill_is_that_of_an_undisturbed_run(
    disturbed: tuple[Path, dict[str, Any]],
) -> None:
    folder, report = disturbed
    whole = (folder / "whole.jsonl").read_bytes()
    assert whole.count(b"\n") == ROWS
    for number in range(KILLS):
        assert (folder / f"k{number}.jsonl").read_bytes() == whole, number
    assert (folder / "often.jsonl").read_bytes() == whole
    assert report["attempts"] > 3


@pytest.mark.slow
def test_kills_hit_runs_at_work(disturbed: tuple[Path, dict[str, Any]]) -> None:
    _, report = disturbed
    kills = report["kills"]
    assert len(kills) == KILLS
    assert sum(0 < kill["stored"] < report["everything"] for kill in kills) >= KILLS // 4
    assert sum(0 < kill["rows"] < ROWS for kill in kills) >= KILLS // 4


@pytest.mark.slow
def test_cached_pairs_are_not_scored_again(disturbed: tuple[Path, dict[str, Any]]) -> None:
    _, report = disturbed
    for kill in report["kills"]:
        assert kill["again"] == 1  # for the broken line
        assert kill["total"] == report["everything"]
        assert kill["computed"] == report["everything"] - kill["stored"]


def test_a_file_cut_at_any_byte_is_completed(score: Run, tmp_path: Path) -> None:
    source, whole = tmp_path / "input.jsonl", tmp_path / "whole.jsonl"
    lines = [json.dumps(product) for product in products(3)]
    source.write_text("\n".join([lines[0], "{broken", *lines[1:]]) + "\n")
    score(source, "-o", whole)
    content = whole.read_bytes()
    ends = [place for place, byte in enumerate(content) if byte == ord("\n")]
    near = [place + offset for place in ends for offset in (0, 1, 2)]
    moments = random.Random(7)
    for place in {0, *near, *(moments.randrange(len(content)) for _ in range(20))}:
        part = tmp_path / "part.jsonl"
        part.write_bytes(content[:place])
        assert score(source, "-o", part).exit_code == 1
        assert part.read_bytes() == content, place


def test_other_settings_or_input_are_refused_and_the_file_left_alone(
    score: Run, tmp_path: Path
) -> None:
    source, rows = tmp_path / "input.jsonl", tmp_path / "rows.jsonl"
    source.write_text("\n".join(json.dumps(product) for product in products(2)))
    score(source, "-o", rows)
    before = rows.read_bytes()
    for options in (["--soft"], ["--no-trivial"], ["--systems", "b"], ["--limit", "1"]):
        result = score(source, "-o", rows, *options)
        assert result.exit_code == 2, options
        assert "choose another --output, or --overwrite" in result.stderr
        assert rows.read_bytes() == before
    assert score(source, "-o", rows, "--systems", "b", "--overwrite").exit_code == 0
    assert rows.read_bytes().count(b"\n") == 2


def test_a_finished_run_gives_the_same_table_again(score: Run, tmp_path: Path) -> None:
    source, rows = tmp_path / "input.jsonl", tmp_path / "rows.jsonl"
    source.write_text("\n".join(json.dumps(product) for product in products(5)))
    words = (source, "-o", rows, "--test", "both", "--explain")
    first, second = score(*words), score(*words)
    assert first.stdout == second.stdout
    assert "10 rows were in" in second.stderr
    assert "0 summaries scored, 0 failed\n" in second.stderr
