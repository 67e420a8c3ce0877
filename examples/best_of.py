"""Take the best of several summaries by reward: reranking, or the heart of a training loop.

    python examples/best_of.py
    python examples/best_of.py --model rouge1-precision

For each product of a file, the reward scores all summaries, and the best one is printed. Shaping
makes a summary of fewer than three sentences count as if empty sentences filled it up, so that a
single safe sentence does not win.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from prevalence.readers import read_products
from prevalence.records import Product
from prevalence.rewards import PrevalenceReward, Shaping

SUMMARIES = Path(__file__).parent / "summaries.jsonl"


def best_summary(product: Product, reward: PrevalenceReward) -> tuple[str, float]:
    """The system whose summary has the highest reward, and that reward."""
    reviews = [review.text for review in product.reviews]
    rewards = reward(
        completions=[summary.text for summary in product.summaries],
        reviews=[reviews] * len(product.summaries),
        name=[product.name] * len(product.summaries),
    )
    scored = [
        (value, summary.system)
        for value, summary in zip(rewards, product.summaries, strict=True)
        if value is not None  # reviews or name could not be used
    ]
    value, system = max(scored)
    return system, value


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the best summary's system for each product of a file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=SUMMARIES)
    parser.add_argument("--model", help="the reward's model; the embedded one when left out")
    chosen = parser.parse_args(arguments)
    reward = PrevalenceReward(chosen.model, shaping=Shaping(sentences=3))
    for product in read_products(chosen.file):
        if isinstance(product, Product):
            system, value = best_summary(product, reward)
            print(f"{product.id}: {system} ({value:.3f})")
    print(reward.signature)


if __name__ == "__main__":
    main()
