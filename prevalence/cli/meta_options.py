"""What the commands of `prevalence meta` share: inputs, choices, and the report."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.options import (
    LABELLED_FILE,
    Command,
    option,
    quiet_option,
    seed_option,
    several_names,
    together,
)
from prevalence.cli.sheets import check_sheets, sheet_options, write_sheets
from prevalence.wording import counted, first_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from prevalence.meta.correlate import Bootstrap, Pairing
    from prevalence.meta.table import RatingTable
    from prevalence.report.sheets import Report, Study
    from prevalence.stats.arrays import Bools, Floats

__all__ = [
    "bootstrap_options",
    "coefficient_option",
    "drawing",
    "drawn",
    "duels",
    "input_options",
    "level_option",
    "missing_option",
    "note_gaps",
    "note_left_out",
    "note_uneven",
    "note_uneven_metrics",
    "once",
    "output_options",
    "pairing_options",
    "read_study",
    "reporting",
    "rule_options",
    "selection_options",
]

_NAMED = 5
"""Metrics with gaps that a note names."""
_FEW = 3
"""Systems or ids that a note names."""

selection_options = together(
    option(
        "Input", "--metrics", multiple=True, callback=several_names, metavar="NAMES",
        help="Only these metrics (repeat it, or use commas).",
    ),
    option(
        "Input", "--dimensions", multiple=True, callback=several_names, metavar="NAMES",
        help="Only these dimensions.",
    ),
    option(
        "Input", "--systems", multiple=True, callback=several_names, metavar="NAMES",
        help="Only these systems, in this order.",
    ),
    option(
        "Input", "--raters", metavar="GROUP",
        help="Group of raters to use where a source has several, for example turker [default: "
             "expert].",
    ),
    option(
        "Input", "--by-position", is_flag=True,
        help="Match items by their position in each file instead of their ids.",
    ),
    option(
        "Input", "--repeated", metavar="WHICH", type=click.Choice(["first", "last"]),
        default="last", show_default=True,
        help="Which answer counts where a judge was asked twice about a summary.",
    ),
    option(
        "Input", "--convention", metavar="NAME",
        type=click.Choice(["default", "opinsummeval", "summeval-op", "llm-summeval"]),
        default="default", show_default=True,
        help="Make the choices of a published study: opinsummeval, summeval-op or "
             "llm-summeval; other options override them.",
    ),
)  # fmt: skip
"""The options that choose among what was read."""

input_options = together(
    click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=LABELLED_FILE),
    selection_options,
)
"""INPUT, and the options that choose among what was read."""

output_options = together(
    sheet_options,
    option(
        "Output", "--decimals", metavar="N", type=click.IntRange(0, 15),
        help="Decimals to print [default: the convention's, or 3].",
    ),
    option(
        "Output", "--rounding", metavar="RULE",
        type=click.Choice(["half-up", "half-even", "truncate"]),
        help="half-up, half-even or truncate [default: half-up].",
    ),
    quiet_option,
)  # fmt: skip
"""Format, file, decimals, rounding and --quiet."""

pairing_options = together(
    option(
        "Comparison", "--own", multiple=True, metavar="METRIC=DIMENSION",
        help="Compare a metric with this dimension only, whatever the metric's name (repeat "
             "it).",
    ),
    option(
        "Comparison", "--all-pairs", is_flag=True,
        help="Also compare metrics of one dimension (FAMILY.DIMENSION) with the other "
             "dimensions.",
    ),
    option(
        "Comparison", "--people", is_flag=True,
        help="Also treat people's own mean ratings as metrics, people.DIMENSION.",
    ),
)  # fmt: skip
"""The options that say which metric is compared with which dimension."""

missing_option = option(
    "Rules", "--missing", metavar="RULE", type=click.Choice(["drop", "zero", "fail"]),
    help="What to do with a rated summary without a metric value: drop it, score it zero, "
         "or fail [default: drop].",
)  # fmt: skip

rule_options = together(
    option(
        "Rules", "--undefined", metavar="RULE", type=click.Choice(["drop", "zero", "fail"]),
        help="What to do with a coefficient of constant values (NaN): drop it from means, "
             "count it as zero, or fail [default: the convention's, or drop].",
    ),
    missing_option,
)  # fmt: skip
"""The rules for undefined coefficients and missing values."""


def once(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """What was given to an option that can be repeated, each once."""
    return tuple(dict.fromkeys(given))


coefficient_option = option(
    "Comparison", "--coefficient", "kinds", multiple=True, metavar="NAME", callback=once,
    type=click.Choice(["kendall", "spearman", "pearson"]),
    help="kendall (tau-b), spearman or pearson; repeat it for several "
    "[default: the convention's, or kendall].",
)  # fmt: skip


def level_option(about: str) -> Callable[[Command], Command]:
    """Add --level."""
    return option(
        "Comparison", "--level", "levels", multiple=True, metavar="NAME", help=about, callback=once,
        type=click.Choice(["system", "summary", "pooled", "candidate"]),
    )  # fmt: skip


def bootstrap_options(
    *units: str,
    help: str,  # noqa: A002 - as in click
    default: str = "none",
    confidence: bool = True,
    permuted: bool = False,
) -> Callable[[Command], Command]:
    """Add --bootstrap, --resamples, --confidence and --seed.

    Args:
        units: what can be resampled; ``none`` is added.
        help: of --bootstrap.
        default: one of the units, or ``none``.
        confidence: whether there is --confidence.
        permuted: whether the command also has a test by permutation, which draws as often.
    """
    drawn = ("bootstrap resamples and of permutations", "resampling and permutations")
    several, what = drawn if permuted else ("bootstrap resamples", "resampling")
    unit = option(
        "Statistics", "--bootstrap", metavar="UNIT", type=click.Choice([*units, "none"]),
        default=default, show_default=True, help=help,
    )  # fmt: skip
    resamples = option(
        "Statistics", "--resamples", metavar="N", type=click.IntRange(1), default=1000,
        show_default=True, help=f"Number of {several}.",
    )  # fmt: skip
    sure = option(
        "Statistics", "--confidence", metavar="P", default=0.95, show_default=True,
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        help="Confidence of the intervals.",
    )  # fmt: skip
    seed = seed_option("Statistics", f"Seed for {what}.")
    return together(unit, resamples, *([sure] if confidence else ()), seed)


def drawing(parameters: Mapping[str, Any]) -> Bootstrap | None:
    """The bootstrap that --bootstrap asks for, if any."""
    from prevalence.meta.correlate import Bootstrap

    if parameters["bootstrap"] == "none":
        return None
    return Bootstrap(over=parameters["bootstrap"], **drawn(parameters))


def drawn(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """How a command's bootstrap draws, as far as it has options for that."""
    options = ("resamples", "seed", "confidence")
    return {key: parameters[key] for key in options if key in parameters}


def _own_dimensions(given: tuple[str, ...]) -> dict[str, str]:
    own = {}
    for part in given:
        metric, mark, dimension = part.rpartition("=")
        if not mark or not metric or not dimension:
            raise click.UsageError(f"--own takes METRIC=DIMENSION, not {part!r}")
        own[metric.strip()] = dimension.strip()
    return own


def duels(given: str, pairs: list[Pairing]) -> list[tuple[Pairing, Pairing]]:
    """The dimensions in which two metrics, or two families, can be compared.

    Args:
        given: FIRST,SECOND.
        pairs: all metrics with their dimensions.

    Raises:
        click.UsageError: there are not two names, or no dimension has both.
    """
    found = [name.strip() for name in given.split(",")]
    if len(found) != 2:
        raise click.UsageError(f"give two metrics as FIRST,SECOND, not {given!r}")
    sides = [
        {pair.dimension: pair for pair in pairs if name in (pair.row, pair.metric)}
        for name in found
    ]
    shared = [(pair, sides[1][d]) for d, pair in sides[0].items() if d in sides[1]]
    if not shared:
        known = ", ".join(dict.fromkeys(pair.row for pair in pairs))
        raise click.UsageError(f"{given}: no dimension has both; there are: {known}")
    return shared


def reporting(compute: Callable[..., Report]) -> Callable[..., None]:
    """What a command does: read the inputs, and write the report that is made of them.

    Args:
        compute: takes the study, and the command's parameters by name.
    """

    @wraps(compute)
    def run(**parameters: Any) -> None:
        report = compute(read_study(parameters), **parameters)
        write_sheets(report, form=parameters["form"], output=parameters["output"])

    return run


def read_study(parameters: Mapping[str, Any]) -> Study:
    """Read the inputs and apply the options that the commands share.

    Args:
        parameters: of the command.

    Raises:
        click.UsageError: the report could not be written, which is said before any work.
    """
    from prevalence.cli.errors import note
    from prevalence.meta.conventions import CONVENTIONS
    from prevalence.meta.sources import read_tables
    from prevalence.report.sheets import Study

    own = _own_dimensions(parameters.get("own", ()))
    if parameters.get("output") is not None:
        check_sheets(parameters["form"], parameters["output"])
    name = parameters["convention"]
    changes = {
        key: value
        for key in ("kinds", "levels", "undefined", "missing", "decimals", "rounding")
        if (value := parameters.get(key)) not in (None, ())
    }
    reading = read_tables(
        parameters["inputs"],
        raters=parameters["raters"],
        by_position=parameters["by_position"],
        keep_unread=CONVENTIONS[name].keep_unread,
        repeated=parameters["repeated"],
    )
    if not parameters["quiet"]:
        for reason in reading.skipped:
            note(f"skipped: {reason}")
        note_left_out(reading.left_out, "the inputs")
    convention = replace(CONVENTIONS[name], **changes)
    read = reading.table.with_people() if parameters.get("people") else reading.table
    whole = read.select(systems=parameters["systems"] or None)
    table = whole.select(**{key: parameters[key] or None for key in ("metrics", "dimensions")})
    if "own" in parameters and not parameters["all_pairs"]:
        table = _without_others(table, whole.dimensions, own, parameters["metrics"])
    settings = {
        "inputs": [str(path) for path in parameters["inputs"]],
        "convention": name,
        "coefficients": list(convention.kinds),
        "levels": list(convention.levels),
        "undefined": convention.undefined,
        "missing": convention.missing,
        "items": len(table.items),
        "systems": list(table.systems),
        "raters": len(table.raters),
    }
    unchosen = frozenset(read.systems).difference(table.systems)
    all_pairs = bool(parameters.get("all_pairs"))
    study = Study(table, whole, convention, settings, own, all_pairs, unchosen)
    return replace(study, settings=settings | _left_out(study, parameters))


def _without_others(
    table: RatingTable, rated: Iterable[str], own: Mapping[str, str], named: Iterable[str]
) -> RatingTable:
    """Without the metrics of one dimension that judge a rated one which was not chosen."""
    from prevalence.meta.table import own_dimension

    judged = {metric: own_dimension(metric, rated)[1] for metric in table.metrics}
    others = {
        metric: dimension
        for metric, dimension in judged.items()
        if dimension is not None and dimension not in table.human and metric not in own
    }
    for metric in named:
        if metric in others:
            raise click.UsageError(
                f"--dimensions leaves out {others[metric]}, which {metric} judges; --all-pairs "
                "compares it with other dimensions"
            )
    return table.select(metrics=[metric for metric in table.metrics if metric not in others])


def _left_out(study: Study, parameters: Mapping[str, Any]) -> dict[str, Mapping[str, object]]:
    """What the settings say of metrics and summaries that are not compared; notes say it too."""
    counted = _gaps(study)
    unrated = study.unrated if "own" in parameters else {}
    if not parameters["quiet"]:
        _note_unrated(unrated)
        _note_missing(study, counted)
    return {**({"unrated_dimension": unrated} if unrated else {}), **counted}


def _note_unrated(unrated: Mapping[str, str]) -> None:
    """Say which metrics are not compared, because nobody rated what they judge."""
    from prevalence.cli.errors import note

    if unrated:
        named = [f"{metric} ({dimension})" for metric, dimension in unrated.items()]
        note(
            "metrics of a dimension that people did not rate, compared with none: "
            f"{first_of(named, _NAMED)}; --own METRIC=DIMENSION or --all-pairs compares "
            "them all the same"
        )


def _note_missing(study: Study, counted: Mapping[str, Mapping[str, int]]) -> None:
    """Say what has no value and what no rating, as :func:`_gaps` counts them."""
    rule = "counted as 0" if study.convention.missing == "zero" else "left out"
    note_gaps(f"rated summaries without a value, {rule}", counted.get("without_value", {}))
    note_gaps("summaries that people did not rate, left out", counted.get("unrated", {}))
    _note_strangers(study)


def note_gaps(what: str, counts: Mapping[str, int]) -> None:
    """Say how many there are of something by name, unless there are none."""
    from prevalence.cli.errors import note

    if counts:
        named = [f"{name} {count:,}" for name, count in counts.items()]
        note(f"{what}: {first_of(named, _NAMED)}")


def _note_strangers(study: Study) -> None:
    """Say which metric shares no summary with people: then files spell ids or systems otherwise."""
    from prevalence.cli.errors import note
    from prevalence.meta.correlate import shares_summary

    table = study.table
    if not study.comparable:
        return
    known = {pair.metric for pair in study.pairs}
    met = {pair.metric for pair in study.pairs if shares_summary(table, pair)}
    if met:
        _note_one_sided(study)
    for name in [name for name in table.metrics if name in known - met][:_NAMED]:
        valued, rated = table.first_summary(name), table.first_summary()
        if valued is not None and rated is not None:
            note(
                f"{name} has no value for any rated summary: files must give ids and systems alike "
                f"({name} has {_summary(valued)}; people rated {_summary(rated)})"
            )


def _note_one_sided(study: Study) -> None:
    """Ask whether names that only people rated are those that only metrics scored."""
    from prevalence.cli.errors import note
    from prevalence.meta.correlate import one_sided

    for what, (rated, scored) in one_sided(study.table, study.pairs).items():
        if rated and scored:
            note(
                f"{what}s with ratings and no scores: {first_of(rated, _FEW)}; with scores "
                f"and no ratings: {first_of(scored, _FEW)}; if these are the same, "
                "give them alike in all files"
            )


def _summary(named: tuple[str, str]) -> str:
    return f"id {named[0]!r} of system {named[1]!r}"


def _gaps(study: Study) -> dict[str, dict[str, int]]:
    """Where some are: rated summaries without a value by metric, unrated ones by dimension."""
    from prevalence.meta.correlate import metric_gaps, unrated

    if not study.comparable:
        return {}
    found: dict[str, dict[str, int]] = {"without_value": {}, "unrated": {}}
    for pair in study.pairs:
        for what, name, cells in (
            ("without_value", pair.metric, metric_gaps(study.table, pair)),
            ("unrated", pair.dimension, unrated(study.table, pair)),
        ):
            count = int(cells.sum())
            if count:
                found[what][name] = max(count, found[what].get(name, 0))
    return {what: counts for what, counts in found.items() if counts}


def note_uneven(grids: Iterable[Floats], verb: str) -> None:
    """Say how many products have all systems, where means of systems would compare products too.

    Args:
        grids: float64 [items, systems] each, NaN where a summary has no value.
        verb: what was done to the summaries.
    """
    import numpy as np

    from prevalence.cli.errors import note

    whole, items = _with_all_systems(np.any([~np.isnan(grid) for grid in grids], axis=0))
    if whole < items:
        note(
            f"systems were {verb} on different products: {whole:,} of "
            f"{counted(items, 'product has', 'products have')} all systems"
        )


def note_uneven_metrics(study: Study) -> None:
    """Say which metrics lack values on different products, where means of systems are compared."""
    import numpy as np

    from prevalence.cli.errors import note
    from prevalence.meta.correlate import metric_gaps, score_grids

    table, rule = study.table, study.convention.missing
    uneven: dict[str, None] = {}
    for pair in study.pairs:
        grids = score_grids(table, pair, missing=rule)
        whole, items = _with_all_systems(~np.any(np.isnan(grids), axis=0))
        if whole < items and rule != "zero" and metric_gaps(table, pair).any():
            uneven[pair.metric] = None
    if uneven:
        note(
            "values are missing on different products for different systems, whose means differ "
            f"with the products then: {first_of(list(uneven), _NAMED)}"
        )


def _with_all_systems(known: Bools) -> tuple[int, int]:
    """Products with all systems, and with any; bool [items, systems]."""
    shared = known[:, known.any(axis=0)]
    items = shared[shared.any(axis=1)]
    return int(items.all(axis=1).sum()), len(items)


def note_left_out(count: int, where: str) -> None:
    """Say how many rows hold an error and nothing else."""
    from prevalence.cli.errors import note

    if count:
        note(f"left out: {counted(count, 'row')} of {where} with an error and no value")
