"""Tell an input's format from its first lines and the ending of its name."""

from __future__ import annotations

import json
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.readers.columns import is_copycat, is_table
from prevalence.readers.fields import escaped
from prevalence.readers.jsontext import is_record_map

if TYPE_CHECKING:
    from prevalence.readers.streams import Source

__all__ = ["Container", "detect_container", "detect_json"]

Container = str
"""One of "lines", "document", "csv", "tsv", "copycat", "text"."""

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


def detect_container(source: Source, *, allow_text: bool = False) -> Container:
    """Tell how records are packed in an input.

    Args:
        source: the open input; nothing is taken from it.
        allow_text: whether plain lines of text are a format too; a table may then hold
            reviews only.

    Returns:
        The packing.

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
    if is_table(first, reviews_only=allow_text):
        return "csv"
    return "text" if allow_text else _after_odd_line(source, first)


def _after_odd_line(source: Source, first: str) -> Container:
    """JSON Lines may start with a broken line; then the next one tells."""
    second = source.head(2)[-1].data.decode(errors="replace").strip()
    if _OPENS_JSON.match(second):
        return "lines"
    raise InputError(
        f"{source.path}: cannot tell the format from the first line, {_shown(first)}; "
        "it is neither JSON nor a header with known columns; give --input-format"
    )


def detect_json(source: Source) -> Container:
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


def _hint(source: Source) -> Container | None:
    """What the ending of the input's name says."""
    name = source.path.casefold().removesuffix(".gz")
    return _BY_SUFFIX.get(PurePath(name).suffix)
