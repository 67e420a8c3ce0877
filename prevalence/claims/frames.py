"""Who says it: frames such as "users say that", which claims do without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.claims.clauses import (
    Core,
    Piece,
    find_core,
    shape_of,
    small_clause,
    without_description,
)
from prevalence.claims.drafts import Draft, plain_text, words_from
from prevalence.claims.english import word_set
from prevalence.claims.quantities import after_frame, people_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.claims.english import Token
    from prevalence.claims.quantities import People, Quantity

__all__ = [
    "before_that",
    "drop_frame",
    "finders_in",
    "frame_of",
    "goes_on_saying",
    "is_of_buyers",
    "is_shared_view",
    "names_people",
]


def drop_frame(draft: Draft) -> None:
    """Leave out "users say that"; make "users find it good" into "it is good"."""
    text = plain_text(draft.words)
    found, people = frame_of(text), finders_in(text)
    rest = [] if people is None else words_from(draft.words, people.end)
    said = small_clause(rest)
    if found is not None and said is None:
        words = words_from(draft.words, found[0])
        if words and shape_of(words) in {"clause", "noun"} and not is_of_sayers(words):
            draft.words, draft.quantity = words, found[1]
            draft.changed = draft.framed = True
            return
    described = without_description(draft.words)
    if described is None and people is not None and said and said[0].low not in _THEIRS:
        draft.people = tuple(draft.words[: len(draft.words) - len(rest)])
        draft.quantity, described = people.quantity, said
    if described is not None:
        draft.words, draft.changed, draft.framed = described, True, True


_THEIRS = word_set("their his her")


def frame_of(text: str) -> tuple[int, Quantity | None] | None:
    """What :func:`after_frame` finds, where leaving it out says no more: "nobody says" stays."""
    found = after_frame(text)
    return None if found is None or (found[1] is not None and found[1].denies) else found


_SAID = word_set("""
appreciated praised loved liked enjoyed recommended wished resented regretted thanked complained
""")


def goes_on_saying(piece: Piece) -> bool:
    """Whether a piece tells more of those who say something, and not of what they speak of.

    "Users agree that it is noisy, | citing the fan", "found that it was big | but appreciated".
    """
    shape = shape_of(piece.words)
    citing = piece.comma and not piece.joint and shape == "ing"
    return citing or (shape == "verb" and piece.words[0].low in _SAID)


def finders_in(text: str) -> People | None:
    """The people that a text speaks of, unless it says that hardly anybody finds so."""
    people = people_at(text)
    denied = people is not None and people.quantity is not None and people.quantity.denies
    return None if denied else people


_SOMEBODY = word_set("one another others some many most several")


def names_people(piece: Piece) -> bool:
    """Whether a clause begins with people of its own: "for learners it works, and | some go on"."""
    people = finders_in(plain_text(piece.words)) is not None
    verb = piece.words[1].tag in {"verb", "aux"} if len(piece.words) > 1 else False
    return people or (piece.words[0].low in _SOMEBODY and verb)


_PERSONAL = word_set("""
feel feels felt notice noticed sleep slept forget forgot receive received buy bought pay paid wait
waited wear wore use used like liked love loved need needed struggle struggled return returned
""")


def is_of_sayers(words: Sequence[Token]) -> bool:
    """Whether what people say is of themselves: "they barely felt it", "their husband"."""
    first = words[0].low
    verb = next((word.low for word in words[1:] if word.tag not in {"adv", "neg"}), "")
    return first in {"he", "she", "his", "her"} or (first == "they" and verb in _PERSONAL)


def before_that(draft: Draft, core: Core) -> int:
    """How many words stand before what people like: "parents like that" it is light."""
    begin = core.main + 2
    said = len(draft.words) > begin and draft.words[begin - 1].low == "that"
    people = said and people_at(plain_text(draft.words)) is not None
    return begin if people and find_core(draft.words, begin) is not None else 0


def is_shared_view(draft: Draft, piece: Piece) -> bool:
    """Whether those who make a claim may make the next one: it names no other people."""
    said = (draft.framed or draft.quantity is not None) and not draft.people
    first = piece.words[0].low
    return said and first not in {"i", "we"} and people_at(plain_text(piece.words)) is None


def is_of_buyers(piece: Piece) -> bool:
    """Whether a verb says what people would do with a thing: "would buy it again"."""
    lows = {word.low for word in piece.words[:4]}
    return "would" in lows and not lows.isdisjoint({"buy", "purchase", "order", "recommend"})
