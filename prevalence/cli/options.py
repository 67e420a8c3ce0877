"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = ["model_options", "open_cache_folder", "split_labels"]

Command = TypeVar("Command", bound=Callable[..., Any])

_MODEL_OPTIONS = (
    click.option(
        "--model",
        default="embedded",
        show_default=True,
        help="embedded, a name from `prevalence models`, a checkpoint folder, a hub name, or "
        "rouge1-precision (lexical, no model).",
    ),
    click.option(
        "--threshold",
        type=click.FloatRange(0, 1, max_open=True),
        help="Entailment is decided above this probability [default: the model's own].",
    ),
    click.option(
        "--device", default="auto", show_default=True, help="auto, cpu, cuda, cuda:1, mps."
    ),
    click.option(
        "--dtype",
        type=click.Choice(["auto", "float32", "float16", "bfloat16"]),
        default="auto",
        show_default=True,
        help="auto is float32.",
    ),
    click.option(
        "--batch-tokens",
        type=click.IntRange(1),
        help="Most tokens in a batch; halved by itself when memory runs out.",
    ),
    click.option(
        "--windows",
        type=click.IntRange(1),
        metavar="STRIDE",
        help="Read long reviews in windows that advance by STRIDE tokens; the window of highest "
        "entailment decides [default: the beginning is read].",
    ),
    click.option(
        "--max-length", type=click.IntRange(8), help="A limit in tokens below the model's own."
    ),
    click.option(
        "--labels",
        metavar="NAMES",
        help="Classes in output order, for a checkpoint that does not name them, for example "
        "contradiction,neutral,entailment.",
    ),
    click.option(
        "--cache",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder of the pair cache [default: the user's cache folder].",
    ),
    click.option("--no-cache", is_flag=True, help="Neither read nor write the pair cache."),
)


def model_options(command: Command) -> Command:
    """Add the options that choose and run a scorer."""
    for option in reversed(_MODEL_OPTIONS):
        command = option(command)
    return command


def open_cache_folder(cache: Path | None, no_cache: bool) -> Path | None:
    """The cache folder to use, or None.

    Raises:
        click.UsageError: both options were given.
    """
    from prevalence.nli.cache import default_folder

    if cache is not None and no_cache:
        raise click.UsageError("--cache and --no-cache exclude each other")
    return None if no_cache else cache or default_folder()


def split_labels(labels: str | None) -> list[str] | None:
    """Names between commas."""
    return [name.strip() for name in labels.split(",")] if labels else None
