"""Rows → the contents of a report → its page or pages, for the commands that have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.cli.errors import note
from prevalence.cli.outputs import refuse_repeats
from prevalence.errors import InputError
from prevalence.readers.streams import display
from prevalence.report.contents import DOUBT
from prevalence.signature import differences
from prevalence.wording import counted, first_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from prevalence.report.contents import Contents
    from prevalence.report.page import Plot

__all__ = ["TITLE", "note_differences", "note_repeats", "read_contents", "write_report"]

TITLE = "Opinion prevalence"
_MEGABYTES = 100_000
"""Bytes from which a size is given in megabytes."""

_NAMED = 3
"""Most files that a note names."""


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


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= _MEGABYTES else f"{size / 1e3:.0f} kB"


def note_repeats(contents: Contents) -> None:
    """Say how many rows were not counted because others say the same, if any."""
    if contents.repeats:
        rows = counted(contents.repeats, "row repeats another one", "rows repeat others")
        note(f"{rows}: each summary is counted once")


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
