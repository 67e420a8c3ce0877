"""Options that several commands share, and help texts that show options in groups."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from prevalence.cli.help import ShortHelp
from prevalence.options import described_fields
from prevalence.readers.products import FORMATS
from prevalence.scorers.registry import ScorerOptions
from prevalence.scoring.options import ScoringOptions
from prevalence.scoring.presets import PRESETS, preset_options

if TYPE_CHECKING:
    from dataclasses import Field

    from prevalence.options import Description

__all__ = [
    "FILE",
    "FILE_PATH",
    "FOLDER_PATH",
    "INPUT_FORMATS",
    "LABELLED_FILE",
    "MODEL_SPEC",
    "ONE_DEVICE",
    "ROWS_PATH",
    "SCORER",
    "GroupedCommand",
    "NamingFiles",
    "cut_option",
    "field_options",
    "input_options",
    "model_options",
    "open_cache_folder",
    "option",
    "output_option",
    "parameter_names",
    "preset_option",
    "quiet_option",
    "refuse_given",
    "refuse_two_streams",
    "run_options",
    "scorer_settings",
    "scoring_options",
    "seed_option",
    "several_names",
    "split_names",
    "together",
    "with_preset",
]

Command = TypeVar("Command", bound=Callable[..., Any])

# --reviews says by itself that files are the authors'.
INPUT_FORMATS = tuple(name for name in FORMATS if name != "authors")


FILE_PATH = click.Path(path_type=Path, dir_okay=False)
"""The path of a file, there or not."""
ROWS_PATH = click.Path(path_type=Path)
"""The path of a file of rows or of a folder of Parquet parts, there or not."""
FOLDER_PATH = click.Path(path_type=Path, file_okay=False)
"""The path of a folder, there or not."""

_WORD = 1 << 63


class _GroupedOption(click.Option):
    def __init__(self, *names: Any, group: str, **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.group = group

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """The value in its type; no number is NaN, infinite or beyond 64 bits."""
        cast = super().type_cast_value(ctx, value)
        for number in cast if isinstance(cast, tuple) else (cast,):
            if isinstance(number, float) and not math.isfinite(number):
                raise click.BadParameter(f"{number} is not a finite number.", ctx, self)
            if isinstance(number, int) and not -_WORD <= number < _WORD:
                raise click.BadParameter(f"{Decimal(number):.3g} is beyond 64 bits.", ctx, self)
            if isinstance(number, Path) and os.path.expanduser(number).startswith("~"):
                raise click.BadParameter(f"{number} begins with ~ and no known user.", ctx, self)
        return cast


class GroupedCommand(ShortHelp):
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


class NamingFiles(click.ParamType):  # type: ignore[type-arg] # generic in some versions
    """A text in which files may be named.

    Args:
        files: what it may name as files, whether or not they are there.
    """

    name = "text"

    def __init__(self, files: Callable[[str], Iterable[str]]) -> None:
        self.files = files


def _scorer_files(names: str) -> Iterator[str]:
    from prevalence.scorers.registry import files_read

    for name in names.split("|"):
        yield from files_read(name.strip())
        yield name.partition(":")[2]


SCORER = NamingFiles(_scorer_files)
"""A scorer's name, or alternatives with ``|`` between."""

FILE = NamingFiles(lambda name: [name])
"""A name that may also be that of a file."""

LABELLED_FILE = NamingFiles(lambda name: [name, name.partition("=")[2]])
"""``LABEL=FILE``, or a file alone."""

MODEL_SPEC = NamingFiles(lambda spec: [spec.partition(":")[2]])
"""``KIND:PATH``."""


def option(group: str, *names: str, **attributes: Any) -> Callable[[Command], Command]:
    """:func:`click.option` under a heading of the help text.

    Args:
        group: the heading.
        names: spellings, and the parameter's name where it is another.
        attributes: of :func:`click.option`.
    """
    return click.option(*names, cls=_GroupedOption, group=group, **attributes)


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one, in this order."""

    def add(command: Command) -> Command:
        for each in reversed(options):
            command = each(command)
        return command

    return add


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
        plural = option_name.removeprefix("--")
        kind = f"{plural[:-3]}y" if plural.endswith("ies") else plural.removesuffix("s")
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
        help=f"{', '.join(INPUT_FORMATS)}; auto detects the format from the content.",
    ),
    "reviews": option(
        "Input",
        "--reviews",
        metavar="FILE",
        type=FILE_PATH,
        help="Reviews file; each INPUT then holds summaries alone: a table or JSON Lines with id, "
        "system and summary, or one summary per line in the order of the products, whose system is "
        "the file's name.",
    ),
    "product_names": option(
        "Input",
        "--product-names",
        metavar="FILE",
        type=FILE_PATH,
        help="Names for the trivial mask: lines 'ID name...' (a tab after ids with spaces), or a "
        "JSON object.",
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

_SEED = 12345


def seed_option(
    group: str,
    help: str,  # noqa: A002 - as in click
    *,
    default: int = _SEED,
    least: int | None = 0,
) -> Callable[[Command], Command]:
    """Add --seed.

    Args:
        group: its heading.
        help: what is drawn.
        default: another one where finished work is found again by its seed, as are stored replies
            of language models, so that a change would repeat what is paid for.
        least: lower bound, or None.
    """
    return option(
        group, "--seed", metavar="N", default=default, show_default=True, help=help,
        type=click.INT if least is None else click.IntRange(least),
    )  # fmt: skip


def input_options(*names: str) -> Callable[[Command], Command]:
    """Options that choose what is read, by the names of their parameters, in this order."""
    return together(*(_INPUT_OPTIONS[name] for name in names))


def field_options(
    kind: type,
    *names: str,
    but: Collection[str] = (),
    group: str | None = None,
    helps: Mapping[str, str] | None = None,
) -> Callable[[Command], Command]:
    """Options for the described fields of a dataclass, in the order of the fields.

    Args:
        kind: the dataclass; defaults, help texts, choices and bounds are those of its fields.
        names: of the fields; none for all of them.
        but: fields that are left out.
        group: a heading in place of the fields' own.
        helps: help texts in place of the fields' own, by the parameter's name.
    """
    return together(
        *(
            option(group or said.group, spelling, **attributes)
            for each, said in described_fields(kind)
            if (not names or each.name in names) and each.name not in but
            for spelling, attributes in _spelt(each, said, helps or {})
        )
    )


def _spelt(
    each: Field[Any], said: Description, helps: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The option of a field, and the flag that turns it off."""
    spelling = said.spelling or f"--{each.name.replace('_', '-')}"
    about = helps.get(_parameter(spelling), said.help)
    if isinstance(each.default, bool):
        yield spelling, {"is_flag": True, "default": each.default, "help": about}
        return
    yield (
        spelling,
        {
            "metavar": said.metavar,
            "type": _type(said),
            "default": each.default,
            "show_default": bool(each.default),
            "help": about,
        },
    )
    if said.off is not None:
        off, off_help = said.off
        yield off, {"is_flag": True, "help": helps.get(_parameter(off), off_help)}


def _parameter(spelling: str) -> str:
    return spelling.partition("/")[0].removeprefix("--").replace("-", "_")


def _type(said: Description) -> Any:
    if said.choices:
        return click.Choice(said.choices)
    if said.names == "scorer":
        return SCORER
    if said.names is not None:
        folder = said.names == "folder"
        return click.Path(path_type=Path, file_okay=not folder, dir_okay=folder)
    lowest = said.least if said.above is None else said.above
    if lowest is None:
        return click.STRING
    if isinstance(lowest, int):
        return click.IntRange(lowest)
    # Whole bounds are shown as whole numbers.
    highest = None if said.below is None else int(said.below)
    return click.FloatRange(
        int(lowest), highest, min_open=said.above is not None, max_open=highest is not None
    )


ONE_DEVICE = "auto (a CUDA device if there is one), cpu, cuda, cuda:1, mps."
"""Help text of --device where several do not share the work."""

_CHOOSING = ("model", "threshold", "calibration", "recheck")
"""Fields that choose a scorer; the others run it."""

_COUNTING = "check_cuts"
"""A field that changes no answer: for the command that shows what it counts."""

model_options = field_options(ScorerOptions, but=(_COUNTING,))
"""The options that choose and run a scorer."""

cut_option = field_options(ScorerOptions, _COUNTING)
"""--check-cuts."""

run_options = field_options(ScorerOptions, but=(*_CHOOSING, _COUNTING))
"""The options that run a scorer, for a command that chooses it by other means."""


def parameter_names(options: Callable[[Any], Any]) -> frozenset[str]:
    """Names of the parameters that options add."""

    def bare(**_: Any) -> None: ...

    added: list[click.Parameter] = options(bare).__click_params__
    return frozenset(str(parameter.name) for parameter in added)


def output_option(about: str, *, required: bool = False) -> Callable[[Command], Command]:
    """Add --output, a file."""
    return option(
        "Output", "--output", "-o", metavar="FILE", required=required,
        type=FILE_PATH, help=about,
    )  # fmt: skip


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


def refuse_two_streams(files: Iterable[Path | str | None]) -> None:
    """Refuse two files that are both standard input.

    Raises:
        click.UsageError: there are two.
    """
    if [str(file) for file in files].count("-") > 1:
        raise click.UsageError("standard input (-) can be read once")


def open_cache_folder(cache: Path | None, no_cache: bool) -> Path | None:
    """The cache folder to use, or None.

    Raises:
        click.UsageError: both options were given.
    """
    from prevalence.nli.cache import default_folder_or_none

    if cache is not None and no_cache:
        raise click.UsageError("--cache and --no-cache exclude each other")
    return None if no_cache else cache or default_folder_or_none()


def scorer_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What a scorer is opened with, by a command's parameters.

    Args:
        parameters: those of :data:`model_options` or :data:`run_options`, among others.

    Raises:
        click.UsageError: --cache and --no-cache were both given.
    """
    names = {*parameter_names(model_options), _COUNTING}
    settings = {name: value for name, value in parameters.items() if name in names}
    settings["labels"] = split_names(settings["labels"])
    given = settings["cache"]
    folder = open_cache_folder(given, settings.pop("no_cache"))
    # Which scorers use the default folder is theirs to know.
    settings["cache"] = "auto" if given is None and folder is not None else folder
    return settings


preset_option = option(
    "Scoring", "--preset", metavar="NAME", type=click.Choice([*PRESETS]),
    help="Options of a paper: " + "; ".join(f"{name} is {preset.about}"
                                            for name, preset in PRESETS.items())
    + ". Other options override it.",
)  # fmt: skip


def with_preset(parameters: dict[str, Any]) -> dict[str, Any]:
    """The command's parameters with those of its --preset, where they were not given."""
    if parameters["preset"] is None:
        return parameters
    source = click.get_current_context().get_parameter_source
    names = {"trivial": "trivial_template"}
    given = {
        key: parameters[name]
        for key in PRESETS[parameters["preset"]].options
        if source(name := names.get(key, key)) is ParameterSource.COMMANDLINE
    }
    if parameters["no_trivial"]:
        given["trivial"] = None
    found = preset_options(parameters["preset"], given)
    if parameters["no_trivial"]:
        del found["trivial"]
    return parameters | {names.get(key, key): value for key, value in found.items()}


def scoring_options(parameters: Mapping[str, Any]) -> ScoringOptions:
    """How to score, by a command's parameters.

    Raises:
        click.UsageError: --no-trivial and --trivial-template were both given.
    """
    if parameters["no_trivial"] and parameters["trivial_template"] != "name":
        raise click.UsageError("--no-trivial and --trivial-template exclude each other")
    names = {field.name for field in fields(ScoringOptions)}
    told = {name: value for name, value in parameters.items() if name in names}
    trivial = None if parameters["no_trivial"] else parameters["trivial_template"]
    return ScoringOptions(**told, trivial=trivial)


def split_names(names: str | None) -> list[str] | None:
    """Names between commas; None stays None."""
    return None if names is None else [name.strip() for name in names.split(",")]
