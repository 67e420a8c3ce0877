"""`prevalence meta figures`: draw what the other commands print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from prevalence.cli.meta_options import (
    coefficient_option,
    input_options,
    names,
    paired_names,
    pairing_options,
    read_choices,
    rule_options,
)
from prevalence.cli.options import GroupedCommand, option, quiet_option, seed_option

__all__ = ["figures"]

_EPILOG = """\b
Examples:
  prevalence meta figures examples/ratings.jsonl --output figures
  prevalence meta figures examples/ratings.jsonl --output figures --figure means --format svg
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@input_options
@option(
    "Comparison", "--level", "levels", multiple=True, metavar="NAME",
    type=click.Choice(["system", "summary", "pooled", "candidate"]),
    help="Levels in the figure of correlations; repeat it for several.",
)  # fmt: skip
@coefficient_option
@pairing_options
@rule_options
@option(
    "Statistics", "--bootstrap", metavar="UNIT",
    type=click.Choice(["items", "systems", "both", "none"]), default="both", show_default=True,
    help="Intervals of correlations: items, systems, both or none.",
)  # fmt: skip
@option(
    "Statistics", "--resamples", metavar="N", type=click.IntRange(1), default=1000,
    show_default=True, help="Of the bootstrap.",
)  # fmt: skip
@seed_option("Statistics", "Of the resampling.")
@option(
    "Output", "--output", "-o", "folder", metavar="DIR", required=True,
    type=click.Path(path_type=Path, file_okay=False), help="Folder of the figures.",
)  # fmt: skip
@option(
    "Output", "--figure", "wanted", multiple=True, metavar="NAMES",
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
    from prevalence.meta.correlate import Bootstrap
    from prevalence.report.figures import FIGURES, FigureSource, draw, save

    own = paired_names(parameters.pop("own"), "--own")
    wanted = names(parameters["wanted"]) or list(FIGURES)
    unknown = [name for name in wanted if name not in FIGURES]
    if unknown:
        raise click.UsageError(f"--figure: {unknown[0]!r} is none of {', '.join(FIGURES)}")
    choices = read_choices(parameters)
    over, resamples, seed = (parameters[key] for key in ("bootstrap", "resamples", "seed"))
    bootstrap = None
    if over != "none":
        bootstrap = Bootstrap(over=over, resamples=resamples, seed=seed)
    subject = FigureSource(
        choices.table, choices.convention, bootstrap, own, parameters["all_pairs"]
    )
    drawn = {name: draw(name, subject) for name in wanted if _has_data(name, subject)}
    folder: Path = parameters["folder"]
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in drawn.items():
        path = folder / f"{name}.{parameters['form']}"
        save(figure, path)
        click.echo(path)


def _has_data(name: str, subject: Any) -> bool:
    """Whether there are metrics, without which three of the figures can still be drawn."""
    return bool(subject.table.metrics) or name in ("scores", "ratings", "means")
