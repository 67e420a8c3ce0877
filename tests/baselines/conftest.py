"""Real texts for parity tests, and untrained checkpoints built on disk without a network."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMIT = 64
WORDS = (
    "the boots kept my feet dry in deep snow and laces come undone because they are thin soles "
    "grip well on wet ground run small order one size up i like them a lot . , ? !"
)


def _save_tokenizer(folder: Path) -> int:
    letters = "abcdefghijklmnopqrstuvwxyz0123456789'-"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    pieces += [f"##{letter}" for letter in letters] + re.findall(r"\w+|\S", WORDS)
    vocabulary = [*dict.fromkeys(pieces)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "bos_token": "[CLS]",
                "model_max_length": LIMIT}  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return len(vocabulary)


def _config(kind: str, size: int) -> Any:
    import transformers as hf

    if kind == "seq2seq":
        return hf.BartConfig(
            vocab_size=size, d_model=32, encoder_layers=1, decoder_layers=1, init_std=0.5,
            encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=48,
            decoder_ffn_dim=48, max_position_embeddings=LIMIT, pad_token_id=0, bos_token_id=2,
            eos_token_id=3, decoder_start_token_id=2, forced_eos_token_id=None,
        )  # fmt: skip
    if kind == "causal":
        return hf.GPT2Config(
            vocab_size=size, n_embd=32, n_layer=2, n_head=2, n_positions=LIMIT,
            initializer_range=0.5, bos_token_id=2, eos_token_id=3,
        )  # fmt: skip
    return hf.BertConfig(
        vocab_size=size, hidden_size=32, num_hidden_layers=6, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=LIMIT, initializer_range=0.6,
    )  # fmt: skip


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``tiny(kind)``: a checkpoint folder; kinds are encoder, masked, causal and seq2seq."""
    built: dict[str, Path] = {}

    def build(kind: str) -> Path:
        import torch
        import transformers as hf

        if kind not in built:
            folder = built[kind] = tmp_path_factory.mktemp(kind)
            network = {
                "encoder": hf.BertModel, "masked": hf.BertForMaskedLM,
                "causal": hf.GPT2LMHeadModel, "seq2seq": hf.BartForConditionalGeneration,
            }[kind]  # fmt: skip
            torch.manual_seed(5)
            network(_config(kind, _save_tokenizer(folder))).save_pretrained(folder)
        return built[kind]

    return build


@pytest.fixture(scope="session")
def by_pieces(tiny: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder that reads words as SentencePiece does: a space begins them, marks belong to them.

    "laces" is a token without its space, which is another one.
    """
    import transformers as hf
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    pieces = [*special, "▁", "▁thin", "laces", "▁boots", "▁grip", "▁it", "▁on", ".", "!"]
    read = Tokenizer(models.Unigram([(piece, -1.0) for piece in pieces], unk_id=1))
    read.pre_tokenizer = pre_tokenizers.Metaspace()
    read.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    folder = tmp_path_factory.mktemp("by_pieces")
    for name in ("config.json", "model.safetensors"):
        shutil.copy(tiny("encoder") / name, folder)
    hf.PreTrainedTokenizerFast(
        tokenizer_object=read, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", model_max_length=LIMIT,
    ).save_pretrained(folder)  # fmt: skip
    return folder


@pytest.fixture(scope="session")
def pairs() -> list[tuple[str, str]]:
    """Pairs of a summary and another text, of unlike lengths."""
    return [
        ("The boots are dry.", "My feet kept dry in deep snow, and I like them a lot!"),
        ("Laces come undone because they are thin.", "Thin laces."),
        ("They run small. Order one size up?", "Order up! They are small, and the soles grip."),
        ("Grip on wet ground", "Grip on wet ground"),
    ]


@pytest.fixture(scope="session")
def summary_pairs(shared_data: Path) -> list[tuple[str, str]]:
    """100 pairs of summary and reference; every thirteenth of 14 systems, so that all occur."""
    path = shared_data / "opinsummeval.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    every = [
        (summary["text"], row["reference"]) for row in rows for summary in row["summaries"].values()
    ]
    return every[::13][:100]


@pytest.fixture
def resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[Any]]:
    """``resumed(metric)``: rows of the command, which was cut off and went on; checks itself."""
    from click.testing import CliRunner

    from prevalence.cli import main

    monkeypatch.setenv("PREVALENCE_CACHE", str(tmp_path / "cache"))
    products = [
        {
            "id": name,
            "reviews": ["My feet kept dry.", "The laces are thin."],
            "reference": "Dry boots, thin laces.",
            "summaries": {"good": "The boots kept my feet dry.", "blank": "", "other": "Laces!"},
        }
        for name in ("p1", "p2")
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, products)), encoding="utf-8")
    output = tmp_path / "rows.jsonl"

    def command(metric: str) -> str:
        words = ["baselines", str(tmp_path / "in.jsonl"), "-m", metric, "--output", str(output)]
        result = CliRunner().invoke(main, [*words, "--no-cache"])
        assert result.exit_code == 1, result.output  # the blank summaries have no value
        return str(result.stderr)

    def run(metric: str) -> list[Any]:
        command(metric)
        whole = output.read_bytes()
        first, second, *_ = whole.splitlines(keepends=True)
        output.write_bytes(first + second[:40])
        assert f"in {output} already" in command(metric)
        assert output.read_bytes() == whole
        return [json.loads(line) for line in whole.splitlines()]

    return run
