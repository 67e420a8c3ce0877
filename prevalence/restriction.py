"""Restricted prevalence: only statements about something, only reviews of a subset.

A restricted score is the score of what is left: the summary without its other statements, against
the product without its other reviews. So m and n shrink, and a statement that is left out masks
nothing: what is asked is how prevalent the statements on, say, the battery are, and a statement on
something else does not take one of them away.

Source: Malon 2023, section 7, which names both restrictions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from prevalence.errors import InputError
from prevalence.where import Where, parse_where

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prevalence.records import Product, Review, Summary
    from prevalence.sentences import Sentence

__all__ = ["STATEMENTS", "Left", "Restriction"]

_SHOWN = 40
"""Characters of a sentence that a message shows."""

STATEMENTS = "statements"
"""Key of a summary that holds labels, one object a sentence, in order."""


class Left(NamedTuple):
    """What a condition leaves.

    Attributes:
        places: 0-based places of what is left, increasing.
        reason: why nothing is, or None.
    """

    places: tuple[int, ...]
    reason: str | None


@dataclass(frozen=True, slots=True)
class Restriction:
    """Which statements and which reviews count; None for all of them.

    Attributes:
        statements: of ``text`` and of labels that the record gives.
        reviews: of ``text``, ``id`` and all other keys of a review.
    """

    statements: Where | None = None
    reviews: Where | None = None

    @classmethod
    def parse(cls, *, statements: str | None, reviews: str | None) -> Restriction:
        """Read both conditions.

        Raises:
            ConfigurationError: one cannot be read.
        """
        return cls(
            None if statements is None else parse_where(statements),
            None if reviews is None else parse_where(reviews),
        )

    def __bool__(self) -> bool:
        return self.statements is not None or self.reviews is not None

    @property
    def signature(self) -> dict[str, str]:
        """Parts of the signature, on one line and without the sign that separates them."""
        parts = {"statements": self.statements, "reviews": self.reviews}
        return {name: _safe(str(where)) for name, where in parts.items() if where is not None}

    def reviews_left(self, product: Product) -> Left:
        """The reviews that count; the reason is set when there are none of those given."""
        fields = [_review_fields(review) for review in product.reviews]
        return _left(self.reviews, fields, "review")

    def sentences_left(self, summary: Summary, sentences: Sequence[Sentence]) -> Left:
        """The statements that count.

        Raises:
            InputError: the condition asks for labels, and the summary has none, another number
                of them than sentences, or labels that name another text.
        """
        labels = self._labels(summary, len(sentences))
        for place, (label, sentence) in enumerate(zip(labels, sentences, strict=True)):
            if label.get("text", sentence.text) != sentence.text:
                raise InputError(
                    f'"{STATEMENTS}"[{place}] is about another text than sentence {place} '
                    f"({sentence.text[:_SHOWN]!r}); bring both into one order"
                )
        fields = [
            {**label, "text": sentence.text}
            for label, sentence in zip(labels, sentences, strict=True)
        ]
        return _left(self.statements, fields, "statement")

    def _labels(self, summary: Summary, count: int) -> Sequence[Mapping[str, Any]]:
        if self.statements is None or self.statements.fields == {"text"} or not count:
            return [{}] * count
        labels = summary.extra.get(STATEMENTS)
        named = ", ".join(sorted(self.statements.fields - {"text"}))
        advice = f'give "{STATEMENTS}", a list of objects, one a sentence, or ask for words of text'
        if not isinstance(labels, list) or not all(isinstance(label, dict) for label in labels):
            raise InputError(f"no labels to read {named} from; {advice}")
        if len(labels) != count:
            raise InputError(
                f'"{STATEMENTS}" has {len(labels)} entries and the summary {count} sentences; '
                f"{advice} (--splitter says what a sentence is)"
            )
        return labels


def _safe(text: str) -> str:
    return "".join(c if c.isprintable() and c != "|" else quote(c) for c in text)


def _review_fields(review: Review) -> dict[str, Any]:
    return {**review.extra, "id": review.id, "text": review.text}


def _left(where: Where | None, objects: Sequence[Mapping[str, Any]], what: str) -> Left:
    if where is None:
        return Left(tuple(range(len(objects))), None)
    places = tuple(place for place, fields in enumerate(objects) if where.holds(fields))
    if places:
        return Left(places, None)
    missing = where.missing(objects) if objects else []
    because = f" (none has {', '.join(missing)})" if missing else ""
    return Left((), f"no {what} satisfies {where}{because}")
