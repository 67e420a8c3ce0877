"""`prevalence meta agreement` and `means`: what people's ratings say by themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.meta_options import (
    coefficient_option,
    input_options,
    note_uneven,
    output_options,
    pairing_options,
    reporting,
)
from prevalence.cli.options import GroupedCommand, option, refuse_given, seed_option
from prevalence.errors import InputError

if TYPE_CHECKING:
    from prevalence.report.sheets import Report, Study

__all__ = ["agreement", "means"]

_OPINSUMMEVAL_BATCH = 10

_AGREEMENT_EXAMPLES = """\b
Examples:
  prevalence meta agreement examples/ratings.jsonl
  prevalence meta agreement examples/ratings.jsonl --rerate 2 --batch 3 --reannotate 0.61
  prevalence meta agreement examples/ratings.jsonl --maximum 5 --metrics judge.coverage
"""

_MEANS_EXAMPLES = """\b
Examples:
  prevalence meta means examples/ratings.jsonl
  prevalence meta means examples/ratings.jsonl --of metrics --mark 1 --format latex
  prevalence meta means examples/ratings.jsonl --intervals --against trivial
"""


@click.command(cls=GroupedCommand, epilog=_AGREEMENT_EXAMPLES)
@input_options
@coefficient_option
@pairing_options
@option(
    "Rules", "--undefined", metavar="RULE", type=click.Choice(["drop", "zero", "fail"]),
    help="What to do with an item whose ratings are constant, in correlations of raters: drop, "
         "zero or fail [default: the convention's, or drop].",
)  # fmt: skip
@option(
    "Rules", "--batch", metavar="N", type=click.IntRange(1),
    help="Average coefficients over cells of N items and one system "
    "[default: all summaries at once; 10 with --convention opinsummeval].",
)  # fmt: skip
@option(
    "Rules", "--one-category", metavar="FIGURE", type=float,
    help="Value of a cell in which all ratings are equal [default: left out; 1 with "
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
@reporting
def agreement(study: Study, **parameters: Any) -> Report:
    """Do people agree with each other?

    Krippendorff's alpha, Cohen's and Fleiss' kappa, Gwet's AC1, differences and correlations
    between raters, and what should be rated again.
    """
    from prevalence.report.agreement import AgreementOptions, agreement_report

    if parameters["maximum"] is None:
        refuse_given(("metrics", "own", "all_pairs", "people", "repeated"), "goes with --maximum")
    if not study.table.human:
        raise InputError("the inputs hold no human ratings")
    if not parameters["quiet"]:
        _note_one_rater(study)
    told = {name: parameters[name] for name in AgreementOptions._fields}
    opinsummeval = study.settings["convention"] == "opinsummeval"
    if told["one_category"] is None:
        told["one_category"] = 1.0 if opinsummeval else float("nan")
    if told["batch"] is None and opinsummeval:
        told["batch"] = _OPINSUMMEVAL_BATCH
    return agreement_report(study, AgreementOptions(**told))


def _note_one_rater(study: Study) -> None:
    """Say that there is no agreement without two raters, and where they may be."""
    from prevalence.cli.errors import note
    from prevalence.meta.raters import raters_in_names, two_raters

    if any(map(two_raters, study.table.human.values())):
        return
    note(
        "no summary has two raters, so nothing is known of agreement; give each rating a row, with "
        'its rater in a column "rater" (in JSON, a list with one rating a rater)'
    )
    for stem, names in raters_in_names(study.table.dimensions).items():
        note(f"{', '.join(names)} look like raters of {stem}, and are taken for dimensions")


@click.command(cls=GroupedCommand, epilog=_MEANS_EXAMPLES)
@input_options
@option(
    "Comparison", "--of", "what", metavar="WHAT", type=click.Choice(["human", "metrics", "both"]),
    default="human", show_default=True,
    help="Average human ratings, metrics, or both (then without a column of averages).",
)  # fmt: skip
@output_options
@option(
    "Output", "--mark", "marked", metavar="N", type=click.IntRange(0, 9), default=6,
    show_default=True, help="Mark the best N values of each column.",
)  # fmt: skip
@option(
    "Statistics", "--intervals", is_flag=True,
    help="Give the 95% bootstrap interval of each mean, over items.",
)  # fmt: skip
@option(
    "Comparison", "--against", metavar="SYSTEM",
    help="Also give how far all other systems lie above SYSTEM, with intervals and paired tests.",
)  # fmt: skip
@option(
    "Statistics", "--resamples", metavar="N", type=click.IntRange(1), default=10_000,
    show_default=True, help="Number of bootstrap resamples and of permutations.",
)  # fmt: skip
@seed_option("Statistics", "Seed for resampling and permutations.")
@option(
    "Output",
    "--average-rounded",
    is_flag=True,
    help="Average the rounded figures, not the exact ones.",
)
@reporting
def means(
    study: Study, *, what: str, average_rounded: bool, quiet: bool, **parameters: Any
) -> Report:
    """What are the averages of each system?

    One row per system and one column per dimension or metric, with the best values marked.
    """
    from prevalence.meta.table import PEOPLE
    from prevalence.report.means import means_report

    if not (parameters["intervals"] or parameters["against"]):
        refuse_given(("resamples", "seed"), "goes with --intervals or --against")

    if what == "human":
        refuse_given(("metrics",), "goes with --of metrics or both")
    else:
        refuse_given(("average_rounded",), "goes with --of human")
    if what == "metrics":
        refuse_given(("dimensions", "raters"), "goes with --of human or both")
    table = study.table
    if average_rounded:
        study = replace(study, convention=replace(study.convention, average_rounded=True))
    columns: dict[str, Any] = {}
    if what != "metrics":
        taken = table.metrics if what == "both" else {}
        columns |= {
            f"{PEOPLE}.{name}" if name in taken else name: table.mean_human(name)
            for name in table.dimensions
        }
    if what != "human":
        columns |= dict(table.metrics)
    if not columns:
        have, others = ("ratings", "metrics") if what == "human" else ("metrics", "human")
        raise InputError(
            f"--of {what}: the inputs hold no {have}; add a file, or use --of {others}"
        )
    if not quiet:
        note_uneven(columns.values(), "scored" if what == "metrics" else "rated")
    chosen = ("marked", "intervals", "against", "resamples", "seed")
    told = {name: parameters[name] for name in chosen}
    return means_report(study, columns, average=what == "human", **told)
