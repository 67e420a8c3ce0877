"""`prevalence support`: how many reviews imply a statement, and which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.errors import note
from prevalence.cli.options import (
    GroupedCommand,
    field_options,
    model_options,
    option,
    quiet_option,
    scorer_settings,
)
from prevalence.cli.outputs import note_doubtful, note_uncalibrated, print_json
from prevalence.errors import InputError
from prevalence.records import Product
from prevalence.scoring.options import ScoringOptions
from prevalence.scoring.unread_values import UnreadValues
from prevalence.wording import counted

if TYPE_CHECKING:
    from prevalence.api import OpinionPrevalence

__all__ = ["support"]

_EPILOG = """\b
Examples:
  prevalence support examples/reviews.txt "The soles grip well on wet ground."
  prevalence support examples/summaries.jsonl --product ex-boots "They run small."
  prevalence support examples/reviews.txt "They leak." "The laces hold." --format json
  prevalence support examples/reviews.txt "They leak." --reviews-where 'text has wet, rain'

\b
REVIEWS holds one review a line, as plain text or {"text": "..."}, or a
product, or products of which --product chooses one; - is standard input.
Reviews without an id are named reviews[INDEX], counted from 0.
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("reviews", metavar="REVIEWS")
@click.argument("statements", metavar="STATEMENT...", nargs=-1, required=True)
@option("Input", "--product", metavar="ID", help="Product to use, if REVIEWS holds several.")
@field_options(
    ScoringOptions,
    "reviews_where",
    "first_reviews",
    group="Input",
    helps={
        "reviews_where": "Count only the reviews that satisfy it: 'date >= 2024-05'.",
        "first_reviews": "Count only the first N reviews, of those that satisfy --reviews-where.",
    },
)
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
    reviews_where: str | None,
    first_reviews: int | None,
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
    from prevalence.readers.streams import display
    from prevalence.report.console import make_console, support_view

    scoring = ScoringOptions(reviews_where=reviews_where, first_reviews=first_reviews)
    found = read_reviews(reviews, product=product)
    given = Product("reviews", found, ())
    left = scoring.restriction.reviews_left(given)
    if not quiet:
        _note_reviews(given, len(left.places), scoring)
    if left.reason is not None:
        raise InputError(f"{display(reviews)}: {left.reason}")
    metric = OpinionPrevalence(
        **scorer_settings(parameters), reviews_where=reviews_where, first_reviews=first_reviews
    )
    if not quiet and not metric.calibrated:
        note_uncalibrated(metric.threshold)
    with pair_bar(len(left.places) * len(statements), quiet=quiet) as scored:
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


def _note_reviews(given: Product, left: int, scoring: ScoringOptions) -> None:
    """Say how many reviews count, and which values could not be read for that."""
    whole = len(given.reviews)
    if 0 < left < whole:
        note(f"{left:,} of {counted(whole, 'review')} counted; the others are left out")
    unread = UnreadValues(scoring)
    unread.add(given)
    for told in unread.notes():
        note(told)


def _note_limits(metric: OpinionPrevalence) -> None:
    if metric.counts.cut_premises:
        note(
            f"{counted(metric.counts.cut_premises, 'review was', 'reviews were')} cut at the "
            "model's limit (--windows STRIDE reads all of them)"
        )
    note_doubtful(metric.counts.doubtful)
