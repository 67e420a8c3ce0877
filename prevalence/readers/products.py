"""Read products from any source format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.errors import InputError
from prevalence.readers.copycat import copycat_items
from prevalence.readers.detect import detect_container, detect_json, first_text
from prevalence.readers.drafts import Item, ReadOptions
from prevalence.readers.jsonfiles import LAYOUTS, document_items, document_text, line_items
from prevalence.readers.streams import Source, check_readable, open_source
from prevalence.readers.tables import table_items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = ["FORMATS", "items_in", "iterate", "read_products"]

FORMATS: tuple[str, ...] = (
    "auto",
    "jsonl",
    "json",
    "csv",
    "tsv",
    "opinsummeval",
    "summeval-op",
    "copycat",
    "authors",
)
"""The names of the source formats."""

_CONTAINERS = {
    "jsonl": "lines",
    "json": "document",
    "csv": "csv",
    "tsv": "tsv",
    "copycat": "copycat",
}


def read_products(
    path: str | Path,
    *,
    format: str = "auto",  # noqa: A002 - the public name of the option
    names: Mapping[str, str] | None = None,
    summaries: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Item]:
    """Read products one at a time, in source order.

    Args:
        path: a file, or "-" for stdin; gzip is recognised by content.
        format: one of :data:`FORMATS`; "auto" looks at the first lines. Whether records in JSON
            are the project's own, OpinSummEval's or SummEval-OP's is told from their keys.
        names: product names by id; they win over names in the source.
        summaries: whether a record needs one; otherwise those without are products too.
        progress: called with the bytes taken so far, before decompression.

    Returns:
        An iterator over products; what cannot be scored is a bad record in its place. The file
        is opened, and its format told, at the first step.

    Raises:
        InputError: the file is missing or a folder or the format unknown (at once), or nothing
            in it can be read (at the first step).
    """
    if format not in FORMATS:
        raise InputError(f"unknown input format {format!r}; choose from: {', '.join(FORMATS)}")
    if format == "authors":
        raise InputError(
            f"{path}: a file with one summary a line needs a second file with the reviews; "
            "name it with --reviews (in Python: read_authors)"
        )
    check_readable(path)
    options = ReadOptions({} if names is None else names, unsummarised=not summaries)
    return iterate(path, format, options, progress)


def iterate(
    path: str | Path,
    source_format: str,
    options: ReadOptions,
    progress: Callable[[int], None] | None,
) -> Iterator[Item]:
    """The generator behind :func:`read_products`.

    Args:
        path: the input.
        source_format: one of :data:`FORMATS`.
        options: the caller's wishes.
        progress: see :func:`read_products`.

    Yields:
        Products and bad records.

    Raises:
        InputError: nothing can be read.
    """
    with open_source(path, progress=progress) as source:
        empty = True
        for item in items_in(source, source_format, options):
            empty = False
            yield item
        if empty:
            raise InputError(f"{source.path}: holds no record; there is nothing to score")


def items_in(source: Source, source_format: str, options: ReadOptions) -> Iterator[Item]:
    """Choose the reader of an open input.

    Args:
        source: the open input.
        source_format: one of :data:`FORMATS`.
        options: the caller's wishes.

    Returns:
        An iterator over its items.

    Raises:
        InputError: the format cannot be told.
    """
    layout = LAYOUTS.get(source_format)
    container = _container(source, source_format)
    if container == "lines":
        return line_items(source, options, layout)
    if container == "document":
        return document_items(document_text(source), source.path, options, layout)
    if container == "copycat":
        return copycat_items(source, options)
    return table_items(source, options, "\t" if container == "tsv" else None)


def _container(source: Source, source_format: str) -> str:
    first_text(source)
    if source_format in LAYOUTS:
        return detect_json(source)
    return _CONTAINERS.get(source_format) or detect_container(source)
