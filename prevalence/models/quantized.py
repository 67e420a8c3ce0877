"""Weights in 8 or 4 bits: each row of a matrix is cut into blocks that share a float16 scale.

In 8 bits a block w is stored as round(w / s) from -127 to 127, where s is the one of a few scales
near max |w| / 127 that moves the block least. In 4 bits it is stored from -8 to 7, two weights a
byte; s is chosen so that the weight of the largest magnitude is at -8, and may be negative.
Everything is computed in the precision that the caller asks for: blocks are unfolded when a
checkpoint is opened. Vectors (biases, norms) stay in float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torch import Tensor

__all__ = ["folded_weights", "pack_rows", "rounded", "unpack_rows"]

_SCALE = ".scales"
_STEPS = 127
_SHARES = (1.0, 0.97, 0.94, 0.91, 0.88)
"""Of the scale that holds the largest weight: what lies above is cut, and the rest finer."""
_LOWEST, _HIGHEST = -8, 7
_NARROW = 16
"""Matrices of fewer rows or columns, such as the last one of a head, are not worth 4 bits."""


def pack_rows(
    weights: Mapping[str, Tensor], *, bits: int = 8, block: int = 16
) -> dict[str, Tensor]:
    """Fold the matrices of a state dict.

    Args:
        weights: float tensors by name.
        bits: of a weight, 8 or 4; narrow matrices stay in 8.
        block: columns that share a scale.

    Returns:
        For a matrix [r, c] int8 [r, c], or in 4 bits uint8 [r, c / 2], under its name and float16
        [r, blocks] under its name with ``.scales``, where a block is the row where ``block`` does
        not divide it; other float tensors in float32; everything else as it is.
    """
    packed: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.ndim == 2 and weight.is_floating_point():
            steps, scales = _folded(weight.float(), bits, block)
            packed[name] = _paired(steps) if _four(weight, bits) else steps
            packed[name + _SCALE] = scales.half()
        else:
            kept = weight.float() if weight.is_floating_point() else weight
            packed[name] = kept.contiguous()
    return packed


def rounded(weight: Tensor, *, bits: int, block: int) -> Tensor:
    """A matrix [r, c] as :func:`unpack_rows` gives it back; what is no matrix stays as it is."""
    if weight.ndim != 2:
        return weight
    return _unfolded(*_folded(weight.float(), bits, block))


def _four(weight: Tensor, bits: int) -> bool:
    return bits == 4 and min(weight.shape) >= _NARROW and weight.shape[1] % 2 == 0


def _folded(weight: Tensor, bits: int, block: int) -> tuple[Tensor, Tensor]:
    """A matrix in steps, int8 [r, c], and the scales of its blocks, float32 [r, blocks]."""
    import torch

    columns = weight.shape[1]
    blocks = _blocks(weight, columns if columns % block else block)
    steps, scales = (_in_four if _four(weight, bits) else _in_eight)(blocks)
    return steps.to(torch.int8).view(weight.shape), scales


def _in_four(blocks: Tensor) -> tuple[Tensor, Tensor]:
    import torch

    high, low = blocks.amax(dim=2), blocks.amin(dim=2)
    scales = _stored(torch.where(high > -low, high, low) / _LOWEST)
    return (blocks / scales[..., None]).round_().clamp_(_LOWEST, _HIGHEST), scales


def _in_eight(blocks: Tensor) -> tuple[Tensor, Tensor]:
    import torch

    widest = blocks.abs().amax(dim=2) / _STEPS
    best, steps, scales = torch.full_like(widest, torch.inf), blocks, widest
    for share in _SHARES:
        scale = _stored(widest * share)
        tried = (blocks / scale[..., None]).round().clamp(-_STEPS, _STEPS)
        moved = (tried * scale[..., None] - blocks).square().sum(dim=2)
        better = moved < best
        best = torch.where(better, moved, best)
        steps = torch.where(better[..., None], tried, steps)
        scales = torch.where(better, scale, scales)
    return steps, scales


def _stored(scales: Tensor) -> Tensor:
    """Scales as float16 holds them, in float32; those too small to be one are the least."""
    import torch

    least = torch.finfo(torch.float16).tiny
    kept = scales.half().float()
    return torch.where(kept.abs() < least, least, kept)


def _paired(steps: Tensor) -> Tensor:
    """Steps of 4 bits, two a byte: of an even column the lower half, of the next one the upper."""
    import torch

    halves = (steps - _LOWEST).to(torch.uint8)
    return halves[:, ::2] | (halves[:, 1::2] << 4)


def _apart(pairs: Tensor) -> Tensor:
    """What :func:`_paired` has put together, int8."""
    import torch

    halves = torch.stack([pairs & 15, pairs >> 4], dim=2).flatten(1)
    return halves.to(torch.int8) + _LOWEST


def _blocks(matrix: Tensor, size: int) -> Tensor:
    """[r, c] as [r, blocks, columns of a block]."""
    rows, columns = matrix.shape
    return matrix.reshape(rows, columns // size, size)


def unpack_rows(packed: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The state dict in float32 that :func:`pack_rows` has folded, with blocks of any size."""
    return {
        name: _opened(tensor, packed[name + _SCALE]) if name + _SCALE in packed else tensor
        for name, tensor in packed.items()
        if not name.endswith(_SCALE)
    }


def _opened(stored: Tensor, scales: Tensor) -> Tensor:
    import torch

    return _unfolded(_apart(stored) if stored.dtype == torch.uint8 else stored, scales)


def _unfolded(steps: Tensor, scales: Tensor) -> Tensor:
    size = steps.shape[1] // scales.shape[1]
    return (_blocks(steps, size).float() * scales.float()[..., None]).view(steps.shape)


def folded_weights(folder: Path) -> dict[str, Tensor] | None:
    """The unfolded weights of a folder whose matrices :func:`pack_rows` has folded.

    Args:
        folder: a checkpoint with safetensors.

    Returns:
        A state dict in float32, or None where the weights are stored as they are.
    """
    from safetensors import safe_open
    from safetensors.torch import load_file

    file = folder / "model.safetensors"
    if not file.is_file():
        return None
    with safe_open(file, framework="pt") as found:
        folded = any(name.endswith(_SCALE) for name in found.keys())  # noqa: SIM118
    return unpack_rows(load_file(file)) if folded else None
