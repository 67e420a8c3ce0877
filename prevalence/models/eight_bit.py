"""Weights in 8 bits: each row of a matrix is stored as int8, with float16 scales for its blocks.

A block w is stored as round(w / s), where s is the one of a few scales near max |w| / 127 that
moves the block least, rounded to float16. Everything is computed in the precision that the caller
asks for: blocks are unfolded when a checkpoint is opened. Vectors (biases, norms) stay in float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torch import Tensor

__all__ = ["folded_weights", "pack_rows", "unpack_rows"]

_SCALE = ".scales"
_STEPS = 127
_SHARES = (1.0, 0.97, 0.94, 0.91, 0.88)
"""Of the scale that holds the largest weight: what lies above is cut, and the rest finer."""


def pack_rows(weights: Mapping[str, Tensor], block: int = 16) -> dict[str, Tensor]:
    """Fold the matrices of a state dict into int8 rows.

    Args:
        weights: float tensors by name.
        block: columns that share a scale.

    Returns:
        For a matrix [r, c] int8 [r, c] under its name and float16 [r, blocks] under its name with
        ``.scales``, where a block is the row where ``block`` does not divide it; other float
        tensors in float32; everything else as it is.
    """
    packed: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.ndim == 2 and weight.is_floating_point():
            packed[name], packed[name + _SCALE] = _folded(weight.float(), block)
        else:
            kept = weight.float() if weight.is_floating_point() else weight
            packed[name] = kept.contiguous()
    return packed


def _folded(weight: Tensor, block: int) -> tuple[Tensor, Tensor]:
    """A matrix as int8, and the scales of its blocks."""
    import torch

    columns = weight.shape[1]
    blocks = _blocks(weight, columns if columns % block else block)
    widest = blocks.abs().amax(dim=2) / _STEPS
    best, steps, scales = torch.full_like(widest, torch.inf), blocks, widest
    for share in _SHARES:
        scale = (widest * share).half().float().clamp(min=torch.finfo(torch.float16).tiny)
        tried = (blocks / scale[..., None]).round().clamp(-_STEPS, _STEPS)
        moved = (tried * scale[..., None] - blocks).square().sum(dim=2)
        better = moved < best
        best = torch.where(better, moved, best)
        steps = torch.where(better[..., None], tried, steps)
        scales = torch.where(better, scale, scales)
    return steps.to(torch.int8).view(weight.shape).contiguous(), scales.half().contiguous()


def _blocks(matrix: Tensor, size: int) -> Tensor:
    """[r, c] as [r, blocks, columns of a block]."""
    rows, columns = matrix.shape
    return matrix.reshape(rows, columns // size, size)


def unpack_rows(packed: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The state dict in float32 that :func:`pack_rows` has folded, with blocks of any size."""
    return {
        name: _unfolded(tensor, packed[name + _SCALE]) if name + _SCALE in packed else tensor
        for name, tensor in packed.items()
        if not name.endswith(_SCALE)
    }


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
