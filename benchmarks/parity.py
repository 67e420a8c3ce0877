"""What comparisons with original packages share: texts, tiny checkpoints, and the verdict."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["TEXTS", "TOLERANCE", "Pairs", "digest_of", "frequent_words", "judge", "write_tiny"]

TEXTS = ROOT / "prevalence" / "training" / "data" / "review_nli_grouped.jsonl"
TOLERANCE = 1e-5

Pairs = Sequence[tuple[str, str]]


def frequent_words(count: int) -> list[str]:
    """The words that the texts hold most often."""
    words = Counter(re.findall(r"[a-z]+", TEXTS.read_text(encoding="utf-8").lower()))
    return sorted(sorted(words), key=lambda word: -words[word])[:count]


def write_tiny(
    folder: Path,
    head: str,
    words: Sequence[str],
    *,
    seed: int,
    scale: float,
    raised: Sequence[str] = (),
    **settings: Any,
) -> Path:
    """An untrained BERT of two narrow layers, the same on every machine.

    Weights come from NumPy's generator and are wide, so that answers differ; the vocabulary holds
    words and letters.

    Args:
        folder: where it is written.
        head: class of transformers.
        words: of the vocabulary.
        seed: of the weights.
        scale: their standard deviation.
        raised: words that a masked-language head is biased towards.
        settings: further ones of the config.
    """
    import transformers
    from safetensors.numpy import save_file

    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,!?'-"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    vocabulary = [*dict.fromkeys([*pieces, *(f"##{letter}" for letter in letters), *words])]
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=512, architectures=[head], **settings,
    )  # fmt: skip
    random = np.random.default_rng(seed)
    state = getattr(transformers, head)(config).state_dict()
    weights = {
        name: random.normal(scale=scale, size=tuple(state[name].shape)).astype(np.float32)
        + np.float32(name.endswith("LayerNorm.weight"))
        for name in sorted(state)
        if state[name].is_floating_point() and "predictions.decoder" not in name
    }
    if raised:
        weights["cls.predictions.bias"][[vocabulary.index(word) for word in raised]] += 9.0
    folder.mkdir(parents=True, exist_ok=True)
    config.save_pretrained(folder)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    tokenizer = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    return folder


def digest_of(pairs: Pairs) -> str:
    """Names texts, so that a record made from others is noticed."""
    return hashlib.blake2b(json.dumps(pairs).encode(), digest_size=8).hexdigest()


def judge(differences: Iterable[tuple[str, float]]) -> None:
    """Print the greatest difference of each comparison.

    Raises:
        SystemExit: one is above the tolerance.
    """
    worst = 0.0
    for name, difference in differences:
        print(f"{name:40} {difference:.2e}", flush=True)
        worst = max(worst, difference)
    if not worst <= TOLERANCE:
        sys.exit(f"the greatest difference is {worst:.2e}, above {TOLERANCE:.0e}")
