"""`prevalence support`: how many reviews imply a statement, and which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.errors import note
from prevalence.cli.options import (
    GroupedCommand,
    model_options,
    option,
    quiet_option,
    scorer_settings,
)
from prevalence.cli.outputs import note_doubtful, note_uncalibrated, print_json
from prevalence.language import counted

if TYPE_CHECKING:
    from prevalence.api import OpinionPrevalence

__all__ = ["support"]

_EPILOG = """\b
Examples:
  prevalence support examples/reviews.txt "The soles grip well on wet ground."
  prevalence support examples/summaries.jsonl --product ex-boots "They run small."
  prevalence support examples/reviews.txt "They leak." "The laces hold." --format json

\b
REVIEWS holds one review a line, as plain text or {"text": "..."}, or a
product, or products of which --product chooses one; - is standard input.
Reviews without an id are named reviews[INDEX], counted from 0.
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("reviews", metavar="REVIEWS")
@click.argument("statements", metavar="STATEMENT...", nargs=-1, required=True)
@option("Input", "--product", metavar="ID", help="Product to use, if REVIEWS holds several.")
@model_options
@option(
    "Output",
    "--show",
    metavar="N",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="Number of reviews of each kind to show.",
)
@option(
    "Output",
    "--format",
    "form",
    metavar="FORMAT",
    type=click.Choice(["table", "json", "jsonl"]),
    default="table",
    show_default=True,
    help="table, json or jsonl.",
)
@quiet_option
def support(
    *,
    reviews: str,
    statements: tuple[str, ...],
    product: str | None,
    show: int,
    form: str,
    quiet: bool,
    **parameters: Any,
) -> None:
    """Count the reviews that imply a statement, and say which.

    This is Equation 1 of opinion prevalence alone: statements are not split, and none is trivial
    or redundant.
    """
    from prevalence.api import OpinionPrevalence
    from prevalence.cli.progress import pair_bar
    from prevalence.readers import read_reviews
    from prevalence.report.console import make_console, support_view

    found = read_reviews(reviews, product=product)
    metric = OpinionPrevalence(**scorer_settings(parameters))
    if not quiet and not metric.calibrated:
        note_uncalibrated(metric.threshold)
    with pair_bar(len(found) * len(statements), quiet=quiet) as scored:
        answers = metric.support(found, statements, progress=scored)
    if not quiet:
        _note_limits(metric)
    if form == "table":
        make_console().print(support_view(answers, found, show=show))
        return
    rows = [answer.to_json() for answer in answers]
    if form == "json":
        print_json(rows)
        return
    for row in rows:
        print_json(row, indent=None)


def _note_limits(metric: OpinionPrevalence) -> None:
    if metric.counts.cut_premises:
        note(
            f"{counted(metric.counts.cut_premises, 'review was', 'reviews were')} cut at the "
            "model's limit (--windows STRIDE reads all of them)"
        )
    note_doubtful(metric.counts.doubtful)
