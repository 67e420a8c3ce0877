"""Options that choose the language model of judges and of generated summaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

from prevalence.cli.options import (
    MODEL_SPEC,
    field_options,
    open_cache_folder,
    option,
    refuse_given,
)
from prevalence.llm.backends import READ, BackendOptions

__all__ = [
    "backend_choice",
    "backend_options",
    "check_backend_options",
    "drop_language_model_options",
    "language_model_options",
    "own_names",
]

Command = TypeVar("Command", bound=Callable[..., Any])

_SHARED = ("device", "dtype", "batch_tokens", "cache")
"""Fields that a command which opens scorers has options for already."""


def _backend(*names: str) -> Callable[[Command], Command]:
    return option(
        "Model",
        *names,
        "backend",
        metavar="SPEC",
        type=MODEL_SPEC,
        help="hf:PATH (a local model), openai:MODEL (a server), vllm:PATH, or replay:FILE "
        "(recorded replies).",
    )


def backend_options(command: Command) -> Command:
    """Add the options that choose and run a language model."""
    command = field_options(BackendOptions, *_SHARED)(command)
    command = field_options(BackendOptions, but=_SHARED)(command)
    return _backend("--backend", "--model")(command)


def language_model_options(command: Command) -> Command:
    """The same for a command that opens scorers too, whose --model may name either."""
    return _backend("--backend")(field_options(BackendOptions, but=_SHARED)(command))


def own_names() -> frozenset[str]:
    """Names of the parameters that :func:`language_model_options` adds."""
    return frozenset({"backend", *(field.name for field in fields(BackendOptions))} - {*_SHARED})


def check_backend_options(spec: str, *, dry_run: bool) -> None:
    """Refuse options that the chosen backend does not read.

    Args:
        spec: of the backend; an unknown kind is left to who opens it.
        dry_run: whether costs are estimated, for which every backend may be told prices.

    Raises:
        click.UsageError: one was given.
    """
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
    spec = parameters.pop("backend")
    folder = open_cache_folder(parameters.pop("cache"), parameters.pop("no_cache"))
    told = {
        field.name: parameters.pop(field.name)
        for field in fields(BackendOptions)
        if field.name in parameters
    }
    return spec, BackendOptions(**told, cache=folder)
