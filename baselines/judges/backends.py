"""Backends by their spec: ``hf:PATH``, ``openai:MODEL``, ``vllm:PATH``, ``replay:FILE``."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from prevalence.errors import ConfigurationError

if TYPE_CHECKING:
    from prevalence.baselines.judges.protocol import Backend

__all__ = ["BACKENDS", "BackendOptions", "open_backend"]

BACKENDS = {
    "replay": "prevalence.baselines.judges.replay",
}
"""Kind → module with a function ``open_backend(target, options)``, imported when it is used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendOptions:
    """What the backends may be told beside their target; each reads what concerns it.

    Attributes:
        device: ``auto``, ``cpu``, ``cuda``, ...
        dtype: ``auto``, ``float32``, ``float16``, ``bfloat16``.
        batch_tokens: most tokens in a batch; None for the backend's own choice.
        cache: folder of the response store; None keeps no responses.
    """

    device: str = "auto"
    dtype: str = "auto"
    batch_tokens: int | None = None
    cache: Path | None = None


def open_backend(spec: str, options: BackendOptions | None = None) -> Backend:
    """Open a backend.

    Args:
        spec: KIND:TARGET, for example ``hf:models/judge`` or ``replay:replies.jsonl``.
        options: what backends may be told.

    Returns:
        The backend.

    Raises:
        ConfigurationError: the kind is unknown or the target is missing.
    """
    kind, mark, target = spec.partition(":")
    if kind not in BACKENDS or not mark or not target:
        known = ", ".join(f"{name}:..." for name in BACKENDS)
        raise ConfigurationError(f"--backend {spec!r} is none of {known}")
    module = import_module(BACKENDS[kind])
    backend: Backend = module.open_backend(target, options or BackendOptions())
    return backend
