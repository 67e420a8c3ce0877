"""`prevalence meta agreement`: do people agree with each other?"""

from __future__ import annotations

from typing import Any

import click

from prevalence.cli.meta_options import (
    coefficient_option,
    input_options,
    output_options,
    paired_names,
    pairing_options,
    read_choices,
    write_report,
)
from prevalence.cli.options import GroupedCommand, option

__all__ = ["agreement"]

_OPINSUMMEVAL_BATCH = 10

_EPILOG = """\b
Examples:
  prevalence meta agreement examples/ratings.jsonl
  prevalence meta agreement examples/ratings.jsonl --rerate 2 --batch 3 --reannotate 0.61
  prevalence meta agreement examples/ratings.jsonl --maximum 5 --metrics judge.coverage
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@input_options
@coefficient_option
@pairing_options
@option(
    "Rules", "--undefined", metavar="RULE", type=click.Choice(["drop", "zero", "fail"]),
    help="An item whose ratings are constant, in correlations of raters: drop, zero or fail "
    "[default: the convention's, or drop].",
)  # fmt: skip
@option(
    "Rules", "--batch", metavar="N", type=click.IntRange(1),
    help="Average coefficients over cells of N items and one system "
    "[default: all summaries at once; 10 with --convention opinsummeval].",
)  # fmt: skip
@option(
    "Rules", "--one-category", metavar="FIGURE", type=float,
    help="Figure of a cell in which all ratings are equal [default: left out; 1 with "
    "--convention opinsummeval].",
)  # fmt: skip
@option(
    "Rules", "--categories", metavar="N", type=click.IntRange(1),
    help="Size of the scale, for AC1 [default: the categories that occur].",
)  # fmt: skip
@output_options
@option(
    "Output", "--rerate", metavar="RANGE", type=click.FloatRange(0),
    help="List the summaries whose ratings are this far apart.",
)  # fmt: skip
@option(
    "Output", "--reannotate", metavar="KAPPA", type=click.FloatRange(-1, 1),
    help="List the batches of a system whose Cohen's kappa is below this.",
)  # fmt: skip
@option(
    "Output", "--maximum", metavar="SCORE", type=float,
    help="Top of the scale: describe metrics as judges beside people.",
)  # fmt: skip
def agreement(**parameters: Any) -> None:
    """Do people agree with each other?

    Krippendorff's alpha, Cohen's and Fleiss' kappa, Gwet's AC1, differences and correlations
    between raters, and what should be rated again.
    """
    from prevalence.errors import InputError
    from prevalence.meta.correlate import pairings
    from prevalence.report.agreement import AgreementOptions, agreement_report

    opinsummeval = parameters["convention"] == "opinsummeval"
    own = paired_names(parameters.pop("own"), "--own")
    choices = read_choices(parameters)
    if not choices.table.human:
        raise InputError("the inputs hold no human ratings")
    one_category = parameters["one_category"]
    if one_category is None:
        one_category = 1.0 if opinsummeval else float("nan")
    options = AgreementOptions(
        batch=parameters["batch"] or (_OPINSUMMEVAL_BATCH if opinsummeval else None),
        one_category=one_category,
        categories=parameters["categories"],
        rerate=parameters["rerate"],
        reannotate=parameters["reannotate"],
        maximum=parameters["maximum"],
    )
    pairs = []
    if options.maximum is not None:
        pairs = pairings(choices.table, all_pairs=parameters["all_pairs"], own=own)
    report = agreement_report(
        choices.table,
        pairs,
        choices.convention,
        options,
        settings=choices.settings | options._asdict(),
    )
    write_report(report, form=parameters["form"], output=parameters["output"])
