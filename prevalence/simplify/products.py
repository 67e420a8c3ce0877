"""Products → the same products with rewritten reviews beside the original ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prevalence.errors import foreign_output
from prevalence.records import BadRecord, Product
from prevalence.runs import Guarded
from prevalence.writers import finished_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from prevalence.simplify.rewriting import Simplifier

__all__ = ["SIGNATURE_KEY", "simplified_products", "skip_simplified"]

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
    for chunk in _chunks(products, simplifier):
        sentences = [text for _, reviews in chunk for review in reviews for text in review]
        written = iter(simplifier.rewrite(sentences, progress=progress))
        for product, reviews in chunk:
            texts = [" ".join(next(written) for _ in review) for review in reviews]
            yield _with_simplified(product, texts, simplifier.signature)


_Cut = tuple[Product, list[list[str]]]
"""A product and the sentences of each of its reviews."""


def _chunks(products: Iterable[Product], simplifier: Simplifier) -> Iterator[list[_Cut]]:
    chunk: list[_Cut] = []
    size = 0
    source = Guarded(products)
    for product in source:
        reviews = [[s.text for s in simplifier.splitter(r.text)] for r in product.reviews]
        chunk.append((product, reviews))
        size += sum(map(len, reviews))
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
    source.finish()


def _with_simplified(product: Product, texts: list[str], signature: str) -> Product:
    reviews = tuple(
        replace(review, simplified=text)
        for review, text in zip(product.reviews, texts, strict=True)
    )
    return replace(product, reviews=reviews, extra={**product.extra, SIGNATURE_KEY: signature})


def skip_simplified(
    items: Iterable[Product | BadRecord], path: Path, *, signature: str
) -> Iterator[Product | BadRecord]:
    """Leave out the products that an earlier run wrote, checking that it was the same run.

    Args:
        items: the input, from its beginning; bad records pass, since no output holds them.
        path: the output, JSON Lines; a last line left incomplete is cut off.
        signature: what rewrites in this run.

    Raises:
        InputError: the output holds other products or other settings; it is left untouched.
    """
    done = finished_records(path)
    row = next(done, None)
    for item in items:
        if row is None or isinstance(item, BadRecord):
            yield item
            continue
        if _source_of(row) != _source_of(item.to_json()):
            found = f"{row.get('id')!r}, which is not what this input has there"
            raise foreign_output(path, found)
        if row.get(SIGNATURE_KEY) != signature:
            raise foreign_output(path, f"reviews of other settings ({row.get(SIGNATURE_KEY)})")
        row = next(done, None)
    if row is not None:
        raise foreign_output(path, f"{row.get('id')!r}, which this input does not have")


def _source_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without its rewritings."""
    source = {key: value for key, value in record.items() if key != SIGNATURE_KEY}
    source["reviews"] = [_plain_review(review) for review in record["reviews"]]
    return source


def _plain_review(review: object) -> object:
    if not isinstance(review, dict):
        return review
    plain = {key: value for key, value in review.items() if key != "simplified"}
    return plain["text"] if list(plain) == ["text"] else plain
