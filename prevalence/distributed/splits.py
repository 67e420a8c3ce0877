"""Files → splits: stretches of whole records that a worker reads on its own.

Nothing is decoded here: files of lines are cut at byte offsets, and a line belongs to the split
in which it begins; Parquet files are cut at row numbers, which stand in their footers.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from prevalence.errors import ConfigurationError, InputError
from prevalence.readers.jsonfiles import LAYOUTS
from prevalence.readers.parquet import row_count
from prevalence.readers.products import detect_container, detect_json
from prevalence.readers.streams import (
    GZIP_MAGIC,
    PARQUET_MAGIC,
    STDIN,
    EmptyInputError,
    begins_with,
    check_readable,
    display,
    open_source,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "FORMATS",
    "GZIP",
    "LARGE_GZIP",
    "LINES",
    "MOST_SPLITS",
    "PARQUET",
    "Split",
    "count_lines",
    "input_files",
    "numbered",
    "plan_splits",
]

LINES, GZIP, PARQUET = "lines", "gzip", "parquet"
FORMATS = ("auto", "jsonl", *LAYOUTS)
"""Names of the formats that can be cut; Parquet is told by its first bytes."""

MOST_SPLITS = 20_000
"""Each split costs the driver a few kilobytes and milliseconds."""

_SPLITS_A_WORKER = 16
_LEAST_BYTES, _MOST_BYTES = 16 << 10, 8 << 20
_BLOCK = 1 << 20
LARGE_GZIP = 100_000_000
"""Bytes from which on it is a pity that gzip cannot be cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Whole records of one file.

    Attributes:
        path: the file, from the root, which every node of the cluster has to see.
        name: the same as the user gave it, for messages.
        kind: ``lines``, ``gzip`` (a whole file) or ``parquet``.
        start, end: bytes of a file of lines, rows of a Parquet file; the end does not belong.
        before: lines or rows of the file before this split.
        size: its share of the file in bytes, for progress.
        skip: items at its beginning that are done.
        last: summaries of the first item left that are not done; 0 for all of them.
    """

    path: str
    name: str
    kind: str
    start: int
    end: int
    before: int = 0
    size: int = 0
    skip: int = 0
    last: int = 0


def input_files(paths: Iterable[str]) -> list[str]:
    """The files named, and those in folders named, which other engines write in parts.

    Args:
        paths: files and folders; names in a folder that begin with ``_`` or ``.`` are left out, and
            so are parts without a record, which other engines write too.

    Raises:
        InputError: nothing is there, a folder holds other folders, or the input is a stream, which
            only one process can read.
    """
    found: list[str] = []
    for path in paths:
        if path == STDIN:
            raise InputError("standard input cannot be read by many workers: name a file")
        if not Path(path).is_dir():
            check_readable(path)
            found.append(path)
            continue
        inside = sorted(
            part for part in Path(path).iterdir() if not part.name.startswith(("_", "."))
        )
        for part in inside:
            if part.is_dir():
                raise InputError(
                    f"{display(path)}: holds the folder {display(part.name)}, and folders inside "
                    f"folders are not read; name each of them ({display(os.path.join(path, '*/'))})"
                )
        parts = [str(part) for part in inside if part.is_file()]
        if not parts:
            raise InputError(f"{display(path)}: holds no file; there is nothing to score")
        filled = [part for part in parts if _holds_record(part)]
        if not filled:
            raise InputError(
                f"{display(path)}: its files hold no record; there is nothing to score"
            )
        found += filled
    return found


def _holds_record(part: str) -> bool:
    """Whether a file of a folder holds anything; what it holds is looked at later."""
    if begins_with(part, PARQUET_MAGIC):
        return row_count(part) > 0
    try:
        with open_source(part) as source:
            return bool(source.head(1)) or source.fault() is not None
    except EmptyInputError:
        return False


def plan_splits(
    files: Sequence[str],
    *,
    workers: int,
    source_format: str = "auto",
    split_bytes: int | None = None,
) -> list[Split]:
    """Cut files into splits, in their order; lines are not yet numbered, see :func:`numbered`.

    Args:
        files: JSON Lines, gzipped or not, or Parquet.
        workers: how many workers share them.
        source_format: one of :data:`FORMATS`.
        split_bytes: bytes of input a split; None for about 16 splits a worker, of 16 KiB to 8 MiB
            each, and at most :data:`MOST_SPLITS`.

    Raises:
        InputError: a file is empty, damaged, or in a format that cannot be cut.
        ConfigurationError: a size below 1, or an unknown format.
    """
    if source_format not in FORMATS:
        raise ConfigurationError(
            f"workers read JSON Lines and Parquet, not {source_format!r}; "
            f"choose from: {', '.join(FORMATS)}"
        )
    total = sum(Path(path).stat().st_size for path in files)
    if split_bytes is None:
        wanted = total // (max(workers, 1) * _SPLITS_A_WORKER)
        split_bytes = max(min(max(wanted, _LEAST_BYTES), _MOST_BYTES), -(-total // MOST_SPLITS))
    if split_bytes < 1:
        raise ConfigurationError(f"a split needs at least one byte, not {split_bytes}")
    return [
        split
        for path in files
        for split in _splits_of(path, source_format, split_bytes=split_bytes)
    ]


def _splits_of(path: str, source_format: str, *, split_bytes: int) -> list[Split]:
    whole = Path(path).absolute()
    size = whole.stat().st_size
    if begins_with(path, PARQUET_MAGIC):
        return _row_splits(path, size, split_bytes)
    _check_lines(path, source_format)
    if begins_with(path, GZIP_MAGIC):
        if size > LARGE_GZIP:
            warnings.warn(
                f"{display(path)}: gzip cannot be split, so one worker scores all "
                f"{size >> 20:,} MiB of it and holds the rows until the end; unpack it, or cut "
                "it into smaller files",
                RuntimeWarning,
                stacklevel=2,
            )
        return [Split(path=str(whole), name=path, kind=GZIP, start=0, end=size, size=size)]
    return [
        Split(path=str(whole), name=path, kind=LINES, start=start, end=end, size=end - start)
        for start in range(0, size, split_bytes)
        for end in [min(start + split_bytes, size)]
    ]


def _check_lines(path: str, source_format: str) -> None:
    with open_source(path) as source:
        detect = detect_json if source_format in LAYOUTS else detect_container
        found = LINES if source_format == "jsonl" else detect(source)
    if found != LINES:
        raise InputError(
            f"{display(path)}: workers read JSON Lines and Parquet, and this is neither; leave "
            "out --engine ray, or write it as one JSON object per line"
        )


def _row_splits(path: str, size: int, split_bytes: int) -> list[Split]:
    rows = row_count(path)
    if not rows:
        raise InputError(f"{display(path)}: holds no row; there is nothing to score")
    step = max(1, rows * split_bytes // size)
    return [
        Split(
            path=str(Path(path).absolute()),
            name=path,
            kind=PARQUET,
            start=start,
            end=end,
            before=start,
            size=size * end // rows - size * start // rows,
        )
        for start in range(0, rows, step)
        for end in [min(start + step, rows)]
    ]


def count_lines(split: Split) -> int:
    """How many lines begin in a split; 0 where they need no count."""
    if split.kind != LINES:
        return 0
    place = max(split.start - 1, 0)
    count = int(split.start == 0)
    with Path(split.path).open("rb") as file:
        file.seek(place)
        # The line that the split's last byte ends begins the next split.
        while data := file.read(min(split.end - 1 - place, _BLOCK)):
            count += data.count(b"\n")
            place += len(data)
    return count


def numbered(splits: Sequence[Split], counts: Iterable[int]) -> list[Split]:
    """Tell each split of lines how many lines of its file come before it.

    Args:
        splits: all splits, in order.
        counts: :func:`count_lines` of each.
    """
    result: list[Split] = []
    before = 0
    path: str | None = None
    for split, count in zip(splits, counts, strict=True):
        before = before if split.path == path and split.start else 0
        result.append(replace(split, before=before) if split.kind == LINES else split)
        before, path = before + count, split.path
    return result
