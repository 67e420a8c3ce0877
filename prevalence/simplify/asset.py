"""Sentences with several human rewritings each, in ASSET's layout: one sentence a line.

``asset.valid.orig`` holds the sources; ``asset.valid.simp.0``, ``.1``, ... hold a rewriting of
each, in the same order.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

from prevalence.errors import InputError

__all__ = ["Corpus", "read_asset"]

_SOURCE = ".orig"


class Corpus(NamedTuple):
    """Training pairs.

    Attributes:
        name: of the source file, without its suffix.
        pairs: source and rewriting, the rewritings of a source one after the other.
        sources: number of sources.
        rewritings: number of rewritings of each.
        digest: of all pairs, 12 hex digits.
    """

    name: str
    pairs: tuple[tuple[str, str], ...]
    sources: int
    rewritings: int
    digest: str


def read_asset(orig: str | Path) -> Corpus:
    """Read ``NAME.orig`` and every ``NAME.simp.N`` beside it.

    Args:
        orig: path of the source file.

    Returns:
        All pairs of a source and one of its rewritings.

    Raises:
        InputError: a file is missing, damaged, has an empty line, or another number of lines.
    """
    path = Path(orig)
    if path.suffix != _SOURCE:
        raise InputError(f"{path}: give the file of sources, which ends in {_SOURCE}")
    sources = _lines(path)
    files = _rewriting_files(path)
    columns = [_lines(file) for file in files]
    for file, column in zip(files, columns, strict=True):
        if len(column) != len(sources):
            raise InputError(
                f"{file}: has {len(column):,} lines and {path.name} {len(sources):,}; give one "
                "rewriting per source"
            )
    pairs = tuple(
        (source, column[place]) for place, source in enumerate(sources) for column in columns
    )
    digest = hashlib.blake2b(repr(pairs).encode(), digest_size=6).hexdigest()
    return Corpus(path.stem, pairs, len(sources), len(columns), digest)


def _rewriting_files(path: Path) -> list[Path]:
    name = re.compile(re.escape(path.stem) + r"\.simp\.(\d+)")
    found = [
        (int(match.group(1)), file)
        for file in path.parent.iterdir()
        if (match := name.fullmatch(file.name))
    ]
    if not found:
        raise InputError(f"{path}: no rewritings beside it; {path.stem}.simp.0 should be there")
    return [file for _, file in sorted(found)]


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 (byte {error.start}); convert it") from error
    # Not splitlines: it also cuts at characters that a sentence may hold.
    lines = [line.strip() for line in text.removesuffix("\n").split("\n")]
    for number, line in enumerate(lines, start=1):
        if not line:
            raise InputError(f"{path}:{number}: is empty; give one sentence per line")
    return lines
