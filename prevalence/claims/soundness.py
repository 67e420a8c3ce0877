"""Whether a claim can stand alone; the rules leave one that cannot with the claim before it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from prevalence.claims.clauses import find_core, head_of, is_finite
from prevalence.claims.english import is_plural, word_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.claims.drafts import Draft
    from prevalence.claims.english import Token

__all__ = ["is_sound"]

_OPEN = frozenset({"poss", "conj", "sub", "rel"})
_ARTICLES = word_set("the a an every no")
"""Tags, and determiners, after which something has to follow; not so after "more" or "all"."""
_JOINS = frozenset({"sub", "rel", "conj", "to", "mark", "ing", "base"})
"""Tags of words that a second verb may follow in one clause."""
_TELLS = word_set("""
say says said think thinks thought feel feels felt believe believes believed find finds found know
knows knew wish wishes wished hope hopes hoped note notes noted mention mentions mentioned report
reports reported guess guessed suspect suspects suspected complain complained claim claims claimed
agree agrees agreed suggest suggests suggested warn warns warned mean means meant show shows showed
ensure ensures ensured make makes made let lets help helps helped see sees saw hear hears heard
wonder wondered doubt doubts
that what how where when why whether who than as because if so the
""")
"""Words behind which a clause begins without a joint."""
_SINGULAR = word_set("is was has isn't wasn't hasn't")
_GROUPS = word_set("staff team service crew management series news")


def is_sound(draft: Draft) -> bool:
    """Whether a claim reads as one statement.

    It does not where a word at its end asks for more ("wins guests over with the"), where two
    prepositions meet ("stretches to past the door"), where a second verb stands in its clause
    ("had no problems with the app differ"), or where its verb has another number than its subject.
    """
    words = draft.words
    core = find_core(words, draft.lead)
    if not words or words[-1].tag in _OPEN or words[-1].low in _ARTICLES:
        return False
    if core is None:
        return True
    return not (
        _has_second_verb(words[core.main + 1 :], words[core.main])
        or _disagrees(words, draft.lead, core.first)
        or _prepositions_meet(words[core.main + 1 :])
    )


def _has_second_verb(words: Sequence[Token], main: Token) -> bool:
    """Whether a verb with a tense stands behind a verb, and nothing that joins them."""
    if main.low in _TELLS:
        return False
    for at, word in enumerate(words):
        if word.tag in _JOINS or word.low in _TELLS:
            return False
        if at and is_finite(words, at) and words[at - 1].tag == "noun":
            return word.tag == "aux" or not word.low.endswith(("ed", "s"))
    return False


def _disagrees(words: Sequence[Token], lead: int, verb: int) -> bool:
    """Whether "is" stands behind a plural noun: "fillings is painless"."""
    subject = words[lead:verb]
    if not subject or words[verb].low not in _SINGULAR:
        return False
    head = head_of(subject)
    counted = any(word.tag == "num" for word in subject) or subject[0].tag in {"ing", "to", "base"}
    plain = head.tag == "noun" and head.text.islower() and head.low not in _GROUPS
    return plain and not counted and is_plural(head.low) and len(subject) <= 2


_AIMED = word_set("to in for of with")
_LOOSE = word_set("about like than around under over")
"""Prepositions that may stand behind another one: "for under twenty"."""


def _prepositions_meet(words: Sequence[Token]) -> bool:
    """Whether a preposition stands right behind another one: "in especially", "to past"."""
    return any(
        one.low in _AIMED and two.tag in {"prep", "sub"} and two.low not in _LOOSE
        for one, two in pairwise(words)
    )
