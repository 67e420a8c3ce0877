"""Untrained checkpoints of the architectures that question-based metrics use, built on disk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMIT = 128
WORDS = (
    "the boots kept my feet dry in deep snow and laces come undone because they are thin soles "
    "grip well on wet ground run small order one size up i like them a lot what did who how many "
    "hilton paris masked true un </s> <hl> . , ? !"
)
LABELS = ("O", "B-PER", "I-PER", "B-LOC")


def _save_tokenizer(folder: Path) -> int:
    letters = "abcdefghijklmnopqrstuvwxyz0123456789'-"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    pieces += [f"##{letter}" for letter in letters] + WORDS.split() + ["##answerable"]
    vocabulary = [*dict.fromkeys(pieces)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True,
                "additional_special_tokens": ["</s>", "<hl>"],
                "model_max_length": LIMIT}  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return len(vocabulary)


def _network(kind: str, size: int) -> Any:
    import transformers as hf

    tokens = {"vocab_size": size, "pad_token_id": 0}
    if kind == "t5":
        network = hf.T5ForConditionalGeneration(hf.T5Config(
            **tokens, d_model=32, d_kv=16, d_ff=48, num_layers=2, num_heads=2,
            decoder_start_token_id=0, eos_token_id=3, initializer_factor=2.0,
        ))  # fmt: skip
        # Untrained, it would hardly ever come to an end.
        network.shared.weight.data[3] *= 3
        return network
    if kind == "bart":
        return hf.BartForConditionalGeneration(hf.BartConfig(
            **tokens, d_model=32, encoder_layers=1, decoder_layers=1, init_std=0.5,
            encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=48,
            decoder_ffn_dim=48, max_position_embeddings=LIMIT, bos_token_id=2,
            eos_token_id=3, decoder_start_token_id=2, forced_eos_token_id=None,
        ))  # fmt: skip
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
             "intermediate_size": 48, "max_position_embeddings": LIMIT,
             "initializer_range": 0.6}  # fmt: skip
    if kind == "electra":
        return hf.ElectraForQuestionAnswering(
            hf.ElectraConfig(**tokens, embedding_size=32, **shape)
        )
    config = hf.BertConfig(**tokens, **shape)
    if kind == "lerc":
        config.num_labels = 1
        return hf.BertForSequenceClassification(config)
    if kind == "tagger":
        config.id2label = dict(enumerate(LABELS))
        config.label2id = {label: number for number, label in enumerate(LABELS)}
        return hf.BertForTokenClassification(config)
    return {"bert": hf.BertForQuestionAnswering, "encoder": hf.BertModel}[kind](config)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``small(kind)``: a folder; kinds are t5, bart, bert, electra, lerc, tagger and encoder."""
    built: dict[str, Path] = {}

    def build(kind: str) -> Path:
        import torch

        if kind not in built:
            folder = built[kind] = tmp_path_factory.mktemp(kind)
            size = _save_tokenizer(folder)
            torch.manual_seed(7)
            _network(kind, size).save_pretrained(folder)
        return built[kind]

    return build
