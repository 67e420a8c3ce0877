"""Which texts serve as references of a summary.

They are the summaries of named systems (which then are not scored, or each against the others),
or what the record holds under "references" (a list) or "reference" (a text). Blank ones do not
count. A record without any has no references; metrics that need one say so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prevalence.records import BadRecord, Product, Summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["References", "references_of"]

_KEY = "references"
_KEYS = ("references", "reference")


@dataclass(frozen=True, slots=True)
class References:
    """The choice of references.

    Attributes:
        systems: whose summaries are references; empty for the record's own field.
        leave_one_out: whether the summaries of those systems are scored too, each against those
            of the others.
        jackknife: whether, with that, all other summaries are compared with one reference fewer
            too: with every choice of them, and averaged. Otherwise they have one more.
    """

    systems: tuple[str, ...] = ()
    leave_one_out: bool = False
    jackknife: bool = False

    @property
    def signature(self) -> str:
        """The choice in a signature."""
        suffix = "+leave-one-out" if self.leave_one_out else ""
        suffix += "+jackknife" if self.jackknife else ""
        return ("+".join(self.systems) or "record") + suffix

    def attach(self, items: Iterable[Product | BadRecord]) -> Iterator[Product | BadRecord]:
        """Give every summary its references, and leave out summaries that only serve as such.

        Yields:
            The items; a record whose reference field holds something else is a bad record.
        """
        for item in items:
            if isinstance(item, BadRecord):
                yield item
            else:
                yield from self._attached(item)

    def choices(self, summary: Summary) -> list[tuple[str, ...]]:
        """What a summary with its references is compared with, one time after the other.

        Source: Lin 2004, section 2.1 (jackknifing); each set of all references but one.

        Args:
            summary: as :meth:`attach` gives it.

        Returns:
            The references; under ``jackknife``, of a summary that is no reference itself, all
            choices of one fewer, if there are two.
        """
        texts = references_of(summary)
        if not self.jackknife or summary.system in self.systems or len(texts) < 2:
            return [texts]
        return [texts[:place] + texts[place + 1 :] for place in range(len(texts))]

    def _attached(self, product: Product) -> Iterator[Product | BadRecord]:
        texts: dict[str | int, str]
        if self.systems:
            texts = {s.system: s.text for s in product.summaries if s.system in self.systems}
        else:
            found = _field(product)
            if isinstance(found, BadRecord):
                yield found
                return
            texts = dict(enumerate(found))
        summaries = [
            _with_references(summary, [t for key, t in texts.items() if key != summary.system])
            for summary in product.summaries
            if self.leave_one_out or summary.system not in self.systems
        ]
        if summaries:
            yield product.with_summaries(summaries)


def references_of(summary: Summary) -> tuple[str, ...]:
    """The references that :meth:`References.attach` gave a summary."""
    return tuple(summary.extra.get(_KEY, ()))


def _with_references(summary: Summary, texts: list[str]) -> Summary:
    kept = tuple(text for text in texts if text.strip())
    return replace(summary, extra={**summary.extra, _KEY: kept})


def _field(product: Product) -> tuple[str, ...] | BadRecord:
    """The references in the record's own field."""
    key = next((key for key in _KEYS if product.extra.get(key) is not None), None)
    value = [] if key is None else product.extra[key]
    texts = [value] if isinstance(value, str) else value
    if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
        return tuple(texts)
    return BadRecord(
        f"{product.source}: {key}: is not text: give a text or a list of texts",
        id=product.id,
        source=product.source,
    )
