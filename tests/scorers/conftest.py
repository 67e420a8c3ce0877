"""Untrained checkpoints of every kind that a scorer may want, built on disk without a network."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from prevalence.nli.pairs import TextTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMIT = 64
WORDS = (
    "the boots kept my feet dry in deep snow and laces come undone because they are thin soles "
    "grip well on wet ground run small order one size up i like them a lot what did who premise "
    "hypothesis answer context : . , ? ! | {{ }}"
)


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


READ = (
    "The boots kept my feet dry in deep snow. The laces come undone because they are thin. "
    "Soles grip well on wet ground! I like them a lot, did you? order one size up; they run small. "
    "predict: Determine if the hypothesis is true given the premise? Premise: Hypothesis: "
    'Choose your answer: based on the paragraph above can we conclude that "" OPTIONS: - Yes - No '
    "I think the answer is 0 1"
)


def _roberta_tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import RobertaTokenizerFast

    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=500, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
    )  # fmt: skip
    trained.train_from_iterator([READ], trainer)
    state = json.loads(trained.to_str())["model"]
    merges = [tuple(merge) for merge in state["merges"]]
    return RobertaTokenizerFast(vocab=state["vocab"], merges=merges, model_max_length=512)


def _pieces(*special: str) -> list[tuple[str, float]]:
    """A Unigram model by hand: every word whole and every letter, no two equally probable."""
    words = re.findall(r"[a-zA-Z]{2,}", READ)
    found = ["▁", *(f"▁{word}" for word in words), "▁1", *sorted(set(READ) - {" "})]
    scored = [(piece, -2.0 - 0.03 * rank) for rank, piece in enumerate(dict.fromkeys(found))]
    return [*((token, 0.0) for token in special), *scored]


def _deberta_tokenizer() -> Any:
    from transformers import DebertaV2TokenizerFast

    vocabulary = _pieces("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    return DebertaV2TokenizerFast(vocab=vocabulary, unk_id=1, model_max_length=512)


def _t5_tokenizer() -> Any:
    from transformers import T5TokenizerFast

    return T5TokenizerFast(vocab=_pieces("<pad>", "</s>", "<unk>"), extra_ids=0,
                           model_max_length=512)  # fmt: skip


def _roberta_config(**more: Any) -> Any:
    from transformers import RobertaConfig

    return RobertaConfig(
        vocab_size=500, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=514, initializer_range=0.6, pad_token_id=1,
        bos_token_id=0, eos_token_id=2, **more,
    )  # fmt: skip


def _t5_config(size: int) -> Any:
    from transformers import T5Config

    return T5Config(
        vocab_size=size, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=3, num_labels=2,
        feed_forward_proj="gated-gelu", initializer_factor=2.0, decoder_start_token_id=0,
    )  # fmt: skip


def _save_classifier(kind: str, folder: Path) -> None:
    import transformers as hf

    if kind == "roberta":
        network: Any = hf.RobertaForSequenceClassification(_roberta_config(num_labels=2))
        tokenizer = _roberta_tokenizer()
    else:
        tokenizer = _deberta_tokenizer()
        config = hf.DebertaV2Config(
            vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=48, relative_attention=True, position_buckets=16,
            pos_att_type=["p2c", "c2p"], norm_rel_ebd="layer_norm", share_att_key=True,
            position_biased_input=False, type_vocab_size=0, initializer_range=0.3, num_labels=2,
        )  # fmt: skip
        network = hf.DebertaV2ForSequenceClassification(config)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _save_t5(kind: str, folder: Path) -> None:
    """MiniCheck's generator, or HHEM as its publisher stores it: other names, a config of its
    own, the embedding once."""
    import transformers as hf
    from safetensors.torch import save_file

    tokenizer = _t5_tokenizer()
    config = _t5_config(len(tokenizer))
    if kind == "t5":
        hf.T5ForConditionalGeneration(config).save_pretrained(folder)
    else:
        state = hf.T5ForTokenClassification(config).state_dict()
        # As drawn, the head is certain of everything.
        state["classifier.weight"] *= 0.1
        save_file(
            {f"t5.{name}": tensor.clone() for name, tensor in state.items()
             if not name.endswith("embed_tokens.weight")}, folder / "model.safetensors",
        )  # fmt: skip
    tokenizer.save_pretrained(folder)
    if kind == "hhem":
        told = {"model_type": "HHEMv2", "auto_map": {"AutoConfig": "code.Config"}}
        (folder / "config.json").write_text(json.dumps(told), encoding="utf-8")


def _save_alignscore(_: str, folder: Path) -> None:
    """The authors' layout: an encoder with its pooler, and three heads."""
    import torch
    from safetensors.torch import save_file
    from transformers import RobertaModel

    config = _roberta_config()
    parts = {"base_model": RobertaModel(config), "tri_layer": torch.nn.Linear(32, 3),
             "bin_layer": torch.nn.Linear(32, 2), "reg_layer": torch.nn.Linear(32, 1)}  # fmt: skip
    state = {f"{part}.{name}": tensor.clone() for part, module in parts.items()
             for name, tensor in module.state_dict().items()}  # fmt: skip
    save_file(state | {"mlm_head.bias": torch.zeros(500)}, folder / "model.safetensors")
    config.save_pretrained(folder)
    _roberta_tokenizer().save_pretrained(folder)


_PUBLISHED = {
    "alignscore": _save_alignscore,
    "roberta": _save_classifier,
    "deberta": _save_classifier,
    "t5": _save_t5,
    "hhem": _save_t5,
}


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """``tiny(kind, **config)``: a folder.

    Kinds are classifier, encoder, answerer and seq2seq, and without config the architectures of
    fact-checking encoders: alignscore, roberta, deberta, t5 and hhem.
    """
    built: dict[str, Path] = {}

    def build(kind: str, **more: Any) -> Path:
        import torch
        import transformers as hf

        key = repr((kind, sorted(more.items())))
        if key not in built:
            folder = built[key] = tmp_path_factory.mktemp(kind)
            if kind in _PUBLISHED:
                torch.manual_seed(7)
                _PUBLISHED[kind](kind, folder)
                return folder
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
