"""Lists of nouns: subjects that share a verb, objects that share one or a preposition."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from prevalence.claims.clauses import (
    BE,
    LISTS,
    Core,
    Piece,
    head_of,
    is_modified,
)
from prevalence.claims.small_clauses import FINDS, small_predicate
from prevalence.claims.words import is_base, is_plural, singular_verb, word_set

if TYPE_CHECKING:
    from prevalence.claims.english import Token

__all__ = [
    "SHARED_NOUNS",
    "completed",
    "finds_both",
    "is_ambiguous",
    "object_start",
    "of_one_weight",
    "owner_of",
    "shared_tail",
    "shared_verb",
]

SHARED_NOUNS = word_set("""
great good excellent amazing poor bad terrible awesome superb all any no
""")
_HOLDING = word_set("between except without despite unlike")
"""Prepositions that hold all that follows them together."""
_LIMITS = word_set("no not few only hardly barely")
"""Words that all the subjects after them mean: "no leaks or odors were reported"."""
_MUTUAL = word_set("similar different same together alike between both")


def object_start(words: list[Token], core: Core, right: list[Token]) -> int | None:
    """Where the noun stands that another one may take the place of.

    Args:
        words: a clause.
        core: its verbs.
        right: the other noun.

    Returns:
        The place after the verb or after a preposition, whichever is more like ``right``, or None.
    """
    starts = _nouns_begin(words, core)
    if not starts:
        return None
    like = {word.low for word in right if word.tag == "prep" and word.low != "of"}
    for nth, begin in enumerate(starts[1:], start=1):
        if words[begin - 1].low in like:
            return starts[nth - 1]
    named = {"det", "poss"}
    lists = starts[0] == core.main + 1 and words[core.main].low in LISTS
    if lists and words[starts[0]].tag == "ing" and right[0].tag in named:
        return starts[0]  # "include leaking at the base | and a burnt smell"
    nearest, widest = words[starts[-1]].tag in named, words[starts[0]].tag in named
    wide = right[0].tag == "det" and widest and not nearest and words[core.main].low not in BE
    return starts[0] if wide else starts[-1]


def finds_both(words: list[Token], core: Core, right: list[Token]) -> bool:
    """Whether what is said of the second noun is meant for both: "found soup | and rice dull"."""
    after = words[core.main + 1 :]
    said = small_predicate(right) is not None
    told = said or any(word.low == "as" for word in right)
    alone = small_predicate(after) is None and all(word.low != "as" for word in after)
    kept = said and all((a.tag, b.tag) != ("noun", "adj") for a, b in pairwise(after))
    return (words[core.main].low in FINDS and told and alone) or (
        words[core.main].low in _KEEPS and kept
    )


_KEEPS = word_set("keep keeps kept make makes made leave leaves left")


def is_ambiguous(words: list[Token], core: Core, begin: int, piece: Piece) -> bool:
    """Whether the other noun may belong to the noun before a preposition, or to a range.

    "Residue in the tank | and a poor drain" is not residue in a drain, unlike "in the tank | and
    the drain"; "from a leak | to a quick repair" is one thing.
    """
    after, right = words[core.main + 1 : begin], piece.words
    lows = [word.low for word in after]
    if "from" in lows and any(word.low == "to" for word in right):
        return True
    held = words[begin - 1].tag in {"prep", "to"} and words[begin - 1].low != "of"
    if begin <= core.main + 2 or not held:
        return False
    if all(word.tag != "noun" for word in after[:-1]):
        return False
    named, left = {"det", "poss"}, words[begin:]
    one, other = left[0], right[0]
    if other.tag in named or one.tag not in {*named, "num"}:
        apart = one.low != other.low if other.tag in named else len(left) > 1 or len(right) > 1
        return apart and (other.tag in named or not piece.comma)
    if one.tag == "poss":
        return is_modified(left[1:]) != is_modified(right)
    return one.low not in _SHARED or len(right) > 1 or piece.comma


_SHARED = word_set("the all any both")
"""Determiners that a noun after "and" may have part in: "with the tank | and lid"."""


def _nouns_begin(words: list[Token], core: Core) -> list[int]:
    """Where nouns begin after the verb; none where "between" holds two of them together."""
    after = core.main + 1
    while (
        after + 1 < len(words)
        and words[after].tag in {"adv", "neg"}
        and (words[after + 1].tag not in {"adj", "adv"})
    ):
        after += 1
    if after >= len(words) or words[after].tag == "conj":
        return []  # "would return | or send friends"
    if any(word.low in _HOLDING for word in words[after:]):
        return []
    after += words[after].tag == "obj" and after + 1 < len(words) and words[after + 1].tag == "det"
    starts = [after] if words[after].tag != "prep" else []
    if words[after].low == "of" and after + 1 < len(words):
        starts = [after + 1]
    for at in range(after, len(words) - 1):
        if words[at].tag == "to":
            begin = at + 1 + (words[at + 1].tag in {"base", "aux"})
            starts = [begin] if begin < len(words) else []
        elif words[at].tag == "prep" and words[at].low != "of":
            starts.append(at + 1)
    return starts


def shared_verb(
    subjects: list[list[Token]], words: list[Token], core: Core
) -> list[list[Token]] | None:
    """A clause for each of its subjects; None where they act together."""
    verb, rest = words[core.first], words[core.first + 1 :]
    amp = any(word.text == "&" for subject in subjects for word in subject)
    mutual = any(word.low in _MUTUAL for word in [*subjects[-1], *rest])
    counted = any(subject and subject[-1].tag == "num" for subject in subjects)
    if mutual or amp or counted or _are_several(verb, rest):
        return None  # "reviewers 3 | and 5 report"
    low = subjects[0][0].low
    if low == "neither":
        return _negated_each([subjects[0][1:], *subjects[1:]], verb, rest)
    if low in {"both", "either"}:
        subjects = [subjects[0][1:], *subjects[1:]]
    preps = [{word.low for word in subject if word.tag == "prep"} for subject in subjects]
    told = any(word.tag == "rel" for subject in subjects for word in subject)
    # "Chuck wobbles | and bits slip": nouns or a clause.
    pair = len(subjects) == 2 and [word.tag for word in subjects[0]] == ["noun", "verb"]
    told = told or pair or _is_shared_noun(subjects)
    if told or (any(preps[:-1]) and any(one != {"of"} for one in preps)):
        return None  # "the cook and the waiter who came", "dishes like the soup and the salad"
    if not all(subjects) or any(word.low in _LIMITS for word in subjects[0]):
        return None
    subjects = _alike(subjects)
    *_, last = subjects
    own = next((at for at in range(len(last), 1, -1) if last[at - 1].tag not in _MANNER), 1)
    subjects, often = [*subjects[:-1], last[:own]], last[own:]
    rest = rest[1:] if rest and rest[0].low in {"all", "both"} else rest
    singular = singular_verb(verb.low)
    plural = singular != verb.low or verb.tag == "aux" or verb.low.endswith(("ed", "t"))
    if not plural or not all(subjects) or verb.low in {"is", "has", "was", "does"}:
        return None
    return [
        [
            *subject,
            *often,
            verb if is_plural(head_of(subject).low) else verb.reworded(singular),
            *rest,
        ]
        for subject in subjects
    ]


_MANNER = frozenset({"adv", "neg"})


def _are_several(verb: Token, rest: list[Token]) -> bool:
    """Whether what subjects are said to be is several things: "are the names to know"."""
    named = next((word for word in rest[:4] if word.tag in {"noun", "prep"}), None)
    one = verb.low not in BE or not rest or rest[0].low != "the"
    return not one and named is not None and is_plural(named.low)


def of_one_weight(left: list[Token], right: list[Token]) -> bool:
    """Whether two nouns are alike, so that each can be the object alone."""
    if right[0].low == "how":
        return True
    of = [at for at, word in enumerate(left) if word.low == "of"]
    if of and is_modified(left[of[-1] + 1 :]) == is_modified(right):
        return right[0].tag in {"det", "poss"} and left[0].tag in {"det", "poss"}
    if owner_of(left) or shared_tail(left, right):
        return True
    if len(left) == 2 and left[0].tag == "det" and right[0].tag == "noun" and len(right) > 1:
        return False  # "the vegetable and tofu rice"
    if is_modified(left) == is_modified(right):
        return True
    return left[0].low in SHARED_NOUNS and len(left) == 2 and len(right) == 1


_SIDES = word_set(
    "front back top bottom left right inside outside upper lower inner outer main side"
)


def _is_shared_noun(subjects: list[list[Token]]) -> bool:
    """Whether all but the last lack their noun: "the red and green lights"."""
    first, last = subjects[0], subjects[-1]
    if not first or not last:
        return False
    bare = len(first) == 2 and first[0].tag in {"det", "poss"} and len(last) > 1
    lacks = first[-1].tag == "adj" or {first[-1].low, last[0].low} <= _SIDES
    return bare and lacks and last[0].tag not in {"det", "poss"}


def _alike(subjects: list[list[Token]]) -> list[list[Token]]:
    """Subjects without "all" at their end, and each with the article of the first."""
    last = subjects[-1]
    if len(last) > 1 and last[-1].low in {"all", "both"}:
        subjects = [*subjects[:-1], last[:-1]]
    if owner := owner_of(subjects[0]):
        return [subjects[0], *(completed(owner, subject) for subject in subjects[1:])]
    article = subjects[0][0]
    if article.low != "the":
        return subjects
    return [
        [article, *subject] if subject[0].tag == "noun" and subject[0].text.islower() else subject
        for subject in subjects
    ]


def _negated_each(
    subjects: list[list[Token]], verb: Token, rest: list[Token]
) -> list[list[Token]] | None:
    """From "neither A nor B works": A does not work, B does not work."""
    no = verb.reworded("not", "neg")
    if verb.tag == "aux":
        return [[*subject, verb, no, *rest] for subject in subjects]
    plain = next((base for base in _plain(verb.low) if is_base(base)), None)
    if plain is None:
        return None
    does = [verb.reworded("does", "aux"), no, verb.reworded(plain, "base")]
    return [[*subject, *does, *rest] for subject in subjects]


def _plain(third: str) -> list[str]:
    return [third.removesuffix("s"), third.removesuffix("es"), third.removesuffix("ies") + "y"]


def owner_of(words: list[Token]) -> list[Token]:
    """The words up to one that ends in 's: "the author's" of "the author's wit"; none without."""
    at = next((at for at, word in enumerate(words[:4]) if re.search("'s$|s'$", word.low)), None)
    return [] if at is None else words[: at + 1]


def shared_tail(left: list[Token], right: list[Token]) -> list[Token]:
    """What the last of several nouns has for all: "of the menu" in "the taste and variety of"."""
    at = next((at for at, word in enumerate(right) if word.tag == "prep"), 0)
    bare = right[0].tag not in {"det", "poss"} and all(word.tag != "prep" for word in left)
    bare = bare and right[0].low not in _OWN
    return right[at:] if at and right[at].low == "of" and bare and left[0].low == "the" else []


_OWN = word_set("ease lack value")
"""Nouns whose "of" is their own: "the quality, ease of use and speed"."""


def completed(left: list[Token], right: list[Token]) -> list[Token]:
    """The second of two nouns with what stands before the first and both mean."""
    owner = owner_of(left)
    if owner and right[0].low in {"its", "their"}:
        return [*owner, *right[1:]]
    if right[0].tag in {"det", "poss"} or right[0].low == "how":
        return right
    if owner or (left[0].low in SHARED_NOUNS and len(left) == 2 and len(right) == 1):
        return [*(owner or left[:1]), *right]
    return [left[0], *right] if left[0].tag == "poss" or left[0].low == "the" else right
