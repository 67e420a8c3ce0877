"""What nouns are said to be by their adjectives: "kind, patient staff" says two things.

A claim that only describes ("Great food", "many appreciate the kind staff", "slow service is a
common complaint") becomes one for each noun and adjective. What names a thing to say more of it
("friendly staff make it a good choice") stays.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from prevalence.claims.clauses import find_core, head_of
from prevalence.claims.drafts import Draft, plain_text, words_from
from prevalence.claims.english import has_negation
from prevalence.claims.frames import by_people, finders_in
from prevalence.claims.reports import listed_in_report, trouble, verdict
from prevalence.claims.small_clauses import small_clause
from prevalence.claims.words import ADJECTIVES, be_after, is_plural, singular_verb, word_set

if TYPE_CHECKING:
    from prevalence.claims.amounts import Quantity
    from prevalence.claims.clauses import Core
    from prevalence.claims.english import Token
    from prevalence.claims.speakers import People

__all__ = ["EMPTY", "Described", "described", "descriptions_in", "says"]


class Described(NamedTuple):
    """A noun and what it is said to be.

    Attributes:
        adjectives: each with its adverbs, and the last with what follows ("great for groups"); none
            for a bare noun.
        words: the noun, without its determiner and adjectives.
        tail: a phrase behind it: "on weekends".
        whole: all its words as they stand.
    """

    adjectives: list[list[Token]]
    words: list[Token]
    tail: list[Token]
    whole: list[Token]


_CLASSIFYING = word_set("""
main special general other overall own same only first last next whole entire single double extra
different various certain particular specific additional potential typical key common usual
regular current past future new old daily weekly alive asleep awake aware able willing unwilling
glad fond sorry sure wary organic vegan frozen fried electric wooden central square round red blue
green yellow black white brown grey natural seasoned multiple frequent constant occasional repeated
numerous top better best bigger smaller larger longer shorter cheaper faster slower worst worse
worth missing lost late early favorite possible impossible available complete true real right wrong
open free full half happy little standard original premium similar identical total sudden
personal individual older younger local live hidden fake giant limited absent mean well packed
elastic
""")
"""Adjectives that say which thing it is, or make another of it: "the main dish", "free parking"."""
_ONE_THING = frozenset({
    ("fast", "food"), ("hot", "dog"), ("hot", "dogs"), ("hot", "pot"), ("hot", "chocolate"),
    ("hot", "tub"), ("hot", "water"), ("cold", "brew"), ("cold", "cuts"), ("dark", "chocolate"),
    ("soft", "drink"), ("soft", "drinks"), ("small", "plates"), ("high", "chair"),
    ("high", "chairs"), ("big", "fan"), ("big", "fans"), ("sweet", "potato"), ("sour", "cream"),
    ("sweet", "tea"), ("fine", "dining"), ("good", "luck"), ("hard", "time"), ("dry", "cleaning"),
    ("soft", "serve"), ("sticky", "rice"), ("wet", "food"), ("dry", "food"), ("short", "rib"),
    ("light", "bleed"), ("light", "leak"), ("light", "leaks"), ("dark", "mode"), ("light", "mode"),
    ("dark", "theme"), ("dark", "themes"), ("quiet", "mode"), ("hard", "drive"), ("hard", "case"),
    ("smart", "home"), ("smart", "lock"), ("smart", "watch"), ("quick", "start"),
    ("deep", "dish"), ("short", "ribs"), ("cold", "water"), ("dry", "hair"), ("thin", "hair"),
})  # fmt: skip
"""Adjective and noun that are one thing."""
EMPTY = word_set("""
time times job lot lots way ways thing things bit one ones number amount deal fan fans luck
experience experiences encounter encounters visit visits idea jobs day days night nights word words
people person everything something anything nothing kind sort type part side sides bargain steal
issue issues problem problems trouble troubles flaw flaws complaint complaints concern concerns bug
bugs glitch glitches error errors defect defects difficulty difficulties quibble quibbles gripe
gripes
""")
"""Nouns of which little is said by saying what they are like: "a great time", "minor issues"."""
_DESCRIBING = re.compile(
    r"\w*(?:ful|less|ous|[ai]ble|-looking|-tasting|-smelling|-free|-friendly)$"
    r"|(?:over|under|un)\w+ed$|well-\w+$"
)
"""Words in no list that say what something is like: "overcooked", "well-lit"."""
_DOING = word_set("entertaining engaging soothing tempting rewarding uplifting underwhelming")
"""The same in -ing."""
_JOINED = word_set(", and & plus")
_BEHIND = word_set("in at on for during after before from")
"""Prepositions whose phrase may stand behind what a noun is: "the waits are long on weekends"."""
_DETERMINERS = word_set("the its their his her our your a an some this these those")
_LACKING = word_set("no zero")
"""What begins a noun that adjectives before it are not of: "easy, clean, no ads"."""
_NAMING = frozenset({"det", "poss", "adj", "noun"})
_SEEMING = word_set("""
looking sounding smelling tasting feeling running moving lasting fitting acting growing wearing
""")
"""What an adjective before is the manner of, and not what is said of it: "cheap looking"."""


def descriptions_in(words: list[Token]) -> list[Described] | None:
    """The nouns of a list such as "clean rooms and a kind, patient staff"; None if it is none."""
    found: list[Described] = []
    pending: list[list[Token]] = []
    begin = None
    parts = _parts(words)
    for place, part in parts:
        noun = _noun(part)
        if noun is None or (pending and part[0].low in _DETERMINERS | _LACKING):
            return None
        begin = place if begin is None else begin
        if noun.words:
            whole = words[begin : place + len(part)]
            found.append(noun._replace(adjectives=[*pending, *noun.adjectives], whole=whole))
            pending, begin = [], None
        elif found and place == parts[-1][0] and words[place - 1].low == "," and not pending:
            last = found[-1]  # "an inviting room, great for a date"
            found[-1] = last._replace(adjectives=[*last.adjectives, part])
        elif not noun.tail:
            pending += noun.adjectives
        else:
            return None
    listed = any(word.low in {"and", "&", "plus"} or _has(words, at)
                 for at, word in enumerate(words))  # fmt: skip
    listed = listed or all(
        noun.adjectives and noun.whole[0].low not in _DETERMINERS for noun in found
    )
    if pending or not found or (len(found) > 1 and not listed):
        return None
    clear = all(not noun.tail or (noun is found[-1] and not noun.adjectives) for noun in found)
    return _shared(found) if clear or len(found) == 1 else None


def _shared(found: list[Described]) -> list[Described]:
    """The nouns, a bare one with the adjectives of that before: "dirty tables and floors"."""
    for at in range(1, len(found)):
        noun, before = found[at], found[at - 1]
        bare = noun.whole == noun.words and len(noun.words) <= 2
        if bare and all(word.tag == "noun" for word in noun.words):
            found[at] = noun._replace(adjectives=before.adjectives)
    return found


def _parts(words: list[Token]) -> list[tuple[int, list[Token]]]:
    """What commas and "and" hold apart, with the place of each part."""
    found: list[tuple[int, list[Token]]] = []
    begin = 0
    for at in range(len(words) + 1):
        if at == len(words) or words[at].low in _JOINED or _has(words, at):
            if at > begin:
                found.append((begin, words[begin:at]))
            begin = at + 1
    return found


def _has(words: list[Token], at: int) -> bool:
    """Whether "with" stands there before what is described: "a spot with | uneven cooking"."""
    begin = at + 1
    while begin < len(words) and words[begin].low in {"a", "an", "some"}:
        begin += 1
    behind = at > 1 and words[at].low == "with" and words[at - 1].tag == "noun"
    behind = behind and any(word.tag == "adj" for word in words[max(at - 4, 0) : at - 1])
    return behind and begin + 1 < len(words) and _describes(words, begin)


def _noun(part: list[Token]) -> Described | None:
    """A part of a list: adjectives, or a noun with its adjectives; None for anything else."""
    begin = 0
    while begin < len(part) and part[begin].low in _DETERMINERS:
        begin += 1
    adjectives, at = _adjectives(part, begin)
    if part[0].low == "no":
        adjectives, at = [], 1
    if len(adjectives) > 1 and adjectives[-1][0].low == "light" and at == len(part):
        adjectives, at = adjectives[:-1], at - 1  # "warm light": a noun
    end = next((k for k in range(at, len(part)) if part[k].tag == "prep"), len(part))
    noun, tail = _as_nouns(part, at, end), part[end:]
    if not noun:
        behind = not tail or tail[0].low in _BEHIND
        return Described(adjectives, [], tail, part) if adjectives and behind else None
    owned = any(word.low.endswith(("'s", "s'")) for word in noun)
    if owned or noun[-1].tag != "noun" or any(word.tag not in {"noun", "adj"} for word in noun):
        return None
    if tail and tail[0].low == "of" and all(word.tag in _NAMING | {"prep"} for word in tail):
        noun, tail = [*noun, *tail], []
    plain = all(word.tag in _NAMING - {"adj"} | {"num"} for word in tail[1:])
    if tail and (tail[0].low not in _BEHIND or len(tail) < 2 or not plain):
        return None
    return Described([] if head_of(noun).low in EMPTY else adjectives, noun, tail, part)


def _adjectives(part: list[Token], begin: int) -> tuple[list[list[Token]], int]:
    """The adjectives that stand there, each with its adverbs, and the place behind them."""
    found: list[list[Token]] = []
    at = begin
    while at < len(part):
        after = part[at + 1].low if at + 1 < len(part) else ""
        if _describes(part, at) and (part[at].low, after) not in _ONE_THING:
            found.append(part[begin : at + 1])
            begin = at + 1
        elif part[at].tag != "adv":
            break
        at += 1
    return found, begin


def _as_nouns(part: list[Token], begin: int, end: int) -> list[Token]:
    """The words there; behind an adjective the last is no verb: "long lines"."""
    noun = part[begin:end]
    if noun and noun[-1].low in _SEEMING and len(noun) == 1:
        return noun
    if (
        noun
        and noun[-1].tag in {"verb", "base", "ing", "adj"}
        and end > 1
        and part[end - 2].tag == "adj"
    ):
        noun = [*noun[:-1], noun[-1]._replace(tag="noun")]
    return noun


def _describes(part: list[Token], at: int) -> bool:
    """Whether a word says what a noun is like, some with their adverb: "perfectly cooked"."""
    word = part[at]
    done = word.tag in {"adj", "verb"} and word.low.endswith(("ed", "made", "built"))
    if done and at and part[at - 1].tag == "adv":
        return True
    known = word.low in ADJECTIVES or _DESCRIBING.match(word.low) is not None
    told = (word.tag == "adj" and known) or word.low in _DOING
    after = part[at + 1] if at + 1 < len(part) else None
    if after is not None and word.low == "even" and after.tag == "prep":
        return False  # "even at noon"
    if after is not None and word.low in {"slow", "deep", "fresh"} and after.low.endswith("ed"):
        return False  # "slow cooked"
    name = word.text[0].isupper() and at + 1 < len(part) and part[at + 1].text[0].isupper()
    return told and word.low not in _CLASSIFYING and word.text[1:].islower() and not name


def _named(noun: Described) -> list[Token]:
    """A noun with "the" before it."""
    first, words = noun.whole[0], noun.words
    if words[0] is first and first.text[1:].islower():
        words = [first.reworded(first.low), *words[1:]]
    return [first.reworded("the", "det"), *words]


def says(noun: Described, adjective: list[Token]) -> list[Token]:
    """What an adjective says of a noun, as a clause: "the staff is kind"."""
    head = head_of(noun.words)
    said = [adjective[0].reworded(adjective[0].low), *adjective[1:]]
    return [*_named(noun), head.reworded(be_after(head.low), "aux"), *said, *noun.tail]


_MANNER = r"(?:(?!hardly|barely|scarcely|rarely)(?:also|often|\w+ly) ){0,2}"
_OF_PEOPLE = (
    r"appreciate[sd]?|enjoy(?:s|ed)?|praise[sd]?|commend(?:s|ed)?|compliment(?:s|ed)?"
    r"|applaud(?:s|ed)?|criticiz(?:e|es|ed)|criticis(?:e|es|ed)|lament(?:s|ed)?"
    r"|complain(?:s|ed)? (?:of|about)|grumble[sd]? about|rave[sd]? about"
    r"|(?:speaks?|spoke) (?:highly|warmly) of|(?:is|are|was|were) (?:happy|pleased|delighted"
    r"|thrilled|impressed|frustrated|disappointed|bothered|annoyed|put off) (?:with|by)"
)
"""What only people do with a thing."""
_TELLS = re.compile(
    rf"{_MANNER}(?:{_OF_PEOPLE}|love[sd]?|like[sd]?|admire[sd]?|value[sd]?|celebrate[sd]?"
    r"|encounter(?:s|ed)?|report(?:s|ed)?|highlight(?:s|ed)?|mention(?:s|ed)?|note[sd]?|cite[sd]?"
    r"|dislike[sd]?|experience[sd]?"
    r"|finds?|found|describe[sd]?|point(?:s|ed)? (?:to|out)|(?:brings?|brought) up"
    r"|(?:comment|remark)(?:s|ed)? on) ",
    re.IGNORECASE,
)
"""What people do with a thing that they describe: "many | appreciate", "one | complained of"."""
_ONLY_PEOPLE = re.compile(rf"{_MANNER}(?:{_OF_PEOPLE}) ", re.IGNORECASE)
_TIMES = r"(?:also |often |widely |frequently |repeatedly |commonly |generally |particularly ){0,2}"
_SAYS_NO_MORE = re.compile(
    r"(?:keeps?|kept) (?:people|guests|customers|diners|visitors|clients|regulars) coming back"
    r"|(?:earn|draw|win|get|receive|attract|garner)(?:s|ed)? (?:(?:frequent|strong|high|much|some"
    r"|many|regular|repeated|special|particular) )?(?:praise|compliments|applause|approval|fans"
    r"|complaints|criticism|mentions?|kudos)"
    r"|(?:stands?|stood) out|(?:comes?|came) up (?:often|repeatedly|frequently|again and again)"
    rf"|(?:is|are|was|were) {_TIMES}(?:mentioned|praised|appreciated|noted|reported|cited|liked"
    r"|highlighted|criticized|criticised|loved|valued|commended)(?: (?:too|often|repeatedly))?"
    r"|(?:is|are|was|were) (?:(?:a|an|another|the) )?(?:(?:most )?(?:common|frequent|recurring"
    r"|repeated|big|major|clear|definite) |biggest |main )?(?:complaints?|issues?|themes?"
    r"|highlights?|plus|strengths?|weakness|weaknesses|drawbacks?|concerns?|downsides?|problems?"
    r"|criticisms?|draws?|perks?)",
    re.IGNORECASE,
)
"""What a sentence goes on with that says nothing more of its subject."""


def described(draft: Draft) -> list[Draft]:
    """A claim for each thing that a claim says by an adjective; itself where there is none."""
    if draft.lead or not draft.words:
        return [draft]
    people = finders_in(plain_text(draft.words))
    graded = verdict(draft, people)
    if graded is not None:
        return [graded]
    troubled = None if people is None else trouble(draft, people.end, people.quantity)
    if troubled is None:
        return _described(draft, people)
    rest = _behind_report(troubled.words)
    return _listed(troubled, rest, quantity=troubled.quantity) if rest else [troubled]


def _described(draft: Draft, people: People | None) -> list[Draft]:
    words, match = draft.words, None
    core, text = find_core(words), plain_text(words)
    if people is not None:
        match = _TELLS.match(text, people.end + 1)
    elif core is not None and core.first and _is_somebody(words[: core.first]):
        match = _ONLY_PEOPLE.match(text, len(plain_text(words[: core.first])) + 1)
    begin = listed_in_report(text) if match is None else match.end()
    found = [draft]
    if begin is not None:
        rest = words_from(words, begin)
        quantity = None if people is None else people.quantity
        found = _listed(draft, rest, before=words[: len(words) - len(rest)], quantity=quantity)
    if people is not None and len(found) == 1 and found[0] is draft:
        return _found_both(draft, words_from(words, people.end), people.quantity)
    if begin is not None:
        return found
    if core is None or (core.main and all(word.tag == "adv" for word in words[: core.main])):
        return _listed(draft, words)  # "perfectly | cooked steak": no verb
    end, quantity = by_people(words) or (0, None)
    if core.first and _SAYS_NO_MORE.fullmatch(plain_text(words[core.first : end])):
        return _listed(draft, words[: core.first], after=words[core.first :], quantity=quantity)
    return _each_adjective(draft, words, core)


def _found_both(draft: Draft, words: list[Token], quantity: Quantity | None) -> list[Draft]:
    """From "many | describe the owners and staff as friendly": both are friendly."""
    at = next((at for at, word in enumerate(words) if word.low == "and"), 0)
    both = small_clause([*words[:1], *words[at + 1 :]]) if at > 1 else None
    if both is None or any(word.tag not in _NAMING for word in words[1:at]):
        return [draft]
    be = next(at for at, word in enumerate(both) if word.tag == "aux")
    first = small_clause([*words[:at], *both[be + 1 :]])
    made = replace(draft, changed=True, people=(), quantity=quantity)
    return [replace(made, words=one) for one in (first, both) if one] if first else [draft]


def _behind_report(words: list[Token]) -> list[Token]:
    """What stands behind "there are complaints about", if it is described there."""
    at = next((at for at, word in enumerate(words[:8]) if word.low in _REGARDING), len(words))
    nouns = descriptions_in(words[at + 1 :]) if at + 1 < len(words) else None
    return words[at + 1 :] if nouns and all(noun.adjectives for noun in nouns) else []


_REGARDING = word_set("about with over regarding")
_NOBODY = word_set("nobody none no few neither")


def _is_somebody(subject: list[Token]) -> bool:
    """Whether a subject may be people, and not nobody: "a well-travelled eater"."""
    named = all(word.tag in _NAMING or word.low == "and" for word in subject)
    return named and all(word.low not in _NOBODY for word in subject)


def _listed(
    draft: Draft,
    words: list[Token],
    before: list[Token] | None = None,
    after: list[Token] | None = None,
    quantity: Quantity | None = None,
) -> list[Draft]:
    """A claim for each description in a list of nouns, and one for each noun without any.

    Args:
        draft: the claim.
        words: the list.
        before: what it has before the list.
        after: what it has behind it.
        quantity: how many people describe it so.
    """
    nouns = descriptions_in(words)
    if not nouns or not any(noun.adjectives for noun in nouns):
        return [draft] if after else _related(draft, words, quantity)
    found = []
    for noun in nouns:
        made = replace(
            draft, start=noun.whole[0].start, end=noun.whole[-1].end, changed=True, people=()
        )
        if not noun.adjectives:
            verb = (after or [])[:1]
            if verb and not is_plural(head_of(noun.words).low):
                verb = [verb[0].reworded(singular_verb(verb[0].low))]
            kept = [*(before or []), *noun.whole, *verb, *(after or [])[1:]]
            found.append(replace(made, words=kept))
        counted = quantity or draft.quantity
        found += [replace(made, words=says(noun, one), quantity=counted) for one in noun.adjectives]
    return found


def _related(draft: Draft, words: list[Token], quantity: Quantity | None) -> list[Draft]:
    """From "kind staff who help": the staff is kind, the staff help."""
    at = next((at for at, word in enumerate(words) if word.low in {"who", "that", "which"}), 0)
    nouns = descriptions_in(words[:at])
    core = find_core(words[at + 1 :]) if at else None
    if nouns is None or len(nouns) > 1 or nouns[0].tail or core is None or core.first > 0:
        return [draft]
    begin = nouns[0].whole[0].start
    made = replace(draft, start=begin, changed=True, people=(), quantity=quantity or draft.quantity)
    told = [says(nouns[0], one) for one in nouns[0].adjectives]
    told.append([*_named(nouns[0]), *words[at + 1 :]])
    return [replace(made, words=one) for one in told]


_OPEN = word_set("not never than if unless or neither nor without no wish want need")


def _each_adjective(draft: Draft, words: list[Token], core: Core) -> list[Draft]:
    """From "it is a quiet, clean place to stay": it is a quiet place, it is a clean place."""
    places = range(core.main + 1, len(words) - 3)
    at = next((at for at in places if words[at].low in {"a", "an"}), 0)
    if not at or has_negation(words) or any(word.low in _OPEN for word in words[:at]):
        return [draft]
    adjectives: list[list[Token]] = []
    begin = at + 1
    while begin < len(words):
        found, end = _adjectives(words[begin:], 0)
        if len(found) != 1:
            return [draft]
        adjectives += found
        begin += end
        if begin + 1 >= len(words) or words[begin].low not in {",", "and"}:
            break
        begin += 1
    rest = words[begin:]
    if len(adjectives) < 2 or not rest or rest[0].tag != "noun":
        return [draft]
    return [
        replace(draft, words=[*words[:at], _article(words[at], one[0]), *one, *rest], changed=True)
        for one in adjectives
    ]


_VOWEL = re.compile(r"(?!u(?:se|ni|su))[aeiou]|hon|hour")


def _article(word: Token, before: Token) -> Token:
    """The article that goes with the word behind it."""
    return word.reworded("an" if _VOWEL.match(before.low) else "a")
