"""What a summary is counted in: sentences, or the claims that they make.

Claims stand in the record, where readers put them into each summary, or they are cut by rule. A
record that gives claims gives those of every summary that is scored, so that one row never mixes
the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from prevalence.claims.counts import gathered, without_counts
from prevalence.errors import InputError
from prevalence.records import CLAIMS
from prevalence.scoring.options import UNITS
from prevalence.text.html import plain
from prevalence.text.sentences import DEFAULT_MAX_SENTENCES, Sentence, Splitter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prevalence.claims import Claim
    from prevalence.claims.quantities import Quantified
    from prevalence.records import Product, Summary

__all__ = ["CUTTERS", "Units", "cutter_of"]

_CUT, _GIVEN = "rules", "record"
CUTTERS: Mapping[str, tuple[str | None, ...]] = {UNITS[0]: (None,), UNITS[1]: (_CUT, _GIVEN)}
"""Where claims may come from, by unit; the first where a record gives none."""


def cutter_of(unit: str, product: Product) -> str | None:
    """Where the claims of a product come from, for its signature; None for sentences."""
    if unit == UNITS[0]:
        return None
    return _GIVEN if product.gives_claims else _CUT


@dataclass(frozen=True, slots=True)
class Units:
    """Cuts summaries and reviews into what is counted.

    Attributes:
        kind: one of :data:`prevalence.scoring.options.UNITS`.
        splitter: cuts texts into sentences.
        verbatim: whether sentences are asked about as they stand, with counts of people beside
            them, and reviews are read as they stand.
        most: sentences above which a summary is refused, so that no claims of it are cut.
    """

    kind: str
    splitter: Splitter
    verbatim: bool = False
    most: int = DEFAULT_MAX_SENTENCES

    def of_summary(self, product: Product, summary: Summary) -> Splitter:
        """What cuts a summary.

        Returns:
            A function of the summary's text; it raises InputError where the record gives claims
            for other summaries only.
        """
        if self.kind != UNITS[0]:
            return lambda _: _placed(self._claims(product, summary))
        return self.splitter if self.verbatim else lambda text: gathered(self.splitter(text), text)

    def asked(self, unit: Sentence) -> str:
        """What models are asked of a unit: no single review can say how many others say so."""
        return unit.text if self.verbatim else without_counts(unit.text)

    def read(self, review: str) -> str:
        """What models read of a review: characters in place of HTML's entities and tags."""
        return review if self.verbatim else plain(review)

    def of_reviews(self, product: Product) -> Splitter:
        """What cuts reviews: the sentences where the record gives the claims of its summaries."""
        if cutter_of(self.kind, product) != _CUT:
            return self.splitter
        from prevalence.claims import cut

        return lambda text: _placed(cut(text, splitter=self.splitter))

    def quantities(
        self, product: Product, summary: Summary
    ) -> Callable[[int, Sentence], Quantified | None]:
        """What finds the quantity of people in a unit of a summary.

        Returns:
            A function of a unit's place in the summary and of the unit; it knows what a claim has
            lost in the cutting ("most users say").
        """
        from prevalence.claims.quantities import Quantified, quantified

        if self.kind == UNITS[0]:
            return lambda _, unit: quantified(unit.text)
        claims = cache(lambda: self._claims(product, summary))

        def found(place: int, unit: Sentence) -> Quantified | None:
            lost = claims()[place].quantity
            return quantified(unit.text) if lost is None else Quantified(unit.text, lost)

        return found

    def _claims(self, product: Product, summary: Summary) -> list[Claim]:
        from prevalence.claims import given

        if cutter_of(self.kind, product) == _CUT:
            return _cut_last(summary.text, self.splitter, self.most)
        found = given(summary, splitter=self.splitter)
        if found is None:
            raise InputError(
                f'the record gives claims for other summaries only; give "{CLAIMS}" for '
                f"{summary.system!r} too, or leave them all out, to cut by rule"
            )
        return found


@lru_cache(maxsize=1)
def _cut_last(text: str, splitter: Splitter, most: int) -> list[Claim]:
    """The claims of the summary under way: its units are made of them, then their quantities."""
    from prevalence.claims import Claim, cut

    sentences = gathered(splitter(text), text)
    if len(sentences) > most:
        return [Claim(*sentence, index) for index, sentence in enumerate(sentences)]
    return cut(text, splitter=splitter)


def _placed(claims: Sequence[Claim]) -> tuple[Sentence, ...]:
    return tuple(Sentence(claim.text, claim.start, claim.end) for claim in claims)
