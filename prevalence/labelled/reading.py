"""From a file of labelled pairs in any layout to documents."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prevalence.errors import InputError
from prevalence.labelled.documents import (
    GROUP_FIELDS,
    Document,
    Record,
    items_of,
    parse_label,
    read_records,
    text_of,
)
from prevalence.labelled.key_points import holds_table, key_point_documents, pair_records
from prevalence.labelled.layouts import LabelMode, parse_record
from prevalence.labelled.reviewnli import is_released, join_released

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["JudgedPairs", "check_summaries", "read_documents"]

_TEXTS = frozenset({"premise", "review", "reviews", "statements"})
"""Keys of records that hold what their labels are about."""
_ANNOTATOR = re.compile(r"(?:worker|annotator|rater|coder|labell?er)[ _]?(?:id|name)?", re.I)
_PAIR = ("premise", "hypothesis", "relation", *GROUP_FIELDS)
_SHOWN = 60
"""Characters of a text in a message."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPairs:
    """P labelled pairs.

    Attributes:
        premises: P texts.
        hypotheses: P texts.
        labels: bool [P], whether the premise implies the hypothesis.
        groups: str [P], product of each pair.
        relations: str [P], `review`, `product` or `sentence`.
    """

    premises: tuple[str, ...]
    hypotheses: tuple[str, ...]
    labels: NDArray[np.bool_]
    groups: NDArray[np.str_]
    relations: NDArray[np.str_]

    @classmethod
    def of(cls, documents: Iterable[Document]) -> JudgedPairs:
        """Lay documents out; a pair is positive where its target is above one half."""
        rows = [
            (document, text, target)
            for document in documents
            for text, target in zip(document.hypotheses, document.targets, strict=True)
        ]
        return cls(
            tuple(document.premise for document, _, _ in rows),
            tuple(text for _, text, _ in rows),
            np.asarray([target.entailment > 0.5 for _, _, target in rows], np.bool_),
            np.asarray([document.group for document, _, _ in rows], np.str_),
            np.asarray([document.relation for document, _, _ in rows], np.str_),
        )

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """(premise, hypothesis) of each pair."""
        return list(zip(self.premises, self.hypotheses, strict=True))

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, kept: NDArray[np.bool_]) -> JudgedPairs:
        """The pairs where ``kept``, bool [P], is true."""
        rows = np.flatnonzero(kept).tolist()
        return JudgedPairs(
            tuple(self.premises[row] for row in rows),
            tuple(self.hypotheses[row] for row in rows),
            self.labels[kept],
            self.groups[kept],
            self.relations[kept],
        )


def read_documents(
    path: Path,
    *,
    labels: LabelMode = "majority",
    threeway: Path | None = None,
    products: Path | None = None,
    summaries: Sequence[str] = (),
    refuse_unused: bool = False,
) -> list[Document]:
    """Read a file of labelled pairs in any of the accepted layouts.

    Args:
        path: A table of key points, see :func:`prevalence.labelled.read_key_points`, or of pairs
            (columns `premise`, `hypothesis`, `label`, perhaps `group`); or JSON Lines of pairs,
            reviews with `sentences` or `statements`, grouped products, unlabelled products with
            `reviews`, or ReviewNLI's released answers.
        labels: `majority`, or `soft`; see :func:`prevalence.labelled.layouts.parse_record`.
        threeway: File of `{"id", "labels": ["e" | "n" | "c", ...]}` that splits the negatives of
            records with the same `id` into neutral and contradiction.
        products: File with the reviews and summaries that ReviewNLI's released answers speak of,
            or with the reviews of the grouped records that have none: products with `reviews`, or
            single reviews (`review_id`, `review`) that the records name in `review_ids`.
        summaries: Systems whose summary sentences are unlabelled hypotheses of unlabelled reviews.
        refuse_unused: Whether `products` beside records that all hold their texts are an error.

    Returns:
        Documents in file order. A pair without a label is among the unlabelled hypotheses.

    Raises:
        InputError: A file is missing, a line is not valid, or a file beside it is of no use.
    """
    if holds_table(path):
        if beside_it := threeway or products:
            raise InputError(f"{beside_it}: {path} is a table with its texts; leave it out")
        return _table_documents(path, labels)
    records = _gathered(read_records(path))
    if not records:
        raise InputError(f"{path}: holds no records")
    if is_released(records[0][1]):
        return _released(records, path, threeway, products, labels)
    if products is not None and refuse_unused and all(_has_texts(record) for _, record in records):
        raise InputError(
            f"{products}: all records of {path} hold their own texts and need no products file; "
            "leave it out"
        )
    known = {str(record["id"]) for _, record in records if "id" in record}
    splits = dict(_read_threeway(threeway, known)) if threeway is not None else {}
    beside = _read_beside(products) if products is not None else {}
    documents: list[Document] = []
    for where, record in records:
        whole = record
        if products is not None and not _has_texts(record):
            whole = _with_reviews(record, beside, f"{where}: {products}")
        found = parse_record(whole, where, labels, summaries=summaries)
        split = splits.get(str(record.get("id")))
        if split is not None:
            told = parse_record({**whole, "labels": split}, where, labels, summaries=summaries)
            found = _checked_split(found, told, f"{where}: {threeway}")
        documents.extend(found)
    return documents


def _table_documents(path: Path, labels: LabelMode) -> list[Document]:
    pairs = pair_records(path)
    if pairs is None:
        return key_point_documents(path)
    return [found for where, row in _gathered(pairs) for found in parse_record(row, where, labels)]


def _gathered(records: Iterable[tuple[str, Record]]) -> list[tuple[str, Record]]:
    """Pairs that have a record for each annotator, as one record with ``worker_labels``.

    What an annotator says again of a pair is left as a pair of its own. Nothing is gathered if no
    pair has two annotators.
    """
    rows = list(records)
    by = {place: name for place, (_, row) in enumerate(rows) if (name := _annotator(row))}
    named = _ids_are_of_pairs([rows[place][1] for place in by])
    names = [name for name in _PAIR if name != "id" or named]
    pairs: dict[tuple[object, ...], list[int]] = {}
    seen: Counter[tuple[object, ...]] = Counter()
    for place, column in by.items():
        row = rows[place][1]
        pair, who = tuple(str(row.get(name)) for name in names), _named(row[column])
        pairs.setdefault((*pair, seen[*pair, who]), []).append(place)
        seen[*pair, who] += bool(who)
    if all(len(places) == 1 for places in pairs.values()):
        return rows
    first = {places[0]: places for places in pairs.values()}
    return [
        (where, _voted([rows[at] for at in first[place]]) if place in first else row)
        for place, (where, row) in enumerate(rows)
        if place in first or place not in by
    ]


def _ids_are_of_pairs(rows: Sequence[Record]) -> bool:
    """Whether ids are those of pairs: some stand at two rows, and none at two pairs of texts."""
    pairs = {(str(row.get("id")), str(row["premise"]), str(row["hypothesis"])) for row in rows}
    return len({identity for identity, *_ in pairs}) == len(pairs) < len(rows)


def _annotator(row: Record) -> str | None:
    """The column of a labelled pair that names who has labelled it."""
    if "worker_labels" in row or not {"premise", "hypothesis", "label"} <= row.keys():
        return None
    return next((name for name in row if _ANNOTATOR.fullmatch(name)), None)


def _named(who: object) -> str:
    return "" if who is None else str(who).strip()


def _voted(rows: Sequence[tuple[str, Record]]) -> Record:
    """One record of a pair with the labels of several."""
    for where, row in rows:
        parse_label(row["label"], where)
    shared = {name: value for name, value in rows[0][1].items() if name != "label"}
    return {**shared, "worker_labels": [row["label"] for _, row in rows]}


def _checked_split(found: list[Document], told: list[Document], where: str) -> list[Document]:
    """What a split tells of documents, refused if it changes no target, or what is entailed."""
    if found == told:
        raise InputError(
            f"{where} changes no label of this record; it splits 'labels' of 0 and 1, with labels "
            "= 'majority'"
        )
    if [one.hypotheses for one in found] != [other.hypotheses for other in told]:
        raise InputError(f"{where} and the record do not have labels for the same statements")
    for one, other in zip(found, told, strict=True):
        for text, label, split in zip(one.hypotheses, one.targets, other.targets, strict=True):
            if (label.entailment > 0.5) != (split.entailment > 0.5):
                raise InputError(
                    f"{where} and the label of {text[:_SHOWN]!r} do not agree on entailment; "
                    "correct one of them"
                )
    return told


def _released(
    records: list[tuple[str, Record]],
    path: Path,
    threeway: Path | None,
    products: Path | None,
    labels: LabelMode,
) -> list[Document]:
    if threeway is not None:
        raise InputError(
            f"{threeway}: the records of {path} have no id to be split by; leave threeway out"
        )
    if products is None:
        raise InputError(
            f"{path}: ReviewNLI's released answers name texts by number; give the products "
            "file that holds them (Copycat's gold summaries): --products, or in a recipe "
            "products beside path"
        )
    return join_released(records, products, labels)


def _has_texts(record: Record) -> bool:
    """Whether a record needs no products file."""
    return not _TEXTS.isdisjoint(record)


def check_summaries(paths: Iterable[Path], systems: Sequence[str]) -> None:
    """Refuse systems by which no record of any file has a summary.

    Raises:
        InputError: there is one.
    """
    files = [path for path in paths if not holds_table(path)] if systems else []
    records = (record for path in files for _, record in read_records(path))
    written = (r.get("summaries") for r in records if "reviews" in r and "labels" not in r)
    known = {system for found in written if isinstance(found, dict) for system in found}
    missing = [system for system in systems if system not in known]
    if missing:
        choice = f"choose from {', '.join(sorted(known))}" if known else "there are no summaries"
        raise InputError(f"no unlabelled product has a summary by {', '.join(missing)}; {choice}")


def _read_beside(products: Path) -> dict[str, Record]:
    """Records of a products file by the review or product that they name."""
    return {
        str(record.get("review_id", record.get("product_id", ""))): record
        for _, record in read_records(products)
    }


def _with_reviews(record: Record, beside: Mapping[str, Record], where: str) -> Record:
    """A grouped record that has sentences and labels alone, with its reviews."""
    if "review_ids" in record:
        names = [str(name) for name in items_of(record, "review_ids", where)]
        for name in names:
            if name not in beside:
                raise InputError(f"{where}: holds no review {name!r}; give the file that has it")
        return {**record, "reviews": [text_of(beside[name], "review", where) for name in names]}
    if not isinstance(record.get("product_id"), str | int):
        raise InputError(f"{where}: field 'product_id' must be a string or whole number")
    product = beside.get(str(record["product_id"]))
    if product is None:
        raise InputError(
            f"{where}: holds no product {record['product_id']!r}; give the file with its reviews"
        )
    shared = {key: product[key] for key in ("reviews", "name", "category") if key in product}
    return {**shared, **record}


def _read_threeway(path: Path, known: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    for where, record in read_records(path):
        name = text_of(record, "id", where)
        if name not in known:
            raise InputError(
                f"{where}: id {name!r} belongs to no record; give the file that goes with these "
                "records"
            )
        yield name, list(items_of(record, "labels", where))
