"""`prevalence meta means`: the averages of each system, with marks."""

from __future__ import annotations

from typing import Any

import click

from prevalence.cli.meta_options import input_options, output_options, read_choices, write_report
from prevalence.cli.options import GroupedCommand, option

__all__ = ["means"]

_EPILOG = """\b
Examples:
  prevalence meta means examples/ratings.jsonl
  prevalence meta means examples/ratings.jsonl --of metrics --mark 1 --format latex
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@input_options
@option(
    "Comparison", "--of", "what", metavar="WHAT", type=click.Choice(["human", "metrics", "both"]),
    default="human", show_default=True,
    help="Average human ratings, metrics, or both (then without a column of averages).",
)  # fmt: skip
@output_options
@option(
    "Output", "--mark", "marked", metavar="N", type=click.IntRange(0, 9), default=6,
    show_default=True, help="Mark the best N values of a column.",
)  # fmt: skip
@option(
    "Output", "--average-rounded", is_flag=True, help="Average the rounded figures, not the exact."
)
def means(**parameters: Any) -> None:
    """What are the averages of each system?

    A line a system, a column a dimension or a metric, the best values marked.
    """
    from dataclasses import replace

    from prevalence.errors import InputError
    from prevalence.report.correlations import means_report

    choices = read_choices(parameters)
    table, convention, what = choices.table, choices.convention, parameters["what"]
    if parameters["average_rounded"]:
        convention = replace(convention, average_rounded=True)
    columns: dict[str, Any] = {}
    if what != "metrics":
        columns |= {name: table.mean_human(name) for name in table.dimensions}
    if what != "human":
        columns |= dict(table.metrics)
    if not columns:
        raise InputError(f"--of {what}: the inputs hold none")
    report = means_report(
        table,
        columns,
        convention,
        settings=choices.settings,
        marked=parameters["marked"],
        average=what == "human",
    )
    write_report(report, form=parameters["form"], output=parameters["output"])
