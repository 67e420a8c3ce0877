"""When a summary made of sentences is long enough."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prevalence.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.sentences import Splitter

__all__ = ["LengthRule"]


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
            summary: the summary whose length is wanted.
            splitter: finds its sentences.

        Raises:
            InputError: it has no sentence.

        >>> from prevalence.sentences import get_splitter
        >>> LengthRule.like("They fit. They last.", get_splitter()).characters
        15.0
        """
        sentences = splitter(summary)
        if not sentences:
            raise InputError("a summary without a sentence gives no length: choose another one")
        return cls(characters=len(summary.strip()) - len(sentences[-1].text) / 2)

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
