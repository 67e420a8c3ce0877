"""SummaC-Conv heads on disk: safetensors of ours, and the authors' ``.bin`` state dicts."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.consistency.conv import ConvHead, ConvSettings
from prevalence.errors import ConfigurationError, ModelError
from prevalence.nli.checkpoint import first_line

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read_head", "write_head"]

_KEYS = ("mlp.weight", "mlp.bias", "layer_final.weight", "layer_final.bias")
_FORMAT = "summac-conv/1"
_MOST_BYTES = 1 << 24


def read_head(path: Path | str, *, settings: Mapping[str, str] | None = None) -> ConvHead:
    """Read a head.

    Args:
        path: ``.safetensors`` as :func:`write_head` makes it, or the authors' ``.bin`` state dict,
            which is read as weights alone: nothing in it can run.
        settings: fields of :class:`~prevalence.consistency.conv.ConvSettings` for a file that does
            not state them (a ``.bin`` never does); the defaults are those of the published
            head. They may not contradict what a file states.

    Raises:
        ModelError: not a head, not readable, or its numbers are unusable.
        ConfigurationError: the settings are unknown or contradict the file.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise ModelError(f"{path}: no such file; a SummaC-Conv head is a .safetensors or .bin file")
    if path.stat().st_size > _MOST_BYTES:
        raise ModelError(f"{path}: too large for a SummaC-Conv head")
    given = dict(settings or {})
    unknown = sorted(given.keys() - {field.name for field in fields(ConvSettings)})
    if unknown:
        raise ConfigurationError(f"{path}: unknown settings {', '.join(unknown)}")
    tensors, stated = _read_bin(path) if path.suffix == ".bin" else _read_safetensors(path)
    clash = sorted(key for key in given if stated.get(key, given[key]) != given[key])
    if clash:
        raise ConfigurationError(
            f"{path}: it was made for {clash[0]}={stated[clash[0]]}, not {given[clash[0]]}"
        )
    nli = stated.pop("nli", "")
    return _head(tensors, ConvSettings(**{**given, **stated}), nli, path)


def write_head(head: ConvHead, path: Path | str) -> None:
    """Write a head with its settings as safetensors, which :func:`read_head` reads back.

    Raises:
        ModelError: the file cannot be written.
    """
    from safetensors.numpy import save_file

    tensors = {
        "mlp.weight": head.weight[None].astype(np.float64),
        "mlp.bias": np.array([head.bias], np.float64),
        "layer_final.weight": head.final_weight.astype(np.float64),
        "layer_final.bias": head.final_bias.astype(np.float64),
    }
    part = Path(f"{path}.part")
    try:
        save_file(
            tensors, part, metadata={"format": _FORMAT, "nli": head.nli, **asdict(head.settings)}
        )
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ModelError(f"{path}: cannot be written: {first_line(error)}") from error


def _head(tensors: Mapping[str, Any], settings: ConvSettings, nli: str, path: Path) -> ConvHead:
    if set(tensors) != set(_KEYS):
        raise ModelError(
            f"{path}: a SummaC-Conv head holds {', '.join(_KEYS)}, and this file "
            f"{', '.join(sorted(tensors)[:6]) or 'nothing'}"
        )
    weight, bias, final_weight, final_bias = (np.asarray(tensors[key], np.float64) for key in _KEYS)
    if bias.size != 1 or weight.ndim != 2 or weight.shape[0] != 1:
        raise ModelError(
            f"{path}: mlp maps to {bias.size} numbers, and a SummaC-Conv head's to one"
        )
    try:
        return ConvHead(
            settings, weight.ravel(), float(bias.ravel()[0]), final_weight, final_bias, nli
        )
    except ConfigurationError as error:
        raise ModelError(f"{path}: {error}") from error


def _read_bin(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        tensors = {str(key): value.float().numpy() for key, value in state.items()}
    except Exception as error:
        raise ModelError(f"{path}: not a state dict of weights: {first_line(error)}") from error
    return tensors, {}


def _read_safetensors(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    from safetensors import safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            stated = dict(file.metadata() or {})
    except Exception as error:
        raise ModelError(f"{path}: not safetensors: {first_line(error)}") from error
    if stated.pop("format", _FORMAT) != _FORMAT:
        raise ModelError(f"{path}: not a SummaC-Conv head")
    known = {"nli", *(field.name for field in fields(ConvSettings))}
    return tensors, {key: value for key, value in stated.items() if key in known}
