"""People that a text speaks of, how many they are, and what they say: "most users say that"."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from prevalence.claims.amounts import LIMIT, NUMBER, WORDS, Quantity, number_of, quantity_of
from prevalence.claims.english import tagged
from prevalence.claims.people import ADVERB, OTHERS_DO, PEOPLE, REPORT, THEY, TROUBLE, part_of
from prevalence.claims.words import is_base, is_third

__all__ = ["FRONT", "SAY", "SEEN", "People", "after_frame", "people_at", "said_of"]

_BUY = r"would (?:\w+ )?(?:buy|purchase|order|return|stay|book|visit|choose)"
"""What only people would do."""
_WOULD = re.compile(rf" {_BUY}", re.IGNORECASE)
_PEOPLE2 = PEOPLE.replace("<people>", "<only>").replace("<one>", "<single>")


def _pattern() -> re.Pattern[str]:
    """A quantity with people, or one before a verb that only people can do; or people alone."""
    words = "|".join(rf"(?P<w{place}>{words})" for place, (_, words) in enumerate(WORDS))
    quantity = (
        rf"(?P<quantity>(?:{LIMIT})?(?:"
        rf"(?P<part>{NUMBER})(?: (?:out of|of|in)(?: the)? |(?P<slash> ?/ ?))(?P<whole>{NUMBER})"
        rf"|(?:(?:between )?(?P<from>\d{{1,3}}(?:\.\d{{1,3}})?) ?%?(?: ?[-–] ?| to | and ))?"
        rf"(?P<percent>\d{{1,3}}(?:\.\d{{1,3}})?)\+? ?(?:%|percent|per cent)\+?"
        r"|(?P<vulgar>[⅐-⅒⅕-⅞])"
        rf"|(?P<between>between (?={NUMBER} and {NUMBER} ))?(?P<count>{NUMBER})"
        rf"(?:(?: ?[-–] ?| to |(?(between) and |(?!)))(?P<upto>{NUMBER})|\+)?)|{words})"
    )
    # "Half of the 8 reviewers"; not "most of the 2 person tents".
    total = rf"(?: (?:the|these|our|all)(?: {NUMBER}(?! (?:person|player|couple)\b))?)?"
    link = rf"(?: of)?{total} "
    nobody = "|".join(rf"(?<={word})" for word in ("body", "everyone", "anyone", "no one"))
    # Not "everyone was friendly", which is said of the staff.
    ends = rf"(?:{nobody})(?= (?:ha[sd]|have) (?:\w+ )?{TROUBLE}|[.!?]*$)"
    # Not "most mention of it is positive", "most remarks are positive", "a couple was delighted".
    noun = (
        r"(?!(?<=none) (?:mentioned|reported|noted|stated|listed|cited|raised|found)[.!]*$)"
        r"(?! (?:mention|report|claim|praise|note|thought|experience)s? of\b"
        r"| (?:mention|report|claim|remark|comment|note|thought|experience)s (?:are|were|with)\b"
        r"|(?<=couple) (?:is|was|has)\b)"
    )
    # "Both" may be of two that are named before.
    alone = (
        rf"(?P<alone>(?<!\bboth)(?: of (?:them|these|those))?{noun}"
        rf"(?= {ADVERB}(?:{REPORT}|{OTHERS_DO}|{_BUY})\b)|{ends})"
    )
    # Not "all reviewers but one", "one person out of nine".
    but = r"(?! (?:but|out of) |,? (?:except|apart from|aside from|other than|excluding)\b)"
    # Without re.ASCII, "ſix" would be "six".
    flags = re.IGNORECASE | re.ASCII
    return re.compile(
        rf"(?:{quantity}(?:{link}{PEOPLE}{but}|{alone})|(?:the )?{_PEOPLE2}|{THEY})", flags
    )


_AT = _pattern()
_FRAME = re.compile(rf" {ADVERB}(?P<verb>{REPORT})(?P<that>,? that)?\b", re.IGNORECASE)
_SOURCE = re.compile(
    r"(?:according to|in the (?:opinion|view|experience) of|as (?:noted|reported|mentioned|stated"
    r"|described|confirmed|observed|pointed out|said) by) (?=\w)",
    re.IGNORECASE,
)
SAY = re.compile(
    rf" {ADVERB}(?:said|report(?:ed)?|mention(?:ed)?|noted?|complain(?:ed)?|felt|found|find|loved?"
    r"|hated?|liked?|disliked?|praised?|criticized?|criticised?|returned|described?|wish(?:ed)?"
    r"|recommend(?:ed)?|call(?:ed)?|appreciated?|enjoy(?:ed)?|disagreed?|say)"
    r"(?= (?:that|it|they|them|the|an?|its|their|this|these|how|about|of|no|not|being)\b|[.!;,]|$)",
    re.IGNORECASE,
)
"""What a number does that stands for people: "two said that it leaks"."""
_SOMEBODY = re.compile(rf"(?:one|another)(?= {ADVERB}{REPORT} that\b)", re.IGNORECASE)
FRONT = re.compile(r"(?:(?:overall|however|also|similarly|additionally|in general),? )?", re.I)
SEEN = 80
"""Words of a statement that are looked at to find out whether it is one, and characters after "no
one"."""


class People(NamedTuple):
    """People that a text speaks of.

    Attributes:
        end: offset after the words.
        quantity: how many of them, or None where the text does not say.
        named: the words without the quantity: ``users``, ``a customer``.
    """

    end: int
    quantity: Quantity | None
    named: str


def people_at(text: str, start: int = 0) -> People | None:
    """The people that a text speaks of at an offset, with or without a quantity.

    >>> people_at("Half of the users love it.")
    People(end=17, quantity=Quantity(text='Half', low=0.4, high=0.6, count=None, exists=False, \
of=None), named='users')
    >>> people_at("Half an hour is enough.") is None
    True
    """
    match = _AT.match(text, start)
    if match is None:
        return None
    third = match["one"] is not None and match[0].lower().startswith("a third ")
    if match["quantity"] is None or third:  # "a third reviewer"
        return People(match.end(), None, (match["only"] or match[0]).lower())
    counted = match["count"] is not None and match["people"] is None
    # In digits it may be the number of a review: "reviewers 3 and 5 report that it leaks".
    spelt = counted and match["count"].isalpha() and match["upto"] is None
    if counted and not (spelt and SAY.match(text, match.end())):
        return None
    quantity = quantity_of(match)
    if quantity is not None and match["people"] is not None:
        quantity = said_of(quantity, match["people"], text[match.end() : match.end() + SEEN])
    alone = match["alone"] is not None
    # "9/10 would buy it" is a grade as often as not.
    graded = alone and match["slash"] is not None and _WOULD.match(text, match.end()) is not None
    if quantity is None or graded or (alone and _of_things(text, match.end())):
        return None
    return People(match.end(), quantity, _name_of(match, text))


def _name_of(match: re.Match[str], text: str) -> str:
    """The words for people in a match, without the quantity."""
    named = (match["people"] or "reviewers").lower()
    several = _are_several(text, match.end())
    singular = match["people"] is None and match["quantity"].lower().endswith(("one", "body"))
    one = (match["part"] if "/" not in match[0] else None) or match["count"]
    one_s = named.endswith("s") and (_is_one(one) or _is_one_s(text, match.end()))
    if (singular or one_s) and not several:
        # "One of the eight users is", "a minority dislikes it", but "one in three users report".
        named = named.removesuffix("s")
    elif match["one"] is None:
        return named
    article = "an" if named.startswith(("a", "e", "i", "o", "unh")) else "a"
    return f"{article} {named}"


def said_of(quantity: Quantity, people: str, behind: str = "") -> Quantity:
    """A quantity of those people, who may be a part of the reviewers."""
    return replace(quantity, of=part_of(people, behind, counted=quantity.count is not None))


def _is_one(number: str | None) -> bool:
    return number is not None and number_of(number) == 1


def _is_one_s(text: str, end: int) -> bool:
    """Whether the verb behind that offset is said of one: "a minority | dislikes it"."""
    verb = re.match(r" (?:\w+ly )?(\w+)", text[end : end + SEEN])
    return verb is not None and (verb[1] in {"is", "was", "has", "does"} or is_third(verb[1]))


def _are_several(text: str, end: int) -> bool:
    """Whether the verb behind that offset is said of several: "one in three | report it"."""
    verb = re.match(r" (?:\w+ly )?(\w+)", text[end : end + SEEN])
    return verb is not None and (verb[1] in {"are", "were", "have", "do"} or is_base(verb[1]))


def _of_things(text: str, end: int) -> bool:
    """Whether "no one" before that offset goes with a thing: "no one size", "no one of them"."""
    if not text[:end].lower().endswith("no one"):
        return False
    following = tagged(text[end : end + SEEN])[:1]
    return any(
        word.tag in {"noun", "adj", "num"} or is_base(word.low) or word.low == "of"
        for word in following
    )


def after_frame(text: str) -> tuple[int, Quantity | None] | None:
    """Where the statement begins in a text that says who makes it; None where it does not.

    >>> after_frame("Some reviewers say that it leaks.")[0]
    24
    >>> after_frame("Some reviewers love it.") is None
    True
    """
    front = FRONT.match(text)
    begin = 0 if front is None else front.end()
    source = _SOURCE.match(text, begin)
    people = people_at(text, begin if source is None else source.end())
    if people is None:
        somebody = None if source is not None else _SOMEBODY.match(text, begin)
        if somebody is None:
            return None
        people = People(somebody.end(), None, "somebody")
    if source is not None:
        comma = re.match(r", *", text[people.end :])
        return None if comma is None else (people.end + comma.end(), people.quantity)
    frame = _FRAME.match(text, people.end)
    if frame is None:
        return None
    rest = text[frame.end() :]
    place = frame.end() + len(rest) - len(rest.lstrip())
    sure = frame["that"] is not None
    return (place, people.quantity) if sure or _is_clause(rest) else None


def _is_clause(text: str) -> bool:
    """Whether a text begins with a subject and its verb, and not with an object."""
    subject = False
    for token in islice(tagged(text[: 10 * SEEN]), SEEN):
        if token.tag in {"aux", "verb"}:
            return subject
        if token.tag == "pron" and "'" in token.low and token.low != "let's":
            return True  # "it's comfortable"
        if token.tag in {"conj", "sub", "rel", "to", "mark"}:
            return False
        subject = subject or token.tag not in {"adv", "neg"}
    return False
