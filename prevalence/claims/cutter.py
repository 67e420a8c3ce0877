"""Claims: the single statements that a sentence makes, cut by rule so that each stands alone.

"The fabric is soft and washes well, but the zipper sticks" makes three claims. A sentence is cut at
its conjunctions and commas; what a piece lacks (subject, verb, preposition) is taken from the claim
before it. Conditions and exceptions stay with what they govern, a negation goes with every part of
its list, and "some reviewers say that" is dropped. Where no rule is safe, nothing is cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prevalence.claims.clauses import ENDS
from prevalence.claims.quantities import Quantity, people_at
from prevalence.claims.rules import MOST_WORDS, drafts_of
from prevalence.marks import places_of
from prevalence.records import CLAIMS
from prevalence.sentences import Sentence, get_splitter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.claims.english import Token
    from prevalence.records import Summary
    from prevalence.sentences import Splitter

__all__ = ["CLAIMS", "MOST_WORDS", "Claim", "cut", "given", "stated_claim"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a text.

    Attributes:
        text: the statement; the whole sentence where it is not cut.
        start: offset in the text of the first character of the part that makes it.
        end: offset after that part.
        sentence: index of its sentence.
        quantity: how many people make it, where a dropped frame ("most users say") says so.
    """

    text: str
    start: int
    end: int
    sentence: int
    quantity: Quantity | None = None


def cut(text: str, *, splitter: Splitter | None = None) -> list[Claim]:
    """Cut a text into claims, in order; every sentence gives at least one.

    Args:
        text: any text.
        splitter: cuts it into sentences; None takes Punkt.

    Returns:
        The claims. It is the same list on every machine, made in time linear in the length.

    >>> [c.text for c in cut("The fabric is soft and washes well, but the zipper sticks.")]
    ['The fabric is soft.', 'The fabric washes well.', 'The zipper sticks.']
    >>> [c.text for c in cut("It does not leak or smell.")]
    ['It does not leak.', 'It does not smell.']
    """
    sentences = (splitter or get_splitter())(text)
    return [
        claim
        for index, sentence in enumerate(sentences)
        for claim in _claims(sentence, text[sentence.start : sentence.end], index)
    ]


def given(summary: Summary, *, splitter: Splitter | None = None) -> list[Claim] | None:
    """The claims that a record gives for a summary; None where it gives none.

    Args:
        summary: whose ``claims`` is a list that readers have checked.
        splitter: cuts it into sentences; None takes Punkt.

    Returns:
        The claims in the record's order. Each stands where the sentence stands with which it
        shares most words, the first of several.
    """
    stated = summary.extra.get(CLAIMS)
    if stated is None:
        return None
    sentences = (splitter or get_splitter())(summary.text) or (Sentence("", 0, 0),)
    known = [set(sentence.text.lower().split()) for sentence in sentences]
    claims = []
    for text, quantity in filter(None, map(stated_claim, stated)):
        words = set(text.lower().split())
        index = max(range(len(known)), key=lambda k: len(known[k] & words))
        start, end = sentences[index].start, sentences[index].end
        claims.append(Claim(text, start, end, index, quantity))
    return claims


def stated_claim(item: object) -> tuple[str, Quantity | None] | None:
    """A claim as a record states it, and its quantity; None for what is no claim.

    Args:
        item: a text, or ``{"text": "It leaks.", "quantity": "most"}``.

    >>> stated_claim("It leaks.")
    ('It leaks.', None)
    >>> stated_claim({"text": "It leaks.", "quantity": "half"})[1].low
    0.4
    """
    if isinstance(item, str):
        return (item, None) if item.strip() else None
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        return None
    if item.get("quantity") is None:
        return stated_claim(item["text"])
    people = people_at(f"{item['quantity']} users")
    found = None if people is None else people.quantity
    return None if found is None or not item["text"].strip() else (item["text"], found)


def _claims(sentence: Sentence, source: str, index: int) -> list[Claim]:
    """The claims of a sentence, which stands in the text as ``source``."""
    drafts = drafts_of(sentence.text)
    if len(drafts) < 2 and not any(draft.changed for draft in drafts):
        quantity = drafts[0].quantity if drafts else None
        return [Claim(sentence.text, sentence.start, sentence.end, index, quantity)]
    places = places_of(sentence.text, source)
    return [
        Claim(
            _text(draft.words, sentence.text),
            sentence.start + places[draft.start],
            sentence.start + places[draft.end - 1] + 1,
            index,
            draft.quantity,
        )
        for draft in drafts
    ]


def _text(words: Sequence[Token], source: str) -> str:
    """Words as a sentence, spaced as in their source where they stand side by side."""
    parts: list[str] = []
    before: Token | None = None
    for word in words:
        together = before is not None and (before.end == word.start or word.text in ",;:.!?)%")
        parts.append(word.text if together or before is None else f" {word.text}")
        before = word
    said = "".join(parts).strip(" ,;—–-")
    end = source.rstrip()[-1:]
    said += "" if said.endswith(tuple(ENDS)) else (end if end in ENDS else ".")
    return said[:1].upper() + said[1:]
