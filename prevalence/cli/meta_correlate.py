"""`prevalence meta correlate`: metrics against people, with intervals and tests."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.meta_options import (
    Choices,
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
from prevalence.cli.options import GroupedCommand, option, seed_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prevalence.meta.correlate import Bootstrap, Pairing
    from prevalence.report.correlations import MetricTest

__all__ = ["correlate"]

_EPILOG = """\b
Examples:
  prevalence meta correlate examples/ratings.jsonl
  prevalence meta correlate examples/ratings.jsonl --bootstrap both --level system
  prevalence meta correlate examples/ratings.jsonl --level candidate --parts
  prevalence meta correlate examples/ratings.jsonl --compare judge,characters --holm
  prevalence meta correlate examples/ratings.jsonl --convention llm-summeval --format latex
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@input_options
@option(
    "Comparison", "--level", "levels", multiple=True, metavar="NAME",
    type=click.Choice(["system", "summary", "pooled", "candidate"]),
    help="system (of means), summary (mean over items), pooled or candidate (by system, and "
    "their mean); repeat it for several [default: the convention's, or system and summary].",
)  # fmt: skip
@coefficient_option
@pairing_options
@rule_options
@option(
    "Statistics", "--bootstrap", metavar="UNIT",
    type=click.Choice(["items", "systems", "both", "none"]), default="none", show_default=True,
    help="Draw intervals by resampling items, systems, both or none.",
)  # fmt: skip
@option(
    "Statistics", "--resamples", metavar="N", type=click.IntRange(1), default=1000,
    show_default=True, help="Of the bootstrap and of permutations.",
)  # fmt: skip
@option(
    "Statistics", "--confidence", metavar="P", default=0.95, show_default=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Of the intervals.",
)  # fmt: skip
@seed_option("Statistics", "Of resampling and permutations.")
@option(
    "Statistics", "--compare", multiple=True, metavar="FIRST,SECOND",
    help="Test two metrics (or families) against each other; repeat it for several pairs.",
)  # fmt: skip
@option(
    "Statistics", "--test", metavar="NAME", type=click.Choice(["permutation", "williams"]),
    default="permutation", show_default=True,
    help="permutation of both metrics' scores, or williams (system or pooled level).",
)  # fmt: skip
@option(
    "Statistics", "--permute", metavar="UNIT", type=click.Choice(["items", "systems", "both"]),
    default="both", show_default=True,
    help="What a permutation swaps as a whole: items, systems, or both (each summary alone).",
)  # fmt: skip
@option(
    "Statistics", "--holm", is_flag=True, help="Also correct the p-values of all --compare by Holm."
)
@output_options
@option(
    "Output", "--mark", "marked", metavar="N", type=click.IntRange(0, 9), default=6,
    show_default=True, help="Mark the best N values of a column, the best one as such.",
)  # fmt: skip
@option("Output", "--average", is_flag=True, help="Add the average over dimensions.")
@option("Output", "--parts", is_flag=True, help="Show the coefficients that are averaged.")
def correlate(**parameters: Any) -> None:
    """Which metric agrees with people?

    Correlates every metric with the mean rating of every dimension.
    """
    from prevalence.meta.correlate import Bootstrap
    from prevalence.meta.correlate import correlate as correlations
    from prevalence.report.correlations import correlation_report

    own = paired_names(parameters.pop("own"), "--own")
    choices = read_choices(parameters)
    bootstrap = Bootstrap(
        over=parameters["bootstrap"],
        resamples=parameters["resamples"],
        seed=parameters["seed"],
        confidence=parameters["confidence"],
    )
    drawn = None if bootstrap.over == "none" else bootstrap
    cells = correlations(
        choices.table,
        choices.convention,
        bootstrap=drawn,
        all_pairs=parameters["all_pairs"],
        own=own,
    )
    comparisons = _comparisons(choices, own, parameters)
    report = correlation_report(
        cells,
        choices.convention,
        settings=choices.settings | _statistics(drawn, parameters),
        marked=parameters["marked"],
        average=parameters["average"],
        parts=parameters["parts"],
        comparisons=comparisons,
    )
    write_report(report, form=parameters["form"], output=parameters["output"])


def _statistics(bootstrap: Bootstrap | None, parameters: Mapping[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if bootstrap is not None:
        settings |= {"bootstrap": bootstrap.over, "confidence": bootstrap.confidence}
    if parameters["compare"]:
        settings |= {"test": parameters["test"], "permute": parameters["permute"]}
    if settings:
        settings |= {"resamples": parameters["resamples"], "seed": parameters["seed"]}
    return settings


def _comparisons(
    choices: Choices, own: Mapping[str, str], parameters: Mapping[str, Any]
) -> list[MetricTest]:
    from dataclasses import replace

    from prevalence.meta.comparison import holm
    from prevalence.meta.correlate import pairings

    if not parameters["compare"]:
        return []
    pairs = pairings(choices.table, all_pairs=parameters["all_pairs"], own=own)
    tests = [
        _tested(choices, *duel, level, kind, parameters)
        for names in parameters["compare"]
        for duel in duels(names, pairs)
        for level, kind in product(choices.convention.levels, choices.convention.kinds)
    ]
    if not parameters["holm"]:
        return tests
    corrected = holm([entry.p for entry in tests])
    return [replace(entry, p_holm=float(p)) for entry, p in zip(tests, corrected, strict=True)]


def _tested(  # noqa: PLR0917
    choices: Choices,
    first: Pairing,
    second: Pairing,
    level: Any,
    kind: Any,
    parameters: Mapping[str, Any],
) -> MetricTest:
    from prevalence.meta.comparison import permutation_test, williams_test
    from prevalence.meta.correlate import score_grids
    from prevalence.report.correlations import MetricTest

    missing = choices.convention.missing
    one, human = score_grids(choices.table, first, missing=missing)
    two, _ = score_grids(choices.table, second, missing=missing)
    if parameters["test"] == "williams":
        found = williams_test(level, kind, one, two, human)
    else:
        found = permutation_test(
            level,
            kind,
            one,
            two,
            human,
            over=parameters["permute"],
            trials=parameters["resamples"],
            seed=parameters["seed"],
            undefined=choices.convention.undefined,
        )
    return MetricTest(
        first.row, second.row, first.dimension, level, kind, parameters["test"], *found,
        p_holm=float("nan"),
    )  # fmt: skip
