"""Other products, beside which a summary is or is not generic.

HIRO asks how many of the same system's summaries of other products imply what a summary says: what
they do is true of anything. The same is asked of other products' reviews. Which products those are
is drawn by digests of their ids and reviews, so that it does not depend on the order of the input.

Source: Hosking et al. 2024 (HIRO); their recipe compares with all other products.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from prevalence.records import BadRecord, Product

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Compared", "OtherProducts"]


class Compared(NamedTuple):
    """What a summary is compared with; none of the texts is empty.

    Attributes:
        summaries: the same system's, of other products.
        of_summaries: how many there are, empty ones included, which imply nothing.
        reviews: one of each of the other products.
    """

    summaries: list[str]
    of_summaries: int
    reviews: list[str]


@dataclass(slots=True)
class OtherProducts:
    """The products of an input, as far as others are compared with them.

    Attributes:
        most: other products that a summary is compared with.
        size: products read, those that are the same counting once.
        signature: how many are compared with at most, out of which.
    """

    most: int
    size: int = 0
    signature: str = ""
    _summaries: dict[str, dict[bytes, str]] = field(default_factory=dict)
    _reviews: dict[bytes, str] = field(default_factory=dict)
    _ordered: tuple[bytes, list[bytes]] = (b"", [])  # For the product asked about last.

    @classmethod
    def of(cls, items: Iterable[Product | BadRecord], *, most: int) -> OtherProducts:
        """Read them; bad records and products without reviews are left out."""
        others = cls(most)
        for item in items:
            if isinstance(item, Product) and item.reviews:
                others._add(item)
        others.size = len(others._reviews)
        others.signature = f"{min(most, others.size)}of{others.size}@{others._content()}"
        return others

    def _add(self, product: Product) -> None:
        key = _key(product)
        filled = [review.text for review in product.reviews if review.text.strip()]
        self._reviews[key] = min(filled, key=lambda text: _digest(key, text), default="")
        for summary in product.summaries:
            known = self._summaries.setdefault(summary.system, {})
            # Of several for one product it is the first by its text, wherever it stands.
            known[key] = min(known.get(key, summary.text), summary.text)

    def _content(self) -> str:
        texts = [f"{system}\0{key.hex()}\0{text}"
                 for system, found in sorted(self._summaries.items())
                 for key, text in sorted(found.items())]  # fmt: skip
        texts += [f"{key.hex()}\0{text}" for key, text in sorted(self._reviews.items())]
        return _digest(*texts)[:4].hex()

    def compared(self, product: Product, system: str) -> Compared:
        """What a system's summary of a product is compared with."""
        own = _key(product)
        known = self._summaries.get(system, {})
        summaries = [known[key] for key in self._drawn(own, known)]
        reviews = [self._reviews[key] for key in self._drawn(own, self._reviews)]
        return Compared(
            summaries=[text for text in summaries if text.strip()],
            of_summaries=len(summaries),
            reviews=[text for text in reviews if text.strip()],
        )

    def _drawn(self, own: bytes, known: Mapping[bytes, str]) -> list[bytes]:
        if self._ordered[0] != own:
            keys = (key for key in self._reviews if key != own)
            self._ordered = own, sorted(keys, key=lambda key: _digest(own, key))
        return list(islice((key for key in self._ordered[1] if key in known), self.most))


def _key(product: Product) -> bytes:
    return _digest(product.id, *(review.text for review in product.reviews))


def _digest(*parts: str | bytes) -> bytes:
    data = b"\0".join(
        part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass") for part in parts
    )
    return hashlib.blake2b(data, digest_size=8).digest()
