"""LLM_summeval's folders of judges' replies: EVALUATOR/eval_SYSTEM_generations/DIM_METHOD.txt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from prevalence.errors import InputError
from prevalence.meta.table import Entry
from prevalence.readers.fields import FieldError, describe, read_id
from prevalence.readers.jsontext import decode_line, decode_utf8
from prevalence.readers.streams import display, open_source
from prevalence.replies import UNREAD, reply_reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["Generations", "find_generations", "full_name", "read_generations", "read_replies"]

_FOLDER = re.compile(r"eval_(?P<system>.+)_generations$")


class Generations(NamedTuple):
    """One file of replies.

    Attributes:
        path: the file.
        evaluator: the judge, by the folder's name.
        system: whose summaries were judged.
        dimension: as the file is named.
        method: likewise, in lower case.
    """

    path: Path
    evaluator: str
    system: str
    dimension: str
    method: str


def find_generations(folder: Path) -> list[Generations]:
    """Every file of replies below a folder, which may itself be an evaluator's or a system's."""
    found = []
    for path in sorted(folder.resolve().rglob("*.txt")):
        match = _FOLDER.match(path.parent.name)
        dimension, _, method = path.stem.rpartition("_")
        if match is not None and dimension:
            evaluator = path.parent.parent.name
            found.append(
                Generations(path, evaluator, match["system"], dimension, method.casefold())
            )
    return found


def read_generations(
    file: Generations, dimensions: Iterable[str], *, keep_unread: bool = False
) -> Iterator[Entry]:
    """Read the scores out of one file of replies; a repeated id keeps its last answer.

    Args:
        file: where it is, and what its place says.
        dimensions: the rated dimensions, in whose names a shortened one is written out.
        keep_unread: keep the -1 of a reply without a score, as the authors do, instead of taking
            it as missing.

    Yields:
        An entry an item, with the metric EVALUATOR.METHOD.DIMENSION.

    Raises:
        InputError: a line is not ``{"id": ..., "resp": ...}``.
    """
    dimension = full_name(file.dimension, dimensions)
    metric = f"{file.evaluator}.{file.method}.{dimension}"
    read = reply_reader(file.method)
    for item, reply in read_replies(file.path).items():
        score = read(reply)
        unread = score == UNREAD and not keep_unread
        yield Entry(item, file.system, {metric: None if unread else score}, {}, {})


def full_name(short: str, names: Iterable[str]) -> str:
    """The one name that begins like a short one; the short one itself where none or several do.

    >>> [full_name(short, ["coherence", "consistency"]) for short in ("coh", "co")]
    ['coherence', 'co']
    """
    names = list(names)
    fitting = [name for name in names if name.casefold().startswith(short.casefold())]
    return short if short in names or len(fitting) != 1 else fitting[0]


def read_replies(path: Path) -> dict[str, str]:
    """Read one file of replies by item id; a repeated id keeps its last reply.

    Raises:
        InputError: a line is not ``{"id": ..., "resp": ...}``.
    """
    replies: dict[str, str] = {}
    with open_source(path) as source:
        for line in source.lines():
            if line.fault is None and not line.data.strip():
                continue
            try:
                item, reply = _reply(line.data, line.fault)
            except FieldError as fault:
                raise InputError(
                    f"{display(path)}:{line.number}: {fault.problem}; {fault.fix}"
                ) from None
            replies[item] = reply
    return replies


def _reply(data: bytes, fault: str | None) -> tuple[str, str]:
    if fault is not None:
        raise FieldError("", fault, "repair the file")
    record = decode_line(decode_utf8(data))
    if isinstance(record, dict):
        item, _ = read_id(record)
        reply = record.get("resp")
        if item is not None and isinstance(reply, str):
            return item, reply
    raise FieldError("", f"is {describe(record)}", 'give {"id": "...", "resp": "..."} a line')
