"""Untrained checkpoints of every kind that a scorer may want, built on disk without a network."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from prevalence.nli.pairs import TextTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LIMIT = 64
WORDS = (
    "the boots kept my feet dry in deep snow and laces come undone because they are thin soles "
    "grip well on wet ground run small order one size up i like them a lot what did who premise "
    "hypothesis answer context : . , ? ! | {{ }}"
)


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Threads cost more than they give on matrices this small."""
    import torch

    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(usual)


def _save_tokenizer(folder: Path) -> int:
    letters = "abcdefghijklmnopqrstuvwxyz0123456789'-"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    pieces += [f"##{letter}" for letter in letters] + re.findall(r"\w+|\S", WORDS)
    vocabulary = [*dict.fromkeys(pieces)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True,
                "model_max_length": LIMIT}  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return len(vocabulary)


def _config(kind: str, size: int, **more: Any) -> Any:
    import transformers as hf

    if kind == "seq2seq":
        return hf.BartConfig(
            vocab_size=size, d_model=32, encoder_layers=1, decoder_layers=1, init_std=0.5,
            encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=48,
            decoder_ffn_dim=48, max_position_embeddings=LIMIT, pad_token_id=0, bos_token_id=2,
            eos_token_id=3, decoder_start_token_id=2, forced_eos_token_id=None, **more,
        )  # fmt: skip
    return hf.BertConfig(
        vocab_size=size, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=LIMIT, initializer_range=0.6, **more,
    )  # fmt: skip


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """``tiny(kind, **config)``: a folder; kinds are classifier, encoder, answerer and seq2seq."""
    built: dict[str, Path] = {}

    def build(kind: str, **more: Any) -> Path:
        import torch
        import transformers as hf

        key = repr((kind, sorted(more.items())))
        if key not in built:
            folder = built[key] = tmp_path_factory.mktemp(kind)
            network = {
                "classifier": hf.BertForSequenceClassification, "encoder": hf.BertModel,
                "answerer": hf.BertForQuestionAnswering,
                "seq2seq": hf.BartForConditionalGeneration,
            }[kind]  # fmt: skip
            torch.manual_seed(5)
            network(_config(kind, _save_tokenizer(folder), **more)).save_pretrained(folder)
        return built[key]

    return build


@pytest.fixture(scope="session")
def asked() -> Callable[..., Any]:
    """``asked(scorer, *pairs)``: the scores of (premise, hypothesis) texts."""

    def ask(scorer: Any, *pairs: tuple[str, str], **options: Any) -> Any:
        texts = TextTable()
        numbers = [(texts.add(premise), texts.add(hypothesis)) for premise, hypothesis in pairs]
        return scorer.score(texts, np.array(numbers, np.int64).reshape(-1, 2), **options)

    return ask
