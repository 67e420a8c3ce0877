"""The last layer at the first position only: which models get it, and that nothing changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from prevalence.models.checkpoint import load_checkpoint
from prevalence.nli.first_token import FirstTokenLayer, read_first_token_only

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _inputs(model: Any, *, padded: bool) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    ids = torch.randint(5, model.config.vocab_size, (3, 12), generator=generator)
    mask = torch.ones_like(ids)
    if padded:
        mask[1, 7:] = 0
        mask[2, 3:] = 0
        ids[mask == 0] = model.config.pad_token_id
    return {"input_ids": ids, "attention_mask": mask}


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_logits_stay_the_same(family: str, padded: bool, checkpoint: Callable[..., Path]) -> None:
    model = load_checkpoint(str(checkpoint(family))).model
    inputs = _inputs(model, padded=padded)
    with torch.inference_mode():
        before = model(**inputs).logits
        assert read_first_token_only(model)
        after = model(**inputs).logits
    torch.testing.assert_close(after, before, rtol=1e-6, atol=1e-5)


def test_the_last_layer_works_on_one_position(checkpoint: Callable[..., Path]) -> None:
    model = load_checkpoint(str(checkpoint("bert"))).model
    read_first_token_only(model)
    seen = []
    layers = model.bert.encoder.layer
    assert [isinstance(layer, FirstTokenLayer) for layer in layers][-2:] == [False, True]
    layers[-1].layer.intermediate.register_forward_hook(
        lambda _module, _inputs, output: seen.append(tuple(output.shape[:2]))
    )
    with torch.inference_mode():
        model(**_inputs(model, padded=True))
    assert seen == [(3, 1)]


@pytest.mark.parametrize("family", ["deberta-v2", "bart", "gpt2"])
def test_other_architectures_are_left_alone(family: str, checkpoint: Callable[..., Path]) -> None:
    model = load_checkpoint(str(checkpoint(family))).model
    assert not read_first_token_only(model)


def test_another_attention_is_left_alone(checkpoint: Callable[..., Path]) -> None:
    model = load_checkpoint(str(checkpoint("bert"))).model
    model.config._attn_implementation = "eager"
    assert not read_first_token_only(model)
