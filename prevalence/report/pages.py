"""A report as a folder of pages: what each shows, and which files an earlier run left there."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from prevalence.report.page import MARKER, Page, PageLink, ProductLink, anchor

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from prevalence.report.contents import Contents
    from prevalence.report.page import Plot

__all__ = ["LARGE", "earlier_pages", "report_in", "split_pages"]

LARGE = 15_000_000
"""Bytes above which a page is slow to open and hard to send."""

_MARK = re.compile(rf'<meta name="generator" content="{MARKER}([0-9a-f]+) ([^"]+)">'.encode())
_INDEX = "index.html"
_MARKED = 1_000
"""Bytes from the start of a file in which the marker stands."""
_PAGE_FILE = re.compile(r"page-[1-9][0-9]*\.html")


def split_pages(
    contents: Contents, size: int, title: str, *, plots: Sequence[Plot] = ()
) -> list[tuple[str, Page]]:
    """Pages of a folder: the first has the systems, the others the products, the worst first.

    Args:
        contents: all rows.
        size: products a page.
        title: heading of all of them.
        plots: pictures on the first.

    Returns:
        File names and pages.
    """
    products = contents.worst_first
    parts = [products[start : start + size] for start in range(0, len(products), size)]
    report = _mark_of(contents, size, title)
    names = [("systems", _INDEX)]
    names += [(str(number), f"page-{number}.html") for number in range(1, len(parts) + 1)]

    def links(here: str) -> list[PageLink]:
        return [PageLink(name, file, file == here) for name, file in names]

    directory = [
        ProductLink(product.name or product.id, f"{file}#{anchor(product.id)}", product.faults)
        for (_, file), part in zip(names[1:], parts, strict=True)
        for product in part
    ]
    here = links(_INDEX)
    first = Page(
        title=title, products=(), links=here, directory=directory, plots=plots, report=report
    )
    pages = [(_INDEX, first)]
    for (number, file), part in zip(names[1:], parts, strict=True):
        own = f"{title}: page {number} of {len(parts)}"
        page = Page(title=own, products=part, summary=False, links=links(file), report=report)
        pages.append((file, page))
    return pages


def _mark_of(contents: Contents, size: int, title: str) -> str:
    """The same for the same report, and another one for other products, scores or pages."""
    held = [(product.id, sorted(product.digests), product.faults) for product in contents.products]
    seen = repr((title, size, contents.signatures, held)).encode("utf-8", "replace")
    return hashlib.blake2b(seen, digest_size=8).hexdigest()


def report_in(folder: Path) -> str | None:
    """What marks the pages of the report that a folder holds, or None where it holds none."""
    return _mark_in(folder / _INDEX)


def earlier_pages(
    folder: Path, files: Collection[str], report: str | None
) -> tuple[list[Path], list[Path]]:
    """Pages in a folder that are none of a run's.

    Args:
        folder: where the run has written its pages.
        files: names of these pages.
        report: what marks the pages that the folder held before, see :func:`report_in`.

    Returns:
        Pages of the report that the folder held before, under their present names, and files named
        like pages that show no sign of it.
    """
    found = [
        path
        for path in sorted(folder.iterdir())
        if _PAGE_FILE.fullmatch(path.name) and path.name not in files
    ]
    own = [path for path in found if report is not None and _mark_in(path) == report]
    return own, [path for path in found if path not in own]


def _mark_in(path: Path) -> str | None:
    """The mark of the report of which a file, and no link to one, is the page of this name."""
    if path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as file:
        match = _MARK.search(file.read(_MARKED))
    return match[1].decode() if match and match[2] == path.name.encode() else None
