"""Decisions of a model on the robustness set, by relation and phenomenon, in one command.

    python -m benchmarks.quality
    python -m benchmarks.quality --model embedded

Rows are written to `benchmarks/results/quality.json`. How scorers compare on ReviewNLI is in
`benchmarks/consistency.py`.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import RESULTS, ROOT, environment, show_table
from prevalence import calibration

Floats = np.ndarray[Any, np.dtype[np.float64]]
Pairs = Sequence[tuple[str, str]]
Row = dict[str, Any]


class Embedded:
    """The NLI scorer under its own threshold."""

    def __init__(self, model: str) -> None:
        from prevalence.nli.scorer import NLIScorer

        self.scorer = NLIScorer(model, device="cpu")

    def probabilities(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """P(entailment) and P(contradiction)."""
        from prevalence.nli.pairs import TextTable

        table = TextTable()
        numbers = np.array([(table.add(a), table.add(b)) for a, b in pairs], dtype=np.int64)
        scores = self.scorer.score(table, numbers)
        return (
            np.asarray(scores.entailment, dtype=np.float64),
            np.asarray(scores.contradiction, dtype=np.float64),
        )


def robustness_rows(path: Path, model: Embedded) -> list[Row]:
    """Decisions on the robustness set, by relation and phenomenon."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [(record["premise"], record["hypothesis"]) for record in records]
    entailment, contradiction = model.probabilities(pairs)
    threshold = model.scorer.traits.threshold
    keys = [("all", "all")]
    keys += sorted({(r["relation"], "all") for r in records})
    keys += sorted({(r["relation"], r["phenomenon"]) for r in records})
    rows = []
    for relation, phenomenon in keys:
        chosen = np.array([
            relation in ("all", r["relation"]) and phenomenon in ("all", r["phenomenon"])
            for r in records
        ])  # fmt: skip
        truth = np.array([r["label"] for r in records])[chosen]
        part = part_figures(entailment[chosen], contradiction[chosen], truth, threshold)
        rows.append({"relation": relation, "phenomenon": phenomenon, **part})
    return rows


def part_figures(entailment: Floats, contradiction: Floats, truth: Any, threshold: float) -> Row:
    entailed = truth == "entailment"
    opposed = truth == "contradiction"
    decided = entailment > threshold
    neutral = 1.0 - entailment - contradiction
    against = ~decided & (contradiction > entailment) & (contradiction > neutral)
    both = entailed.any() and not entailed.all()
    return {
        "pairs": len(truth),
        "accuracy": float((decided == entailed).mean()),
        "recall": float(decided[entailed].mean()) if entailed.any() else None,
        "specificity": float((~decided[~entailed]).mean()) if (~entailed).any() else None,
        "auc": calibration.auc(entailment, entailed) if both else None,
        "contradiction_recall": float(against[opposed].mean()) if opposed.any() else None,
        "contradiction_false": float(against[~opposed].mean()) if (~opposed).any() else None,
    }


def show(title: str, rows: Sequence[Row]) -> None:
    """Print rows as a table."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = ([_cell(row.get(column)) for column in columns] for row in rows)
    headers = [column.replace("_", " ") for column in columns]
    show_table(headers, lines, title=title, left=("phenomenon",))


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.0f}" if value >= 10 else f"{value:.3f}"
    return str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description="Decisions on the robustness pairs.")
    parser.add_argument("--model", default="embedded", help="registered name or folder")
    parser.add_argument("--output", type=Path, default=RESULTS / "quality.json")
    options = parser.parse_args()
    model = Embedded(options.model)
    name = f"{options.model} @ {model.scorer.traits.threshold:.3f}"
    rows = robustness_rows(ROOT / "benchmarks" / "data" / "robustness.jsonl", model)
    show(f"Robustness set, {name}", rows)
    result: Row = {
        "environment": environment(), "threshold": model.scorer.traits.threshold,
        "robustness": rows,
    }  # fmt: skip
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
