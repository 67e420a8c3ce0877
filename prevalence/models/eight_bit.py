"""Weights in 8 bits: each row of a matrix is stored as int8 with one float32 scale.

A row w is stored as round(w / s) with s = max |w| / 127, so that no weight moves by more than s/2.
Everything is computed in the precision that the caller asks for: the rows are unfolded when a
checkpoint is opened. Vectors (biases, norms) stay in float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torch import Tensor

__all__ = ["folded_weights", "pack_rows", "unpack_rows"]

_SCALE = ".row_scale"
_STEPS = 127


def pack_rows(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Fold the matrices of a state dict into int8 rows.

    Args:
        weights: float tensors by name.

    Returns:
        For a matrix [r, c] int8 [r, c] under its name and float32 [r] under its name with
        ``.row_scale``; other float tensors in float32; everything else as it is.
    """
    import torch

    packed: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.ndim != 2 or not weight.is_floating_point():
            kept = weight.float() if weight.is_floating_point() else weight
            packed[name] = kept.contiguous()
            continue
        exact = weight.float()
        scale = exact.abs().amax(dim=1) / _STEPS
        steps = exact / scale.clamp(min=torch.finfo(torch.float32).tiny)[:, None]
        packed[name] = steps.round().to(torch.int8).contiguous()
        packed[name + _SCALE] = scale
    return packed


def unpack_rows(packed: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The state dict in float32 that :func:`pack_rows` has folded."""
    return {
        name: tensor.float() * packed[name + _SCALE][:, None] if name + _SCALE in packed else tensor
        for name, tensor in packed.items()
        if not name.endswith(_SCALE)
    }


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
