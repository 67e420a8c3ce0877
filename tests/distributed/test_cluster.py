"""A real cluster in this machine: workers that die, drivers that die, and the rows all the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from prevalence.consistency.rouge import RougeScorer
from prevalence.engine import Engine
from prevalence.readers import read_products

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytest.importorskip("ray", reason="needs the extra [ray]")

PRODUCTS = 120

DRIVER = r"""
import json, os, signal, sys
from pathlib import Path

from prevalence.consistency.rouge import RougeScorer
from prevalence.distributed import Cluster, DistributedEngine, PartsWriter
from prevalence.engine import Engine

folder = Path(sys.argv[1])

def open_engine():
    answer = RougeScorer.score

    def score(self, texts, pairs, *, progress=None):
        with (folder / f"pid-{os.getpid()}").open("a") as file:
            file.write(f"{len(pairs)}\n")
        asked = {texts[int(number)] for number in set(pairs[:, 1].tolist())}
        if any("kill the worker" in text for text in asked):
            try:
                (folder / "killed").open("x").write(str(os.getpid()))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        if any("cannot be scored" in text for text in asked):
            raise RuntimeError("a fault of this record")
        return answer(self, texts, pairs, progress=progress)

    scorer = RougeScorer("rouge1-precision", threshold=0.5)
    scorer.score = score.__get__(scorer)
    return Engine(scorer)

def rows(pool, *files):
    engine = DistributedEngine(pool, [str(file) for file in files], open_engine, split_bytes=4_096)
    given = list(engine.run(engine.items()))
    return given, {"scored": engine.counts.scored, "failed": engine.counts.failed,
                   "naive": engine.counts.naive, "read": engine.read}

with Cluster(workers=2).open() as pool:
    given, counts = rows(pool, folder / "input.jsonl")
    (folder / "rows.jsonl").write_text("".join(row.to_json_line() + "\n" for row in given))
    parts, _ = rows(pool, *sorted((folder / "parquet").iterdir()))
with PartsWriter(folder / "rows.parquet", continues=False) as writer:
    for row in parts:
        writer.write(row)
print(json.dumps(counts))
"""


def products(count: int = PRODUCTS) -> list[dict[str, Any]]:
    return [
        {
            "id": f"p{n}",
            "name": f"lamp {n}",
            "reviews": [
                f"warm boots {n} day {day}, with a story of some length" for day in range(6)
            ],
            "summaries": {
                "a": f"Warm boots {n}. Item {n} leaks. Grand {n} laces.",
                "b": f"Boots {n} on day 1. Good {n}.",
            },
        }
        for n in range(count)
    ]


def local_rows(path: Path) -> list[str]:
    """What the engine writes in this process."""
    engine = Engine(RougeScorer("rouge1-precision", threshold=0.5))
    return [row.to_json_line() + "\n" for row in engine.run(read_products(path))]


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A folder after two runs with a worker killed in the first, and what the driver counted."""
    import pyarrow as pa
    import pyarrow.parquet

    folder = tmp_path_factory.mktemp("cluster")
    records = products()
    records[60]["summaries"]["b"] = "Warm boots, which kill the worker that reads this."
    lines = [json.dumps(record) for record in records]
    (folder / "sound.jsonl").write_text("\n".join(lines) + "\n")
    odd = {"id": "odd", "reviews": ["Warm boots."],
           "summaries": {"a": "Warm boots.", "b": "This cannot be scored."}}  # fmt: skip
    lines[90:90] = ["{broken", json.dumps(odd)]
    (folder / "input.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "parquet").mkdir()
    for number, part in enumerate((records[:50], records[50:])):
        path = folder / "parquet" / f"{number}.parquet"
        pa.parquet.write_table(pa.Table.from_pylist(part), path, row_group_size=20)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DRIVER, str(folder)],
        capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1, done.stdout
    return folder, json.loads(done.stdout)


@pytest.mark.slow
def test_rows_are_those_of_one_process_though_a_worker_was_killed(
    scored: tuple[Path, dict[str, Any]],
) -> None:
    folder, counts = scored
    killed = (folder / "killed").read_text()
    assert (folder / f"pid-{killed}").exists()
    assert len(list(folder.glob("pid-*"))) >= 3  # two workers, and one in place of the dead one
    rows = (folder / "rows.jsonl").read_text().splitlines(keepends=True)
    odd = [row for row in rows if json.loads(row)["id"] == "odd"]
    others = [row for row in rows if row not in odd]
    without = folder / "without.jsonl"
    lines = (folder / "input.jsonl").read_text().splitlines(keepends=True)
    lines[91] = "\n"  # keeps the numbers of the lines after it
    without.write_text("".join(lines))
    expected = [row.replace("without.jsonl", "input.jsonl") for row in local_rows(without)]
    assert others == expected
    assert counts["read"] == (folder / "input.jsonl").stat().st_size
    assert (counts["scored"], counts["failed"]) == (2 * PRODUCTS + 1, 2)


@pytest.mark.slow
def test_what_cannot_be_scored_is_an_error_row_and_nothing_else(
    scored: tuple[Path, dict[str, Any]],
) -> None:
    folder, _ = scored
    rows = map(json.loads, (folder / "rows.jsonl").read_text().splitlines())
    good, bad = (row for row in rows if row["id"] == "odd")
    assert (good["system"], good["prevalence"]) == ("a", 1.0)
    assert (bad["system"], bad["prevalence"]) == ("b", None)
    assert f"{folder / 'input.jsonl'}:92: summary by 'b': could not be scored" in bad["error"]
    assert "RuntimeError: a fault of this record" in bad["error"]


@pytest.mark.slow
def test_parquet_gives_the_rows_of_the_same_records_in_json_lines(
    scored: tuple[Path, dict[str, Any]],
) -> None:
    import pyarrow.parquet

    folder, _ = scored
    table = pyarrow.parquet.read_table(folder / "rows.parquet")
    assert [row + "\n" for row in table["row"].to_pylist()] == local_rows(folder / "sound.jsonl")
    assert table["prevalence"].to_pylist() == [
        json.loads(row)["prevalence"] for row in local_rows(folder / "sound.jsonl")
    ]


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
    assert output.read_bytes() == "".join(local_rows(source)).encode()
    assert f"{left.count(chr(10).encode()):,} rows were in {output} already" in notes
    assert "split:punkt-en" in shown
    assert "ray" not in notes.lower().replace(str(tmp_path).lower(), "")
