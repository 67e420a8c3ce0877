"""What each way to make a summary of reviews reaches, and how often it asks the model.

    python -m benchmarks.extractive
    python -m benchmarks.extractive --model embedded
    python -m benchmarks.extractive --model embedded --amazon 6 --yelp 0 --pools 32 --simulate ""

Three parts. Products: Amazon dev (28) and Yelp (100) with 8 reviews each. Pools: the Yelp reviews
joined at random into sets of 50 to 800, which are reviews of many businesses and not of one.
Simulation: made-up decisions, five sentences a review, marked as such. Every summary is scored by
the same engine; exact search is the unit of all ratios. Nothing is cached unless --cache says so,
so that seconds are those of the work that was asked for; with --cache they are left out.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common import DATA, ROOT, append_row, environment, show_table
from prevalence.metric import ReviewMatrix
from prevalence.readers import read_product_names, read_products
from prevalence.records import Product, Review, Summary
from prevalence.scorers.registry import open_scorer
from prevalence.scoring.engine import Engine, ScoringOptions
from prevalence.signature import TRIVIAL_TEMPLATES
from prevalence.summarize.candidates import Candidates, LengthRule, Place
from prevalence.summarize.extract import SummaryOptions
from prevalence.summarize.greedy import Pick, greedy
from prevalence.summarize.questions import Judge, KnownJudge, PairJudge
from prevalence.summarize.summarizer import Summarizer
from prevalence.text.sentences import get_splitter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

POOL_CHARACTERS = 300
HALVING_BUDGET = 30
DELTA = 0.05
RANDOM_DRAWS = 3
METHODS = ("exact", "racing", "halving", "random", "lead", "lexrank")

Row = dict[str, Any]


@dataclass(slots=True)
class Tally:
    """One method on one set of reviews, summed over products or seeds."""

    prevalence: list[float] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    reviews: list[int] = field(default_factory=list)
    full: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    same: list[bool] = field(default_factory=list)

    def row(self, exact: Tally) -> Row:
        """Means, and ratios to exact search."""
        prevalence, calls = float(np.mean(self.prevalence)), float(np.mean(self.calls))
        return {
            "prevalence": prevalence,
            "of_exact": prevalence / max(float(np.mean(exact.prevalence)), 1e-12),
            "calls": calls,
            "calls_of_exact": calls / max(float(np.mean(exact.calls)), 1e-12),
            "of_full_matrix": sum(self.reviews) / max(sum(self.full), 1),
            "seconds_of_exact": sum(self.seconds) / len(self.seconds)
            / max(sum(exact.seconds) / len(exact.seconds), 1e-12),
            "same_choice": float(np.mean(self.same)) if self.same else None,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Setup:
    """What all methods are given."""

    engine: Engine
    data: Path
    cached: bool
    seeds: int


def halving(
    judge: Judge, candidates: Candidates, length: LengthRule, *, budget: int, seed: int
) -> list[Pick]:
    """Greedy construction by correlated sequential halving, which promises nothing.

    About log2 N rounds share N times ``budget`` pairs. In each the candidates left are asked
    about the same first reviews of a random order, and the better half goes on. At the end the
    walk goes down the candidates by what is known, and asks all reviews of each before adding it.

    Source: Baharav and Tse 2019, for medoids.
    """
    order = np.random.default_rng(seed).permutation(judge.rows)
    size, count = len(order), len(candidates)
    hits, asked = np.zeros(count, np.int64), np.zeros(count, np.int64)
    ranks = candidates.first_ranks

    def ask(some: Any, goal: int) -> None:
        for start in np.unique(asked[some]).tolist():
            group = some[asked[some] == start]
            if goal > start:
                rows = np.repeat(order[start:goal], len(group))
                answers = judge.reviews(rows, np.tile(group, goal - start))
                hits[group] += answers.reshape(goal - start, len(group)).sum(axis=0)
                asked[group] = goal

    left = np.flatnonzero(~judge.trivial(np.arange(count)))
    everyone = left
    rounds = max(math.ceil(math.log2(max(len(left), 2))), 1)
    while len(left) > 1 and asked[left].min() < size:
        ask(left, min(max(budget * count // (len(left) * rounds), 1), size))
        left = left[np.lexsort((ranks[left], -hits[left]))[: -(-len(left) // 2)]]
    shares = hits[everyone] / np.maximum(asked[everyone], 1)
    chosen: list[Pick] = []
    for k in everyone[np.lexsort((ranks[everyone], -shares, -asked[everyone]))].tolist():
        if length.reached([len(candidates.texts[pick.candidate]) for pick in chosen]):
            break
        before = np.array([pick.candidate for pick in chosen], np.int64)
        if judge.between(before, np.full(len(before), k)).implied.any():
            continue
        ask(np.array([k]), size)
        chosen.append(Pick(k, int(ranks[k]), int(hits[k])))
    return chosen


def judged(given: Setup, product: Product, candidates: Candidates) -> PairJudge:
    """A judge that has counted nothing."""
    statement = None
    if product.name is not None:
        statement = TRIVIAL_TEMPLATES["name"].replace("{name}", product.name)
    return PairJudge(
        given.engine.answer,
        reviews=[review.text for review in product.reviews],
        sentences=candidates.texts,
        statement=statement,
        threshold=given.engine.threshold,
        three_way=given.engine.scorer.traits.three_way,
    )


def measure(given: Setup, product: Product, length: LengthRule, into: dict[str, Tally]) -> None:
    """Run every method on one product, in turn, and add what it did."""
    splitter = get_splitter()
    candidates = Candidates.of([review.text for review in product.reviews], splitter)
    exact: list[int] = []
    # The first to run would pay for what a scorer keeps, such as stems.
    every = np.arange(len(candidates))
    judged(given, product, candidates).reviews(np.zeros_like(every), every)

    def constructed(method: str, choose: Callable[[Judge], list[Pick]]) -> None:
        judge = judged(given, product, candidates)
        begin = time.perf_counter()
        picks = choose(judge)
        seconds = time.perf_counter() - begin
        texts = [candidates.texts[pick.candidate] for pick in picks]
        if method == "exact":
            exact[:] = [pick.rank for pick in picks]
        tally = into[method]
        tally.same.append([pick.rank for pick in picks] == exact)
        tally.calls.append(judge.calls.total)
        tally.reviews.append(judge.calls.reviews)
        tally.full.append(len(judge.rows) * len(candidates))
        tally.seconds.append(seconds)
        tally.prevalence.append(scored(given, product, texts))

    choose = partial(greedy, candidates=candidates, length=length)
    halve = partial(halving, candidates=candidates, length=length, budget=HALVING_BUDGET)
    constructed("exact", choose)
    for seed in range(given.seeds):
        constructed("racing", partial(choose, delta=DELTA, seed=seed))
        constructed("halving", partial(halve, seed=seed))
    for method, draws in (("random", RANDOM_DRAWS), ("lead", 1), ("lexrank", 1)):
        for seed in range(draws):
            begin = time.perf_counter()
            extract = Summarizer(SummaryOptions(method=method, length=length, seed=seed)).summarize(
                product.reviews
            )
            tally = into[method]
            tally.seconds.append(time.perf_counter() - begin)
            tally.calls.append(0)
            tally.prevalence.append(
                scored(given, product, [sentence.text for sentence in extract.sentences])
            )


def scored(given: Setup, product: Product, sentences: Sequence[str]) -> float:
    """Opinion prevalence of the sentences, which are not cut again."""
    lines = Engine(given.engine.scorer, ScoringOptions(splitter="lines"))
    summary = Summary("made", "\n".join(sentence.replace("\n", " ") for sentence in sentences))
    row = next(lines.run([product.with_summaries([summary])]))
    if row.prevalence is None:
        raise SystemExit(f"{product.id}: {row.error}")
    return row.prevalence


def amazon(data: Path, count: int | None) -> Iterator[tuple[Product, LengthRule]]:
    """Products with the length of their first human summary."""
    names = read_product_names(ROOT / "tests" / "data" / "amazon_dev_names.json")
    for item in islice(read_products(data / "amazon_dev.jsonl", names=names), count):
        if isinstance(item, Product):
            first = next(s for s in item.summaries if s.system.startswith("human"))
            yield item, LengthRule.like(first.text, get_splitter())


def yelp(data: Path, count: int | None) -> Iterator[tuple[Product, LengthRule]]:
    """Businesses with the length of their reference."""
    with (data / "opinsummeval.jsonl").open(encoding="utf-8") as file:
        for line in islice(file, count):
            record = json.loads(line)
            reviews = tuple(Review(text) for text in record["reviews"])
            length = LengthRule.like(record["reference"], get_splitter())
            yield Product(id=str(record["case"]), reviews=reviews, summaries=()), length


def pool(data: Path, size: int, seed: int) -> Product:
    """Reviews of many businesses in random order; larger pools hold the smaller ones."""
    texts = [review.text for product, _ in yelp(data, None) for review in product.reviews]
    order = np.random.default_rng(seed).permutation(len(texts))[:size]
    return Product(
        id=f"pool-{size}", reviews=tuple(Review(texts[row]) for row in order), summaries=()
    )


def tallies() -> dict[str, Tally]:
    return {method: Tally() for method in METHODS}


def rows_of(label: str, reviews: int, found: dict[str, Tally]) -> list[Row]:
    """One row a method that ran."""
    return [
        {"data": label, "reviews": reviews, "method": method, **tally.row(found["exact"])}
        for method, tally in found.items()
        if tally.prevalence
    ]


def real(given: Setup, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Both sets of products, then the pools."""
    sets = (("Amazon dev", amazon, options.amazon), ("Yelp", yelp, options.yelp))
    for label, source, count in sets:
        found = tallies()
        products = 0
        for product, length in source(given.data, count):
            measure(given, product, length, found)
            products += 1
        if products:
            yield rows_of(f"{label}, {products} products", 8, found)
    for size in options.pools:
        found = tallies()
        length = LengthRule(characters=POOL_CHARACTERS)
        for seed in range(options.pool_seeds):
            measure(given, pool(given.data, size, seed), length, found)
        yield rows_of("Yelp pools", size, found)


def simulated(size: int, seeds: int) -> list[Row]:
    """Independent decisions: supports from a long-tailed law, no redundancy but with itself."""
    found = {method: Tally() for method in ("exact", "racing", "halving")}
    for seed in range(seeds):
        random = np.random.default_rng([size, seed])
        count = 5 * size
        shares = random.beta(0.6, 6.0, count)
        implied = random.random((size, count), dtype=np.float32) < shares
        matrix = ReviewMatrix(np.zeros((0, count), np.float32), implied, None)
        between = np.eye(count, dtype=np.bool_)
        candidates = Candidates(
            texts=("x" * 50,) * count,
            places=tuple(Place(k // 5, 0, 50) for k in range(count)),
            ranks=tuple((k,) for k in range(count)),
        )
        length = LengthRule(sentences=5)
        exact: list[Pick] = []
        for method, tally in found.items():
            judge = KnownJudge(matrix, implied=between)
            begin = time.perf_counter()
            if method == "halving":
                picks = halving(judge, candidates, length, budget=HALVING_BUDGET, seed=seed)
            else:
                delta = DELTA if method == "racing" else 0.0
                picks = greedy(judge, candidates, length, delta=delta, seed=seed)
            tally.seconds.append(time.perf_counter() - begin)
            exact = picks if method == "exact" else exact
            tally.prevalence.append(sum(pick.support for pick in picks) / (5 * size))
            tally.calls.append(judge.calls.total)
            tally.reviews.append(judge.calls.reviews)
            tally.full.append(size * count)
            tally.same.append(picks == exact)
    return rows_of("simulated", size, found)


def slopes(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Growth of calls with reviews: the slope of the line through the logarithms."""
    found: dict[str, dict[str, float]] = {}
    for data in sorted({row["data"] for row in rows}):
        for method in ("exact", "racing", "halving"):
            points = [
                (math.log(row["reviews"]), math.log(row["calls"]))
                for row in rows
                if row["data"] == data and row["method"] == method
            ]
            if len(points) > 1:
                logs = np.asarray(points)
                slope = np.polyfit(logs[:, 0], logs[:, 1], 1)[0]
                found.setdefault(data, {})[method] = float(slope)
    return found


def show(rows: Sequence[Row], *, cached: bool) -> None:
    """Print rows as a table."""
    lines = []
    for row in rows:
        same = row["same_choice"]
        asks = row["calls"] > 0
        timed = asks and (not cached or row["data"] == "simulated")
        lines.append((
            row["data"], f"{row['reviews']:,}", row["method"], f"{row['prevalence']:.4f}",
            f"{row['of_exact']:.3f}", f"{row['calls']:,.0f}", f"{row['calls_of_exact']:.3f}",
            f"{row['of_full_matrix']:.3f}" if asks else "–",
            f"{row['seconds_of_exact']:.3f}" if timed else "–",
            "–" if same is None else f"{same:.2f}",
        ))  # fmt: skip
    headers = ("data", "reviews", "method", "prevalence", "of exact", "calls", "of exact",
               "of full matrix", "seconds of exact", "same choice")  # fmt: skip
    show_table(headers, lines, left=("method",))


def sizes(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part.strip()]


def main() -> None:
    parser = argparse.ArgumentParser(description="Ways to make a summary of reviews.")
    parser.add_argument("--model", default="rouge1-precision", help="scorer of all decisions")
    parser.add_argument("--data", type=Path, help="folder of the released data")
    parser.add_argument("--amazon", type=int, help="only the first so many Amazon products")
    parser.add_argument("--yelp", type=int, help="only the first so many Yelp products")
    parser.add_argument("--pools", type=sizes, default=[50, 100, 200, 400, 800])
    parser.add_argument("--pool-seeds", type=int, default=3, help="pools of each size")
    parser.add_argument("--seeds", type=int, default=2, help="orders of racing and halving")
    parser.add_argument("--simulate", type=sizes, default=[32, 100, 300, 1000])
    parser.add_argument("--cache", type=Path, help="folder of a pair cache; leaves seconds out")
    parser.add_argument("--no-save", action="store_true", help="append no row to the results")
    options = parser.parse_args()
    data = options.data or DATA
    scorer = open_scorer(options.model, cache=options.cache)
    given = Setup(Engine(scorer), data, options.cache is not None, options.seeds)
    rows: list[Row] = []
    for found in real(given, options):
        show(found, cached=given.cached)
        rows += found
    for size in options.simulate:
        found = simulated(size, options.seeds)
        show(found, cached=given.cached)
        rows += found
    growth = slopes(rows)
    for label, methods in growth.items():
        for method, slope in methods.items():
            print(f"{label}: calls of {method} grow as reviews to the power {slope:.2f}")
    if not options.no_save:
        settings = {
            "model": given.engine.signature(),
            "cached": given.cached,
            "pool_seeds": options.pool_seeds,
            "seeds": options.seeds,
            "halving_budget": HALVING_BUDGET,
            "pool_characters": POOL_CHARACTERS,
        }
        row = {**environment(), **settings, "rows": rows, "slopes": growth}
        append_row("extractive", row)


if __name__ == "__main__":
    main()
