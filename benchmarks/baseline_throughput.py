"""Throughput of metrics with a model beside the original's way of calling it and a plain loop.

    python -m benchmarks.baseline_throughput                 # tiny and base size
    python -m benchmarks.baseline_throughput --sizes tiny --metrics bleurt,prism

Both sides run in one process on the same untrained checkpoint, in turns, so that whatever else the
machine does falls on both. A round is one call on all pairs; the ratio is the other's seconds by
ours, of the same round. Values are compared before anything is timed. Texts are the reviews and
statements written for this project: several summaries of the same reviews, as in an evaluation of
several systems. Rows are appended to `benchmarks/results/baseline_throughput.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.common import ROOT, append_row, environment, quantiles, show_table
from prevalence.baselines import Example, Runtime, get
from prevalence.baselines.neural.runner import ENCODER, open_runner
from prevalence.baselines.neural.vectors import forget

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Size", "bartscore_sides", "bertscore_sides", "bleurt_sides", "build", "measure",
           "prism_sides", "unieval_sides"]  # fmt: skip

TEXTS = ROOT / "prevalence" / "training" / "data" / "review_nli_grouped.jsonl"
TOLERANCE = 1e-4
SYSTEMS = 3
"""Summaries of the same reviews."""

Side = tuple[str, "Callable[[], Any]"]
"""A name, and a call that gives a score for each pair."""


class Size(NamedTuple):
    """A network and the work it gets."""

    width: int
    layers: int
    heads: int
    words: int
    products: int
    rounds: int


SIZES = {
    "tiny": Size(width=64, layers=2, heads=2, words=1_000, products=16, rounds=5),
    "base": Size(width=768, layers=6, heads=12, words=30_000, products=4, rounds=3),
}
"""``base`` has BART base's shape; as an encoder it has twice as many layers, like BERT base."""


def examples(count: int) -> list[Example]:
    """SYSTEMS summaries for each of some products, with reviews and a reference."""
    lines = TEXTS.read_text(encoding="utf-8").splitlines()[:count]
    found = []
    for item in map(json.loads, lines):
        reviews, sentences = tuple(item["reviews"][:4]), item["sentences"]
        reference = " ".join(sentences[3:])
        for system in range(SYSTEMS):
            summary = " ".join(sentences[system : system + 3])
            found.append(Example(summary, reviews, (reference,)))
    return found


def build(kind: str, size: Size, folder: Path) -> Path:
    """An untrained checkpoint: encoder, regression, seq2seq, translator or t5."""
    import torch
    import transformers as hf

    if kind in ("translator", "t5"):
        return _build_with_end(kind, size, folder)
    vocabulary = _vocabulary(size.words)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    torch.manual_seed(1)
    if kind in ("encoder", "regression"):
        made: Any = hf.BertModel if kind == "encoder" else hf.BertForSequenceClassification
        config = hf.BertConfig(
            vocab_size=size.words, hidden_size=size.width, num_hidden_layers=2 * size.layers,
            num_attention_heads=size.heads, intermediate_size=4 * size.width,
        )  # fmt: skip
        config.num_labels = 1
        network: Any = made(config)
    else:
        network = hf.BartForConditionalGeneration(hf.BartConfig(
            vocab_size=size.words, d_model=size.width, encoder_layers=size.layers,
            decoder_layers=size.layers, encoder_attention_heads=size.heads,
            decoder_attention_heads=size.heads, encoder_ffn_dim=4 * size.width,
            decoder_ffn_dim=4 * size.width, max_position_embeddings=512, pad_token_id=0,
            bos_token_id=2, eos_token_id=3, decoder_start_token_id=3, forced_eos_token_id=None,
        ))  # fmt: skip
    network.save_pretrained(folder)
    return folder


def _build_with_end(kind: str, size: Size, folder: Path) -> Path:
    """A translator that spells, or a T5; both end their texts with a token."""
    import torch
    import transformers as hf
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    settings: dict[str, Any] = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>",
                "unk_token": "<unk>", "model_max_length": 512}  # fmt: skip
    torch.manual_seed(1)
    if kind == "translator":
        settings |= {"tokenizer_class": "NllbTokenizer", "src_lang": "eng_Latn",
                     "additional_special_tokens": ["eng_Latn"]}  # fmt: skip
        pieces = [*special, "\u2581", *"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,!'"]
        numbers = {piece: number for number, piece in enumerate(pieces)}
        made = Tokenizer(models.BPE(numbers, [], unk_token=special[3]))
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        network: Any = hf.M2M100ForConditionalGeneration(hf.M2M100Config(
            vocab_size=size.words, d_model=size.width, encoder_layers=size.layers,
            decoder_layers=size.layers, encoder_attention_heads=size.heads,
            decoder_attention_heads=size.heads, encoder_ffn_dim=4 * size.width,
            decoder_ffn_dim=4 * size.width, max_position_embeddings=512,
        ))  # fmt: skip
    else:
        settings["tokenizer_class"] = "PreTrainedTokenizerFast"
        pieces = [*dict.fromkeys([*special, "yes", "no", *_vocabulary(size.words - 6)])]
        numbers = {piece: number for number, piece in enumerate(pieces)}
        made = Tokenizer(models.WordLevel(numbers, unk_token=special[3]))
        made.normalizer = normalizers.Lowercase()
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        made.post_processor = processors.TemplateProcessing(
            single="$A </s>", special_tokens=[("</s>", 2)]
        )
        config = hf.T5Config(
            vocab_size=size.words, d_model=size.width, d_kv=size.width // size.heads,
            d_ff=4 * size.width, num_layers=size.layers, num_heads=size.heads, pad_token_id=1,
            eos_token_id=2,
        )  # fmt: skip
        config.decoder_start_token_id = 1
        network = hf.T5ForConditionalGeneration(config)
    made.add_special_tokens(special)
    made.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    network.save_pretrained(folder)
    return folder


def _vocabulary(size: int) -> list[str]:
    words = Counter(re.findall(r"[a-z]+", TEXTS.read_text(encoding="utf-8").lower()))
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,!?'-"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    pieces += [f"##{letter}" for letter in letters]
    pieces += sorted(sorted(words), key=lambda word: -words[word])
    vocabulary = [*dict.fromkeys(pieces)][:size]
    return vocabulary + [f"[unused{n}]" for n in range(size - len(vocabulary))]


def bertscore_sides(folder: Path, size: Size, device: str) -> list[Side]:
    """F1 by us, by the package's scorer (its model loaded once too), and pair by pair."""
    import bert_score

    work, summaries, references = _against_references(size)
    runtime = Runtime(device=device)
    metric = get("bertscore-f1", model=str(folder), runtime=runtime)
    runner = open_runner(ENCODER, str(folder), runtime)
    layers = 2 * size.layers
    package = bert_score.BERTScorer(
        model_type=str(folder), num_layers=layers, device=device, nthreads=0
    )

    def ours() -> Any:
        # What is kept of a text must not answer for the next round.
        forget(runner)
        return metric.score(work)

    def theirs() -> Any:
        return package.score(summaries, references)[2].double().numpy()

    def loop() -> Any:
        found = [package.score([s], [r])[2] for s, r in zip(summaries, references, strict=True)]
        return np.array([float(value) for value in found])

    return [("prevalence", ours), ("bert-score", theirs), ("loop", loop)]


def bartscore_sides(folder: Path, size: Size, device: str) -> list[Side]:
    """Reviews to summary by us, and by a loop in batches of four, as the authors' script has it."""
    import torch
    import transformers as hf

    work = examples(size.products)
    sources, summaries = [" ".join(e.reviews) for e in work], [e.summary for e in work]
    metric = get("bartscore-faithfulness", model=str(folder), runtime=Runtime(device=device))
    tokenizer, network = _plain(hf.BartForConditionalGeneration, folder, device)

    def encoded(texts: Sequence[str]) -> Any:
        rows = tokenizer(
            list(texts), max_length=512, truncation=True, padding=True, return_tensors="pt"
        )
        return rows.to(device)

    def batches(step: int) -> Any:
        found: list[float] = []
        for start in range(0, len(work), step):
            source = encoded(sources[start : start + step])
            target = encoded(summaries[start : start + step])
            with torch.inference_mode():
                logits = network(
                    input_ids=source["input_ids"], attention_mask=source["attention_mask"],
                    labels=target["input_ids"],
                ).logits  # fmt: skip
            chosen = logits.log_softmax(-1).gather(-1, target["input_ids"][..., None])[..., 0]
            mask = target["attention_mask"]
            found += ((chosen * mask).sum(1) / mask.sum(1)).tolist()
        return np.array(found)

    return [
        ("prevalence", lambda: metric.score(work)),
        ("authors' batches", lambda: batches(4)),
        ("loop", lambda: batches(1)),
    ]


def bleurt_sides(folder: Path, size: Size, device: str) -> list[Side]:
    """Reference and summary by us, and in batches of 16, the default of the authors' program."""
    import torch
    import transformers as hf

    work, summaries, references = _against_references(size)
    metric = get("bleurt", model=str(folder), runtime=Runtime(device=device))
    tokenizer, network = _plain(hf.BertForSequenceClassification, folder, device)

    def batches(step: int) -> Any:
        found: list[float] = []
        for at in range(0, len(work), step):
            rows = tokenizer(
                references[at : at + step], summaries[at : at + step], padding=True,
                truncation=True, max_length=512, return_tensors="pt",
            )  # fmt: skip
            with torch.inference_mode():
                found += network(**rows.to(device)).logits[:, 0].tolist()
        return np.array(found)

    return [
        ("prevalence", lambda: metric.score(work)),
        ("batches of 16", lambda: batches(16)),
        ("loop", lambda: batches(1)),
    ]


def prism_sides(folder: Path, size: Size, device: str) -> list[Side]:
    """Both directions by us, and a pair a call."""
    import torch
    import transformers as hf

    work, summaries, references = _against_references(size)
    metric = get("prism", model=str(folder), runtime=Runtime(device=device))
    tokenizer, network = _plain(hf.M2M100ForConditionalGeneration, folder, device)

    def one(source: str, target: str) -> float:
        given, labels = (
            tokenizer(text, truncation=True, max_length=512, return_tensors="pt").to(device)
            for text in (source, target)
        )
        with torch.inference_mode():
            logits = network(**given, labels=labels["input_ids"]).logits[0]
        chosen = logits.log_softmax(-1).gather(-1, labels["input_ids"][0][:, None])
        return float(chosen[1:].mean())

    def loop() -> Any:
        pairs = zip(summaries, references, strict=True)
        return np.array([(one(a, b) + one(b, a)) / 2 for a, b in pairs])

    return [("prevalence", lambda: metric.score(work)), ("loop", loop)]


def unieval_sides(folder: Path, size: Size, device: str) -> list[Side]:
    """Consistency by us, and in batches of eight, the default of the authors' program."""
    import torch
    import transformers as hf

    from prevalence.baselines.generative.unieval import QUESTIONS
    from prevalence.text.sentences import get_splitter

    work = examples(size.products)
    parts = [[s.text for s in get_splitter("nltk-punkt-en")(e.summary)] for e in work]
    asked = [
        QUESTIONS["consistency"].format(summary=part, text=" ".join(e.reviews))
        for e, own in zip(work, parts, strict=True)
        for part in own
    ]
    metric = get("unieval-consistency", model=str(folder), runtime=Runtime(device=device))
    tokenizer, network = _plain(hf.T5ForConditionalGeneration, folder, device)
    numbers: dict[str, int] = tokenizer.get_vocab()
    yes, no = numbers["yes"], numbers["no"]

    def batches(step: int) -> Any:
        found: list[float] = []
        for at in range(0, len(asked), step):
            rows = tokenizer(
                asked[at : at + step], padding=True, truncation=True, max_length=1024,
                return_tensors="pt",
            ).to(device)  # fmt: skip
            label = torch.full((len(rows["input_ids"]), 1), no, device=device)
            with torch.inference_mode():
                shares = network(
                    input_ids=rows["input_ids"], attention_mask=rows["attention_mask"], labels=label
                ).logits[:, 0].softmax(-1)  # fmt: skip
            found += (shares[:, yes] / (shares[:, yes] + shares[:, no])).tolist()
        ends = np.cumsum([len(own) for own in parts])
        return np.array([np.mean(own) for own in np.split(found, ends[:-1])])

    return [
        ("prevalence", lambda: metric.score(work)),
        ("batches of 8", lambda: batches(8)),
        ("loop", lambda: batches(1)),
    ]


def _against_references(size: Size) -> tuple[list[Example], list[str], list[str]]:
    """The examples of a size, their summaries, and a reference of each."""
    work = examples(size.products)
    return work, [e.summary for e in work], [e.references[0] for e in work]


def _plain(kind: Any, folder: Path, device: str) -> tuple[Any, Any]:
    """Tokenizer and network as transformers opens them."""
    import torch
    import transformers as hf

    network = kind.from_pretrained(folder, dtype=torch.float32).eval().to(device)
    return hf.AutoTokenizer.from_pretrained(folder), network


SIDES = {
    "bertscore-f1": ("encoder", bertscore_sides),
    "bartscore-faithfulness": ("seq2seq", bartscore_sides),
    "bleurt": ("regression", bleurt_sides),
    "prism": ("translator", prism_sides),
    "unieval-consistency": ("t5", unieval_sides),
}
"""Metric → the kind of checkpoint, and who computes it."""


def measure(sides: Sequence[Side], rounds: int) -> dict[str, Any]:
    """Seconds of every side, in turns, and the ratios of the others to the first.

    Raises:
        SystemExit: sides do not agree.
    """
    (_, first), *others = sides
    wanted = first()
    for name, other in others:
        difference = float(np.abs(other() - wanted).max())
        if not difference <= TOLERANCE:
            raise SystemExit(f"{name} differs by {difference:.2g}")
    seconds: dict[str, list[float]] = {name: [] for name, _ in sides}
    for round_ in range(rounds):
        # Each side is first in its turn, so that none gains by its place.
        for name, call in [*sides[round_ % len(sides) :], *sides[: round_ % len(sides)]]:
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    own = seconds[sides[0][0]]
    ratios = {
        name: quantiles([b / a for a, b in zip(own, seconds[name], strict=True)])
        for name, _ in others
    }
    return {
        "pairs": len(wanted),
        "seconds_p50": {name: quantiles(values)[1] for name, values in seconds.items()},
        "ratios_p20_p50_p80": ratios,
    }


def show(rows: Sequence[dict[str, Any]]) -> None:
    """Print the rows."""
    show_table(
        ("metric", "size", "pairs", "ours, pairs/s", "other", "times as long (p20–p80)"),
        (
            (row["metric"], row["size"], str(row["pairs"]),
             f"{row['pairs'] / row['seconds_p50']['prevalence']:.1f}", name,
             f"{middle:.2f} ({low:.2f}–{high:.2f})")
            for row in rows
            for name, (low, middle, high) in row["ratios_p20_p50_p80"].items()
        ),
        left=("size", "other"),
    )  # fmt: skip


def main() -> None:
    """Measure, print and keep the rows."""
    from benchmarks.question_throughput import SIDES as QUESTIONS

    known = SIDES | QUESTIONS
    parser = argparse.ArgumentParser(description="Throughput of metrics with a model.")
    parser.add_argument("--sizes", default="tiny,base", help="tiny, base or both with a comma")
    parser.add_argument("--metrics", default=",".join(known), help="with a comma between [all]")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1")
    options = parser.parse_args()
    rows = []
    for name in options.sizes.split(","):
        size = SIZES[name]
        for metric in options.metrics.split(","):
            kind, sides_of = known[metric]
            with tempfile.TemporaryDirectory() as place:
                sides = sides_of(build(kind, size, Path(place)), size, options.device)
                row = {"metric": metric, "size": name} | measure(sides, size.rounds)
            rows.append(row | {"model": size._asdict(), "bert_score": version("bert-score")})
            append_row("baseline_throughput", environment(options.device) | rows[-1])
    show(rows)


if __name__ == "__main__":
    main()
