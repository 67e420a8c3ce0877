"""Texts that try to steer a judge, and records that hold them: how well does a judge resist?"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from prevalence.baselines.judges.packs import PACKS, read_toml
from prevalence.records import BadRecord, Product, Review

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MARK", "Attack", "attacked", "load_attacks"]

MARK = "#"
"""Stands between a system and the attack that its summary is judged under."""


class Attack(NamedTuple):
    """One text.

    Attributes:
        name: of the attack.
        place: ``review``, a further review, or ``summary``, the end of the summary.
        text: what is put there.
    """

    name: str
    place: str
    text: str


@cache
def load_attacks() -> tuple[Attack, ...]:
    """The attacks that ship with the package."""
    rows = read_toml(PACKS / "attacks.toml")["attack"]
    return tuple(Attack(**row) for row in rows)


def attacked(item: Product | BadRecord) -> Iterator[Product | BadRecord]:
    """A record, and then the same record under each attack, as systems ``SYSTEM#ATTACK``.

    Human ratings stay with the record as it was.
    """
    yield item
    if isinstance(item, BadRecord):
        return
    for attack in load_attacks():
        yield _under(item, attack)


def _under(product: Product, attack: Attack) -> Product:
    in_summary = attack.place == "summary"
    summaries = tuple(
        replace(
            summary,
            system=f"{summary.system}{MARK}{attack.name}",
            text=f"{summary.text} {attack.text}" if in_summary else summary.text,
            extra={},
        )
        for summary in product.summaries
    )
    reviews = product.reviews if in_summary else (*product.reviews, Review(attack.text))
    return replace(product, reviews=reviews, summaries=summaries)
