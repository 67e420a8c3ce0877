"""Pairs that the profile asks beside those of plain prevalence, by the number of reviews.

    python -m benchmarks.profile_cost
    python -m benchmarks.profile_cost --reviews 8 100 --summaries 1 --statements 40

Reviews are drawn from the invented ones that training uses, summaries are made of sentences of
theirs, and a lexical scorer answers, so that the numbers need no model. Beside the pairs stand
the error of a sampled coverage and the width of its 95% interval, against all reviews asked.
Rows go to `benchmarks/results/`.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common import ROOT, append_row, environment, show_table
from prevalence.records import Product, Review, Summary
from prevalence.scorers.registry import open_scorer
from prevalence.scoring import statements
from prevalence.scoring.engine import Engine
from prevalence.scoring.options import ScoringOptions
from prevalence.text.sentences import get_splitter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prevalence.scored import ScoredSummary

__all__ = ["made_product", "measured"]

SOURCE = ROOT / "prevalence" / "training" / "data" / "review_nli_synthetic.jsonl"
SENTENCES = 5
SCORER, THRESHOLD = "rouge1-precision", 0.5


def made_product(reviews: int, summaries: int, *, seed: int) -> Product:
    """A product of one domain; summaries are sentences of reviews that it does not have.

    Args:
        reviews: how many; drawn with replacement once there are no more.
        summaries: how many.
        seed: of the draw.
    """
    texts = [json.loads(line)["review"] for line in SOURCE.read_text("utf-8").splitlines()]
    rng = np.random.default_rng(seed)
    order = rng.permutation(texts).tolist()
    held, rest = order[:60], order[60:]
    drawn = [str(rest[k % len(rest)]) for k in range(reviews)]
    split = get_splitter()
    sentences = [sentence.text for text in held for sentence in split(str(text))]
    return Product(
        id=f"{reviews} reviews",
        name=None,
        reviews=tuple(map(Review, drawn)),
        summaries=tuple(
            Summary(f"s{k}", " ".join(rng.choice(sentences, SENTENCES, replace=False)))
            for k in range(summaries)
        ),
    )


def scored(product: Product, **options: Any) -> tuple[list[ScoredSummary], Engine]:
    """The rows of a product, and the engine that counted their pairs."""
    scorer = open_scorer(SCORER, threshold=THRESHOLD)
    engine = Engine(scorer, ScoringOptions(profile=True, trivial=None, **options))
    return list(engine.run([product])), engine


def measured(
    reviews: int, summaries: int, *, most: int, seed: int, exact: bool = True
) -> dict[str, Any]:
    """One line: pairs of the plain score and of the profile, and what sampling costs."""
    product = made_product(reviews, summaries, seed=seed)
    rows, engine = scored(product, coverage_statements=most)
    plain, more = engine.counts.planned, engine.counts.profile_asked
    profiles = [row.profile for row in rows if row.profile is not None]
    line = {
        "reviews": reviews,
        "summaries": summaries,
        "statements": profiles[0].statements,
        "of_statements": profiles[0].of_statements,
        "plain": plain,
        "profile": more,
        "ratio": (plain + more) / plain,
    }
    intervals = [one.coverage_interval for one in profiles if one.coverage_interval is not None]
    if not (intervals and exact):
        return line
    usual = statements.ASKED
    statements.ASKED = reviews
    try:
        truth = [row.profile for row in scored(product, coverage_statements=most)[0]]
    finally:
        statements.ASKED = usual
    pairs = zip(profiles, truth, strict=True)
    errors = [abs((a.coverage or 0) - (b.coverage or 0)) for a, b in pairs if b is not None]
    return line | {
        "width": float(np.mean([high - low for low, high in intervals])),
        "error": float(np.mean(errors)),
    }


def lines(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every combination asked for."""
    for reviews in options.reviews:
        for summaries in options.summaries:
            yield measured(
                reviews, summaries, most=options.statements, seed=options.seed,
                exact=not options.no_exact,
            )  # fmt: skip


def main() -> None:
    """Measure, print and keep the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--reviews", type=int, nargs="+", default=[8, 100, 1000])
    parser.add_argument("--summaries", type=int, nargs="+", default=[1, 5, 14])
    parser.add_argument("--statements", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-exact", action="store_true", help="Leave out error and width.")
    options = parser.parse_args()
    rows = list(lines(options))
    headers = ("reviews", "summaries", "statements", "plain pairs", "profile's", "all / plain",
               "interval", "error")  # fmt: skip
    shown = [
        (f"{row['reviews']:,}", str(row["summaries"]), f"{row['statements']} of "
         f"{row['of_statements']:,}", f"{row['plain']:,}", f"{row['profile']:,}",
         f"{row['ratio']:.2f}", *(f"{row[name]:.3f}" if name in row else "exact"
                                  for name in ("width", "error")))
        for row in rows
    ]  # fmt: skip
    show_table(headers, shown)
    append_row(
        "profile_cost", environment("cpu") | {"statements": options.statements, "rows": rows}
    )


if __name__ == "__main__":
    main()
