"""Where the tables of a command go: format, file, and what is said before any work."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from prevalence.cli.options import FILE_PATH, option, together
from prevalence.cli.outputs import check_output

if TYPE_CHECKING:
    from pathlib import Path

    from prevalence.report.sheets import Report

__all__ = ["FORMATS", "check_sheets", "sheet_options", "write_sheets"]

FORMATS = ("table", "markdown", "latex", "json", "csv")
"""Names of the formats of tables."""

_SUFFIXES = {".md": "markdown", ".tex": "latex", ".json": "json", ".csv": "csv", ".txt": "table"}

sheet_options = together(
    option(
        "Output", "--format", "form", metavar="FORMAT", type=click.Choice(FORMATS),
        help="table, markdown, latex, json or csv [default: table, or by the suffix of --output].",
    ),
    option(
        "Output", "--output", "-o", metavar="FILE",
        type=FILE_PATH,
        help="Write the output here (.md, .tex, .json, .csv, .txt).",
    ),
)  # fmt: skip
"""--format and --output."""


def write_sheets(report: Report, *, form: str | None, output: Path | None) -> None:
    """Write a report to its file, or to the screen, where nothing in it drives a terminal.

    Raises:
        click.UsageError: the format cannot be told, or the folder is missing.
    """
    from prevalence.files import atomic_file
    from prevalence.report.sheets import render
    from prevalence.report.text import inert

    if output is None:
        text = render(report, form or "table")
        click.echo(inert(text) if sys.stdout.isatty() else text, nl=False)
        return
    chosen = check_sheets(form, output)
    with atomic_file(output) as file:
        file.write(render(report, chosen))


def check_sheets(form: str | None, output: Path) -> str:
    """The format of a report that goes to a file, if it can be written.

    Raises:
        click.UsageError: the format cannot be told, or the folder is missing.
    """
    chosen = form or _SUFFIXES.get(output.suffix)
    if chosen is None:
        raise click.UsageError(
            f"--output: cannot tell the format from the suffix {output.suffix or '(none)'}; add "
            "--format"
        )
    check_output(output)
    return chosen
