"""Weights in 8 bits, folded and unfolded."""

from __future__ import annotations

import pytest
import torch

from prevalence.models.eight_bit import pack_rows, unpack_rows


def test_a_block_has_16_columns_and_its_own_scale() -> None:
    """254 in the first block makes its steps 2, 127 in the second makes them 1: all are exact."""
    weight = torch.zeros(1, 32)
    weight[0, 0], weight[0, 1], weight[0, 16], weight[0, 17] = 254.0, -6.0, 127.0, 5.0
    packed = pack_rows({"w": weight, "bias": torch.tensor([0.3])})
    assert packed["w"].dtype == torch.int8
    assert packed["w"][0, [0, 1, 16, 17]].tolist() == [127, -3, 127, 5]
    assert packed["w.scales"].tolist() == [[2.0, 1.0]]
    back = unpack_rows(packed)
    assert torch.equal(back["w"], weight)
    assert back.keys() == {"w", "bias"}
    assert back["bias"].item() == pytest.approx(0.3)


def test_a_row_is_one_block_where_16_does_not_divide_it() -> None:
    packed = pack_rows({"w": torch.tensor([[127.0, -1.0, 64.0], [0.0, 0.0, 0.0]])})
    assert packed["w.scales"].shape == (2, 1)
    assert unpack_rows(packed)["w"].tolist() == [[127.0, -1.0, 64.0], [0.0, 0.0, 0.0]]


def test_fewer_columns_that_share_a_scale_are_more_exact() -> None:
    weight = torch.randn(8, 64, generator=torch.Generator().manual_seed(0))
    errors = []
    for block in (16, 32, 64):
        packed = pack_rows({"w": weight}, block)
        assert packed["w.scales"].shape == (8, 64 // block)
        errors.append((unpack_rows(packed)["w"] - weight).square().mean().item())
    assert errors == sorted(errors)
    assert errors[0] < errors[-1]


@pytest.mark.parametrize("size", [8, 32, 64])
def test_blocks_of_another_size_are_unfolded(size: int) -> None:
    """The number of scales says how long a block is."""
    steps = torch.ones(2, 64, dtype=torch.int8)
    scales = torch.arange(1, 2 * (64 // size) + 1, dtype=torch.float16).view(2, -1)
    back = unpack_rows({"w": steps, "w.scales": scales})["w"]
    assert torch.equal(back, scales.float().repeat_interleave(size, dim=1))
