"""`prevalence plot`: rows in, pictures out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prevalence.cli.options import (
    FOLDER_PATH,
    ROWS_PATH,
    GroupedCommand,
    option,
    quiet_option,
    several_names,
)
from prevalence.cli.pages import note_repeats, read_contents

if TYPE_CHECKING:
    from pathlib import Path

    from prevalence.report.contents import Contents

__all__ = ["plot"]

_EPILOG = """\b
Examples:
  prevalence plot rows.jsonl --output plots
  prevalence plot rows.jsonl --output plots --figure systems,supports --format svg
  prevalence calibrate examples/judgments.jsonl --curves --output mine.json
  prevalence plot mine.json --output plots --figure roc,reliability

\b
Figures:
  systems      prevalence by system, with intervals
  prefixes     prevalence of the best supported sentences
  supports     how many reviews support a sentence
  coverage     prevalence against coverage (rows with a profile)
  reliability  calibration of a scorer (calibrate --curves)
  roc          hits against false alarms (calibrate --curves)
  correlations metrics with people (meta correlate --format json)
  racing       pairs scored by a search (records that summarize made)
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument(
    "rows", metavar="ROWS...", nargs=-1, required=True,
    type=ROWS_PATH,
)  # fmt: skip
@option(
    "Output", "--output", "-o", "folder", metavar="DIR", required=True,
    type=FOLDER_PATH, help="Folder of the plots.",
)  # fmt: skip
@option(
    "Output", "--figure", "wanted", multiple=True, callback=several_names,
    metavar="NAMES",
    help="Only these figures, by the names below [default: all that the rows have data for].",
)  # fmt: skip
@option(
    "Output", "--format", "form", metavar="FORMAT", type=click.Choice(["png", "svg", "pdf"]),
    default="png", show_default=True, help="png, svg or pdf.",
)  # fmt: skip
@quiet_option
def plot(
    *, rows: tuple[Path, ...], folder: Path, wanted: tuple[str, ...], form: str, quiet: bool
) -> None:
    """Draw rows as plots, in colours that are safe for colour blindness.

    ROWS are files as for prevalence report. Needs the extra: pip install 'prevalence[figures]'.
    """
    from prevalence.report.charts import chart
    from prevalence.report.figures import save

    contents = read_contents(rows)
    drawn = {name: chart(name, contents) for name in _names(wanted, contents)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in drawn.items():
        path = folder / f"{name}.{form}"
        save(figure, path)
        click.echo(path)
    if not quiet:
        note_repeats(contents)


def _names(wanted: tuple[str, ...], contents: Contents) -> list[str]:
    from prevalence.errors import InputError
    from prevalence.report.charts import CHARTS, available

    unknown = [name for name in wanted if name not in CHARTS]
    if unknown:
        raise click.UsageError(f"--figure: {unknown[0]!r} is none of {', '.join(CHARTS)}")
    found = list(wanted) or available(contents)
    if not found:
        raise InputError(
            "nothing to draw in these rows; prevalence plot --help says what each figure needs"
        )
    return found
