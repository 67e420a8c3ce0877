"""A tiny BERT, a tiny data set and a recipe over them, all built here."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

COLOURS = ("red", "blue", "green", "black", "white", "grey", "pink", "brown")
WARM = ("red", "pink", "brown", "white")
THINGS = ("mug", "lamp", "coat", "boot", "desk", "fan", "pan", "rug")
WORDS = ("i", "bought", "a", "the", "is", "it", "and", "works", "well", "fine", ".", "like")


@pytest.fixture(scope="session")
def tiny_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoint folder of an untrained encoder: 2 layers, hidden size 32."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny-base")
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *COLOURS, *THINGS]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]", model_max_length=64,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    ).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(tokens), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=64,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture
def pairs_file(tmp_path: Path) -> Path:
    """Pairs that are entailed exactly when the hypothesis names a warm colour; 16 groups."""
    records = [
        {
            "premise": f"i bought the {thing} and it works well.",
            "hypothesis": f"it is {colour}.",
            "label": int(colour in WARM),
            "group": f"g{i % 16}",
        }
        for i, (thing, colour) in enumerate((t, c) for t in THINGS for c in COLOURS * 2)
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


@pytest.fixture
def recipe_file(tmp_path: Path, tiny_base: Path, pairs_file: Path) -> Callable[..., Path]:
    """Write a recipe; keyword arguments append lines to sections or replace the stages."""

    def write(stages: str = "", **sections: str) -> Path:
        stage = stages or (
            "[[stage]]\nname = 'only'\nepochs = 2\nlearning_rate = 1e-3\n"
            "mix = [{ source = 'pairs' }]\n"
        )
        values: dict[str, Any] = {
            "model": f"base = {str(tiny_base)!r}\nmax_length = 32\ndropout = 0.1\n",
            "run": "seed = 5\nthreads = 1\nbatch_tokens = 256\ncheckpoint_every = 3\n",
            "output": "name = 'tiny'\nlicence = 'MIT'\n",
        }
        for name, text in sections.items():
            replaced = {line.split(" = ")[0] for line in text.splitlines()}
            kept = [
                k for k in values.get(name, "").splitlines() if k.split(" = ")[0] not in replaced
            ]
            values[name] = "\n".join([*kept, text])
        body = "".join(f"[{name}]\n{text}\n" for name, text in values.items())
        body += f"[[source]]\nname = 'pairs'\npath = {str(pairs_file)!r}\nlicence = 'MIT'\n\n"
        path = tmp_path / "recipe.toml"
        path.write_text(body + stage, encoding="utf-8")
        return path

    return write
