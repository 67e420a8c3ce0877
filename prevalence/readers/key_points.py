"""Key point matching: comments, key points, and whether a comment makes the key point.

A table (CSV, TSV, JSON Lines or JSON) holds a pair a row; the ArgKP and KPM-2021 data of IBM and
tables on reviews differ in the names of their columns alone. KPM-2021 also comes as three files,
of which the one with the labels is named: `labels_dev.csv` beside `arguments_dev.csv` and
`key_points_dev.csv`. There, a pair of one topic and stance without a label is undecided.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from prevalence.errors import InputError
from prevalence.readers.columns import cells_of, refuse_repeated, with_point
from prevalence.readers.fields import FieldError, describe, escaped
from prevalence.readers.products import first_text, json_values
from prevalence.readers.streams import open_source
from prevalence.readers.tables import delimited_rows, header_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prevalence.readers.streams import Source

__all__ = [
    "GROUPS",
    "NOT_ENTAILED",
    "NO_LABEL",
    "STANCES",
    "YES_NO",
    "KeyPointPair",
    "KeyPointTable",
    "NamedRow",
    "is_matching",
    "label_of",
    "matching_table",
    "named_rows",
    "own_scores",
    "text_in",
]

GROUPS = ("group", "topic", "product_id", "product", "business", "category", "domain")
"""Columns that say what a comment is about; the first that is there counts."""
STANCES = ("stance", "polarity", "sentiment")
_COMMENTS = ("comment", "argument", "sentence", "review", "text")
_KEY_POINTS = ("key_point", "keypoint", "kp")
_COMMENT_IDS = ("comment_id", "arg_id", "argument_id", "sentence_id", "review_id")
_KEY_POINT_IDS = ("key_point_id", "keypoint_id", "kp_id")
_LABELS = ("label", "match", "matching")
NO_LABEL = ("", "none", "null", "nan", "undecided")
"""Spellings of a missing value, in lower case."""
YES_NO = {
    "0": False, "1": True, "false": False, "true": True, "no": False, "yes": True,
    "not supported": False, "supported": True, "not_supported": False, "not-supported": False,
    "unsupported": False,
}  # fmt: skip
"""Labels of two classes, in lower case."""
NOT_ENTAILED = ("not_entailment", "not entailment", "non-entailment")
_DELIMITERS = ("\t", ",", ";", "|")
_LABELS_FILE, _ARGUMENTS_FILE, _KEY_POINTS_FILE = "labels", "arguments", "key_points"


class KeyPointPair(NamedTuple):
    """A text, a key point, and what people say of the two.

    Attributes:
        premise: the comment; of two key points, the one that may imply the other.
        hypothesis: the key point.
        label: whether the premise makes the key point; None where people did not agree.
        group: topic, product or category; empty where the table has none.
        stance: empty where the table has none.
        comment: tells the comments of a group and stance apart.
        scores: of the table's own columns, NaN where a cell is empty.
        relation: `entailment`, `neutral` or `contradiction` where the label is one of these; else
            empty.
    """

    premise: str
    hypothesis: str
    label: bool | None
    group: str
    stance: str
    comment: str
    scores: Mapping[str, float]
    relation: str = ""


@dataclass(frozen=True, slots=True)
class KeyPointTable:
    """Pairs in file order, and what their premises are: reviews (comments), or key points too."""

    pairs: tuple[KeyPointPair, ...]
    relation: Literal["review", "sentence"]


class NamedRow(NamedTuple):
    """One row: its place for messages, and its cells by the normalised names of their columns.

    ``delimiter`` stands between the cells of a table, and is empty for JSON.
    """

    where: str
    cells: Mapping[str, Any]
    delimiter: str = ""

    def first(self, names: Sequence[str]) -> str | None:
        """The first of some columns that is there."""
        return next((name for name in names if name in self.cells), None)

    def text(self, names: Sequence[str]) -> str:
        """A cell as text without surrounding spaces; empty where it or its column is missing."""
        name = self.first(names)
        value = None if name is None else self.cells[name]
        return "" if value is None else str(value).strip()


def named_rows(path: str | Path) -> Iterator[NamedRow]:
    """Read the rows of a table, the lines of JSON Lines, or the objects of a JSON file.

    Args:
        path: the file, gzipped or not. An object of lists in JSON holds the rows of a category
            each, which become their cells `category`.

    Yields:
        Rows in file order; names of columns in lower case with underscores.

    Raises:
        InputError: the file cannot be read, or a row is none; the message names it.
    """
    with open_source(path) as source:
        if first_text(source)[:1] in ("{", "["):
            yield from _json_rows(source)
        else:
            yield from _table_rows(source)


def _json_rows(source: Source) -> Iterator[NamedRow]:
    for position, value in json_values(source):
        if isinstance(value, FieldError):
            raise InputError(value.at(position).error)
        for place, record in _flat(value):
            if not isinstance(record, dict):
                fault = FieldError("", f"is {describe(record)}", "give one object per pair")
                raise InputError(fault.at(position).error)
            cells = {_normal(name): cell for name, cell in record.items()}
            yield NamedRow(position.source + place, cells)


def _flat(value: Any) -> Iterator[tuple[str, Any]]:
    """A record itself, or the records of an object of lists by category."""
    if not (isinstance(value, dict) and value and all(isinstance(v, list) for v in value.values())):
        yield "", value
        return
    for category, records in value.items():
        for place, record in enumerate(records):
            named = {"category": category} | record if isinstance(record, dict) else record
            yield f"[{escaped(category)!r}][{place}]", named


def _table_rows(source: Source) -> Iterator[NamedRow]:
    first = first_text(source)
    widest = max(_DELIMITERS, key=lambda mark: len(cells_of(first, mark)))
    rows, delimiter = delimited_rows(source, first, widest)
    names = [_normal(cell) for cell in header_of(rows, source.path)]
    refuse_repeated(names, source.path)
    for row in rows:
        where = f"{source.path}:{row.line}"
        if row.fault is not None:
            raise InputError(f"{where}: {row.fault.problem}; {row.fault.fix}")
        if len(row.cells) != len(names):
            problem = f"has {len(row.cells)} cells, where the header names {len(names)}"
            raise InputError(f"{where}: {problem}; quote cells that hold the delimiter")
        yield NamedRow(where, dict(zip(names, row.cells, strict=True)), delimiter)


def _normal(name: str) -> str:
    return escaped(name).strip().casefold().replace(" ", "_").replace("-", "_")


def _column(row: NamedRow, names: Sequence[str]) -> str:
    """The first of some columns that is there; one must be."""
    name = row.first(names)
    if name is None:
        raise InputError(
            f"{row.where}: needs a column {' or '.join(names)}; there are: {', '.join(row.cells)}"
        )
    return name


def text_in(row: NamedRow, names: Sequence[str]) -> str:
    """The text of a column that must hold one.

    Raises:
        InputError: there is no such column, or no text in it.
    """
    name = _column(row, names)
    value = row.cells[name]
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{row.where}: {name} must be a text, not {describe(value)}")
    return value


def label_of(row: NamedRow, names: Sequence[str], spellings: Mapping[str, bool]) -> bool | None:
    """The label of a row, or None where it is empty: people did not agree.

    Args:
        row: of a table.
        names: columns that may hold it; the first that is there does.
        spellings: what labels of two classes may look like, in lower case.

    Raises:
        InputError: there is no such column, or its value is no label.
    """
    name = _column(row, names)
    value = row.cells[name]
    text = "" if value is None else str(value).strip().casefold()
    spelled = with_point(text, row.delimiter).removesuffix(".0")
    if spelled in spellings:
        return spellings[spelled]
    if spelled in NO_LABEL:
        return None
    known = ", ".join(spellings)
    raise InputError(
        f"{row.where}: {name} is {describe(value)}; use {known}, or leave it empty (undecided)"
    )


def own_scores(rows: Sequence[NamedRow], known: Iterable[str]) -> list[dict[str, float]]:
    """The scores that a table brings along.

    Args:
        rows: the table.
        known: columns that mean something else.

    Returns:
        For each row the values of every other column that holds numbers and nothing else, and of
        the object `scores`; NaN where there is none. Columns of ids and without a name are none.

    Raises:
        InputError: `scores` is no object of numbers.
    """
    passed = {*known, "scores"}
    found = [
        {name: cell for name, cell in row.cells.items() if name not in passed and _may_score(name)}
        | _nested(row)
        for row in rows
    ]
    numbers: dict[str, list[float]] = defaultdict(list)
    names = dict.fromkeys(name for cells in found for name in cells)
    for name in names:
        values = [
            _number(cells.get(name), row.delimiter) for row, cells in zip(rows, found, strict=True)
        ]
        whole = [value for value in values if value is not None]
        if len(whole) == len(values) and not all(map(math.isnan, whole)):
            numbers[name] = whole
    return [{name: numbers[name][place] for name in numbers} for place in range(len(rows))]


def _may_score(name: str) -> bool:
    return bool(name) and not name.startswith("unnamed") and not name.endswith(("id", "index"))


def _nested(row: NamedRow) -> dict[str, Any]:
    scores = row.cells.get("scores")
    if scores is None:
        return {}
    if not isinstance(scores, dict):
        raise InputError(f"{row.where}: scores is {describe(scores)}; give an object of numbers")
    for name, value in scores.items():
        if _number(value) is None:
            fix = "give a number, or null where there is none"
            raise InputError(f"{row.where}: scores.{escaped(name)} is {describe(value)}; {fix}")
    return scores


def _number(value: object, delimiter: str = "") -> float | None:
    """A finite number, NaN for an empty cell, or None for anything else."""
    if value is None or (isinstance(value, str) and value.strip().casefold() in NO_LABEL):
        return math.nan
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(with_point(value, delimiter) if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


_RELATIONS = {"entailment": True, "neutral": False, "contradiction": False}
_MATCH = YES_NO | _RELATIONS | dict.fromkeys(NOT_ENTAILED, False)
_KNOWN = (*GROUPS, *STANCES, *_COMMENTS, *_KEY_POINTS, *_COMMENT_IDS, *_KEY_POINT_IDS, *_LABELS)


def is_matching(row: NamedRow) -> bool:
    """Whether a first row is of a table of key point matching, or of KPM-2021's labels."""
    return bool(row.first(_KEY_POINTS) or _is_label(row))


def _is_label(row: NamedRow) -> bool:
    ids = row.first(_COMMENT_IDS) and row.first(_KEY_POINT_IDS)
    return bool(ids) and row.first(_KEY_POINTS) is None


@dataclass(slots=True)
class _Comments:
    """Names the comments of a table; equal texts without an id are those of different people."""

    seen: dict[tuple[str, ...], int] = field(default_factory=lambda: defaultdict(int))

    def name(self, row: NamedRow, topic: tuple[str, str], pair: tuple[str, str]) -> str:
        stated = row.text(_COMMENT_IDS)
        self.seen[*topic, stated, *pair] += 1
        count = self.seen[*topic, stated, *pair]
        if stated and count > 1:
            raise InputError(
                f"{row.where}: comment {stated!r} and key point {pair[1]!r} appear twice; keep one"
            )
        return f"{stated or count}#{pair[0]}"


def matching_table(rows: Sequence[NamedRow], path: str | Path) -> KeyPointTable:
    """Take the rows of a table of key point matching as pairs.

    Args:
        rows: at least one.
        path: where they come from; KPM-2021's arguments and key points lie beside its labels.

    Returns:
        The pairs, in the order of the rows; for KPM-2021's files all pairs of an argument and a
        key point of its topic and stance, in the order of both files.

    Raises:
        InputError: a row lacks something, or a pair stands twice.
    """
    if _is_label(rows[0]):
        return KeyPointTable(tuple(_joined(rows, Path(path))), "review")
    scores, comments, pairs = own_scores(rows, _KNOWN), _Comments(), []
    for row, own in zip(rows, scores, strict=True):
        premise, hypothesis = text_in(row, _COMMENTS), text_in(row, _KEY_POINTS)
        label = label_of(row, _LABELS, _MATCH)
        topic = row.text(GROUPS), row.text(STANCES)
        name = comments.name(row, topic, (premise, hypothesis))
        said = row.text(_LABELS).casefold()
        relation = said if said in _RELATIONS else ""
        pairs.append(KeyPointPair(premise, hypothesis, label, *topic, name, own, relation))
    return KeyPointTable(tuple(pairs), "review")


def _joined(rows: Sequence[NamedRow], path: Path) -> Iterator[KeyPointPair]:
    """KPM-2021's three files: every pair of a topic and stance, undecided where it has no label."""
    labels = {}
    for row in rows:
        pair = row.text(_COMMENT_IDS), row.text(_KEY_POINT_IDS)
        if pair in labels:
            raise InputError(f"{row.where}: {pair[0]!r} and {pair[1]!r} appear twice; keep one")
        labels[pair] = label_of(row, _LABELS, _MATCH)
    key_points: dict[tuple[str, str], list[NamedRow]] = defaultdict(list)
    for row in named_rows(_beside(path, _KEY_POINTS_FILE)):
        key_points[row.text(GROUPS), row.text(STANCES)].append(row)
    for row in named_rows(_beside(path, _ARGUMENTS_FILE)):
        topic = row.text(GROUPS), row.text(STANCES)
        name, premise = row.text(_COMMENT_IDS), text_in(row, _COMMENTS)
        for other in key_points[topic]:
            label = labels.pop((name, other.text(_KEY_POINT_IDS)), None)
            yield KeyPointPair(premise, text_in(other, _KEY_POINTS), label, *topic, name, {})
    if labels:
        argument, key_point = next(iter(labels))
        raise InputError(
            f"{path}: {argument!r} and {key_point!r} are not an argument and a key point of one "
            "topic and stance in the files beside it"
        )


def _beside(path: Path, name: str) -> Path:
    beside = path.with_name(path.name.replace(_LABELS_FILE, name))
    if beside == path or not beside.exists():
        wanted = path.name.replace(_LABELS_FILE, name) if beside != path else f"{name}_*.csv"
        raise InputError(
            f"{path}: names texts by their ids; put {wanted}, which has the texts, beside it "
            "(labels_dev.csv, arguments_dev.csv, key_points_dev.csv)"
        )
    return beside
