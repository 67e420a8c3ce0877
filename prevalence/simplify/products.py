"""Products → the same products with rewritten reviews beside the original ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prevalence.runs.earlier import finished_records, without_key
from prevalence.runs.resuming import Finished, record_mark, record_marks
from prevalence.runs.running import chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from prevalence.records import BadRecord, Product
    from prevalence.runs.resuming import Mark
    from prevalence.simplify.rewriting import Simplifier

__all__ = ["SIGNATURE_KEY", "finished_simplified", "simplified_marks", "simplified_products"]

SIGNATURE_KEY = "simplified_by"
"""Key of a record that says what rewrote its reviews; scores pass it through."""

_CHUNK = 512
"""Sentences that are worth one round: enough for full batches, few to lose when killed."""


def simplified_products(
    products: Iterable[Product],
    simplifier: Simplifier,
    *,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Product]:
    """Rewrite the reviews of products, sentence by sentence, in input order.

    Args:
        products: any stream.
        simplifier: rewrites sentences.
        progress: called with the number of distinct sentences just finished.

    Yields:
        Each product with ``simplified`` set on every review: its rewritten sentences, joined by
        spaces. Texts, ids and all else stay; the record names what rewrote it. When the input
        fails, what was read before is yielded first and the failure raised then.
    """
    cut = ((product, _sentences(product, simplifier)) for product in products)
    for chunk in chunks(cut, size=lambda entry: sum(map(len, entry[1])), full=_CHUNK):
        sentences = [text for _, reviews in chunk for review in reviews for text in review]
        written = iter(simplifier.rewrite(sentences, progress=progress))
        for product, reviews in chunk:
            texts = [" ".join(next(written) for _ in review) for review in reviews]
            yield _with_simplified(product, texts, simplifier.signature)


def _sentences(product: Product, simplifier: Simplifier) -> list[list[str]]:
    return [[s.text for s in simplifier.splitter(r.text)] for r in product.reviews]


def _with_simplified(product: Product, texts: list[str], signature: str) -> Product:
    reviews = tuple(
        replace(review, simplified=text)
        for review, text in zip(product.reviews, texts, strict=True)
    )
    return replace(product, reviews=reviews, extra={**product.extra, SIGNATURE_KEY: signature})


def finished_simplified(path: Path) -> Finished[dict[str, Any]]:
    """The records that an earlier run has written to the same output."""
    return Finished(
        path=path,
        rows=finished_records(path),
        mark=record_mark(SIGNATURE_KEY, _source_of),
        made="reviews",
        changed="whose record has changed since",
        misplaced="which is not what this input has there",
        unknown="which this input does not have",
    )


def simplified_marks(item: Product | BadRecord, signature: str) -> list[Mark]:
    """What tells the record of an item from others; bad records are in no output."""
    return record_marks(item, signature, _source_of)


def _source_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without its rewritings."""
    source = {key: value for key, value in record.items() if key != SIGNATURE_KEY}
    source["reviews"] = [without_key(review, "simplified") for review in record["reviews"]]
    return source
