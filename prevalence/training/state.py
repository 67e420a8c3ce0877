"""Resumable training state in one safetensors file: no pickle anywhere."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from prevalence.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = [
    "load_parts",
    "load_tensors",
    "load_weights",
    "optimizer_tensors",
    "random_tensors",
    "restore_optimizer",
    "restore_random",
    "save_parts",
    "save_tensors",
    "trainable_weights",
]


def save_tensors(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Write tensors and JSON facts to a file in one move, so that a crash leaves the old file.

    Args:
        path: target file.
        tensors: named tensors.
        facts: JSON-serialisable values, kept in the header.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    save_file(plain, temporary, metadata={"facts": json.dumps(facts)})
    os.replace(temporary, path)


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what ``save_tensors`` wrote.

    Args:
        path: file.

    Returns:
        Tensors on the CPU, and the facts.

    Raises:
        InputError: the file is not one of ours.
    """
    try:
        with safe_open(path, framework="pt") as reader:
            facts = json.loads((reader.metadata() or {})["facts"])
            return {name: reader.get_tensor(name) for name in reader.keys()}, facts  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, json.JSONDecodeError) as error:
        raise InputError(f"{path}: not a training state; delete it to start again") from error


def save_parts(
    path: Path, parts: Mapping[str, Mapping[str, Tensor]], facts: Mapping[str, Any]
) -> None:
    """Write named tensors by part (model, optimizer, ...), see :func:`save_tensors`."""
    named = {f"{part}/{k}": tensor for part, some in parts.items() for k, tensor in some.items()}
    save_tensors(path, named, facts)


def load_parts(path: Path) -> tuple[defaultdict[str, dict[str, Tensor]], dict[str, Any]]:
    """Read what :func:`save_parts` wrote; a part that is not there is empty."""
    tensors, facts = load_tensors(path)
    parts: defaultdict[str, dict[str, Tensor]] = defaultdict(dict)
    for name, tensor in tensors.items():
        part, _, key = name.partition("/")
        parts[part][key] = tensor
    return parts, facts


def trainable_weights(model: nn.Module) -> dict[str, Tensor]:
    """Copies of the parameters that training changes, by name."""
    return {n: p.detach().clone() for n, p in model.named_parameters() if p.requires_grad}


def load_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy named weights into a model.

    Args:
        model: model whose trainable parameters have these names.
        weights: tensors by parameter name.

    Raises:
        InputError: a name or shape does not fit.
    """
    parameters = dict(model.named_parameters())
    for name, tensor in weights.items():
        if name not in parameters or parameters[name].shape != tensor.shape:
            raise InputError(f"saved weight {name} does not fit the model; use another work folder")
        with torch.no_grad():
            parameters[name].copy_(tensor)


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Flatten an optimizer's moments to named tensors."""
    state = optimizer.state_dict()["state"]
    return {f"{i}.{key}": value for i, entry in state.items() for key, value in entry.items()}


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Give an optimizer the moments that ``optimizer_tensors`` took."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def random_tensors(device: torch.device) -> dict[str, Tensor]:
    """States of the generators that dropout draws from."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def restore_random(states: Mapping[str, Tensor], device: torch.device) -> None:
    """Set the generators back."""
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)
