"""`prevalence meta`: metrics against people, in tables and figures."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.meta_options import (
    bootstrap_options,
    coefficient_option,
    drawing,
    duels,
    input_options,
    level_option,
    missing_option,
    note_gaps,
    note_left_out,
    note_uneven,
    note_uneven_metrics,
    once,
    output_options,
    pairing_options,
    read_study,
    reporting,
    rule_options,
    selection_options,
)
from prevalence.cli.options import (
    FOLDER_PATH,
    LABELLED_FILE,
    GroupedCommand,
    option,
    quiet_option,
    refuse_given,
    several_names,
)
from prevalence.cli.sheets import write_sheets
from prevalence.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prevalence.meta.correlate import Bootstrap, Pairing
    from prevalence.report.correlations import MetricTest
    from prevalence.report.sheets import Report, Study

__all__ = ["correlate", "figures", "preferences", "significance", "stability"]

_WITHOUT_METRICS = ("scores", "ratings", "means")
"""Figures that need human ratings alone."""

_ACROSS = frozenset(("system", "pooled"))
"""Levels that compare systems across products."""

_CORRELATE_EXAMPLES = """\b
Examples:
  prevalence meta correlate examples/ratings.jsonl
  prevalence meta correlate examples/ratings.jsonl --bootstrap items --level system
  prevalence meta correlate examples/ratings.jsonl --level candidate --parts
  prevalence meta correlate examples/ratings.jsonl --compare judge,characters --holm
  prevalence meta correlate examples/ratings.jsonl --convention llm-summeval --format latex
"""

_STABILITY_EXAMPLES = """\b
Examples:
  prevalence meta stability examples/ratings.jsonl --parts
  prevalence meta stability examples/ratings.jsonl --methods judge,characters --format markdown
"""

_PREFERENCES_EXAMPLES = """\b
Examples:
  prevalence meta preferences examples/ratings.jsonl
  prevalence meta preferences examples/ratings.jsonl --duels judge=examples/duels.jsonl
"""

_SIGNIFICANCE_EXAMPLES = """\b
Examples:
  prevalence meta significance examples/ratings.jsonl --level summary
  prevalence meta significance examples/ratings.jsonl --sizes 1,5,10 --coefficient pearson
  prevalence meta significance --counts 5196,804
"""

_FIGURES_EXAMPLES = """\b
Examples:
  prevalence meta figures examples/ratings.jsonl --output figures
  prevalence meta figures examples/ratings.jsonl --output figures --figure means --format svg
"""


@click.command(cls=GroupedCommand, epilog=_CORRELATE_EXAMPLES)
@input_options
@level_option(
    "system (of means), summary (mean over items), pooled or candidate (by system, and "
    "their mean); repeat it for several [default: the convention's, or system and summary].",
)
@coefficient_option
@pairing_options
@rule_options
@bootstrap_options(
    "items",
    "systems",
    "both",
    help="Compute intervals by resampling items, systems, both or none.",
    permuted=True,
)
@option(
    "Statistics", "--compare", multiple=True, metavar="FIRST,SECOND", callback=once,
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
    "Statistics",
    "--holm",
    is_flag=True,
    help="Also give Holm's correction of the p-values of all --compare.",
)
@output_options
@option(
    "Output", "--mark", "marked", metavar="N", type=click.IntRange(0, 9), default=6,
    show_default=True, help="Mark the best N values of each column, and the best one differently.",
)  # fmt: skip
@option(
    "Output",
    "--average",
    is_flag=True,
    help="Add the average over dimensions, if a metric has a value in each.",
)
@option("Output", "--parts", is_flag=True, help="Show the coefficients that are averaged.")
@reporting
def correlate(study: Study, **parameters: Any) -> Report:
    """Which metric agrees with people?

    Correlates every metric with the mean rating of every dimension.
    """
    from prevalence.meta.correlate import correlate as correlations
    from prevalence.report.correlations import correlation_report

    if not parameters["compare"]:
        refuse_given(("test", "permute", "holm"), "goes with --compare")
    elif parameters["test"] == "williams":
        refuse_given(("permute",), "goes with --test permutation")
    if parameters["bootstrap"] == "none":
        refuse_given(("confidence",), "goes with --bootstrap")
        if not parameters["compare"] or parameters["test"] == "williams":
            why = "goes with --bootstrap, or with --compare by permutation"
            refuse_given(("resamples", "seed"), why)
    bootstrap = drawing(parameters)
    cells = correlations(
        study.table,
        study.convention,
        bootstrap=bootstrap,
        all_pairs=study.all_pairs,
        own=study.own,
    )
    if not parameters["quiet"] and _ACROSS.intersection(study.convention.levels):
        note_uneven(map(study.table.mean_human, study.table.dimensions), "rated")
        note_uneven_metrics(study)
    tests = _comparisons(study, parameters) if parameters["compare"] else []
    return correlation_report(
        cells,
        study.convention,
        comparisons=tests,
        comparison_notes=_comparison_notes(study, parameters),
        settings=study.settings | _statistics(bootstrap, parameters),
        **{name: parameters[name] for name in ("marked", "average", "parts")},
    )


def _statistics(bootstrap: Bootstrap | None, parameters: Mapping[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if bootstrap is not None:
        settings |= {"bootstrap": bootstrap.over, "confidence": bootstrap.confidence}
    permuted = parameters["compare"] and parameters["test"] == "permutation"
    if parameters["compare"]:
        settings |= {"test": parameters["test"]}
        settings |= {"permute": parameters["permute"]} if permuted else {}
    if bootstrap is not None or permuted:
        settings |= {"resamples": parameters["resamples"], "seed": parameters["seed"]}
    return settings


def _comparison_notes(study: Study, parameters: Mapping[str, Any]) -> list[str]:
    """What the reader of comparisons should know of their signs, and of what p holds for."""
    compared = [pair for names in parameters["compare"] for duel in duels(names, study.pairs)
                for pair in duel]  # fmt: skip
    notes = study.turned_note(compared)
    if parameters["test"] == "permutation" and parameters["permute"] != "systems":
        notes.append("p holds for these systems; with --permute systems, for others like them too")
    return notes


def _comparisons(study: Study, parameters: Mapping[str, Any]) -> list[MetricTest]:
    from prevalence.meta.comparison import holm

    tests = [
        _tested(study, duel, level, kind, parameters)
        for names in parameters["compare"]
        for duel in duels(names, study.pairs)
        for level, kind in product(study.convention.levels, study.convention.kinds)
    ]
    if not parameters["holm"]:
        return tests
    corrected = holm([entry.p for entry in tests])
    return [replace(entry, p_holm=float(p)) for entry, p in zip(tests, corrected, strict=True)]


def _tested(
    study: Study,
    duel: tuple[Pairing, Pairing],
    level: Any,
    kind: Any,
    parameters: Mapping[str, Any],
) -> MetricTest:
    from prevalence.meta.comparison import permutation_test, williams_test
    from prevalence.report.correlations import MetricTest

    (one, human), (two, _) = map(study.turned_grids, duel)
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
            undefined=study.convention.undefined,
        )
    first, second = duel
    return MetricTest(
        first.row, second.row, first.dimension, level, kind, parameters["test"], *found,
        p_holm=float("nan"),
    )  # fmt: skip


@click.command(cls=GroupedCommand, epilog=_STABILITY_EXAMPLES)
@input_options
@coefficient_option
@pairing_options
@option(
    "Comparison", "--methods", multiple=True, metavar="FIRST,SECOND", callback=once,
    help="Also correlate the agreement R of two methods with the performance of each.",
)  # fmt: skip
@missing_option
@output_options
@option("Output", "--parts", is_flag=True, help="Show Q, P and R of every system.")
@reporting
def stability(study: Study, *, methods: tuple[str, ...], parts: bool, **_: Any) -> Report:
    """Does a metric do as well on good systems as on bad ones?

    Correlates the quality Q of systems with the performance P of a metric on them.
    """
    from prevalence.report.stability import stability_report

    chosen = [duel for given in methods for duel in duels(given, study.pairs)]
    return stability_report(study, duels=chosen, parts=parts)


@click.command(cls=GroupedCommand, epilog=_PREFERENCES_EXAMPLES)
@input_options
@pairing_options
@option(
    "Comparison", "--duels", "judged", multiple=True, metavar="[LABEL=]FILE", type=LABELLED_FILE,
    help="Head-to-head rows {id, a, b, dimension, verdict_ab, verdict_ba} of a judge; repeat it "
    "for several judges.",
)  # fmt: skip
@missing_option
@output_options
@reporting
def preferences(study: Study, *, judged: tuple[str, ...], quiet: bool, **_: Any) -> Report:
    """Does a metric prefer the systems that people prefer?

    Counts the pairs of systems that metric and people put in the same order (#CP), over all pairs
    and over neighbours in quality.
    """
    from prevalence.meta.preferences import read_duels
    from prevalence.report.preferences import preference_report

    judges = {}
    for given in judged:
        label, mark, path = given.partition("=")
        if not mark or Path(given).exists():
            label, path = Path(given).stem, given
        if label in judges:
            raise click.UsageError(
                f"--duels: two files are called {label!r}; tell them apart with LABEL=FILE"
            )
        judges[label], left_out = read_duels(path, study.table, unchosen=study.unchosen)
        if not quiet:
            note_left_out(left_out, path)
    report = preference_report(study, judges, files=judged)
    if not quiet:
        missing = report.settings.get("without_verdict", {})
        note_gaps("comparisons by people without a verdict, left out", missing)
    return report


@click.command(cls=GroupedCommand, epilog=_SIGNIFICANCE_EXAMPLES)
@click.argument("inputs", metavar="[INPUT...]", nargs=-1, type=LABELLED_FILE)
@selection_options
@level_option(
    "Level of correlations, see `prevalence meta correlate`; repeat it for several.",
)
@coefficient_option
@pairing_options
@option(
    "Samples", "--methods", multiple=True, metavar="FIRST,SECOND", callback=once,
    help="Test the groups of two sampled metrics (or families) against each other.",
)  # fmt: skip
@option(
    "Samples", "--groups", metavar="N", type=click.IntRange(2), default=10, show_default=True,
    help="Number of groups to split the samples into; each is correlated on its own.",
)  # fmt: skip
@option(
    "Samples", "--sizes", metavar="NUMBERS",
    help="Numbers of samples to correlate, for example 1,10,100.",
)  # fmt: skip
@option(
    "Counts", "--counts", metavar="NUMBERS",
    help="Observed counts, for example 5196,804: test for equal shares, with Cramér's V.",
)  # fmt: skip
@output_options
def significance(**parameters: Any) -> None:
    """Are differences between samples, groups and counts more than chance?

    Correlation against the number of samples, Mann-Whitney and t-tests between groups of samples,
    Shapiro-Wilk tests of system means, chi-square of counts.
    """
    from prevalence.meta.conventions import CONVENTIONS
    from prevalence.report.sheets import Report, records_of
    from prevalence.report.significance import SampleOptions, count_sheet, significance_report

    counts = _numbers(parameters["counts"], "--counts")
    sizes = _sizes(parameters["sizes"])
    if parameters["inputs"]:
        if not parameters["methods"]:
            refuse_given(("groups",), "goes with --methods")
        study = read_study(parameters)
        methods = [duel for given in parameters["methods"] for duel in duels(given, study.pairs)]
        options = SampleOptions(parameters["groups"], sizes, methods)
        report = significance_report(study, options, counts=counts)
    elif counts:
        told = {
            key: parameters[key] for key in ("decimals", "rounding") if parameters[key] is not None
        }
        alone = {"counts", "convention", "form", "output", "quiet", "debug", *told}
        names = {str(each.name) for each in click.get_current_context().command.params}
        refuse_given(names - alone, "goes with an INPUT, and --counts has none")
        convention = replace(CONVENTIONS[parameters["convention"]], **told)
        sheets = (count_sheet(counts, convention),)
        report = Report("significance", {"counts": counts}, sheets, records_of(sheets))
    else:
        raise click.UsageError("give an INPUT, or --counts")
    write_sheets(report, form=parameters["form"], output=parameters["output"])


def _sizes(given: str | None) -> list[int] | None:
    sizes = _numbers(given, "--sizes")
    if not all(size >= 1 and size.is_integer() for size in sizes):
        raise click.UsageError(f"--sizes takes whole numbers of at least 1, not {given!r}")
    return [int(size) for size in sizes] or None


def _numbers(given: str | None, name: str) -> list[float]:
    try:
        return [float(part) for part in given.split(",")] if given else []
    except ValueError:
        raise click.UsageError(f"{name} takes numbers with commas, not {given!r}") from None


@click.command(cls=GroupedCommand, epilog=_FIGURES_EXAMPLES)
@input_options
@level_option(
    "Levels in the figure of correlations; repeat it for several.",
)
@coefficient_option
@pairing_options
@rule_options
@bootstrap_options(
    "items",
    "systems",
    "both",
    help="Intervals of correlations: items, systems, both or none.",
    default="both",
    confidence=False,
)
@option(
    "Output", "--output", "-o", "folder", metavar="DIR", required=True,
    type=FOLDER_PATH, help="Folder of the figures.",
)  # fmt: skip
@option(
    "Output", "--figure", "wanted", multiple=True, callback=several_names, metavar="NAMES",
    help="Only these: correlations (with intervals), candidates (box plots of correlations by "
    "system), scores (box plots of human scores), quality (against performance), ratings "
    "(histograms), means (system by dimension).",
)  # fmt: skip
@option(
    "Output", "--format", "form", metavar="FORMAT", type=click.Choice(["png", "svg", "pdf"]),
    default="png", show_default=True, help="png, svg or pdf.",
)  # fmt: skip
@quiet_option
def figures(**parameters: Any) -> None:
    """Draw correlations, box plots, quality, ratings or averages.

    Needs the extra: pip install 'prevalence[figures]'.
    """
    from prevalence.report.figures import FIGURES, save

    if parameters["bootstrap"] == "none":
        refuse_given(("resamples", "seed"), "goes with --bootstrap")
    asked = parameters["wanted"]
    wanted = asked or FIGURES
    unknown = [name for name in wanted if name not in FIGURES]
    if unknown:
        raise click.UsageError(f"--figure: {unknown[0]!r} is none of {', '.join(FIGURES)}")
    study = read_study(parameters)
    drawable = _WITHOUT_METRICS if not study.table.metrics else FIGURES
    lacking = [name for name in wanted if name not in drawable]
    if asked and lacking:
        raise InputError(f"--figure {lacking[0]}: the inputs hold no metrics")
    bootstrap = drawing(parameters)
    drawn = {name: FIGURES[name](study, bootstrap) for name in wanted if name in drawable}
    folder: Path = parameters["folder"]
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in drawn.items():
        path = folder / f"{name}.{parameters['form']}"
        save(figure, path)
        click.echo(path)
