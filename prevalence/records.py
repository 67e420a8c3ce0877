"""What goes in: products with their reviews and summaries.

Readers build these objects; the engine turns each summary into a
:class:`prevalence.scored.ScoredSummary`.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "CLAIMS",
    "LONE_SURROGATE",
    "RATING",
    "BadRecord",
    "Product",
    "Review",
    "Summary",
    "input_digest",
    "well_formed",
]

CLAIMS = "claims"
"""Key of a record, or of a summary in it, that holds the statements that summaries make."""

RATING = "rating"
"""Key of a review, or column of a table, that holds its rating, which is a number."""

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a pair: what broken escapes and wrong bytes leave behind."""


def well_formed(text: str) -> str:
    r"""The text with each lone surrogate replaced by U+FFFD, so that offsets stay as they are.

    >>> well_formed("caf\udce9") == "caf\ufffd"
    True
    """
    return text if text.isascii() else LONE_SURROGATE.sub("\ufffd", text)


@dataclass(frozen=True, slots=True)
class Review:
    """One review: its text, and what else the source said about it.

    Attributes:
        text: what the reviewer wrote; scores are always computed against it.
        id: the source's identifier.
        extra: rating, labels, ...: all other keys.
        simplified: a rewriting that summaries may be made from, or None.
    """

    text: str
    id: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    simplified: str | None = None

    def to_json(self) -> str | dict[str, Any]:
        """The review as it stands in an input record: a string when there is only the text."""
        item = {} if self.id is None else {"id": self.id}
        item["text"] = self.text
        if self.simplified is not None:
            item["simplified"] = self.simplified
        row = item | {key: value for key, value in self.extra.items() if key not in item}
        return self.text if len(row) == 1 else row


@dataclass(frozen=True, slots=True)
class Summary:
    """One summary of a product, by one system."""

    system: str
    text: str
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str | dict[str, Any]:
        """The summary as it stands in an input record, without its system."""
        return {**self.extra, "text": self.text} if self.extra else self.text


@dataclass(frozen=True, slots=True)
class Product:
    """One input record: a product, its reviews, and any number of summaries.

    Attributes:
        id: identifier, not necessarily unique in a file.
        name: short name that fits "I bought a {name}.", or None.
        reviews: the m reviews, in source order.
        summaries: the summaries, in source order.
        metadata: description, key features, ... (used by multi-source judges).
        extra: unknown keys of the record, passed through to the output.
        source: "file:line", for messages.
        whole_gives_claims: of a part of a record, whether the whole gives claims; None for a whole.
    """

    id: str
    reviews: tuple[Review, ...]
    summaries: tuple[Summary, ...]
    name: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    whole_gives_claims: bool | None = field(default=None, repr=False, compare=False)

    @property
    def gives_claims(self) -> bool:
        """Whether the record gives claims of a summary, be it in another part of it."""
        if self.whole_gives_claims is not None:
            return self.whole_gives_claims
        return any(summary.extra.get(CLAIMS) is not None for summary in self.summaries)

    @property
    def where(self) -> str:
        """Where the record stands, for messages."""
        return self.source or f"record {self.id!r}"

    def where_of(self, system: str) -> str:
        """Likewise, of its summary by a system."""
        return f"{self.where}: summary by {system!r}"

    def with_summaries(self, summaries: Iterable[Summary]) -> Product:
        """The same product with other summaries."""
        return replace(self, summaries=tuple(summaries), whole_gives_claims=None)

    def part(self, summaries: Iterable[Summary]) -> Product:
        """Some of the summaries, which are scored as they are in the whole record."""
        return replace(self, summaries=tuple(summaries), whole_gives_claims=self.gives_claims)

    def rewritten(self) -> Product:
        """The product as summarisers see it: the rewriting of each review in place of its text.

        Raises:
            InputError: a review has none.
        """
        missing = [row for row, review in enumerate(self.reviews) if review.simplified is None]
        if missing:
            raise InputError(
                f"{self.where}: reviews[{missing[0]}] has no rewriting under "
                '"simplified"; make them with `prevalence simplify`'
            )
        reviews = tuple(replace(r, text=r.simplified or "") for r in self.reviews)
        return replace(self, reviews=reviews)

    def to_json(self) -> dict[str, Any]:
        """The product as an input record, which readers turn into the same product again."""
        row: dict[str, Any] = {"id": self.id}
        if self.name is not None:
            row["name"] = self.name
        row["reviews"] = [review.to_json() for review in self.reviews]
        row["summaries"] = {summary.system: summary.to_json() for summary in self.summaries}
        if self.metadata:
            row["metadata"] = dict(self.metadata)
        return row | {key: value for key, value in self.extra.items() if key not in _RECORD_KEYS}

    def to_json_line(self) -> str:
        """The same on one line, without the newline."""
        return json.dumps(self.to_json(), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record, or one of its summaries, that cannot be scored, and why.

    Attributes:
        error: one line: file, line, field, the value found, and the fix.
        id: the record's id where it could be read.
        system: the summary's system where the fault is in one summary.
        source: "file:line".
        extra: unknown keys of the record, passed through to the output.
    """

    error: str
    id: str | None = None
    system: str | None = None
    source: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


_RECORD_KEYS = frozenset({"id", "name", "reviews", "summaries", "summary", "metadata"})
"""Keys that mean something in an input record."""


def input_digest(product: Product, summary: Summary, *, fields: bool = False) -> str:
    """Digest of everything in the input that can change the score, 16 hex digits.

    Args:
        product: the product.
        summary: one of its summaries.
        fields: whether the other keys of reviews and summary can change it too, if they are text.
    """
    content: list[Any] = [product.name, [review.text for review in product.reviews], summary.text]
    if fields:
        content += [[[r.id, dict(r.extra)] for r in product.reviews], dict(summary.extra)]
    data = json.dumps(content, ensure_ascii=True, default=str, skipkeys=True).encode()
    return hashlib.blake2b(data, digest_size=8).hexdigest()
