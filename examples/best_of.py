"""Take the best of several summaries by reward: reranking, or preference pairs for training.

    python examples/best_of.py
    python examples/best_of.py --model rouge1-precision --pairs pairs.jsonl

For each product of a file, the reward scores all summaries, and the best one is printed, or those
that are equally good; what cannot be read or rewarded is named on standard error. Shaping makes a
summary of fewer than three sentences count as if empty sentences filled it up, so that a single
safe sentence does not win. With --pairs, the best and the worst summary of each product become a
pair for DPO, in the columns that TRL reads: prompt, chosen, rejected.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from prevalence.errors import PrevalenceError
from prevalence.readers import read_products
from prevalence.records import Product, Summary
from prevalence.rewards import PrevalenceReward, Shaping

SUMMARIES = Path(__file__).parent / "summaries.jsonl"


def ranked(product: Product, reward: PrevalenceReward) -> list[tuple[float, Summary]]:
    """Rewards and summaries, the best last."""
    reviews = [review.text for review in product.reviews]
    rewards = reward(
        completions=[summary.text for summary in product.summaries],
        reviews=[reviews] * len(product.summaries),
        name=[product.name] * len(product.summaries),
    )
    scored = [
        (value, summary)
        for value, summary in zip(rewards, product.summaries, strict=True)
        if value is not None  # reviews or name could not be used
    ]
    return sorted(scored, key=lambda row: row[0])


def preference(product: Product, worst: Summary, best: Summary) -> dict[str, str]:
    """A pair for DPO; the prompt has to be the one that your policy is given."""
    reviews = "\n".join(f"- {review.text}" for review in product.reviews)
    prompt = f"Summarize these reviews:\n{reviews}"
    return {"prompt": prompt, "chosen": best.text, "rejected": worst.text}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the best summary's system for each product of a file, and write pairs if asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=SUMMARIES)
    parser.add_argument("--model", help="the reward's model; the embedded one when left out")
    parser.add_argument("--pairs", type=Path, help="where to write preference pairs, JSON Lines")
    chosen = parser.parse_args(arguments)
    reward = PrevalenceReward(chosen.model, shaping=Shaping(sentences=3))
    try:
        take(chosen.file, chosen.pairs, reward)
    except (PrevalenceError, OSError) as error:
        sys.exit(f"error: {error}")


def take(file: Path, output: Path | None, reward: PrevalenceReward) -> None:
    """Print the best summaries of each product, and write the pairs where a file is named."""
    pairs = []
    for product in read_products(file):
        if not isinstance(product, Product):
            print(f"error: {product.error}", file=sys.stderr)
            continue
        rows = ranked(product, reward)
        if not rows:
            print(f"{product.where}: no summary has a reward", file=sys.stderr)
            continue
        (low, worst), (high, best) = rows[0], rows[-1]
        names = [summary.system for value, summary in rows if value == high]
        print(f"{product.id}: {', '.join(names)} ({high:.3f})")
        if high > low:  # equal rewards prefer nothing
            pairs.append(preference(product, worst, best))
    if output:
        lines = [json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs]
        output.write_text("".join(lines), encoding="utf-8")
    print(reward.signature)


if __name__ == "__main__":
    main()
