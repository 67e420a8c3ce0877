"""Who says it: frames such as "users say that", which claims do without."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prevalence.claims.clauses import (
    BE,
    Core,
    Piece,
    find_core,
    last_noun,
    shape_of,
)
from prevalence.claims.drafts import Draft, plain_text, words_from
from prevalence.claims.pronouns import thing_of
from prevalence.claims.reports import after_report
from prevalence.claims.small_clauses import small_clause, without_description
from prevalence.claims.speakers import after_frame, people_at
from prevalence.claims.words import (
    is_base,
    is_plural,
    is_third,
    plain_of_ing,
    singular_verb,
    word_set,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.claims.amounts import Quantity
    from prevalence.claims.english import Token
    from prevalence.claims.speakers import People

__all__ = [
    "before_that",
    "by_people",
    "described_so",
    "drop_frame",
    "finders_in",
    "found_besides",
    "frame_of",
    "goes_on_saying",
    "is_advice",
    "is_of_buyers",
    "is_shared_view",
    "names_people",
    "reported_so",
]


def drop_frame(draft: Draft, before: Draft | None = None) -> None:
    """Leave out "users say that"; make "users find it good" into "it is good".

    Args:
        draft: the claim.
        before: the claim before it, whose subject "they" may stand for.
    """
    if before is not None and draft.words[0].low == "they" and thing_of(before):
        return  # "the manuals are bad, they say the battery is in the box"
    text = plain_text(draft.words)
    found, people = frame_of(text), finders_in(text)
    rest = [] if people is None else words_from(draft.words, people.end)
    said = small_clause(rest)
    if found is not None and said is None:
        words = words_from(draft.words, found[0])
        if words and words[0].low == "they" and is_of_sayers(words):
            words = [words[0].reworded("reviewers", "noun"), *words[1:]]
        told = words and words[0].tag != "ing" and not is_of_sayers(words)
        if told and shape_of(words) in {"clause", "noun"}:
            draft.words, draft.quantity = words, found[1]
            draft.changed = draft.framed = True
            return
    described = without_description(draft.words)
    if described is None and people is not None and said and said[0].low not in _THEIRS:
        draft.people = tuple(draft.words[: len(draft.words) - len(rest)])
        draft.quantity, described = people.quantity, said
    elif described is not None:
        end, counted = by_people(described) or (0, None)
        described, draft.quantity = described[:end] or None, counted or draft.quantity
    if described is not None:
        draft.words, draft.changed, draft.framed = described, True, True


def by_people(words: Sequence[Token]) -> tuple[int, Quantity | None] | None:
    """Where "by many guests" begins at the end, and how many; None for "by few guests".

    Without either it is the end of the words.
    """
    at = next((at for at in range(len(words) - 1, 0, -1) if words[at].low == "by"), len(words))
    text = plain_text(words[at + 1 :])
    people = people_at(f"{text} say") if text else None
    if people is None or people.end < len(text):
        return len(words), None
    denied = people.quantity is not None and people.quantity.denies
    return None if denied else (at, people.quantity)


_THEIRS = word_set("their his her")


def frame_of(text: str) -> tuple[int, Quantity | None] | None:
    """What :func:`after_frame` finds, where leaving it out says no more: "nobody says" stays."""
    report = after_report(text)
    found = after_frame(text) if report is None else (report, None)
    return None if found is None or (found[1] is not None and found[1].denies) else found


_PRAISING = word_set("""
praising citing mentioning noting highlighting criticizing criticising reporting singling pointing
complaining applauding commending complimenting
""")


def found_besides(draft: Draft, words: list[Token]) -> tuple[list[Token], Quantity | None]:
    """From "most love the food, | calling it fresh": the food is fresh, and how many find so.

    Args:
        draft: the claim before.
        words: those behind it.

    Returns:
        No words for anything else. Of "praising its taste" people stay: "most praise its taste".
    """
    people = None if draft.lead else finders_in(plain_text(draft.words))
    base = plain_of_ing(words[0].low)
    if people is None or base is None or len(words) < 3:
        return [], None
    said = small_clause([words[0].reworded(base), *words[1:]])
    if said is not None and said[0].low in {"it", "they"}:
        noun = last_noun(draft.words, find_core(draft.words))
        agrees = bool(noun) and is_plural(noun[-1].low) == (said[0].low == "they")
        return ([*noun, *said[1:]] if agrees else []), people.quantity
    if said is not None:
        return said, people.quantity
    if words[0].low not in _PRAISING:
        return [], None
    rest = words_from(draft.words, people.end)
    sayers = draft.words[: len(draft.words) - len(rest)]
    one = sayers[-1].low in {"one", "another"} or not is_plural(sayers[-1].low)
    verb = words[0].reworded(singular_verb(base) if one else base, "verb")
    return [*sayers, verb, *words[1:]], None


def described_so(noun: list[Token], words: list[Token]) -> list[Token] | None:
    """From "the lashes, | which they describe as soft": the lashes are soft."""
    told = len(words) > 3 and words[0].low == "which"
    told = told and all(word.low != "others" for word in words)
    return small_clause([words[2], *noun, *words[3:]]) if noun and told else None


def reported_so(words: list[Token]) -> tuple[list[Token], Quantity | None] | None:
    """From "which most users say | lasts all day": what they say, and how many they are."""
    text = plain_text(words[1:])
    people = people_at(text)
    verb = None if people is None else _SAY_IT.match(text, people.end)
    said = [] if verb is None else words_from(words[1:], verb.end())
    if people is None or not said or (people.quantity is not None and people.quantity.denies):
        return None
    if said[0].tag not in {"verb", "aux"} and not is_third(said[0].low):
        return None
    first = said[0] if said[0].tag == "aux" else said[0]._replace(tag="verb")
    return [first, *said[1:]], people.quantity


_SAY_IT = re.compile(
    r" (?:say|said|report(?:ed)?|note[sd]?|claim(?:ed)?|agree[sd]?|think|feel|felt) "
)
_SAID = word_set("""
appreciated praised loved liked enjoyed recommended wished resented regretted thanked complained
advise advised recommend suggest suggested caution cautioned complain praise wish regret warned
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
waited wear wore use used like liked love loved need needed struggle struggled return returned plan
intend visited
""")


def is_of_sayers(words: Sequence[Token]) -> bool:
    """Whether what people say is of themselves: "they barely felt it", "their husband"."""
    first = words[0].low
    verb = next((word.low for word in words[1:] if word.tag not in {"adv", "neg"}), "")
    lows = {word.low for word in words[1:5]}
    again = verb in {"will", "would", "might"} and not lows.isdisjoint(_AGAIN)
    return first in {"he", "she", "his", "her"} or (
        first == "they" and (again or verb in _PERSONAL)
    )


_AGAIN = word_set("back return recommend buy order visit book repurchase reorder")


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


_WARNED = word_set("be expect forget let hesitate worry bother miss waste buy trust count assume")
_ADVICE = word_set("ask book buy choose consider order reserve skip try")


def is_advice(draft: Draft, piece: Piece) -> bool:
    """Whether a verb tells the reader what to do: "they run small, so | order a size up".

    "They are thin, so | tear easily" says what they do.
    """
    rest = [word.low for word in piece.words if word.tag not in {"adv", "neg"}]
    verb = rest[0] if rest else ""
    if verb == "don't" and piece.joint in {"so", "but"}:
        return rest[1:2] != [] and rest[1] in _WARNED
    if piece.joint == "so":
        return is_base(verb) and len(rest) > 1
    core = find_core(draft.words, draft.lead)
    if core is None or draft.words[core.first].low not in BE:
        return False
    subject = draft.words[draft.lead : core.first]
    things = bool(subject) and subject[0].tag != "pron" and finders_in(plain_text(subject)) is None
    return verb in _ADVICE and things


def is_of_buyers(piece: Piece) -> bool:
    """Whether a verb says what people would do with a thing: "would buy it again"."""
    lows = {word.low for word in piece.words[:4]}
    return "would" in lows and not lows.isdisjoint({"buy", "purchase", "order", "recommend"})
