"""Product names from a file of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.errors import InputError
from prevalence.readers.detect import first_text
from prevalence.readers.fields import FieldError, describe, escaped, scrub
from prevalence.readers.jsonfiles import document_text
from prevalence.readers.jsontext import decode_document, decode_utf8
from prevalence.readers.streams import Source, open_source

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_product_names"]


def read_product_names(path: str | Path) -> dict[str, str]:
    """Read product names by id.

    Args:
        path: a file of lines "ID name...", split at the first white space, or one JSON object
            ``{"ID": "name"}``; "-" is stdin; gzip is recognised.

    Returns:
        The names; where an id stands twice, the last one.

    Raises:
        InputError: the file cannot be read, or a line has no name.
    """
    with open_source(path) as source:
        if first_text(source).startswith("{"):
            return _from_object(source)
        return dict(_from_lines(source))


def _from_lines(source: Source) -> list[tuple[str, str]]:
    pairs = []
    for line in source.lines():
        where = f"{source.path}:{line.number}"
        if line.fault is not None:
            raise InputError(f"{where}: {line.fault}; repair the file")
        try:
            words = decode_utf8(line.data).split(None, 1)
        except FieldError as fault:
            raise InputError(f"{where}: {fault.problem}; {fault.fix}") from None
        if len(words) == 1:
            shown = escaped(words[0][:40])
            raise InputError(f"{where}: no name after the id {shown!r}; write one")
        if words:
            pairs.append((words[0], words[1].strip()))
    return pairs


def _from_object(source: Source) -> dict[str, str]:
    elements = list(decode_document(document_text(source), source.path))
    try:
        names = scrub(elements[0][1])
    except FieldError as fault:
        raise InputError(f"{source.path}: {fault.where}: {fault.problem}; {fault.fix}") from None
    for key, name in names.items():
        if not isinstance(name, str) or not name.strip():
            found = describe(name)
            raise InputError(f"{source.path}: {escaped(key)}: the name is {found}; give a string")
    return {key: name.strip() for key, name in names.items()}
