"""`prevalence table`: rows in, a table of systems, summaries or sentences out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prevalence.cli.errors import note
from prevalence.cli.options import ROWS_PATH, GroupedCommand, option, quiet_option
from prevalence.cli.outputs import refuse_repeats
from prevalence.cli.sheets import check_sheets, sheet_options, write_sheets
from prevalence.errors import InputError
from prevalence.readers.streams import display
from prevalence.signature import differences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from prevalence.records import ScoredSummary

__all__ = ["table"]

_EPILOG = """\b
Examples:
  prevalence table scores.jsonl
  prevalence table scores.jsonl --format latex
  prevalence table scores.jsonl --of sentences --output sentences.csv
  prevalence table scores.jsonl --of summaries --format markdown

\b
ROWS is what `prevalence score --output ROWS.jsonl` wrote, or the Parquet of
--engine ray. Several files count as one, such as the parts of a large run. CSV
and JSON have unrounded figures and more columns. Spreadsheets may open the CSV:
no cell is run as a formula.
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("rows", metavar="ROWS...", nargs=-1, required=True, type=ROWS_PATH)
@option(
    "Output", "--of", "kind", metavar="WHAT", default="systems", show_default=True,
    type=click.Choice(["systems", "summaries", "sentences"]),
    help="A line for each: systems, summaries or sentences.",
)  # fmt: skip
@sheet_options
@quiet_option
def table(
    *, rows: tuple[Path, ...], kind: str, form: str | None, output: Path | None, quiet: bool
) -> None:
    """Put rows into a table for a paper or a spreadsheet: systems, summaries or sentences."""
    from prevalence.report.tables import TABLES

    if output is not None:
        check_sheets(form, output)
    read = list(_read(rows))
    if not read:
        raise InputError(f"{', '.join(map(display, rows))}: no row; there is nothing to show")
    write_sheets(TABLES[kind](read), form=form, output=output)
    signatures = list(dict.fromkeys(row.signature for row in read if row.prevalence is not None))
    if not quiet and (found := differences(signatures)):
        note(f"the signatures differ in {', '.join(found)}; such scores cannot be compared")


def _read(paths: Sequence[Path]) -> Iterator[ScoredSummary]:
    """The rows of all files.

    Raises:
        InputError: a file cannot be read, holds other rows, or a summary that was read before.
    """
    from prevalence.records import ScoredSummary
    from prevalence.report.rows import read_rows

    refuse_repeats(paths)
    known: set[tuple[str, str]] = set()
    for path in paths:
        for number, item in enumerate(read_rows(path), start=1):
            where = f"{display(path)}: row {number}"
            try:
                row = ScoredSummary.from_json(item)
            except InputError as error:
                raise InputError(f"{where}: {error}; give rows of `prevalence score`") from None
            if row.id is not None and row.system is not None:
                if (row.id, row.system) in known:
                    raise InputError(
                        f"{where}: the summary of {row.id} by {row.system} was read before; give "
                        "the rows of one run, or compare runs with `prevalence report`"
                    )
                known.add((row.id, row.system))
            yield row
