"""`prevalence meta significance`: samples, groups, counts and normality."""

from __future__ import annotations

from typing import Any

import click

from prevalence.cli.meta_options import (
    coefficient_option,
    duels,
    output_options,
    paired_names,
    pairing_options,
    read_choices,
    selection_options,
    write_report,
)
from prevalence.cli.options import LABELLED_FILE, GroupedCommand, option

__all__ = ["significance"]

_EPILOG = """\b
Examples:
  prevalence meta significance examples/ratings.jsonl --level summary
  prevalence meta significance examples/ratings.jsonl --sizes 1,5,10 --coefficient pearson
  prevalence meta significance --counts 5196,804
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("inputs", metavar="[INPUT...]", nargs=-1, type=LABELLED_FILE)
@selection_options
@option(
    "Comparison", "--level", "levels", multiple=True, metavar="NAME",
    type=click.Choice(["system", "summary", "pooled", "candidate"]),
    help="Level of correlations, see `prevalence meta correlate`; repeat it for several.",
)  # fmt: skip
@coefficient_option
@pairing_options
@option(
    "Samples", "--methods", multiple=True, metavar="FIRST,SECOND",
    help="Test the groups of two sampled metrics (or families) against each other.",
)  # fmt: skip
@option(
    "Samples", "--groups", metavar="N", type=click.IntRange(2), default=10, show_default=True,
    help="Groups into which samples are dealt, each one correlated on its own.",
)  # fmt: skip
@option(
    "Samples", "--sizes", metavar="NUMBERS",
    help="Numbers of samples to correlate, for example 1,10,100.",
)  # fmt: skip
@option(
    "Counts", "--counts", metavar="NUMBERS",
    help="Observed counts, for example 5196,804: test of equal shares with Cramér's V.",
)  # fmt: skip
@output_options
def significance(**parameters: Any) -> None:
    """Are differences between samples, groups and counts more than chance?

    Correlation against the number of samples, Mann-Whitney and t-tests between groups of samples,
    Shapiro-Wilk tests of system means, chi-square of counts.
    """
    from prevalence.meta.conventions import CONVENTIONS
    from prevalence.meta.correlate import pairings
    from prevalence.report.sheets import Report, records_of
    from prevalence.report.significance import SampleOptions, count_sheet, significance_report

    counts = _numbers(parameters["counts"], "--counts")
    sizes = [int(size) for size in _numbers(parameters["sizes"], "--sizes")] or None
    own = paired_names(parameters.pop("own"), "--own")
    if parameters["inputs"]:
        choices = read_choices(parameters)
        pairs = pairings(choices.table, all_pairs=parameters["all_pairs"], own=own)
        options = SampleOptions(
            parameters["groups"],
            sizes,
            [duel for given in parameters["methods"] for duel in duels(given, pairs)],
        )
        report = significance_report(
            choices.table,
            pairs,
            choices.convention,
            options,
            settings=choices.settings | {"groups": options.groups},
            counts=counts,
        )
    elif counts:
        sheets = (count_sheet(counts, CONVENTIONS[parameters["convention"]]),)
        report = Report("significance", {"counts": counts}, sheets, records_of(sheets))
    else:
        raise click.UsageError("give an INPUT, or --counts")
    write_report(report, form=parameters["form"], output=parameters["output"])


def _numbers(given: str | None, name: str) -> list[float]:
    try:
        return [float(part) for part in given.split(",")] if given else []
    except ValueError:
        raise click.UsageError(f"{name} takes numbers with commas, not {given!r}") from None
