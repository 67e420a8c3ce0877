"""`prevalence meta stability`: quality against performance, system by system."""

from __future__ import annotations

from typing import Any

import click

from prevalence.cli.meta_options import (
    coefficient_option,
    duels,
    input_options,
    output_options,
    paired_names,
    pairing_options,
    read_choices,
    rule_options,
    write_report,
)
from prevalence.cli.options import GroupedCommand, option

__all__ = ["stability"]

_EPILOG = """\b
Examples:
  prevalence meta stability examples/ratings.jsonl --parts
  prevalence meta stability examples/ratings.jsonl --methods judge,characters --format markdown
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@input_options
@coefficient_option
@pairing_options
@option(
    "Comparison", "--methods", multiple=True, metavar="FIRST,SECOND",
    help="Also correlate the agreement R of two methods with the performance of each.",
)  # fmt: skip
@rule_options
@output_options
@option("Output", "--parts", is_flag=True, help="Show Q, P and R of every system.")
def stability(**parameters: Any) -> None:
    """Does a metric do as well on good systems as on bad ones?

    Correlates the quality Q of systems with the performance P of a metric on them.
    """
    from prevalence.meta.correlate import pairings
    from prevalence.report.stability import stability_report

    own = paired_names(parameters.pop("own"), "--own")
    choices = read_choices(parameters)
    pairs = pairings(choices.table, all_pairs=parameters["all_pairs"], own=own)
    report = stability_report(
        choices.table,
        pairs,
        choices.convention,
        settings=choices.settings,
        duels=[duel for names in parameters["methods"] for duel in duels(names, pairs)],
        parts=parameters["parts"],
    )
    write_report(report, form=parameters["form"], output=parameters["output"])
