"""What each kind of training data buys: short trainings, each without one kind, on the same budget.

    python -m benchmarks.ablation --start MODEL_FOLDER --save
    python -m benchmarks.ablation --start MODEL_FOLDER --without events --without "key points"

Every run starts from the same checkpoint, has one stage and takes the same number of pairs; what
one kind leaves free, the others fill in their proportions. `all` takes every kind; `--taught` adds
a run that mixes the larger embedded model's probabilities into the labels of the real reviews.
Judged on careful readers' labels of ReviewNLI's development products, which no run sees, on the
sets of `benchmarks.quality`, and on sentences of OpinSummEval's reviews with one thing turned. A
run takes three to five minutes on two cores; finished ones are kept in `--work`.
"""

import argparse
import dataclasses
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.common import DATA, ROOT, append_row, environment, show_table
from benchmarks.quality import (
    WRITTEN,
    judged_pairs,
    ranked,
    read_pairs,
    turned_pairs,
    written_pairs,
)
from prevalence import calibration
from prevalence.training.loop import TrainingProgress
from prevalence.training.recipe import MixItem, Recipe, Stage, Teacher, read_recipe
from prevalence.training.sources import Sources
from prevalence.training.stages import Workshop, predict

RECIPE = ROOT / "prevalence" / "training" / "recipes" / "embedded.toml"
JUDGED = "human"
TAUGHT = "real"
TAUGHT_RUN = "all, taught"
TURNED = 300
REVIEWS = 200

# Thousands of pairs: about what the files hold, and fewer of what is made by rule.
MIX: Mapping[str, Mapping[tuple[str, str], int]] = {
    "real reviews": {("real", "labelled"): 28, ("statements", "labelled"): 17},
    "contrast sets": {
        ("hard", "labelled"): 14,
        ("written", "labelled"): 11,
        ("twins-1", "labelled"): 5,
    },
    "everyday reviews": {
        ("everyday-1", "labelled"): 11,
        ("everyday-2", "labelled"): 8,
        ("systems", "labelled"): 8,
    },
    "clusters": {("clusters", "labelled"): 18},
    "shop reviews": {("shop", "labelled"): 12, ("shop-2", "labelled"): 10},
    "compounds": {("compounds", "labelled"): 8},
    "events": {("events", "labelled"): 8, ("events-2", "labelled"): 8},
    "whole summaries": {
        ("summaries", "labelled"): 8,
        ("summaries-shop", "labelled"): 8,
        ("gist", "labelled"): 8,
    },
    "key points": {("key-points", "labelled"): 10},
    "repetitions": {("repetitions", "labelled"): 7},
    "opposites": {
        ("opposites", "labelled"): 12,
        ("opposites", "sentence"): 3,
        ("statements-opposites", "labelled"): 6,
    },
    "twins by rule": {
        ("real", "reworded"): 8,
        ("hard", "reworded"): 4,
        ("everyday-1", "reworded"): 4,
    },
    "sentence and sentence": {
        ("real", "sentence"): 4,
        ("statements", "sentence"): 5,
        ("hard", "sentence"): 5,
        ("clusters", "sentence"): 5,
    },
}


def stage(without: str, pairs: int, rate: float) -> Stage:
    """One stage of so many pairs in the proportions of `MIX`, without one kind."""
    shares = {
        item: share
        for kind, items in MIX.items()
        if kind != without
        for item, share in items.items()
    }
    total = sum(shares.values())
    mix = tuple(
        MixItem(source, view, max(1, round(pairs * share / total)))
        for (source, view), share in shares.items()
    )
    return Stage("ablation", rate, mix)


def recipe_of(start: Path, *, taught: bool) -> Recipe:
    """The embedded model's recipe, started from a checkpoint."""
    own = read_recipe(RECIPE)
    sources = tuple(
        dataclasses.replace(source, taught=taught and source.name == TAUGHT)
        for source in own.sources
    )
    return dataclasses.replace(
        own,
        model=dataclasses.replace(own.model, base=str(start)),
        sources=sources,
        cross_validation=None,
        teacher=Teacher(models=("base",), siblings=2, foreign=1, own=1) if taught else None,
    )


def measure(shop: Workshop) -> dict[str, float]:
    """Figures of the present weights, at the threshold that is best for the judged pairs."""
    judged = shop.sources.asked_of_reviews(JUDGED)
    entailment = shop.entailment(judged.pairs)
    best = calibration.best_threshold(entailment, judged.labels)
    found = {
        "auc": calibration.auc(entailment, judged.labels),
        "balanced_accuracy": best.balanced_accuracy,
        "threshold": best.value,
    }
    contrast = read_pairs(ROOT / "benchmarks" / "data" / "contrast.jsonl")
    scores = shop.entailment([(row["premise"], row["hypothesis"]) for row in contrast])
    sets = np.array([row["set"] for row in contrast])
    entailed = np.array([row["label"] == "entailment" for row in contrast])
    found["contrast_sets_ranked"] = ranked(sets, scores, entailed)
    released = read_pairs(DATA / "opinsummeval.jsonl")
    sets_judged = {title: written_pairs(title)[:2] for title in WRITTEN}
    sets_judged["unseen_reviews"] = judged_pairs(released)
    for title, (pairs, truth) in sets_judged.items():
        found[f"{title}_auc"] = calibration.auc(shop.entailment(pairs), truth)
    reviews = [text for row in released for text in row["reviews"]][:REVIEWS]
    for kind, twins in turned_pairs(reviews, most=TURNED).items():
        chances = predict(shop.classifier, twins)
        found[f"{kind}_supported"] = float((chances[:, 0] > best.value).mean())
        if kind == "negation":
            found["negation_contradicted"] = float((chances.argmax(axis=1) == 2).mean())
            same = shop.entailment([(text, text) for text, _ in twins])
            found["itself_supported"] = float((same > best.value).mean())
    return found


def workshop(options: argparse.Namespace, *, taught: bool) -> Workshop:
    """The start and the data of the runs."""
    recipe = recipe_of(options.start, taught=taught)
    shop = Workshop(
        Sources(recipe, DATA), base=options.start, work=options.work, device=torch.device("cpu"),
        progress=report,
    )  # fmt: skip
    if recipe.teacher is not None:
        shop.learn_from(recipe.teacher.models, recipe.teacher)
    return shop


def report(progress: TrainingProgress) -> None:
    """Show how far a run is."""
    print(f"\r{progress.run} {progress.step} of {progress.steps}  ", end="", file=sys.stderr)


def main() -> None:
    """Train and measure every run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--start", type=Path, required=True, help="checkpoint every run starts from"
    )
    parser.add_argument(
        "--without", choices=MIX, action="append", metavar="KIND",
        help="leave out this kind alone; may be given several times (default: each in turn)",
    )  # fmt: skip
    parser.add_argument("--taught", action="store_true", help="also a run with a teacher")
    parser.add_argument("--pairs", type=int, default=16_000, help="pairs a run (default 16,000)")
    parser.add_argument("--rate", type=float, default=2e-4, help="learning rate (default 2e-4)")
    parser.add_argument("--work", type=Path, default=Path("ablation-work"), help="finished runs")
    parser.add_argument("--save", action="store_true", help="append rows to benchmarks/results")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []

    def state(run: str, seconds: float, shop: Workshop) -> None:
        rows.append({"run": run, "seconds": round(seconds), **measure(shop)})
        print(rows[-1], flush=True)
        if options.save:
            append_row("ablation", {**environment("cpu"), "pairs": options.pairs, **rows[-1]})

    shop = workshop(options, taught=False)
    state("the start", 0.0, shop)
    runs = {"all": "", **{f"without {kind}": kind for kind in options.without or MIX}}
    if options.taught:
        runs[TAUGHT_RUN] = ""
    for run, without in runs.items():
        if run == TAUGHT_RUN:
            shop = workshop(options, taught=True)
        outcome = shop.run_stage(stage(without, options.pairs, options.rate), shop.start)
        shop.load(outcome)
        state(run, outcome.seconds, shop)
    headers = list(rows[0])
    body = [
        [value if isinstance(value, str) else f"{value:.3f}" for value in row.values()]
        for row in rows
    ]
    show_table(headers, body, title="Short trainings, each without one kind of data", left=("run",))


if __name__ == "__main__":
    main()
