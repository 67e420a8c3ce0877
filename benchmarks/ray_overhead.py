"""What a Ray cluster costs against the engine in one process, on the same cores.

    python -m benchmarks.ray_overhead
    python -m benchmarks.ray_overhead --data products.jsonl --products 8 --repeats 1

The two sides take turns on the same files, all products and half of them: what grows with the work
is the difference of the two, and what does not is the start of a cluster and of its workers'
models. Every row must hold the same decisions, and probabilities within 1e-5, before any time is
printed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common import append_row, dev_products, environment, show_table
from prevalence.distributed import Cluster, DistributedEngine
from prevalence.readers import read_products
from prevalence.scorers.registry import open_scorer
from prevalence.scoring.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prevalence.scored import ScoredSummary

TOLERANCE = 1e-5

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Timed:
    """Rows of a run, pairs answered, and seconds.

    Attributes:
        rows, pairs: what came of it.
        start: seconds before the first split could be sent: cluster and model.
        seconds: of the whole run, the start included.
    """

    rows: list[ScoredSummary]
    pairs: int
    start: float
    seconds: float


def open_engine(model: str) -> Engine:
    """The engine of either side, on a CPU."""
    return Engine(open_scorer(model, device="cpu"))


def run_local(path: Path, model: str) -> Timed:
    """Score a file in this process."""
    begin = time.perf_counter()
    engine = open_engine(model)
    start = time.perf_counter() - begin
    rows = list(engine.run(read_products(path)))
    return Timed(rows, engine.counts.naive, start, time.perf_counter() - begin)


def run_cluster(path: Path, model: str, workers: int) -> Timed:
    """Score a file on a cluster that lives as long as the run."""
    begin = time.perf_counter()
    with Cluster(workers=workers).open() as pool:
        engine = DistributedEngine(pool, [str(path)], partial(open_engine, model))
        start = time.perf_counter() - begin
        rows = list(engine.run(engine.items()))
        seconds = time.perf_counter() - begin
    return Timed(rows, engine.counts.naive, start, seconds)


def check(found: Sequence[ScoredSummary], expected: Sequence[ScoredSummary]) -> float:
    """Compare the rows of the two sides.

    Returns:
        The largest difference of two probabilities.

    Raises:
        SystemExit: a row differs by more than rounding.
    """
    largest = 0.0
    for row, right in zip(found, expected, strict=True):
        same = (row.id, row.system, row.prevalence) == (right.id, right.system, right.prevalence)
        for sentence, theirs in zip(row, right, strict=True):
            same &= sentence.supporting_reviews == theirs.supporting_reviews
            values = np.asarray(sentence.entailment or (), np.float64)
            differences = np.abs(values - np.asarray(theirs.entailment or (), np.float64))
            largest = max(largest, float(np.nanmax(differences, initial=0.0)))
        if not same or largest > TOLERANCE:
            sys.exit(f"{row.id} by {row.system}: the two sides differ")
    return largest


def inputs(data: Path | None, products: int | None, folder: Path) -> tuple[str, list[Path]]:
    """Write half of the products, and all of them, with their names.

    Returns:
        What they are, and the two files.
    """
    name, items = dev_products(data, products)
    records = [json.dumps(item.to_json()) for item in items]
    if len(records) < 2:
        sys.exit(f"{name}: needs two products at least")
    paths = []
    for stem, part in (("half", records[: len(records) // 2]), ("whole", records)):
        paths.append(folder / f"{stem}.jsonl")
        paths[-1].write_text("".join(record + "\n" for record in part), encoding="utf-8")
    return name, paths


def measure(paths: Sequence[Path], *, model: str, workers: int, repeats: int) -> Row:
    """Run both sides on both files in turn, and compare.

    Returns:
        Seconds by side, what is fixed and what grows with the work, and the ratios.
    """
    sides: dict[str, Callable[[Path], Timed]] = {
        "local": lambda path: run_local(path, model),
        "ray": lambda path: run_cluster(path, model, workers),
    }
    open_engine(model)  # Imports would count for the side that comes first.
    runs: dict[tuple[str, str], list[Timed]] = {}
    for _ in range(repeats):
        for path in paths:
            for side, run in sides.items():
                runs.setdefault((side, path.stem), []).append(run(path))
    largest = max(
        check(ray.rows, local.rows)
        for path in paths
        for ray, local in zip(runs["ray", path.stem], runs["local", path.stem], strict=True)
    )
    half, whole = runs["local", "half"][0], runs["local", "whole"][0]
    row: Row = {
        "workers": workers,
        "repeats": repeats,
        "summaries": len(whole.rows),
        "pairs": {"half": half.pairs, "whole": whole.pairs},
        "largest_difference": largest,
    }
    for side in sides:
        seconds = {name: median(t.seconds for t in runs[side, name]) for name in ("half", "whole")}
        per_pair = (seconds["whole"] - seconds["half"]) / (whole.pairs - half.pairs)
        row[side] = {
            "seconds": seconds,
            "start": median(t.start for t in runs[side, "whole"]),
            "fixed": seconds["whole"] - per_pair * whole.pairs,
            "pairs_per_second": 1 / per_pair,
        }
    row["ratio"] = row["ray"]["pairs_per_second"] / row["local"]["pairs_per_second"]
    row["ratio_with_start"] = row["local"]["seconds"]["whole"] / row["ray"]["seconds"]["whole"]
    return row


def show(row: Row) -> None:
    """Print the comparison."""
    rows = (
        (side, f"{row[side]['seconds']['whole']:.1f}", f"{row[side]['seconds']['half']:.1f}",
         f"{row[side]['fixed']:.1f}", f"{row[side]['pairs_per_second']:.1f}")
        for side in ("local", "ray")
    )  # fmt: skip
    title = f"{row['pairs']['whole']:,} pairs, {row['workers']} workers"
    show_table(("side", "whole, s", "half, s", "fixed, s", "pairs/s beyond it"), rows, title=title)
    print(
        f"Ray does {row['ratio']:.3f} of the local engine's pairs/s beyond the start, and "
        f"{row['ratio_with_start']:.3f} with it; same decisions, probabilities within "
        f"{row['largest_difference']:.1e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="A Ray cluster against one process.")
    parser.add_argument("--model", default="embedded", help="registered name or folder")
    parser.add_argument("--data", type=Path, help="products [default: Amazon dev, or examples]")
    parser.add_argument("--products", type=int, help="only the first so many")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeats", type=int, default=1, help="runs of each side on each file")
    parser.add_argument("--no-save", action="store_true", help="append no row to the results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, paths = inputs(options.data, options.products, Path(folder))
        settings = {"model": options.model, "data": data}
        measured = measure(
            paths, model=options.model, workers=options.workers, repeats=options.repeats
        )
    row = {**environment("cpu"), **settings, **measured}
    show(row)
    if not options.no_save:
        append_row("ray_overhead", row)


if __name__ == "__main__":
    main()
