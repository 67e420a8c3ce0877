"""Readers of labelled pairs: every accepted layout becomes documents with targets."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from prevalence.errors import InputError
from prevalence.sentences import get_splitter

__all__ = ["PRODUCT_TEMPLATE", "Document", "Target", "parse_target", "read_documents"]

PRODUCT_TEMPLATE = "I bought a {name}."
LABEL_MODES = ("majority", "soft")
_NAMES = {
    "e": (1.0, 0.0, 0.0),
    "entailment": (1.0, 0.0, 0.0),
    "n": (0.0, 1.0, 0.0),
    "neutral": (0.0, 1.0, 0.0),
    "c": (0.0, 0.0, 1.0),
    "contradiction": (0.0, 0.0, 1.0),
}
_ROUNDING = 0.01
"""How far three probabilities written with few digits may be from a sum of 1."""
_NOT_ENTAILED = ("not_entailment", "not entailment", "non-entailment")

Record = Mapping[str, Any]
LabelMode = Literal["majority", "soft"]


class Target(NamedTuple):
    """Probabilities of entailment, neutral and contradiction.

    With `binary` the second and third are unknown apart from their sum, which `neutral` holds.
    """

    entailment: float
    neutral: float
    contradiction: float
    binary: bool


@dataclass(frozen=True, slots=True)
class Document:
    """One premise with the hypotheses judged against it.

    Attributes:
        premise: Text of the review, product statement or sentence.
        hypotheses: Statements; empty for unlabelled text.
        targets: One target a hypothesis.
        group: Product or record identifier, the unit that cross-validation keeps together.
        domain: Where easy negatives are drawn from; empty when unknown.
        relation: `review`, `product` or `sentence`.
        unlabelled: Hypotheses that nobody has judged, for a teacher.
    """

    premise: str
    hypotheses: tuple[str, ...]
    targets: tuple[Target, ...]
    group: str
    domain: str = ""
    relation: str = "review"
    unlabelled: tuple[str, ...] = ()


def parse_target(label: object, where: str) -> Target:
    """Turn one label of any accepted spelling into a target.

    Args:
        label: 0 or 1, a probability of entailment, a label name, or three probabilities.
        where: File and line for messages.

    Returns:
        The target.

    Raises:
        InputError: The label is none of these.
    """
    if isinstance(label, str):
        return _named_target(label, where)
    if isinstance(label, bool | int | float) and 0 <= label <= 1:
        return Target(float(label), 1.0 - float(label), 0.0, True)
    if _is_distribution(label):
        total = sum(label)  # type: ignore[call-overload]
        first, second, third = (float(value) / total for value in label)  # type: ignore[attr-defined]
        return Target(first, second, third, False)
    raise InputError(
        f"{where}: label {label!r} is not 0, 1, a probability, a label name or three "
        "probabilities that sum to 1"
    )


def _named_target(label: str, where: str) -> Target:
    name = label.strip().lower()
    if name in _NOT_ENTAILED:
        return Target(0.0, 1.0, 0.0, True)
    if name not in _NAMES:
        raise InputError(
            f"{where}: unknown label {label!r}; use entailment, neutral, contradiction or "
            "not_entailment"
        )
    return Target(*_NAMES[name], binary=False)


def _is_distribution(label: object) -> bool:
    return (
        isinstance(label, list)
        and len(label) == 3
        and all(isinstance(value, int | float) and value >= 0 for value in label)
        and abs(sum(label) - 1.0) < _ROUNDING
    )


def _mean(targets: Sequence[Target]) -> Target:
    """Average the annotators of one pair; one binary voice makes the result binary."""
    n = len(targets)
    entailment = sum(t.entailment for t in targets) / n
    if any(t.binary for t in targets):
        return Target(entailment, 1.0 - entailment, 0.0, True)
    neutral = sum(t.neutral for t in targets) / n
    return Target(entailment, neutral, sum(t.contradiction for t in targets) / n, False)


def read_documents(
    path: Path,
    *,
    labels: LabelMode = "majority",
    threeway: Path | None = None,
    summaries: Sequence[str] = (),
) -> list[Document]:
    """Read a JSON Lines file of labelled pairs in any of the accepted layouts.

    Args:
        path: File whose records are pairs (`premise`, `hypothesis`, `label`), reviews with
            `sentences` or `statements`, grouped products, or unlabelled products with `reviews`.
        labels: `majority` uses `labels`; `soft` averages `worker_labels` where present.
        threeway: File of `{"id", "labels": ["e" | "n" | "c", ...]}` that splits the negatives of
            records with `statements` into neutral and contradiction.
        summaries: Systems whose summary sentences are unlabelled hypotheses of unlabelled reviews.

    Returns:
        Documents in file order.

    Raises:
        InputError: A file is missing, or a line is not valid.
    """
    splits = dict(_read_threeway(threeway)) if threeway is not None else {}
    documents: list[Document] = []
    for where, record in _read_lines(path):
        if isinstance(record.get("id"), str) and record["id"] in splits:
            record = {**record, "labels": splits[record["id"]]}  # noqa: PLW2901
        documents.extend(_parse(record, where, labels, summaries))
    if not documents:
        raise InputError(f"{path}: holds no records")
    return documents


def _read_threeway(path: Path) -> Iterator[tuple[str, list[str]]]:
    for where, record in _read_lines(path):
        yield _text(record, "id", where), list(_items(record, "labels", where))


def _read_lines(path: Path) -> Iterator[tuple[str, Record]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text ({error})") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(f"{where}: not valid JSON ({error.msg})") from error
        if not isinstance(record, dict):
            raise InputError(f"{where}: expected a JSON object, found {type(record).__name__}")
        yield where, record


def _parse(record: Record, where: str, mode: LabelMode, summaries: Sequence[str]) -> list[Document]:
    if "premise" in record:
        return [_parse_pair(record, where)]
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
        "statements + labels; name + reviews + sentences + labels; reviews)"
    )


def _parse_pair(record: Record, where: str) -> Document:
    premise, hypothesis = _text(record, "premise", where), _text(record, "hypothesis", where)
    if "label" not in record:
        raise InputError(f"{where}: field 'label' is missing")
    relation = str(record.get("relation", "review")).split("-")[0]
    group = str(record.get("group", record.get("id", premise)))
    target = parse_target(record["label"], where)
    domain = str(record.get("domain", ""))
    return Document(premise, (hypothesis,), (target,), group, domain, relation)


def _parse_review(record: Record, field: str, where: str, mode: LabelMode) -> Document:
    hypotheses = _items(record, field, where)
    targets = _row_targets(_items(record, "labels", where), len(hypotheses), where)
    if mode == "soft" and "worker_labels" in record:
        rows = [_row_targets(row, len(hypotheses), where) for row in record["worker_labels"]]
        targets = tuple(_mean(votes) for votes in zip(*rows, strict=True))
    return Document(
        _text(record, "review", where),
        tuple(str(text) for text in hypotheses),
        targets,
        str(record.get("product_id", record.get("id", where))),
        str(record.get("domain", record.get("category", ""))),
    )


def _row_targets(row: object, size: int, where: str) -> tuple[Target, ...]:
    if not isinstance(row, list) or len(row) != size:
        found = len(row) if isinstance(row, list) else type(row).__name__
        raise InputError(f"{where}: expected {size} labels, one a statement, found {found}")
    return tuple(parse_target(label, where) for label in row)


def _parse_grouped(record: Record, where: str) -> list[Document]:
    reviews, sentences = _items(record, "reviews", where), _items(record, "sentences", where)
    rows = _items(record, "labels", where)
    if len(rows) != len(reviews):
        raise InputError(f"{where}: expected {len(reviews)} rows of labels, found {len(rows)}")
    group, domain = str(record.get("id", where)), str(record.get("domain", ""))
    hypotheses = tuple(str(text) for text in sentences)
    documents = [
        Document(str(review), hypotheses, _row_targets(row, len(sentences), where), group, domain)
        for review, row in zip(reviews, rows, strict=True)
    ]
    if "trivial" in record:
        premise = PRODUCT_TEMPLATE.format(name=_text(record, "name", where))
        # Having bought a thing contradicts nothing that a review says of it.
        labels = ["entailment"] + ["neutral"] * len(hypotheses)
        targets = tuple(parse_target(label, where) for label in labels)
        statements = (_text(record, "trivial", where), *hypotheses)
        documents.append(Document(premise, statements, targets, group, domain, "product"))
    return documents


def _parse_unlabelled(record: Record, where: str, summaries: Sequence[str]) -> list[Document]:
    group = str(record.get("product_id", record.get("id", record.get("case", where))))
    domain = str(record.get("domain", record.get("category", "")))
    texts = [r if isinstance(r, str) else _text(r, "text", where) for r in record["reviews"]]
    written = record.get("summaries", {})
    if summaries and not isinstance(written, dict):
        raise InputError(f"{where}: field 'summaries' must be an object of system and text")
    split = get_splitter()
    found = (str(written.get(system, "")) for system in summaries)
    sentences = tuple(dict.fromkeys(s.text for text in found for s in split(text)))
    return [
        Document(text, (), (), group, domain, unlabelled=sentences)
        for text in texts
        if text.strip()
    ]


def _text(record: Record, field: str, where: str) -> str:
    value = record.get(field)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: field {field!r} must be a non-empty string")
    return value


def _items(record: Record, field: str, where: str) -> list[Any]:
    value = record.get(field)
    if not isinstance(value, list):
        raise InputError(f"{where}: field {field!r} must be a list")
    return value
