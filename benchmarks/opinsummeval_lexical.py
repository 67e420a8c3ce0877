"""Lexical metrics beside the scores that OpinSummEval released, on its 1,400 summaries.

    python -m benchmarks.opinsummeval_lexical --data data/opinsummeval.jsonl
    python -m benchmarks.opinsummeval_lexical --data FILE --meteor-jar meteor/meteor-1.5.jar

The data are not part of this repository. For each released score the table shows the setting that
reproduces it and the default of the same family: how many values are equal, the largest
difference, and Spearman's rank correlation. Rows go to `benchmarks/results/`.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr

from benchmarks.common import DATA, RESULTS, show_table
from prevalence.baselines import Example, get
from prevalence.baselines.references import References
from prevalence.baselines.run import example_of
from prevalence.errors import MissingDependencyError
from prevalence.readers import read_products
from prevalence.records import Product

__all__ = ["Comparison", "compare", "comparisons", "read_released"]

CLOSE = 1e-12


class Comparison(NamedTuple):
    """A released score, a metric of ours, and what its values are multiplied by to be on scale."""

    released: str
    metric: str
    scale: float = 1.0


def comparisons(meteor_jar: Path | None = None) -> list[Comparison]:
    """The pairs to compare: first what reproduces a released score, then the family's default."""
    pairs = []
    for key, name in (("R1_F1", "rouge-1"), ("R2_F1", "rouge-2"), ("RL_F1", "rouge-l")):
        pairs += [Comparison(key, f"{name}:py-rouge"), Comparison(key, name)]
    for order in (1, 2, 3, 4):
        pairs += [
            Comparison(f"Bleu_{order}", f"bleu-{order}:nlg-eval"),
            Comparison(f"Bleu_{order}", f"bleu-{order}", 0.01),
        ]
    pairs += [Comparison("chrF", "chrf:eps:words=2", 0.01), Comparison("chrF", "chrf", 0.01)]
    if meteor_jar is not None:
        pairs.append(Comparison("METEOR", f'meteor-1.5:jar="{meteor_jar}"'))
    pairs += [
        Comparison("METEOR", "meteor"),
        Comparison("METEOR", "meteor:exact-stem"),
        Comparison("ter_score", "ter"),
    ]
    return pairs


def read_released(path: Path) -> tuple[list[Example], dict[str, list[float]]]:
    """The summaries as examples, and their released scores by name."""
    examples: list[Example] = []
    released: dict[str, list[float]] = {}
    for item in References().attach(read_products(path)):
        if not isinstance(item, Product):
            raise SystemExit(item.error)
        for summary in item.summaries:
            examples.append(example_of(item, summary))
            for name, value in summary.extra["metrics"].items():
                released.setdefault(name, []).append(value)
    return examples, released


def compare(
    pair: Comparison, examples: list[Example], released: dict[str, list[float]]
) -> dict[str, Any]:
    """One row of the table."""
    row: dict[str, Any] = {"released": pair.released, "metric": pair.metric.partition(":jar=")[0]}
    try:
        metric = get(pair.metric)
    except MissingDependencyError as error:
        return row | {"skipped": str(error)}
    ours = metric.score(examples) * pair.scale
    theirs = np.asarray(released[pair.released], np.float64)
    differences = np.abs(ours - theirs)
    return row | {
        "n": len(ours),
        "equal": int((differences <= CLOSE).sum()),
        "largest_difference": float(differences.max()),
        "spearman": float(spearmanr(ours, theirs).statistic),
        "signature": dict(metric.signature),
    }


def show(rows: list[dict[str, Any]]) -> None:
    """Print the rows."""
    lines = (
        (row["released"], row["metric"], f"{row['equal']:,} of {row['n']:,}",
         f"{row['largest_difference']:.2g}", f"{row['spearman']:.4f}")
        if "n" in row
        else (row["released"], row["metric"], f"skipped: {row['skipped']}", "", "")
        for row in rows
    )  # fmt: skip
    headers = ("released", "metric", "equal", "largest |Δ|", "Spearman")
    show_table(headers, lines, left=headers)


def main() -> None:
    """Compare, print and keep the table."""
    parser = argparse.ArgumentParser(description="Our lexical metrics and OpinSummEval's scores.")
    parser.add_argument("--data", type=Path, default=DATA / "opinsummeval.jsonl")
    parser.add_argument("--meteor-jar", type=Path)
    options = parser.parse_args()
    if not options.data.is_file():
        raise SystemExit(f"{options.data} is not here; name it with --data")
    examples, released = read_released(options.data)
    rows = []
    for pair in comparisons(options.meteor_jar):
        rows.append(compare(pair, examples, released))
        print(json.dumps(rows[-1]), flush=True)
    show(rows)
    RESULTS.mkdir(parents=True, exist_ok=True)
    result = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {name: version(name) for name in ("nltk", "numpy", "prevalence", "sacrebleu")},
        "rows": rows,
    }
    path = RESULTS / "opinsummeval_lexical.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
