"""ReviewNLI as released: labels by problem, joined to the products that they speak of.

A line is `{"problem": "ASIN:REVIEW:SUMMARY", "worker": ..., "answers": [0, 1, ...]}`, with both
numbers counted from 0 and one answer a sentence of the summary. The reviews and summaries are in
Copycat's gold summaries. The line of the worker `majority` holds the majority; without one, the
majority of the workers is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.labelled.documents import Document, Record, items_of, text_of
from prevalence.labelled.layouts import LabelMode, judged_document
from prevalence.readers import read_products
from prevalence.records import Product
from prevalence.text.sentences import punkt_sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["is_released", "join_released"]

_MAJORITY = "majority"


@dataclass
class _Problem:
    """Everything that was answered about one review and one summary."""

    where: str
    labels: list[Any] | None = None
    votes: list[list[Any]] = field(default_factory=list)


def is_released(record: Record) -> bool:
    """Whether a record is a line of ReviewNLI's released files."""
    return "problem" in record and "answers" in record


def join_released(
    records: Iterable[tuple[str, Record]], products: Path, mode: LabelMode
) -> list[Document]:
    """Join released answers with the texts.

    Args:
        records: `FILE:LINE` and line.
        products: File of products in any format; Copycat's gold summaries.
        mode: See :func:`prevalence.labelled.layouts.parse_record`.

    Returns:
        One document a problem, in order of first appearance.

    Raises:
        InputError: The products cannot be read, or a line is malformed, names an unknown text, or
            has another number of answers than the summary has sentences.
    """
    known = {item.id: item for item in read_products(products) if isinstance(item, Product)}
    problems: dict[str, _Problem] = {}
    for where, record in records:
        if not is_released(record):
            raise InputError(f"{where}: not a ReviewNLI line, as the first one is; split the file")
        problem = problems.setdefault(text_of(record, "problem", where), _Problem(where))
        answers = items_of(record, "answers", where)
        if record.get("worker") == _MAJORITY:
            problem.labels = answers
        else:
            problem.votes.append(answers)
    return [_document(name, found, known, mode) for name, found in problems.items()]


def _document(
    name: str, problem: _Problem, products: Mapping[str, Product], mode: LabelMode
) -> Document:
    product, review, summary = _texts(name, products, problem.where)
    return judged_document(
        review,
        # As the workers saw them, and as joined files hold them.
        [sentence.text for sentence in punkt_sentences(summary)],
        labels=problem.labels,
        votes=problem.votes,
        mode=mode,
        group=product.id,
        domain=str(product.extra.get("category", "")),
        where=f"{problem.where}: problem {name}",
    )


def _texts(name: str, products: Mapping[str, Product], where: str) -> tuple[Product, str, str]:
    parts = name.rsplit(":", 2)
    if len(parts) != 3 or not (parts[1].isdecimal() and parts[2].isdecimal()):
        raise InputError(f"{where}: problem {name!r} is not PRODUCT:REVIEW:SUMMARY")
    product = products.get(parts[0])
    if product is None:
        raise InputError(
            f"{where}: product {parts[0]!r} is not in the products file; give the one with these "
            "reviews and summaries (Copycat's gold summaries of the same split)"
        )
    review, summary = int(parts[1]), int(parts[2])
    if review >= len(product.reviews) or summary >= len(product.summaries):
        raise InputError(
            f"{where}: problem {name!r}: the product has {len(product.reviews)} reviews and "
            f"{len(product.summaries)} summaries"
        )
    return product, product.reviews[review].text, product.summaries[summary].text
