"""Pronouns of a claim, replaced by the subject of the claim before where it is clear."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prevalence.claims.clauses import Core, find_core, head_of, last_noun
from prevalence.claims.english import verb_of_contraction
from prevalence.claims.noun_lists import owner_of
from prevalence.claims.people import TROUBLE
from prevalence.claims.speakers import people_at
from prevalence.claims.words import is_plural, word_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.claims.drafts import Draft
    from prevalence.claims.english import Token

__all__ = ["named_before", "resolve", "thing_of"]

_EXPLETIVE = word_set("that how what if whether worth time")
_PERSONS = word_set("""
users customers reviewers buyers owners people guests visitors diners patrons shoppers travelers
consumers kids children parents readers customer reviewer buyer owner guest seller author husband
wife partner boyfriend girlfriend friend friends family son sons daughter daughters brother sister
mother father mom dad child baby toddler boy girl man woman
""")
"""People: "it" and "they" after a clause of theirs are more often what they speak of."""
_BOUGHT = word_set("""
price prices pricing cost costs packaging package box delivery shipping shipment order purchase
return refund warranty seller vendor description listing picture pictures photo photos ad
instructions manual directions setup assembly installation smell odor color colors colour size
sizing style design brand name
""")
"""What goes with a thing that is bought: "it" after a clause of theirs is more often the thing."""
_PRICED = word_set("high low fair reasonable steep justified dropped expensive cheap")
"""What is said of a price rather than of the thing."""


_VOICING = word_set("""
express report note mention complain wish recommend praise criticize appreciate caution warn voice
cite lament
""")


def resolve(draft: Draft, before: Draft) -> None:
    """Put the subject of the claim before in place of "it", "they", "its" or "their".

    "Its" is of the owner, if the subject has one: of the hotel after "the hotel's menu".
    """
    pointer = draft.words[0]
    low, subject = pointer.low.split("'")[0], thing_of(before)
    if not subject:
        subject = _told_of(before)
        if low in {"they", "their"} and not draft.people:
            low = ""  # those who speak of it
    bought = any(word.low in _BOUGHT for word in subject)
    if (
        not subject
        or _is_voiced(draft)
        or (bought and all(word.low not in _PRICED for word in draft.words))
    ):
        return
    if low in _SOME and len(draft.words) > 1 and draft.words[1].tag in {"verb", "aux"}:
        _put_noun(draft, subject)
        return
    if low not in {"it", "they", "its", "their"}:
        _put_object(draft, subject)
        return
    owns = low in {"its", "their"}
    many = low in {"they", "their"}
    owner = _owner(subject, many=many) if owns else []
    if not owner and is_plural(head_of(subject).low) != many:
        return
    if any(word.low in _EXPLETIVE for word in draft.words[1:5]):
        return
    put = owner or [*subject]
    if owns and not owner:
        put[-1] = put[-1].reworded(put[-1].text + ("'" if low == "their" else "'s"))
    elif "'" in pointer.low:
        put.append(verb_of_contraction(pointer))
    draft.words, draft.changed = [*put, *draft.words[1:]], True


def named_before(drafts: Sequence[Draft]) -> Draft:
    """The claim whose subject a pronoun may stand for: the last, or one that opinions are of.

    "Guests are split on breakfast: two loved it and one found | it cold".
    """
    first, last = drafts[0], drafts[-1]
    split = _topic_of(first.words) and not thing_of(last) and not _told_of(last)
    return first if split else last


def thing_of(draft: Draft) -> list[Token]:
    """The subject of a claim, if it is a noun and not people."""
    core = find_core(draft.words, draft.lead)
    if core is None or (topic := _topic_of(draft.words)):
        return [] if core is None else topic
    subject = draft.words[draft.lead : core.first]
    if [word.low for word in subject] in (["i"], ["we"]):
        subject = _had(draft.words, core)
    if subject and subject[0].tag in {"prep", "ing"}:
        return []
    plain = all(word.tag not in {"pron", "rel", "sub", "verb"} for word in subject)
    end = next((at for at, word in enumerate(subject) if at and word.text == ","), len(subject))
    named = [word for word in subject[:end] if word.tag not in {"adv", "neg"}]
    people = bool(named) and (named[-1].tag == "det" or head_of(named).low in _PERSONS)
    said = " ".join(word.text for word in named)
    somebody = people_at(said)
    known = somebody is not None and (somebody.quantity or somebody.named.endswith("s"))
    people = people or (somebody is not None and bool(known) and somebody.end == len(said))
    return [] if people or not plain else named


def _is_voiced(draft: Draft) -> bool:
    """Whether "they" are those who speak: "they | express frustration with the wait"."""
    return draft.words[0].low == "they" and any(one.low in _VOICING for one in draft.words[1:3])


def _owner(subject: list[Token], *, many: bool) -> list[Token]:
    """The one or the many that own a subject: "the hotel's" of "the hotel's menu"."""
    owner = owner_of(subject)
    return owner if len(owner) > 1 and owner[-1].low.endswith("s'") == many else []


def _told_of(draft: Draft) -> list[Token]:
    """What people speak of: "the donuts" in "customers love the donuts"."""
    core = find_core(draft.words, draft.lead)
    people = people_at(" ".join(word.text for word in draft.words[draft.lead :]))
    noun = [] if people is None or core is None else last_noun(draft.words, core)
    within = core is not None and any(
        word.tag in {"conj", "mark", "rel", "sub"} for word in draft.words[core.main :]
    )
    return noun if noun and noun[0].low == "the" and not within else []


_SOME = word_set("some many most several")
_TROUBLED = re.compile(rf"\w+ (?:ha[sd]|have) (?:\w+ )?{TROUBLE}", re.IGNORECASE)
"""What "some" do who are people, whatever was named before: "some had problems with leaks"."""


def _put_noun(draft: Draft, subject: list[Token]) -> None:
    """Name the things that "some" stands for: after "rooms are small", "some | rooms have"."""
    noun = [word for word in subject if word.tag not in {"det", "poss"}]
    text = " ".join(word.text for word in draft.words)
    people = people_at(text) is not None or _TROUBLED.match(text) is not None
    if noun and is_plural(head_of(noun).low) and not people:
        named = [word.reworded(word.text.lower()) for word in noun]
        draft.words, draft.changed = [draft.words[0], *named, *draft.words[1:]], True


def _put_object(draft: Draft, subject: list[Token]) -> None:
    """Put a subject in place of the one "it" or "them" that is an object."""
    words = draft.words
    places = [
        at
        for at, word in enumerate(words)
        if at
        and word.low in {"it", "them"}
        and words[at - 1].tag in {"verb", "base", "ing", "prep"}
        and (words[at - 1].low != "of" or word.low == "it")  # "a number of them": of people
        and (at + 1 == len(words) or words[at + 1].tag not in {"verb", "aux", "adj"})
    ]
    bare = all(word.tag == "noun" for word in subject) and len(subject) < 4
    bare = bare and words[0].low not in {"i", "we"}  # "sound is good, but I returned it"
    definite = bare or subject[0].low in {"the", "this", "these"}
    definite = definite and all(word.tag != "rel" for word in words)
    if not definite or len(places) != 1:
        return
    place = places[0]
    if is_plural(head_of(subject).low) == (words[place].low == "them"):
        put = [subject[0].reworded(subject[0].low), *subject[1:]]
        draft.words, draft.changed = [*words[:place], *put, *words[place + 1 :]], True


_HAD = word_set("had tried ordered got bought chose")
_VIEWS = word_set("opinions opinion reviews feedback comments views experiences reactions")


_ON = word_set("on about regarding over")
_SPLIT = word_set("split divided disagree disagreed differ mixed")
_NAMED = frozenset({"det", "poss", "adj", "noun"})
_VERBAL = frozenset({"aux", "verb", "mark"})
_DIFFER = word_set("differ vary diverge range")


def _had(words: list[Token], core: Core) -> list[Token]:
    """The one thing that somebody had: "the soup" in "I tried the soup"."""
    rest = words[core.main + 1 :]
    named = words[core.main].low in _HAD and len(rest) > 1 and rest[0].low in {"the", "their"}
    plain = all(word.tag in {"det", "poss", "adj", "noun", "prep"} for word in rest)
    return rest if named and plain else []


def _topic_of(words: list[Token]) -> list[Token]:
    """What opinions are of: "the price" in "opinions on the price are mixed"."""
    for at in range(len(words) - 2):
        if words[at].low in _VIEWS and words[at + 1].low in {"on", "of", "about", "regarding"}:
            rest = words[at + 2 :]
            verbs = (k for k, w in enumerate(rest) if w.tag in _VERBAL or w.low in _DIFFER)
            return rest[: next(verbs, len(rest))]
    split = next((at for at, word in enumerate(words[:6]) if word.low in _SPLIT), len(words))
    if split and [word.low in _ON for word in words[split + 1 : split + 2]] == [True]:
        rest = words[split + 2 :]
        return rest if all(word.tag in _NAMED for word in rest) else []
    mixed = words[:1] and words[0].low in _VIEWS
    on = next((at for at, word in enumerate(words) if mixed and word.low in _ON), len(words))
    return words[on + 1 :]
