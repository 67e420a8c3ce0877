"""Many short records through reading, planning and writing: records a second and peak memory.

    python -m benchmarks.streaming

The scorer is trivial, so that what is measured is everything around a model. Each size runs in a
process of its own, because the peak of a process never falls.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.common import ROOT, append_row, environment, show_table
from prevalence.nli.pairs import PairScorer, PairScores, ScorerTraits
from prevalence.readers import read_products
from prevalence.scoring.engine import Engine
from prevalence.scoring.systems import SystemTable
from prevalence.writers import JsonLinesWriter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from prevalence.nli.pairs import Progress, TextTable

ALLOWED_GROWTH_MIB = 16.0
"""Peak memory may differ by this much between sizes: noise of the allocator, not records."""


class TrivialScorer(PairScorer):
    """Answers every pair at once with a number made of the two text numbers."""

    def __init__(self) -> None:
        traits = ScorerTraits(
            digest=b"trivial scorer/1",
            signature={"consistency": "trivial"},
            threshold=0.5,
            calibrated=True,
            three_way=False,
            probability=True,
            doubt=0.0,
            rechecks=False,
            cached=False,
            devices=1,
            work_unit=8_192,
            errors=None,
        )
        super().__init__(traits)

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.pairs.PairScorer.score`."""
        del texts, progress
        result = PairScores.empty(len(pairs))
        result.entailment[:] = (pairs.sum(axis=1) % 7) / 7
        return result


def write_records(path: Path, count: int) -> None:
    """Write products with three short reviews and a summary of two sentences."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            record = {
                "id": f"product-{number}",
                "name": f"lamp {number}",
                "reviews": [f"Review {k} of lamp {number}: bright and cheap." for k in range(3)],
                "summaries": {"s": f"Lamp {number} is bright. It is cheap, too."},
            }
            file.write(json.dumps(record) + "\n")


def stream(count: int, *, statistics: bool) -> dict[str, Any]:
    """Score so many records, and measure.

    Args:
        count: number of records.
        statistics: also gather what the table of systems needs: a few numbers a summary.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.jsonl", Path(folder) / "out.jsonl"
        write_records(source, count)
        engine, table = Engine(TrivialScorer()), SystemTable()
        begin = time.perf_counter()
        with target.open("w", encoding="utf-8") as file:
            writer = JsonLinesWriter(file)
            for row in engine.run(read_products(source)):
                writer.write(row)
                if statistics:
                    table.add(row)
        seconds = time.perf_counter() - begin
        if engine.counts.scored != count:
            sys.exit(f"{engine.counts.scored} of {count} records were scored")
        return {
            "records": count,
            "statistics": statistics,
            "input_mib": source.stat().st_size / 2**20,
            "output_mib": target.stat().st_size / 2**20,
            "seconds": seconds,
            "peak_mib": _peak_mib(),
        }


def measured_apart(count: int, *, statistics: bool) -> dict[str, Any]:
    """:func:`stream` in a process of its own."""
    words = ["--only", str(count), *(["--statistics"] if statistics else [])]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.streaming", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def show(rows: list[dict[str, Any]]) -> None:
    """Print measurements."""
    lines = (
        (f"{row['records']:,}", f"{row['input_mib']:.1f}", f"{row['output_mib']:.1f}",
         f"{row['records'] / row['seconds']:,.0f}", f"{row['peak_mib']:.1f}",
         "kept" if row["statistics"] else "no")
        for row in rows
    )  # fmt: skip
    headers = ("records", "input MiB", "output MiB", "records/s", "peak MiB", "statistics")
    show_table(headers, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Records a second, and peak memory.")
    parser.add_argument("--records", type=int, default=100_000, help="the larger size")
    parser.add_argument("--no-save", action="store_true", help="append no row to the results")
    parser.add_argument("--only", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--statistics", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(json.dumps(stream(options.only, statistics=options.statistics)))
        return
    small, large, kept = (
        measured_apart(count, statistics=statistics)
        for count, statistics in (
            (options.records // 10, False),
            (options.records, False),
            (options.records, True),
        )
    )
    show([small, large, kept])
    growth = large["peak_mib"] - small["peak_mib"]
    print(f"\nten times the records take {growth:+.1f} MiB at the peak: ", end="")
    if growth > ALLOWED_GROWTH_MIB:
        sys.exit("memory is not constant")
    print("memory is constant")
    per_summary = (kept["peak_mib"] - large["peak_mib"]) * 2**20 / kept["records"]
    print(f"statistics for intervals and tests: {max(per_summary, 0):.0f} bytes a summary")
    if not options.no_save:
        append_row("streaming", {**environment("cpu"), "sizes": [small, large, kept]})


def _peak_mib() -> float:
    """Largest resident size of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


if __name__ == "__main__":
    main()
