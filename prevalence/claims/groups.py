"""Counts of people in other words: "most love it and | two complain", "out of 8 reviews, 5 say".

A number before a verb is taken for one before a noun ("the two leaks") unless there is a word for
people. So one is put there where the verb is what only people do, and nothing else can be meant.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prevalence.claims.amounts import LIMIT, NUMBER, WORDS, number_of
from prevalence.claims.clauses import CONTRASTS, is_finite
from prevalence.claims.english import retagged, tagged
from prevalence.claims.people import ADVERB, OTHERS_DO, PEOPLE, REPORT
from prevalence.claims.speakers import people_at
from prevalence.claims.words import is_base, is_past, is_past_only, is_third, word_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.claims.english import Token

__all__ = ["has_unread_share", "may_act", "plain_counts", "with_people"]

_NAMES = frozenset({"a minority", "many", "several", "a few"})
_SHARES = "|".join(
    words
    for name, words in WORDS
    if name in _NAMES or any(share in name for share in ("third", "quarter", "half"))
)
_ONLY_THEY = "slept|waited|paid|ordered|visited|tried|tasted|booked|purchased"
"""What people do who are named before."""
_GROUP = re.compile(
    rf"(?:(?:(?:the )?(?:other|remaining) |{LIMIT})?"
    rf"(?:(?P<part>{NUMBER})(?: (?:out of|of|in)(?: the)? | ?/ ?){NUMBER}"
    rf"|(?P<count>{NUMBER})|(?P<share>\d{{1,3}}(?:\.\d{{1,3}})? ?(?:%|percent|per cent)))"
    rf"|(?P<words>{_SHARES}|(?:the|an?) (?:\w+ )?(?:majority|minority)|the rest))"
    rf"(?= {ADVERB}(?:(?P<verb>{REPORT}|{OTHERS_DO})|(?P<did>{_ONLY_THEY}))\b)",
    re.IGNORECASE | re.ASCII,
)
"""A number, and behind it what only people do."""
_ACTS = re.compile(rf"{NUMBER} {ADVERB}(?:{REPORT}|{OTHERS_DO})\b", re.IGNORECASE | re.ASCII)
_BARE = word_set("few many several various multiple numerous countless")
"""Words that no "of" follows before people."""
_FIRST = word_set("another second")
"""Words behind which "a third" is one more."""
_JOINTS = CONTRASTS | {"and", "but", "yet"}
_MARKS = frozenset([",", ";", ":", "—", "–"])
_SEEN = 14
"""Words that are looked at for a group and its verb."""
_OBJECT = frozenset({
    "det", "poss", "obj", "pron", "prep", "to", "adv", "neg", "rel", "sub", "num", "mark", "conj",
})  # fmt: skip
"""What may follow a verb, and no noun that the verb's form would describe."""


_MANY = r"all|almost all|most|half|many|several|some|a few|few|none|\d{1,3}(?:\.\d{1,3})? ?%"
_OUT_OF = re.compile(
    rf"(?:^|(?<=[:;,] ))(?:out )?of (?P<whole>(?:(?:the|all|these) )*(?:{NUMBER} )?{PEOPLE}),"
    rf" (?P<part>(?:{LIMIT})?{NUMBER}|{_MANY})"
    rf"(?= {ADVERB}(?:{REPORT}|{OTHERS_DO}|ha(?:d|s|ve)|got|did|were|was|are|is|would|could)\b)",
    re.IGNORECASE | re.ASCII,
)
_OF = re.compile(
    rf"\b(?P<part>{NUMBER}) \((?P<of>(?:out )?of (?:the )?{NUMBER})\)(?= \w)", re.I | re.ASCII
)
_PEOPLE_OF = re.compile(
    rf"\b(?P<part>{NUMBER}) (?P<who>{PEOPLE}) out of (?:the |every )?(?P<whole>{NUMBER})(?= \w)",
    re.IGNORECASE | re.ASCII,
)
"""A whole behind people: "three guests out of ten"."""
_SPAN = re.compile(
    rf"\b(?:between (?P<from>{NUMBER}) ?%? and (?P<to>{NUMBER}(?: ?%)?)"
    rf"|(?P<least>{NUMBER}) ?%? ?(?P<dash>(?<= )[–—](?= )|[—‑]) ?(?P<most>{NUMBER}))"
    rf"(?= ?%|(?<=%) | per ?cent\b| (?:of (?:the |these |our )?)?{PEOPLE})",
    re.IGNORECASE | re.ASCII,
)
"""A range of people or of a share."""
_NOT_ALL = re.compile(
    r"\b(?P<some>most|many|some|several|half),? (?:but|though|although) (?:certainly |definitely )?"
    r"not (?:quite )?(?:all|most|every(?:one|body)),?(?= \w)",
    re.IGNORECASE,
)


def plain_counts(text: str) -> str:
    """A text of the same length, with its counts of people in words that :func:`people_at` reads.

    >>> " ".join(plain_counts("Out of 8 reviews, 5 mention leaks.").split())
    '5 of 8 reviews mention leaks.'
    >>> " ".join(plain_counts("Two (of 8) users and most, but not all, guests").split())
    'Two of 8 users and most guests'
    """
    said = _OUT_OF.sub(lambda at: f"{at['part']} of {at['whole']}".ljust(len(at[0])), text)
    said = _OF.sub(lambda at: f"{at['part']} {at['of']}".ljust(len(at[0])), said)
    said = _PEOPLE_OF.sub(_part_of_people, said)
    said = _SPAN.sub(_span, said)
    return _NOT_ALL.sub(lambda at: at["some"].ljust(len(at[0])), said)


def _part_of_people(match: re.Match[str]) -> str:
    """From "three guests out of ten": "three of ten guests"; rooms may follow "out of ten"."""
    behind = tagged(match.string[match.end() : match.end() + _AHEAD])
    people = match["who"]
    if match["one"] is not None:
        people = "people" if people.lower().endswith("person") else f"{people}s"
    said = f"{match['part']} of {match['whole']} {people}".ljust(len(match[0]))
    whole = behind[0].tag in {"verb", "aux", "base", "neg", "adv"} and len(said) == len(match[0])
    return said if whole else match[0]


_AHEAD = 40
"""Characters that are looked at to find out whether a verb follows."""


def _span(match: re.Match[str]) -> str:
    """A range without "and" or a dash, which would hold clauses apart."""
    if match["dash"]:
        return match[0].replace(match["dash"], "-")
    return f"{match['from']} to {match['to']}".ljust(len(match[0]))


_SHARE = re.compile(
    rf"(?:[,;] (?:and |but |while |whereas )?|\b(?:but|while|whereas) )(?:{LIMIT})?"
    rf"\d{{1,3}}(?:\.\d{{1,3}})? ?% (?=\w)(?!{ADVERB}(?:{REPORT}|{OTHERS_DO})\b)",
    re.IGNORECASE | re.ASCII,
)
"""A share of people in a further clause, before what not only people do."""


def has_unread_share(text: str) -> bool:
    """Whether a share in a further clause does what things may do, too: "and 10% | bring dogs"."""
    following = (tagged(text[at.end() : at.end() + _AHEAD])[0] for at in _SHARE.finditer(text))
    return any(is_base(word.low) and word.tag != "adj" for word in following)


def may_act(words: Sequence[Token]) -> bool:
    """Whether what follows a number may be what so many do: "two | got wet", "one | left".

    >>> from prevalence.claims.english import tagged
    >>> may_act(tagged("left early")), may_act(tagged("used towels"))
    (True, False)
    """
    low = words[0].low if words else ""
    after = words[1].tag if len(words) > 1 else "mark"
    return is_past_only(low) or (is_past(low) and after not in {"noun", "adj", "ing"})


def with_people(words: list[Token]) -> list[Token]:
    """The words with "reviewers" behind each number that stands for people; else the same list.

    >>> from prevalence.claims.english import tagged
    >>> def named(text): return " ".join(word.text for word in with_people(tagged(text)))
    >>> named("Most love the pool and two complain of noise")
    'Most love the pool and two reviewers complain of noise'
    >>> named("It has a pool and two loved bars")
    'It has a pool and two loved bars'
    """
    found, place, put = words, 1, False
    while place < len(found):
        size = _group(found, place) if _begins(found, place) else None
        named = None if size is None else _named(found, place, size)
        if named is not None:
            found, put = named, True
        place += 1
    size = _group(found, 0) if put else None
    first = None if size is None else _named(found, 0, size)
    return first or found


def _begins(words: list[Token], place: int) -> bool:
    """Whether a clause may begin there: not within "reviewers 3 and 5"."""
    joint = words[place - 1]
    if joint.low not in _JOINTS and joint.text not in _MARKS:
        return False
    before = words[place - 2] if place > 1 else joint
    listed = before.tag == "num" and before.text.isdigit() == words[place].text.isdigit()
    return not listed


def _group(words: list[Token], place: int) -> int | None:
    """How many words there are a number of people; None where they are no such number."""
    text = " ".join(word.text for word in words[place : place + _SEEN])
    match = _GROUP.match(text)
    if match is None:
        return None
    if match["did"] is not None and not _follows_people(words, place):
        return None
    verb = (match["verb"] or match["did"]).lower().split()[0]
    one = match["count"] is not None and number_of(match["count"]) == 1
    single = match["part"] is not None and number_of(match["part"]) == 1
    agrees = not is_base(verb) if one else single or match["words"] or not is_third(verb)
    return len(match[0].split()) if agrees else None


def _named(words: list[Token], place: int, size: int) -> list[Token] | None:
    """The words with people named behind a number; None where it may be of things."""
    end = place + size
    third = [word.low for word in words[place:end]] == ["a", "third"]
    third = third and any(word.low in _FIRST for word in words[:place])  # "one, another, a third"
    one = third or (size == 1 and words[place].low in {"one", "1"})
    share = not third and (words[end - 1].tag != "num" or words[end - 1].text.endswith("%"))
    people = [words[end].reworded("reviewer" if one else "reviewers", "noun")]
    share = share and words[end - 1].low not in _BARE
    people = [words[end].reworded("of", "prep"), *people] if share else people
    found = retagged([*words[:end], *people, *words[end:]])
    verb = end + len(people)
    while found[verb].tag in {"adv", "neg"} and verb + 2 < len(found):
        verb += 1
    if found[verb].tag not in {"verb", "aux"}:
        return None
    verb += found[verb].tag == "aux" and found[verb + 1 : verb + 2] != []
    after = found[verb + 1 : verb + 2]
    if not after or after[0].tag in _OBJECT:
        return found
    return found if _is_alone(found, verb) and _is_set_apart(words, place) else None


def _is_alone(words: list[Token], verb: int) -> bool:
    """Whether no other verb follows in its clause: not "two noted drawbacks | are"."""
    place = verb + 1
    while place < len(words) and words[place].tag not in {"mark", "conj", "sub", "rel"}:
        if is_finite(words, place):
            return False
        place += 1
    return True


def _is_set_apart(words: list[Token], place: int) -> bool:
    """Whether a contrast or other people stand before, so that a number may be of people."""
    if not place:
        return True  # asked only where another group follows
    contrast = words[place - 1].low in _JOINTS - {"and"} or words[place - 1].text == ";"
    return contrast or _follows_people(words, place)


def _follows_people(words: list[Token], place: int) -> bool:
    """Whether an earlier clause begins with people, or with a number that stands for them."""
    begins = [at for at in range(place) if not at or words[at - 1].tag in {"mark", "conj"}]
    texts = [" ".join(word.text for word in words[at : at + _SEEN]) for at in begins]
    return any(people_at(text) is not None or _ACTS.match(text) for text in texts)
