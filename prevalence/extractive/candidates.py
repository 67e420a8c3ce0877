"""The sentences that a summary may be made of: those of the reviews, each distinct text once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prevalence.sentences import Splitter

__all__ = ["Candidates", "Place", "closed"]

_ENDS_A_SENTENCE = re.compile(r"[.!?…]['\"’”)\]]*$")


class Place(NamedTuple):
    """Where a sentence stands: a review's 0-based index, and offsets in its text."""

    review: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Candidates:
    """Distinct sentences in order of first appearance, and every place where they stand.

    Attributes:
        texts: N distinct sentences.
        places: the places of all sentences of all reviews, in source order.
        ranks: for each distinct sentence, the positions of its places in ``places``, increasing.
            Equal supports are ordered by them.
    """

    texts: tuple[str, ...]
    places: tuple[Place, ...]
    ranks: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, reviews: Iterable[str], splitter: Splitter, *, close: bool = True) -> Candidates:
        """Split reviews into candidates.

        Args:
            reviews: texts, in source order.
            splitter: cuts them into sentences.
            close: give a sentence that no punctuation ends a full stop, so that it remains a
                sentence of its own beside others; False takes every sentence as it is.
        """
        places: list[Place] = []
        ranks: dict[str, list[int]] = {}
        for row, review in enumerate(reviews):
            for sentence in splitter(review):
                text = closed(sentence.text) if close else sentence.text
                ranks.setdefault(text, []).append(len(places))
                places.append(Place(row, sentence.start, sentence.end))
        return cls(tuple(ranks), tuple(places), tuple(tuple(found) for found in ranks.values()))

    @property
    def first_ranks(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Position of the first place of each distinct sentence, int64 [N]."""
        return np.asarray([found[0] for found in self.ranks], np.int64)

    def in_source_order(self) -> Sequence[int]:
        """The distinct sentence that stands at each place, repeated ones included."""
        order = [0] * len(self.places)
        for number, found in enumerate(self.ranks):
            for position in found:
                order[position] = number
        return order

    def __len__(self) -> int:
        return len(self.texts)


def closed(sentence: str) -> str:
    """The sentence with a full stop, unless it ends in one, or in ! ? or … and closing marks.

    >>> closed("Great boots"), closed('"Great boots!"')
    ('Great boots.', '"Great boots!"')
    """
    return sentence if _ENDS_A_SENTENCE.search(sentence) else f"{sentence}."
