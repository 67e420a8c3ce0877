"""Options that choose the language model of judges and of generated summaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from prevalence.cli.options import open_cache_folder, option, refuse_given

if TYPE_CHECKING:
    from prevalence.llm.backends import BackendOptions

__all__ = [
    "backend_choice",
    "backend_options",
    "check_backend_options",
    "drop_language_model_options",
    "language_model_options",
    "own_names",
]

Command = TypeVar("Command", bound=Callable[..., Any])

_OWN = (
    option(
        "Model",
        "--backend",
        metavar="SPEC",
        help="hf:PATH (a local model), openai:MODEL (a server), vllm:PATH, or replay:FILE "
        "(recorded replies).",
    ),
    option(
        "Model",
        "--reuse/--no-reuse",
        default=True,
        help="hf: read what prompts have in common once.",
    ),
    option(
        "Server",
        "--base-url",
        metavar="URL",
        help="Address of the server [default: $OPENAI_BASE_URL, or OpenAI's own].",
    ),
    option(
        "Server",
        "--api-key-env",
        metavar="NAME",
        help="Environment variable that holds the key [default: OPENAI_API_KEY for OpenAI's own "
        "server; none for one on this machine; others need the option].",
    ),
    option(
        "Server",
        "--concurrency",
        metavar="N",
        type=click.IntRange(1),
        default=8,
        show_default=True,
        help="Calls under way at once.",
    ),
    option(
        "Server",
        "--timeout",
        metavar="SECONDS",
        type=click.FloatRange(0, min_open=True),
        default=120.0,
        show_default=True,
        help="A call without an answer by then is repeated.",
    ),
    option(
        "Server",
        "--retries",
        metavar="N",
        type=click.IntRange(0),
        default=6,
        show_default=True,
        help="Repetitions of a call that failed.",
    ),
    option(
        "Server",
        "--longest-wait",
        metavar="SECONDS",
        type=click.FloatRange(0),
        default=600.0,
        show_default=True,
        help="A server that asks for a longer wait ends the run; the same command continues it.",
    ),
    option(
        "Server",
        "--samples-per-call",
        metavar="N",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="Samples asked for by one call, whose prompt is paid once; they share its seed.",
    ),
    option(
        "Server",
        "--max-tokens-field",
        metavar="NAME",
        type=click.Choice(["max_tokens", "max_completion_tokens"]),
        default="max_tokens",
        show_default=True,
        help="How the server calls the limit of a reply.",
    ),
    option(
        "Server",
        "--price-in",
        metavar="X",
        type=click.FloatRange(0),
        default=0.0,
        help="Price of a million tokens read.",
    ),
    option(
        "Server",
        "--price-out",
        metavar="X",
        type=click.FloatRange(0),
        default=0.0,
        help="Price of a million tokens written.",
    ),
    option(
        "Server",
        "--budget",
        metavar="X",
        type=click.FloatRange(0, min_open=True),
        help="Stop before more than this is spent.",
    ),
)

_SHARED = (
    option(
        "Model",
        "--device",
        metavar="DEVICE",
        default="auto",
        show_default=True,
        help="auto (a CUDA device if there is one), cpu, cuda, cuda:1, mps.",
    ),
    option(
        "Model",
        "--dtype",
        metavar="TYPE",
        default="auto",
        show_default=True,
        type=click.Choice(["auto", "float32", "float16", "bfloat16"]),
        help="auto (bfloat16 on a GPU, float32 elsewhere), float32, float16 or bfloat16.",
    ),
    option(
        "Model", "--batch-tokens", metavar="N", type=click.IntRange(1), help="Most tokens a batch."
    ),
    option(
        "Cache",
        "--cache",
        metavar="DIR",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder of stored replies [default: $PREVALENCE_CACHE, or the user's cache folder].",
    ),
    option("Cache", "--no-cache", is_flag=True, help="Neither read nor write stored replies."),
)
_SHARED_NAMES = {"device", "dtype", "batch_tokens", "cache"}


def backend_options(command: Command) -> Command:
    """Add the options that choose and run a language model."""
    for add in reversed((*_OWN, *_SHARED)):
        command = add(command)
    return command


def language_model_options(command: Command) -> Command:
    """The same for a command that has --device, --dtype, --batch-tokens and the cache already."""
    for add in reversed(_OWN):
        command = add(command)
    return command


def own_names() -> frozenset[str]:
    """Names of the parameters that :func:`language_model_options` adds."""
    from prevalence.llm.backends import BackendOptions

    return frozenset({"backend", *(field.name for field in fields(BackendOptions))} - _SHARED_NAMES)


def check_backend_options(spec: str, *, dry_run: bool) -> None:
    """Refuse options that the chosen backend does not read.

    Args:
        spec: of the backend; an unknown kind is left to who opens it.
        dry_run: whether costs are estimated, for which every backend may be told prices.

    Raises:
        click.UsageError: one was given.
    """
    from prevalence.llm.backends import READ, BackendOptions

    kind = spec.partition(":")[0]
    if kind in READ:
        prices = {"price_in", "price_out"} if dry_run else set()
        unread = {field.name for field in fields(BackendOptions)} - READ[kind] - prices
        refuse_given(unread, f"does nothing with --backend {kind}")


def drop_language_model_options(parameters: dict[str, Any]) -> None:
    """Take what :func:`language_model_options` adds out of a command's parameters."""
    for name in own_names():
        parameters.pop(name, None)


def backend_choice(parameters: dict[str, Any]) -> tuple[str | None, BackendOptions]:
    """Take the options of :func:`backend_options` out of a command's parameters.

    Args:
        parameters: what click hands to the command; the options are removed from it.

    Returns:
        The backend's spec, or None, and what backends may be told.
    """
    from prevalence.llm.backends import BackendOptions

    spec = parameters.pop("backend")
    folder = open_cache_folder(parameters.pop("cache"), parameters.pop("no_cache"))
    told = {
        field.name: parameters.pop(field.name)
        for field in fields(BackendOptions)
        if field.name in parameters
    }
    return spec, BackendOptions(**told, cache=folder)
