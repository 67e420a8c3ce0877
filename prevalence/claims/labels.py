"""The claims of a sentence, and of what stands behind a label: "Kind hosts: they help"."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from prevalence.claims.clauses import ACTIVE, ENDS, Piece, find_core, pieces_of, shape_of
from prevalence.claims.descriptions import EMPTY, Described, described, descriptions_in, says
from prevalence.claims.drafts import Draft, plain_text
from prevalence.claims.english import has_negation, retagged, tagged
from prevalence.claims.groups import with_people
from prevalence.claims.noun_lists import SHARED_NOUNS
from prevalence.claims.points import NAME_WORDS, apart, points_of
from prevalence.claims.reports import recurring, without_views
from prevalence.claims.rules import folded
from prevalence.claims.speakers import people_at
from prevalence.claims.words import (
    ADJECTIVES,
    COPULAS,
    be_after,
    is_base,
    is_past,
    is_past_only,
    is_plural,
    word_set,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.claims.english import Token

__all__ = ["MOST_WORDS", "drafts_of"]

MOST_WORDS = 200
"""Words and marks of the longest sentence that is cut; a longer one is a claim as it is."""

_LABEL = 6
"""Words of the longest label."""
_NEUTRAL = word_set("special general main other key common overall additional potential typical")
"""Adjectives of labels that say nothing of the thing."""


def drafts_of(text: str) -> list[Draft]:
    """The claims of a sentence; none where no rule is safe or the sentence is too long.

    A label that praises, blames or denies is a claim; any other is left out before a clause.
    """
    words = tagged(text) if len(text) <= 20 * MOST_WORDS else []
    return _drafts(text, with_people(words)) if 0 < len(words) <= MOST_WORDS else []


def _drafts(text: str, words: list[Token]) -> list[Draft]:
    """The claims of words of a sentence."""
    words = _without_remark(_with_and(words))
    end = _label_end(words)
    points = points_of(words, end)
    if points[0] is not words:
        found = [draft for point in points for draft in _drafts(text, point)]
        return [replace(draft, changed=True) for draft in found]
    things = None if end else recurring(text)
    if things is not None:
        listed = [word for word in words if things[0] <= word.start < things[1]]
        told = any(noun.adjectives for noun in descriptions_in(listed) or [])
        words, things = (listed, things) if told else (words, None)
    whole = Draft(_unended(words), 0, words[0].start, words[-1].end, changed=things is not None)
    said = words[-1].text != "?" and not end
    if said and find_core(whole.words) is None and (found := described(whole))[0] is not whole:
        return found
    found = _behind(text, words[: end - 1], retagged(words[end:])) if end else folded(text, words)
    if (said or end) and not found:
        found = [whole]
    return [one for draft in without_views(found) for one in described(draft)]


def _with_and(words: list[Token]) -> list[Token]:
    """The words with "and" in place of "&", but for names: "warm & clear", "Lee & Sons"."""
    found = list(words)
    for at in range(1, len(words) - 1):
        before, sign, after = words[at - 1 : at + 2]
        apart = before.end < sign.start and sign.end < after.start
        if sign.text == "&" and apart and not (before.text.istitle() and after.text.istitle()):
            found[at] = sign.reworded("and", "conj")
    return found if found == words else retagged(found)


def _without_remark(words: list[Token]) -> list[Token]:
    """The words without brackets at the end of a label: "Pace (mixed): it drags"."""
    begin = next((at for at, word in enumerate(words[:_LABEL]) if at and word.text in "(["), 0)
    end = next((at for at in range(begin, len(words) - 1) if words[at].text in ")]"), 0)
    apart = begin and end and words[end + 1].text == ":"
    return [*words[:begin], *words[end + 1 :]] if apart else words


def _unended(words: list[Token]) -> list[Token]:
    while len(words) > 1 and words[-1].text in ENDS:
        words = words[:-1]
    return words


def _label_end(words: Sequence[Token]) -> int:
    """Where a sentence goes on behind its label and colon; 0 without one.

    >>> _label_end(tagged("Kind hosts: they help")), _label_end(tagged("It is this: good"))
    (3, 0)
    """
    end = next((at for at, word in enumerate(words[: _LABEL + 1]) if word.text == ":"), 0)
    dashes = [at for at, word in enumerate(words) if word.text in {"–", "—"}]
    if not end and len(dashes) == 1 and dashes[0] <= NAME_WORDS:
        end = dashes[0]  # "Comfort – the seat is soft"
    rest = [word for word in words[end + 1 :] if word.tag != "mark"]
    core = find_core(words[:end])
    # "Repair costs", "order accuracy": nouns, though they could be verbs.
    pair = core is not None and end == 2 and words[1].tag == "verb"
    named = core is None or pair or end == 1 or (core.first == 0 and is_base(words[0].low))
    named = named or _SIDES.fullmatch(plain_text(words[:end])) is not None
    return end + 1 if end and rest and named else 0


def _behind(text: str, label: list[Token], rest: list[Token]) -> list[Draft]:
    """The claims behind a label; none where it is unclear what they are said of."""
    rest, name = _unended(rest), plain_text(label)
    sided, fitting = _SIDES.fullmatch(name), _FITS.fullmatch(name)
    unclear = not label or not pieces_of(rest) or (_is_gone(rest) and _judges(_named(label)))
    if unclear or sided or fitting:
        return _sided(text, rest) if sided else _fitting(label, rest) if fitting else []
    first, *others = pieces_of(rest)
    label = _named(label)
    judged = _judges(label)
    told = judged and label[0].low not in _NEUTRAL
    lacking = _denied(label)
    named = [Draft(lacking or label, 0, label[0].start, label[-1].end, changed=True)]
    named = named if told or lacking else []
    if all(word.tag != "mark" or word.text in "$€£" for word in first.words) and (
        found := _predicated(label, [first, *others])
    ):
        return [*named, *found]
    if all(find_core(piece.words) is None for piece in (first, *others)):
        general = len(label) == 1 and label[0].low in _GENERAL
        whole = Draft(rest, 0, rest[0].start, rest[-1].end)
        found = described(whole) if told or general else []
        return [*named, *found] if found and found[0] is not whole else []
    listed = shape_of(first.words) == "noun" and bool(others) and others[0].joint == "and"
    free = ("every", "there", "it") if _is_quality(label) else ("every", "there")
    pointed = rest[0].tag == "pron" and not rest[0].low.startswith(free)
    if pointed or not (listed or shape_of(first.words) == "clause"):
        return []
    found = folded(text, _with_name(label, rest))
    if all(find_core(draft.words, draft.lead) is None for draft in found):
        return []
    for draft in found:
        draft.changed = True
    return [*named, *found]


def _judges(label: list[Token]) -> bool:
    """Whether a label praises or blames by an adjective."""
    praise = any(noun.adjectives for noun in descriptions_in(label) or [])
    return praise or (shape_of(label) == "adjective" and any(w.tag == "adj" for w in label))


def _is_gone(words: Sequence[Token]) -> bool:
    """Whether words say that a thing is not there, whose adjective then names it.

    "Bright screen: missing" praises no screen.
    """
    lows = [word.low for word in words if word.tag != "adv"]
    return lows[:1] != [] and (
        lows[0] in _GONE or lows[:2] in (["not", "available"], ["not", "there"])
    )


_GONE = word_set("missing lacking absent unavailable gone needed wanted none removed discontinued")
_GENERAL = word_set("""
food service staff atmosphere ambiance ambience vibe price prices pricing value quality taste flavor
flavors drinks decor location team comfort fit design material build speed
""")
"""Labels that the nouns behind them say again, or need not."""


def _with_name(label: list[Token], words: list[Token]) -> list[Token]:
    """The words with a plural label in place of the one "them": "Charts: one user loves them"."""
    them = [at for at, word in enumerate(words) if word.low == "them"]
    things = [word for word in words if word.tag == "noun" and is_plural(word.low)]
    people = people_at(plain_text(words))
    own = people is None or len(things) > len([w for w in things if w.low in people.named.split()])
    plain = all(word.tag in {"noun", "adj"} for word in label) and is_plural(label[-1].low)
    if len(them) != 1 or own or not plain:
        return words
    at = them[0]
    first = label[0]
    low = first.text.lower() if first.text.istitle() else first.text
    name = [words[at].reworded("the", "det"), first.reworded(low), *label[1:]]
    return [*words[:at], *name, *words[at + 1 :]]


def _named(label: list[Token]) -> list[Token]:
    """A short label whose words are nouns where they could be verbs: "Sound", "Calls"."""
    if len(label) > NAME_WORDS:
        return label
    return [w._replace(tag="noun") if w.tag in {"verb", "base", "ing"} else w for w in label]


_NO_THING = word_set("""
doubt wonder surprise surprises matter way question problem worries thanks kidding joke exaggeration
brainer contest idea luck excuse offense deal means mention mentions complaint complaints regret
regrets one
""")
"""What "no" before them denies of nothing in particular: "no doubt", "no complaints"."""
_THINGS = frozenset({"adj", "noun", "ing", "num"})


def _denied(label: list[Token]) -> list[Token] | None:
    """What a label says that denies or lacks something, as a clause; None of any other.

    >>> [plain_text(_denied(tagged(label))) for label in ("No lift", "Not for kids", "Missing AC")]
    ['There is no lift', 'It is not for kids', 'The AC is missing']
    """
    first, rest = label[0], label[1:]
    things = list(takewhile(lambda word: word.tag in _THINGS, rest))
    if first.low in {"not", "nothing"} and rest:
        begin = 1 if rest[0].low == "recommended" or rest[0].tag == "adv" else 0
        fitting = [word.low for word in rest[begin:][:1]] == ["for"]
        fits = fitting and _is_named(rest[begin + 1 :])
        alone = plain_text(label).lower() in {"not recommended", "nothing special"}
        it = [first.reworded("It", "pron"), first.reworded("is", "aux")]
        return [*it, first.reworded(first.low), *rest] if alone or fits else None
    if first.low in {"lack", "absence"} and len(rest) > 1 and rest[0].low == "of":
        article = first.reworded("a" if first.low == "lack" else "an", "det")
        there = [first.reworded("There", "pron"), first.reworded("is", "aux"), article]
        of_thing = _is_named(rest[1:])
        return [*there, first.reworded(first.low, "noun"), *rest] if of_thing else None
    if not things or things[-1].tag in {"adj", "num"}:
        return None
    be = be_after(things[-1].low)
    if first.low in {"no", "zero"} and things[0].low not in _NO_THING:
        there = [first.reworded("There", "pron"), first.reworded(be, "aux")]
        no = first.reworded(first.low, "det")
        return [*there, no, *rest] if _is_named(rest) else None
    if first.low == "missing" and len(things) == len(rest):
        the = [] if be == "are" else [first.reworded("The", "det")]
        last = rest[-1]
        return [*the, *rest, last.reworded(be, "aux"), last.reworded("missing", "adj")]
    return None


def _is_named(words: Sequence[Token]) -> bool:
    """Whether words name a thing or people: "families", "parking on site"."""
    fits = {*_THINGS, "det", "poss", "prep", "conj"}
    named = all(word.tag in fits for word in words)
    return named and bool(words) and words[-1].tag in {"noun", "ing"}


def _predicated(label: list[Token], pieces: list[Piece]) -> list[Draft]:
    """From "Margaritas: strong and cheap, with salt": they are strong, are cheap, with salt.

    In "Sound: warm, rich, clear vocals" the vocals are clear.
    """
    nouns = descriptions_in(label)
    flat: list[Piece] = []
    for piece in pieces:  # "warm, clear vocals": behind a label they are of two things
        first, *more = apart(piece.words, ",")
        flat += [piece._replace(words=first), *(Piece("", True, [], part) for part in more)]
    pieces, begin = flat, flat[0].words
    denied = len(pieces) > 1 and has_negation(begin)
    if denied or (shape_of(begin) != "adjective" and not _was(begin)):
        return []
    if nouns is None or len(nouns) > 1 or nouns[0].tail or nouns[0].words[-1].low in EMPTY:
        return []
    found: list[Draft] = []
    for piece in pieces:
        start, end = piece.words[0].start, piece.words[-1].end
        shape = shape_of(piece.words)
        own = Draft(piece.words, 0, start, end, changed=True)
        if (shape == "adjective" or _was(piece.words)) and piece.joint in {"", "and", "but"}:
            found.append(replace(own, words=_said_of(nouns[0], piece.words)))
        elif found and (
            piece.words[0].tag == "prep"
            or piece.joint not in {"", "and", "but"}
            or (piece.joint and {word.tag for word in piece.words} == {"noun"})
        ):  # "at home | and work"
            last = found[-1]
            last.words, last.end = [*last.words, *piece.glue, *piece.words], end
        elif shape in {"clause", "noun"} and piece.joint in {"", "and", "but"}:
            found.append(own)
        else:
            return []
    return found


def _said_of(noun: Described, words: list[Token]) -> list[Token]:
    """What is said of a label: "the price is low", "the box arrived late".

    A quality is not what its adjectives are: of "Durability: sturdy", it is sturdy.
    """
    first = words[0].reworded(words[0].low)
    if first.tag == "verb" and (is_past_only(first.low) or first.low in COPULAS | ACTIVE):
        return [*says(noun, words)[: -len(words) - len(noun.tail) - 1], first, *words[1:]]
    done = words[-1].tag == "verb" and [word.tag for word in words[-2:-1]] == ["adv"]
    told = {word.low for word in words if word.tag == "adj" or word.low in ADJECTIVES}
    if _QUALITY.fullmatch(noun.words[-1].low) and (told or done) and not told & _GRADES:
        return [first.reworded("It", "pron"), first.reworded("is", "aux"), first, *words[1:]]
    return says(noun, words)


_QUALITY = re.compile(
    r"\w{2,}(?<!availa)(?<!visi)(?:bility)|\w{4,}(?<!busi)ness|comfort|versatility"
)
"""Nouns made of what something is said to be by itself: "durable", "soft"."""
_ASPECTS = word_set("design performance value fit size build usability")


def _is_quality(label: list[Token]) -> bool:
    """Whether a label names what "it" behind it has, and is not "it": "Durability: it lasts"."""
    alone = len(label) == 1 and label[0].low in _ASPECTS
    return alone or _QUALITY.fullmatch(label[-1].low) is not None


_GRADES = SHARED_NOUNS | word_set("""
high low decent impressive outstanding exceptional superior inferior fair limited questionable
average satisfactory adequate acceptable fantastic perfect remarkable mediocre horrible lacking
better best worse worst okay ok unmatched solid top minimal consistent inconsistent
""")
"""Adjectives of qualities themselves."""


def _was(words: list[Token]) -> bool:
    """Whether a past form says what was done to what is named: "Price: considered fair"."""
    first = next((word for word in words if word.tag != "adv"), words[0])
    done = first.tag == "verb" and is_past(first.low) and not is_base(first.low)
    return done and all(word.tag not in {"det", "poss", "obj", "pron"} for word in words)


_SIDES = re.compile(
    r"(?:(?:the|key|main|common|overall|biggest) )*(?:pros?|cons?|(?:dis)?likes|positives?"
    r"|negatives?|strengths?|weaknesse?s?|strong points?|weak points?|upsides?|downsides?"
    r"|highlights?|lowlights?|drawbacks?|perks|(?:dis)?advantages|praise|praised(?: for)?|loved"
    r"|complaints?|criticisms?|criticized(?: for)?|gripes?|issues|problems|concerns|good|bad|ugly"
    r"|not so (?:good|great)|less (?:good|great)|what (?:works|doesn't work|does not work)"
    r"|what (?:people|guests|customers|users|they) (?:like|love|dislike)|mentioned often"
    r"|(?:most|often|frequently) (?:mentioned|praised|criticized)"
    r"|verdict|bottom line|overall|summary|in short)"
    r"(?: (?:mentioned|noted|cited|reported|raised|highlighted) by (?:\w+ )?\w+)?",
    re.IGNORECASE,
)
"""Labels that name the side that the words behind them are on, or nothing."""


_FITS = re.compile(
    r"(?:(?:not|less|most|very) )?(?:best|good|great|ideal|perfect|excellent|suitable|suited"
    r"|recommended|worth it|(?:a )?(?:good|great|poor|bad) (?:fit|choice|pick|option)) for",
    re.IGNORECASE,
)


def _fitting(label: list[Token], rest: list[Token]) -> list[Draft]:
    """From "Best for: families, long trips": it is best for families, for long trips."""
    first = label[0]
    said = [first.reworded("It", "pron"), first.reworded("is", "aux"), first.reworded(first.low)]
    if label[-2].low in {"fit", "choice", "pick", "option"} and first.low != "a":
        said.insert(2, first.reworded("a", "det"))
    parts = apart(rest, ",;", last=True)
    if not all({word.tag for word in part} <= _NAMED and part[-1].tag == "noun" for part in parts):
        parts = [rest]
    return [
        Draft([*said, *label[1:], *part], 0, part[0].start, part[-1].end, changed=True)
        for part in parts
    ]


_NAMED = frozenset({"det", "poss", "adj", "noun", "num", "prep"})


_POINTS = frozenset({"adj", "noun", "verb", "det", "poss", "num"})
_AMOUNTS = word_set("plenty lots lack loads tons")


def _is_point(words: list[Token]) -> bool:
    """Whether a part of a list says something by itself: not "like a glove", "customers say"."""
    own = words[0].tag in _POINTS and words[0].low != "like"
    return own and people_at(plain_text(words)) is None


def _sided(text: str, rest: list[Token]) -> list[Draft]:
    """The claims of a list behind "Pros:", which has no noun to share: each of its own."""
    found: list[Draft] = []
    begin, *others = [piece.words for piece in pieces_of(rest)] or [rest]
    if shape_of(begin) == "clause":
        return folded(text, rest)
    verbs = any(word.tag == "to" for word in begin) and any(is_base(one[0].low) for one in others)
    if shape_of(begin) == "verb" and {word.tag for word in begin} <= {"verb", "adv"}:
        parts = apart(rest, ",;")  # "breaks easily, short cord", but not "keeps tea, soup warm"
        if not all(map(_is_point, parts)):
            parts = [rest]
    elif (
        verbs
        or shape_of(begin) == "verb"
        or has_negation(begin)
        or begin[0].low in {"no", "without"}
    ):
        parts = [rest]
    else:
        parts = apart(rest, ",;", last=True)
    for part in parts:
        words = retagged(part)
        whole = Draft(words, 0, words[0].start, words[-1].end, changed=True)
        if shape_of(words) in {"adverb", "prep", "sub", "rel", "that"} and found:
            last = found[-1]
            last.words = [*last.words, words[0].reworded(",", "mark"), *words]
            last.end = whole.end
        elif [word.low for word in words[1:2]] == ["of"] and words[0].low in _AMOUNTS:
            there = [words[0].reworded("There", "pron"), words[0].reworded("is", "aux")]
            found.append(
                replace(whole, words=[*there, words[0].reworded(words[0].low), *words[1:]])
            )
        elif shape_of(words) == "adjective" and described(whole)[0] is whole:
            first = words[0]
            it = [first.reworded("It", "pron"), first.reworded("is", "aux")]
            found.append(replace(whole, words=[*it, first.reworded(first.low), *words[1:]]))
        else:
            clauses = folded(text, words) if find_core(words) is not None else []
            found += clauses or [whole]
    for draft in found:
        draft.changed = True
    return found
