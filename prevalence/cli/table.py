"""`prevalence table`: rows in, a table of systems, summaries or sentences out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from prevalence.cli.errors import note
from prevalence.cli.options import (
    ROWS_PATH,
    GroupedCommand,
    option,
    quiet_option,
    several_names,
)
from prevalence.cli.outputs import refuse_repeats
from prevalence.cli.pages import note_differences
from prevalence.cli.sheets import check_sheets, sheet_options, write_sheets
from prevalence.errors import InputError
from prevalence.readers.streams import display
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from prevalence.scored import ScoredSummary

__all__ = ["table"]

_EPILOG = """\b
Examples:
  prevalence table scores.jsonl
  prevalence table scores.jsonl --format latex --columns prevalence,redundant
  prevalence table scores.jsonl --of sentences --output sentences.csv
  prevalence table scores.jsonl --of summaries --format markdown

\b
ROWS is what `prevalence score --output ROWS.jsonl` wrote, or the Parquet of
--engine ray. Several files count as one, such as the parts of a large run. CSV
and JSON have unrounded figures and more columns. In CSV, a text that spreadsheets
would run as a formula gets a quote before it.
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("rows", metavar="ROWS...", nargs=-1, required=True, type=ROWS_PATH)
@option(
    "Output", "--of", "kind", metavar="WHAT", default="systems", show_default=True,
    type=click.Choice(["systems", "summaries", "sentences"]),
    help="What the lines are: systems, summaries or sentences.",
)  # fmt: skip
@option(
    "Output",
    "--columns",
    metavar="NAMES",
    multiple=True,
    callback=several_names,
    help="Only these columns of figures, in this order, by their headers (repeat it, or use "
    "commas). Not for CSV and JSON, which have all.",
)
@sheet_options
@quiet_option
def table(
    *,
    rows: tuple[Path, ...],
    kind: str,
    columns: Sequence[str],
    form: str | None,
    output: Path | None,
    quiet: bool,
) -> None:
    """Put rows into a table for a paper or a spreadsheet: systems, summaries or sentences."""
    from prevalence.report.tables import TABLES

    chosen = form if output is None else check_sheets(form, output)
    if kind == "sentences" and chosen == "latex":
        raise click.UsageError(
            "sentences are too long for a table in LaTeX; take csv, markdown or --of summaries"
        )
    if columns and chosen in ("csv", "json"):
        raise click.UsageError("--columns is for table, markdown and latex; CSV and JSON have all")
    read = _Rows(rows)
    report = TABLES[kind](read)
    read.check(kind)
    if columns:
        report = replace(report, sheets=tuple(sheet.only(columns) for sheet in report.sheets))
    write_sheets(report, form=form, output=output)
    if not quiet:
        if read.unscored:
            note(f"{counted(read.unscored, 'row has', 'rows have')} no score")
        note_differences(list(read.signatures))


class _Rows:
    """The rows of all files, and what is to be said of them afterwards.

    Attributes:
        scored: rows with a score.
        unscored: rows without.
        signatures: of rows with a score, in order of first appearance.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        refuse_repeats(paths)
        self._paths = paths
        self.scored = self.unscored = 0
        self.signatures: dict[str, None] = {}

    def __iter__(self) -> Iterator[ScoredSummary]:
        """Read them.

        Raises:
            InputError: a file cannot be read, holds other rows, or a summary of an earlier file.
        """
        from prevalence.report.rows import read_rows
        from prevalence.scored import ScoredSummary

        known: dict[tuple[str | None, str], Path] = {}
        for path in self._paths:
            for number, item in enumerate(read_rows(path), start=1):
                where = f"{display(path)}: row {number}"
                try:
                    row = ScoredSummary.from_json(item)
                except InputError as error:
                    raise InputError(f"{where}: {error}; give rows of `prevalence score`") from None
                if row.system is not None:
                    earlier = known.setdefault((row.id, row.system), path)
                    if earlier != path:
                        raise InputError(
                            f"{where}: {display(earlier)} has the summary of {row.id} by "
                            f"{row.system} too; give the rows of one run, or compare runs with "
                            "`prevalence report`"
                        )
                if row.prevalence is None:
                    self.unscored += 1
                else:
                    self.scored += 1
                    self.signatures[row.signature] = None
                yield row

    def check(self, kind: str) -> None:
        """Refuse rows of which there is nothing to show.

        Raises:
            InputError: there is none, or none with a score.
        """
        if not (self.scored or (self.unscored and kind == "summaries")):
            what = "no row with a score" if self.unscored else "no row"
            raise InputError(
                f"{', '.join(map(display, self._paths))}: {what}; there is nothing to show"
            )
