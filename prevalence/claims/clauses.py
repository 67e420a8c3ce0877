"""Clauses: the pieces of a sentence, what each of them is, and what it shares with another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from prevalence.claims.english import HAVE, MODALS, Token, has_negation
from prevalence.claims.words import (
    COPULAS,
    is_base,
    is_past,
    is_past_only,
    is_plural,
    is_simple_past,
    is_third,
    singular_verb,
    word_set,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "ACTIVE",
    "BE",
    "BESIDES",
    "CONTRASTS",
    "DEGREES",
    "DISCOURSE",
    "EFFECTS",
    "ENDS",
    "LISTS",
    "Core",
    "Piece",
    "adjective_start",
    "before_own",
    "commas_of",
    "find_core",
    "head_of",
    "is_ended",
    "is_evasive",
    "is_finite",
    "is_held",
    "is_modified",
    "is_past_core",
    "is_predicate",
    "last_noun",
    "or_distributes",
    "pieces_of",
    "shape_of",
    "shared_before_verb",
    "subject_of",
    "with_not",
    "without_discourse",
    "without_first",
]


class Piece(NamedTuple):
    """What stands between two joints of a sentence.

    Attributes:
        joint: the conjunction before it in lower case, or "".
        comma: whether a mark stands before it.
        glue: the words of the joint, marks included.
        words: its words.
    """

    joint: str
    comma: bool
    glue: list[Token]
    words: list[Token]


class Core(NamedTuple):
    """Where the verbs of a clause stand; its subject ends before them.

    Attributes:
        first: the first verb that has a tense.
        main: the last verb of its group: "asked" in "has never been asked".
    """

    first: int
    main: int


CONTRASTS = frozenset({"although", "though", "while", "whereas", "however"})
_PAIRS = frozenset({
    ("wear", "tear"), ("bed", "breakfast"), ("fish", "chips"), ("chips", "salsa"),
    ("macaroni", "cheese"), ("mac", "cheese"), ("salt", "pepper"), ("pros", "cons"),
    ("ups", "downs"), ("bits", "pieces"), ("terms", "conditions"), ("again", "again"),
    ("more", "more"), ("each", "every"), ("first", "foremost"), ("trial", "error"),
    ("peace", "quiet"), ("back", "forth"), ("in", "out"), ("on", "off"), ("up", "down"),
    ("mix", "match"), ("plug", "play"), ("peanut", "jelly"), ("butter", "jelly"),
    ("ham", "cheese"), ("half", "half"), ("hit", "miss"), ("nice", "easy"), ("rock", "roll"),
})  # fmt: skip
"""Words that "and" or "or" makes one thing of."""
DISCOURSE = word_set("""
overall however also then additionally furthermore moreover similarly nevertheless nonetheless
besides
""")
ENDS = word_set(". ! ? … ... ..")
_MARKS = word_set(", ; : — – --") | ENDS
BE = word_set("is are was were am be been isn't aren't wasn't weren't")
_ALL_BUT = word_set("nobody none everyone everybody everything anyone anybody")
"""Words after which "but" is "except" where no other clause follows."""
_DESCRIBING = frozenset({"adj", "adv"})
_SINGULAR = word_set("is was has does isn't wasn't hasn't doesn't")
_ABLE = word_set("may might can could cannot can't couldn't")
DEGREES = word_set("""
very super so too really quite extremely incredibly absolutely
""")
_FREQUENT = word_set("""
always often usually sometimes generally still also just consistently definitely
""")
_WHOLE = word_set("not never neither rarely seldom out both")
"""What is said of a whole list of adjectives."""
_OFTEN = _FREQUENT | word_set("""
not never rarely seldom hardly barely mostly frequently occasionally constantly
""")
"""Where a piece begins with one of these, those before it are not meant for it."""
EFFECTS = word_set("makes make made means helps help allows causes leads is was")
_BUYERS = word_set("i we you they he she")
_WHATEVER = word_set("what whatever whoever")
_SAME_PAST = word_set("put cut cost hit set let")
_TO_DO = (["to", "base"], ["to", "aux"])
ACTIVE = word_set("""
worked failed leaked lasted apologized happened smoked stank belonged ended needed decided refused
tried wanted died stopped struggled waited complained
""")
"""Past forms that are no passive."""
_GIVEN = word_set("given told offered shown sent charged promised asked denied sold handed called")
"""Past forms that take an object in the passive: "was charged twice and told the truth"."""
_SET_PHRASES = word_set("full general short particular common brief")
"""Adjectives that are no thing of their own after "in": "in general"."""
BESIDES = word_set("""
keep leave result provide offer allow give lead add create ensure require cause reduce prevent help
save improve protect relieve deliver eliminate
""")
"""Verbs that say, after a comma and in -ing, what the subject does besides."""
_FOCUS = word_set("especially particularly even only just mainly mostly")
_DEPENDENT = frozenset({"according", "despite", "without", "including", "until", "till"})


def pieces_of(words: list[Token]) -> list[Piece]:
    """The parts of a sentence between its conjunctions and marks; brackets, quotes stay whole."""
    found = [Piece("", False, [], [])]
    depth = 0
    quotes = sum(token.text == '"' for token in words) % 2 == 0
    quoted = False
    place = 0
    while place < len(words):
        token = words[place]
        depth = max(depth + (token.text in "([“") - (token.text in ")]”"), 0)
        quoted ^= quotes and token.text == '"'
        size = 0 if depth or quoted else _joint(words, place)
        if not size:
            found[-1].words.append(token)
            place += 1
            continue
        joint = words[place : place + size]
        glue = found.pop().glue if not found[-1].words and len(found) > 1 else []
        found.append(_joined([*glue, *joint]))
        place += size
    return [piece for piece in found if piece.words]


def _joined(glue: list[Token]) -> Piece:
    names = [token.low for token in glue if token.tag != "mark" and token.low != "even"]
    joint = "and" if names[:1] == ["as"] else (names[-1] if names else "")
    return Piece(joint, any(token.tag == "mark" for token in glue), glue, [])


def _joint(words: list[Token], place: int) -> int:
    """How many words are a joint here, or 0."""
    low = words[place].low
    before = words[place - 1].low if place else ""
    if before == "one" and place > 1 and words[place - 2].low == "no":
        before = "nobody"
    after = words[place + 1] if place + 1 < len(words) else None
    if low in _MARKS:
        return int(_parts(words, place))
    if after is None or (low == "yet" and words[place].tag == "adv"):
        return 0
    if low == "as" and [token.low for token in words[place : place + 3]] == ["as", "well", "as"]:
        return 3 if place and words[place - 1].tag in {"noun", "adj", "mark"} else 0
    if low == "even" and after.low == "though":
        return 2
    if low in {"and", "or"}:
        half = [token.low for token in words[place + 1 : place + 3]] == ["a", "half"]
        count = low == "or" and after.tag == "num"
        return 0 if half or count or (before, after.low) in _PAIRS else 1
    counted = low == "while" and _names_reviewers(words[place + 1 :])
    return int(counted or _contrasts(low, before, after, first=place == 0))


def _names_reviewers(words: Sequence[Token]) -> bool:
    """Whether so many reviewers are the subject: "while | a third of reviewers complain"."""
    end = next((at for at, word in enumerate(words) if word.tag in {"verb", "aux", "mark"}), 0)
    counted = any(word.tag in {"num", "det"} for word in words[:1])
    return counted and any(word.low.startswith("reviewer") for word in words[1:end])


def _parts(words: list[Token], mark: int) -> bool:
    """Whether a mark parts what stands on its sides."""
    if words[mark].text == ":":
        return find_core(words[:mark]) is not None and _begins_clause(words[mark + 1 :])
    return words[mark].text != "," or not _describes(words, mark)


def _describes(words: list[Token], comma: int) -> bool:
    """Whether adjectives of one noun stand on both sides of a comma: "with generous, hot meals"."""
    begin, end = comma, comma + 1
    while begin and (words[begin - 1].tag in _DESCRIBING or words[begin - 1].text == ","):
        begin -= 1
    open_ = begin and words[begin - 1].tag in {"det", "poss"}
    while end < len(words) and (
        words[end].tag in _DESCRIBING
        or (open_ and end == comma + 1 and is_past(words[end].low))
        or (
            open_
            and words[end].text == ","
            and [word.tag for word in words[end + 1 : end + 2]] == ["adj"]
        )
    ):
        end += 1
    before = words[begin - 1] if begin else None
    own = before is None or before.tag in {"prep", "det", "poss"} or _takes_object(before)
    return (
        own
        and words[comma - 1].tag == "adj"
        and words[begin].text != ","
        and words[comma + 1 : end] != []
        and words[end : end + 1] != []
        and words[end].tag == "noun"
    )


def _takes_object(word: Token) -> bool:
    """Whether what follows a word is a thing, and not what something is like."""
    return word.tag in {"verb", "base", "ing"} and word.low not in COPULAS


def _begins_clause(words: list[Token]) -> bool:
    """Whether a clause stands before the next mark."""
    end = next((at for at, word in enumerate(words) if word.tag == "mark"), len(words))
    return end > 0 and find_core(words[:end]) is not None


_OTHERS = word_set("another others some one two many several")


def _contrasts(low: str, before: str, after: Token, *, first: bool) -> bool:
    """Whether a word sets a clause against another."""
    apart = first or before in _MARKS
    if low in {"but", "nor", "whereas", "although", "though"}:
        excepts = before in _ALL_BUT and after.tag not in {"pron", "verb", "aux"}
        return before not in {"nothing", "anything", "all", "as"} and not excepts
    if low == "while":
        return (apart or after.low in _OTHERS) and after.tag != "ing"
    if low == "however":
        return apart and after.tag not in {"adj", "adv"}
    if low == "so":
        clause = apart or after.tag == "pron"
        return clause and not first and after.low not in {"that", "far"}
    return low == "yet" and (apart or after.tag in {"adj", "adv", "verb", "aux"})


def find_core(words: Sequence[Token], lead: int = 0) -> Core | None:
    """The verbs of a clause, those of a relative clause in its subject left aside."""
    aside = False
    place = lead
    while place < len(words):
        token = words[place]
        if token.tag == "sub" and place > lead:
            return None
        if _begins_relative(words, lead, place):
            aside = True
        if (token.tag == "rel" and place > lead) or (place == lead and token.low in _WHATEVER):
            if aside:
                return None
            aside = True
        elif is_finite(words, place):
            end = _group_end(words, place)
            if not aside:
                return Core(place, end)
            aside, place = False, end
        place += 1
    return None


def _begins_relative(words: Sequence[Token], lead: int, place: int) -> bool:
    """Whether a relative clause without "that" begins: "the shoes | I ordered were small"."""
    noun = place > lead + 1 and words[lead].tag in {"det", "poss"} and words[place].low in _BUYERS
    if not noun or words[place - 1].tag not in {"noun", "num"}:
        return False
    verbs = [at for at in range(place + 1, len(words)) if is_finite(words, at)]
    return len(verbs) > 1 and words[verbs[1] - 1].tag != "pron"


def is_finite(words: Sequence[Token], place: int) -> bool:
    """Whether the word there is a verb that has a tense."""
    token = words[place]
    if place and words[place - 1].tag == "to":
        return False
    if token.tag == "pron" and "'" in token.low and token.low != "let's":
        return True
    told = place > 0 and words[place - 1].tag == "rel"  # "guests who | stayed in"
    if token.tag == "verb" and token.low.endswith("ed") and place + 1 < len(words) and not told:
        # "The distance measured by the app can be wrong": the verb comes later.
        later = words[place + 1].low in {"by", "as", "in", "on", *LISTS}
        if token.low == "compared" and words[place + 1].low in {"with", "to"}:
            return False
        verbs = (w.tag == "aux" or w.low in LISTS for w in words[place + 1 :])
        though = [word.low for word in words[place + 2 : place + 3]] in (["though"], ["if"])
        return though or not (later and any(verbs))
    return token.tag in {"verb", "aux"} and token.low not in {"be", "been", "being"}


LISTS = word_set("include includes included")
"""Verbs before a list of things."""


def _group_end(words: Sequence[Token], first: int) -> int:
    """The last verb of the group that begins here: "has never been asked"."""
    main = first
    if words[first].tag == "verb":
        return first
    for place in range(first + 1, len(words)):
        tag = words[place].tag
        doing = tag == "ing" and words[main].low in BE and place + 1 < len(words)
        if tag in {"aux", "verb", "base"} or doing:
            main = place
            if tag != "aux":
                break
        elif tag not in {"adv", "neg"}:
            break
    return main


def shape_of(words: Sequence[Token]) -> str:
    """What a piece is.

    Returns:
        ``clause``, ``verb``, ``adjective``, ``adverb``, ``noun``, ``prep``, ``ing``, ``rel``,
        ``that`` or ``sub``.
    """
    tag = words[0].tag
    # "Praise the fit and how well it washes": a thing like the other.
    manner = words[0].low == "how" and len(words) > 2 and words[1].tag in _DESCRIBING
    doing = tag == "prep" and [word.tag for word in words[1:2]] == ["ing"]  # "for keeping it dry"
    if manner or doing or _subordinate(words):
        return "noun" if manner else "prep" if doing else "sub"
    if tag == "rel" or words[0].low == "that":
        stated = words[0].low == "that" and _is_stated(words[1:], points=tag == "det")
        if stated or tag == "rel":
            return "that" if stated else "rel"
    begin = next((at for at, word in enumerate(words) if word.tag not in {"adv", "neg"}), None)
    if begin is not None and words[begin].tag == "adj" and is_predicate(words[begin:]):
        return "adjective"
    core = find_core(words)
    if core is not None and _names(words, core):
        return "noun"
    if core is not None:
        has_subject = begin is not None and (begin < core.first or words[begin].tag == "pron")
        return "clause" if has_subject else "verb"
    return "adverb" if begin is None else _phrase(words[begin:])


def _is_stated(words: Sequence[Token], *, points: bool) -> bool:
    """Whether a clause follows "that", which may point to a noun: "that part", not "that parts"."""
    core = find_core(words)
    return core is not None and (not points or is_plural(head_of(words[: core.first] or words).low))


def _names(words: Sequence[Token], core: Core) -> bool:
    """Whether what looks like a verb is a second noun: "paw prints", "dried-on stains"."""
    pair = core.first == 1 and len(words) == 2 and words[0].tag == "noun"
    return pair and is_third(words[1].low) and not is_plural(words[0].low)


def _phrase(words: Sequence[Token]) -> str:
    """What a piece without a verb is, by its first word that is no adverb."""
    return {"prep": "prep", "ing": "ing", "base": "verb"}.get(words[0].tag, "noun")


def _subordinate(words: Sequence[Token]) -> bool:
    """Whether a piece depends on another: a condition, a reason, an example."""
    first, lows = words[0], [word.low for word in words[:2]]
    if (
        first.tag in {"sub", "conj"}
        or first.low in _DEPENDENT
        or lows in (["such", "as"], ["in", "spite"])
        or (lows[0] == "as" and lows[1:] in (["soon"], ["long"]))
        or (lows[0] == "as" and words[-1] is not first and words[1].tag == "aux")
        or (lows[0] == "as" and _tells(words[1:]))
        or (lows[0] in _FOCUS and lows[1:] != [] and _depends(words[1:4]))
        or (lows[0] in _FOCUS and lows[1:] in (["thanks"], ["due"]))
        or lows in (["thanks", "to"], ["due", "to"], ["compared", "with"], ["compared", "to"])
        or any(word.low == "whom" for word in words[:3])
    ):
        return True
    if lows in (["even", "a"], ["even", "the"], ["just", "a"]) and find_core(words) is None:
        return True
    if lows[0] == "having":
        return True
    if lows[0] in _HAD and words[1:] and words[1].tag in _NAMING and find_core(words[1:]):
        return True  # "had the makers added a lid"
    return first.tag == "prep" and len(words) > 1 and words[1].tag in {"pron", "rel"}


def _depends(words: Sequence[Token]) -> bool:
    """Whether a phrase or clause begins, not a share: "only in winter", "just | under half"."""
    share = any(word.low.startswith(("half", "third", "quarter")) for word in words[1:])
    limit = share and words[0].low in {"under", "over", "above", "below"}
    return words[0].tag in {"sub", "prep"} and not limit


_HAD = word_set("had were should")
_NAMING = frozenset({"det", "poss", "pron"})


def _tells(words: Sequence[Token]) -> bool:
    """Whether there is a subject with its verb: "as | two people find it quiet"."""
    core = find_core(words) if words else None
    return core is not None and (core.first > 0 or words[0].tag == "pron")


def is_predicate(words: Sequence[Token]) -> bool:
    """Whether adjectives say something themselves, with no noun after them."""
    for at, token in enumerate(words):
        if token.tag == "ing" and words[0].low != "worth":
            after = words[at + 1].tag if at + 1 < len(words) else "prep"
            return after not in {"prep", "noun", "mark"}  # "quick charging" is a noun
        if token.tag not in {"adj", "adv"}:
            return token.tag in {"prep", "to", "neg", "sub", "rel", "ing", "mark"} or (
                words[0].low in {"worth", "like"}
            )
    return True


def without_first(words: list[Token], names: set[str]) -> list[Token]:
    """The words without those names at their beginning."""
    return words[1:] if len(words) > 1 and words[0].low in names else words


def commas_of(piece: Piece) -> list[Token]:
    """The commas before a piece."""
    return [token for token in piece.glue if token.text == ","]


def without_discourse(words: list[Token]) -> list[Token]:
    """The words without "however" and the like at their beginning."""
    return without_first(words, {*DISCOURSE} - {"overall", "also"})


def head_of(words: Sequence[Token]) -> Token:
    """The noun that a phrase is about: the last word before its first preposition."""
    for at, word in enumerate(words):
        if at and word.tag in {"prep", "rel", "to", "mark", "ing"}:
            return words[at - 1]
    return words[-1]


def is_ended(piece: Piece) -> bool:
    """Whether another sentence ends before the piece."""
    return any(token.text in ENDS for token in piece.glue)


def or_distributes(words: Sequence[Token], core: Core) -> bool:
    """Whether "or" after this verb holds for each part: after a negation, or "may"."""
    group = words[max(core.first - 2, 0) : core.main + 3]
    may = any(word.low in _ABLE for word in group)
    return may or has_negation(group) or words[0].low in {"nobody", "none", "no"}


def before_own(shared: list[Token], core: Core, words: list[Token]) -> list[Token]:
    """What is shared with a piece, without "rarely" if the piece has its own "often" or "never".

    Before "well packed" it is "is" of "is well made".
    """
    end = len(shared)
    while words[0].tag == shared[end - 1].tag == "adv" and shared[end - 1].low not in _FREQUENT:
        end -= 1
    while words[0].low in _OFTEN and end > core.first + 1 and shared[end - 1].low in _OFTEN:
        end -= 1
    return shared[:end]


def is_held(before: list[Token], adjectives: list[list[Token]], joint: str) -> bool:
    """Whether it is unclear what a negation holds for: "not too big and soft".

    Args:
        before: what stands before both adjectives.
        adjectives: two, each with its own adverbs.
        joint: the conjunction between them.
    """
    denied, second = has_negation(before), adjectives[1]
    if second[0].low in _OFTEN:
        return denied or joint == "or"
    return denied and joint == "and" and any(one[0].tag in {"adv", "det"} for one in adjectives)


def shared_before_verb(words: list[Token], core: Core, piece: Piece) -> list[Token] | None:
    """What a verb takes from the claim before it: subject, auxiliaries and negation.

    Returns:
        The words, or None where the verb is no second verb of that subject.
    """
    subject = subject_of(words, core)
    first = next((w for w in piece.words if w.tag in {"verb", "base", "aux"}), piece.words[0])
    if first.tag == "aux":
        many = words[core.first].low
        plural = is_plural(head_of(subject).low) or singular_verb(many) != many
        asked = first.low in {"do", "don't", "have", "haven't"} and not plural
        return None if asked or _is_wished(words, core, first) else subject
    after = piece.words[piece.words.index(first) + 1 :]
    helped = _helps(words, core, first)
    denied = helped and has_negation(words[core.first : core.main])
    against = piece.joint in {"but", "yet"} or "but" in {w.low for w in words[core.main :]}
    bare = is_base(first.low) and first.low not in _SAME_PAST
    own = helped and piece.words[0].low in _OFTEN and (denied or not bare)
    if own or (denied and against):
        return None  # "was always cleaned and never smelled", "was not repaired but replaced"
    if helped and piece.joint not in {"or", "nor"} and _is_active(words, core, first, after):
        # "Was carefully packed and arrived early", "has been used daily and held up well".
        return [*subject, *(word for word in words[core.first : core.main] if word.low in HAVE)]
    # "Was not refunded and complained"
    unclear = denied and piece.joint not in {"or", "nor"} and is_simple_past(first.low)
    own = bare and not helped and not _takes_base(words, core, comma=piece.comma)
    if own or (unclear and not bare):
        return None
    if helped or piece.joint in {"or", "nor"}:
        return before_own(words[: core.main], core, piece.words)
    objects = words[-1].tag == "noun" and core.main < len(words) - 1
    low = words[core.first].low
    disagrees = is_third(first.low) and not (low in _SINGULAR or is_third(low))
    disagrees = disagrees and is_plural(head_of(subject).low)
    return None if disagrees or (len(piece.words) == 1 and objects) else subject


def _is_active(words: list[Token], core: Core, verb: Token, after: Sequence[Token]) -> bool:
    """Whether a past form after a passive is a verb of its own: "was packed and arrived early".

    Args:
        words: the passive clause.
        core: its verbs.
        verb: the past form.
        after: what follows it.
    """
    if verb.low == "let":
        return True
    group = words[core.first : core.main]
    if is_base(verb.low):
        return False
    if any(word.low in HAVE for word in group):
        been = any(word.low == "been" for word in group) and not has_negation(group)
        return been and _is_own(verb, after)
    own = is_past_only(verb.low) or verb.low in COPULAS | ACTIVE
    return (own and is_simple_past(verb.low)) or _has_object(verb, after)


def _has_object(verb: Token, after: Sequence[Token]) -> bool:
    """Whether a past form is no passive, because its object follows: "won an award"."""
    return bool(after) and after[0].tag in {"det", "poss", "obj"} and verb.low not in _GIVEN


def _is_own(verb: Token, after: Sequence[Token]) -> bool:
    """Whether a past form after "has been" is no passive: "won an award", "held up"."""
    holds = verb.low == "held" and [word.low for word in after[:1]] == ["up"]
    return holds or verb.low in ACTIVE or (is_past(verb.low) and _has_object(verb, after))


def _helps(words: list[Token], core: Core, verb: Token) -> bool:
    """Whether the auxiliaries of a clause are those of another verb too."""
    group = words[core.first : core.main]
    if is_base(verb.low) and verb.low not in _SAME_PAST:
        passive = any(word.low in {"be", "been"} for word in group)
        return not passive and any(w.tag == "aux" and w.low not in BE | HAVE for w in group)
    if verb.low.endswith("s"):
        return False
    passive = words[core.main].tag == "verb" and any(word.low in BE for word in group)
    return passive or any(word.low in HAVE for word in group)


def _is_wished(words: list[Token], core: Core, verb: Token) -> bool:
    """Whether "have" or "be" may be what a clause with a modal or "to" wishes for as well."""
    aimed = [word.tag for word in words[core.main + 1 : core.main + 3]] in _TO_DO
    modal = aimed or words[core.first].low in MODALS
    return verb.low == "be" or (modal and verb.low in {"have", "haven't"})


def _takes_base(words: list[Token], core: Core, *, comma: bool) -> bool:
    """Whether a plain verb may be the next verb of this subject."""
    subject = subject_of(words, core)
    if not subject or not is_plural(head_of(subject).low):
        return False
    return comma or all(word.tag != "to" for word in words[core.main :])


def subject_of(words: list[Token], core: Core) -> list[Token]:
    """The words up to the verb, adverbs and negations before it left out."""
    if "'" in words[core.first].low and words[core.first].tag == "pron":
        token = words[core.first]
        return [*words[: core.first], token.reworded(re.split("['’]", token.text)[0].strip())]
    end = core.first
    while end > 1 and words[end - 1].tag in {"adv", "neg"}:
        end -= 1
    return words[:end]


def _is_be(word: Token) -> bool:
    """Whether a word is a form of "be", or has one: "it's"."""
    return word.low in BE or (word.tag == "pron" and word.low.endswith(("'s", "'re", "'m")))


def adjective_start(words: list[Token], core: Core, right: list[Token]) -> int | None:
    """Where the adjective stands that another one, ``right``, may take the place of."""
    end = len(words) - 1
    if end > core.main + 1 and len(right) == 1 and words[end].tag == right[0].tag:
        before, last = words[end - 1], words[end]
        chosen = before.low in {"in", "on"} and last.low not in _SET_PHRASES
        joins = before.tag == "prep" or before.low == "while"
        if joins and (chosen or last.tag == "ing"):
            return end  # "in black | and brown", "for cutting | and sanding"
    if any(word.low == "between" for word in words[core.main :]):
        return None  # "between firm | and soft"
    main = words[core.main]
    group = words[core.first : core.main + 1]
    passive = main.tag == "verb" and any(_is_be(word) for word in group[:-1])
    linked = main.low in COPULAS or (main.tag == "pron" and "'" in main.low)
    begin = core.main if passive else core.main + 1
    while passive and words[begin - 1].tag == "adv" and words[begin - 1].low not in _FREQUENT:
        begin -= 1
    if linked or passive:
        while begin < len(words) and words[begin].low in _FREQUENT | _WHOLE:
            begin += 1
        return begin if begin < len(words) else None
    if words[end].tag != "adj" or end <= core.main + 1:
        return None
    while words[end - 1].tag == "adv":
        end -= 1
    return end if words[end - 1].tag in {"noun", "obj"} else None


def is_evasive(words: list[Token]) -> bool:
    """Whether what is said is not quite meant: "barely audible", "far from clean", "no longer".

    A comparison whose end is still to come is not either: "less sturdy", "as soft".
    """
    lows = [word.low for word in words[:2]]
    if lows == ["far", "from"]:
        return is_predicate(words[2:])
    compared = lows[0] in {"less", "more", "as"}
    open_ = compared and all(word.low not in {"than", "as"} for word in words[1:])
    return open_ or lows == ["no", "longer"] or lows[0] in {"hardly", "barely", "anything"}


def is_modified(words: Sequence[Token]) -> bool:
    """Whether a noun has a determiner, an adjective or another noun before it."""
    head = 0
    for word in words:
        if word.tag in {"prep", "rel", "to", "mark"}:
            break
        head += word.tag != "adv"
    return head >= 2 or (len(words) > 1 and words[0].tag in {"det", "poss"})


def with_not(words: list[Token]) -> list[Token]:
    """The words with "not" in place of "neither"."""
    return [word.reworded("not") if word.low == "neither" else word for word in words]


def last_noun(words: list[Token], core: Core | None) -> list[Token]:
    """The noun at the end of a claim, from its determiner on."""
    if core is None:
        return []
    begin = len(words) - 1
    while begin > core.main and words[begin].tag in {"noun", "adj"}:
        begin -= 1
    found = words[begin:] if words[begin].tag in {"det", "poss"} else []
    return found if len(found) > 1 and found[-1].tag == "noun" else []


def is_past_core(words: list[Token], core: Core) -> bool:
    """Whether the verb of a clause is in the past."""
    return words[core.first].low in {"was", "were", "had", "did"} or is_past(words[core.first].low)
