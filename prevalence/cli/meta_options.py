"""What the commands of `prevalence meta` share: inputs, choices, and where the report goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.options import LABELLED_FILE, Command, option, quiet_option
from prevalence.cli.outputs import check_output

if TYPE_CHECKING:
    from prevalence.meta.conventions import Convention
    from prevalence.meta.correlate import Pairing
    from prevalence.meta.table import RatingTable
    from prevalence.report.sheets import Report

__all__ = [
    "Choices",
    "coefficient_option",
    "duels",
    "input_options",
    "names",
    "note_left_out",
    "output_options",
    "paired_names",
    "pairing_options",
    "read_choices",
    "rule_options",
    "selection_options",
    "write_report",
]

_FORMATS = ("table", "markdown", "latex", "json", "csv")
_SUFFIXES = {".md": "markdown", ".tex": "latex", ".json": "json", ".csv": "csv", ".txt": "table"}

_INPUT = (
    option(
        "Input", "--metrics", multiple=True, metavar="NAMES",
        help="Only these metrics (repeat it, or use commas).",
    ),
    option("Input", "--dimensions", multiple=True, metavar="NAMES", help="Only these dimensions."),
    option(
        "Input", "--systems", multiple=True, metavar="NAMES",
        help="Only these systems, in this order.",
    ),
    option(
        "Input", "--raters", metavar="GROUP",
        help="Group of raters where a source has several, for example turker [default: expert].",
    ),
    option(
        "Input", "--by-position", is_flag=True,
        help="Merge items by their place in each file instead of their ids.",
    ),
    option(
        "Input", "--convention", metavar="NAME",
        type=click.Choice(["default", "opinsummeval", "summeval-op", "llm-summeval"]),
        default="default", show_default=True,
        help="The choices of a published study: opinsummeval, summeval-op or llm-summeval; "
        "single options win over it.",
    ),
)  # fmt: skip

_OUTPUT = (
    option(
        "Output", "--format", "form", metavar="FORMAT", type=click.Choice(_FORMATS),
        help="table, markdown, latex, json or csv [default: table, or by the suffix of --output].",
    ),
    option(
        "Output", "--output", "-o", metavar="FILE",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Write the report here (.md, .tex, .json, .csv, .txt).",
    ),
    option(
        "Output", "--decimals", metavar="N", type=click.IntRange(0, 15),
        help="Of printed figures [default: the convention's, or 3].",
    ),
    option(
        "Output", "--rounding", metavar="RULE",
        type=click.Choice(["half-up", "half-even", "truncate"]),
        help="half-up, half-even or truncate [default: half-up].",
    ),
)  # fmt: skip

_PAIRING = (
    option(
        "Comparison", "--own", multiple=True, metavar="METRIC=DIMENSION",
        help="Compare a metric with this dimension alone, whatever its name (repeat it).",
    ),
    option(
        "Comparison", "--all-pairs", is_flag=True,
        help="Compare metrics of one dimension (FAMILY.DIMENSION) with the others too.",
    ),
)  # fmt: skip

_RULES = (
    option(
        "Rules", "--undefined", metavar="RULE", type=click.Choice(["drop", "zero", "fail"]),
        help="A coefficient of constant values (NaN): drop it from means, count it as zero, or "
        "fail [default: drop].",
    ),
    option(
        "Rules", "--missing", metavar="RULE", type=click.Choice(["drop", "zero", "fail"]),
        help="A rated summary without a metric value: drop it, score it zero, or fail "
        "[default: drop].",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Choices:
    """What every analysis starts from.

    Attributes:
        table: the merged scores and ratings, cut to what was asked for.
        whole: the same with all metrics and dimensions.
        convention: the preset, with the single options applied.
        settings: for the report: inputs, selection, convention.
    """

    table: RatingTable
    whole: RatingTable
    convention: Convention
    settings: dict[str, Any]


def input_options(command: Command) -> Command:
    """Add INPUT and the options that choose among what was read."""
    argument = click.argument(
        "inputs", metavar="INPUT...", nargs=-1, required=True, type=LABELLED_FILE
    )
    return argument(selection_options(command))


def selection_options(command: Command) -> Command:
    """Add the options that choose among what was read, without INPUT."""
    return _added(command, _INPUT)


def output_options(command: Command) -> Command:
    """Add format, file, decimals, rounding and --quiet."""
    return _added(command, (*_OUTPUT, quiet_option))


def pairing_options(command: Command) -> Command:
    """Add the options that say which metric is compared with which dimension."""
    return _added(command, _PAIRING)


def rule_options(command: Command) -> Command:
    """Add the rules for undefined coefficients and missing values."""
    return _added(command, _RULES)


def coefficient_option(command: Command) -> Command:
    """Add --coefficient."""
    add = option(
        "Comparison", "--coefficient", "kinds", multiple=True, metavar="NAME",
        type=click.Choice(["kendall", "spearman", "pearson"]),
        help="kendall (tau-b), spearman or pearson; repeat it for several "
        "[default: the convention's, or kendall].",
    )  # fmt: skip
    return add(command)


def _added(command: Command, options: tuple[Any, ...]) -> Command:
    for add in reversed(options):
        command = add(command)
    return command


def names(given: tuple[str, ...]) -> list[str] | None:
    """Names of a repeated option with commas; None where it was not given."""
    found = [name.strip() for part in given for name in part.split(",") if name.strip()]
    return found or None


def paired_names(given: tuple[str, ...], name: str) -> dict[str, str]:
    """The pairs of a repeated option KEY=VALUE.

    Raises:
        click.UsageError: a value without an equals sign.
    """
    pairs = {}
    for part in given:
        key, mark, value = part.rpartition("=")
        if not mark or not key or not value:
            raise click.UsageError(f"{name} takes METRIC=DIMENSION, not {part!r}")
        pairs[key.strip()] = value.strip()
    return pairs


def duels(given: str, pairs: list[Pairing]) -> list[tuple[Pairing, Pairing]]:
    """The dimensions in which two metrics, or two families, can be compared.

    Args:
        given: FIRST,SECOND.
        pairs: all metrics with their dimensions.

    Raises:
        click.UsageError: there are not two names, or no dimension has both.
    """
    found = [name.strip() for name in given.split(",")]
    if len(found) != 2:
        raise click.UsageError(f"two metrics are given as FIRST,SECOND, not {given!r}")
    sides = [
        {pair.dimension: pair for pair in pairs if name in (pair.row, pair.metric)}
        for name in found
    ]
    shared = [(pair, sides[1][d]) for d, pair in sides[0].items() if d in sides[1]]
    if not shared:
        known = ", ".join(dict.fromkeys(pair.row for pair in pairs))
        raise click.UsageError(f"{given}: no dimension has both; there are: {known}")
    return shared


def read_choices(parameters: dict[str, Any]) -> Choices:
    """Read the inputs and apply the shared options, taking them out of the parameters.

    Args:
        parameters: of the command; what is left belongs to the command alone.

    Raises:
        click.UsageError: the report could not be written, which is said before any work.
    """
    from prevalence.cli.errors import note
    from prevalence.meta.conventions import CONVENTIONS
    from prevalence.meta.sources import read_tables

    if parameters.get("output") is not None:
        _check_report(parameters["form"], parameters["output"])
    name = parameters.pop("convention")
    convention = CONVENTIONS[name]
    changes = {
        key: value
        for key in ("kinds", "levels", "undefined", "missing", "decimals", "rounding")
        if (value := parameters.pop(key, None)) not in (None, ())
    }
    inputs = parameters.pop("inputs")
    reading = read_tables(
        inputs,
        raters=parameters.pop("raters"),
        by_position=parameters.pop("by_position"),
        keep_unread=convention.keep_unread,
    )
    if not parameters["quiet"]:
        for reason in reading.skipped:
            note(f"skipped: {reason}")
        note_left_out(reading.left_out, "the inputs")
    chosen = {key: names(parameters.pop(key)) for key in ("metrics", "dimensions", "systems")}
    convention = replace(convention, **changes)
    whole = reading.table.select(systems=chosen.pop("systems"))
    table = whole.select(**chosen)
    settings = {
        "inputs": [str(path) for path in inputs],
        "convention": name,
        "coefficients": list(convention.kinds),
        "levels": list(convention.levels),
        "undefined": convention.undefined,
        "missing": convention.missing,
        "items": len(table.items),
        "systems": list(table.systems),
        "raters": len(table.raters),
    }
    return Choices(table, whole, convention, settings)


def note_left_out(count: int, where: str) -> None:
    """Say how many rows hold an error and nothing else."""
    from prevalence.cli.errors import note

    if count:
        note(f"{count:,} rows of {where} report an error and hold no value; they are left out")


def write_report(report: Report, *, form: str | None, output: Path | None) -> None:
    """Write a report to its file, or to the screen.

    Raises:
        click.UsageError: the format cannot be told, or the folder is missing.
    """
    from prevalence.report.sheets import render
    from prevalence.writers import atomic_file

    if output is None:
        click.echo(render(report, form or "table"), nl=False)
        return
    chosen = _check_report(form, output)
    with atomic_file(output) as file:
        file.write(render(report, chosen))


def _check_report(form: str | None, output: Path) -> str:
    """The format of a report that goes to a file, if it can be written."""
    chosen = form or _SUFFIXES.get(output.suffix)
    if chosen is None:
        raise click.UsageError(
            f"--output: no format goes by the suffix {output.suffix or '(none)'}; add --format"
        )
    check_output(output)
    return chosen
