"""DeBERTa on packed rows, against Hugging Face's own encoder on one sequence at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    DebertaConfig,
    DebertaForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
)

from prevalence.errors import ModelError
from prevalence.kernels.packing import PackedPairs
from prevalence.nli.disentangled import DisentangledEncoder, projections_of
from prevalence.nli.scorer import NLIScorer

LONGEST = 40
TOLERANCE = 1e-5
"""Transformers computes scales, and the first DeBERTa's norms, in float32 even in a wider model."""
BOTH = ["c2p", "p2c"]
V2 = {"relative_attention": True, "pos_att_type": BOTH, "position_buckets": 8}
SHARED = {**V2, "share_att_key": True, "norm_rel_ebd": "layer_norm"}
MODELS: dict[str, tuple[type, type, dict[str, Any]]] = {
    name: (DebertaV2Config, DebertaV2ForSequenceClassification, more)
    for name, more in {
        "v3": {**SHARED, "position_biased_input": False, "type_vocab_size": 0},
        "v3, near distances": {**SHARED, "position_buckets": 256},
        "v2, without buckets": {**SHARED, "position_buckets": -1},
        "v2, a short span": {**SHARED, "position_buckets": -1, "max_relative_positions": 6},
        "v2, projections for distances": V2,
        "v2, c2p": {**V2, "pos_att_type": ["c2p"]},
        "v2, p2c": {**SHARED, "pos_att_type": ["p2c"]},
        "v2, neither": {**SHARED, "pos_att_type": []},
        "v2, as checkpoints write it": {**SHARED, "pos_att_type": "p2c|c2p"},
        "v2, buckets over a short span": {**SHARED, "max_relative_positions": 20},
        "v2, no distances": {"relative_attention": False, "pos_att_type": BOTH},
        "v2, narrow embeddings": {**SHARED, "embedding_size": 8, "type_vocab_size": 2},
    }.items()
} | {
    name: (DebertaConfig, DebertaForSequenceClassification, more)
    for name, more in {
        "v1": {"relative_attention": True, "pos_att_type": BOTH},
        "v1, a short span": {
            "relative_attention": True, "pos_att_type": BOTH, "max_relative_positions": 6,
        },
        "v1, as checkpoints write it": {
            "relative_attention": True, "pos_att_type": "c2p|p2c", "max_relative_positions": -1,
            "position_biased_input": False, "type_vocab_size": 0,
        },
        "v1, three terms": {"relative_attention": True, "pos_att_type": ["c2p", "p2c", "p2p"]},
        "v1, p2c": {"relative_attention": True, "pos_att_type": ["p2c"]},
        "v1, narrow embeddings": {
            "relative_attention": True, "pos_att_type": BOTH, "embedding_size": 8,
        },
        "v1, c2p": {"relative_attention": True, "pos_att_type": ["c2p"]},
        "v1, no distances": {"relative_attention": False, "pos_att_type": BOTH},
    }.items()
}  # fmt: skip


def _model(name: str) -> Any:
    config, network, more = MODELS[name]
    torch.manual_seed(5)
    small = config(
        vocab_size=50, hidden_size=24, num_hidden_layers=3, num_attention_heads=3,
        intermediate_size=32, max_position_embeddings=64, initializer_range=0.5,
        pooler_hidden_size=24, **more,
    )  # fmt: skip
    model = network(small).eval()
    # Biases and norms start as zeros and ones, which would hide one that was left out.
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 1:
                weight.add_(0.3 * torch.randn_like(weight))
    return model.double()


def _rows(lengths: list[int], seed: int = 0) -> PackedPairs:
    rng = np.random.default_rng(seed)
    size = sum(lengths)
    along = np.concatenate([np.arange(length) for length in lengths])
    ids, types = rng.integers(3, 50, size), (along > 3).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return PackedPairs(*(torch.from_numpy(part) for part in (ids, types, along, starts)))


def _one_by_one(model: Any, rows: PackedPairs) -> torch.Tensor:
    """First states by the model itself, a sequence a call."""
    uses_types = model.config.type_vocab_size > 1
    found = []
    for begin, end in zip(rows.starts[:-1].tolist(), rows.starts[1:].tolist(), strict=True):
        part = slice(begin, end)
        types = rows.types[None, part] if uses_types else None
        states = model.base_model(input_ids=rows.ids[None, part], token_type_ids=types)
        found.append(states.last_hidden_state[0, 0])
    return torch.stack(found)


def _states(model: Any, rows: PackedPairs, lengths: list[int]) -> torch.Tensor:
    if model.config.type_vocab_size < 2:
        rows = rows._replace(types=torch.zeros_like(rows.types))
    return DisentangledEncoder(model, LONGEST, "tiny")(rows, np.array(lengths))


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model(name: str) -> None:
    model, lengths = _model(name), [40, 33, 21, 20, 20, 9, 2, 1]
    rows = _rows(lengths)
    with torch.inference_mode():
        found, expected = _states(model, rows, lengths), _one_by_one(model, rows)
    torch.testing.assert_close(found, expected, rtol=0, atol=TOLERANCE)
    assert found.std(0).min() > 0.01  # the sequences have states of their own


@settings(max_examples=25)
@given(
    lengths=st.lists(st.integers(1, LONGEST), min_size=1, max_size=9),
    name=st.sampled_from(["v3", "v1"]),
)
def test_any_lengths_in_any_order(lengths: list[int], name: str) -> None:
    model, rows = _model(name), _rows(lengths, seed=len(lengths))
    with torch.inference_mode():
        found, expected = _states(model, rows, lengths), _one_by_one(model, rows)
    torch.testing.assert_close(found, expected, rtol=0, atol=TOLERANCE)


def test_blocks_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With little room for scores the same comes of more and smaller blocks."""
    model, lengths = _model("v3"), [30] * 7 + [17] * 3
    rows, seen = _rows(lengths), []
    usual = torch.nn.functional.scaled_dot_product_attention

    def noted(query: torch.Tensor, key: torch.Tensor, *given: Any, **more: Any) -> torch.Tensor:
        seen.append((key.shape[0], key.shape[2]))
        return usual(query, key, *given, **more)

    rows = rows._replace(types=torch.zeros_like(rows.types))
    encoder = DisentangledEncoder(model, LONGEST, "tiny", area=2 * 30 * 30)
    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", noted)
    with torch.inference_mode():
        found, expected = encoder(rows, np.array(lengths)), _one_by_one(model, rows)
    torch.testing.assert_close(found, expected, rtol=0, atol=TOLERANCE)
    assert max(count for count, _ in seen) <= 6
    assert all(count * length**2 <= 2 * 30 * 30 for count, length in seen)


def test_distances_have_the_models_own_buckets() -> None:
    """Each distance finds the row that the model's code looks up for it."""
    from transformers.models.deberta_v2.modeling_deberta_v2 import build_relative_position

    model = _model("v3")
    attention = model.deberta.encoder.layer[0].attention.self
    places = torch.zeros(1, 60, 4)
    own = build_relative_position(places, places, bucket_size=8, max_position=64)[0]
    away = torch.arange(60)[:, None] - torch.arange(60)
    found = projections_of(attention).row_of(away, 8)
    assert torch.equal(found, (own + 8).clamp(0, 15))
    assert found.unique().tolist() == list(range(1, 16))  # far distances share a row


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_stays_near(dtype: torch.dtype) -> None:
    lengths = [20, 12, 7]
    rows = _rows(lengths)
    with torch.inference_mode():
        exact = _one_by_one(_model("v3"), rows)
        found = _states(_model("v3").to(dtype), rows, lengths)
    assert found.dtype == dtype
    assert (found.double() - exact).abs().max() < (0.02 if dtype == torch.float16 else 0.15)


_OF_DISTANCES = {"v3": "disentangled_attention_bias", "v1": "disentangled_att_bias"}
"""What transformers adds to scores for distances, by model."""


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("change", [None, torch.zeros_like, lambda scores: scores.flip(-1)])
@pytest.mark.parametrize("name", ["v3", "v1"])
def test_another_version_of_the_model_is_noticed(
    name: str, change: Any, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even with small weights, where attention decides little, and whatever the precision."""
    model = _model(name).to(dtype)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2:
                weight.mul_(0.02 / 0.5)
    if change is None:
        DisentangledEncoder(model, LONGEST, "tiny")
        return
    attention = type(model.base_model.encoder.layer[0].attention.self)
    usual = getattr(attention, _OF_DISTANCES[name])
    monkeypatch.setattr(
        attention, _OF_DISTANCES[name], lambda *given, **more: change(usual(*given, **more))
    )
    with pytest.raises(ModelError, match=r"another way \(states differ by .*padded .packing="):
        DisentangledEncoder(model, LONGEST, "tiny")


def test_a_model_with_other_parts_is_refused_in_one_line() -> None:
    model = _model("v3")
    del model.deberta.encoder.layer[0].attention.output
    with pytest.raises(ModelError, match=r"another way \(.*no attribute 'output'\)"):
        DisentangledEncoder(model, LONGEST, "tiny")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("family", ["deberta", "deberta-v2"])
def test_half_precision_is_within_twice_the_error_of_padded(
    family: str, dtype: str, checkpoint: Any, pairs: Any, number: Any
) -> None:
    folder, few = str(checkpoint(family)), number(pairs)
    exact = NLIScorer(folder, device="cpu", packing="padded").score(*few).entailment
    errors = [
        np.abs(
            NLIScorer(folder, device="cpu", dtype=dtype, packing=how).score(*few).entailment - exact
        ).mean()
        for how in ("packed", "padded")
    ]
    assert errors[0] <= 2 * errors[1] + 1e-3
