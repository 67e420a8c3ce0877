"""How fast models score the same products on a CPU, against the first of them.

    python -m benchmarks.model_speed
    python -m benchmarks.model_speed --models embedded,path/to/checkpoint --products 4

Models take turns in one process, so that other work on the machine slows all of them. Loading and
first use are left out, and nothing is cached. Compared are the seconds for the same products: which
pairs a model is asked about depends on what it finds trivial or redundant.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.common import append_row, dev_products, environment, quantiles, show_table, timed
from prevalence.scorers.registry import open_scorer
from prevalence.scoring.engine import Engine, WorkCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.records import Product


def measure(models: Sequence[str], products: Sequence[Product], repeats: int) -> dict[str, Any]:
    """Score the products with every model in turn.

    Args:
        models: registered names or folders; the first is the measure of the others.
        products: what to score.
        repeats: turns.

    Returns:
        For each model its signature, the pairs it computed, quantiles of the seconds a turn took,
        and the median of (seconds of the first model / its seconds in the same turn).
    """
    engines = [Engine(open_scorer(model, device="cpu")) for model in models]
    for engine in engines:
        _seconds(engine, products[:1])
    turns = [[_seconds(engine, products) for engine in engines] for _ in range(repeats)]
    found = {}
    for number, (model, engine) in enumerate(zip(models, engines, strict=True)):
        low, middle, high = quantiles([turn[number] for turn in turns])
        found[model] = {
            "signature": engine.signature(),
            "pairs": engine.counts.unique,
            "seconds": {"p20": low, "p50": middle, "p80": high},
            "relative": quantiles([turn[0] / turn[number] for turn in turns])[1],
        }
    return found


def _seconds(engine: Engine, products: Sequence[Product]) -> float:
    engine.counts = WorkCounts()
    return timed(lambda: list(engine.run(products)))[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", default="embedded,base", help="names or folders, by commas")
    parser.add_argument("--data", type=Path, help="products [default: Amazon dev, or examples]")
    parser.add_argument("--products", type=int, help="only the first so many")
    parser.add_argument("--repeats", type=int, default=5, help="turns")
    parser.add_argument("--no-save", action="store_true", help="append no row to the results")
    options = parser.parse_args()
    name, products = dev_products(options.data, options.products)
    models = measure(options.models.split(","), products, options.repeats)
    show_table(
        ("model", "pairs computed", "seconds", "relative speed"),
        [
            (model, f"{row['pairs']:,}", f"{row['seconds']['p50']:.2f}", f"{row['relative']:.2f}")
            for model, row in models.items()
        ],
        title=f"{len(products)} products of {name}",
        left=("model",),
    )
    row = {"data": name, "products": len(products), "repeats": options.repeats, "models": models}
    if not options.no_save:
        append_row("model_speed", environment("cpu") | row)


if __name__ == "__main__":
    main()
