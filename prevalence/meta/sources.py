"""Files and folders of scores and ratings → one table, merged by item and system."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.meta.forms import ItemForms, TwoFormsError
from prevalence.meta.layouts import (
    Context,
    Generations,
    NoScoresError,
    find_generations,
    read_generations,
    record_entries,
    unread_results,
)
from prevalence.meta.rating_tables import is_rating_table, rating_rows
from prevalence.meta.table import RatingTable, SummaryRatings, TableBuilder
from prevalence.readers.fields import FieldError, Position, describe, read_id
from prevalence.readers.products import json_values
from prevalence.readers.streams import STDIN, display, open_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from prevalence.meta.layouts import Repeated

__all__ = ["TableReading", "read_records", "read_table", "read_tables", "split_label"]

_SUFFIXES = (".jsonl", ".ndjson", ".json", ".jsonl.gz", ".json.gz")
_TOKEN = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class TableReading:
    """A table, and what was met on the way to it.

    Attributes:
        table: all scores and ratings.
        skipped: files of a folder that hold none, with the reason.
        left_out: rows that report an error and have no value.
    """

    table: RatingTable
    skipped: Sequence[str]
    left_out: int = 0


class _BadRecordError(InputError):
    """A record that has scores, but not as they should be, or that cannot be decoded."""


@dataclass(slots=True)
class _Collector:
    """Entries of several inputs; replies wait until the rated dimensions are known."""

    raters: str | None
    by_position: bool
    keep_unread: bool
    repeated: Repeated
    builder: TableBuilder = field(default_factory=TableBuilder)
    dimensions: dict[str, None] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    left_out: int = 0
    forms: ItemForms = field(default_factory=ItemForms)

    def add(self, entry: SummaryRatings, source: str) -> None:
        self.dimensions |= dict.fromkeys(entry.human)
        self.builder.add(entry, source=source)


def read_table(
    paths: str | Path | Iterable[str | Path],
    *,
    raters: str | None = None,
    by_position: bool = False,
    keep_unread: bool = False,
    repeated: Repeated = "last",
) -> RatingTable:
    """Read scores and ratings and merge them by item and system.

    Args:
        paths: files (JSON Lines, JSON or a table of ratings, gzipped or not, "-" for stdin),
            folders of JSON files and of judges' replies, or LABEL=FILE or LABEL=FOLDER, whose
            metrics then are called LABEL:METRIC.
        raters: the group of raters to take where a source has several (``expert``, ``turker``);
            the experts, or else the first group, by default.
        by_position: number items by their place in each file instead of taking their ids, for
            files of the same items under different ids. Rows of one id are one item.
        keep_unread: score a judge's reply that has no score -1, as LLM_summeval does, instead of
            taking it as missing; likewise in the rows of judges.
        repeated: which answer counts, "first" or "last", where a judge was asked twice.

    Returns:
        The table; items, systems, metrics and dimensions in order of first appearance.

    Raises:
        InputError: a file cannot be read or holds neither scores nor ratings, or two sources
            contradict each other.
    """
    reading = read_tables(
        paths,
        raters=raters,
        by_position=by_position,
        keep_unread=keep_unread,
        repeated=repeated,
    )
    return reading.table


def read_tables(
    paths: str | Path | Iterable[str | Path],
    *,
    raters: str | None = None,
    by_position: bool = False,
    keep_unread: bool = False,
    repeated: Repeated = "last",
) -> TableReading:
    """Likewise, and say what was passed over; see :func:`read_table`."""
    chosen = [paths] if isinstance(paths, str | Path) else list(paths)
    collector = _Collector(raters, by_position, keep_unread, repeated)
    files, replies, unread = _gather(chosen)
    collector.skipped += unread
    systems = {file.system for _, file in replies}
    for label, path, in_folder in files:
        _add_file(collector, label, path, in_folder=in_folder, systems=systems)
    for label, file in replies:
        _add_replies(collector, label, file)
    return TableReading(collector.builder.build(), tuple(collector.skipped), collector.left_out)


_Input = tuple[str | None, Path, bool]
"""A label or None, a file, and whether it was found in a folder instead of being named."""
_Replies = tuple[str | None, Generations]
"""A label or None, and a file of replies."""


def _gather(chosen: Iterable[str | Path]) -> tuple[list[_Input], list[_Replies], list[str]]:
    """Files, files of replies, and which files of folders are not read."""
    files: list[_Input] = []
    replies: list[_Replies] = []
    unread: list[str] = []
    for entry in chosen:
        label, path = split_label(entry)
        if not path.is_dir():
            files.append((label, path, False))
            continue
        found = find_generations(path)
        replies += [(label, file) for file in found]
        below = [item for item in path.rglob("*") if item.name.endswith(_SUFFIXES)]
        below.sort(key=_by_number)
        files += [(label, item, True) for item in below]
        results = unread_results(path)
        unread += [f"{display(path)}: {results}"] if results else []
        if not found and not below:
            also = f"; {results}" if results else ""
            raise InputError(f"{display(path)}: holds no JSON files and no judges' replies{also}")
    return files, replies, unread


def _by_number(path: Path) -> list[tuple[int, str]]:
    """Order in which M9 comes before M10."""
    parts = re.split(r"(\d+)", str(path))
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def split_label(entry: str | Path) -> tuple[str | None, Path]:
    """Take LABEL=FILE apart; a file that is called so has no label."""
    label, mark, rest = str(entry).partition("=")
    if mark and label and rest and not Path(entry).exists():
        return label, Path(rest)
    return None, Path(entry)


def _add_file(
    collector: _Collector, label: str | None, path: Path, *, in_folder: bool, systems: set[str]
) -> None:
    """Add a file's entries; one that was only met in a folder may hold something else.

    A file whose first records have scores is one of ours, and a fault in it is not passed over.
    """
    system = None if str(path) == STDIN else _system_of(path, systems)
    entries: list[tuple[SummaryRatings, str]] = []
    places: dict[str, int] = {}
    try:
        for number, (position, record) in enumerate(_records(path), start=1):
            context = Context(
                position.fallback_id,
                str(number),
                system,
                collector.raters,
                collector.keep_unread,
                collector.repeated,
            )
            found = _entries(record, context, position)
            collector.left_out += not found
            if collector.by_position:
                place = places.setdefault(_own_id(record, position), len(places) + 1)
                found = [entry._replace(item=str(place)) for entry in found]
            found = collector.forms.named(
                record, found, file=position.path, unnamed=position.fallback_id
            )
            entries += [(_relabelled(entry, label), position.source) for entry in found]
    except InputError as error:
        if not in_folder or entries or isinstance(error, _BadRecordError | TwoFormsError):
            raise
        collector.skipped.append(str(error))
    collector.forms.end_file()
    for entry, source in entries:
        collector.add(entry, source)


def _own_id(record: object, position: Position) -> str:
    """The id that rows of one item share within a file, however the record is to be called."""
    own = read_id(record)[0] if isinstance(record, dict) else None
    return position.fallback_id if own is None else own


def _add_replies(collector: _Collector, label: str | None, file: Generations) -> None:
    entries = list(
        read_generations(
            file,
            collector.dimensions,
            keep_unread=collector.keep_unread,
            repeated=collector.repeated,
        )
    )
    if not entries:
        collector.skipped.append(f"{display(file.path)}: holds no replies")
    for place, entry in enumerate(entries, start=1):
        placed = entry._replace(item=str(place)) if collector.by_position else entry
        collector.builder.add(_relabelled(placed, label), source=display(file.path))


def _entries(record: object, context: Context, position: Position) -> list[SummaryRatings]:
    try:
        if isinstance(record, FieldError):
            raise record
        return record_entries(record, context)
    except NoScoresError as fault:
        raise InputError(fault.at(position).error) from None
    except FieldError as fault:
        raise _BadRecordError(fault.at(position).error) from None


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON Lines or JSON file, whatever they hold, or the rows of a rating table.

    Raises:
        InputError: the file cannot be read, or a record cannot be decoded or is no object.
    """
    for position, record in _records(path):
        if not isinstance(record, dict):
            fault = record
            if not isinstance(fault, FieldError):
                fault = FieldError("", f"is {describe(record)}", "give one JSON object per line")
            raise InputError(fault.at(position).error)
        yield record


def _records(path: Path) -> Iterator[tuple[Position, object]]:
    with open_source(path) as source:
        if is_rating_table(source):
            yield from rating_rows(source)
        else:
            # A bare NaN stands for a missing value, as Python and pandas write it.
            yield from json_values(source, finite=False)


def _system_of(path: Path, systems: set[str]) -> str:
    """The system that a file is named for: one that was judged, if its name holds just one."""
    stem = path.name.partition(".")[0]
    tokens = {*_TOKEN.findall(stem), stem}
    named = systems & tokens
    return named.pop() if len(named) == 1 else stem


def _relabelled(entry: SummaryRatings, label: str | None) -> SummaryRatings:
    if label is None:
        return entry
    return entry._replace(
        metrics={f"{label}:{name}": value for name, value in entry.metrics.items()},
        samples={f"{label}:{name}": value for name, value in entry.samples.items()},
    )
