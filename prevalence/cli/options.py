"""Options that several commands share, and help texts that show options in groups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

__all__ = [
    "INPUT_FORMATS",
    "GroupedCommand",
    "input_options",
    "model_option_names",
    "model_options",
    "open_cache_folder",
    "option",
    "quiet_option",
    "refuse_given",
    "run_options",
    "scorer_settings",
    "several_names",
    "split_names",
]

Command = TypeVar("Command", bound=Callable[..., Any])

INPUT_FORMATS = (
    "auto", "jsonl", "json", "csv", "tsv", "opinsummeval", "summeval-op", "copycat",
)  # fmt: skip


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


def several_names(
    _: click.Context, parameter: click.Parameter, parts: Sequence[str]
) -> tuple[str, ...]:
    """Names of an option that may be repeated and may hold commas, each once.

    Raises:
        click.UsageError: it was given, and holds none.
    """
    names = (name.strip() for part in parts for name in part.split(","))
    found = tuple(dict.fromkeys(name for name in names if name))
    if parts and not found:
        option_name = parameter.opts[0]
        kind = option_name.removeprefix("--").removesuffix("s")
        raise click.UsageError(f"{option_name} names no {kind}")
    return found


_INPUT_OPTIONS = {
    "input_format": option(
        "Input",
        "--input-format",
        metavar="FORMAT",
        type=click.Choice(INPUT_FORMATS),
        default="auto",
        show_default=True,
        help=f"{', '.join(INPUT_FORMATS)}; auto reads the format off the content.",
    ),
    "product_names": option(
        "Input",
        "--product-names",
        metavar="FILE",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Names for the trivial mask: lines 'ID name...', or a JSON object.",
    ),
    "systems": option(
        "Input",
        "--systems",
        multiple=True,
        callback=several_names,
        metavar="NAMES",
        help="Only these systems (repeat it, or use commas).",
    ),
    "limit": option(
        "Input",
        "--limit",
        metavar="N",
        type=click.IntRange(1),
        help="Only the first N records.",
    ),
}

quiet_option = option(
    "Output", "--quiet", "-q", is_flag=True, help="No progress and no notes on stderr."
)


def input_options(*names: str) -> Callable[[Command], Command]:
    """Options that choose what is read, by the names of their parameters, in this order."""

    def add(command: Command) -> Command:
        return _with_options(command, [_INPUT_OPTIONS[name] for name in names])

    return add


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
        help="auto (a CUDA device if there is one), cpu, cuda, cuda:1, mps; NLI models also take "
        "all (CUDA devices) or some of them: cuda:0,cuda:1.",
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
        "(packed on a CUDA device where the model allows it, and DeBERTa on a CPU too).",
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


def model_option_names() -> frozenset[str]:
    """Names of the parameters that :func:`model_options` adds."""

    def bare(**_: Any) -> None: ...

    added: list[click.Parameter] = model_options(bare).__click_params__  # type: ignore[attr-defined]
    return frozenset(str(parameter.name) for parameter in added)


def refuse_given(names: Collection[str], why: str) -> None:
    """Refuse options that the command in progress was given and has no use for.

    Args:
        names: names of their parameters.
        why: what the message says after the option.

    Raises:
        click.UsageError: one of them was given.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if parameter.name in names and source is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[0]} {why}")


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


def scorer_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What a scorer is opened with, by the parameters of :func:`model_options`.

    Raises:
        click.UsageError: --cache and --no-cache were both given.
    """
    settings = dict(parameters)
    settings["labels"] = split_names(settings["labels"])
    settings["cache"] = open_cache_folder(settings["cache"], settings.pop("no_cache"))
    return settings


def split_names(names: str | None) -> list[str] | None:
    """Names between commas; None stays None."""
    return None if names is None else [name.strip() for name in names.split(",")]
