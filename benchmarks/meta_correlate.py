"""Bootstrap of all correlations against a plain loop over SciPy, in one process.

    python -m benchmarks.meta_correlate
    python -m benchmarks.meta_correlate --data ratings.jsonl --plain-resamples 4

Both sides correlate every metric with every dimension at system and summary level in the same
resamples of items and systems. The plain side copies the drawn rows and columns and calls
scipy.stats.kendalltau for each coefficient; it would take hours for 1,000 resamples, so it runs on
the first few of them, and its time is scaled. Its values must equal ours in each of these resamples
before any time is printed. The two sides take turns, and processor time is what counts; run it
with OMP_NUM_THREADS=1, so that both sides have one thread.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.stats

from benchmarks.common import DATA, ROOT, append_row, environment, quantiles
from prevalence.meta.correlate import Pairing, pairings, score_grids
from prevalence.meta.levels import Resamples, correlate_resampled, draw_resamples
from prevalence.meta.sources import read_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prevalence.meta.levels import Level
    from prevalence.meta.table import RatingTable

    Floats = NDArray[np.float64]

LEVELS: tuple[Level, ...] = ("system", "summary")
TOLERANCE = 1e-9
_DIGITS = 11
"""Kept of means on the plain side, so that equal ones do not differ by the order of their sums."""


class Setup(NamedTuple):
    """What both sides are given."""

    table: RatingTable
    pairs: list[Pairing]
    drawn: Resamples
    data: str

    def grids(self, pair: Pairing) -> tuple[Floats, Floats]:
        """The metric's and the people's scores."""
        return score_grids(self.table, pair, missing="drop")


def setup(data: Path, resamples: int) -> Setup:
    table = read_table(data)
    drawn = draw_resamples(
        len(table.items), len(table.systems), over="both", resamples=resamples, seed=12345
    )
    return Setup(table, pairings(table), drawn, data.name)


def run_ours(given: Setup) -> Floats:
    """Values of all cells in all resamples, float64 [levels, pairs, B]."""
    return np.array(
        [
            [
                correlate_resampled(level, "kendall", *given.grids(pair), given.drawn)
                for pair in given.pairs
            ]
            for level in LEVELS
        ]
    )


def run_plain(given: Setup, resamples: range) -> Floats:
    """The same for some of the resamples, one coefficient a call: [levels, pairs, resamples]."""
    values = np.empty((len(LEVELS), len(given.pairs), len(resamples)))
    for place, resample in enumerate(resamples):
        rows, columns = (np.repeat(np.arange(w.shape[1]), w[resample]) for w in given.drawn)
        for number, pair in enumerate(given.pairs):
            metric, human = (grid[np.ix_(rows, columns)] for grid in given.grids(pair))
            means = [
                [float(f"{mean:.{_DIGITS}g}") for mean in grid.mean(axis=0)]
                for grid in (metric, human)
            ]
            values[0, number, place] = scipy.stats.kendalltau(*means).statistic
            taus = [
                scipy.stats.kendalltau(x, y).statistic for x, y in zip(metric, human, strict=True)
            ]
            values[1, number, place] = np.nanmean(taus)
    return values


def measure(given: Setup, plain_resamples: int, repeats: int) -> dict[str, Any]:
    run_ours(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        plain_seconds, our_seconds = 0.0, []
        for resample in range(plain_resamples):
            # Both sides run in one thread; its own time is fair where others use the machine too.
            begin = time.process_time()
            plain = run_plain(given, range(resample, resample + 1))
            plain_seconds += time.process_time() - begin
            for _ in range(repeats):
                begin = time.process_time()
                ours = run_ours(given)
                our_seconds.append(time.process_time() - begin)
            difference = np.abs(ours[:, :, [resample]] - plain)
            same_gaps = (np.isnan(ours[:, :, [resample]]) == np.isnan(plain)).all()
            if not same_gaps or np.nanmax(difference) > TOLERANCE:
                sys.exit(f"resample {resample}: the two sides differ by {np.nanmax(difference)}")
    low, middle, high = quantiles(our_seconds)
    resamples = len(given.drawn.items)
    scaled = plain_seconds / plain_resamples * resamples
    return {
        "data": given.data,
        "items": len(given.table.items),
        "systems": len(given.table.systems),
        "pairs": len(given.pairs),
        "levels": list(LEVELS),
        "resamples": resamples,
        "plain_resamples": plain_resamples,
        "plain_seconds": plain_seconds,
        "plain_seconds_scaled": scaled,
        "our_seconds": {"p20": low, "p50": middle, "p80": high},
        "ratio": scaled / middle,
    }


def show(row: dict[str, Any]) -> None:
    ours = row["our_seconds"]
    print(
        f"{row['data']}: {row['items']} items, {row['systems']} systems, {row['pairs']} pairs of "
        f"metric and dimension, {len(row['levels'])} levels, {row['resamples']:,} resamples of "
        f"items and systems\nequal within {TOLERANCE:g} in the {row['plain_resamples']} resamples "
        f"that the plain loop ran\n"
        f"plain SciPy loop  {row['plain_seconds']:10.2f} s for {row['plain_resamples']} resamples, "
        f"scaled to {row['plain_seconds_scaled']:,.0f} s for {row['resamples']:,}\n"
        f"prevalence        {ours['p50']:10.2f} s for {row['resamples']:,} "
        f"(p20 {ours['p20']:.2f}, p80 {ours['p80']:.2f})\n"
        f"ratio: {row['ratio']:,.0f}×"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Bootstrap of correlations against SciPy.")
    parser.add_argument("--data", type=Path, default=DATA / "opinsummeval.jsonl")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--plain-resamples", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="of ours, after each plain resample")
    parser.add_argument("--no-save", action="store_true", help="append no row to the results")
    options = parser.parse_args()
    if not options.data.is_file():
        print(f"note: no {options.data.name} (set PREVALENCE_DATA); the bundled example stands in")
        options.data = ROOT / "examples" / "ratings.jsonl"
    given = setup(options.data, options.resamples)
    row = {**environment("cpu"), **measure(given, options.plain_resamples, options.repeats)}
    show(row)
    if not options.no_save:
        append_row("meta_correlate", row)


if __name__ == "__main__":
    main()
