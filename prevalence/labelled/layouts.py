"""The JSON layouts of labelled pairs, each a function from one record to documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from prevalence.errors import InputError
from prevalence.labelled.documents import (
    GROUP_FIELDS,
    RELATIONS,
    Document,
    Record,
    Target,
    group_named,
    items_of,
    majority_target,
    mean_target,
    parse_label,
    text_of,
)
from prevalence.signature import TRIVIAL_TEMPLATES
from prevalence.text.sentences import get_splitter

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LABEL_MODES", "LabelMode", "judged_document", "parse_record"]

LABEL_MODES = ("majority", "soft")
LabelMode = Literal["majority", "soft"]

Labels = tuple[Target | None, ...]
"""Targets of some hypotheses, None where one has no label."""


def parse_record(
    record: Record, where: str, mode: LabelMode, *, summaries: Sequence[str] = ()
) -> list[Document]:
    """Turn a record of any JSON layout into documents.

    Args:
        record: The object.
        where: File and line for messages.
        mode: `majority` uses labels, or the annotators' majority where there is none; `soft`
            averages `worker_labels` where present.
        summaries: Systems whose summary sentences are unlabelled hypotheses of unlabelled reviews.

    Returns:
        One document a premise. Hypotheses without a label are among the unlabelled ones.

    Raises:
        InputError: The record has no known layout, or a field is not what its layout asks for.
    """
    if "premise" in record:
        return [_parse_pair(record, where, mode)]
    if "statements" in record:
        return [_parse_review(record, "statements", where, mode)]
    if "review" in record:
        return [_parse_review(record, "sentences", where, mode)]
    if "reviews" in record and "labels" in record:
        return _parse_grouped(record, where)
    if "reviews" in record:
        return _parse_unlabelled(record, where, summaries)
    raise InputError(
        f"{where}: none of the known layouts (premise + hypothesis + label; review + sentences or "
        "statements + labels; name + reviews + sentences + labels; reviews; problem + answers)"
    )


def judged_document(
    premise: str,
    hypotheses: Sequence[str],
    *,
    labels: Sequence[object] | None,
    votes: Sequence[Sequence[object]],
    mode: LabelMode,
    group: str,
    domain: str,
    where: str,
    relation: str = "review",
) -> Document:
    """A premise with its labels, its annotators' labels, or both.

    Args:
        premise: The review, or another text.
        hypotheses: The n statements about it.
        labels: n labels, some of them perhaps missing; None to take the annotators' majority.
        votes: One row of n labels an annotator, some of them perhaps missing.
        mode: Whether the targets are the labels or the annotators' mean. What lacks the one takes
            the other: the mean becomes the label, and the majority takes the label's place.
        group: Product.
        domain: Category.
        where: File and line for messages.
        relation: What the premise is.

    Returns:
        The document. Its unlabelled hypotheses are those with neither a label nor a vote.

    Raises:
        InputError: A row is not n labels long, or there is none.
    """
    if labels is None and not votes:
        raise InputError(f"{where}: field 'labels' is missing, and 'worker_labels' as well")
    size = len(hypotheses)
    rows = [_row_labels(row, size, where) for row in votes]
    stated = (None,) * size if labels is None else _row_labels(labels, size, where)
    columns = list(zip(*rows, strict=True)) if rows else [()] * size
    found = tuple(
        _agreed(label, [vote for vote in column if vote is not None], mode)
        for label, column in zip(stated, columns, strict=True)
    )
    return _document(
        premise, hypotheses, found, group, domain=domain, relation=relation, votes=rows
    )


def _agreed(label: Target | None, votes: Sequence[Target], mode: LabelMode) -> Target | None:
    """The target of one hypothesis from its label and its annotators' labels, if it has any."""
    if votes and mode == "soft":
        return mean_target(votes)
    return majority_target(votes) if votes and label is None else label


def _document(
    premise: str,
    hypotheses: Sequence[str],
    labels: Labels,
    group: str,
    *,
    domain: str,
    relation: str = "review",
    votes: Sequence[Labels] = (),
) -> Document:
    """A document of the hypotheses that have a label, and of the others as unlabelled ones."""
    found = [(place, target) for place, target in enumerate(labels) if target is not None]
    chances = [[None if vote is None else vote.entailment for vote in row] for row in votes]
    return Document(
        premise,
        tuple(hypotheses[place] for place, _ in found),
        tuple(target for _, target in found),
        group,
        domain,
        relation,
        tuple(text for text, target in zip(hypotheses, labels, strict=True) if target is None),
        tuple(tuple(row[place] for place, _ in found) for row in chances),
    )


def _parse_pair(record: Record, where: str, mode: LabelMode) -> Document:
    premise, hypothesis = text_of(record, "premise", where), text_of(record, "hypothesis", where)
    if "label" not in record and "worker_labels" not in record:
        raise InputError(f"{where}: field 'label' is missing, and 'worker_labels' as well")
    return judged_document(
        premise,
        [hypothesis],
        labels=[record.get("label")],
        votes=[[vote] for vote in _votes(record, where)],
        mode=mode,
        group=_group_of(record, group_named(premise), where),
        domain=str(record.get("domain", "")),
        where=where,
        relation=_relation_of(record, where),
    )


def _parse_review(record: Record, field: str, where: str, mode: LabelMode) -> Document:
    review = text_of(record, "review", where)
    return judged_document(
        review,
        _texts(record, field, where),
        labels=items_of(record, "labels", where) if "labels" in record else None,
        votes=_votes(record, where),
        mode=mode,
        group=_group_of(record, group_named(review), where),
        domain=str(record.get("domain", record.get("category", ""))),
        where=where,
    )


def _votes(record: Record, where: str) -> list[Any]:
    """What annotators say; nothing where a record does not tell."""
    told = record.get("worker_labels") is not None
    return items_of(record, "worker_labels", where) if told else []


def _parse_grouped(record: Record, where: str) -> list[Document]:
    """Reviews; then what buying the product implies, and what its sentences say of one another."""
    reviews, sentences = items_of(record, "reviews", where), _texts(record, "sentences", where)
    rows = items_of(record, "labels", where)
    if len(rows) != len(reviews):
        raise InputError(f"{where}: expected {len(reviews)} rows of labels, found {len(rows)}")
    group = _group_of(record, where, where)
    domain = str(record.get("domain", record.get("category", "")))
    documents = []
    for review, row in zip(reviews, rows, strict=True):
        labels = _row_labels(row, len(sentences), where)
        documents.append(_document(_review(review, where), sentences, labels, group, domain=domain))
    if "trivial" in record or "follows_from_name" in record:
        documents.append(_bought(record, sentences, group, domain, where))
    if "implies" in record or "contradicts" in record:
        documents += _related(record, sentences, group, domain, where)
    return documents


def _bought(
    record: Record, sentences: Sequence[str], group: str, domain: str, where: str
) -> Document:
    """What follows from having bought the product, which contradicts nothing that is said of it."""
    premise = TRIVIAL_TEMPLATES["name"].format(name=text_of(record, "name", where))
    follow = {
        place
        for (place,) in _places(record, "follows_from_name", len(sentences), where, single=True)
    }
    labels = ["entailment" if place in follow else "neutral" for place in range(len(sentences))]
    statements = tuple(sentences)
    if "trivial" in record:
        statements = (text_of(record, "trivial", where), *statements)
        labels = ["entailment", *labels]
    found = _row_labels(labels, len(statements), where)
    return _document(premise, statements, found, group, domain=domain, relation="product")


def _related(
    record: Record, sentences: Sequence[str], group: str, domain: str, where: str
) -> list[Document]:
    """Every sentence as a premise of the others, which it implies, contradicts, or neither.

    Contradiction has no direction; a pair that is said to be both is implied.
    """
    size = len(sentences)
    labels = dict.fromkeys(_places(record, "implies", size, where), "entailment")
    for first, second in _places(record, "contradicts", size, where):
        labels.setdefault((first, second), "contradiction")
        labels.setdefault((second, first), "contradiction")
    documents = []
    for place, premise in enumerate(sentences):
        others = [other for other in range(size) if other != place]
        found = _row_labels(
            [labels.get((place, other), "neutral") for other in others], len(others), where
        )
        texts = tuple(sentences[other] for other in others)
        documents.append(
            _document(premise, texts, found, group, domain=domain, relation="sentence")
        )
    return documents


def _places(
    record: Record, field: str, size: int, where: str, *, single: bool = False
) -> list[tuple[int, ...]]:
    """Places of sentences in a field, one by one or in pairs of different ones; none without it."""
    entries = items_of(record, field, where) if field in record else ()
    wanted = 1 if single else 2
    found = []
    for entry in entries:
        places = [entry] if single else entry
        whole = isinstance(places, list) and len(places) == len(set(map(str, places))) == wanted
        if not whole or not all(type(at) is int and 0 <= at < size for at in places):
            what = "a place of a sentence" if single else "two places of sentences"
            raise InputError(f"{where}: field {field!r}: {entry!r} is not {what}, from 0")
        found.append(tuple(places))
    return found


def _parse_unlabelled(record: Record, where: str, summaries: Sequence[str]) -> list[Document]:
    group = _group_of(record, str(record.get("case", where)), where)
    domain = str(record.get("domain", record.get("category", "")))
    texts = [_review(review, where) for review in items_of(record, "reviews", where)]
    written = record.get("summaries", {})
    if summaries and not isinstance(written, dict):
        raise InputError(f"{where}: field 'summaries' must be an object of system and text")
    split = get_splitter()
    found = (_summary(written.get(system), system, where) for system in summaries)
    sentences = tuple(dict.fromkeys(s.text for text in found for s in split(text)))
    return [
        Document(text, (), (), group, domain, unlabelled=sentences)
        for text in texts
        if text.strip()
    ]


def _summary(written: Any, system: str, where: str) -> str:
    """The text of a summary, which may stand in an object; empty where there is none."""
    text = written.get("text", written) if isinstance(written, dict) else written
    if text is None or isinstance(text, str):
        return text or ""
    raise InputError(
        f"{where}: summary of {system!r}: give a text, or an object with a field 'text', "
        f"not {type(text).__name__}"
    )


def _group_of(record: Record, fallback: str, where: str) -> str:
    """The product that a record belongs to; ``fallback`` where it names none."""
    for field in GROUP_FIELDS:
        value = record.get(field)
        if isinstance(value, str) and not value.strip():
            continue
        if isinstance(value, str | int | float):
            return str(value)
        if value is not None:
            found = type(value).__name__
            raise InputError(f"{where}: field {field!r} must be a string or number, found {found}")
    return fallback


def _relation_of(record: Record, where: str) -> str:
    """What a pair's premise is; its hypothesis may be named behind a hyphen."""
    stated = record.get("relation")
    if stated is None:
        return "review"
    relation = str(stated).partition("-")[0]
    if relation not in RELATIONS:
        raise InputError(f"{where}: relation {stated!r}: choose {', '.join(RELATIONS)}")
    return relation


def _row_labels(row: Any, size: int, where: str) -> Labels:
    if not isinstance(row, list | tuple) or len(row) != size:
        found = len(row) if isinstance(row, list | tuple) else type(row).__name__
        raise InputError(f"{where}: expected {size} labels, one per statement, found {found}")
    return tuple(parse_label(label, where) for label in row)


def _texts(record: Record, field: str, where: str) -> tuple[str, ...]:
    texts = items_of(record, field, where)
    for place, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{where}: {field}[{place}] must be a non-empty string")
    return tuple(texts)


def _review(review: Any, where: str) -> str:
    return review if isinstance(review, str) else text_of(review, "text", where)
