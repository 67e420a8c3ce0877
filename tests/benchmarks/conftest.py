"""A tiny classifier that loads as a scorer, in all architectures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["joint", "premise-first", "premise-first MPNet"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Folder of an untrained classifier over letters, drawn wide so that answers differ."""
    import string

    import torch
    import transformers as hf

    attention, _, family = request.param.partition(" ")
    letters = string.ascii_lowercase + string.digits + string.punctuation
    pieces = [*letters, *(f"##{c}" for c in letters)]
    # MPNet's padding has number 1, where its tokenizer expects it.
    special = ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"] if family else [
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]",
    ]  # fmt: skip
    vocabulary = {piece: number for number, piece in enumerate([*special, *pieces])}
    torch.manual_seed(7)
    labels = ("entailment", "neutral", "contradiction")
    config = getattr(hf, f"{family or 'Bert'}Config")(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, initializer_range=0.4, max_position_embeddings=258,
        id2label=dict(enumerate(labels)), label2id={n: i for i, n in enumerate(labels)},
    )  # fmt: skip
    folder = tmp_path / "model"
    getattr(hf, f"{family or 'Bert'}ForSequenceClassification")(config).save_pretrained(folder)
    tokenizer = getattr(hf, f"{family or 'Bert'}TokenizerFast")
    tokenizer(vocab=vocabulary, model_max_length=256).save_pretrained(folder)
    path = folder / "config.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    stored["prevalence_attention"] = attention
    path.write_text(json.dumps(stored), encoding="utf-8")
    return folder
