"""`prevalence support`: how many reviews imply a statement, and which."""

from __future__ import annotations

import json
from typing import Any

import click

from prevalence.cli.options import model_options, open_cache_folder, split_labels

__all__ = ["support"]

_EPILOG = """\b
Examples:
  prevalence support examples/reviews.txt "The soles grip well on wet ground."
  prevalence support examples/summaries.jsonl --product ex-boots "They run small." --format json

\b
REVIEWS holds one review a line, or products (then --product chooses one).
"""


@click.command(epilog=_EPILOG)
@click.argument("reviews", metavar="REVIEWS")
@click.argument("statements", metavar="STATEMENT...", nargs=-1, required=True)
@model_options
@click.option("--product", help="Id of the product, when REVIEWS holds several.")
@click.option(
    "--show", type=click.IntRange(0), default=5, show_default=True, help="Reviews to show of each."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "jsonl"]),
    default="table",
    show_default=True,
)
def support(
    reviews: str,
    statements: tuple[str, ...],
    product: str | None,
    show: int,
    form: str,
    **parameters: Any,
) -> None:
    """Count the reviews that imply a statement, and say which.

    Equation 1 of opinion prevalence alone: no statement is split, trivial or redundant.
    """
    from prevalence.api import OpinionPrevalence
    from prevalence.readers import read_reviews
    from prevalence.report.console import make_console, support_view

    found = read_reviews(reviews, product=product)
    parameters["labels"] = split_labels(parameters["labels"])
    parameters["cache"] = open_cache_folder(parameters["cache"], parameters.pop("no_cache"))
    answers = OpinionPrevalence(**parameters).support(found, statements)
    if form == "table":
        make_console().print(support_view(answers, found, show=show))
        return
    rows = [answer.to_json() for answer in answers]
    if form == "json":
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    for row in rows:
        click.echo(json.dumps(row, ensure_ascii=False))
