"""Weights in 8 and 4 bits, folded and unfolded."""

from __future__ import annotations

import pytest
import torch

from prevalence.models.quantized import pack_rows, rounded, unpack_rows


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
        packed = pack_rows({"w": weight}, block=block)
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


def test_4_bits_hold_steps_from_minus_8_to_7_two_a_byte() -> None:
    """In a block whose largest weight is 4, a step is −.5; where it is −8, a step is 1."""
    weight = torch.zeros(512, 128)
    weight[0, :3] = torch.tensor([4.0, -3.5, 0.5])
    weight[0, 64:67] = torch.tensor([-8.0, 7.0, -3.0])
    packed = pack_rows({"w": weight}, bits=4, block=64)
    assert packed["w"].dtype == torch.uint8
    assert packed["w"].shape == (512, 64)
    assert packed["w.scales"][0].tolist() == [-0.5, 1.0]
    assert packed["w"][0, :2].tolist() == [(7 + 8) * 16 + 0, 8 * 16 + (8 - 1)]
    assert torch.equal(unpack_rows(packed)["w"], weight)


def test_narrow_matrices_stay_in_8_bits() -> None:
    packed = pack_rows({"head": torch.ones(3, 768), "odd": torch.ones(5_000, 1)}, bits=4)
    assert {tensor.dtype for name, tensor in packed.items() if "scales" not in name} == {torch.int8}


@pytest.mark.parametrize("bits", [4, 8])
def test_rounded_is_what_is_read_back_and_stays_so(bits: int) -> None:
    weight = torch.randn(1024, 96, generator=torch.Generator().manual_seed(1)) * 0.05
    weight[5] = 0.0
    back = unpack_rows(pack_rows({"w": weight}, bits=bits, block=32))["w"]
    once = rounded(weight, bits=bits, block=32)
    assert torch.equal(back, once)
    assert torch.equal(back[5], torch.zeros(96))
    error = (back - weight).square().mean() / weight.square().mean()
    assert error < (0.012 if bits == 4 else 0.0001)
    torch.testing.assert_close(rounded(once, bits=bits, block=32), once, rtol=2e-3, atol=0)
    vector = torch.tensor([0.1, 0.2])
    assert rounded(vector, bits=bits, block=32) is vector
