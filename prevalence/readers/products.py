"""Read products from any source format."""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.readers.columns import (
    is_copycat,
    is_summary_table,
    is_table,
    stated_delimiter,
)
from prevalence.readers.fields import Item, ReadOptions, escaped
from prevalence.readers.jsonfiles import (
    LAYOUTS,
    document_items,
    document_text,
    document_values,
    is_record_map,
    line_items,
    line_values,
)
from prevalence.readers.parquet import holds_parquet, read_parquet, row_count
from prevalence.readers.streams import Source, check_readable, display, open_source
from prevalence.readers.tables import copycat_items, open_table, table_items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from prevalence.readers.fields import Position
    from prevalence.readers.jsonfiles import Layout

__all__ = [
    "FORMATS",
    "check_header",
    "detect_container",
    "detect_json",
    "detect_summaries",
    "iterate",
    "json_values",
    "packed_items",
    "read_products",
]


_BY_SUFFIX = {
    ".jsonl": "lines",
    ".ndjson": "lines",
    ".json": "document",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
}
_OPENS_JSON = re.compile(r'\{\s*(?:"|}|$)|\[\s*(?:[\["{\]]|$)')
_BINARY = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_SHOWN = 40


def detect_container(source: Source, *, allow_text: bool = False) -> str:
    """Tell how records are packed in an input.

    Args:
        source: the open input; nothing is taken from it.
        allow_text: whether plain lines of text are a format too; a table may then hold
            reviews only.

    Returns:
        "lines", "document", "csv", "tsv", "copycat" or "text".

    Raises:
        InputError: it cannot be told; the message says what was seen.
    """
    first = first_text(source)
    suffix = _hint(source)
    if suffix in ("lines", "document") or _OPENS_JSON.match(first):
        return detect_json(source)
    if _is_binary(first):
        raise InputError(f"{source.path}: is not text; it starts with {_shown(first)}")
    if is_copycat(first):
        return "copycat"
    if suffix is not None:
        return suffix
    if stated_delimiter(first) or is_table(first, reviews_only=allow_text):
        return "csv"
    return "text" if allow_text else _after_odd_line(source, first)


def detect_summaries(source: Source) -> str:
    """Tell how summaries are packed in an input that has no reviews.

    Args:
        source: the open input; nothing is taken from it.

    Returns:
        "lines", "document", "csv", "tsv", or "text" for one summary a line.
    """
    head = source.head(1)
    first = head[0].data.decode(errors="replace").strip() if head else ""
    suffix = _hint(source)
    if suffix in ("lines", "document") or _OPENS_JSON.match(first):
        return detect_json(source)
    if suffix is not None:
        return suffix
    return "csv" if stated_delimiter(first) or is_summary_table(first) else "text"


def _after_odd_line(source: Source, first: str) -> str:
    """JSON Lines may start with a broken line; then the next one tells."""
    second = source.head(2)[-1].data.decode(errors="replace").strip()
    if _OPENS_JSON.match(second):
        return "lines"
    raise InputError(
        f"{source.path}: cannot tell the format from the first line, {_shown(first)}; "
        "it is neither JSON nor a header with known columns; give --input-format"
    )


def detect_json(source: Source) -> str:
    """Tell JSON Lines from one JSON document.

    Args:
        source: the open input; nothing is taken from it.

    Returns:
        "lines" or "document".

    Raises:
        InputError: the input holds nothing.
    """
    first = first_text(source)
    if first.startswith("["):
        return "document"
    value, cut = _try_json(first)
    if isinstance(value, dict):
        return "document" if is_record_map(value) else "lines"
    if not cut or (first != "{" and _hint(source) == "lines"):
        return "lines"
    # A first line that stops short is a document spread over lines, unless the next line is whole.
    following = source.head(2)[1:]
    second = following[0].data.decode(errors="replace").strip() if following else ""
    if not second or isinstance(_try_json(second)[0], dict):
        return "lines"
    return "document"


def json_values(source: Source, *, finite: bool = True) -> Iterator[tuple[Position, Any]]:
    """Decode the records of JSON Lines or of one JSON document.

    Args:
        source: the open input.
        finite: whether NaN and infinity are faults in a document, as they are in lines.

    Returns:
        Place and value of each record, or the :class:`FieldError` that stands in its place.

    Raises:
        InputError: the input holds nothing, or is a document without a record to begin with.
    """
    if detect_json(source) == "lines":
        return line_values(source)
    return document_values(document_text(source), source.path, finite=finite)


def first_text(source: Source) -> str:
    """The first line that holds something, as text.

    Args:
        source: the open input; nothing is taken from it.

    Returns:
        The line without surrounding white space; wrong bytes are replaced.

    Raises:
        InputError: there is no such line.
    """
    head = source.head(1)
    if head:
        return head[0].data.decode(errors="replace").strip()
    fault = source.fault()
    if fault is not None:
        raise InputError(f"{source.path}: {fault}; get the file again")
    raise InputError(f"{source.path}: holds only white space; there is nothing to score")


def _try_json(text: str) -> tuple[Any, bool]:
    """The decoded line or None, and whether it fails only because it stops short."""
    try:
        return json.loads(text), False
    except json.JSONDecodeError as error:
        return None, error.pos >= len(text)
    except (ValueError, RecursionError):
        return None, False


def _is_binary(text: str) -> bool:
    start = text[:1000]
    return bool(_BINARY.search(start)) or start.count("\ufffd") > len(start) // 4


def _shown(text: str) -> str:
    return repr(escaped(text[:_SHOWN]))


def _hint(source: Source) -> str | None:
    """What the ending of the input's name says."""
    name = source.path.casefold().removesuffix(".gz")
    return _BY_SUFFIX.get(PurePath(name).suffix)


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
        path: a file, or "-" for stdin; gzip and Parquet are recognised by content.
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
            f"{path}: a file with one summary per line needs a second file with the reviews; "
            "name it with --reviews (in Python: read_authors)"
        )
    check_readable(path)
    options = ReadOptions({} if names is None else names, unsummarised=not summaries)
    return iterate(path, format, options, progress)


def check_header(path: str | Path, *, format: str = "auto", summaries: bool = True) -> None:  # noqa: A002
    """Refuse a file whose format cannot be told, or a table without the columns that are needed.

    Only the first lines are read, so it can be done before anything that takes long. What can be
    read once, such as a pipe, is not looked at.

    Args:
        path: as for :func:`read_products`, as are the others.
        format: one of :data:`FORMATS`.
        summaries: whether a record needs one.

    Raises:
        InputError: as when the file is read.
    """
    if not Path(path).is_file() or format not in {"auto", "csv", "tsv"}:
        return
    if format == "auto" and holds_parquet(path):
        row_count(path)
        return
    with open_source(path) as source:
        first_text(source)
        container = _CONTAINERS.get(format) or detect_container(source)
        if container in {"csv", "tsv"}:
            open_table(source, _delimiter(container), reviews_only=not summaries)


def _delimiter(container: str) -> str | None:
    return "\t" if container == "tsv" else None


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
    empty = True
    for item in _every(path, source_format, options, progress):
        empty = False
        yield item
    if empty:
        raise InputError(f"{display(path)}: holds no record; there is nothing to score")


def _every(
    path: str | Path,
    source_format: str,
    options: ReadOptions,
    progress: Callable[[int], None] | None,
) -> Iterator[Item]:
    if source_format == "auto" and holds_parquet(path):
        yield from read_parquet(path, options, progress)
        return
    with open_source(path, progress=progress) as source:
        first_text(source)
        layout = LAYOUTS.get(source_format)
        container = detect_json(source) if layout else _CONTAINERS.get(source_format)
        container = container or detect_container(source)
        yield from packed_items(source, container, options, layout)


def packed_items(
    source: Source, container: str, options: ReadOptions, layout: Layout | None
) -> Iterator[Item]:
    """Choose the reader of an open input.

    Args:
        source: the open input.
        container: see :func:`detect_container`.
        options: the caller's wishes.
        layout: the layout of every record in JSON, or None.

    Returns:
        An iterator over its items.
    """
    if container == "lines":
        return line_items(source, options, layout)
    if container == "document":
        return document_items(document_text(source), source.path, options, layout)
    if container == "copycat":
        return copycat_items(source, options)
    return table_items(source, options, _delimiter(container))
