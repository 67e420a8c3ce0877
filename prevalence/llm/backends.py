"""Backends by their spec: ``hf:PATH``, ``openai:MODEL``, ``vllm:PATH``, ``replay:FILE``."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from prevalence.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from prevalence.llm.protocol import Backend

__all__ = ["BACKENDS", "LIMIT_FIELDS", "READ", "BackendOptions", "open_backend"]

BACKENDS = {
    "hf": "prevalence.llm.local",
    "openai": "prevalence.llm.server",
    "vllm": "prevalence.llm.vllm",
    "replay": "prevalence.baselines.judges.replay",
}
"""Kind → module with a function ``open_backend(target, options)``, imported when it is used."""

READ: Mapping[str, frozenset[str]] = {
    "hf": frozenset({"device", "dtype", "batch_tokens", "cache", "reuse"}),
    "openai": frozenset(
        {
            "cache", "base_url", "api_key_env", "concurrency", "timeout", "retries",
            "longest_wait", "samples_per_call", "max_tokens_field", "price_in", "price_out",
            "budget",
        }
    ),
    "vllm": frozenset({"device", "dtype", "cache", "reuse"}),
    "replay": frozenset(),
}  # fmt: skip
"""Kind → the fields of :class:`BackendOptions` that it reads."""

LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")
"""How servers call the limit of a reply; the second is OpenAI's for newer models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendOptions:
    """What the backends may be told beside their target; each reads what concerns it.

    Attributes:
        device: ``auto``, ``cpu``, ``cuda``, ...
        dtype: ``auto``, ``float32``, ``float16``, ``bfloat16``.
        batch_tokens: most tokens in a batch; None for the backend's own choice.
        cache: folder of the response store; None keeps no responses. Replays need none.
        reuse: hf: keep what prompts have in common in memory instead of reading it again.
        base_url: openai: address of the server; None takes $OPENAI_BASE_URL, or OpenAI's own.
        api_key_env: openai: environment variable that holds the key; None takes $OPENAI_API_KEY for
            OpenAI's own server and no key for one on this machine.
        concurrency: openai: calls under way at once.
        timeout: openai: seconds after which a call is given up and repeated.
        retries: openai: repetitions of a call.
        longest_wait: openai: a server that asks to wait for more seconds ends the run.
        samples_per_call: openai: samples asked for by one call (``n``), whose prompt is paid once.
        max_tokens_field: openai: how the server calls the limit of a reply.
        price_in, price_out: openai: money a million tokens read and written.
        budget: openai: most money to spend; None for no bound.

    Raises:
        ConfigurationError: a value out of range.
    """

    device: str = "auto"
    dtype: str = "auto"
    batch_tokens: int | None = None
    cache: Path | None = None
    reuse: bool = True
    base_url: str | None = None
    api_key_env: str | None = None
    concurrency: int = 8
    timeout: float = 120.0
    retries: int = 6
    longest_wait: float = 600.0
    samples_per_call: int = 1
    max_tokens_field: str = "max_tokens"
    price_in: float = 0.0
    price_out: float = 0.0
    budget: float | None = None

    def __post_init__(self) -> None:
        rules = (
            (self.concurrency >= 1, "concurrency must be at least 1"),
            (self.samples_per_call >= 1, "samples a call must be at least 1"),
            (self.retries >= 0, "retries must not be negative"),
            (self.timeout > 0, "the time-out must be positive"),
            (self.max_tokens_field in LIMIT_FIELDS, f"the limit is {' or '.join(LIMIT_FIELDS)}"),
        )
        for holds, rule in rules:
            if not holds:
                raise ConfigurationError(f"{rule}; this is {self}")


def open_backend(spec: str, options: BackendOptions | None = None) -> Backend:
    """Open a backend, with a store of its replies where ``options.cache`` names a folder.

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
    options = options or BackendOptions()
    backend: Backend = import_module(BACKENDS[kind]).open_backend(target, options)
    if options.cache is None or kind == "replay":
        return backend
    from prevalence.llm.store import ReplyStore, StoredBackend

    return StoredBackend(backend, ReplyStore(options.cache))
