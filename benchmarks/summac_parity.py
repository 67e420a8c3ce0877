"""Our SummaC beside the original package, on the same checkpoints and the same texts.

    make parity

`prepare` writes checkpoints, heads and texts into a folder; `benchmarks/summac_original.py` scores
them with the original package in a virtualenv with older libraries; `record` scores them with ours,
prints the greatest differences, fails above 1e-5, and stores the original's figures for the tests.
The texts are the reviews and statements written for this project.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import ROOT
from benchmarks.parity import (
    TEXTS,
    TOLERANCE,
    Pairs,
    digest_of,
    frequent_words,
    judge,
    write_tiny,
)
from prevalence.nli.cache import CachedScorer, PairCache
from prevalence.nli.pairs import PairScorer, TextTable
from prevalence.nli.scorer import NLIScorer
from prevalence.scorers.conv import ConvScorer, read_head
from prevalence.scorers.summac import ZeroShotScorer
from prevalence.scorers.units import GRANULARITIES, SUMMAC_SPLITTER, sentences_of

__all__ = ["TOLERANCE"]

RECORD = ROOT / "tests" / "data" / "summac_parity.npz"
OPERATORS = ("max", "mean", "min")
CHOICES = [*product(OPERATORS, OPERATORS, (False, True))]
"""Operators over premise and hypothesis units, and whether contradiction is subtracted."""
PAIRS = 204
"""Ordinary pairs and corners; long texts come after them."""
ALIKE = [*GRANULARITIES]
CROSSED = [f"{a}-{b}" for a, b in product(GRANULARITIES, GRANULARITIES) if a != b]
LABELS = {
    "tiny": ("contradiction", "neutral", "entailment"),
    "tiny-b": ("entailment", "contradiction", "neutral"),
}
CONV = (
    {"models": ["tiny"], "bins": "percentile", "classes": "e", "aggregate": "mean"},
    {"models": ["tiny"], "bins": "even50", "classes": "ec", "aggregate": "all"},
    {"models": ["tiny"], "bins": "even10", "classes": "ecn", "aggregate": "min"},
    {"models": ["tiny", "tiny-b"], "bins": "even20", "classes": "e", "aggregate": "max"},
    {"models": ["tiny"], "bins": "percentile", "classes": "c", "aggregate": "mean",
     "granularity": "paragraph-sentence"},
)  # fmt: skip

Floats = np.ndarray[Any, np.dtype[np.float64]]


def parity_pairs() -> list[tuple[str, str]]:
    """(document, summary) pairs: ordinary ones, corners, then long ones."""
    products = [json.loads(line) for line in TEXTS.read_text(encoding="utf-8").splitlines()]
    pairs = [_pair(place, item) for place, item in enumerate(products[: PAIRS - 6])]
    review, statement = products[200]["reviews"][0], products[200]["sentences"][0]
    pairs += [
        ("", statement), (review, ""), (review, "Great."), ("Nice one!", "Great."),
        ("Too short.\n\nToo short.", statement), (review, "\n".join(["Fine.", statement])),
    ]  # fmt: skip
    long = "\n\n".join(text for item in products[201:207] for text in item["reviews"])
    middling = " ".join(products[207]["reviews"])
    return [*pairs, (long, statement), (long, middling), (middling, middling)]


def _pair(place: int, item: dict[str, Any]) -> tuple[str, str]:
    reviews, sentences = item["reviews"], item["sentences"]
    return (
        (reviews[0], " ".join(sentences[:2])),
        ("\n\n".join(reviews[:2]), sentences[1]),
        ("\n".join(sentences_of(reviews[2])), "\n".join(sentences[2:4])),
        (reviews[3], " ".join(sentences[:3])),
        ("\n\n".join([reviews[4], "Good.", reviews[5]]), f"Good. {sentences[5]}"),
    )[place % 5]


def build_tiny(folder: Path, *, seed: int, labels: Sequence[str]) -> Path:
    """An untrained BERT with three classes."""
    return write_tiny(
        folder, "BertForSequenceClassification", frequent_words(600), seed=seed, scale=0.3,
        id2label=dict(enumerate(labels)),
        label2id={name: place for place, name in enumerate(labels)},
    )  # fmt: skip


def conv_cases() -> list[dict[str, Any]]:
    """Settings of the trained variant, with the names of their files."""
    return [
        {"granularity": "sentence", **case, "file": f"conv{place}.bin",
         "pairs": len(parity_pairs())}
        for place, case in enumerate(CONV)
    ]  # fmt: skip


def build_head(path: Path, case: dict[str, Any]) -> Path:
    """A state dict as the authors release them, with random weights."""
    import torch

    from prevalence.scorers.conv import ConvSettings

    settings = ConvSettings(**{key: case[key] for key in ("bins", "classes", "aggregate")})
    random = np.random.default_rng(int(path.stem.removeprefix("conv")))
    shapes = {
        "mlp.weight": (1, settings.features * len(case["models"])), "mlp.bias": (1,),
        "layer_final.weight": (2, 3), "layer_final.bias": (2,),
    }  # fmt: skip
    torch.save(
        {name: torch.from_numpy(random.normal(scale=0.3, size=shape)).float()
         for name, shape in shapes.items()},
        path,
    )  # fmt: skip
    return path


def prepare(folder: Path) -> None:
    """Write everything that both sides read."""
    folder.mkdir(parents=True, exist_ok=True)
    build_tiny(folder / "tiny", seed=1, labels=LABELS["tiny"])
    build_tiny(folder / "tiny-b", seed=2, labels=LABELS["tiny-b"])
    pairs = parity_pairs()
    for case in conv_cases():
        build_head(folder / case["file"], case)
    plan = {
        "pairs": pairs,
        "zero_shot": {
            "tiny": {"granularities": [*ALIKE, *CROSSED], "pairs": len(pairs)},
        },
        "conv": conv_cases(),
    }
    sentences = {text: sentences_of(text, SUMMAC_SPLITTER) for pair in pairs for text in pair}
    for name, content in (("plan", plan), ("sentences", sentences), ("models", LABELS)):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def open_models(folder: Path, names: Sequence[str], cache: Path) -> dict[str, PairScorer]:
    """Our scorers of prepared checkpoints, which read pairs as SummaC does."""
    return {
        name: CachedScorer(
            NLIScorer(str(folder / name), device="cpu", at_most=500, truncation="longest-first"),
            PairCache(cache),
        )
        for name in names
    }


def our_zero_shot(inner: PairScorer, granularity: str, pairs: Pairs) -> Floats:
    """Scores [P, 18], in the order of CHOICES and on SummaC's own scale."""
    texts, numbers = _numbered(pairs)
    answers = ZeroShotScorer(inner, granularity).answers(texts, numbers)
    columns = []
    for over_premise, over_hypothesis, minus in CHOICES:
        scorer = ZeroShotScorer(
            inner, granularity, over_premise=over_premise, over_hypothesis=over_hypothesis,
            minus_contradiction=minus,
        )  # fmt: skip
        scores = scorer.reduce(answers)
        columns.append(2 * scores - 1 if minus else scores)
    return np.array(columns).T


def our_conv(models: dict[str, PairScorer], case: dict[str, Any], path: Path, pairs: Pairs) -> Any:
    """Scores [P] of the trained variant."""
    keys = ("bins", "classes", "granularity", "aggregate")
    head = read_head(path, settings={key: case[key] for key in keys})
    scorer = ConvScorer([models[name] for name in case["models"]], head)
    return scorer.score(*_numbered(pairs)).entailment


def _numbered(pairs: Pairs) -> tuple[TextTable, np.ndarray[Any, np.dtype[np.int64]]]:
    texts = TextTable()
    return texts, np.array([(texts.add(a), texts.add(b)) for a, b in pairs], np.int64)


def compare(folder: Path) -> Iterator[tuple[str, float]]:
    """What was compared, and the greatest difference."""
    pairs = parity_pairs()
    models = open_models(folder, [*LABELS], folder / "cache")
    with np.load(folder / "original.npz") as original:
        for name, theirs in original.items():
            kind, *rest = name.split("/")
            if kind == "zs":
                ours = our_zero_shot(models[rest[0]], rest[1], pairs[: len(theirs)])
            else:
                case = next(case for case in conv_cases() if case["file"] == rest[0])
                ours = our_conv(models, case, folder / rest[0], pairs[: case["pairs"]])
            yield name, float(np.abs(ours - theirs).max())


def kept(name: str, scores: Floats) -> np.ndarray[Any, np.dtype[np.float32]]:
    """What the tests compare with: every operator where texts are cut alike, else two of them."""
    if name.startswith("zs/") and name.rpartition("/")[2] not in ALIKE:
        scores = scores[
            :, [CHOICES.index(("max", "mean", False)), CHOICES.index(("mean", "min", True))]
        ]
    return scores.astype(np.float32)


def record(folder: Path) -> None:
    """Compare, report, and store the original's figures."""
    judge(compare(folder))
    with np.load(folder / "original.npz") as original:
        figures: dict[str, Any] = {name: kept(name, scores) for name, scores in original.items()}
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(RECORD, inputs=np.array(digest_of(parity_pairs())), **figures)
    print(f"{RECORD.relative_to(ROOT)} written")


def main() -> None:
    parser = argparse.ArgumentParser(description="SummaC parity; see `make parity`.")
    parser.add_argument("step", choices=("prepare", "record"))
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    {"prepare": prepare, "record": record}[given.step](given.folder)


if __name__ == "__main__":
    main()
