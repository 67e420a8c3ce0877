"""Key points of any layout, as a table for evaluation and as labelled documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from prevalence.errors import InputError
from prevalence.labelled.documents import GROUP_FIELDS, Document, group_named, parse_target
from prevalence.labelled.thinkp import is_thinkp, thinkp_table
from prevalence.readers.columns import with_point
from prevalence.readers.key_points import (
    KeyPointTable,
    NamedRow,
    is_matching,
    matching_table,
    named_rows,
)
from prevalence.readers.streams import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prevalence.labelled.documents import Record
    from prevalence.readers.key_points import KeyPointPair

__all__ = [
    "holds_table",
    "join_key_points",
    "key_point_documents",
    "pair_records",
    "read_key_points",
]

_TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_OTHER_NAMES = {
    "premise": ("review", "review_text", "source", "document", "context", "text", "comment"),
    "hypothesis": ("sentence", "claim", "statement", "summary_sentence", "summary"),
    "label": ("labels", "gold", "gold_label", "annotation", "supported", "entailment"),
    "group": ("product", "product_name", "item", "item_id", "asin", "business", "topic"),
}
"""Columns of tables of pairs, and what they may be called elsewhere."""


def holds_table(path: Path) -> bool:
    """Whether labelled pairs are a table, or key points in JSON: by the name, or the first row."""
    if path.name.casefold().endswith(_TABLES):
        return True
    row = _first_row(path)
    return row is not None and (_has_key_points(row) or _is_pair(row))


def _first_row(path: Path) -> NamedRow | None:
    """The first row of a file that can be read twice; None where there is none."""
    if str(path) == STDIN:
        return None
    try:
        return next(named_rows(path), None)
    except InputError:
        # The reader of the other layouts explains the fault better.
        return None


def _has_key_points(row: NamedRow) -> bool:
    return is_matching(row) or is_thinkp(row)


def _is_pair(row: NamedRow) -> bool:
    """Whether a row of a table, which JSON is not, has a premise and a hypothesis.

    Key points that have such columns too stay key points.
    """
    named = {"premise", "hypothesis"} <= row.cells.keys()
    return bool(row.delimiter) and named and not _has_key_points(row)


def pair_records(path: Path) -> Iterator[tuple[str, Record]] | None:
    """The rows of a table with columns `premise` and `hypothesis`, as records of the pair layout.

    Args:
        path: CSV or TSV. Empty cells are as good as none where a field is optional.

    Returns:
        `FILE:LINE` and record of each row; None where the table is another one.

    Raises:
        InputError: a row cannot be read, or columns of pairs have other names.
    """
    first = _first_row(path)
    if first is None or not _is_pair(first):
        if first is not None and first.delimiter and not _has_key_points(first):
            _refuse_other_names(path, list(first.cells))
        return None
    return ((row.where, _record(row)) for row in named_rows(path))


def _refuse_other_names(path: Path, columns: list[str]) -> None:
    """Say which columns to rename, where a table holds pairs under other names."""
    found = {
        name: next((other for other in (name, *others) if other in columns), None)
        for name, others in _OTHER_NAMES.items()
    }
    if found["premise"] is None or found["hypothesis"] is None:
        return
    if not set(GROUP_FIELDS).isdisjoint(columns):
        del found["group"]
    renamed = [f"{other} to {name}" for name, other in found.items() if other not in (name, None)]
    lacking = "" if found["label"] else " and add a column label"
    raise InputError(
        f"{path}: needs columns premise, hypothesis and label; rename {', '.join(renamed)}"
        f"{lacking}; there are: {', '.join(columns)}"
    )


def _record(row: NamedRow) -> Record:
    needed = ("premise", "hypothesis", "label")
    kept = {name: cell for name, cell in row.cells.items() if cell.strip() or name in needed}
    if "label" in kept:
        kept["label"] = with_point(kept["label"], row.delimiter)
    return kept


def read_key_points(path: str | Path) -> KeyPointTable:
    """Read comments or key points with key points, and their labels.

    Args:
        path: CSV, TSV, JSON Lines or JSON; "-" for stdin. See :mod:`prevalence.readers.key_points`
            and :mod:`prevalence.labelled.thinkp` for the layouts.

    Returns:
        The pairs.

    Raises:
        InputError: the file cannot be read, has none of the layouts, or a row is not sound.
    """
    rows = list(named_rows(path))
    if not rows:
        raise InputError(f"{path}: holds no pairs")
    if is_thinkp(rows[0]):
        return thinkp_table(rows)
    if is_matching(rows[0]):
        return matching_table(rows, path)
    raise InputError(
        f"{rows[0].where}: needs columns comment, key_point and label, or kp1, kp2 and relation; "
        f"there are: {', '.join(rows[0].cells)}; `prevalence calibrate` also reads "
        "tables with premise, hypothesis and label"
    )


def join_key_points(paths: Iterable[str | Path]) -> KeyPointTable:
    """Read several files as one table.

    Args:
        paths: see :func:`read_key_points`. Of several, a file that names no topic is one.

    Returns:
        The pairs of all files.

    Raises:
        InputError: a file is not sound, or one has comments and another has pairs of key points.
    """
    tables = {str(path): read_key_points(path) for path in paths}
    if len(tables) == 1:
        return next(iter(tables.values()))
    relations = {table.relation for table in tables.values()}
    if len(relations) != 1:
        names = ", ".join(tables)
        raise InputError(
            f"{names}: comments and pairs of key points cannot be evaluated "
            "together; run them separately"
        )
    pairs = (
        pair._replace(group=pair.group or Path(path).stem, comment=f"{path}:{pair.comment}")
        for path, table in tables.items()
        for pair in table.pairs
    )
    return KeyPointTable(tuple(pairs), relations.pop())


def key_point_documents(path: Path) -> list[Document]:
    """Read key points as documents: a comment with those that people judged it against.

    Args:
        path: see :func:`read_key_points`. What people did not agree on is unlabelled.

    Raises:
        InputError: see :func:`read_key_points`.
    """
    table = read_key_points(path)
    comments: dict[tuple[str, str, str], list[KeyPointPair]] = {}
    for pair in table.pairs:
        comments.setdefault((pair.group, pair.stance, pair.comment), []).append(pair)
    return [_document(pairs, table.relation) for pairs in comments.values()]


def _document(pairs: list[KeyPointPair], relation: str) -> Document:
    first = pairs[0]
    labelled = [
        (pair.hypothesis, pair.relation or pair.label) for pair in pairs if pair.label is not None
    ]
    return Document(
        first.premise,
        tuple(text for text, _ in labelled),
        tuple(parse_target(label, "") for _, label in labelled),
        first.group or group_named(first.premise),
        domain=first.group,
        relation=relation,
        unlabelled=tuple(pair.hypothesis for pair in pairs if pair.label is None),
    )
