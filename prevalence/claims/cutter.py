"""Claims: the single statements that a sentence makes, cut by rule so that each stands alone.

"The fabric is soft and washes well, but the zipper sticks" makes three claims. A sentence is cut at
its conjunctions and commas; what a piece lacks (subject, verb, preposition) is taken from the claim
before it. Conditions and exceptions stay with what they govern, a negation goes with every part of
its list, and "some reviewers say that" is dropped, as is "(7 of 10 reviews)". Where no rule is
safe, nothing is cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prevalence.claims.clauses import CONTRASTS, ENDS, pieces_of, shape_of
from prevalence.claims.counts import affirming, gathered, without_counts
from prevalence.claims.english import tagged
from prevalence.claims.groups import has_unread_share, plain_counts
from prevalence.claims.labels import MOST_WORDS, drafts_of
from prevalence.claims.people import PEOPLE
from prevalence.claims.quantities import counts_others, quantified, without_words
from prevalence.claims.speakers import after_frame, people_at
from prevalence.records import CLAIMS
from prevalence.text.markdown import blanked, places_of
from prevalence.text.sentences import Sentence, get_splitter, says_anything

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.claims.amounts import Quantity
    from prevalence.claims.asides import Aside
    from prevalence.claims.drafts import Draft
    from prevalence.claims.english import Token
    from prevalence.records import Summary
    from prevalence.text.sentences import Splitter

__all__ = ["CLAIMS", "MOST_WORDS", "Claim", "cut", "given", "stated_claim"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a text.

    Attributes:
        text: the statement; the whole sentence where it is not cut.
        start: offset in the text of the first character of the part that makes it.
        end: offset after that part.
        sentence: index of its sentence.
        quantity: how many people make it, where a dropped frame ("most users say") or aside ("(7 of
            10 reviews)") says so.
    """

    text: str
    start: int
    end: int
    sentence: int
    quantity: Quantity | None = None


def cut(text: str, *, splitter: Splitter | None = None) -> list[Claim]:
    """Cut a text into claims, in order; every sentence that says anything gives at least one.

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
    sentences = gathered((splitter or get_splitter())(text), text)
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
    found = (splitter or get_splitter())(summary.text)
    sentences = gathered(found, summary.text) or (Sentence("", 0, 0),)
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


_PARENTHESES = re.compile(r"(?<=\w), if (?:any|not all|not most),(?= )", re.IGNORECASE)
"""Words of a quantity that would be taken for pieces of the sentence."""


_ADDRESS = re.compile(
    rf"\s*(?:dear (?:[\w-]+ ){{0,2}}(?:{PEOPLE}|all|sir|madam|friends?|team|colleagues?)"
    r"(?:[,!:](?:\s+|$)|$))?(?:based on [^,.;:!?]{3,80}\breviews\b[^,.;:!?]{0,40},\s+(?=\w))?",
    re.IGNORECASE,
)
"""To whom a letter is written, and what it is based on."""


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _claims(sentence: Sentence, source: str, index: int) -> list[Claim]:
    """The claims of a sentence, which stands in the text as ``source``."""
    apart = affirming(sentence.text)
    said = _PARENTHESES.sub(_blank, blanked(sentence.text, (aside[:2] for aside in apart)))
    said = _ADDRESS.sub(_blank, said, count=1)
    if not says_anything(said) and not apart:
        return []  # "Dear traveller,"
    said = plain_counts(said)
    drafts = [] if has_unread_share(said) else drafts_of(said)
    if len(drafts) < 2 and not any(draft.changed for draft in drafts) and not (drafts and apart):
        quantity = drafts[0].quantity if drafts else None
        text = sentence.text
        if len(apart) == 1 and not drafts and not text.endswith("?"):
            text, quantity = without_counts(text), apart[0].quantity
        whole = Claim(text, sentence.start, sentence.end, index, quantity)
        return [_without_quantity(whole)]
    places = places_of(sentence.text, source)
    counts = _counts(said, apart, drafts)
    claims = []
    for draft, count in zip(drafts, counts, strict=True):
        text, quantity = _text(draft.words, said), count or draft.quantity
        claims.append(
            Claim(
                text if count is None else without_words(text, count) or text,
                sentence.start + places[draft.start],
                sentence.start + places[draft.end - 1] + 1,
                index,
                quantity,
            )
        )
    return [_without_part(_without_quantity(claim), said) for claim in claims]


def _without_part(claim: Claim, said: str) -> Claim:
    """A claim without a share of those only who are named before it: "and most of them ..."."""
    quantity = claim.quantity
    if quantity is None or quantity.count is not None:
        return claim
    of_them = re.search(rf"\w+\W+{re.escape(quantity.text)} of (?:them|these|those)\b", said, re.I)
    return claim if of_them is None else replace(claim, quantity=None)


_OTHER_COUNT = re.compile(r"\d+ (?:did|does|do|was|were|is|are|found|said|had|has|have)\b")
_SIZED = re.compile(r"People |(?:An? )?[\w-]+ (?:can|could|fit|sleep) ")


def _without_quantity(claim: Claim) -> Claim:
    """A claim without its words for how many people it is of, unless it denies."""
    # "3 found it tight" behind "2 of 8 found it loud", "1 does not" behind "4 of 5 praise it".
    counted = claim.quantity is not None
    if counted and (_OTHER_COUNT.match(claim.text) or counts_others(claim.text)):
        return replace(claim, quantity=None)
    open_ = claim.quantity is None and not claim.text.endswith("?")
    found = quantified(claim.text) if open_ and after_frame(claim.text) is None else None
    # "Four people fit in it", "one person can carry it" are no quantities of reviewers.
    sized = found is not None and found.quantity.count and _SIZED.match(found.statement)
    if found is None or found.quantity.denies or sized:
        return claim
    return replace(claim, text=found.statement, quantity=found.quantity)


def _counts(text: str, apart: Sequence[Aside], drafts: Sequence[Draft]) -> list[Quantity | None]:
    """The quantity that stands apart, of each claim of a sentence."""
    counts: list[Quantity | None] = [None] * len(drafts)
    if not apart:
        return counts
    contrasts, clauses = _bounds(text)
    begin = 0
    for aside in apart:
        if not text[: aside.start].strip() or aside.behind_people or aside.of_label:
            # Before what is said: of all of it up to a contrast, like "most users say that".
            end = min((at for at in contrasts if at > aside.end), default=len(text))
            first = 0 if aside.of_label else begin
            if aside.behind_people:  # not of a clause before: "most like it, but two (of 8) ..."
                first = max(at for at in (begin, *contrasts, *clauses) if at <= aside.start)
            found = [k for k, draft in enumerate(drafts) if first <= draft.start < end]
            if not found:  # said with the clause before: "it is good: most (75%) love it"
                found = [k for k, draft in enumerate(drafts) if begin <= draft.start < end][-1:]
        else:
            # Of "soft and washes well" it counts both, but of two clauses the last: whether it is
            # meant for the first is unclear, and a wrong count is worse than none.
            first = max(at for at in (begin, *contrasts, *clauses) if at <= aside.start)
            before = [k for k, draft in enumerate(drafts) if begin <= draft.start < aside.start]
            found = [k for k in before if drafts[k].start >= first] or before[-1:]
        for k in found:
            counts[k] = aside.quantity
        begin = aside.end
    return counts


def _bounds(text: str) -> tuple[list[int], list[int]]:
    """Where contrasts begin in a sentence, and where clauses behind a clause do."""
    contrasts, clauses = [], []
    told = False
    for piece in pieces_of(tagged(text)):
        start = piece.words[0].start
        clause = shape_of(piece.words) == "clause"
        if piece.joint in CONTRASTS | {"but", "yet"} or any(
            word.text == ";" for word in piece.glue
        ):
            contrasts.append(start)
        elif clause and told:
            clauses.append(start)
        told = told or clause
    return contrasts, clauses


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
