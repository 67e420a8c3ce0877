"""What a summary is counted in: sentences, or the claims that they make.

Claims stand in the record, under ``"claims"`` beside the summaries or in a summary's own object,
or they are cut by rule. A record that gives claims gives those of every summary that is scored, so
that one row never mixes the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prevalence import claims
from prevalence.errors import InputError
from prevalence.records import CLAIMS
from prevalence.scoring.options import UNITS
from prevalence.sentences import Sentence, Splitter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prevalence.records import Product, Summary

__all__ = ["CUTTERS", "Units", "cutter_of"]

_CUT, _GIVEN = "rules", "record"
CUTTERS: Mapping[str, tuple[str | None, ...]] = {UNITS[0]: (None,), UNITS[1]: (_CUT, _GIVEN)}
"""Where claims may come from, by unit; the first where a record gives none."""


def cutter_of(unit: str, product: Product) -> str | None:
    """Where the claims of a product come from, for its signature; None for sentences."""
    if unit == UNITS[0]:
        return None
    given = CLAIMS in product.extra or any(CLAIMS in one.extra for one in product.summaries)
    return _GIVEN if given else _CUT


@dataclass(frozen=True, slots=True)
class Units:
    """Cuts summaries and reviews into what is counted.

    Attributes:
        kind: one of :data:`prevalence.scoring.options.UNITS`.
        splitter: cuts texts into sentences.
    """

    kind: str
    splitter: Splitter

    def of_summary(self, product: Product, summary: Summary) -> Splitter:
        """What cuts a summary.

        Returns:
            A function of the summary's text; it raises InputError where the record gives claims
            for other summaries only, or something else than a list of statements.
        """
        if cutter_of(self.kind, product) == _GIVEN:
            return lambda text: _placed(_given(product, summary), text)
        return self.of_reviews(product)

    def of_reviews(self, product: Product) -> Splitter:
        """What cuts reviews: the sentences where the record gives the claims of its summaries."""
        if cutter_of(self.kind, product) != _CUT:
            return self.splitter
        return lambda text: tuple(
            Sentence(claim.text, claim.start, claim.end)
            for claim in claims.cut(text, splitter=self.splitter)
        )


def _given(product: Product, summary: Summary) -> list[str]:
    found: Any = summary.extra.get(CLAIMS, product.extra.get(CLAIMS))
    if isinstance(found, dict):
        found = found.get(summary.system)
    if isinstance(found, list) and all(isinstance(one, str) and one.strip() for one in found):
        return [one.strip() for one in found]
    raise InputError(
        f'"{CLAIMS}" holds no list of statements for it; give {{"{CLAIMS}": '
        f'{{"{summary.system}": ["...", ...]}}}}, or none at all to have all cut by rule'
    )


def _placed(given: list[str], text: str) -> tuple[Sentence, ...]:
    """Claims where they stand in the summary; one in other words stands for the whole of it."""
    places = [(text.find(claim), claim) for claim in given]
    return tuple(
        Sentence(claim, 0, len(text)) if at < 0 else Sentence(claim, at, at + len(claim))
        for at, claim in places
    )
