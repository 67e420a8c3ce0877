"""Separately tokenised texts plus a layout equal the tokenizer's own pairs."""

from __future__ import annotations

import gc
import time
import weakref
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from prevalence.errors import ModelError
from prevalence.kernels.assembly import assemble
from prevalence.kernels.packing import PackedPairs, assemble_packed
from prevalence.nli.joint import ResidentTokens
from prevalence.nli.packing import fit
from prevalence.nli.pairs import TextTable
from prevalence.nli.tokens import TokenStore, cleaner, encode, pair_layout

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMIT = 64
TOKENS = TokenStore.spans.__code__.co_filename
words = st.sampled_from(["boots", " ", "dry", "café", "isn't", "\n", "5'2\"", "[SE", "P", "."])
texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.lists(words, max_size=60).map("".join),
)


@pytest.fixture(scope="module")
def tokenizers(checkpoint: Callable[..., Path]) -> dict[str, Any]:
    from transformers import AutoTokenizer

    return {
        family: AutoTokenizer.from_pretrained(checkpoint(family))
        for family in ("bert", "roberta", "deberta-v2", "xlm-roberta")
    }


@pytest.fixture(params=["bert", "roberta", "deberta-v2", "xlm-roberta"])
def family(request: pytest.FixtureRequest) -> str:
    """WordPiece, byte-level BPE, and Unigram with two templates."""
    return str(request.param)


def _pair(tokenizer: Any, premise: str, hypothesis: str):
    layout = pair_layout(tokenizer, name="tiny")
    table = TextTable()
    numbers = table.add_all([premise, hypothesis])
    store = TokenStore(tokenizer, head=LIMIT)
    fitted = fit(
        store.spans(table, numbers[:1]),
        store.spans(table, numbers[1:]),
        room=LIMIT - layout.special,
    )
    return fitted, assemble(store.tokens, fitted.spans, layout), _packed(store, fitted, layout)


def _packed(store: TokenStore, fitted: Any, layout: Any) -> PackedPairs:
    """The same without padding, from the tokens' copy on a device."""
    tokens = ResidentTokens(torch.device("cpu")).of(store)
    return assemble_packed(tokens, fitted.spans, layout, first_position=2)


@settings(
    deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(premise=texts, hypothesis=texts)
def test_equals_the_pair_encoding(
    tokenizers: dict[str, Any], family: str, premise: str, hypothesis: str
) -> None:
    tokenizer = tokenizers[family]
    assume(not any(word in premise + "\0" + hypothesis for word in tokenizer.all_special_tokens))
    fitted, batch, packed = _pair(tokenizer, premise, hypothesis)
    if fitted.too_long[0]:
        return  # Hugging Face refuses such a pair, too.
    # A batch of one: given two strings, Hugging Face reads an empty hypothesis as no hypothesis.
    theirs = tokenizer(
        [premise], [hypothesis], truncation="only_first", max_length=LIMIT,
        return_token_type_ids=True, verbose=False,
    )  # fmt: skip
    assert batch.ids.tolist() == theirs["input_ids"]
    assert batch.mask.tolist() == theirs["attention_mask"]
    assert batch.types.tolist() == theirs["token_type_ids"]
    assert packed.ids.tolist() == theirs["input_ids"][0]
    assert packed.types.tolist() == theirs["token_type_ids"][0]
    assert packed.positions.tolist() == list(range(2, len(packed.ids) + 2))
    assert packed.starts.tolist() == [0, len(packed.ids)]
    full = sum(map(len, encode(tokenizer, [premise, hypothesis])))
    assert fitted.truncated[0] == (full + pair_layout(tokenizer, name="tiny").special > LIMIT)


@pytest.mark.parametrize("name", ["sep_token", "cls_token", "pad_token", "mask_token"])
def test_special_tokens_written_in_a_text_are_left_out(
    tokenizers: dict[str, Any], family: str, name: str
) -> None:
    tokenizer = tokenizers[family]
    written = f"boots{getattr(tokenizer, name)} dry"
    special = getattr(tokenizer, f"{name}_id")
    plain = tokenizer(written, add_special_tokens=False)["input_ids"]
    assert special in plain
    assert encode(tokenizer, [written])[0] == [token for token in plain if token != special]


def test_unknown_tokens_stay(tokenizers: dict[str, Any]) -> None:
    assert encode(tokenizers["bert"], ["😀"]) == [[tokenizers["bert"].unk_token_id]]


def test_lone_surrogates_read_as_replacement_characters(
    tokenizers: dict[str, Any], family: str
) -> None:
    broken, repaired = encode(tokenizers[family], ["a \ud800 b", "a \ufffd b"])
    assert broken == repaired


def test_each_text_is_tokenised_once(tokenizers: dict[str, Any]) -> None:
    seen: list[str] = []
    backend = tokenizers["bert"].backend_tokenizer

    class Counting:
        all_special_ids = (0,)
        unk_token_id = 1
        backend_tokenizer = property(lambda self: self)
        no_truncation, no_padding = backend.no_truncation, backend.no_padding

        def encode_batch_fast(self, batch: list[str], **options: Any) -> Any:
            seen.extend(batch)
            return backend.encode_batch_fast(batch, **options)

    table = TextTable()
    numbers = table.add_all(["one", "two", "three"])
    store = TokenStore(Counting(), head=LIMIT)
    first = store.spans(table, numbers[[0, 1, 0]])
    again = store.spans(table, numbers[[2, 0, 1]])
    assert sorted(seen) == ["one", "three", "two"]
    assert first[0][0] == first[0][2] == again[0][1]


def test_texts_added_later_are_found(tokenizers: dict[str, Any]) -> None:
    table = TextTable()
    store = TokenStore(tokenizers["bert"], head=None)
    store.spans(table, table.add_all(["boots"]))
    start, length = store.spans(table, table.add_all(["keep my feet dry"] * 2))
    ids = store.tokens[start[0] : start[0] + length[0]].tolist()
    assert ids == encode(tokenizers["bert"], ["keep my feet dry"])[0]


def test_an_interrupt_leaves_every_text_its_own_tokens(
    tokenizers: dict[str, Any], interrupted: Callable[..., bool]
) -> None:
    tokenizer, table = tokenizers["bert"], TextTable()
    numbers = table.add_all(["boots", "keep my feet dry", "boots leak"])
    expected = encode(tokenizer, [table[number] for number in numbers.tolist()])
    for line in count():
        store = TokenStore(tokenizer, head=None)
        work = partial(store.spans, table, numbers[:2])
        if not interrupted(work, within=TOKENS, line=line):
            break
        spans = zip(*store.spans(table, numbers[::-1]), strict=True)
        found = [store.tokens[start : start + length].tolist() for start, length in spans]
        assert found == expected[::-1]
    assert line >= 20


def test_store_frees_with_its_table(tokenizers: dict[str, Any]) -> None:
    table = TextTable()
    store = TokenStore(tokenizers["bert"], head=None)
    store.spans(table, table.add_all(["boots"]))
    gone = weakref.ref(table)
    del table
    gc.collect()
    assert gone() is None


def test_ten_megabytes_are_read_in_part(tokenizers: dict[str, Any], family: str) -> None:
    text = "The boots kept my feet dry, even in deep snow! It isn't worth the price. " * 140_000
    assert len(text) > 10_000_000
    table = TextTable()
    numbers = table.add_all([text])
    store = TokenStore(tokenizers[family], head=LIMIT)
    began = time.perf_counter()
    _, length = store.spans(table, numbers)
    assert time.perf_counter() - began < 5
    assert LIMIT < length[0] < 1_000
    full = encode(tokenizers[family], [text[:400_000]])[0]
    assert store.tokens[:LIMIT].tolist() == full[:LIMIT]


def test_long_text_of_few_tokens_is_read_whole(tokenizers: dict[str, Any]) -> None:
    # White space gives BERT no tokens: the cut text has too few, so all of it is tokenised.
    table = TextTable()
    numbers = table.add_all(["dry" + " " * 300_000 + "boots keep"])
    store = TokenStore(tokenizers["bert"], head=LIMIT)
    store.spans(table, numbers)
    assert store.tokens.tolist() == encode(tokenizers["bert"], ["dry boots keep"])[0]


def test_texts_beside_a_long_one_keep_their_order(tokenizers: dict[str, Any]) -> None:
    texts = ["boots leak", "dry " * 100_000, "keep my feet dry", "dry" + " " * 300_000, "boots"]
    table = TextTable()
    store = TokenStore(tokenizers["bert"], head=LIMIT)
    spans = zip(*store.spans(table, table.add_all(texts)), strict=True)
    found = [store.tokens[start : start + length][:LIMIT].tolist() for start, length in spans]
    assert found == [ids[:LIMIT] for ids in encode(tokenizers["bert"], texts)]


def test_model_padding_goes_before_the_tokenizers(tokenizers: dict[str, Any]) -> None:
    assert pair_layout(tokenizers["roberta"], name="tiny").pad == 1
    assert pair_layout(tokenizers["roberta"], name="tiny", pad=5).pad == 5


def test_no_padding_token_is_refused(checkpoint: Callable[..., Path]) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(checkpoint("bert"))
    tokenizer.pad_token = None
    with pytest.raises(ModelError, match="neither its config nor its tokenizer"):
        pair_layout(tokenizer, name="tiny")


def test_a_template_that_joins_otherwise_is_refused(checkpoint: Callable[..., Path]) -> None:
    from tokenizers.processors import TemplateProcessing
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(checkpoint("bert"))
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A", pair="[CLS] $B [SEP] $A", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    with pytest.raises(ModelError, match="encodes a pair differently"):
        pair_layout(tokenizer, name="tiny")


def test_row_order_of_spans_is_the_order_asked(tokenizers: dict[str, Any]) -> None:
    table = TextTable()
    numbers = table.add_all(["boots", "feet dry", "snow"])
    store = TokenStore(tokenizers["bert"], head=None)
    starts, lengths = store.spans(table, numbers[::-1])
    found = [store.tokens[s : s + n].tolist() for s, n in zip(starts, lengths, strict=True)]
    assert found == encode(tokenizers["bert"], ["snow", "feet dry", "boots"])
    assert np.issubdtype(starts.dtype, np.int64)


@pytest.mark.parametrize(("family", "end", "unknown"), [
    ("bert", "[SEP]", "[UNK]"), ("roberta", "</s>", "<unk>"),
])  # fmt: skip
def test_marks_in_a_text_are_taken_out(
    tokenizers: dict[str, Any], family: str, end: str, unknown: str
) -> None:
    text = f"it fits{end}it leaks {unknown} \udce9"
    clean = cleaner(tokenizers[family])
    assert clean(text) == f"it fits it leaks {unknown} \ufffd"
    spaced = cleaner(tokenizers[family], keep_offsets=True)(text)
    assert spaced == f"it fits{' ' * len(end)}it leaks {unknown} \ufffd"
    assert len(spaced) == len(text)


def test_tokens_are_those_of_the_tokenizer_itself(tokenizers: dict[str, Any]) -> None:
    texts = ["The boots kept my feet dry!", "", "naïve café 😀", "word " * 900]
    for tokenizer in tokenizers.values():
        tokenizer(texts, truncation=True, max_length=8, padding=True)  # leaves its settings behind
        given = tokenizer(texts, add_special_tokens=False, truncation=False, padding=False)
        tokenizer(texts, truncation=True, max_length=8, padding=True)
        assert encode(tokenizer, texts) == given["input_ids"]
