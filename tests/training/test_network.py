"""Rows of premises with their hypotheses against the packed pass that scoring uses."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    MPNetConfig,
    MPNetForSequenceClassification,
)

from prevalence.nli.packed import PackedClassifier
from prevalence.nli.premise_first import pack, placed
from prevalence.nli.tokens import BlockLayout
from prevalence.training.network import RowClassifier, lay_out

LAYOUT = BlockLayout(np.array([2]), np.array([3]))
SIZES: dict[str, Any] = {
    "vocab_size": 40, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 2,
    "intermediate_size": 32, "max_position_embeddings": 40, "num_labels": 3,
    "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
}  # fmt: skip


def model_of(kind: str, pooling: str = "first", *, sharp: float = 1.0) -> Any:
    """A random classifier in float64; ``sharp`` multiplies queries and keys."""
    torch.manual_seed(1)
    model: Any = (
        BertForSequenceClassification(BertConfig(**SIZES, initializer_range=0.3))
        if kind == "bert"
        else MPNetForSequenceClassification(MPNetConfig(**SIZES, initializer_range=0.3))
    )
    model.config.prevalence_pooling = pooling
    for name, parameter in model.named_parameters():
        if name.endswith(("query.weight", "key.weight", "attn.q.weight", "attn.k.weight")):
            parameter.data *= sharp
    return model.double().train()


def texts_of(units: list[list[int]]) -> tuple[Any, list[Any]]:
    """Random tokens for texts of these lengths, and their spans by unit."""
    lengths = np.array([length for unit in units for length in unit])
    starts = np.cumsum(lengths) - lengths
    spans = np.split(np.stack([starts, lengths], 1), np.cumsum([len(unit) for unit in units])[:-1])
    return np.random.default_rng(2).integers(4, 40, size=int(lengths.sum())), spans


def both(model: Any, units: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits by rows, and by the packed pass."""
    tokens, spans = texts_of(units)
    pairs = np.concatenate(
        [np.hstack([np.repeat(unit[:1], len(unit) - 1, axis=0), unit[1:]]) for unit in spans]
    )
    rows = RowClassifier(model)(lay_out(tokens, spans, LAYOUT))
    return rows, PackedClassifier(model)(placed(pack(tokens, pairs, LAYOUT), torch.device("cpu")))


def looped(tokens: Any, spans: list[Any], layout: BlockLayout) -> dict[str, list[list[int]]]:
    """The grids of rows, token by token."""
    grids: dict[str, list[list[int]]] = {
        name: [[] for _ in spans] for name in ("ids", "positions", "distances", "types", "known")
    }
    firsts: list[list[int]] = []
    for row, unit in enumerate(spans):
        for number, (start, length) in enumerate(unit.tolist()):
            text = [*layout.prefix, *tokens[start : start + length], *layout.suffix]
            follows = len(grids["known"][row]) if number else 0
            if number:
                firsts.append([row, len(grids["ids"][row])])
            else:
                grids["known"][row] = [1] * len(text)
            grids["ids"][row] += text
            grids["positions"][row] += range(len(text))
            grids["distances"][row] += range(follows, follows + len(text))
            grids["types"][row] += [int(number > 0)] * len(text)
    for name, rows in grids.items():
        width = max(map(len, rows))
        grids[name] = [row + [0] * (width - len(row)) for row in rows]
    return {**grids, "firsts": firsts}


UNITS = st.lists(
    st.lists(st.integers(1, 18), min_size=2, max_size=9), min_size=1, max_size=5
)  # fmt: skip


@pytest.mark.parametrize(("prefix", "suffix"), [([2], [3]), ([2, 7], [3, 5, 6]), ([2], [])])
@settings(max_examples=50)
@given(units=st.lists(st.lists(st.integers(0, 12), min_size=2, max_size=9), min_size=1, max_size=5))
def test_rows_are_laid_out_as_token_by_token(
    prefix: list[int], suffix: list[int], units: list[list[int]]
) -> None:
    layout = BlockLayout(np.array(prefix, np.int64), np.array(suffix, np.int64))
    tokens, spans = texts_of(units)
    rows, expected = lay_out(tokens, spans, layout), looped(tokens, spans, layout)
    width = rows.ids.shape[1]
    assert rows.firsts.tolist() == [row * width + place for row, place in expected.pop("firsts")]
    assert {name: getattr(rows, name).tolist() for name in expected} == expected
    members = torch.cat([block.members for block in rows.blocks]).tolist()
    assert sorted(members) == list(range(len(rows.firsts)))


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
@pytest.mark.parametrize("pooling", ["first", "mean"])
@settings(max_examples=15)
@given(units=UNITS)
def test_rows_answer_as_the_packed_pass_does(
    kind: str, pooling: str, units: list[list[int]]
) -> None:
    found, expected = both(model_of(kind, pooling), units)
    # The packed pass takes its softmax in float32.
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_fewer_blocks_for_a_gpu_give_the_same_answers(kind: str) -> None:
    model = model_of(kind)
    tokens, spans = texts_of([[9, *range(1, 9)], [3, 2], [17, 5, 5, 12, 1, *range(14, 3, -1)]])
    many, few = (lay_out(tokens, spans, LAYOUT, device=device) for device in ("cpu", "cuda"))
    assert (len(many.blocks), len(few.blocks)) == (3, 2)
    found = [RowClassifier(model)(rows) for rows in (many, few)]
    torch.testing.assert_close(found[1], found[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_gradients_are_those_of_the_packed_pass(kind: str, pooling: str) -> None:
    model = model_of(kind, pooling)
    turned = torch.tensor([1.0, 0.5, -2.0], dtype=torch.float64)
    found = []
    units = [[9, *range(1, 9)], [3, 2], [17, 5, 5, 12, 1, *range(14, 3, -1)]]
    tokens, spans = texts_of(units)
    assert len(lay_out(tokens, spans, LAYOUT).blocks) == 3
    for logits in both(model, units):
        model.zero_grad()
        (torch.log_softmax(logits, -1) * turned).sum().backward(retain_graph=True)
        found.append({n: p.grad for n, p in model.named_parameters() if p.grad is not None})
    ours, theirs = found
    # A bias by distance is a constant in rows.
    assert theirs.keys() - ours.keys() <= {"mpnet.encoder.relative_attention_bias.weight"}
    for name, gradient in ours.items():
        torch.testing.assert_close(gradient, theirs[name], rtol=1e-4, atol=1e-5, msg=name)


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_sharp_attention_is_finite_and_right_while_scores_are_in_range(kind: str) -> None:
    units = [[18, 3, 9, 9], [2, 11]]
    found, expected = both(model_of(kind, sharp=1.5).float(), units)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-3)
    # Scores in the thousands, which no trained encoder has.
    model = model_of(kind, sharp=100.0).float()
    found, _ = both(model, units)
    assert torch.isfinite(found).all()
    found.sum().backward()
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in model.parameters())


def test_hypotheses_beside_a_hypothesis_and_padding_change_nothing() -> None:
    model = model_of("bert")
    alone, _ = both(model, [[7, 5]])
    tokens, spans = texts_of([[7, 5]])
    longer = np.concatenate([tokens, np.arange(4, 30)])
    other = np.array([[12, 20], [14, 6], [12, 9]])
    beside = RowClassifier(model)(
        lay_out(longer, [other, np.concatenate([spans[0], other[1:]])], LAYOUT)
    )
    torch.testing.assert_close(beside[2], alone[0], rtol=0, atol=1e-9)
