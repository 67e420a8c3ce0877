"""A tiny untrained T5 with a byte-level tokenizer, and a tiny corpus in ASSET's layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PAIRS = (
    ("It fits and it is warm.", "It fits. It is warm.", "It fits me. It is warm."),
    ("It leaks and it is cold.", "It leaks. It is cold.", "It leaks. It feels cold."),
    ("It fits and it is cold.", "It fits. It is cold.", "It fits me. It feels cold."),
    ("It leaks and it is warm.", "It leaks. It is warm.", "It does leak. It is warm."),
)


@pytest.fixture(scope="session")
def tiny_t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoint folder: two layers of 32, and words of the corpus as tokens."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    folder = tmp_path_factory.mktemp("tiny-t5")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330, special_tokens=["<pad>", "</s>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    texts = [text for row in PAIRS for text in row] + ["hypothesis: "]
    tokenizer.train_from_iterator(texts * 3, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", model_max_length=64,
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(4)
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=tokenizer.get_vocab_size(), d_model=32, d_kv=16, d_ff=64, num_layers=2,
            num_heads=2, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
            dropout_rate=0.1,
        )
    )  # fmt: skip
    # Beams and penalties of a checkpoint must not reach our sampling.
    model.generation_config.num_beams = 3
    model.generation_config.no_repeat_ngram_size = 1
    model.save_pretrained(folder)
    return folder


def write_corpus(folder: Path) -> Path:
    """Write four sources with two rewritings each; returns the file of the sources."""
    folder.mkdir()
    for name, column in (("orig", 0), ("simp.0", 1), ("simp.1", 2)):
        lines = "".join(row[column] + "\n" for row in PAIRS)
        (folder / f"tiny.valid.{name}").write_text(lines, encoding="utf-8")
    return folder / "tiny.valid.orig"


@pytest.fixture
def corpus_file(tmp_path: Path) -> Path:
    """Four sources with two rewritings each."""
    return write_corpus(tmp_path / "asset")


@pytest.fixture(scope="session")
def asset_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, for what is made once for several tests."""
    return write_corpus(tmp_path_factory.mktemp("corpus") / "asset")
