"""Our BLANC beside the original package, on the same checkpoint and the same texts.

    make parity

`prepare` writes a checkpoint and texts into a folder; `benchmarks/blanc_original.py` scores them
with the original package in a virtualenv with older libraries; `record` scores them with ours,
prints the greatest differences, fails above 1e-5, and stores the original's figures for the tests.
The texts are the reviews and statements written for this project; of released summaries
(`--data opinsummeval.jsonl`) only the figures are stored.
"""

import argparse
import hashlib
import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import ROOT
from prevalence.baselines import Example, get
from prevalence.scorers.units import sentences_of

TEXTS = ROOT / "prevalence" / "training" / "data" / "review_nli_grouped.jsonl"
RECORD = ROOT / "tests" / "data" / "blanc_parity.npz"
TOLERANCE = 1e-5
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

Pairs = Sequence[tuple[str, str]]


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
    """An untrained BERT that guesses a few frequent words, the same on every machine.

    Weights come from NumPy's generator and are wide, so that guesses differ; a bias towards
    frequent words makes some of them right.
    """
    from safetensors.numpy import save_file
    from transformers import BertConfig, BertForMaskedLM

    words = Counter(re.findall(r"[a-z]+", TEXTS.read_text(encoding="utf-8").lower()))
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,!?'-"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    pieces += [f"##{letter}" for letter in letters]
    frequent = sorted(sorted(words), key=lambda word: -words[word])[:400]
    vocabulary = [*dict.fromkeys([*pieces, *frequent])]
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=512, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, architectures=["BertForMaskedLM"],
    )  # fmt: skip
    random = np.random.default_rng(11)
    state = BertForMaskedLM(config).state_dict()
    weights = {
        name: random.normal(scale=0.5, size=tuple(state[name].shape)).astype(np.float32)
        + np.float32(name.endswith("LayerNorm.weight"))
        for name in sorted(state)
        if state[name].is_floating_point() and "predictions.decoder" not in name
    }
    guessed = [vocabulary.index(word) for word in frequent if len(word) >= 4][:12]
    weights["cls.predictions.bias"][guessed] += 9.0
    folder.mkdir(parents=True, exist_ok=True)
    config.save_pretrained(folder)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def real_pairs(path: Path) -> list[tuple[str, str]]:
    """100 released summaries, every thirteenth of 14 systems, with two reviews each."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    every = [
        (" ".join(row["reviews"][:2]), summary["text"])
        for row in rows
        for summary in row["summaries"].values()
    ]
    return every[::13][:REAL]


def digest_of(pairs: Pairs) -> str:
    """Names texts, so that a record made from others is noticed."""
    return hashlib.blake2b(json.dumps(pairs).encode(), digest_size=8).hexdigest()


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
    worst = 0.0
    for name, difference in compare(folder):
        print(f"{name:20} {difference:.2e}", flush=True)
        worst = max(worst, difference)
    if not worst <= TOLERANCE:
        sys.exit(f"the greatest difference is {worst:.2e}, above {TOLERANCE:.0e}")
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
    default = ROOT.parent / "shared" / "data" / "opinsummeval.jsonl"
    parser.add_argument("--data", type=Path, default=default)
    options = parser.parse_args()
    if options.step == "prepare":
        prepare(options.folder, options.data if options.data.is_file() else None)
    else:
        record(options.folder)


if __name__ == "__main__":
    main()
