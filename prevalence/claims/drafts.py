"""A claim in the making, and the questions that the rules ask of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from prevalence.claims.clauses import (
    BE,
    BESIDES,
    CONTRASTS,
    Core,
    Piece,
    find_core,
    head_of,
    is_finite,
    is_modified,
    is_past_core,
    last_noun,
    shape_of,
)
from prevalence.claims.english import has_negation
from prevalence.claims.groups import may_act
from prevalence.claims.speakers import people_at
from prevalence.claims.words import (
    ADJECTIVES,
    COPULAS,
    is_base,
    is_past,
    is_past_only,
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

__all__ = [
    "Draft",
    "agreeing",
    "effect_of",
    "ends_in_particle",
    "has_purpose",
    "held_with",
    "is_bound",
    "is_cut_short",
    "is_doing",
    "is_inverted",
    "is_lone_noun",
    "is_of_one",
    "is_participle",
    "is_praise",
    "is_sealed",
    "is_told_first",
    "is_torn",
    "is_whole",
    "leans",
    "lists_verbs",
    "plain_text",
    "praises",
    "shares_noun",
    "told_of",
    "words_from",
]


@dataclass(slots=True)
class Draft:
    """A claim in the making.

    Attributes:
        words: all its words; those taken from an earlier claim stand where they belong.
        lead: how many of them are a condition or phrase before the subject.
        start: offset in the sentence of the part that makes it.
        end: offset after it.
        changed: whether it reads otherwise than that part of the sentence.
        framed: whether a frame was dropped ("users say that").
        quantity: of that frame.
        people: who find so, where it was "users find X good" and is now "X is good".
        alike: claims of subjects that share a verb, itself among them; what is said next is said of
            all.
        listed: where its noun begins that was put in place of another one; 0 without one.
    """

    words: list[Token]
    lead: int
    start: int
    end: int
    changed: bool = False
    framed: bool = False
    quantity: Quantity | None = None
    people: tuple[Token, ...] = ()
    alike: list[Draft] = field(default_factory=list)
    listed: int = 0


def plain_text(words: Sequence[Token]) -> str:
    """Words with a space between them."""
    return " ".join(word.text for word in words)


def words_from(words: list[Token], offset: int) -> list[Token]:
    """The words that stand after that many characters of their plain text."""
    place = 0
    for at, word in enumerate(words):
        if place >= offset:
            return words[at:]
        place += len(word.text) + 1
    return []


def held_with(draft: Draft, core: Core, words: list[Token]) -> list[Token] | None:
    """What a subject has, from "with friendly staff"; None where the phrase says no such thing."""
    told = any(word.tag == "ing" or word.low in _TOLD for word in words)
    if told or not is_modified(words[1:]):
        return None
    subject = draft.words[draft.lead : core.first]
    nouns = [at for at, word in enumerate(words) if word.tag == "noun"]
    after = words[nouns[0] + 1 :] if nouns else []
    if [word.low for word in subject] == ["there"]:
        return None
    split = any(word.tag == "det" for word in after) and all(w.tag != "prep" for w in after)
    if split or people_at(plain_text(draft.words[draft.lead :])) is not None:
        return None  # "with service a weak spot", "diners praise it, with the soup ..."
    verb = "have" if is_plural(head_of(subject).low) else "has"
    return [*draft.words[: core.first], words[0].reworded(verb, "verb"), *words[1:]]


_TOLD = word_set(
    "exception exceptions mention mentions report reports complaint complaints comments"
)
"""What nothing has: "good, with the exception of the soup", "fine, with few complaints"."""
_TROUBLE = word_set(
    "trouble problem problems issue issues complaint complaints luck difficulty snags"
)


def leans(piece: Piece, draft: Draft) -> bool:
    """Whether a clause says too little without the claim before it.

    "..., failing one user on a greeting", "..., with one saying it hurts", "..., although others
    had no trouble", "the basket keeps no ice, | so it melts".
    """
    words = piece.words
    core = find_core(words)
    if core is None:
        return False
    first = words[0]
    apart = first.low == "something" and piece.comma and not piece.joint
    if apart or (first.low in {"he", "she", "his", "her"} and piece.joint in {"", "and"}):
        return True
    if piece.comma and not piece.joint:
        short = len(words) <= 3 and core.first == core.main == len(words) - 1
        included = short and words[-1].low.endswith("ed")  # "desserts included"
        if included or first.tag == "ing" or first.low in {"with", "from"}:
            return True
    before = find_core(draft.words, draft.lead)
    objects = [] if before is None else draft.words[before.main + 1 :]
    if piece.joint == "so" and first.low in {"it", "they"}:
        plural = first.low == "they"
        return any(w.tag == "noun" and is_plural(w.low) == plural for w in objects)
    rest = words[core.main + 1 :]
    nouns = [word.low for word in rest if word.tag == "noun"]
    had = words[core.main].low in {"had", "have", "has"} and {*nouns} <= _TROUBLE
    elliptic = had and all(word.tag in {"det", "adj", "noun", "adv", "neg"} for word in rest[:2])
    return elliptic and all(word.low not in {"with", "to"} and word.tag != "ing" for word in rest)


def has_purpose(words: list[Token]) -> bool:
    """Whether "to" and a verb follow a noun."""
    return any(one.tag == "to" and two.tag in {"base", "aux"} for one, two in pairwise(words))


_LISTED = {"adv", "obj", "mark", "conj"}
_PARTICLES = word_set("out away off up down in on back apart together")


def lists_verbs(draft: Draft, pieces: list[Piece]) -> bool:
    """Whether each part of a list may be a verb after "to": "hard to open, close and clean"."""
    last = range(len(draft.words) - 1, 0, -1)  # not of "easy to sign in to | and use"
    end = next((at for at in last if draft.words[at - 1].tag == "to"), 0)
    fitting = end > 1 and draft.words[end - 2].tag == "adj"
    first = draft.words[end:] if end else []
    tail = len(first) > 1 and all(word.tag in {"prep", "to", "adv"} for word in first[1:])
    parts = [first[:1] if tail else first, *(piece.words for piece in pieces)]
    if len(parts) > 2:
        parts[-1] = parts[-1][:1]  # "to chop, slice, and dice vegetables"
    if tail and fitting:
        parts = parts[1:]
    return bool(first) and all(
        part and is_base(part[0].low) and all(is_base(w.low) or w.tag in _LISTED for w in part)
        for part in parts
    )


def is_cut_short(draft: Draft, piece: Piece) -> bool:
    """Whether a claim lacks the noun or the clause that follows.

    "It is the best | and most reliable kettle I had", "users say that if wet, | it slips".
    """
    given = any(a.low == "that" and b.tag == "sub" for a, b in pairwise(draft.words))
    named = [word.low for word in draft.words[-2:-1]] == ["that"]
    if (given and not piece.joint) or (named and piece.joint in {"and", "or"}):
        return True
    tags = [word.tag for word in draft.words]
    size = len(tags)
    while tags[-1:] == ["adj"]:
        tags.pop()
    first = piece.words[0]
    graded = first.low in {"most", "more", "least"}
    graded = graded and any(word.tag == "adj" for word in piece.words[1:2])
    described = graded or first.tag == "adj" or first.low.endswith("est")
    lacks = len(tags) < size and tags[-1:] in (["det"], ["poss"])
    return lacks and described and piece.joint == "and"


def ends_in_particle(words: list[Token]) -> bool:
    """Whether a noun has the end of its verb after it: "odors out" in "keeps odors out"."""
    named = len(words) > 1 and words[0].low != "how"
    return named and words[-1].tag == "adv" and words[-1].low in _PARTICLES


def is_told_first(piece: Piece, following: Piece) -> bool:
    """Whether a past form tells of the subject after it: "made of wool, the hat is warm"."""
    first = piece.words[0].low
    done = is_past(first) or first.endswith("ed")
    made = done and [w.tag for w in piece.words[1:2]] == ["prep"]
    granted = piece.joint in CONTRASTS and shape_of(piece.words) == "adjective"
    return (made or granted) and following.comma and not following.joint


def is_doing(piece: Piece, following: Piece) -> bool:
    """Whether a form in -ing is a subject: "having a pool | and a gym is nice"."""
    joined = following.joint == "and" and not following.comma
    return len(piece.words) == 1 or (joined and following.words[0].tag != "pron")


def shares_noun(following: Piece) -> bool:
    """Whether the adjective before lacks its noun: "slim | and small users like it"."""
    joined = following.joint in {"and", "or"} and not following.comma
    described = following.words[0].tag == "adj" and shape_of(following.words) != "adjective"
    return joined and described


def effect_of(draft: Draft, words: list[Token]) -> list[Token] | None:
    """What a subject is made, or does besides: "making it handy", "keeping feet dry"."""
    core = find_core(draft.words, draft.lead)
    if core is None or core.first == draft.lead or len(words) < 2:
        return None
    verb, plural = words[0], is_plural(head_of(draft.words[draft.lead : core.first]).low)
    handy = len(words) > 2 and (words[2].tag == "det" or shape_of(words[2:]) == "adjective")
    base = plain_of_ing(verb.low)
    if verb.low in {"making", "makes", "made"} and words[1].low in {"it", "them"} and handy:
        says, words = ("are" if words[1].low == "them" else "is"), words[2:]
        to = next((at for at, word in enumerate(words) if word.tag == "to"), len(words))
        if [word.tag for word in words[to + 2 : to + 3]] in (["det"], ["poss"]):
            it = verb.reworded("it", "pron")  # "making it easy to change the filter"
            return [*draft.words[: draft.lead], it, verb.reworded("is", "aux"), *words]
    elif draft.words[draft.lead].low in {"i", "we", "you"}:
        return None  # "you can set the amount, which helps"
    elif base in BESIDES and not is_past_core(draft.words, core):
        says, words = str(base) if plural else singular_verb(str(base)), words[1:]
    else:
        return None
    return [*draft.words[: core.first], verb.reworded(says, "verb"), *words]


def told_of(draft: Draft, words: list[Token]) -> list[Token]:
    """The noun that a relative clause tells of: the last of a claim, where it agrees and is alone.

    In "the romance between her and the cook, which" it is the romance, and none is found.
    """
    core = find_core(draft.words, draft.lead)
    noun = last_noun(draft.words, core)
    if core is None or not noun or not is_finite(words, 1):
        return []
    within = any(word.tag == "prep" for word in draft.words[core.main + 2 : -len(noun)])
    agrees = is_plural(head_of(noun).low) == (singular_verb(words[1].low) != words[1].low)
    return noun if agrees and not within else []


def is_praise(piece: Piece) -> bool:
    """Whether a noun says something by its adjective alone: "great food"."""
    return piece.words[0].tag == "adj" and piece.joint in {"and", ""} and is_modified(piece.words)


def is_torn(piece: Piece) -> bool:
    """Whether a pronoun has lost its verb, because it is in no list: "they | zonk out"."""
    return piece.words[0].tag == "pron" and piece.words[1:2] != [] and piece.words[1].tag != "rel"


def is_inverted(piece: Piece) -> bool:
    """Whether the verb stands before its subject: "nor does it leak"."""
    tags = [word.tag for word in piece.words[:2]]
    return piece.joint == "nor" and tags[0] == "aux" and tags[-1] in {"pron", "det", "poss", "noun"}


def is_lone_noun(draft: Draft, core: Core, piece: Piece) -> bool:
    """Whether a word that may be a verb goes on with a list of nouns: "makes tea and | cakes".

    Not after a denial: "doesn't crush ice and | leaks" may say that it leaks.
    """
    low = piece.words[0].low
    denied = is_third(low) and has_negation(draft.words[core.first : core.main])
    return len(piece.words) == 1 and (is_base(low) or not (is_past(low) or denied))


def is_of_one(piece: Piece) -> bool:
    """Whether a piece goes on with one of those before it: "one after two calls"."""
    lows = [word.low for word in piece.words[:2]]
    tags = [word.tag for word in piece.words[:3]]
    single = lows[:1] in (["one"], ["another"]) and tags[1:2] in (["prep"], ["ing"], ["adv"])
    # "Most loved the pool and | two got wet": who or what did is unclear.
    number = next((at for at, word in enumerate(piece.words) if word.tag != "num"), 0)
    acts = number > 0 and may_act(piece.words[number:])
    return single or acts or (lows == ["the", "other"] and tags[2:] in (["prep"], ["ing"]))


def agreeing(piece: Piece, draft: Draft) -> Piece:
    """A piece whose verb has the number of one of several subjects: "open", "opens"."""
    core = find_core(draft.words, draft.lead)
    first = piece.words[0]
    if core is None or not draft.alike or first.tag not in {"verb", "aux", "base"}:
        return piece
    if is_plural(head_of(draft.words[draft.lead : core.first]).low):
        return piece
    return piece._replace(words=[first.reworded(singular_verb(first.low)), *piece.words[1:]])


def praises(drafts: Sequence[Draft], core: Core) -> bool:
    """Whether the last claim says what something is like: "the food was good".

    Not where it and the one before are of a list: "famous for its bread, rolls | and cakes".
    """
    words, rest = drafts[-1].words, drafts[-1].words[core.main + 1 :]
    before = drafts[-2].words[: core.main + 2] if len(drafts) > 1 else []
    if any(word.tag == "prep" for word in rest) and before == words[: core.main + 2]:
        return False
    return words[core.main].low in BE and bool(rest) and shape_of(rest) == "adjective"


def is_whole(piece: Piece) -> bool:
    """Whether a condition has its clause with it: "but when it broke the seller paid"."""
    if piece.words[0].tag != "sub" or piece.joint not in {"and", "but", "yet"}:
        return False
    places = range(1, len(piece.words))
    verbs = [
        at for at in places if is_finite(piece.words, at) and not is_finite(piece.words, at - 1)
    ]
    return len(verbs) > 1 and (piece.comma or piece.joint != "and")


_EXAMPLES = word_set("among including namely thanks while whereas although though")
_TIMES = word_set("after before until till as so")
"""Prepositions that are conjunctions where a clause follows."""


def is_sealed(draft: Draft, piece: Piece | None = None) -> bool:
    """Whether a condition, reason or clause at the end of a claim takes what follows.

    "When cooking" has no verb with a tense, and so takes none.
    """
    core = find_core(draft.words, draft.lead)
    if core is None:
        return False
    rest = draft.words[core.main + 1 :]
    seals = [
        at
        for at, word in enumerate(rest)
        if word.tag in {"sub", "rel"}
        or word.low in _EXAMPLES
        or (word.low == "with" and at and rest[at - 1].low == ",")
        or (word.tag == "ing" and rest[at - 1].low == "," and at)
        or (word.low in _TIMES and find_core(rest[at + 1 :]) is not None)
    ]
    open_ = piece is not None and is_finite(piece.words, 0) and not is_base(piece.words[0].low)
    return any(not open_ or at + 1 == len(rest) or rest[at + 1].tag != "ing" for at in seals)


_HOPES = word_set("""
wish wishes wished hope hopes hoped expect expects expected suppose supposed advertise advertised
claim claims claimed market marketed bill billed promise promises promised intend intended mean
meant
""")
"""Verbs that say what should be, and not what is."""


def is_bound(draft: Draft, piece: Piece) -> bool:
    """Whether a piece only goes on with what the claim before it says.

    "Is happy with it | and much less so with the lid", "enjoy being greeted | and remembered", and
    what should be.
    """
    less = any(a.low in {"less", "more"} and b.low == "so" for a, b in pairwise(piece.words))
    done = any(a.low == "being" and is_past(b.low) for a, b in pairwise(draft.words))
    return less or (done and is_past(piece.words[0].low)) or _is_unreal(draft, piece)


def _is_unreal(draft: Draft, piece: Piece) -> bool:
    """Whether a claim only says what should be, or no longer is, and the piece may say it too.

    "I wish it were bigger | and had pockets", "is supposed to be soft | and warm", "no longer fits
    | and leaks". What stands after "but", or after another mark than a comma, says what is.
    """
    core = find_core(draft.words, draft.lead)
    contrast = piece.joint not in {"", "and", "or", "nor"}
    if core is None or contrast or any(t.tag == "mark" and t.text != "," for t in piece.glue):
        return False
    shape = shape_of(piece.words)
    group, rest = draft.words[core.first : core.main + 1], draft.words[core.main + 1 :]
    if any(word.low in _HOPES for word in group):
        aimed = any(word.tag == "to" or word.low == "as" for word in rest)
        return find_core(rest) is not None or (aimed and shape != "clause")
    before = [word.low for word in draft.words[: core.first][-2:]]
    return before == ["no", "longer"] and shape == "verb"


_STATES = word_set("""
loaded filled packed made built designed priced located seasoned cooked stocked staffed covered
suited topped crafted equipped maintained organized presented prepared served decorated packaged
heated furnished insulated
""")
"""Past forms that say what something is before a preposition: "loaded with flavor"."""


def is_participle(draft: Draft, core: Core, words: list[Token]) -> bool:
    """Whether a past form is what something is ("sharp, well balanced"), not what it did."""
    verb = draft.words[core.main].low
    if verb in _CONTRACTED:
        verb = "is"
    # "Found it cold and picked over by noon".
    found = bool(draft.people) and verb in {"is", "are"} and words[0].tag == "verb"
    first = next((word for word in words if word.tag not in {"adv", "neg"}), words[0])
    after = words[words.index(first) + 1 :]
    past = first.tag == "verb" and is_past(first.low) and first.low not in COPULAS
    if verb not in BE:
        said = not after or after[0].low == "by"
        likewise = verb in _SEEMED and said and _is_state(draft.words[core.main + 1 :])
        state = first.low in ADJECTIVES or words[0].low in _PACKED
        arrived = verb in _ARRIVED and not after and state
        arrived = arrived and (draft.words[-1].tag == "adj" or words[0].low in _PACKED)
        return past and (verb in _SEEMS or likewise or arrived)
    if (past and found) or (first.low in _STATES and (not after or after[0].tag == "prep")):
        return True
    named = verb in {"is", "are"} and not is_past_only(first.low)
    alone = first is words[-1] or words[0].low == "not"
    return past and alone and (first.low.endswith("ed") or named)


def _is_state(words: list[Token]) -> bool:
    """Whether a past form says what something is: "rushed", "very disappointed"."""
    tags = {word.tag for word in words}
    return bool(words) and is_past(words[-1].low) and tags <= {"adj", "adv", "verb"}


_SEEMS = word_set("""
feel feels seem seems look looks appear appears smell smells taste tastes sound sounds
""")
"""Verbs of the present, after which a past form says what something is."""
_SEEMED = word_set("felt seemed looked appeared")
_ARRIVED = word_set("arrive arrives arrived come comes came leave leaves left")
_PACKED = word_set("well badly poorly fully nicely carefully securely properly beautifully neatly")
"""Said of how a thing arrived: "came healthy and well packed", but "came late and leaked"."""
_CONTRACTED = word_set("it's that's i'm we're they're you're he's she's")
"""The same in the past, where what it is said to be is a past form already."""
