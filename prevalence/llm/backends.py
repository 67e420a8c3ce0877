"""Backends by their spec: ``hf:PATH``, ``openai:MODEL``, ``vllm:PATH``, ``replay:FILE``."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from prevalence.errors import ConfigurationError
from prevalence.models.devices import DTYPES
from prevalence.options import check_numbers, described, documented

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from prevalence.llm.protocol import Backend
    from prevalence.llm.spending import Prices

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


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class BackendOptions:
    """What the backends may be told beside their target; each reads what concerns it.

    In Python, ``cache`` None keeps no replies; replays need none.

    Raises:
        ConfigurationError: a value out of range.
    """

    device: str = described(
        "auto",
        "auto (a CUDA device if there is one), cpu, cuda, cuda:1, mps.",
        metavar="DEVICE",
    )
    dtype: str = described(
        "auto",
        "auto (bfloat16 on a GPU, float32 elsewhere), float32, float16 or bfloat16.",
        metavar="TYPE",
        choices=DTYPES,
    )
    batch_tokens: int | None = described(None, "Maximum tokens per batch.", metavar="N", least=1)
    cache: Path | None = described(
        None,
        "Folder of stored replies [default: $PREVALENCE_CACHE, or the user's cache folder].",
        group="Cache",
        metavar="DIR",
        names="folder",
        off=("--no-cache", "Neither read nor write stored replies."),
    )
    reuse: bool = described(
        default=True,
        help="hf: read the shared beginning of prompts only once.",
        spelling="--reuse/--no-reuse",
    )
    base_url: str | None = described(
        None,
        "Address of the server [default: $OPENAI_BASE_URL, or OpenAI's own].",
        group="Server",
        metavar="URL",
    )
    api_key_env: str | None = described(
        None,
        "Environment variable that holds the key [default: OPENAI_API_KEY for OpenAI's own "
        "server, none for a server on this machine; required for others].",
        group="Server",
        metavar="NAME",
    )
    concurrency: int = described(8, "Concurrent calls.", group="Server", metavar="N", least=1)
    timeout: float = described(
        120.0,
        "Repeat a call that has no answer by then.",
        group="Server",
        metavar="SECONDS",
        above=0.0,
    )
    retries: int = described(
        6, "How often to repeat a failed call.", group="Server", metavar="N", least=0
    )
    longest_wait: float = described(
        600.0,
        "End the run if the server asks for a longer wait; the same command continues it.",
        group="Server",
        metavar="SECONDS",
        least=0.0,
    )
    samples_per_call: int = described(
        1,
        "Samples per call: its prompt is paid once, and they share its seed.",
        group="Server",
        metavar="N",
        least=1,
    )
    max_tokens_field: str = described(
        LIMIT_FIELDS[0],
        "The server's name for the limit of a reply.",
        group="Server",
        metavar="NAME",
        choices=LIMIT_FIELDS,
    )
    price_in: float = described(
        0.0, "Price per million prompt tokens.", group="Server", metavar="X", least=0.0
    )
    price_out: float = described(
        0.0, "Price per million reply tokens.", group="Server", metavar="X", least=0.0
    )
    budget: float | None = described(
        None, "Stop before spending more than this.", group="Server", metavar="X", above=0.0
    )

    def __post_init__(self) -> None:
        check_numbers(self)
        if self.max_tokens_field not in LIMIT_FIELDS:
            raise ConfigurationError(
                f"max_tokens_field must be {' or '.join(LIMIT_FIELDS)}, not {self.max_tokens_field}"
            )

    @property
    def prices(self) -> Prices:
        """The prices of a million tokens."""
        from prevalence.llm.spending import Prices

        return Prices(prompt=self.price_in, completion=self.price_out)


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
