"""Options that several commands share, and help texts that show options in groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = [
    "GroupedCommand",
    "model_options",
    "open_cache_folder",
    "option",
    "run_options",
    "split_names",
]

Command = TypeVar("Command", bound=Callable[..., Any])


class _GroupedOption(click.Option):
    def __init__(self, *names: Any, group: str, **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.group = group


class GroupedCommand(click.Command):
    """A command whose help shows its options under the headings that :func:`option` gave them."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section a group in order of first appearance, and then the others."""
        groups: dict[str, list[tuple[str, str]]] = {}
        others = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if isinstance(parameter, _GroupedOption) and record is not None:
                groups.setdefault(parameter.group, []).append(record)
            elif isinstance(parameter, click.Option) and record is not None:
                others.append(record)
        for title, records in (*groups.items(), ("Other", others)):
            with formatter.section(title):
                formatter.write_dl(records)


def option(group: str, *names: str, **attributes: Any) -> Callable[[Command], Command]:
    """:func:`click.option` under a heading of the help text."""
    return click.option(*names, cls=_GroupedOption, group=group, **attributes)


_CHOICE_OPTIONS = (
    option(
        "Model",
        "--model",
        metavar="MODEL",
        help="embedded, a name from `prevalence models`, a checkpoint folder, a hub name, or "
        "another scorer such as rouge1-precision [default: embedded, or what --calibration names].",
    ),
    option(
        "Model",
        "--threshold",
        metavar="P",
        type=click.FloatRange(0, 1, max_open=True),
        help="A review implies a sentence above this probability [default: the model's own].",
    ),
    option(
        "Model",
        "--calibration",
        metavar="FILE",
        type=click.Path(path_type=Path, dir_okay=False),
        help="A file of `prevalence calibrate --output`: its threshold and map, and its scorer.",
    ),
    option(
        "Model",
        "--recheck/--no-recheck",
        default=True,
        help="In half precision, ask again in float32 what rounding could turn [default: yes].",
    ),
)

_RUN_OPTIONS = (
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
        type=click.Choice(["auto", "float32", "float16", "bfloat16"]),
        default="auto",
        show_default=True,
        help="auto (float32), float32, float16 or bfloat16.",
    ),
    option(
        "Model",
        "--batch-tokens",
        metavar="N",
        type=click.IntRange(1),
        help="Most tokens in a batch; halved by itself when memory runs out.",
    ),
    option(
        "Model",
        "--packing",
        metavar="HOW",
        type=click.Choice(["auto", "packed", "padded"]),
        default="auto",
        show_default=True,
        help="How pairs of unequal length share a batch: packed (no padding), padded, or auto "
        "(packed on a CUDA device where the model allows it).",
    ),
    option(
        "Model",
        "--windows",
        metavar="STRIDE",
        type=click.IntRange(1),
        help="Read long reviews in windows that advance by STRIDE tokens; the window of highest "
        "entailment decides [default: the beginning is read].",
    ),
    option(
        "Model",
        "--max-length",
        metavar="N",
        type=click.IntRange(8),
        help="A limit in tokens below the model's own.",
    ),
    option(
        "Model",
        "--labels",
        metavar="NAMES",
        help="Classes in output order, for a checkpoint that does not name them, for example "
        "contradiction,neutral,entailment.",
    ),
    option(
        "Cache",
        "--cache",
        metavar="DIR",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder of the pair cache [default: $PREVALENCE_CACHE, or the user's cache folder].",
    ),
    option("Cache", "--no-cache", is_flag=True, help="Neither read nor write the pair cache."),
)


def model_options(command: Command) -> Command:
    """Add the options that choose and run a scorer."""
    return _with_options(command, (*_CHOICE_OPTIONS, *_RUN_OPTIONS))


def run_options(command: Command) -> Command:
    """Add the options that run a scorer, for a command that chooses it by other means."""
    return _with_options(command, _RUN_OPTIONS)


def _with_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for add in reversed(options):
        command = add(command)
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


def split_names(names: str | None) -> list[str] | None:
    """Names between commas; None stays None."""
    return None if names is None else [name.strip() for name in names.split(",")]
