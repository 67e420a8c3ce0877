"""Our BLANC beside the original package, on the same checkpoint and the same texts.

    make parity

`prepare` writes a checkpoint and texts into a folder; `benchmarks/blanc_original.py` scores them
with the original package in a virtualenv with older libraries; `record` scores them with ours,
prints the greatest differences, fails above 1e-5, and stores the original's figures for the tests.
The texts are the reviews and statements written for this project; of released summaries
(`--data opinsummeval.jsonl`) only the figures are stored.
"""

import argparse
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import DATA, ROOT
from benchmarks.parity import (
    TEXTS,
    TOLERANCE,
    Pairs,
    digest_of,
    frequent_words,
    judge,
    write_tiny,
)
from prevalence.baselines import Example, get
from prevalence.scorers.units import sentences_of

__all__ = ["TOLERANCE"]

RECORD = ROOT / "tests" / "data" / "blanc_parity.npz"
PAIRS = 14
TUNED = 5
"""Pairs on which a model is trained for each setting."""
REAL = 100
CASES: dict[str, dict[str, str]] = {
    "help": {},
    "help-gap-6": {"gap": "6"},
    "help-wide": {"gap": "3", "gap-mask": "2", "min-normal": "3", "min-lead": "1",
                  "min-followup": "1", "measure": "improve"},
    "tune": {"rate": "0.002", "epochs": "3", "replaced": "0", "seed": "7"},
    "tune-wide": {"gap": "3", "batch": "3", "chunk": "16", "stride": "8", "epochs": "2",
                  "warmup": "2", "kept": "0.5", "replaced": "0", "rate": "0.001", "seed": "3"},
}  # fmt: skip
"""Settings by name; what stands before the first hyphen is the metric."""


def parity_pairs() -> list[tuple[str, str]]:
    """(source, summary): ordinary ones, then corners."""
    lines = TEXTS.read_text(encoding="utf-8").splitlines()[: PAIRS + 8]
    products = [json.loads(line) for line in lines]
    pairs = [
        (" ".join(item["reviews"][:2]), " ".join(item["sentences"][:3]))
        for item in products[:PAIRS]
    ]
    review, statement = products[PAIRS]["reviews"][0], products[PAIRS]["sentences"][0]
    words = re.findall(r"[a-z]+", " ".join(" ".join(p["reviews"]) for p in products).lower())
    long = " ".join(words[:600])
    summary = " ".join(" ".join(item["sentences"]) for item in products)
    return [
        *pairs,
        (review, ""),
        ("", statement),
        ("Yes.", "No."),
        ("The café's naïve décor — ½ a cup, ﬁne.", "The café was naïve and ﬁne."),
        (f"{long}. {review}", summary),
        (f"{long}. {review}", " ".join(words[200:900])),
    ]


def build_tiny(folder: Path) -> Path:
    """An untrained BERT that guesses a few frequent words, some of them right."""
    words = frequent_words(400)
    return write_tiny(
        folder, "BertForMaskedLM", words, seed=11, scale=0.5,
        raised=[word for word in words if len(word) >= 4][:12],
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip


def real_pairs(path: Path) -> list[tuple[str, str]]:
    """100 released summaries, every thirteenth of 14 systems, with two reviews each."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    every = [
        (" ".join(row["reviews"][:2]), summary["text"])
        for row in rows
        for summary in row["summaries"].values()
    ]
    return every[::13][:REAL]


def ours(folder: Path, case: str, pairs: Pairs) -> Any:
    """Our scores of a case, float64 [P]."""
    metric = get(f"blanc-{case.partition('-')[0]}", runtime=None, model=str(folder), **CASES[case])
    return metric.score([Example(summary, (source,)) for source, summary in pairs])


def prepare(folder: Path, data: Path | None) -> None:
    """Write everything that both sides read."""
    folder.mkdir(parents=True, exist_ok=True)
    build_tiny(folder / "tiny")
    pairs = parity_pairs()
    real = [] if data is None else real_pairs(data)
    cases = {
        name: {"settings": settings, "pairs": pairs[:TUNED] if "tune" in name else pairs}
        for name, settings in CASES.items()
    }
    if real:
        cases["real"] = {"settings": {}, "pairs": real}
    normal = (unicodedata.normalize("NFKD", text) for pair in [*pairs, *real] for text in pair)
    sentences = {text: sentences_of(text) for text in normal}
    for name, content in (("plan", cases), ("sentences", sentences)):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def compare(folder: Path) -> Iterator[tuple[str, float]]:
    """What was compared, and the greatest difference."""
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    with np.load(folder / "original.npz") as original:
        for name, theirs in original.items():
            case = "help" if name == "real" else name
            found = ours(folder / "tiny", case, plan[name]["pairs"])
            yield name, float(np.abs(found - theirs).max())


def record(folder: Path) -> None:
    """Compare, report, and store the original's figures."""
    judge(compare(folder))
    with np.load(folder / "original.npz") as original:
        figures: dict[str, Any] = dict(original)
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    if "real" in plan:
        figures["real_inputs"] = np.array(
            digest_of([tuple(pair) for pair in plan["real"]["pairs"]])
        )
    np.savez_compressed(RECORD, inputs=np.array(digest_of(parity_pairs())), **figures)


def main() -> None:
    """One of the two steps."""
    parser = argparse.ArgumentParser(description="Our BLANC and the original package's.")
    parser.add_argument("step", choices=["prepare", "record"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=DATA / "opinsummeval.jsonl")
    options = parser.parse_args()
    if options.step == "prepare":
        prepare(options.folder, options.data if options.data.is_file() else None)
    else:
        record(options.folder)


if __name__ == "__main__":
    main()
