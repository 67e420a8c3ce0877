"""`prevalence meta key-points`: which scorer finds the comments that make a key point."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.meta_options import (
    bootstrap_options,
    coefficient_option,
    drawing,
    drawn,
    output_options,
)
from prevalence.cli.options import (
    FILE,
    SCORER,
    GroupedCommand,
    option,
    parameter_names,
    refuse_given,
    run_options,
    scorer_settings,
    several_names,
)
from prevalence.cli.outputs import keeping_pairs, refuse_repeats
from prevalence.cli.sheets import check_sheets, write_sheets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prevalence.meta.key_points import Matcher
    from prevalence.readers.key_points import KeyPointTable

__all__ = ["key_points"]

_EXAMPLES = """\b
Examples:
  prevalence meta key-points examples/key_points.csv
  prevalence meta key-points examples/key_points.csv --scorer rouge1-precision --parts
  prevalence meta key-points examples/key_points.csv --metrics overlap --threshold 0.4
  prevalence meta key-points examples/key_points.csv --bootstrap topics

\b
Each INPUT is CSV, TSV, JSON Lines or JSON:
  comments      comment, key_point, label; topic, stance and comment_id if there
                are any; other columns of numbers are scores
  KPM-2021      labels_*.csv with arguments_*.csv and key_points_*.csv beside it
  ThinkP        kp1, kp2, relation and scores; category
An empty label means that people did not agree.
"""


@click.command("key-points", cls=GroupedCommand, epilog=_EXAMPLES)
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=FILE)
@option(
    "Comparison", "--scorer", "scorers", multiple=True, type=SCORER, metavar="NAME",
    help="Also run this scorer on the pairs; repeat it for several.",
)  # fmt: skip
@option(
    "Comparison", "--metrics", multiple=True, callback=several_names, metavar="NAMES",
    help="Only these scores in the inputs (repeat it, or use commas).",
)  # fmt: skip
@option(
    "Comparison", "--threshold", "thresholds", multiple=True, metavar="[NAME=]P",
    help="A comment matches a key point above this score; NAME=P sets it for one scorer only "
         "[default: the scorer's own; 0.5 for scores in the inputs].",
)  # fmt: skip
@coefficient_option
@bootstrap_options(
    "topics", help="Compute intervals by resampling topics (each with its stance), or none."
)
@run_options
@output_options
@option("Output", "--parts", is_flag=True, help="Show every topic and every key point.")
def key_points(**parameters: Any) -> None:
    """Which scorer finds the comments that match a key point?

    Gives average precision, also by the rule of the KPM-2021 shared task, and the error in the
    number of comments that support each key point.
    """
    from prevalence.labelled import join_key_points
    from prevalence.meta.conventions import CONVENTIONS
    from prevalence.meta.key_points import evaluate
    from prevalence.report.key_points import key_point_report

    if parameters["bootstrap"] == "none":
        refuse_given(("resamples", "confidence", "seed"), "goes with --bootstrap")
    if not parameters["scorers"]:
        refuse_given(parameter_names(run_options), "goes with --scorer")
    if parameters["output"] is not None:
        check_sheets(parameters["form"], parameters["output"])
    given = _thresholds(parameters["thresholds"])
    told = {key: parameters[key] for key in ("kinds", "decimals", "rounding")}
    convention = replace(
        CONVENTIONS["default"], **{k: v for k, v in told.items() if v not in (None, ())}
    )
    refuse_repeats(parameters["inputs"])
    table = join_key_points(parameters["inputs"])
    matchers = [*_columns(table, parameters), *_scored(table, parameters, given)]
    matchers = _with_thresholds(matchers, given)
    bootstrap = drawing(parameters)
    found = [
        evaluate(table, matcher, kinds=convention.kinds, bootstrap=bootstrap)
        for matcher in matchers
    ]
    report = key_point_report(
        found,
        convention,
        comments=table.relation == "review",
        parts=parameters["parts"],
        settings={
            "inputs": list(parameters["inputs"]),
            "coefficients": list(convention.kinds),
            "pairs": len(table.pairs),
            **({} if bootstrap is None else {"bootstrap": bootstrap.over} | drawn(parameters)),
        },
    )
    write_sheets(report, form=parameters["form"], output=parameters["output"])


def _thresholds(given: Sequence[str]) -> dict[str, float]:
    """Thresholds by scorer; that of all has no name."""
    found = {}
    for part in given:
        name, _, number = part.rpartition("=")
        try:
            found[name] = float(number)
        except ValueError:
            found[name] = math.nan
        if not math.isfinite(found[name]):
            raise click.UsageError(f"--threshold takes a number or NAME=NUMBER, not {part!r}")
    return found


def _with_thresholds(matchers: Sequence[Matcher], given: Mapping[str, float]) -> list[Matcher]:
    known = [matcher.name for matcher in matchers]
    unknown = [name for name in given if name and name not in known]
    if unknown:
        raise click.UsageError(f"--threshold: {unknown[0]!r} is none of {', '.join(known)}")
    return [
        replace(each, threshold=given.get(each.name, given.get("", each.threshold)))
        for each in matchers
    ]


def _columns(table: KeyPointTable, parameters: Mapping[str, Any]) -> list[Matcher]:
    from prevalence.errors import InputError
    from prevalence.meta.key_points import table_matchers

    matchers = {matcher.name: matcher for matcher in table_matchers(table)}
    wanted = parameters["metrics"]
    unknown = [name for name in wanted if name not in matchers]
    if unknown:
        known = ", ".join(matchers) or "none"
        raise InputError(f"no score {unknown[0]!r} in the inputs; there are: {known}")
    if not matchers and not parameters["scorers"]:
        raise InputError("the inputs hold no scores: name a scorer with --scorer")
    return [matchers[name] for name in wanted or matchers]


def _scored(
    table: KeyPointTable, parameters: Mapping[str, Any], given: Mapping[str, float]
) -> list[Matcher]:
    from prevalence.cli.errors import note
    from prevalence.cli.progress import pair_bar
    from prevalence.meta.key_points import Matcher
    from prevalence.scorers import open_scorer, score_pairs
    from prevalence.scorers.registry import cache_folder

    settings, scorers = scorer_settings(parameters), dict.fromkeys(parameters["scorers"])
    premises = [pair.premise for pair in table.pairs]
    hypotheses = [pair.hypothesis for pair in table.pairs]
    matchers, total, quiet = [], len(premises) * len(scorers), parameters["quiet"]
    kept = any(cache_folder(name, settings["cache"]) for name in scorers)
    with keeping_pairs(cached=kept), pair_bar(total, quiet=quiet) as done:
        for name in scorers:
            scorer = open_scorer(name, **settings, recheck=False)
            scores = score_pairs(scorer, premises, hypotheses, progress=done)
            threshold = scorer.traits.threshold
            matchers.append(Matcher(name, threshold, scores))
            if not (scorer.traits.calibrated or quiet or {"", name} & given.keys()):
                note(f"{name}: no calibrated threshold; {threshold:g} is used (--threshold)")
    return matchers
