"""Pairs per second of the engine against a naive loop, on the same products and weights.

    python -m benchmarks.cpu_scoring
    python -m benchmarks.cpu_scoring --products 4 --model path/to/checkpoint

The naive loop is the equations as they stand (benchmarks/naive_scoring.py): every pair on its own
through tokenizer and model, or in padded batches of 64. All sides run in one process. Their
decisions must be equal, and their probabilities within 1e-5, before any time is printed. The same
pairs are then scored without the engine in each precision that the processor has instructions for,
and with matrices in int8, with the share of decisions that it changes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from benchmarks.common import (
    append_row,
    dev_products,
    environment,
    quantiles,
    show_table,
    timed,
)
from benchmarks.naive_scoring import NaiveScoring, NaiveSummary
from prevalence.models.checkpoint import load_checkpoint
from prevalence.models.devices import in_software
from prevalence.nli.pairs import TextTable
from prevalence.scorers.registry import open_scorer
from prevalence.scoring.engine import Engine, WorkCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.nli.pairs import PairScorer
    from prevalence.records import Product
    from prevalence.scored import ScoredSummary

TOLERANCE = 1e-5
INT8 = "int8"
RECHECKED = "bfloat16 rechecked"
FORMS = ("float32", "bfloat16", RECHECKED, INT8)
PADDED_BATCH = 64

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Setup:
    """What both sides are given."""

    model: str
    products: list[Product]
    data: str


@dataclass(frozen=True, slots=True)
class Timed:
    """A run of the engine: rows, work and seconds."""

    rows: list[ScoredSummary]
    counts: WorkCounts
    hits: int
    seconds: float


def setup(model: str, data: Path | None, products: int | None) -> Setup:
    """Read the 28 products of Amazon dev, or the example where they are not at hand."""
    name, items = dev_products(data, products)
    return Setup(model, items, name)


def run_engine(given: Setup, engine: Engine) -> Timed:
    """Score all products once."""
    engine.counts = WorkCounts()
    before = engine.scorer_counts
    rows, seconds = timed(lambda: list(engine.run(given.products)))
    return Timed(rows, engine.counts, (engine.scorer_counts - before).hits, seconds)


def largest_difference(
    rows: Sequence[ScoredSummary], naive: Sequence[NaiveSummary], threshold: float
) -> float:
    """Check the engine's answers against the naive loop's.

    Returns:
        The largest |Δp|.

    Raises:
        SystemExit: a decision differs, or a probability by more than the tolerance.
    """
    largest = 0.0
    for row, theirs in zip(rows, naive, strict=True):
        if row.error is not None:
            sys.exit(f"{row.id} by {row.system}: {row.error}")
        implied = np.triu(theirs.earlier > threshold, k=1)
        counts = ~(theirs.trivial > threshold) & ~implied.any(axis=0)
        supports = (theirs.reviews > threshold).sum(axis=0)
        score = float((supports * counts).sum()) / max(theirs.reviews.size, 1)
        for k, sentence in enumerate(row):
            first = int(implied[:, k].argmax()) if implied[:, k].any() else None
            same = sentence.trivial == bool(theirs.trivial[k] > threshold)
            same &= sentence.redundant_with == first
            if sentence.entailment is not None:
                same &= sentence.support == int(supports[k])
                difference = np.abs(np.asarray(sentence.entailment) - theirs.reviews[:, k]).max()
                largest = max(largest, float(difference))
            if not same or largest > TOLERANCE:
                sys.exit(f"{row.id} by {row.system}, sentence {k}: the two sides differ")
        if row.prevalence is None or abs(row.prevalence - score) > 1e-12:
            sys.exit(f"{row.id} by {row.system}: {row.prevalence} is not {score}")
    return largest


def open_form(model: str, form: str) -> PairScorer:
    """A scorer in a precision, rechecked or not, or with the encoder's matrices in ``int8``.

    The last is torch's dynamic quantisation: weights by output channel, activations by call. It
    is measured here only; the package does not offer it.
    """
    from prevalence.nli.scorer import NLIScorer

    if form == RECHECKED:
        return open_scorer(model, device="cpu", dtype="bfloat16")
    if form != INT8:
        return NLIScorer(model, device="cpu", dtype=form)
    scorer = NLIScorer(model, device="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The module announces that it will move elsewhere.
        from torch.ao.quantization import per_channel_dynamic_qconfig, quantize_dynamic

        scheme = {torch.nn.Linear: per_channel_dynamic_qconfig}
        quantise: Any = quantize_dynamic
        quantise(scorer.checkpoint.model.base_model, scheme, inplace=True)
    return scorer


def forms() -> list[str]:
    """Those that this processor has instructions for; any other takes many times as long."""
    slow = in_software("bfloat16", torch.device("cpu"))
    return [form for form in FORMS if not (slow and form.startswith("bfloat16"))]


def measure_precision(given: Setup, dtype: str, naive: NaiveScoring, repeats: int) -> Row:
    """Score distinct pairs in one precision, against the naive loop's answers in float32."""
    answers = dict(zip(naive.pairs, naive.answers.tolist(), strict=True))
    scorer = open_form(given.model, dtype)
    table = TextTable()
    pairs = np.array([(table.add(a), table.add(b)) for a, b in answers], np.int64)
    scorer.score(table, pairs[:64])
    seconds = []
    for _ in range(repeats):
        before = scorer.counts
        scores, spent = timed(lambda: scorer.score(table, pairs))
        found = scores.entailment
        seconds.append(spent)
    exact = np.fromiter(answers.values(), np.float64)
    threshold = scorer.traits.threshold
    changed = (found > threshold) != (exact > threshold)
    return {
        "pairs": len(pairs),
        "seconds": quantiles(seconds)[1],
        "largest_difference": float(np.abs(found - exact).max()),
        "changed_decisions": float(changed.mean()),
        "rechecked": (scorer.counts - before).rechecked / len(pairs),
    }


def measure(given: Setup, repeats: int) -> Row:
    """Run all sides, the engine several times and once more with a full cache."""
    checkpoint = load_checkpoint(given.model)
    naive, padded = NaiveScoring(checkpoint), NaiveScoring(checkpoint, PADDED_BATCH)
    engine = Engine(open_scorer(given.model, device="cpu"))
    warm_up = given.products[:1]
    naive.run(warm_up)
    run_engine(Setup(given.model, warm_up, given.data), engine)

    answers, naive_seconds = timed(lambda: naive.run(given.products))
    by_batches, padded_seconds = timed(lambda: padded.run(given.products))
    runs = [run_engine(given, engine) for _ in range(repeats)]
    with tempfile.TemporaryDirectory() as folder:
        cached = Engine(open_scorer(given.model, device="cpu", cache=folder))
        run_engine(given, cached)
        again = run_engine(given, cached)
    largest_difference(again.rows, by_batches, engine.threshold)
    largest = max(largest_difference(one.rows, answers, engine.threshold) for one in (*runs, again))
    counts = runs[0].counts
    if counts.naive != len(naive.pairs):
        sys.exit(f"the engine counts {counts.naive} pairs, the naive loop {len(naive.pairs)}")
    low, middle, high = quantiles([run.seconds for run in runs])
    return {
        "model": engine.signature(),
        "data": given.data,
        "products": len(given.products),
        "summaries": counts.scored,
        "pairs": counts.naive,
        "avoided_by_waves": counts.naive - counts.planned,
        "avoided_by_deduplication": counts.planned - counts.unique,
        "computed": counts.unique,
        "cache_hits": again.hits,
        "largest_difference": largest,
        "naive_seconds": naive_seconds,
        "padded_seconds": padded_seconds,
        "engine_seconds": {"p20": low, "p50": middle, "p80": high},
        "cached_seconds": again.seconds,
        "precisions": {form: measure_precision(given, form, naive, repeats) for form in forms()},
        "repeats": repeats,
    }


def show(row: Row) -> None:
    """Print a measurement."""
    engine, pairs, computed = row["engine_seconds"], row["pairs"], row["computed"]
    print(
        f"{row['products']} products of {row['data']}, {row['summaries']} summaries, "
        f"{pairs:,} pairs by the equations; {row['torch_threads']} torch threads, {row['device']}\n"
        f"{row['model']}\n"
        f"same decisions on all pairs, largest |Δp| {row['largest_difference']:.1e}\n"
    )
    naive = row["naive_seconds"]
    sides = (
        ("naive loop", naive, pairs),
        ("naive, padded batches", row["padded_seconds"], pairs),
        ("engine p20", engine["p20"], computed),
        ("engine p50", engine["p50"], computed),
        ("engine p80", engine["p80"], computed),
        ("engine, full cache", row["cached_seconds"], computed - row["cache_hits"]),
    )
    rows = (
        (label, f"{seconds:.2f}", f"{ran:,}", f"{ran / seconds:,.1f}", f"{pairs / seconds:,.1f}",
         f"{naive / seconds:.2f}×")
        for label, seconds, ran in sides
    )  # fmt: skip
    show_table(("", "seconds", "pairs computed", "computed/s", "answered/s", "ratio"), rows)
    batching = (computed / engine["p50"]) / (pairs / naive)
    print(
        f"\npairs avoided: {row['avoided_by_waves']:,} by waves (early stopping), "
        f"{row['avoided_by_deduplication']:,} by deduplication; {row['cache_hits']:,} cached in "
        "the second run\n"
        f"by batching alone: {batching:.2f}× (computed/s over computed/s)\n"
        f"ratio: {naive / engine['p50']:.2f}× the naive loop's pairs per second, "
        f"{row['padded_seconds'] / engine['p50']:.2f}× those of padded batches"
    )
    for dtype, part in row["precisions"].items():
        print(
            f"{dtype}: {part['pairs'] / part['seconds']:,.1f} pairs/s without the engine, "
            f"{part['rechecked']:.1%} of them asked again, "
            f"{part['changed_decisions']:.2%} of decisions changed, largest |Δp| "
            f"{part['largest_difference']:.1e}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Engine against a naive loop, on a CPU.")
    parser.add_argument("--model", default="embedded", help="registered name or folder")
    parser.add_argument("--data", type=Path, help="products [default: Amazon dev, or examples]")
    parser.add_argument("--products", type=int, help="only the first so many, on both sides")
    parser.add_argument("--repeats", type=int, default=3, help="runs of the engine")
    parser.add_argument("--no-save", action="store_true", help="append no row to the results")
    options = parser.parse_args()
    given = setup(options.model, options.data, options.products)
    row = {**environment("cpu"), **measure(given, options.repeats)}
    show(row)
    if not options.no_save:
        append_row("cpu_scoring", row)


if __name__ == "__main__":
    main()
