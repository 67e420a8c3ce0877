"""Claims: the single statements that a sentence makes, cut by rule so that each stands alone.

"The fabric is soft and washes well, but the zipper sticks" makes three claims. A sentence is cut at
its conjunctions and commas; what a piece lacks (subject, verb, preposition) is taken from the claim
before it. Conditions and exceptions stay with what they govern, a negation goes with every part of
its list, and "some reviewers say that" is dropped. Where no rule is safe, nothing is cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from prevalence.english import COPULAS, Token, is_base, is_plural, singular_verb, tagged
from prevalence.quantities import Quantity, after_frame, people_at
from prevalence.sentences import get_splitter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.sentences import Sentence, Splitter

__all__ = ["MOST_WORDS", "Claim", "cut"]

MOST_WORDS = 200
"""Words and marks of the longest sentence that is cut; a longer one is a claim as it is."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a text.

    Attributes:
        text: the statement; the whole sentence where it is not cut.
        start: offset in the text of the first character of the part that makes it.
        end: offset after that part.
        sentence: index of its sentence.
        quantity: how many people make it, where a dropped frame ("most users say") says so.
    """

    text: str
    start: int
    end: int
    sentence: int
    quantity: Quantity | None = None


def cut(text: str, *, splitter: Splitter | None = None) -> list[Claim]:
    """Cut a text into claims, in order; every sentence gives at least one.

    Args:
        text: any text.
        splitter: cuts it into sentences; None takes Punkt.

    Returns:
        The claims. It is the same list on every machine, made in time linear in the length.

    >>> [c.text for c in cut("The fabric is soft and washes well, but the zipper sticks.")]
    ['The fabric is soft.', 'The fabric washes well.', 'The zipper sticks.']
    >>> [c.text for c in cut("It does not leak or smell.")]
    ['It does not leak.', 'It does not smell.']
    """
    sentences = (splitter or get_splitter())(text)
    return [
        claim for index, sentence in enumerate(sentences) for claim in _claims(sentence, index)
    ]


def _claims(sentence: Sentence, index: int) -> list[Claim]:
    words = tagged(sentence.text) if len(sentence.text) <= 20 * MOST_WORDS else []
    drafts = _Folding(sentence.text).fold(words) if 0 < len(words) <= MOST_WORDS else []
    if len(drafts) < 2 and not any(draft.changed for draft in drafts):
        quantity = drafts[0].quantity if drafts else None
        return [Claim(sentence.text, sentence.start, sentence.end, index, quantity)]
    return [
        Claim(
            _text(draft.words, sentence.text),
            sentence.start + draft.start,
            sentence.start + draft.end,
            index,
            draft.quantity,
        )
        for draft in drafts
    ]


@dataclass(slots=True)
class _Draft:
    """A claim in the making.

    Attributes:
        words: all its words; those taken from an earlier claim stand where they belong.
        lead: how many of them are a condition or phrase before the subject.
        start: offset in the sentence of the part that makes it.
        end: offset after it.
        changed: whether it reads otherwise than that part of the sentence.
        framed: whether a frame was dropped ("users say that").
        quantity: of that frame.
        small: whether it was "users find X good", which is now "X is good".
    """

    words: list[Token]
    lead: int
    start: int
    end: int
    changed: bool = False
    framed: bool = False
    quantity: Quantity | None = None
    small: bool = False


class _Piece(NamedTuple):
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


class _Core(NamedTuple):
    """Where the subject and the verbs of a clause stand: ``words[lead:first]`` is the subject,
    ``words[first]`` the first verb that has a tense, ``words[main]`` the last of its group."""

    first: int
    main: int


_CONTRASTS = frozenset({"although", "though", "while", "whereas", "however"})
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
_DISCOURSE = frozenset(
    "overall however also then additionally furthermore moreover similarly nevertheless "
    "nonetheless besides further".split()
)
_ENDS = frozenset(". ! ? … ... ..".split())
_MARKS = frozenset(", ; — – --".split()) | _ENDS
_BE = frozenset("is are was were am be been isn't aren't wasn't weren't".split())
_HAVE = frozenset("has have had hasn't haven't hadn't".split())
_ABLE = frozenset("may might can could cannot can't couldn't".split())
_DEGREES = frozenset("very super so too really quite extremely incredibly absolutely".split())
_FREQUENT = frozenset(
    "always often usually sometimes generally still also just consistently definitely".split()
)
_EFFECTS = frozenset("makes make made means helps help allows causes leads is was".split())
_SHARED_NOUNS = frozenset("great good excellent amazing poor bad terrible awesome superb".split())
_MUTUAL = frozenset("similar different same together alike between both".split())
_FINDS = frozenset("find finds found consider considers considered".split())
_DEPENDENT = frozenset({"according", "despite", "without", "including"})
_EXPLETIVE = frozenset("that how what if whether worth time".split())


def _pieces(words: list[Token]) -> list[_Piece]:
    """The parts of a sentence between its conjunctions and marks, brackets left whole."""
    found = [_Piece("", False, [], [])]
    depth = 0
    place = 0
    while place < len(words):
        token = words[place]
        depth = max(depth + (token.text in "([") - (token.text in ")]"), 0)
        size = 0 if depth else _joint(words, place)
        if not size:
            found[-1].words.append(token)
            place += 1
            continue
        joint = words[place : place + size]
        glue = found.pop().glue if not found[-1].words and len(found) > 1 else []
        found.append(_joined([*glue, *joint]))
        place += size
    return [piece for piece in found if piece.words]


def _joined(glue: list[Token]) -> _Piece:
    names = [token.low for token in glue if token.tag != "mark" and token.low != "even"]
    joint = "and" if names[:1] == ["as"] else (names[-1] if names else "")
    return _Piece(joint, any(token.tag == "mark" for token in glue), glue, [])


def _joint(words: list[Token], place: int) -> int:
    """How many words are a joint here, or 0."""
    low = words[place].low
    before = words[place - 1].low if place else ""
    after = words[place + 1] if place + 1 < len(words) else None
    if low in _MARKS:
        return 1
    if after is None:
        return 0
    if low == "as" and [token.low for token in words[place : place + 3]] == ["as", "well", "as"]:
        return 3
    if low == "even" and after.low == "though":
        return 2
    if low in {"and", "or"}:
        half = [token.low for token in words[place + 1 : place + 3]] == ["a", "half"]
        return 0 if half or (before, after.low) in _PAIRS else 1
    return int(_contrasts(low, before, after, first=place == 0))


def _contrasts(low: str, before: str, after: Token, *, first: bool) -> bool:
    """Whether a word sets a clause against another."""
    apart = first or before in _MARKS
    if low in {"but", "nor", "whereas", "although", "though"}:
        return before not in {"nothing", "anything", "all"}
    if low == "while":
        return apart and after.tag != "ing"
    if low == "however":
        return apart and after.tag not in {"adj", "adv"}
    if low == "so":
        return apart and not first and after.low not in {"that", "far"}
    return low == "yet" and (apart or after.tag in {"adj", "adv"})


def _core(words: Sequence[Token], lead: int = 0) -> _Core | None:
    """The verbs of a clause, those of relative clauses in its subject left aside."""
    inside = 0
    found = None
    for place in range(lead, len(words)):
        token = words[place]
        if token.tag == "sub" and place > lead:
            break
        inside += token.tag == "rel" and place > lead
        if not _finite(words, place):
            continue
        found = place
        if not inside:
            break
        inside = 0
        place = _group_end(words, place)
        following = _core_after(words, place + 1)
        found = following if following is not None else found
        break
    return None if found is None else _Core(found, _group_end(words, found))


def _core_after(words: Sequence[Token], begin: int) -> int | None:
    for place in range(begin, len(words)):
        if words[place].tag in {"rel", "sub"}:
            return None
        if _finite(words, place):
            return place
    return None


def _finite(words: Sequence[Token], place: int) -> bool:
    token = words[place]
    if token.tag == "pron" and "'" in token.low and token.low != "let's":
        return True
    if token.tag == "verb" and token.low.endswith("ed") and place + 1 < len(words):
        # "The distance measured by the app can be wrong": the verb comes later.
        later = words[place + 1].low in {"by", "as", "in", "on"}
        return not (later and any(w.tag == "aux" for w in words[place + 1 :]))
    return token.tag in {"verb", "aux"} and token.low not in {"be", "been", "being"}


def _group_end(words: Sequence[Token], first: int) -> int:
    """The last verb of the group that begins here: "has never been asked"."""
    main = first
    if words[first].tag == "verb":
        return first
    for place in range(first + 1, len(words)):
        tag = words[place].tag
        if tag in {"aux", "verb", "base"} or (tag == "ing" and words[main].low in _BE):
            main = place
            if tag != "aux":
                break
        elif tag not in {"adv", "neg"}:
            break
    return main


def _shape(words: Sequence[Token]) -> str:
    """What a piece is: ``clause``, ``verb``, ``adjective``, ``adverb``, ``noun``, ``prep``,
    ``ing``, ``rel``, ``that`` or ``sub``."""
    tag = words[0].tag
    if _subordinate(words):
        return "sub"
    if words[0].low == "that" and tag != "det" and _core(words[1:]) is not None:
        return "that"
    if tag == "rel":
        return "rel"
    core = _core(words)
    begin = next((at for at, word in enumerate(words) if word.tag not in {"adv", "neg"}), None)
    if core is not None:
        has_subject = begin is not None and (begin < core.first or words[begin].tag == "pron")
        return "clause" if has_subject else "verb"
    if begin is None:
        return "adverb"
    if words[begin].tag == "adj" and _predicate(words[begin:]):
        return "adjective"
    return {"prep": "prep", "ing": "ing", "base": "verb"}.get(words[begin].tag, "noun")


def _subordinate(words: Sequence[Token]) -> bool:
    """Whether a piece depends on another: a condition, a reason, an example."""
    first, lows = words[0], [word.low for word in words[:2]]
    if first.tag in {"sub", "conj"} or first.low in _DEPENDENT or lows == ["such", "as"]:
        return True
    if lows in (["even", "a"], ["even", "the"], ["just", "a"]) and _core(words) is None:
        return True
    return first.tag == "prep" and len(words) > 1 and words[1].tag == "pron"


def _predicate(words: Sequence[Token]) -> bool:
    """Whether adjectives say something themselves, with no noun after them."""
    for token in words:
        if token.tag not in {"adj", "adv"}:
            return token.tag in {"prep", "to", "sub", "rel", "ing", "mark"} or (
                words[0].low in {"worth", "like"}
            )
    return True


class _Folding:
    """Takes the pieces of a sentence one after the other and makes claims of them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._drafts: list[_Draft] = []
        self._lead: list[Token] = []
        self._waiting: list[_Piece] = []
        self._asides: list[_Piece] = []
        self._rest: list[_Piece] = []
        self._said_by: Quantity | None = None
        self._dropped = False

    def fold(self, words: list[Token]) -> list[_Draft]:
        """The claims of a sentence."""
        while words and words[-1].text in _ENDS:
            words = words[:-1]
        self._rest = _pieces(words)[::-1]
        while self._rest:
            piece = self._rest.pop()
            if self._drafts:
                self._follow(piece)
            else:
                self._begin(piece)
        if self._lead or self._waiting or not self._drafts:
            return []
        return self._drafts

    def _begin(self, piece: _Piece) -> None:
        """Take a piece before which there is no whole clause."""
        shape = _shape(piece.words)
        if self._lead and self._lead[0].tag == "sub" and not piece.comma:
            self._lead += [*piece.glue, *piece.words]
        elif shape == "clause":
            self._clause(piece)
        elif shape == "verb" and self._waiting:
            self._clause(self._joined_subject(piece))
        elif shape == "rel" and self._waiting:
            self._asides.append(piece)
        elif shape in {"sub", "prep"} and not self._waiting:
            self._lead += [] if self._is_source(piece) else [*piece.glue, *piece.words]
        elif shape == "adverb" and not self._waiting:
            self._set_aside(piece)
        elif shape == "noun":
            self._waiting.append(piece)
        else:
            self._fragment(piece)

    def _is_source(self, piece: _Piece) -> bool:
        """Whether a piece says who makes the statement after it: "according to most owners"."""
        start = piece.words[0].start
        found = after_frame(self._text[start:])
        if found is None or start + found[0] < piece.words[-1].end:
            return False
        self._said_by, self._dropped = found[1], True
        return True

    def _set_aside(self, piece: _Piece) -> None:
        if piece.words[0].low not in _DISCOURSE:
            self._lead += [*piece.glue, *piece.words]

    def _fragment(self, piece: _Piece) -> None:
        """Begin with a piece that is no clause: what was set aside goes with it."""
        words = [*self._lead]
        for waiting in [*self._waiting, *self._asides, piece]:
            words += [*waiting.glue, *waiting.words] if words else waiting.words
        self._lead, self._waiting, self._asides = [], [], []
        self._drafts.append(_Draft(words, 0, words[0].start, words[-1].end))

    def _joined_subject(self, piece: _Piece) -> _Piece:
        """A verb whose subject stands before a relative clause."""
        subject = self._waiting.pop()
        return subject._replace(words=[*subject.words, *piece.words])

    def _clause(self, piece: _Piece) -> None:
        """Begin a claim with a clause of its own subject, or one for each of its subjects."""
        words = _without_discourse(piece.words)
        draft = _Draft(words, 0, piece.words[0].start, piece.words[-1].end)
        draft.changed = words is not piece.words or self._dropped
        draft.quantity, self._said_by = self._said_by, None
        self._drop_frame(draft)
        if draft.framed and _shape(draft.words) == "noun":
            self._waiting.append(piece._replace(words=draft.words))
            return
        self._resolve(draft)
        core = _core(draft.words)
        if core is None:
            self._fragment(piece)
            return
        aside, self._asides = self._asides, []
        for relative in aside:
            told = [*draft.words[: core.first], *relative.words[1:]]
            self._append(told, 0, relative)
        subjects = [*(waiting.words for waiting in self._waiting), draft.words[: core.first]]
        if self._waiting and not aside and (shared := _shared_verb(subjects, draft.words, core)):
            for one, waiting in zip(shared, [*self._waiting, piece], strict=True):
                self._append(one, 0, waiting)
            self._waiting = []
            return
        for waiting in reversed(self._waiting):
            draft.words = [*waiting.words, *piece.glue, *draft.words]
            draft.start = waiting.words[0].start
        self._waiting = []
        if self._lead:
            lead = [*self._lead, *(token for token in piece.glue if token.text == ",")]
            draft.lead = len(lead)
            draft.words = [*lead, *draft.words]
            draft.start, self._lead = self._lead[0].start, []
        self._drafts.append(draft)

    def _append(self, words: list[Token], lead: int, piece: _Piece) -> None:
        """Add a claim that takes some of its words from elsewhere."""
        self._drafts.append(
            _Draft(words, lead, piece.words[0].start, piece.words[-1].end, changed=True)
        )

    def _drop_frame(self, draft: _Draft) -> None:
        """Leave out "users say that"; make "users find it good" into "it is good"."""
        start, end = draft.words[0].start, draft.words[-1].end
        found = after_frame(self._text[start:end])
        if found is not None:
            words = [word for word in draft.words if word.start >= start + found[0]]
            if words and _shape(words) in {"clause", "noun"}:
                draft.words, draft.quantity = words, found[1]
                draft.changed = draft.framed = True
                return
        said = _described(draft.words)
        people = people_at(self._text, start)
        if said is None and people is not None:
            said = _small_clause([word for word in draft.words if word.start >= people.end])
            draft.small = said is not None
            draft.quantity = people.quantity if said else None
        if said is not None:
            draft.words, draft.changed, draft.framed = said, True, True

    def _resolve(self, draft: _Draft) -> None:
        """Put the subject of the clause before in place of "it", "they", "its" or "their"."""
        pointer = draft.words[0]
        subject = self._last_subject()
        low = pointer.low.split("'")[0]
        if not subject:
            return
        if low not in {"it", "they", "its", "their"}:
            _put_object(draft, subject)
            return
        if is_plural(_head(subject).low) != (low in {"they", "their"}):
            return
        if any(word.low in _EXPLETIVE for word in draft.words[1:5]):
            return
        put = [*subject]
        if low in {"its", "their"}:
            put[-1] = replace(put[-1], text=put[-1].text + ("'" if low == "their" else "'s"))
        elif "'" in pointer.low:
            put.append(_contracted(pointer))
        draft.words, draft.changed = [*put, *draft.words[1:]], True

    def _last_subject(self) -> list[Token]:
        """The subject of the last claim that has one with a noun, but for people's own."""
        if not self._drafts:
            return []
        draft = self._drafts[-1]
        core = _core(draft.words, draft.lead)
        if core is None:
            return []
        subject = draft.words[draft.lead : core.first]
        if subject and subject[0].tag in {"prep", "ing"}:
            return []
        plain = all(word.tag not in {"pron", "rel", "sub", "verb"} for word in subject)
        return [word for word in subject if word.tag not in {"adv", "neg"}] if plain else []

    def _follow(self, piece: _Piece) -> None:
        """Take a piece after a claim: a claim of its own, or part of the one before."""
        shape = _shape(piece.words)
        draft = self._drafts[-1]
        if self._waiting and shape not in {"clause", "noun", "rel"}:
            self._release()
        if shape == "sub" and self._leads(piece):
            self._lead = piece.words
            return
        ended = any(token.text in _ENDS for token in piece.glue) and shape != "clause"
        if ended or (not piece.comma and piece.joint in {"and", "or"} and _is_sealed(draft)):
            self._glue(piece)
            return
        take = {
            "clause": self._next_clause,
            "verb": self._next_verb,
            "adjective": self._next_adjective,
            "noun": self._next_noun,
            "adverb": self._next_adverb,
            "ing": self._next_ing,
            "prep": self._next_prep,
            "rel": self._next_relative,
            "that": self._next_that,
        }.get(shape)
        if take is None or not take(draft, piece):
            self._glue(piece)

    def _leads(self, piece: _Piece) -> bool:
        """Whether a condition belongs to the clause after it: "..., but if it breaks, ..."."""
        if piece.joint not in {"and", "but", "yet", "so"} or not self._rest:
            return False
        following = self._rest[-1]
        return not following.joint and _shape(following.words) == "clause"

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for piece in waiting:
            self._glue(piece)

    def _glue(self, piece: _Piece) -> None:
        """Leave a piece with the claim before it."""
        if self._waiting:
            self._release()
        draft = self._drafts[-1]
        draft.words = [*draft.words, *piece.glue, *piece.words]
        draft.end = piece.words[-1].end

    def _next_clause(self, draft: _Draft, piece: _Piece) -> bool:
        if piece.joint in {"or", "nor"}:
            return False
        self._clause(piece)
        return True

    def _next_that(self, draft: _Draft, piece: _Piece) -> bool:
        if not draft.framed:
            return False
        self._clause(piece._replace(words=piece.words[1:]))
        return True

    def _next_verb(self, draft: _Draft, piece: _Piece) -> bool:
        core = _core(draft.words, draft.lead)
        if core is None or (core.first == 0 and draft.words[0].tag != "pron"):
            return False
        if _is_participle(draft, core, piece.words):
            return self._next_adjective(draft, piece)
        if piece.joint in {"or", "nor"} and not _distributes(draft.words, core):
            return False
        shared = _shared_before_verb(draft.words, core, piece)
        if shared is None:
            return self._next_noun(draft, piece)
        self._append([*shared, *_without(piece.words, {"also", "then"})], draft.lead, piece)
        return True

    def _next_adjective(self, draft: _Draft, piece: _Piece) -> bool:
        core = _core(draft.words, draft.lead)
        if core is None or (
            piece.joint in {"or", "nor"} and not _distributes(draft.words, core)
        ):
            return False
        begin = _adjective_start(draft.words, core)
        if begin is None:
            return False
        shared, words = draft.words[:begin], _without(piece.words, {"also", "then"})
        if piece.joint == "nor":
            draft.words = shared = _with_not(draft.words)[:begin] and _with_not(draft.words)
            shared = shared[:begin]
        if piece.joint == "but" and shared[-1].low == "not":
            shared = shared[:-1]
        degree = draft.words[begin]
        if degree.low in _DEGREES and words[0].tag == "adj" and piece.joint != "but":
            shared = [*shared, degree]
            if degree.low == "too" and len(draft.words) == begin + 2:
                tail = words[1:]
                draft.words, draft.changed = [*draft.words, *tail], bool(tail)
        self._append([*shared, *words], draft.lead, piece)
        return True

    def _next_adverb(self, draft: _Draft, piece: _Piece) -> bool:
        core = _core(draft.words, draft.lead)
        if core is None or draft.words[-1].tag != "adv" or core.main >= len(draft.words) - 1:
            return False
        if piece.joint == "or" and not _distributes(draft.words, core):
            return False
        self._append([*draft.words[:-1], *piece.words], draft.lead, piece)
        return True

    def _next_noun(self, draft: _Draft, piece: _Piece) -> bool:
        """A noun: one more object, an adjective after "found X good", or the next subject."""
        if draft.small and (said := _small_predicate(piece.words)) is not None:
            self._append(said, 0, piece)
            self._drafts[-1].small = True
            return True
        if self._waiting or self._begins_subject(piece):
            self._waiting.append(piece)
            return True
        core = _core(draft.words, draft.lead)
        if core is None or piece.joint not in {"and", "or", ""} or not self._is_listed(piece):
            return False
        if piece.joint == "or" and not _distributes(draft.words, core):
            return False
        begin = _object_start(draft.words, core, piece.words)
        if begin is None:
            return False
        left, right = draft.words[begin:], piece.words
        paired = left[0].low in {"both", "either"}
        left = left[paired:]
        if not left or not self._both_stand(draft, left, right):
            return False
        if paired:
            draft.words, draft.changed = [*draft.words[:begin], *left], True
        self._append([*draft.words[:begin], *_completed(draft, left, right)], draft.lead, piece)
        return True

    def _begins_subject(self, piece: _Piece) -> bool:
        """Whether the noun is the first of several subjects of the clause that follows."""
        if not self._rest or not piece.comma or piece.joint not in {"and", "but", "yet", "so"}:
            return False
        following = self._rest[-1]
        return following.joint == "and" and not following.comma and (
            _shape(following.words) == "clause"
        )

    def _is_listed(self, piece: _Piece) -> bool:
        """Whether a noun after a comma belongs to a list that ends in "and" or "or"."""
        if piece.joint:
            return True
        for later in reversed(self._rest):
            if _shape(later.words) not in {"noun", "adjective", "verb"}:
                return False
            if later.joint:
                return later.joint in {"and", "or"}
        return False

    def _both_stand(self, draft: _Draft, left: list[Token], right: list[Token]) -> bool:
        """Whether two nouns are of one weight, so that each can be the object alone."""
        people = people_at(self._text, draft.words[draft.lead].start)
        if people is not None and draft.words[draft.lead].start >= draft.start:
            return True
        of = [at for at, word in enumerate(left) if word.low == "of"]
        if of and _is_modified(left[of[-1] + 1 :]) == _is_modified(right):
            return right[0].tag in {"det", "poss"} and left[0].tag in {"det", "poss"}
        if _is_modified(left) == _is_modified(right):
            return True
        return left[0].low in _SHARED_NOUNS and len(left) == 2 and len(right) == 1

    def _next_ing(self, draft: _Draft, piece: _Piece) -> bool:
        """"..., making it ideal for travel": the subject is ideal for travel."""
        if piece.joint in {"and", "or"} and len(piece.words) == 1:
            return self._next_noun(draft, piece)
        return piece.comma and self._made(draft, piece, piece.words)

    def _made(self, draft: _Draft, piece: _Piece, words: list[Token]) -> bool:
        core = _core(draft.words, draft.lead)
        fits = len(words) > 2 and words[0].low in {"making", "makes", "made"}
        if core is None or not fits or words[1].low not in {"it", "them"}:
            return False
        if _shape(words[2:]) != "adjective" and words[2].tag != "det":
            return False
        subject = draft.words[: core.first]
        verb = "are" if words[1].low == "them" else "is"
        self._append([*subject, _new(verb, words[0], "aux"), *words[2:]], draft.lead, piece)
        return True

    def _next_prep(self, draft: _Draft, piece: _Piece) -> bool:
        """"..., with friendly staff": the subject has it; "with many praising X": many praise X."""
        core = _core(draft.words, draft.lead)
        words = piece.words
        if core is None or core.first == draft.lead or len(words) < 2:
            return False
        if piece.comma and not piece.joint and words[0].low == "with":
            said = self._with(draft, core, words)
            if said is None:
                return False
            self._append(said, draft.lead, piece)
            return True
        same = [at for at in range(core.main, len(draft.words))
                if draft.words[at].low == words[0].low]  # fmt: skip
        if not same or piece.joint not in {"and", "or"}:
            return False
        if piece.joint == "or" and not _distributes(draft.words, core):
            return False
        self._append([*draft.words[: same[-1]], *words], draft.lead, piece)
        return True

    def _with(self, draft: _Draft, core: _Core, words: list[Token]) -> list[Token] | None:
        people = people_at(self._text, words[1].start)
        doing = [at for at, word in enumerate(words) if word.tag == "ing"]
        if people is not None and doing:
            verb = _plain_of_ing(words[doing[0]].low)
            if verb is None:
                return None
            return [*words[1 : doing[0]], _new(verb, words[doing[0]], "verb"),
                    *words[doing[0] + 1 :]]  # fmt: skip
        if doing or not _is_modified(words[1:]):
            return None
        subject = draft.words[draft.lead : core.first]
        verb = "have" if is_plural(_head(subject).low) else "has"
        return [*draft.words[: core.first], _new(verb, words[0], "verb"), *words[1:]]

    def _next_relative(self, draft: _Draft, piece: _Piece) -> bool:
        """A relative clause after a comma, said of the noun before it."""
        words = piece.words
        if self._waiting:
            self._asides.append(piece)
            return True
        if not piece.comma or words[0].low not in {"which", "who"} or len(words) < 3:
            return False
        if words[1].low in _EFFECTS:
            return words[0].low == "which" and self._made(draft, piece, words[1:])
        core = _core(draft.words, draft.lead)
        noun = _last_noun(draft.words, core)
        if not noun or not _finite(words, 1):
            return False
        if is_plural(_head(noun).low) != (singular_verb(words[1].low) != words[1].low):
            return False
        self._append([*noun, *words[1:]], 0, piece)
        return True


def _put_object(draft: _Draft, subject: list[Token]) -> None:
    """Put a subject in place of the one "it" or "them" that is an object."""
    words = draft.words
    places = [
        at
        for at, word in enumerate(words)
        if at
        and word.low in {"it", "them"}
        and words[at - 1].tag in {"verb", "base", "ing", "prep"}
        and (at + 1 == len(words) or words[at + 1].tag not in {"verb", "aux", "adj"})
    ]
    definite = subject[0].low in {"the", "this", "these"}
    if not definite or len(places) != 1:
        return
    place = places[0]
    if is_plural(_head(subject).low) == (words[place].low == "them"):
        put = [replace(subject[0], text=subject[0].low), *subject[1:]]
        draft.words, draft.changed = [*words[:place], *put, *words[place + 1 :]], True


def _new(text: str, place: Token, tag: str) -> Token:
    """A word that the sentence does not have, standing where another one is."""
    return Token(text, place.start, place.end, tag)


def _contracted(pointer: Token) -> Token:
    rest = pointer.low.split("'")[1]
    full = {"s": "is", "re": "are", "ll": "will", "ve": "have", "d": "would"}.get(rest, rest)
    return _new(full, pointer, "aux")


def _without(words: list[Token], names: set[str]) -> list[Token]:
    """The words without those names at their beginning."""
    return words[1:] if len(words) > 1 and words[0].low in names else words


def _without_discourse(words: list[Token]) -> list[Token]:
    return _without(words, {*_DISCOURSE} - {"overall", "also"})


def _head(words: Sequence[Token]) -> Token:
    """The noun that a phrase is about: the last word before its first preposition."""
    for at, word in enumerate(words):
        if at and word.tag in {"prep", "rel", "to", "mark", "ing"}:
            return words[at - 1]
    return words[-1]


def _is_sealed(draft: _Draft) -> bool:
    """Whether a condition, reason or clause at the end of a claim takes what follows."""
    core = _core(draft.words, draft.lead)
    if core is None:
        return False
    return any(word.tag in {"sub", "rel"} for word in draft.words[core.main + 1 :])


def _distributes(words: Sequence[Token], core: _Core) -> bool:
    """Whether "or" after this verb holds for each part: after a negation, or "may"."""
    group = words[max(core.first - 2, 0) : core.main + 3]
    return any(
        word.tag == "neg" or word.low.endswith("n't") or word.low in _ABLE or word.low == "cannot"
        for word in group
    ) or (words[0].low in {"nobody", "none", "no"})


def _shared_before_verb(
    words: list[Token], core: _Core, piece: _Piece
) -> list[Token] | None:
    """What a verb takes from the claim before it: subject, auxiliaries and negation."""
    subject = _subject(words, core)
    group = words[core.first : core.main]
    first = next((w for w in piece.words if w.tag in {"verb", "base", "aux"}), piece.words[0])
    if first.tag == "aux":
        return subject
    if piece.joint in {"or", "nor"}:
        return words[: core.main]
    if is_base(first.low) and first.low not in {"put", "cut", "cost", "hit", "set", "let"}:
        if any(w.tag == "aux" and w.low not in _BE | _HAVE for w in group):
            return words[: core.main]
        return subject if _takes_base(words, core, comma=piece.comma) else None
    participle = not first.low.endswith("s")
    if participle and any(w.low in _HAVE for w in group):
        return words[: core.main]
    if participle and words[core.main].tag == "verb" and any(w.low in _BE for w in group):
        return words[: core.main]
    if not participle and is_plural(_head(subject).low) and len(piece.words) == 1:
        return None
    if len(piece.words) == 1 and words[-1].tag == "noun" and core.main < len(words) - 1:
        return None
    return subject


def _is_participle(draft: _Draft, core: _Core, words: list[Token]) -> bool:
    """Whether a past form is what something is ("sharp, well balanced"), not what it did."""
    linked = draft.words[core.main].low in _BE
    first = next((word for word in words if word.tag not in {"adv", "neg"}), words[0])
    return linked and first is words[-1] and first.tag == "verb" and first.low.endswith("ed")


def _takes_base(words: list[Token], core: _Core, *, comma: bool) -> bool:
    """Whether a plain verb may be the next verb of this subject."""
    subject = _subject(words, core)
    if not subject or not is_plural(_head(subject).low):
        return False
    return comma or all(word.tag != "to" for word in words[core.main :])


def _subject(words: list[Token], core: _Core) -> list[Token]:
    """The words up to the verb, adverbs and negations before it left out."""
    if "'" in words[core.first].low and words[core.first].tag == "pron":
        token = words[core.first]
        return [*words[: core.first], replace(token, text=token.text.split("'")[0].split("’")[0])]
    end = core.first
    while end > 1 and words[end - 1].tag in {"adv", "neg"}:
        end -= 1
    return words[:end]


def _adjective_start(words: list[Token], core: _Core) -> int | None:
    """Where the adjective stands that another one may take the place of."""
    main = words[core.main]
    group = words[core.first : core.main + 1]
    passive = main.tag == "verb" and any(w.low in _BE for w in group[:-1])
    linked = main.low in COPULAS or (main.tag == "pron" and "'" in main.low)
    begin = core.main if passive else core.main + 1
    while passive and words[begin - 1].tag == "adv" and words[begin - 1].low not in _FREQUENT:
        begin -= 1
    if linked or passive:
        while begin < len(words) and (
            words[begin].low in _FREQUENT or words[begin].low in {"not", "never", "neither", "out"}
            or words[begin].low == "both"
        ):
            begin += 1
        return begin if begin < len(words) else None
    end = len(words) - 1
    if words[end].tag != "adj" or end <= core.main + 1:
        return None
    while words[end - 1].tag == "adv":
        end -= 1
    return end if words[end - 1].tag in {"noun", "obj"} else None


def _object_start(words: list[Token], core: _Core, right: list[Token]) -> int | None:
    """Where the noun stands that another one may take the place of: after the verb or after a
    preposition, whichever the other one is more like."""
    after = core.main + 1
    while after < len(words) and words[after].tag in {"adv", "neg"}:
        after += 1
    if after >= len(words):
        return None
    starts = [after] if words[after].tag != "prep" else []
    for at in range(after, len(words) - 1):
        if words[at].low == "between":
            return None
        if words[at].tag == "to":
            starts = [at + 2] if at + 2 < len(words) else []
        elif words[at].tag == "prep" and words[at].low != "of":
            starts.append(at + 1)
    if not starts:
        return None
    like = {word.low for word in right if word.tag == "prep" and word.low != "of"}
    for nth, begin in enumerate(starts[1:], start=1):
        if words[begin - 1].low in like:
            return starts[nth - 1]
    nearest, widest = words[starts[-1]], words[starts[0]]
    if right[0].tag == "det" and nearest.tag not in {"det", "poss"} and (
        widest.tag in {"det", "poss"}
    ):
        return starts[0]
    return starts[-1]


def _is_modified(words: Sequence[Token]) -> bool:
    """Whether a noun has a determiner, an adjective or another noun before it."""
    head = 0
    for word in words:
        if word.tag in {"prep", "rel", "to", "mark"}:
            break
        head += word.tag != "adv"
    return head >= 2


def _completed(draft: _Draft, left: list[Token], right: list[Token]) -> list[Token]:
    """The second of two nouns with what the first one has and both mean."""
    if right[0].tag in {"det", "poss"}:
        return right
    if left[0].low in _SHARED_NOUNS and len(left) == 2 and len(right) == 1:
        return [left[0], *right]
    ofs = [at for at, word in enumerate(right) if word.low == "of"]
    if len(left) == 2 and left[0].low == "the" and ofs == [1]:
        draft.words, draft.changed = [*draft.words, *right[1:]], True
        return [left[0], *right]
    return [left[0], *right] if left[0].tag == "poss" or left[0].low == "the" else right


def _shared_verb(
    subjects: list[list[Token]], words: list[Token], core: _Core
) -> list[list[Token]] | None:
    """A clause for each of its subjects; None where they act together."""
    verb, rest = words[core.first], words[core.first + 1 :]
    if any(word.low in _MUTUAL for word in rest) or "&" in {w.text for s in subjects for w in s}:
        return None
    low = subjects[0][0].low
    if low == "neither":
        return _negated_each([subjects[0][1:], *subjects[1:]], verb, rest)
    if low in {"both", "either"}:
        subjects = [subjects[0][1:], *subjects[1:]]
    singular = singular_verb(verb.low)
    plural = singular != verb.low or verb.tag == "aux" or verb.low.endswith(("ed", "t"))
    if not plural or not all(subjects) or verb.low in {"is", "has", "was", "does"}:
        return None
    return [
        [*subject, verb if is_plural(_head(subject).low) else replace(verb, text=singular), *rest]
        for subject in subjects
    ]


def _negated_each(
    subjects: list[list[Token]], verb: Token, rest: list[Token]
) -> list[list[Token]] | None:
    """"Neither A nor B works": A does not work, B does not work."""
    no = _new("not", verb, "neg")
    if verb.tag == "aux":
        return [[*subject, verb, no, *rest] for subject in subjects]
    plain = next((base for base in _plain(verb.low) if is_base(base)), None)
    if plain is None:
        return None
    does = [_new("does", verb, "aux"), no, _new(plain, verb, "base")]
    return [[*subject, *does, *rest] for subject in subjects]


def _plain(third: str) -> list[str]:
    return [third.removesuffix("s"), third.removesuffix("es"), third.removesuffix("ies") + "y"]


def _plain_of_ing(word: str) -> str | None:
    """The verb of an -ing form: ``praising`` → ``praise``."""
    stem = word.removesuffix("ing")
    return next((base for base in (stem, stem + "e", stem[:-1]) if is_base(base)), None)


def _with_not(words: list[Token]) -> list[Token]:
    """The words with "not" in place of "neither"."""
    return [replace(word, text="not") if word.low == "neither" else word for word in words]


def _described(words: list[Token]) -> list[Token] | None:
    """"The product is described as durable": the product is durable."""
    lows = [word.low for word in words]
    for at in range(len(words) - 3):
        if lows[at] in _BE and lows[at + 1 : at + 3] == ["described", "as"]:
            return [*words[: at + 1], *words[at + 3 :]]
    return None


def _small_clause(words: list[Token]) -> list[Token] | None:
    """"... found the strap flimsy": the strap is flimsy."""
    while words and words[0].tag == "adv":
        words = words[1:]
    if len(words) < 3 or words[0].low not in _FINDS:
        return None
    return _small_predicate(words[1:])


def _small_predicate(words: list[Token]) -> list[Token] | None:
    """"it too sweet", "the strap flimsy": with "is" or "are" between."""
    begin = next((at for at, word in enumerate(words) if at and word.tag in {"adj", "adv"}
                  and _shape(words[at:]) == "adjective"), None)  # fmt: skip
    if begin is None or any(w.tag not in {"det", "poss", "adj", "noun", "pron", "obj", "num"}
                            for w in words[:begin]):  # fmt: skip
        return None
    noun = words[:begin]
    if noun[-1].tag not in {"noun", "pron", "obj"} and noun[0].tag not in {"pron", "obj"}:
        return None
    plural = noun[0].low == "them" or is_plural(noun[-1].low)
    first = replace(noun[0], text="they") if noun[0].low == "them" else noun[0]
    return [first, *noun[1:], _new("are" if plural else "is", words[begin], "aux"), *words[begin:]]


def _last_noun(words: list[Token], core: _Core | None) -> list[Token]:
    """The noun at the end of a claim, from its determiner on."""
    if core is None:
        return []
    begin = len(words) - 1
    while begin > core.main and words[begin].tag in {"noun", "adj"}:
        begin -= 1
    found = words[begin:] if words[begin].tag in {"det", "poss"} else []
    return found if len(found) > 1 and found[-1].tag == "noun" else []


def _text(words: Sequence[Token], source: str) -> str:
    """Words as a sentence, spaced as in their source where they stand side by side."""
    parts: list[str] = []
    before: Token | None = None
    for word in words:
        together = before is not None and (before.end == word.start or word.text in ",;:.!?)%")
        parts.append(word.text if together or before is None else f" {word.text}")
        before = word
    said = "".join(parts).strip(" ,;—–-")
    end = source.rstrip()[-1:]
    said += "" if said.endswith(tuple(_ENDS)) else (end if end in _ENDS else ".")
    return said[:1].upper() + said[1:]
