"""Sentences and the counts of people beside them: "It lasts. (7 of 10 reviews)"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.claims.asides import asides
from prevalence.text.markdown import blanked, places_of, spoken
from prevalence.text.sentences import Sentence, says_anything

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prevalence.claims.asides import Aside

__all__ = ["affirming", "gathered", "without_counts"]


def gathered(sentences: Iterable[Sentence], text: str) -> tuple[Sentence, ...]:
    """The sentences of a text, each with the count behind its full stop.

    A count at the beginning of a sentence goes to the one before it in the line, and one that
    stands alone to the one before it, unless that has a count already.

    >>> from prevalence.text.sentences import get_splitter
    >>> text = "It lasts. (7 reviews) It leaks. (3 reviews)"
    >>> [sentence.text for sentence in gathered(get_splitter()(text), text)]
    ['It lasts. (7 reviews)', 'It leaks. (3 reviews)']
    """
    found: list[Sentence] = []
    for sentence in sentences:
        said, start, end = sentence
        cut = _end_of_count(said) if found else 0
        if not cut or asides(found[-1].text):
            found.append(sentence)
            continue
        rest = said[cut:].lstrip(" .,;:\n")
        # At the beginning of a line it is of what follows it there.
        if says_anything(rest) and "\n" in text[found[-1].end : start]:
            found.append(sentence)
            continue
        before, places = found[-1], places_of(said, text[start:end])
        found[-1] = Sentence(
            f"{before.text} {said[:cut]}", before.start, start + places[cut - 1] + 1
        )
        if says_anything(rest):
            found.append(Sentence(rest, start + places[len(said) - len(rest)], end))
    return tuple(found)


def _end_of_count(sentence: str) -> int:
    """Where the count ends that a sentence begins with; 0 if it begins with none."""
    found = asides(sentence) if sentence.startswith(("(", "[")) else []
    return found[0].end if found and found[0].start == 0 else 0


def affirming(sentence: str) -> list[Aside]:
    """The counts that stand apart, but for those that deny ("It leaks (0 of 10 reviews)").

    Without these the sentence would say the opposite, as it would without "nobody says".
    """
    return [aside for aside in asides(sentence) if not aside.quantity.denies]


def without_counts(sentence: str) -> str:
    """What a single review can say: the sentence without its :func:`affirming` counts.

    >>> without_counts("It lasts (7 of 10 reviews)."), without_counts("It leaks (0 of 10 reviews).")
    ('It lasts.', 'It leaks (0 of 10 reviews).')
    """
    left = blanked(sentence, (aside[:2] for aside in affirming(sentence)))
    return spoken(left, sentence) if left != sentence and says_anything(left) else sentence
