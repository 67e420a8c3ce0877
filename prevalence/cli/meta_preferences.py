"""`prevalence meta preferences`: whom metrics, judges and people prefer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from prevalence.cli.meta_options import (
    input_options,
    note_left_out,
    output_options,
    paired_names,
    pairing_options,
    read_choices,
    write_report,
)
from prevalence.cli.options import LABELLED_FILE, GroupedCommand, option

__all__ = ["preferences"]

_EPILOG = """\b
Examples:
  prevalence meta preferences examples/ratings.jsonl
  prevalence meta preferences examples/ratings.jsonl --duels judge=examples/duels.jsonl
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@input_options
@pairing_options
@option(
    "Comparison", "--duels", multiple=True, metavar="[LABEL=]FILE", type=LABELLED_FILE,
    help="Head-to-head rows {id, a, b, dimension, verdict_ab, verdict_ba} of a judge; repeat it "
    "for several judges.",
)  # fmt: skip
@option(
    "Rules", "--missing", metavar="RULE", type=click.Choice(["drop", "zero", "fail"]),
    help="A rated summary without a metric value: drop, zero or fail [default: drop].",
)  # fmt: skip
@output_options
def preferences(**parameters: Any) -> None:
    """Does a metric prefer the systems that people prefer?

    Counts the pairs of systems that metric and people put in the same order (#CP), over all pairs
    and over neighbours in quality.
    """
    from prevalence.meta.correlate import pairings
    from prevalence.meta.preferences import read_duels
    from prevalence.report.preferences import preference_report

    own = paired_names(parameters.pop("own"), "--own")
    choices = read_choices(parameters)
    judges = {}
    for given in parameters["duels"]:
        label, mark, path = given.partition("=")
        if not mark or Path(given).exists():
            label, path = Path(given).stem, given
        judges[label], left_out = read_duels(path, choices.table)
        if not parameters["quiet"]:
            note_left_out(left_out, path)
    pairs = []
    if choices.table.metrics or not judges:
        pairs = pairings(choices.table, all_pairs=parameters["all_pairs"], own=own)
    report = preference_report(
        choices.table,
        choices.whole,
        pairs,
        choices.convention,
        settings=choices.settings | {"duels": list(parameters["duels"])},
        judges=judges,
    )
    write_report(report, form=parameters["form"], output=parameters["output"])
