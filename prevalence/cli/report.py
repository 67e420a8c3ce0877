"""`prevalence report`: rows in, one HTML file (or a folder of pages) out."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from prevalence.cli.errors import note
from prevalence.cli.options import (
    FILE_PATH,
    ROWS_PATH,
    GroupedCommand,
    option,
    quiet_option,
    refuse_given,
)
from prevalence.cli.outputs import check_page
from prevalence.cli.pages import TITLE, note_differences, read_contents, write_report
from prevalence.report.contents import DOUBT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prevalence.records import Product
    from prevalence.report.contents import Contents

__all__ = ["report"]

_EPILOG = """\b
Examples:
  prevalence score examples/summaries.jsonl --report report.html
  prevalence score examples/summaries.jsonl --evidence --output rows.jsonl
  prevalence report rows.jsonl --records examples/summaries.jsonl -o report.html
  prevalence report rows.jsonl judged.jsonl calibration.json -o report.html
  prevalence report shard-*.jsonl -o report.html

\b
Rows of score, judge and baselines about one summary are shown together. The
file needs no network and no server. With --records, it shows the reviews that
were scored; without, the passages that score --evidence stored. The systems are
also printed, as by score; --quiet prints nothing.
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument(
    "rows", metavar="ROWS...", nargs=-1, required=True,
    type=ROWS_PATH,
)  # fmt: skip
@option(
    "Input",
    "--records",
    metavar="FILE",
    multiple=True,
    type=FILE_PATH,
    help="Records that were scored, for names, reviews and ratings; repeat it for several files.",
)
@option(
    "Input",
    "--reviews",
    metavar="FILE",
    type=FILE_PATH,
    help="Reviews file, if the --records were scored with one; they hold summaries alone.",
)
@option(
    "Input",
    "--product-names",
    metavar="FILE",
    type=FILE_PATH,
    help="Names of products, if the --records were scored with them.",
)
@option(
    "Output",
    "--output",
    "-o",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="Write the report here; with --pages, a folder.",
)
@option("Output", "--title", metavar="TEXT", default=TITLE, show_default=True,
        help="Heading of the report.")  # fmt: skip
@option(
    "Output",
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    help="Show only the N products with the most faults; the systems table still counts all.",
)
@option(
    "Output",
    "--pages",
    metavar="N",
    type=click.IntRange(1),
    help="Write a folder of pages with N products each, in place of the pages of an earlier run.",
)
@option("Output", "--plots", is_flag=True,
        help="Include the plots of `prevalence plot`; needs matplotlib.")  # fmt: skip
@option(
    "Output",
    "--doubt",
    metavar="FACTOR",
    type=click.FloatRange(1),
    default=DOUBT,
    show_default=True,
    help="An answer is doubtful when its odds are within this factor of the threshold's.",
)
@quiet_option
def report(**parameters: Any) -> None:
    """Show rows as one HTML file: who said what, with the reviews behind every sentence.

    ROWS are files of prevalence score, judge, baselines (JSON Lines), calibrate --json or
    meta correlate --format json, gzipped or not, or - for standard input; or folders of
    Parquet that score --engine ray wrote.
    """
    options = SimpleNamespace(**parameters)
    _check(options)
    contents = read_contents(options.rows, doubt=options.doubt)
    if options.records:
        contents.attach(_records(options))
    if not options.quiet:
        _print_systems(contents)
        _note_files(contents)
    write_report(
        contents,
        options.output,
        title=options.title,
        limit=options.limit,
        pages=options.pages,
        plots=options.plots,
        quiet=options.quiet,
    )
    if options.records and not options.quiet:
        _note_bare(contents)


def _note_bare(contents: Contents) -> None:
    """Say how many scored products the records gave no reviews, or that none was scored."""
    scored = [product for product in contents.products if product.digests]
    bare = sum(not product.reviews for product in scored)
    if not scored:
        note("--records has no effect: reviews are shown only beside rows of prevalence score")
    elif bare:
        note(
            f"products without reviews: {bare:,}; --records has no record with the reviews and "
            "summaries that were scored"
        )


def _print_systems(contents: Contents) -> None:
    """Print the systems as score prints them at its end."""
    from prevalence.report.console import make_console, print_signatures, system_table
    from prevalence.report.standings import standings_table
    from prevalence.stats.resampling import DEFAULT_RESAMPLES, DEFAULT_SEED

    console = make_console()
    statistics = [line.statistics for line in contents.systems if line.statistics is not None]
    if not statistics:
        return
    console.print(system_table(statistics, width=console.width))
    places = [line.standing for line in contents.systems if line.standing is not None]
    if places:
        console.print()
        console.print(standings_table(places))
    resampling = {"bs": DEFAULT_RESAMPLES, "seed": DEFAULT_SEED}
    print_signatures(console, contents.table.signatures, resampling)


def _note_files(contents: Contents) -> None:
    """Say whose the names are that two files share, and that scores of two kinds do not compare."""
    for source, systems in contents.of_first.items():
        names = ", ".join(dict.fromkeys(systems))
        note(f"{names} without a file in brackets: the scores of {source}")
    note_differences(contents.table.signatures)


def _records(options: SimpleNamespace) -> Iterator[Product]:
    from prevalence.records import Product
    from prevalence.runs.selection import Selection

    paths = [str(path) for path in options.records]
    selection = Selection(paths, reviews=options.reviews, names=options.product_names)
    return (item for item in selection.items() if isinstance(item, Product))


def _check(options: SimpleNamespace) -> None:
    if not options.records:
        refuse_given(("reviews", "product_names"), "goes with --records")
    if options.pages and options.limit:
        raise click.UsageError("--limit and --pages exclude each other: pages hold all products")
    if options.pages:
        if options.output.exists() and not options.output.is_dir():
            raise click.UsageError(f"--output: {options.output} is a file; --pages takes a folder")
        return
    if options.output.is_dir():
        raise click.UsageError(
            f"--output: {options.output} is a folder; name a file, or use --pages"
        )
    check_page(options.output)
