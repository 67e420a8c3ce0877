"""How the two tiny checkpoints under inputs/ were made; they are kept as files from then on.

Both are untrained, with weights drawn wide enough that answers differ from pair to pair.

    python tests/golden/make_models.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"
LABELS = ("contradiction", "neutral", "entailment")


def words() -> list[str]:
    """The common words of the bundled example."""
    lines = (EXAMPLES / "summaries.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [text for line in lines for text in json.loads(line)["summaries"].values()]
    found = re.findall(r"[a-z]+", " ".join(texts).lower())
    return sorted({word for word in found if found.count(word) > 3})


def make_nli(folder: Path) -> None:
    """A BERT of two layers with three classes, which reads 64 tokens."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,;:!?'\"()-"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    pieces += [*(f"##{letter}" for letter in letters[:36]), *(w for w in words() if len(w) > 1)]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    BertTokenizerFast(vocab=vocabulary, model_max_length=64).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=24, max_position_embeddings=64, initializer_range=0.5,
        id2label=dict(enumerate(LABELS)), label2id={n: i for i, n in enumerate(LABELS)},
    )  # fmt: skip
    torch.manual_seed(5)
    BertForSequenceClassification(config).save_pretrained(folder)


def make_seq2seq(folder: Path) -> None:
    """A T5 of one layer on bytes."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: n for n, piece in enumerate(["<pad>", "</s>", *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", model_max_length=256,
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(4)
    config = T5Config(
        vocab_size=len(vocabulary), d_model=16, d_kv=8, d_ff=24, num_layers=1, num_heads=2,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
    )  # fmt: skip
    T5ForConditionalGeneration(config).save_pretrained(folder)


if __name__ == "__main__":
    make_nli(HERE / "inputs" / "tiny-nli")
    make_seq2seq(HERE / "inputs" / "tiny-seq2seq")
