"""A file with one summary a line, joined by line number with a file of reviews."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from prevalence.errors import InputError
from prevalence.readers.drafts import Item, ReadOptions
from prevalence.readers.fields import FieldError, Position
from prevalence.readers.jsontext import decode_utf8
from prevalence.readers.products import iterate
from prevalence.readers.streams import STDIN, Line, check_readable, display, open_source
from prevalence.records import BadRecord, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["read_authors"]


class _Surplus(NamedTuple):
    """A line or product without a partner: its place, and the product's id."""

    position: Position
    id: str | None


def read_authors(
    summaries: str | Path,
    *,
    reviews: str | Path,
    names: Mapping[str, str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Item]:
    """Read summaries that stand one a line, in the order of the products of another file.

    Args:
        summaries: the lines; the file's stem names the system. An empty line is an empty summary.
        reviews: Copycat's TSV or any other file of products; its own summaries are left aside.
        names: product names by id.
        progress: called with the bytes of the reviews file taken so far.

    Returns:
        An iterator over products with one summary each, and bad records. Where one file is
        longer, each line or product without a partner is a bad record that says both counts.

    Raises:
        InputError: one of the files cannot be read, or both are stdin.
    """
    if str(summaries) == STDIN and str(reviews) == STDIN:
        raise InputError("summaries and reviews cannot both come from stdin; name one file")
    check_readable(summaries)
    check_readable(reviews)
    options = ReadOptions({} if names is None else names, reviews_only=True)
    return _joined(summaries, iterate(reviews, "auto", options, progress))


def _joined(summaries: str | Path, products: Iterator[Item]) -> Iterator[Item]:
    system = _stem(summaries)
    matched = 0
    with open_source(summaries) as source:
        lines = source.lines()
        for item in products:
            line = next(lines, None)
            if line is None:
                spare = [_of_item(item), *map(_of_item, products)]
                counts = (matched, matched + len(spare))
                yield from _unmatched(spare, "the product has no summary", counts, system)
                return
            matched += 1
            yield _paired(item, line, Position(source.path, f":{line.number}"), system)
        spare = [_Surplus(Position(source.path, f":{line.number}"), None) for line in lines]
        counts = (matched + len(spare), matched)
        yield from _unmatched(spare, "the summary has no product", counts, system)


def _stem(path: str | Path) -> str:
    if str(path) == STDIN:
        return "stdin"
    name = PurePath(display(path).removesuffix(".gz"))
    return name.stem or name.name


def _paired(item: Item, line: Line, position: Position, system: str) -> Item:
    if isinstance(item, BadRecord):
        return replace(item, system=system)
    try:
        if line.fault is not None:
            raise FieldError("", line.fault, "repair the file")
        text = decode_utf8(line.data).removesuffix("\n").removesuffix("\r")
    except FieldError as fault:
        return replace(fault.at(position, identity=item.id, extra=item.extra), system=system)
    return replace(item, summaries=(Summary(system, text),))


def _of_item(item: Item) -> _Surplus:
    return _Surplus(Position(item.source, ""), item.id)


def _unmatched(
    spare: list[_Surplus], problem: str, counts: tuple[int, int], system: str
) -> Iterator[Item]:
    fix = f"there are {counts[0]} summary lines and {counts[1]} products; give one line a product"
    for surplus in spare:
        yield FieldError("", problem, fix, system=system).at(surplus.position, identity=surplus.id)
