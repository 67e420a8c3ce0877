"""A real cluster in this machine: workers that die, drivers that die, and the rows all the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from prevalence.readers import read_products
from prevalence.scorers.rouge import RougeScorer
from prevalence.scoring.engine import Engine
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytest.importorskip("ray", reason="needs the extra [ray]")

PRODUCTS = 40
KILLED_AFTER = 30
ROWS = 2 * 2 * PRODUCTS + 3

DRIVER = r"""
# Scores on a cluster into rows.jsonl, going on where an earlier run has stopped. The first argument
# is a folder, the second how many rows to write before it kills itself.
import hashlib, json, os, signal, sys
from pathlib import Path

import numpy as np

from prevalence.distributed import Cluster, DistributedEngine, PartsWriter
from prevalence.scoring.engine import Engine, ScoringOptions
from prevalence.nli.pairs import PairScorer, PairScores, ScorerTraits
from prevalence.readers import read_products
from prevalence.runs.resuming import Finished, skip_finished
from prevalence.runs.earlier import finished_rows
from prevalence.writers import JsonLinesWriter

folder, kill_after = Path(sys.argv[1]), int(sys.argv[2])
output = folder / "rows.jsonl"
files = [folder / "input.jsonl", *sorted((folder / "parquet").iterdir())]

class HashScorer(PairScorer):
    def __init__(self, faults):
        super().__init__(ScorerTraits(
            digest=b"h", signature={"nli": "hash"}, threshold=0.5, calibrated=True, three_way=False,
            probability=True, doubt=0.0, rechecks=False, cached=False, devices=1, work_unit=64,
            errors=None,
        ))
        self.faults = faults

    def score(self, texts, pairs, *, progress=None):
        if self.faults:
            (folder / f"pid-{os.getpid()}").touch()
            self.misbehave({texts[number] for number in pairs[:, 1].tolist()})
        answers = PairScores.empty(len(pairs))
        for row, (first, second) in enumerate(pairs.tolist()):
            asked = hashlib.blake2b((texts[first] + "|" + texts[second]).encode(), digest_size=1)
            answers.entailment[row] = asked.digest()[0] / 255
        return answers

    def misbehave(self, hypotheses):
        if kill_after > 1_000 and "Kill the worker that reads this." in hypotheses:
            try:
                (folder / "killed").open("x").write(str(os.getpid()))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        if "This cannot be scored." in hypotheses:
            raise RuntimeError("a fault of this record")

def open_engine(faults=True):
    return Engine(HashScorer(faults), ScoringOptions(splitter="lines"))

kept = []
with Cluster(workers=2).open() as pool, output.open("a") as file:
    engine = DistributedEngine(pool, list(map(str, files)), open_engine, split_bytes=1_500)
    left = skip_finished(
        engine.items(), Finished(path=output, rows=finished_rows(output)),
        marks=engine.marks, rest=engine.rest, keep=kept.append,
    )
    writer, rows = JsonLinesWriter(file), []
    for place, row in enumerate(engine.run(left)):
        if place == kill_after:
            os.kill(os.getpid(), signal.SIGKILL)
        writer.write(row)
        rows.append(row)
with PartsWriter(folder / "rows.parquet", continues=False) as parts:
    for row in kept + rows:
        parts.write(row)
here = open_engine(faults=False)
for file in (folder / "input.jsonl", folder / "sound.jsonl"):
    written = file.with_suffix(".expected")
    written.write_text("".join(r.to_json_line() + "\n" for r in here.run(read_products(file))))
print(json.dumps({"kept": len(kept), "scored": engine.counts.scored,
                  "failed": engine.counts.failed, "read": engine.read}))
"""


def products(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"p{n}",
            "name": f"lamp {n}",
            "reviews": [f"Warm boots {n} day {day}, with a story." for day in range(4)],
            "summaries": {"a": f"Warm boots {n}.\nItem {n} leaks.", "b": f"Boots {n} on day 1."},
        }
        for n in range(count)
    ]


class Scored(NamedTuple):
    """What two drivers left behind: the folder, and the second one's report."""

    folder: Path
    report: dict[str, Any]

    def rows(self) -> list[str]:
        return (self.folder / "rows.jsonl").read_text().splitlines()

    def expected(self, name: str) -> list[str]:
        return (self.folder / f"{name}.expected").read_text().splitlines()


def drive(folder: Path, kill_after: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DRIVER, str(folder), str(kill_after)],
        capture_output=True, text=True, check=False, timeout=1_200,
    )  # fmt: skip


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Scored:
    """One driver that is killed, and another that goes on, one of whose workers is killed."""
    import pyarrow as pa
    import pyarrow.parquet

    folder = tmp_path_factory.mktemp("cluster")
    records = products(PRODUCTS)
    records[30]["summaries"]["b"] = "Kill the worker that reads this."
    lines = [json.dumps(record) for record in records]
    (folder / "sound.jsonl").write_text("\n".join(lines) + "\n")
    odd = {"id": "odd", "reviews": ["Warm."], "summaries": {"a": "Warm.", "b": "Cold."}}
    odd["summaries"]["b"] = "This cannot be scored."
    lines[5:5] = ["{broken", json.dumps(odd)]
    (folder / "input.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "parquet").mkdir()
    for number, part in enumerate((records[:15], records[15:])):
        path = folder / "parquet" / f"{number}.parquet"
        pa.parquet.write_table(pa.Table.from_pylist(part), path, row_group_size=10)
    first = drive(folder, KILLED_AFTER)
    assert first.returncode == -signal.SIGKILL, first.stderr
    assert first.stdout == ""
    done = drive(folder, 10**9)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1, done.stdout  # what befell a worker is no row
    return Scored(folder, json.loads(done.stdout))


@pytest.mark.slow
def test_rows_are_those_of_one_process_whoever_was_killed(scored: Scored) -> None:
    assert (scored.folder / "killed").exists()
    # Two workers of each driver, and one in place of the dead one.
    assert len(list(scored.folder.glob("pid-*"))) >= 3
    rows, expected = scored.rows(), scored.expected("input")
    assert len(rows) == ROWS
    sound = [n for n, row in enumerate(expected) if json.loads(row)["id"] != "odd"]
    assert [rows[n] for n in sound] == [expected[n] for n in sound]
    assert rows[len(expected) :] == scored.expected("sound")  # the Parquet files
    size = sum(path.stat().st_size for path in (scored.folder / "parquet").iterdir())
    assert scored.report == {
        "kept": KILLED_AFTER,
        "scored": ROWS - KILLED_AFTER,
        "failed": 0,
        "read": size + (scored.folder / "input.jsonl").stat().st_size,
    }


@pytest.mark.slow
def test_what_cannot_be_scored_is_an_error_row_and_nothing_else(scored: Scored) -> None:
    rows = [json.loads(row) for row in scored.rows()]
    good, bad = (row for row in rows if row["id"] == "odd")
    expected = [json.loads(row) for row in scored.expected("input")]
    assert good == next(row for row in expected if row["id"] == "odd")
    assert (bad["system"], bad["prevalence"]) == ("b", None)
    assert f"{scored.folder / 'input.jsonl'}:7: summary by 'b': could not be sc" in bad["error"]
    assert "RuntimeError: a fault of this record" in bad["error"]


@pytest.mark.slow
def test_parquet_holds_the_same_rows(scored: Scored) -> None:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(scored.folder / "rows.parquet")
    assert table["row"].to_pylist() == scored.rows()


@pytest.mark.slow
def test_the_same_command_goes_on_after_its_driver_was_killed(
    tmp_path: Path, entry_point: Callable[..., subprocess.Popen[str]]
) -> None:
    source, output = tmp_path / "input.jsonl", tmp_path / "rows.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in products(1_500)))
    words = ("score", source, "--engine", "ray", "--workers", 2, "--output", output,
             "--model", "rouge1-precision", "--threshold", 0.5)  # fmt: skip
    driver = entry_point(*words)
    deadline = time.monotonic() + 600
    while not (output.exists() and output.stat().st_size) and driver.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(driver.pid, signal.SIGKILL)
    driver.communicate()
    left = output.read_bytes()
    assert 0 < left.count(b"\n") < 3_000
    again = entry_point(*words)
    shown, notes = again.communicate(timeout=600)
    assert again.returncode == 0, notes
    engine = Engine(RougeScorer("rouge1-precision", threshold=0.5))
    rows = [row.to_json_line() + "\n" for row in engine.run(read_products(source))]
    assert output.read_bytes() == "".join(rows).encode()
    kept = len(left[: left.rfind(b"\n") + 1].splitlines())
    there = counted(kept, "row was", "rows were")
    assert f"{there} in {output} already" in notes
    assert "split:punkt-en" in shown
