"""Untrained checkpoints of several families, built on disk without a network.

Weights are drawn wide, so that probabilities differ from pair to pair.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from prevalence.nli.pairs import TextTable
from prevalence.nli.scorer import NLIScorer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

FAMILIES = ("bert", "roberta", "deberta-v2")
LIMIT = 64
THREE_WAY = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
ACROSS_DEVICES = 1e-4
"""How far probabilities in float32 may be from those of another device, or, on a CUDA device, from
those of other batches, for which its library sums in another order. Weights as wide as these make
float32 alone err by up to 3.4e-5 (on a CPU, against float64), so two that err apart may differ by
twice that. Products in TF32 would make it 3.7e-3 and more in every family."""
CORPUS = (
    "The boots kept my feet dry, even in deep snow!",
    "I bought this blender for my daughter and she uses it every single morning.",
    "Battery life is short; it isn't worth the price.",
    "Sturdy, light, well made and easy to clean.",
    "They run small, so order one size up. Returned twice...",
    "The café machine (5'2\" wide) arrived late but works great.",
    "Sound quality is good for music and films, poor for calls.",
)


def interrupted(work: Callable[[], object], *, within: str, line: int) -> bool:
    """Interrupt work after so many lines of a file; whether it got that far."""
    left = line

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename != within:
            return None
        if event == "line":
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
        return trace

    usual = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(usual)
    return False


@pytest.fixture(name="interrupted")
def _interrupted() -> Callable[..., bool]:
    """Interrupts work at one line."""
    return interrupted


class WatchedConnection(sqlite3.Connection):
    """A connection whose statements can be made to fail, by their first word."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.faults: dict[str, Exception] = {}
        self.failed = 0

    def execute(self, statement: str, *given: Any) -> sqlite3.Cursor:
        self._fail(statement)
        return super().execute(statement, *given)

    def executemany(self, statement: str, *given: Any) -> sqlite3.Cursor:
        self._fail(statement)
        return super().executemany(statement, *given)

    def _fail(self, statement: str) -> None:
        fault = self.faults.get(statement.split(maxsplit=1)[0])
        if fault is not None:
            self.failed += 1
            raise fault


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[WatchedConnection]:
    """The connections that are opened from now on, in order."""
    opened: list[WatchedConnection] = []
    connect = partial(sqlite3.connect, factory=WatchedConnection)

    def watched(*given: Any, **options: Any) -> WatchedConnection:
        opened.append(connect(*given, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", watched)
    return opened


def _words(text: str) -> list[str]:
    return sorted(set(re.findall(r"\w+", text)))


def _word_pieces(*special: str) -> dict[str, int]:
    """A vocabulary made by hand: every other word whole, the rest in pieces."""
    text = " ".join(CORPUS).lower().replace("é", "e")
    letters = sorted(set(text) - {" "})
    pieces = [
        *special,
        *letters,
        *(f"##{letter}" for letter in letters),
        *(word for word in _words(text)[::2] if len(word) > 1),
        *sorted({f"##{word[-3:]}" for word in _words(text) if len(word) > 4}),
    ]
    return {piece: number for number, piece in enumerate(pieces)}


def _bert_tokenizer() -> Any:
    from transformers import BertTokenizerFast

    vocabulary = _word_pieces("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    return BertTokenizerFast(vocab=vocabulary, model_max_length=LIMIT)


def _mpnet_tokenizer() -> Any:
    from transformers import MPNetTokenizerFast

    vocabulary = _word_pieces("<s>", "<pad>", "</s>", "[UNK]", "<mask>")
    return MPNetTokenizerFast(vocab=vocabulary, model_max_length=LIMIT)


def _roberta_tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import RobertaTokenizerFast

    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    trained.train_from_iterator(CORPUS, trainer)
    state = json.loads(trained.to_str())["model"]
    merges = [tuple(merge) for merge in state["merges"]]
    return RobertaTokenizerFast(vocab=state["vocab"], merges=merges)


def _deberta_tokenizer() -> Any:
    """Unigram over pieces made by hand, longer ones more probable, no two equally so."""
    from transformers import DebertaV2TokenizerFast

    text = " ".join(CORPUS)
    pieces = [
        *(f"▁{word}" for word in _words(text)[::2]),
        *sorted({word[-3:] for word in _words(text) if len(word) > 4}),
        "▁",
        *sorted(set(text) - {" "}),
    ]
    specials = [(token, 0.0) for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")]
    scored = [(piece, -2.0 - 0.03 * rank) for rank, piece in enumerate(dict.fromkeys(pieces))]
    return DebertaV2TokenizerFast(vocab=[*specials, *scored], unk_id=1, model_max_length=LIMIT)


def _xlm_roberta_tokenizer() -> Any:
    """Unigram, like DeBERTa's, with RoBERTa's template of two </s> between the texts."""
    from transformers import XLMRobertaTokenizerFast

    text = " ".join(CORPUS)
    pieces = [*(f"▁{word}" for word in _words(text)[1::2]), "▁", *sorted(set(text) - {" "})]
    specials = [(token, 0.0) for token in ("<s>", "<pad>", "</s>", "<unk>")]
    scored = [(piece, -2.0 - 0.03 * rank) for rank, piece in enumerate(dict.fromkeys(pieces))]
    vocabulary = [*specials, *scored, ("<mask>", 0.0)]
    return XLMRobertaTokenizerFast(vocab=vocabulary, unk_id=3, model_max_length=LIMIT)


def _small(config: type, tokenizer: Any, labels: Sequence[str], **more: Any) -> Any:
    return config(
        vocab_size=len(tokenizer), initializer_range=0.6, pad_token_id=tokenizer.pad_token_id,
        id2label=dict(enumerate(labels)), label2id={n: i for i, n in enumerate(labels)},
        **SIZES | more,
    )  # fmt: skip


SIZES = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48,
}  # fmt: skip
AFTER_PADDING = {"max_position_embeddings": LIMIT + 2, "type_vocab_size": 1}
PACKED: dict[str, tuple[Callable[[], Any], str, dict[str, Any]]] = {
    "albert": (_bert_tokenizer, "Albert", {"embedding_size": 16}),
    "camembert": (_roberta_tokenizer, "Camembert", AFTER_PADDING),
    "deberta": (
        _deberta_tokenizer,
        "Deberta",
        {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "pooler_hidden_size": 32},
    ),
    "distilbert": (_bert_tokenizer, "DistilBert", {"hidden_dim": 48}),
    "electra": (_bert_tokenizer, "Electra", {"embedding_size": 16}),
    # Its first layer sees all tokens, the others 4 to either side.
    "modernbert": (_bert_tokenizer, "ModernBert", {"num_hidden_layers": 3, "local_attention": 8}),
    "xlm-roberta": (_xlm_roberta_tokenizer, "XLMRoberta", AFTER_PADDING),
}
"""Families that are read without padding, beside BERT and RoBERTa: tokenizer, class, settings."""


def _packed_parts(family: str, labels: Sequence[str]) -> tuple[Any, Any, type]:
    import transformers as hf

    build, prefix, more = PACKED[family]
    tokenizer = build()
    limit = {"max_position_embeddings": LIMIT}
    config = _small(getattr(hf, f"{prefix}Config"), tokenizer, labels, **limit | more)
    return tokenizer, config, getattr(hf, f"{prefix}ForSequenceClassification")


def _parts(family: str, labels: Sequence[str]) -> tuple[Any, Any, type]:
    import transformers as hf

    if family == "bert":
        tokenizer = _bert_tokenizer()
        config = _small(hf.BertConfig, tokenizer, labels, max_position_embeddings=LIMIT)
        return tokenizer, config, hf.BertForSequenceClassification
    if family == "mpnet":
        tokenizer = _mpnet_tokenizer()
        config = _small(hf.MPNetConfig, tokenizer, labels, max_position_embeddings=LIMIT + 2)
        return tokenizer, config, hf.MPNetForSequenceClassification
    if family == "roberta":
        # padding_idx 1: LIMIT + 2 rows serve LIMIT tokens; the tokenizer states no limit.
        tokenizer = _roberta_tokenizer()
        config = _small(
            hf.RobertaConfig, tokenizer, labels, max_position_embeddings=LIMIT + 2,
            type_vocab_size=1,
        )  # fmt: skip
        return tokenizer, config, hf.RobertaForSequenceClassification
    if family == "bart":
        # Its head reads the last </s> of each row.
        tokenizer = _roberta_tokenizer()
        config = _small(
            hf.BartConfig, tokenizer, labels, max_position_embeddings=LIMIT, d_model=32,
            encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, init_std=0.3,
            decoder_attention_heads=2, encoder_ffn_dim=48, decoder_ffn_dim=48, bos_token_id=0,
            eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=None,
        )  # fmt: skip
        return tokenizer, config, hf.BartForSequenceClassification
    if family == "gpt2":
        # Its head reads the last token that is not padding, and its config names no padding.
        tokenizer = _roberta_tokenizer()
        config = _small(
            hf.GPT2Config, tokenizer, labels, max_position_embeddings=LIMIT,
        )  # fmt: skip
        config.pad_token_id = None
        return tokenizer, config, hf.GPT2ForSequenceClassification
    tokenizer = _deberta_tokenizer()
    config = _small(
        hf.DebertaV2Config, tokenizer, labels, max_position_embeddings=512, type_vocab_size=0,
        relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=16,
        norm_rel_ebd="layer_norm", share_att_key=True, position_biased_input=False,
        pooler_hidden_size=32,
    )  # fmt: skip
    return tokenizer, config, hf.DebertaV2ForSequenceClassification


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """``checkpoint(family, labels=...)``: the folder of a checkpoint, built once."""
    built: dict[tuple[str, tuple[str, ...]], Path] = {}

    def build(family: str = "bert", labels: Sequence[str] = THREE_WAY) -> Path:
        import torch

        key = (family, tuple(labels))
        if key not in built:
            folder = tmp_path_factory.mktemp(family)
            build_parts = _packed_parts if family in PACKED else _parts
            tokenizer, config, network = build_parts(family, labels)
            torch.manual_seed(11)
            network(config).save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            built[key] = folder
        return built[key]

    return build


@pytest.fixture
def altered(tmp_path: Path, checkpoint: Callable[..., Path]) -> Callable[..., Path]:
    """``altered(family, file, **changes)``: a copy with keys of a JSON file set or, if None, gone.

    ``altered(family, file, **changes, labels=...)`` starts from a checkpoint with those labels.
    """

    def alter(family: str, file: str, *, labels: Sequence[str] = THREE_WAY, **changes: Any) -> Path:
        folder = tmp_path / f"copy{len(list(tmp_path.iterdir()))}"
        shutil.copytree(checkpoint(family, labels), folder)
        path = folder / file
        content = json.loads(path.read_text(encoding="utf-8")) | changes
        kept = {key: value for key, value in content.items() if value is not None}
        path.write_text(json.dumps(kept), encoding="utf-8")
        return folder

    return alter


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    """Each family in turn."""
    return str(request.param)


@pytest.fixture(scope="session")
def across_devices() -> float:
    """:data:`ACROSS_DEVICES`."""
    return ACROSS_DEVICES


@pytest.fixture(scope="session")
def hf_pairs() -> Callable[..., np.ndarray]:
    """``hf_pairs(folder, pairs)``: probabilities [P, classes], one pair a call, by Hugging Face.

    The independent implementation: tokenizer(premise, hypothesis) with ``only_first``, softmax.
    """
    loaded: dict[Path, tuple[Any, Any]] = {}

    def score(folder: Path, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        if folder not in loaded:
            loaded[folder] = (
                AutoTokenizer.from_pretrained(folder),
                AutoModelForSequenceClassification.from_pretrained(
                    folder, dtype=torch.float32
                ).eval(),
            )
        tokenizer, model = loaded[folder]
        rows = []
        for premise, hypothesis in pairs:
            inputs = tokenizer(
                premise, hypothesis, truncation="only_first", max_length=LIMIT,
                return_tensors="pt",
            )  # fmt: skip
            with torch.inference_mode():
                logits = model(**inputs).logits[0]
            rows.append((logits.sigmoid() if len(logits) == 1 else logits.softmax(0)).numpy())
        return np.stack(rows)

    return score


@pytest.fixture(scope="session")
def reviews() -> Mapping[str, list[str]]:
    """Premises, short to far over the limit, and hypotheses."""
    long = " ".join(CORPUS)
    return {
        "premises": [*CORPUS, "", long, long[::-1], "Good.", "naïve 😀 “quoted” text\u00a0here"],
        "hypotheses": ["It keeps feet dry.", "Works great!", "Is it worth the price?", "café"],
    }


@pytest.fixture(scope="session")
def pairs(reviews: Mapping[str, list[str]]) -> list[tuple[str, str]]:
    """Every premise with every hypothesis."""
    return [(p, h) for p in reviews["premises"] for h in reviews["hypotheses"]]


@pytest.fixture(scope="session")
def number() -> Callable[[Sequence[tuple[str, str]]], tuple[TextTable, np.ndarray]]:
    """``number(pairs)``: a table of their texts, and the pairs as numbers, int64 [P, 2]."""

    def numbered(pairs: Sequence[tuple[str, str]]) -> tuple[TextTable, np.ndarray]:
        table = TextTable()
        numbers = [[table.add(premise), table.add(hypothesis)] for premise, hypothesis in pairs]
        return table, np.array(numbers, np.int64).reshape(-1, 2)

    return numbered


@pytest.fixture(scope="session")
def scorers(checkpoint: Callable[..., Path]) -> Callable[..., NLIScorer]:
    """``scorers(family, labels=...)``: a scorer on CPU, loaded once. Tests must not change it."""
    opened: dict[Any, NLIScorer] = {}

    def get(family: str, **options: Any) -> NLIScorer:
        key = (family, *sorted(options.items()))
        if key not in opened:
            opened[key] = NLIScorer(str(checkpoint(family, **options)), device="cpu")
        return opened[key]

    return get
