"""Premise-first scoring on MPNet against a pass over explicit distances, pair by pair."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from prevalence.errors import ModelError
from prevalence.models.checkpoint import load_checkpoint
from prevalence.nli.packed import BertFamily, MpnetFamily, family_of
from prevalence.nli.pairs import FLAG_TRUNCATED
from prevalence.nli.scorer import NLIScorer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from prevalence.nli.pairs import TextTable

    Pairs = Sequence[tuple[str, str]]
    Number = Callable[[Pairs], tuple[TextTable, np.ndarray]]

PREMISE = 40


@pytest.fixture
def folder(altered: Callable[..., Path]) -> Path:
    return altered(
        "mpnet", "config.json", prevalence_attention="premise-first", prevalence_max_length=PREMISE
    )


def bucket(distance: int) -> int:
    """MPNet's 32 buckets: 8 single distances each way, then logarithmic ones up to 128."""
    side = 16 if distance > 0 else 0
    size = abs(distance)
    if size < 8:
        return side + size
    return side + min(15, 8 + int(math.log(size / 8) / math.log(128 / 8) * 8))


def attend(model: Any, layer: Any, states: torch.Tensor, read: torch.Tensor, at: int) -> Any:
    """One layer's attention of states that begin at a place, to everything read from place 0."""
    attention = layer.attention.attn
    table = model.mpnet.encoder.relative_attention_bias.weight
    places = [[bucket(k - (at + q)) for k in range(len(read))] for q in range(len(states))]
    bias = table[torch.tensor(places)]
    heads = []
    for head, (q, k, v) in enumerate(
        zip(
            attention.q(states).chunk(2, -1),
            attention.k(read).chunk(2, -1),
            attention.v(read).chunk(2, -1),
            strict=True,
        )
    ):
        scores = q @ k.T / math.sqrt(q.shape[-1]) + bias[..., head]
        heads.append(scores.softmax(-1) @ v)
    hidden = layer.attention.LayerNorm(attention.o(torch.cat(heads, -1)) + states)
    return layer.output(layer.intermediate(hidden), hidden)


def naive(checkpoint: Any, premise: str, hypothesis: str) -> np.ndarray:
    """Probabilities of one pair: the hypothesis comes right after the premise, positions anew."""
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    ids = [
        tokenizer(text, truncation=True, max_length=PREMISE)["input_ids"]
        for text in (premise, hypothesis)
    ]
    embeddings = model.mpnet.embeddings
    first, second = (
        embeddings.LayerNorm(
            embeddings.word_embeddings.weight[part]
            + embeddings.position_embeddings.weight[2 : 2 + len(part)]
        )
        for part in ids
    )
    for layer in model.mpnet.encoder.layer:
        second = attend(model, layer, second, torch.cat([first, second]), len(first))
        first = attend(model, layer, first, first, 0)
    head = model.classifier
    return head.out_proj(torch.tanh(head.dense(second[0]))).softmax(0).numpy()


@pytest.mark.parity
def test_mpnet_equals_a_naive_pass_pair_by_pair(folder: Path, pairs: Pairs, number: Number) -> None:
    checkpoint = load_checkpoint(str(folder))
    with torch.inference_mode():
        expected = np.stack([naive(checkpoint, *pair) for pair in pairs])
    assert np.ptp(expected, axis=0).max() > 0.1
    scorer = NLIScorer(str(folder), device="cpu", batch_tokens=300)
    found = scorer.score(*number(pairs))
    np.testing.assert_allclose(found.entailment, expected[:, 2], rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.contradiction, expected[:, 0], rtol=0, atol=1e-5)
    assert set(found.flags.tolist()) == {0, FLAG_TRUNCATED}
    rows = np.array([5, 3, 30])
    table, numbers = number(pairs)
    again = scorer.score(table, numbers[rows])
    np.testing.assert_allclose(again.entailment, expected[rows, 2], rtol=0, atol=1e-5)


def test_families_by_model(checkpoint: Callable[..., Path]) -> None:
    kinds = [family_of(load_checkpoint(str(checkpoint(name))).model) for name in ("bert", "mpnet")]
    assert [type(kind) for kind in kinds] == [BertFamily, MpnetFamily]
    assert [kind.relative for kind in kinds] == [False, True]
    places = torch.arange(3)
    assert not kinds[0].bias(places[:, None], places).any()
    assert kinds[1].bias(places[:, None], places).shape == (2, 3, 3)
    other = SimpleNamespace(config=SimpleNamespace(model_type="gpt2"))
    with pytest.raises(ModelError, match="is for bert and mpnet classifiers, not gpt2"):
        family_of(other)
