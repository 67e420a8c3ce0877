"""Values of reviews that conditions and ratings could not read, counted over a run.

Exports of several shops and sites write dates and ratings in several ways. A review whose date
cannot be read satisfies no comparison, so it is left out; whoever runs that should be told.
"""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any

from prevalence.records import RATING
from prevalence.scoring.conditions import as_rating, field_of, kind_of, rated_of, review_fields
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prevalence.records import Product, Review
    from prevalence.scoring.conditions import Clause
    from prevalence.scoring.options import ScoringOptions

__all__ = ["UnreadValues"]

_OF_CONDITION = "are left out"
_OF_GROUPS = "are in no group that asks for it"
_OF_POLARITY = "are left out of polarity"
_SHOWN = 30
"""Characters of a value that a note shows."""


@dataclass(slots=True)
class _Field:
    """What became of one field.

    Attributes:
        reviews: that were looked at.
        unread: those of them without what was needed.
        example: the first value that could not be read.
        scaled: reviews whose number stands before the best one of its scale.
        scales: those.
        example_scaled: the first such value.
    """

    reviews: int = 0
    unread: int = 0
    example: str | None = None
    scaled: int = 0
    scales: list[int] = field(default_factory=list)
    example_scaled: str | None = None

    def add(self, value: Any, *, read: bool, needed: bool) -> None:
        """Count the value of a review; None and an empty text are missing."""
        self.reviews += 1
        missing = value is None or value == ""
        if not read and (needed or not missing):
            self.unread += 1
            if self.example is None and not missing:
                self.example = str(value)
        rated = rated_of(value) if read else None
        if rated is not None:
            self.scaled += 1
            self.scales = sorted({*self.scales, rated})
            self.example_scaled = self.example_scaled or str(value)

    def join(self, other: _Field) -> None:
        """Add what another one has counted of later reviews."""
        self.reviews += other.reviews
        self.unread += other.unread
        self.example = self.example or other.example
        self.scaled += other.scaled
        self.scales = sorted({*self.scales, *other.scales})
        self.example_scaled = self.example_scaled or other.example_scaled


class UnreadValues:
    """Counts, by field, the reviews whose values cannot be compared as the options ask.

    Args:
        options: the conditions, the groups and the profile that read fields of reviews.
    """

    def __init__(self, options: ScoringOptions) -> None:
        restriction = options.restriction
        where = restriction.reviews.clauses if restriction.reviews is not None else ()
        groups = [clause for group in options.review_groups for clause in group.clauses]
        self._asked = {_OF_CONDITION: _by_field(where), _OF_GROUPS: _by_field(groups)}
        self._restriction = restriction
        self._rated = options.profile
        self._found: dict[tuple[str, str, str], _Field] = {}
        self._last: Sequence[Review] | None = None

    def add(self, product: Product) -> None:
        """Count the reviews of a product; those of parts of one product count once."""
        if product.reviews is self._last or not (self._rated or any(self._asked.values())):
            return
        self._last = product.reviews
        everything = [review_fields(review) for review in product.reviews]
        self._compare(_OF_CONDITION, everything)
        if self._rated:
            left = [everything[place] for place in self._restriction.reviews_left(product).places]
            self._compare(_OF_GROUPS, left)
            found = self._field(RATING, "number", _OF_POLARITY)
            for fields in left:
                value = field_of(fields, RATING)
                found.add(value, read=as_rating(value) is not None, needed=False)

    def _compare(self, fate: str, objects: Sequence[Mapping[str, Any]]) -> None:
        for clauses in self._asked[fate].values():
            name = clauses[0].field
            found = self._field(name, kind_of(clauses[0]), fate)
            for fields in objects:
                read = not any(clause.finds_no_order([fields]) for clause in clauses)
                found.add(field_of(fields, name), read=read, needed=True)

    def _field(self, name: str, kind: str, fate: str) -> _Field:
        return self._found.setdefault((name, kind, fate), _Field())

    def notes(self) -> Iterator[str]:
        """One line for each field with values that could not be read, or were read in part."""
        told: set[str] = set()
        for (name, kind, fate), found in self._found.items():
            if found.unread:
                yield f"{name}: {_lack(found, kind, fate)}"
            if found.scaled and name.casefold() not in told:
                told.add(name.casefold())
                yield f"{name}: {_scales(found)}"

    def to_json(self) -> list[str]:
        """What was counted, as texts that :meth:`join` takes."""
        return [json.dumps([*key, astuple(found)]) for key, found in self._found.items()]

    def join(self, texts: Sequence[str]) -> None:
        """Add what another process has counted, with the same options, of later reviews."""
        for text in texts:
            name, kind, fate, values = json.loads(text)
            self._field(name, kind, fate).join(_Field(*values))


def _by_field(clauses: Sequence[Clause]) -> dict[str, list[Clause]]:
    """Clauses that compare by order, by the field's name in lower case."""
    found: dict[str, list[Clause]] = {}
    for clause in clauses:
        if clause.orders:
            found.setdefault(clause.field.casefold(), []).append(clause)
    return found


def _lack(found: _Field, kind: str, fate: str) -> str:
    """How many reviews lack what is needed, and what becomes of them."""
    shown = "" if found.example is None else f" (one has {_shown(found.example)})"
    has, fated = ("has", fate.replace("are", "is", 1)) if found.unread == 1 else ("have", fate)
    of = counted(found.reviews, "review")
    return f"{found.unread:,} of {of} {has} no {kind.replace(' or a ', ' or ')}{shown} and {fated}"


def _scales(found: _Field) -> str:
    """How many values were read before the best of their scale, and on which scales."""
    of = counted(found.reviews, "value")
    read = (
        f"{found.scaled:,} of {of} {'is' if found.scaled == 1 else 'are'} read as the number "
        f"before the scale ({_shown(str(found.example_scaled))})"
    )
    if len(found.scales) == 1:
        return read
    *first, last = map(str, found.scales)
    return f"{read}; scales of {', '.join(first)} and {last} are compared as they stand"


def _shown(value: str) -> str:
    text = " ".join(value.split())
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
