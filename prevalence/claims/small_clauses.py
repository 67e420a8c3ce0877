"""Small clauses: what people find of a thing, as in "found the strap flimsy"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.claims.clauses import BE, shape_of
from prevalence.claims.words import be_after, word_set

if TYPE_CHECKING:
    from prevalence.claims.clauses import Core
    from prevalence.claims.english import Token

__all__ = ["FINDS", "gapped", "small_clause", "small_predicate", "without_description"]

FINDS = word_set("""
find finds found consider considers considered call calls called describe describes described
deem deems deemed rate rates rated regard regards regarded
""")
_FINDS_AS = word_set("""
praise praises praised commend commends commended see sees view views viewed criticize criticizes
criticized seen compliment compliments complimented hail hails hailed dismiss dismisses dismissed
""")
"""Verbs that do so with "as": "praise the staff as kind"."""


def without_description(words: list[Token]) -> list[Token] | None:
    """From "the product is described as durable": the product is durable."""
    lows = [word.low for word in words]
    if lows.count("as") > 1:
        return None  # "was rated as good as the other"
    for at in range(1, len(words) - 2):
        if lows[at] not in BE:
            continue
        verb = next((k for k in range(at + 1, len(words)) if words[k].tag != "adv"), at)
        stated = lows[verb : verb + 2] == ["described", "as"]
        told = lows[verb] in FINDS | _FINDS_AS and lows[verb].endswith(("ed", "seen", "found"))
        begin = verb + 1 + (lows[verb + 1 : verb + 2] == ["as"])
        begin += 2 * (lows[begin : begin + 2] == ["to", "be"])
        said = words[begin:] and shape_of(words[begin:]) == "adjective"
        if stated or (told and said and (lows[verb] in FINDS or lows[verb + 1] == "as")):
            return [*words[: at + 1], *words[begin:]]
    return None


def small_clause(words: list[Token]) -> list[Token] | None:
    """From "found the strap flimsy": the strap is flimsy."""
    while words and words[0].tag == "adv":
        words = words[1:]
    if len(words) < 3 or words[0].low not in FINDS | _FINDS_AS:
        return None
    rest = words[1:]
    lows = [word.low for word in rest]
    if words[0].low in _FINDS_AS and "as" not in lows:
        return None
    if lows.count("as") > 1:
        return None  # "rated it as good as the other"
    said = [
        word
        for at, word in enumerate(rest)
        if word.low != "as"
        and "to be" not in {" ".join(lows[at : at + 2]), " ".join(lows[at - 1 : at + 1])}
    ]
    return small_predicate(said)


def small_predicate(words: list[Token]) -> list[Token] | None:
    """From "the strap flimsy": the strap is flimsy."""
    begin = next((at for at, word in enumerate(words) if at and (
                  (word.tag in {"adj", "adv"} and shape_of(words[at:]) == "adjective")
                  or _was_done(words, at))), None)  # fmt: skip
    if begin is None or any(w.tag not in {"det", "poss", "adj", "noun", "pron", "obj", "num", "ing"}
                            for w in words[:begin]):  # fmt: skip
        return None
    begin -= words[begin - 1].low in {"the", "a", "an"} and begin > 1  # "it the best in town"
    noun = words[:begin]
    if noun[-1].tag not in {"noun", "pron", "obj", "ing"} and noun[0].tag not in {"pron", "obj"}:
        return None
    be = "are" if noun[0].low == "them" else be_after(noun[-1].low)
    first = noun[0].reworded("they") if noun[0].low == "them" else noun[0]
    return [
        first,
        *noun[1:],
        words[begin].reworded(be, "aux"),
        *words[begin:],
    ]


_NOUNS = frozenset({"noun", "obj", "pron"})


def _was_done(words: list[Token], place: int) -> bool:
    """Whether a past form says what was done to a noun: "found the rice | overcooked"."""
    word = words[place]
    after = words[place + 1].tag if place + 1 < len(words) else "mark"
    done = word.tag == "verb" and word.low.endswith("ed") and words[place - 1].tag in _NOUNS
    done = done and word.low != "compared"
    return done and after in {"mark", "prep", "sub", "conj", "adv"}


def gapped(words: list[Token], core: Core, right: list[Token]) -> list[Token] | None:
    """After "the food is good": from "the service slow", the service is slow."""
    verb = words[core.main]
    right = [word for word in right if word.low != "as"]  # "seen as kind and the room as clean"
    if verb.low not in BE or shape_of(words[core.main + 1 :] or words) != "adjective":
        return None
    said = small_predicate(right)
    if said is None or verb.low not in {"was", "were"}:
        return said
    past = {"is": "was", "are": "were"}
    return [w.reworded(past.get(w.low, w.low)) if w.tag == "aux" else w for w in said]
