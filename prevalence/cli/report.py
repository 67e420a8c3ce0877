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
from prevalence.cli.outputs import check_page, refuse_repeats
from prevalence.errors import InputError
from prevalence.readers.streams import display
from prevalence.report.contents import DOUBT
from prevalence.signature import differences
from prevalence.wording import counted, first_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prevalence.records import Product
    from prevalence.report.contents import Contents
    from prevalence.report.page import Plot

__all__ = ["TITLE", "note_differences", "note_repeats", "read_contents", "report", "write_report"]

TITLE = "Opinion prevalence"
_MEGABYTES = 100_000
"""Bytes from which a size is given in megabytes."""

_NAMED = 3
"""Most files that a note names."""

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


def note_differences(signatures: Sequence[str]) -> None:
    """Say in what signatures differ, where they do."""
    if found := differences(signatures):
        parts = "; ".join(
            f"{key}: {first_of(values, _NAMED, 'or')}" for key, values in found.items()
        )
        note(
            f"the signatures differ in {parts}. Only scores of equal signatures can be compared: "
            "ranks and differences across them say nothing of the systems"
        )


def read_contents(paths: Sequence[Path], *, doubt: float = DOUBT) -> Contents:
    """Read the rows of several files.

    Raises:
        InputError: a file cannot be read, holds something else than rows or is given twice, or
            none has a row.
    """
    from prevalence.report.contents import Contents
    from prevalence.report.rows import read_rows

    contents = Contents(doubt=doubt)
    refuse_repeats(paths)
    stems = [path.stem for path in paths]
    found = 0
    for path, stem in zip(paths, stems, strict=True):
        source = stem if stems.count(stem) == 1 else str(path)
        found += contents.add_all(read_rows(path), source=source, where=f"{display(path)}: ")
    if not found:
        raise InputError(f"{', '.join(map(display, paths))}: no row; there is nothing to show")
    return contents


def write_report(
    contents: Contents,
    output: Path,
    *,
    title: str = TITLE,
    limit: int | None = None,
    pages: int | None = None,
    plots: bool = False,
    quiet: bool = False,
) -> None:
    """Write the page or pages, and say what the reader should know of them.

    Args:
        contents: all rows.
        output: file, or folder of pages.
        title: heading.
        limit: most products.
        pages: products a page, for a folder of pages.
        plots: whether to put plots into it.
        quiet: say nothing.
    """
    from prevalence.files import atomic_file
    from prevalence.report.page import Page, render
    from prevalence.report.pages import LARGE, report_in, split_pages

    pictures = _pictures(contents) if plots else ()
    before = report_in(output) if pages else None
    if pages:
        output.mkdir(parents=True, exist_ok=True)
        named = split_pages(contents, pages, title, plots=pictures)
        files = [(output / name, page) for name, page in named]
    else:
        page = Page(title=title, products=contents.worst_first[:limit], plots=pictures)
        files = [(output, page)]
    size = 0
    # The first page goes last: by it a run after one that was stopped knows the earlier pages.
    for path, page in reversed(files):
        html = render(contents, page)
        size = max(size, len(html.encode()))
        with atomic_file(path) as file:
            file.write(html)
    others = _drop_earlier(output, [path.name for path, _ in files], before) if pages else []
    if quiet:
        return
    note(f"{output}: {_held(contents, limit)}, {_size(size)}")
    note_repeats(contents)
    if others:
        note(f"{output} also holds {_listed(others)}: no page of this run or of an earlier one")
    if contents.unmatched:
        note(
            f"products whose records differ from those that were scored: {contents.unmatched:,}; "
            "their reviews are left out (give the --reviews and --product-names of the scores)"
        )
    if size > LARGE:
        note(
            f"{_size(size)} open slowly: in prevalence report, --limit N shows the N "
            "products with the most faults, and --pages N writes a folder of pages with N "
            "products each"
        )


def _held(contents: Contents, limit: int | None) -> str:
    """How many products the page or the folder holds, in words."""
    held = counted(len(contents.products), "product")
    return held if limit is None or limit >= len(contents.products) else f"{limit:,} of {held}"


def note_repeats(contents: Contents) -> None:
    """Say how many rows were not counted because others say the same, if any."""
    if contents.repeats:
        rows = counted(contents.repeats, "row repeats another one", "rows repeat others")
        note(f"{rows}: each summary is counted once")


def _drop_earlier(folder: Path, files: Sequence[str], report: str | None) -> list[Path]:
    """Remove the pages that an earlier run left; others named like pages stay and are returned."""
    from prevalence.report.pages import earlier_pages

    own, others = earlier_pages(folder, files, report)
    for path in own:
        path.unlink()
    return others


def _listed(paths: Sequence[Path]) -> str:
    return first_of([path.name for path in paths], _NAMED)


def _pictures(contents: Contents) -> list[Plot]:
    from prevalence.report.charts import CHARTS, available, chart, svg_of
    from prevalence.report.page import Plot

    return [Plot(CHARTS[n].about, svg_of(chart(n, contents))) for n in available(contents)]


def _records(options: SimpleNamespace) -> Iterator[Product]:
    from prevalence.records import Product
    from prevalence.runs.selection import Selection

    paths = [str(path) for path in options.records]
    selection = Selection(paths, reviews=options.reviews, names=options.product_names)
    return (item for item in selection.items() if isinstance(item, Product))


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= _MEGABYTES else f"{size / 1e3:.0f} kB"


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
