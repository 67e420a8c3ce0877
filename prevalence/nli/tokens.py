"""Texts → token slices, each unique text tokenised once, and the tokenizer's own pair template."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.errors import ModelError
from prevalence.kernels.assembly import PairLayout, assemble
from prevalence.records import well_formed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prevalence.nli.pairs import TextTable
    from prevalence.stats.arrays import Ints

__all__ = ["BlockLayout", "TokenStore", "block_layout", "cleaner", "encode", "pair_layout"]


_LONG_TEXT = 200_000
"""Characters above which a text is tokenised in part first, when only its head can be read."""

_PROBES = (
    ("The boots kept my feet dry, even in snow!", "They are waterproof."),
    ("naïve café — 5'2\" isn't “short” 😀", "It's OK"),
    (" leading and trailing ", "UPPER lower"),
)


class TokenStore:
    """Token ids of a table's texts, one after the other in one growing array.

    It holds no table, so that a table and its tokens can be freed together.

    Args:
        tokenizer: a fast Hugging Face tokenizer.
        head: number of tokens from the start that can ever be read; None when all can.
    """

    def __init__(self, tokenizer: Any, *, head: int | None) -> None:
        self._tokenizer = tokenizer
        self._head = head
        self._tokens = np.empty(1024, np.int64)
        self._used = 0
        self._starts = np.empty(0, np.int64)
        self._lengths = np.empty(0, np.int64)

    @property
    def tokens(self) -> Ints:
        """int64, the tokens of all texts stored so far."""
        return self._tokens[: self._used]

    def spans(self, texts: TextTable, numbers: Ints) -> tuple[Ints, Ints]:
        """Starts and lengths of texts in :attr:`tokens`, tokenising those not yet stored.

        Args:
            texts: the same table at every call.
            numbers: text numbers, int64 [k].

        Returns:
            starts and lengths, int64 [k] each. With ``head``, a length above it means "longer".
        """
        self._grow_index(len(texts))
        missing = np.unique(numbers[self._lengths[numbers] < 0])
        encoded = self._encode([texts[number] for number in missing])
        for number, ids in zip(missing.tolist(), encoded, strict=True):
            self._append(number, np.asarray(ids, np.int64))
        return self._starts[numbers], self._lengths[numbers]

    def _grow_index(self, size: int) -> None:
        extra = size - self._starts.size
        if extra > 0:
            # The starts last, because their number says what is still to be added.
            self._lengths = np.concatenate([self._lengths, np.full(extra, -1, np.int64)])
            self._starts = np.concatenate([self._starts, np.zeros(extra, np.int64)])

    def _append(self, number: int, ids: Ints) -> None:
        end = self._used + ids.size
        if end > self._tokens.size:
            grown = np.empty(max(end, 2 * self._tokens.size), np.int64)
            grown[: self._used] = self.tokens
            self._tokens = grown
        self._tokens[self._used : end] = ids
        # The room is taken before the text has it: an interrupt then wastes it, no more.
        start, self._used = self._used, end
        self._starts[number] = start
        self._lengths[number] = ids.size

    def _encode(self, texts: list[str]) -> Iterable[list[int]]:
        if self._head is None:
            return encode(self._tokenizer, texts)
        others = iter(encode(self._tokenizer, [one for one in texts if len(one) <= _LONG_TEXT]))
        enough = 2 * self._head
        return [
            next(others) if len(one) <= _LONG_TEXT else self._encode_head(one, enough)
            for one in texts
        ]

    def _encode_head(self, text: str, enough: int) -> list[int]:
        """Tokens of a long text, or of its beginning where that gives ``enough`` of them.

        The cut falls before white space, where tokenizers part words; whatever it may still
        change is at the end, and only the first half of what is kept is ever read.
        """
        cut = max(text.rfind(" ", 0, _LONG_TEXT), text.rfind("\n", 0, _LONG_TEXT), 0)
        ids = encode(self._tokenizer, [text[:cut]])[0]
        if len(ids) > enough:
            return ids[:enough]
        return encode(self._tokenizer, [text])[0]


def encode(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    """Token ids of texts without special tokens and without truncation.

    Texts are data: a ``</s>`` or ``[SEP]`` written in a review is left out, or it would end the
    premise. A lone surrogate, which no tokenizer takes, reads as U+FFFD.
    """
    if not texts:
        return []
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    # Fast, because it computes no offsets of tokens, which nothing here reads.
    encoded = backend.encode_batch_fast(
        [well_formed(text) for text in texts], add_special_tokens=False
    )
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    rows = (each.ids for each in encoded)
    return [
        ids if special.isdisjoint(ids) else [token for token in ids if token not in special]
        for ids in rows
    ]


def cleaner(tokenizer: Any, *, keep_offsets: bool = False) -> Callable[[str], str]:
    """What takes the special tokens out of a text, for tokenizers that are given whole inputs.

    Texts are data, as in :func:`encode`.

    Args:
        tokenizer: a Hugging Face tokenizer.
        keep_offsets: leave as many spaces as a token has characters, and not one.
    """
    unknown = tokenizer.unk_token
    special = [token for token in tokenizer.all_special_tokens if token != unknown]

    def clean(text: str) -> str:
        text = well_formed(text)
        for token in special:
            text = text.replace(token, " " * len(token) if keep_offsets else " ")
        return text

    return clean


def pair_layout(tokenizer: Any, *, name: str, pad: int | None = None) -> PairLayout:
    """Read the special tokens around a pair from the tokenizer itself, and check the result.

    Args:
        tokenizer: a fast Hugging Face tokenizer.
        name: the checkpoint's, for messages.
        pad: the model's padding token; None takes the tokenizer's.

    Raises:
        ModelError: pairs assembled from separately tokenised texts differ from the tokenizer's
            own, so this tokenizer cannot be used; or there is no padding token.
    """
    pad = tokenizer.pad_token_id if pad is None else pad
    if pad is None:
        raise ModelError(f"{name}: neither its config nor its tokenizer has a padding token")
    layout = _read_layout(tokenizer, *_PROBES[0], name=name)._replace(pad=int(pad))
    for premise, hypothesis in _PROBES:
        ours = _assembled(tokenizer, layout, premise, hypothesis)
        theirs = tokenizer(premise, hypothesis, return_token_type_ids=True)
        if ours != (theirs["input_ids"], theirs["token_type_ids"]):
            raise ModelError(
                f"{name}: its tokenizer encodes a pair differently from its two texts; "
                "use a checkpoint with a BERT-, RoBERTa- or DeBERTa-like tokenizer"
            )
    return layout


def _read_layout(tokenizer: Any, premise: str, hypothesis: str, *, name: str) -> PairLayout:
    pair = tokenizer(premise, hypothesis, return_token_type_ids=True)
    ids = np.asarray(pair["input_ids"], np.int64)
    kinds = np.asarray(pair["token_type_ids"], np.int64)
    owner = np.array([-1 if part is None else part for part in pair.sequence_ids()])
    first, second = np.flatnonzero(owner == 0), np.flatnonzero(owner == 1)
    if not (first.size and second.size):
        raise ModelError(f"{name}: its tokenizer gives no tokens for plain English")
    cuts = [0, first[0], first[-1] + 1, second[0], second[-1] + 1, len(ids)]
    parts = [slice(a, b) for a, b in pairwise(cuts)]
    types = [int(kinds[part][0]) if kinds[part].size else 0 for part in parts]
    return PairLayout(
        prefix=ids[parts[0]],
        middle=ids[parts[2]],
        suffix=ids[parts[4]],
        types=np.asarray(types, np.int64),
        pad=0,
        pad_type=int(getattr(tokenizer, "pad_token_type_id", 0) or 0),
    )


def _assembled(
    tokenizer: Any, layout: PairLayout, premise: str, hypothesis: str
) -> tuple[list[int], list[int]]:
    first, second = encode(tokenizer, [premise, hypothesis])
    tokens = np.asarray(first + second, np.int64)
    spans = np.asarray([[0, len(first), len(first), len(second)]], np.int64)
    batch = assemble(tokens, spans, layout)
    return batch.ids[0].tolist(), batch.types[0].tolist()


class BlockLayout(NamedTuple):
    """The special tokens around a single text, int64 each."""

    prefix: Ints
    suffix: Ints

    @property
    def special(self) -> int:
        """Number of special tokens in a block."""
        return len(self.prefix) + len(self.suffix)


def block_layout(tokenizer: Any, *, name: str) -> BlockLayout:
    """Read the special tokens around a single text from the tokenizer, and check the result.

    Args:
        tokenizer: a fast Hugging Face tokenizer.
        name: the checkpoint's, for messages.

    Raises:
        ModelError: there is no first token for a head to read, or a text between the special
            tokens is encoded differently from the text alone.
    """
    whole = tokenizer(_PROBES[0][0])["input_ids"]
    inner = encode(tokenizer, [_PROBES[0][0]])[0]
    before = next((n for n in range(len(whole)) if whole[n : n + len(inner)] == inner), 0)
    layout = BlockLayout(
        np.asarray(whole[:before], np.int64), np.asarray(whole[before + len(inner) :], np.int64)
    )
    texts = [text for pair in _PROBES for text in pair]
    ours = [[*layout.prefix, *ids, *layout.suffix] for ids in encode(tokenizer, texts)]
    if not before or ours != tokenizer(texts)["input_ids"]:
        raise ModelError(
            f"{name}: its tokenizer puts no fixed first token before a text, which premise-first "
            "attention reads; use a checkpoint with a BERT-like tokenizer"
        )
    return layout
