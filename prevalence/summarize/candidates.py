"""What a summary may be made of: candidate sentences, and how long it may become."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from prevalence.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from prevalence.stats.arrays import Ints
    from prevalence.text.sentences import Splitter

__all__ = ["Candidates", "LengthRule", "Place", "closed", "has_content", "number_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthRule:
    """A number of characters or of sentences; one of the two.

    Characters are those of the sentences, without what separates them. They may be a half, which
    :meth:`like` makes.

    Attributes:
        characters: sentences are added while their characters are fewer.
        sentences: sentences are added while they are fewer.

    Raises:
        ConfigurationError: both or none given, or not positive.

    Source: Malon 2023, Algorithm 1 (greedy) and section 5 (random).
    """

    characters: float | None = None
    sentences: int | None = None

    def __post_init__(self) -> None:
        if (self.characters is None) == (self.sentences is None):
            raise ConfigurationError("a length is a number of characters or of sentences: give one")
        value = self.sentences if self.characters is None else self.characters
        if value is None or not (0 < value < math.inf):
            raise ConfigurationError(f"a summary's length must be positive, not {value}")

    @classmethod
    def like(cls, summary: str, splitter: Splitter) -> LengthRule:
        """The paper's rule: the characters of a summary less half of its last sentence.

        Args:
            summary: the summary whose length is wanted, from its first sentence to its last.
            splitter: finds its sentences.

        Raises:
            InputError: it has no sentence.

        >>> from prevalence.text.sentences import get_splitter
        >>> LengthRule.like("They fit. They last.", get_splitter()).characters
        15.0
        """
        sentences = splitter(summary)
        if not sentences:
            raise InputError("a summary without a sentence gives no length: choose another one")
        last = sentences[-1]
        return cls(characters=last.end - sentences[0].start - (last.end - last.start) / 2)

    def reached(self, lengths: Sequence[int]) -> bool:
        """Whether sentences of these lengths are enough, so that none is added.

        Args:
            lengths: characters of each sentence chosen so far.
        """
        if self.sentences is not None:
            return len(lengths) >= self.sentences
        return sum(lengths) >= (self.characters or 0)

    def exceeded(self, lengths: Sequence[int]) -> bool:
        """The same for the paper's random rule, which stops only *above* the characters."""
        if self.sentences is not None:
            return len(lengths) >= self.sentences
        return sum(lengths) > (self.characters or 0)

    def prefix(self, lengths: Sequence[int]) -> int:
        """How many sentences of a longer selection this rule would have taken.

        Greedy construction looks only backwards, so its choice under a shorter length is the
        beginning of its choice under a longer one.

        Args:
            lengths: characters of each sentence, in the order of selection.

        >>> LengthRule(characters=50).prefix([30, 15, 20, 40])
        3
        """
        for count in range(len(lengths)):
            if self.reached(lengths[:count]):
                return count
        return len(lengths)


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
        left_out: sentences of the reviews that are no candidates for want of content.
    """

    texts: tuple[str, ...]
    places: tuple[Place, ...]
    ranks: tuple[tuple[int, ...], ...]
    left_out: int = 0

    @classmethod
    def of(
        cls,
        reviews: Iterable[str],
        splitter: Splitter,
        *,
        close: bool = True,
        says: Callable[[str], bool] | None = None,
    ) -> Candidates:
        """Split reviews into candidates.

        Args:
            reviews: texts, in source order.
            splitter: cuts them into sentences.
            close: give a sentence that no punctuation ends a full stop, so that it remains a
                sentence of its own beside others; False takes every sentence as it is.
            says: whether a sentence says enough to be a candidate; None for all of them.
        """
        left_out = 0
        places: list[Place] = []
        ranks: dict[str, list[int]] = {}
        for row, review in enumerate(reviews):
            for sentence in splitter(review):
                if says is not None and not says(sentence.text):
                    left_out += 1
                    continue
                text = closed(sentence.text) if close else sentence.text
                ranks.setdefault(text, []).append(len(places))
                places.append(Place(row, sentence.start, sentence.end))
        found = tuple(map(tuple, ranks.values()))
        return cls(tuple(ranks), tuple(places), found, left_out)

    @property
    def first_ranks(self) -> Ints:
        """Position of the first place of each distinct sentence, int64 [N]."""
        # Not above: commands take their options for a length from here.
        import numpy as np

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


_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?|\d+")
_ENDING = re.compile("n['\u2019]t$|['\u2019].*$")
_OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\u2c00-\ufdff\ufe10-\uffff\U00010000-\U0001efff]")
_SUBJECT = """
    i we he she they it you this that these those there the my our his her their its everything
    nothing everyone nobody all both each every some most
"""
_FUNCTION = """
    a an and or but so as at by for from in into of off on out over to up with without not no nor
    if then than too very just only also even still again ever never here what how when why who is
    are was were be been being am do does did has have had will would can could should may might
    must ca wo me us him them mine yours one ones oh wow yes ok okay please
"""
_SUBJECTS = frozenset(_SUBJECT.split())
"""Words that a sentence with a subject of its own begins with."""
_FUNCTION_WORDS = _SUBJECTS | frozenset(_FUNCTION.split())
_LEAST_CONTENT, _LEAST_OF_EXCLAMATIONS = 2, 3


def has_content(sentence: str) -> bool:
    """Whether a sentence says something of its own, so that a summary may be made of it.

    A model trained on whole statements has no meaning for "Avoid!" or "A piece of junk!", and may
    find any review in support of them. A sentence that begins with a subject needs one word that
    is no function word; a fragment needs two, and an exclamation without a subject three. What is
    mostly in another script than the Latin one is not judged.

    >>> [has_content(s) for s in ("They leak.", "Warm boots.", "Great boots for wet winters!")]
    [True, True, True]
    >>> [has_content(s) for s in ("很舒服。", "Ok 好.")]
    [True, False]
    >>> [has_content(s) for s in ("Avoid!", "Be careful!", "A piece of junk!", "So it is.")]
    [False, False, False, False]
    """
    others = len(_OTHER_SCRIPT.findall(sentence))
    if others > sum(map(str.isalpha, sentence)) / 2:
        return True
    words = [_ENDING.sub("", word.casefold()) for word in _WORD.findall(sentence)]
    content = [word for word in words if word not in _FUNCTION_WORDS]
    if words and words[0] in _SUBJECTS:
        return bool(content)
    exclaimed = "!" in sentence[-3:]
    return len(content) >= (_LEAST_OF_EXCLAMATIONS if exclaimed else _LEAST_CONTENT)


def closed(sentence: str) -> str:
    """The sentence with a full stop, unless it ends in one, or in ! ? or … and closing marks.

    >>> closed("Great boots"), closed('"Great boots!"')
    ('Great boots.', '"Great boots!"')
    """
    return sentence if _ENDS_A_SENTENCE.search(sentence) else f"{sentence}."


def number_of(texts: Iterable[str]) -> int:
    """A number that names texts, so that a draw does not depend on other products."""
    data = "\0".join(texts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
