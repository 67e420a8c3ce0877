"""What `prevalence summarize --method llm` is told beside the other methods' options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from prevalence.baselines.judges.writing import PROMPTS
from prevalence.cli.judge_backends import (
    backend_choice,
    check_backend_options,
    drop_language_model_options,
    language_model_options,
    own_names,
)
from prevalence.cli.options import option, refuse_given

if TYPE_CHECKING:
    from prevalence.llm.backends import BackendOptions
    from prevalence.llm.protocol import Sampling

__all__ = ["LANGUAGE_MODEL", "WritingOptions", "check_writing", "take_writing", "writing_options"]

LANGUAGE_MODEL = "llm"
"""The method that writes summaries anew."""

_OWN = ("prompt", "temperature", "top_p", "top_k", "max_tokens", "dry_run")
"""Parameters of :data:`_OPTIONS`."""

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingOptions:
    """How a language model writes summaries; None takes the prompt's own value.

    Attributes:
        prompt: what it is shown and told.
        temperature, top_p, top_k, max_tokens: how replies are drawn.
        dry_run: ask nothing and count.
        backend: which model.
        told: what backends are told.
    """

    prompt: str | None
    temperature: float | None
    top_p: float | None
    top_k: int | None
    max_tokens: int | None
    dry_run: bool
    backend: str | None
    told: BackendOptions

    def sampling(self, usual: Sampling, *, seed: int) -> Sampling:
        """How replies are drawn, where the prompt's own way is the usual one."""
        changed: dict[str, Any] = {
            name: value
            for name in ("temperature", "top_p", "top_k", "max_tokens")
            if (value := getattr(self, name)) is not None
        }
        if self.top_k == 0:
            changed["top_k"] = None
        return replace(usual, **changed, seed=seed)


_OPTIONS = (
    option(
        "Language model",
        "--prompt",
        metavar="NAME",
        type=click.Choice(PROMPTS),
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
        help="Nucleus [default: the prompt's, 0.95].",
    ),
    option(
        "Language model",
        "--top-k",
        metavar="K",
        type=click.IntRange(0),
        help="Most tokens to draw from; 0 for all, which servers that know no top-k need "
        "[default: the prompt's, 25].",
    ),
    option(
        "Language model",
        "--max-tokens",
        metavar="N",
        type=click.IntRange(1),
        help="Longest reply [default: the prompt's, 512 or 1024].",
    ),
    option(
        "Language model",
        "--dry-run",
        is_flag=True,
        help="Ask nothing: count replies, tokens and cost.",
    ),
)


def writing_options(command: Command) -> Command:
    """Add the options of the method llm."""
    command = language_model_options(command)
    for add in reversed(_OPTIONS):
        command = add(command)
    return command


def take_writing(parameters: dict[str, Any]) -> WritingOptions:
    """Take the options of :func:`writing_options` out of a command's parameters."""
    own = {name: parameters.pop(name) for name in _OWN}
    backend, told = backend_choice(dict(parameters))
    backend = backend or parameters["model"]
    drop_language_model_options(parameters)
    return WritingOptions(**own, backend=backend, told=told)


def check_writing(writing: WritingOptions, *, method: str, lengths: Sequence[object]) -> None:
    """Whether the options go with the method.

    Args:
        writing: options of the method llm.
        method: the one chosen.
        lengths: what other methods are told of length.

    Raises:
        click.UsageError: they do not.
    """
    if method == LANGUAGE_MODEL:
        if writing.backend is None:
            raise click.UsageError("--method llm needs a model, for example --backend hf:PATH")
        if any(value is not None for value in lengths):
            raise click.UsageError(
                "--length, --like and --sentences choose sentences; with --method llm the prompt "
                "says how long the summary is"
            )
        check_backend_options(writing.backend, dry_run=writing.dry_run)
        return
    refuse_given({*_OWN, *own_names()}, "goes with --method llm")
