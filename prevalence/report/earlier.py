"""Rows of several files → which of them are there twice, scored twice, or of other products."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import InputError
from prevalence.report.text import inert

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["EarlierRows", "figures_of", "object_at", "shown"]

_ONE_SPACE = str.maketrans("\t\r\v\f", "    ")
_MADE_UP = re.compile(r"(?:<stdin>|.*\.[A-Za-z]\w{0,9}|part-[\w-]+)(?::\d+|\[\d+\])", re.DOTALL)
"""Ids that readers give records without one: the name of a file, and a place in it."""


class _Scored(NamedTuple):
    """Where a figure of a summary was met first, and what it was made of."""

    source: str
    digest: str | None
    signature: str


class EarlierRows:
    """What the rows taken so far are about; a few numbers a row, and no texts.

    Attributes:
        repeats: rows that were refused because they say again what another one said.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[str, str, str], _Scored] = {}
        self._known: set[bytes] = set()
        self.repeats = 0

    def __bool__(self) -> bool:
        return bool(self._first)

    def take(self, row: Mapping[str, Any], *, system: str, source: str) -> bool:
        """Remember a row, and return whether it says anything new.

        Args:
            row: of a system's summary.
            system: the name that the system is shown by.
            source: the file of the row.
        """
        if row.get("system") is None:
            return True
        mark = _outcome(row, system)
        if mark in self._known:
            self.repeats += 1
            return False
        if mark is not None:
            self._known.add(mark)
        told = _Scored(source, _digest(row), sys.intern(str(row.get("signature"))))
        for key in _keys(row):
            self._first.setdefault(key, told)
        return True

    def rescored(self, rows: Sequence[Mapping[str, Any]], source: str) -> dict[str, str]:
        """Systems of which another file has scored one of these summaries with another outcome.

        Returns:
            That file, by system.
        """
        found: dict[str, str] = {}
        for row in rows:
            firsts = [self._first[key].source for key in _keys(row) if key in self._first]
            others = [first for first in firsts if first != source]
            if others and _outcome(row, shown(row["system"])) not in self._known:
                found.setdefault(shown(row["system"]), others[0])
        return found

    def refuse_other_products(self, rows: Sequence[Mapping[str, Any]], source: str) -> None:
        """Refuse rows of products that share nothing with those of another file but made-up ids.

        The ids of records without one say where these stand in their file, so that every shard has
        the same. Inputs are compared by their digests, where the settings are the same. These cover
        the summary too, so other summaries of the same products are refused as well.

        Raises:
            InputError: another file has scored other inputs under all ids that both have.
        """
        same: set[str] = set()
        other: Counter[str] = Counter()
        example = ""
        for row in rows:
            digest, name = _digest(row), shown(row.get("id"))
            if digest is None or not _MADE_UP.fullmatch(name):
                continue
            for key in _keys(row):
                first = self._first.get(key)
                if first is None or first.source == source or first.digest is None:
                    continue
                if first.digest == digest:
                    same.add(first.source)
                elif first.signature == str(row.get("signature")):
                    other[first.source] += 1
                    example = example or name
        for earlier in other:
            if earlier not in same:
                raise InputError(
                    f"its rows are about other reviews or summaries than those of {earlier}, under "
                    f'the same ids (such as "{example}", a place in a file): give each record an '
                    'id of its own in a field "id", or, to compare summaries of the same products, '
                    'name their system in a field "system"; then score again'
                )


def shown(value: object) -> str:
    """A text of a row with nothing that drives what shows it; tabs are spaces."""
    return inert(str(value).translate(_ONE_SPACE))


def object_at(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object at a key; an empty one for null, or anything else."""
    value = row.get(key)
    return value if isinstance(value, dict) else {}


def figures_of(row: Mapping[str, Any]) -> frozenset[str]:
    """The figures that a row of a summary is for."""
    return frozenset(["prevalence"] if "prevalence" in row else object_at(row, "metrics"))


def _keys(row: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """What no two files may score under one name: system, figure and id of a summary's row."""
    if row.get("system") is None or not ("prevalence" in row or "metrics" in row):
        return []
    name, system = (shown(row.get(key)) for key in ("id", "system"))
    return [(system, shown(figure), name) for figure in sorted(figures_of(row))]


def _digest(row: Mapping[str, Any]) -> str | None:
    digest = row.get("input_digest")
    return digest if isinstance(digest, str) and digest else None


def _outcome(row: Mapping[str, Any], system: str) -> bytes | None:
    """What a row says of which input, in few bytes; None where it does not name its input.

    Probabilities are left out: those of another machine differ by rounding.
    """
    if _digest(row) is None:
        return None
    said: list[Any] = [row.get(key) for key in ("id", "input_digest", "signature", "error")]
    if "prevalence" in row:
        found = row.get("sentences")
        listed = found if isinstance(found, list) else []
        sentences = [one for one in listed if isinstance(one, dict)]
        decided = ("text", "supporting_reviews", "contradicting_reviews")
        said += [row["prevalence"], [[one.get(key) for key in decided] for one in sentences]]
    else:
        said += [row.get(key) for key in ("metrics", "samples", "human")]
    said += [system, sorted(map(str, row))]
    return blake2b(json.dumps(said, default=str).encode(), digest_size=12).digest()
