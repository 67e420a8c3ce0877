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
    "resume_run",
    "save_run",
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


def save_run(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    facts: Mapping[str, Any],
    **more: Mapping[str, Tensor],
) -> None:
    """Write all that a run needs to go on.

    Args:
        path: target file; see :func:`save_tensors`.
        model: whose trainable weights are kept.
        optimizer: whose moments are kept.
        facts: JSON-serialisable values.
        more: further tensors by part. The generators that dropout draws from are kept in any case.
    """
    device = next(model.parameters()).device
    moments = optimizer.state_dict()["state"].items()
    drawn = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        drawn["cuda"] = torch.cuda.get_rng_state(device)
    parts: dict[str, Mapping[str, Tensor]] = {
        "model": trainable_weights(model),
        "optimizer": {f"{i}.{key}": value for i, row in moments for key, value in row.items()},
        "random": drawn,
        **more,
    }
    named = {f"{part}/{k}": tensor for part, some in parts.items() for k, tensor in some.items()}
    save_tensors(path, named, facts)


def load_parts(path: Path) -> tuple[defaultdict[str, dict[str, Tensor]], dict[str, Any]]:
    """Read the parts and facts of :func:`save_run`; a part that is not there is empty."""
    tensors, facts = load_tensors(path)
    parts: defaultdict[str, dict[str, Tensor]] = defaultdict(dict)
    for name, tensor in tensors.items():
        part, _, key = name.partition("/")
        parts[part][key] = tensor
    return parts, facts


def resume_run(
    parts: Mapping[str, Mapping[str, Tensor]], model: nn.Module, optimizer: torch.optim.Optimizer
) -> None:
    """Give model, optimizer and generators the state that :func:`load_parts` read.

    Raises:
        InputError: the weights do not fit the model.
    """
    load_weights(model, parts["model"])
    moments: dict[int, dict[str, Tensor]] = defaultdict(dict)
    for name, tensor in parts["optimizer"].items():
        index, _, key = name.partition(".")
        moments[int(index)][key] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": dict(moments)})
    device, drawn = next(model.parameters()).device, parts["random"]
    torch.set_rng_state(drawn["cpu"])
    if device.type == "cuda" and "cuda" in drawn:
        torch.cuda.set_rng_state(drawn["cuda"], device)


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
