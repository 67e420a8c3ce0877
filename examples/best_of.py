"""Take the best of several summaries by reward: reranking, or preference pairs for training.

    python examples/best_of.py
    python examples/best_of.py --model rouge1-precision --pairs pairs.jsonl

For each product of a file, the reward scores all summaries, and the best one is printed. Shaping
makes a summary of fewer than three sentences count as if empty sentences filled it up, so that a
single safe sentence does not win. With --pairs, the best and the worst summary of each product
become a pair for DPO, in the columns that TRL reads: prompt, chosen, rejected.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

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
    return sorted(scored, key=lambda row: (row[0], row[1].system))


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
    pairs = []
    for product in read_products(chosen.file):
        rows = ranked(product, reward) if isinstance(product, Product) else []
        if not rows:
            continue
        (low, worst), (high, best) = rows[0], rows[-1]
        print(f"{product.id}: {best.system} ({high:.3f})")
        if high > low:  # equal rewards prefer nothing
            pairs.append(preference(product, worst, best))
    if chosen.pairs:
        lines = [json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs]
        chosen.pairs.write_text("".join(lines), encoding="utf-8")
    print(reward.signature)


if __name__ == "__main__":
    main()
