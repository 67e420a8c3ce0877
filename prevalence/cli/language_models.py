"""Options of language models, which judge summaries or write them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.options import (
    MODEL_SPEC,
    Command,
    field_options,
    open_cache_folder,
    option,
    parameter_names,
    refuse_given,
    together,
)
from prevalence.llm.backends import READ, BackendOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import SimpleNamespace

    from prevalence.llm.protocol import Sampling

__all__ = [
    "LANGUAGE_MODEL",
    "backend_options",
    "check_backend_options",
    "check_writing",
    "chosen_sampling",
    "judge_options",
    "writing_options",
]

LANGUAGE_MODEL = "llm"
"""The method of `prevalence summarize` that writes summaries anew."""

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


judge_options = together(
    _backend("--backend", "--model"),
    field_options(BackendOptions, but=_SHARED),
    field_options(BackendOptions, *_SHARED),
)
"""The options that choose and run a judge."""

writing_options = together(
    option(
        "Language model",
        "--prompt",
        metavar="NAME",
        type=click.Choice(["reviews", "multi-source"]),
        help="reviews (one paragraph of 60-90 words, from reviews alone) or multi-source (225-250 "
        "words, also from title, description, key features, specifications and average rating) "
        "[default: reviews].",
    ),
    option(
        "Language model",
        "--temperature",
        metavar="T",
        type=click.FloatRange(0, 2),
        help="0 takes the most probable words [default: the prompt's, 0.2].",
    ),
    option(
        "Language model",
        "--top-p",
        metavar="P",
        type=click.FloatRange(0, 1, min_open=True),
        help="Nucleus sampling: probability to draw from [default: the prompt's, 0.95].",
    ),
    option(
        "Language model",
        "--top-k",
        metavar="K",
        type=click.IntRange(0),
        help="Number of tokens to draw from; 0 for all, as servers without top-k need "
        "[default: the prompt's, 25].",
    ),
    option(
        "Language model",
        "--max-tokens",
        metavar="N",
        type=click.IntRange(1),
        help="Maximum tokens of a reply [default: the prompt's, 512 or 1024].",
    ),
    option(
        "Language model",
        "--dry-run",
        is_flag=True,
        help="Call no model; only count replies, tokens and cost.",
    ),
    _backend("--backend"),
    field_options(BackendOptions, but=_SHARED),
)
"""The options of the method llm, beside those that open scorers, whose --model may name either."""


def backend_options(parameters: Mapping[str, Any]) -> BackendOptions:
    """What backends are told, by a command's parameters.

    Raises:
        click.UsageError: --cache and --no-cache were both given.
    """
    told = {field.name: parameters[field.name] for field in fields(BackendOptions)}
    told["cache"] = open_cache_folder(parameters["cache"], parameters["no_cache"])
    return BackendOptions(**told)


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
        refuse_given(unread, f"has no effect with --backend {kind}")


def chosen_sampling(options: SimpleNamespace, usual: Sampling) -> Sampling:
    """How summaries are drawn: the prompt's own way, but for what was given."""
    changed: dict[str, Any] = {
        name: value
        for name in ("temperature", "top_p", "top_k", "max_tokens")
        if (value := getattr(options, name)) is not None
    }
    if options.top_k == 0:
        changed["top_k"] = None
    return replace(usual, **changed, seed=options.seed)


def check_writing(options: SimpleNamespace) -> None:
    """Whether the options of the method llm go with the method.

    Args:
        options: parameters of `prevalence summarize`.

    Raises:
        click.UsageError: they do not.
    """
    if options.method != LANGUAGE_MODEL:
        refuse_given(parameter_names(writing_options), "goes with --method llm")
        return
    if options.backend and options.model:
        raise click.UsageError("--backend and --model name the same thing: give one")
    spec = options.backend or options.model
    if spec is None:
        raise click.UsageError("--method llm needs a model, for example --backend hf:PATH")
    if any(value is not None for value in options.lengths):
        raise click.UsageError(
            "--length, --like and --sentences choose sentences; with --method llm, the prompt "
            "sets the length"
        )
    check_backend_options(spec, dry_run=options.dry_run)
