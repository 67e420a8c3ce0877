"""Seconds that a training step waits for its rewards.

    python -m benchmarks.reward_latency
    python -m benchmarks.reward_latency --reviews 8 --repeats 5 --model path/to/checkpoint
    python -m benchmarks.reward_latency --untrained roberta-large --device cuda --dtype float16

Groups of 8 x 8 completions of four sentences, each drawn from the reviews of its group. Cold: the
model is loaded and nothing is kept. New: the same reviews, completions not seen before, as in the
next step on the same products. Repeated: completions seen before, as in an evaluation during
training. The alternative to one batched call is one completion at a time, cold; where it is
measured, its rewards must be equal before any time is printed. Speed does not depend on what a
model has learned, so --untrained makes one of a known architecture where none can be fetched.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common import (
    append_row,
    dev_products,
    environment,
    quantiles,
    show_table,
    timed,
)
from prevalence.errors import ConfigurationError
from prevalence.rewards import PrevalenceReward
from prevalence.scorers.registry import open_scorer
from prevalence.text.sentences import get_splitter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prevalence.nli.pairs import PairScorer

GROUPS = 8
COMPLETIONS = 8
SENTENCES = 4
TOLERANCE = 1e-9
SIZES = {
    "roberta-base": {"hidden": 768, "layers": 12, "heads": 12},
    "roberta-large": {"hidden": 1024, "layers": 24, "heads": 16},
}

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """What a trainer hands over in one step."""

    completions: list[str]
    reviews: list[list[str]]

    def rewards(self, reward: PrevalenceReward) -> list[float | None]:
        """Call the reward as a trainer does."""
        names = ["thing"] * len(self.completions)
        prompts = ["Summarize."] * len(self.completions)
        return reward(prompts, self.completions, reviews=self.reviews, name=names)


def review_texts(path: Path | None) -> list[str]:
    """All distinct review texts of a file; by default of Amazon dev, or the example."""
    _, products = dev_products(path, None)
    return list(dict.fromkeys(review.text for item in products for review in item.reviews))


def steps(texts: Sequence[str], reviews: int, count: int, *, seed: int = 0) -> Iterator[Step]:
    """Steps on the same groups of reviews, with other completions in each.

    Raises:
        ConfigurationError: there are not as many texts as a group needs.
    """
    if len(texts) < reviews:
        raise ConfigurationError(f"{len(texts)} distinct reviews are too few for {reviews} a group")
    draw = np.random.default_rng(seed)
    split = get_splitter()
    groups = [
        [texts[k] for k in draw.choice(len(texts), reviews, replace=False)] for _ in range(GROUPS)
    ]
    sentences = [[s.text for text in group for s in split(text)] for group in groups]
    for _ in range(count):
        yield Step(
            [
                " ".join(draw.choice(own, min(SENTENCES, len(own)), replace=False).tolist())
                for own in sentences
                for _ in range(COMPLETIONS)
            ],
            [group for group in groups for _ in range(COMPLETIONS)],
        )


def measure(
    scorer: PairScorer, texts: Sequence[str], reviews: int, *, repeats: int, alone: bool
) -> list[Row]:
    """Seconds of a step in both modes, and of one completion at a time.

    Args:
        scorer: answers pairs; it keeps nothing of its own.
        texts: to draw reviews from.
        reviews: in each group.
        repeats: cold starts.
        alone: whether to time one completion at a time.

    Returns:
        One row a mode.
    """
    first, *later = steps(texts, reviews, repeats + 1)
    rows: list[Row] = []
    reference: list[float | None] | None = None
    if alone:
        reference, seconds = timed(partial(one_at_a_time, scorer, first))
        rows.append({"mode": "one at a time", "reviews": reviews, "cold": [seconds]})
    for mode, latency in (("usual", False), ("latency", True)):
        row: Row = {"mode": mode, "reviews": reviews, "cold": [], "new": [], "repeated": []}
        for step in later:
            reward = PrevalenceReward(scorer=scorer, latency=latency)
            found, seconds = timed(partial(first.rewards, reward))
            row["cold"].append(seconds)
            reference = found if reference is None else reference
            check(found, reference)
            row["new"].append(timed(partial(step.rewards, reward))[1])
            again, seconds = timed(partial(first.rewards, reward))
            row["repeated"].append(seconds)
            check(again, reference)
        rows.append(row)
    return rows


def one_at_a_time(scorer: PairScorer, step: Step) -> list[float | None]:
    """A call for each completion, with nothing kept between them."""
    reward = PrevalenceReward(scorer=scorer, kept_pairs=0, kept_characters=0)
    return [
        Step([completion], [reviews]).rewards(reward)[0]
        for completion, reviews in zip(step.completions, step.reviews, strict=True)
    ]


def check(found: Sequence[float | None], expected: Sequence[float | None]) -> None:
    """Refuse to time two ways that do not agree.

    Raises:
        SystemExit: they differ.
    """
    pairs = zip(found, expected, strict=True)
    if any((a is None) != (b is None) or abs((a or 0) - (b or 0)) > TOLERANCE for a, b in pairs):
        raise SystemExit(
            "rewards differ between two ways to compute them; no time is worth printing"
        )


@contextmanager
def checkpoint(untrained: str | None, model: str, texts: Sequence[str]) -> Iterator[str]:
    """The model to open: a given one, or an untrained one that is made for the occasion."""
    if untrained is None:
        yield model
        return
    with tempfile.TemporaryDirectory() as folder:
        make_untrained(Path(folder), texts, **SIZES[untrained])
        yield folder


def make_untrained(
    folder: Path, texts: Sequence[str], *, hidden: int, layers: int, heads: int
) -> None:
    """Write a RoBERTa classifier with random weights, and a tokenizer trained on the texts."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import RobertaConfig, RobertaForSequenceClassification, RobertaTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.BpeTrainer(
        vocab_size=20_000,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(texts, trainer)
    trained = json.loads(raw.to_str())["model"]
    merges: Any = [tuple(pair) for pair in trained["merges"]]
    tokenizer = RobertaTokenizerFast(vocab=trained["vocab"], merges=merges, model_max_length=512)
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=4 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        max_position_embeddings=514,
        id2label={0: "contradiction", 1: "neutral", 2: "entailment"},
        label2id={"contradiction": 0, "neutral": 1, "entailment": 2},
    )
    RobertaForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def show(rows: Sequence[Row], about: Row) -> None:
    """Print the rows as a table of medians, with p20 and p80 where there are several."""
    title = f"{about['model']} {about['dtype']}, {about['device']}, loaded in {about['load']:.1f} s"
    kinds = ("cold", "new", "repeated")
    show_table(
        ("reviews", "mode", *kinds),
        ((str(row["reviews"]), row["mode"], *(_shown(row.get(k)) for k in kinds)) for row in rows),
        title=f"Seconds for {GROUPS} x {COMPLETIONS} completions\n{title}",
        left=("mode",),
    )


def _shown(seconds: list[float] | None) -> str:
    if not seconds:
        return ""
    low, middle, high = quantiles(seconds)
    return f"{middle:.3f}" + (f" ({low:.3f}-{high:.3f})" if len(seconds) > 1 else "")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--untrained", choices=list(SIZES), help="in place of --model")
    parser.add_argument("--reviews", type=int, nargs="+", default=[8, 100])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-alone", action="store_true", help="skip one completion at a time")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--data", type=Path, default=None, help="products to take reviews from")
    parser.add_argument("--record", action="store_true", help="append to results/")
    options = parser.parse_args(arguments)
    texts = review_texts(options.data)
    with checkpoint(options.untrained, options.model, texts) as model:
        opening = partial(open_scorer, model, device=options.device, dtype=options.dtype)
        scorer, load = timed(opening)
    about = environment(options.device) | {
        "model": options.untrained or options.model,
        "dtype": options.dtype,
        "load": load,
    }
    rows: list[Row] = []
    for reviews in options.reviews:
        rows += measure(scorer, texts, reviews, repeats=options.repeats, alone=not options.no_alone)
    show(rows, about)
    if options.record:
        append_row("reward_latency", about | {"rows": rows})


if __name__ == "__main__":
    main()
