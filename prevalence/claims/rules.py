"""The rules that make claims of a sentence's pieces, one piece after the other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from prevalence.claims.clauses import (
    BE,
    CONTRASTS,
    DEGREES,
    DISCOURSE,
    EFFECTS,
    ENDS,
    EXPLETIVE,
    SHARED_NOUNS,
    Core,
    Piece,
    adjective_start,
    commas_of,
    find_core,
    head_of,
    is_ended,
    is_finite,
    is_modified,
    is_predicate,
    last_noun,
    object_start,
    or_distributes,
    pieces_of,
    plain_of_ing,
    shape_of,
    shared_before_verb,
    shared_verb,
    small_clause,
    small_predicate,
    verb_of_contraction,
    with_not,
    without_description,
    without_discourse,
    without_first,
)
from prevalence.claims.english import Token, is_base, is_plural, singular_verb, tagged, word_set
from prevalence.claims.quantities import Quantity, after_frame, people_at

__all__ = ["MOST_WORDS", "Draft", "drafts_of"]

MOST_WORDS = 200
"""Words and marks of the longest sentence that is cut; a longer one is a claim as it is."""


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


def drafts_of(text: str) -> list[Draft]:
    """The claims of a sentence; none where no rule is safe or the sentence is too long."""
    words = tagged(text) if len(text) <= 20 * MOST_WORDS else []
    return _Folding(text).fold(words) if 0 < len(words) <= MOST_WORDS else []


class _Folding:
    """Takes the pieces of a sentence one after the other and makes claims of them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._drafts: list[Draft] = []
        self._lead: list[Token] = []
        self._waiting: list[Piece] = []
        self._asides: list[Piece] = []
        self._rest: list[Piece] = []
        self._said_by: Quantity | None = None
        self._dropped = False

    def fold(self, words: list[Token]) -> list[Draft]:
        """The claims of a sentence."""
        if words and words[-1].text == "?":
            return []
        while words and words[-1].text in ENDS:
            words = words[:-1]
        self._rest = _with_lists_of_adjectives(pieces_of(words))[::-1]
        while self._rest:
            piece = self._rest.pop()
            if self._drafts:
                self._follow(piece)
            else:
                self._begin(piece)
        if not self._drafts and not self._lead and all(map(_is_praise, self._waiting)):
            for piece in self._waiting:
                self._drafts.append(
                    Draft(piece.words, 0, piece.words[0].start, piece.words[-1].end)
                )
            self._waiting = []
        if self._lead or self._waiting or not self._drafts:
            return []
        return self._drafts

    def _begin(self, piece: Piece) -> None:
        """Take a piece before which there is no whole clause."""
        shape = shape_of(piece.words)
        if self._waiting and (is_ended(piece) or (shape == "clause" and self._is_apart(piece))):
            first, *others = self._waiting
            self._waiting = []
            self._fragment(first)
            for one in others:
                self._glue(one)
            self._follow(piece)
        elif self._lead and self._lead[0].tag == "sub" and not piece.comma:
            self._lead += [*piece.glue, *piece.words]
        elif (
            shape == "clause" and piece.joint in CONTRASTS - {"however"} and not self._is_answered()
        ):
            self._fragment(piece._replace(words=[*piece.glue, *piece.words]))
        elif shape == "clause":
            self._clause(piece)
        elif self._waiting:
            self._begin_subject(piece, shape)
        elif shape in {"sub", "prep", "adverb"}:
            self._set_aside(piece)
        elif shape == "noun" or (shape == "ing" and len(piece.words) == 1 and self._rest):
            self._waiting.append(piece)
        else:
            self._fragment(piece)

    def _is_apart(self, piece: Piece) -> bool:
        """Whether a clause has no part in the nouns before it: "great food and it was cheap"."""
        core = find_core(piece.words)
        alone = core is not None and piece.words[core.first].low in {"is", "was", "has"}
        praise = alone and all(map(_is_praise, self._waiting))
        return praise or piece.joint in {"but", "yet", "so"}

    def _begin_subject(self, piece: Piece, shape: str) -> None:
        """Take a piece after nouns that have no verb yet."""
        if shape == "verb":
            subject = self._waiting.pop()
            self._clause(subject._replace(words=[*subject.words, *piece.words]))
        elif shape == "rel":
            self._asides.append(piece)
        elif shape == "noun":
            self._waiting.append(piece)
        else:
            self._fragment(piece)

    def _is_answered(self) -> bool:
        """Whether a clause follows that "although" at the beginning sets its own against."""
        return any(not p.joint and shape_of(p.words) in {"clause", "noun"} for p in self._rest)

    def _is_source(self, piece: Piece) -> bool:
        """Whether a piece says who makes the statement after it: "according to most owners"."""
        start = piece.words[0].start
        found = after_frame(self._text[start:])
        if found is None or start + found[0] < piece.words[-1].end:
            return False
        self._said_by, self._dropped = found[1], True
        return True

    def _set_aside(self, piece: Piece) -> None:
        """Keep a condition or phrase for the clause after it; drop "overall" and sources."""
        if piece.words[0].low not in DISCOURSE and not self._is_source(piece):
            self._lead += [*piece.glue, *piece.words]

    def _fragment(self, piece: Piece) -> None:
        """Begin with a piece that is no clause: what was set aside goes with it."""
        words = [*self._lead]
        for waiting in [*self._waiting, *self._asides, piece]:
            words += [*waiting.glue, *waiting.words] if words else waiting.words
        self._lead, self._waiting, self._asides = [], [], []
        self._drafts.append(Draft(words, 0, words[0].start, words[-1].end))

    def _clause(self, piece: Piece) -> None:
        """Begin a claim with a clause of its own subject, or one for each of its subjects."""
        words = without_discourse(piece.words)
        draft = Draft(words, 0, piece.words[0].start, piece.words[-1].end)
        draft.changed = words is not piece.words or self._dropped
        draft.quantity, self._said_by = self._said_by, None
        self._drop_frame(draft)
        if draft.framed and shape_of(draft.words) == "noun":
            self._waiting.append(piece._replace(words=draft.words))
            return
        self._resolve(draft)
        core = find_core(draft.words)
        if core is None:
            self._fragment(piece)
            return
        aside, self._asides = self._asides, []
        for relative in aside:
            told = [*draft.words[: core.first], *relative.words[1:]]
            self._append(told, 0, relative, draft)
        if not aside and self._each_subject(draft, core, piece):
            return
        for waiting in reversed([*self._waiting, piece][:-1]):
            draft.words = [*waiting.words, *piece.glue, *draft.words]
            draft.start, piece = waiting.words[0].start, waiting
        self._waiting = []
        if self._lead:
            glue = piece.glue if piece.joint in {"and", "or"} else commas_of(piece)
            draft.lead = len(self._lead) + len(glue)
            draft.words = [*self._lead, *glue, *draft.words]
            draft.start, self._lead = self._lead[0].start, []
        self._drafts.append(draft)

    def _each_subject(self, draft: Draft, core: Core, piece: Piece) -> bool:
        """Make a claim of each subject that shares the verb, where that can be."""
        if not self._waiting or piece.joint not in {"and", "or", "nor"}:
            return False
        subjects = [*(waiting.words for waiting in self._waiting), draft.words[: core.first]]
        shared = shared_verb(subjects, draft.words, core)
        if shared is None:
            return False
        for one, waiting in zip(shared, [*self._waiting, piece], strict=True):
            self._append([*self._lead, *one], len(self._lead), waiting, draft)
        self._waiting, self._lead = [], []
        return True

    def _append(
        self,
        words: list[Token],
        lead: int,
        piece: Piece,
        source: Draft | None = None,
    ) -> None:
        """Add a claim that takes some of its words, and its frame, from another."""
        source = source or self._drafts[-1]
        draft = Draft(words, lead, piece.words[0].start, piece.words[-1].end, changed=True)
        draft.framed, draft.quantity = source.framed, source.quantity
        self._drafts.append(draft)

    def _drop_frame(self, draft: Draft) -> None:
        """Leave out "users say that"; make "users find it good" into "it is good"."""
        start, end = draft.words[0].start, draft.words[-1].end
        found = after_frame(self._text[start:end])
        if found is not None:
            words = [word for word in draft.words if word.start >= start + found[0]]
            if words and shape_of(words) in {"clause", "noun"}:
                draft.words, draft.quantity = words, found[1]
                draft.changed = draft.framed = True
                return
        said = without_description(draft.words)
        people = people_at(self._text, start)
        if said is None and people is not None:
            said = small_clause([word for word in draft.words if word.start >= people.end])
            draft.small = said is not None
            draft.quantity = people.quantity if said else None
        if said is not None:
            draft.words, draft.changed, draft.framed = said, True, True

    def _resolve(self, draft: Draft) -> None:
        """Put the subject of the clause before in place of "it", "they", "its" or "their"."""
        pointer = draft.words[0]
        subject = self._last_subject()
        low = pointer.low.split("'")[0]
        if not subject:
            return
        if low not in {"it", "they", "its", "their"}:
            _put_object(draft, subject)
            return
        if is_plural(head_of(subject).low) != (low in {"they", "their"}):
            return
        if any(word.low in EXPLETIVE for word in draft.words[1:5]):
            return
        put = [*subject]
        if low in {"its", "their"}:
            put[-1] = put[-1].reworded(put[-1].text + ("'" if low == "their" else "'s"))
        elif "'" in pointer.low:
            put.append(verb_of_contraction(pointer))
        draft.words, draft.changed = [*put, *draft.words[1:]], True

    def _last_subject(self) -> list[Token]:
        """The subject of the last claim that has one with a noun, but for people's own."""
        if not self._drafts:
            return []
        draft = self._drafts[-1]
        core = find_core(draft.words, draft.lead)
        if core is None:
            return []
        subject = draft.words[draft.lead : core.first]
        if subject and subject[0].tag in {"prep", "ing"}:
            return []
        plain = all(word.tag not in {"pron", "rel", "sub", "verb"} for word in subject)
        return [word for word in subject if word.tag not in {"adv", "neg"}] if plain else []

    def _follow(self, piece: Piece) -> None:
        """Take a piece after a claim: a claim of its own, or part of the one before."""
        shape = shape_of(piece.words)
        draft = self._drafts[-1]
        if self._waiting and shape not in {"clause", "noun", "rel"}:
            self._release()
        if shape == "sub" and self._leads(piece):
            self._lead = piece.words
            return
        if shape == "sub" and _is_whole(piece):
            self._fragment(piece)
            return
        ended = is_ended(piece) and shape != "clause"
        joins = piece.joint in {"and", "or"} or (piece.joint == "but" and shape != "clause")
        if ended or (not piece.comma and joins and _is_sealed(draft)):
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

    def _leads(self, piece: Piece) -> bool:
        """Whether a condition belongs to the clause after it: "..., but if it breaks, ..."."""
        if piece.joint not in {"and", "but", "yet", "so"} or not self._rest:
            return False
        following = self._rest[-1]
        return not following.joint and shape_of(following.words) == "clause"

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for piece in waiting:
            self._glue(piece)

    def _glue(self, piece: Piece) -> None:
        """Leave a piece with the claim before it."""
        if self._waiting:
            self._release()
        draft = self._drafts[-1]
        draft.words = [*draft.words, *piece.glue, *piece.words]
        draft.end = piece.words[-1].end

    def _next_clause(self, _: Draft, piece: Piece) -> bool:
        if piece.joint in {"or", "nor"}:
            return False
        self._clause(piece)
        return True

    def _next_that(self, draft: Draft, piece: Piece) -> bool:
        if not draft.framed:
            return False
        self._clause(piece._replace(words=piece.words[1:]))
        return True

    def _next_verb(self, draft: Draft, piece: Piece) -> bool:
        core = find_core(draft.words, draft.lead)
        if core is None:
            return False
        if core.first == 0 and draft.words[0].tag != "pron":
            return self._next_without_subject(draft, piece)
        if _is_participle(draft, core, piece.words):
            return self._next_adjective(draft, piece)
        either = piece.joint in {"or", "nor"}
        if (either and not or_distributes(draft.words, core)) or not (
            piece.joint or self._is_listed(piece)
        ):
            return False
        shared = shared_before_verb(draft.words, core, piece)
        if shared is None:
            return len(piece.words) == 1 and self._next_noun(draft, piece)
        self._append([*shared, *without_first(piece.words, {"also", "then"})], draft.lead, piece)
        return True

    def _next_without_subject(self, draft: Draft, piece: Piece) -> bool:
        """After "came here with friends": "had a good time" stands alone as well."""
        past = not any(is_base(one.words[0].low) or one.words[0].low.endswith("s")
                       for one in (piece, piece._replace(words=draft.words)))  # fmt: skip
        if past and piece.joint == "and" and draft.words[0].tag == "verb":
            self._append(piece.words, 0, piece)
            return True
        return False

    def _next_adjective(self, draft: Draft, piece: Piece) -> bool:
        core = find_core(draft.words, draft.lead)
        if core is None or (piece.joint in {"or", "nor"} and not or_distributes(draft.words, core)):
            return False
        begin = adjective_start(draft.words, core)
        if begin is None or (piece.words[0].tag == "ing" and draft.words[begin].tag != "adj"):
            return False
        shared, words = draft.words[:begin], without_first(piece.words, {"also", "then"})
        if piece.joint == "nor":
            draft.words = shared = with_not(draft.words)[:begin] and with_not(draft.words)
            shared = shared[:begin]
        if piece.joint == "but" and shared[-1].low == "not":
            shared = shared[:-1]
        degree = draft.words[begin]
        if degree.low in DEGREES and words[0].tag == "adj" and piece.joint != "but":
            shared = [*shared, degree]
            if degree.low == "too" and len(draft.words) == begin + 2:
                tail = words[1:]
                draft.words, draft.changed = [*draft.words, *tail], bool(tail)
        self._append([*shared, *words], draft.lead, piece)
        return True

    def _next_adverb(self, draft: Draft, piece: Piece) -> bool:
        core = find_core(draft.words, draft.lead)
        if core is None or draft.words[-1].tag != "adv" or core.main >= len(draft.words) - 1:
            return False
        if piece.joint == "or" and not or_distributes(draft.words, core):
            return False
        before = draft.words[:-1]
        if before[-1].low == "both":
            before = before[:-1]
            draft.words, draft.changed = [*before, draft.words[-1]], True
        self._append([*before, *piece.words], draft.lead, piece)
        return True

    def _next_noun(self, draft: Draft, piece: Piece) -> bool:
        """A noun: one more object, an adjective after "found X good", or the next subject."""
        if draft.small and (said := small_predicate(piece.words)) is not None:
            self._append(said, 0, piece)
            self._drafts[-1].small = True
            return True
        if self._waiting or self._begins_subject(piece):
            self._waiting.append(piece)
            return True
        core = find_core(draft.words, draft.lead)
        if core is None or not self._is_listed(piece):
            return False
        begin = None
        if piece.joint != "or" or or_distributes(draft.words, core):
            begin = object_start(draft.words, core, piece.words)
        return begin is not None and self._add_object(draft, core, begin, piece)

    def _add_object(self, draft: Draft, core: Core, begin: int, piece: Piece) -> bool:
        """Make a claim with another noun in place of the one that begins there."""
        left, right = draft.words[begin:], piece.words
        linked = draft.words[core.main].low in BE
        plain = [word for word in left if word.tag != "adv"] or left
        if (linked and plain[0].tag == "adj" and is_predicate(plain)) or _is_sealed(draft):
            return False
        if left[-1].tag == "adj" and left[0].tag == "det":
            return False  # "a fun and easy game"
        bare = right[0].tag not in {"det", "poss"}
        if bare and _has_purpose(right) and not _has_purpose(left):
            return False  # "adults and children to sleep": both are
        paired = left[0].low in {"both", "either"}
        left = left[paired:]
        if not left or not (piece.comma or self._both_stand(draft, left, right)):
            return False
        if paired:
            draft.words, draft.changed = [*draft.words[:begin], *left], True
        self._append([*draft.words[:begin], *_completed(draft, left, right)], draft.lead, piece)
        return True

    def _begins_subject(self, piece: Piece) -> bool:
        """Whether the noun is the first of several subjects of the clause that follows."""
        if not self._rest or not piece.comma or piece.joint not in {"and", "but", "yet", "so"}:
            return False
        following = self._rest[-1]
        return (
            following.joint == "and"
            and not following.comma
            and (shape_of(following.words) == "clause")
        )

    def _is_listed(self, piece: Piece) -> bool:
        """Whether a noun after a comma belongs to a list that ends in "and" or "or"."""
        if piece.joint:
            return piece.joint in {"and", "or"}
        for later in reversed(self._rest):
            if shape_of(later.words) not in {"noun", "adjective", "verb"}:
                return False
            if later.joint:
                return later.joint in {"and", "or"}
        return False

    def _both_stand(self, draft: Draft, left: list[Token], right: list[Token]) -> bool:
        """Whether two nouns are of one weight, so that each can be the object alone."""
        people = people_at(self._text, draft.words[draft.lead].start)
        if people is not None and draft.words[draft.lead].start >= draft.start:
            return True
        of = [at for at, word in enumerate(left) if word.low == "of"]
        if of and is_modified(left[of[-1] + 1 :]) == is_modified(right):
            return right[0].tag in {"det", "poss"} and left[0].tag in {"det", "poss"}
        if len(left) == 2 and left[0].tag == "det" and right[0].tag == "noun" and len(right) > 1:
            return False  # "the vegetable and tofu rice"
        if is_modified(left) == is_modified(right):
            return True
        return left[0].low in SHARED_NOUNS and len(left) == 2 and len(right) == 1

    def _next_ing(self, draft: Draft, piece: Piece) -> bool:
        """One word more, or "making it ideal for travel": the subject is ideal for travel."""
        if piece.joint in {"and", "or"} and len(piece.words) == 1:
            return self._next_adjective(draft, piece) or self._next_noun(draft, piece)
        return piece.comma and self._made(draft, piece, piece.words)

    def _made(self, draft: Draft, piece: Piece, words: list[Token]) -> bool:
        core = find_core(draft.words, draft.lead)
        fits = len(words) > 2 and words[0].low in {"making", "makes", "made"}
        if core is None or not fits or words[1].low not in {"it", "them"}:
            return False
        if shape_of(words[2:]) != "adjective" and words[2].tag != "det":
            return False
        subject = draft.words[: core.first]
        verb = "are" if words[1].low == "them" else "is"
        self._append([*subject, words[0].reworded(verb, "aux"), *words[2:]], draft.lead, piece)
        return True

    def _next_prep(self, draft: Draft, piece: Piece) -> bool:
        """After a comma "with friendly staff" is what the subject has; else one more phrase."""
        core = find_core(draft.words, draft.lead)
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
        if piece.joint == "or" and not or_distributes(draft.words, core):
            return False
        self._append([*draft.words[: same[-1]], *words], draft.lead, piece)
        return True

    def _with(self, draft: Draft, core: Core, words: list[Token]) -> list[Token] | None:
        people = people_at(self._text, words[1].start)
        doing = [at for at, word in enumerate(words) if word.tag == "ing"]
        if people is not None and doing:
            verb = plain_of_ing(words[doing[0]].low)
            if verb is None:
                return None
            return [*words[1 : doing[0]], words[doing[0]].reworded(verb, "verb"),
                    *words[doing[0] + 1 :]]  # fmt: skip
        being = any(word.low in {"being", "having"} for word in words)
        if doing or being or not is_modified(words[1:]):
            return None
        subject = draft.words[draft.lead : core.first]
        verb = "have" if is_plural(head_of(subject).low) else "has"
        return [*draft.words[: core.first], words[0].reworded(verb, "verb"), *words[1:]]

    def _next_relative(self, draft: Draft, piece: Piece) -> bool:
        """A relative clause after a comma, said of the noun before it."""
        words = piece.words
        if self._waiting:
            self._asides.append(piece)
            return True
        if not piece.comma or words[0].low not in {"which", "who"} or len(words) < 3:
            return False
        if words[0].low == "which" and words[1].low in EFFECTS:
            return self._made(draft, piece, words[1:])
        core = find_core(draft.words, draft.lead)
        noun = last_noun(draft.words, core)
        if not noun or not is_finite(words, 1):
            return False
        if is_plural(head_of(noun).low) != (singular_verb(words[1].low) != words[1].low):
            return False
        self._append([*noun, *words[1:]], 0, piece)
        return True


def _put_object(draft: Draft, subject: list[Token]) -> None:
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
    if is_plural(head_of(subject).low) == (words[place].low == "them"):
        put = [subject[0].reworded(subject[0].low), *subject[1:]]
        draft.words, draft.changed = [*words[:place], *put, *words[place + 1 :]], True


def _has_purpose(words: list[Token]) -> bool:
    """Whether "to" and a verb follow a noun."""
    return any(one.tag == "to" and two.tag in {"base", "aux"} for one, two in pairwise(words))


def _is_praise(piece: Piece) -> bool:
    """Whether a noun says something by its adjective alone: "great food"."""
    return piece.words[0].tag == "adj" and piece.joint in {"and", ""} and is_modified(piece.words)


def _is_whole(piece: Piece) -> bool:
    """Whether a condition has its clause with it: "but when it broke the seller paid"."""
    if piece.words[0].tag != "sub" or piece.joint not in {"and", "but", "yet"}:
        return False
    places = range(1, len(piece.words))
    verbs = [
        at for at in places if is_finite(piece.words, at) and not is_finite(piece.words, at - 1)
    ]
    return len(verbs) > 1 and (piece.comma or piece.joint != "and")


def _is_sealed(draft: Draft) -> bool:
    """Whether a condition, reason or clause at the end of a claim takes what follows."""
    core = find_core(draft.words, draft.lead)
    if core is None:
        return False
    return any(word.tag in {"sub", "rel"} for word in draft.words[core.main + 1 :])


_STATES = word_set("""
loaded filled packed made built designed priced located seasoned cooked stocked staffed covered
suited topped crafted equipped maintained organized presented prepared served decorated packaged
""")
"""Past forms that say what something is before a preposition: "loaded with flavor"."""


def _with_lists_of_adjectives(pieces: list[Piece]) -> list[Piece]:
    """The pieces, with "fresh | and healthy food" after another noun made one."""
    found: list[Piece] = []
    for piece in pieces:
        adjective = found[-1] if len(found) > 1 else None
        noun = (
            adjective is not None
            and piece.joint == "and"
            and not piece.comma
            and all(word.tag == "adj" for word in adjective.words)
            and found[-2].words[-1].tag == "noun"
            and shape_of(piece.words) == "noun"
        )
        if noun and adjective is not None:
            found[-1] = adjective._replace(words=[*adjective.words, *piece.glue, *piece.words])
        else:
            found.append(piece)
    return found


def _is_participle(draft: Draft, core: Core, words: list[Token]) -> bool:
    """Whether a past form is what something is ("sharp, well balanced"), not what it did."""
    linked = draft.words[core.main].low in BE
    first = next((word for word in words if word.tag not in {"adv", "neg"}), words[0])
    after = words[words.index(first) + 1 :]
    if linked and first.low in _STATES and (not after or after[0].tag == "prep"):
        return True
    return linked and first is words[-1] and first.tag == "verb" and first.low.endswith("ed")


def _completed(draft: Draft, left: list[Token], right: list[Token]) -> list[Token]:
    """The second of two nouns with what the first one has and both mean."""
    if right[0].tag in {"det", "poss"}:
        return right
    if left[0].low in SHARED_NOUNS and len(left) == 2 and len(right) == 1:
        return [left[0], *right]
    ofs = [at for at, word in enumerate(right) if word.low == "of"]
    if len(left) == 2 and left[0].low == "the" and ofs == [1]:
        draft.words, draft.changed = [*draft.words, *right[1:]], True
        return [left[0], *right]
    return [left[0], *right] if left[0].tag == "poss" or left[0].low == "the" else right
