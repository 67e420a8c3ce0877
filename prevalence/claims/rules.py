"""The rules that make claims of a sentence's pieces, one piece after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.claims.clauses import (
    BE,
    CONTRASTS,
    DEGREES,
    DISCOURSE,
    EFFECTS,
    ENDS,
    Core,
    Piece,
    adjective_start,
    before_own,
    commas_of,
    find_core,
    head_of,
    is_ended,
    is_evasive,
    is_held,
    is_predicate,
    last_noun,
    or_distributes,
    pieces_of,
    shape_of,
    shared_before_verb,
    subject_of,
    with_not,
    without_discourse,
    without_first,
)
from prevalence.claims.drafts import (
    Draft,
    agreeing,
    effect_of,
    ends_in_particle,
    has_purpose,
    held_with,
    is_bound,
    is_cut_short,
    is_doing,
    is_inverted,
    is_lone_noun,
    is_of_one,
    is_participle,
    is_praise,
    is_sealed,
    is_told_first,
    is_torn,
    is_whole,
    leans,
    lists_verbs,
    plain_text,
    praises,
    shares_noun,
    told_of,
)
from prevalence.claims.english import Token, has_negation
from prevalence.claims.frames import (
    before_that,
    described_so,
    drop_frame,
    finders_in,
    found_besides,
    frame_of,
    goes_on_saying,
    is_advice,
    is_of_buyers,
    is_shared_view,
    names_people,
    reported_so,
)
from prevalence.claims.idioms import INSTANCES, is_cleft, plain_pieces, plain_words
from prevalence.claims.noun_lists import (
    completed,
    finds_both,
    is_ambiguous,
    object_start,
    of_one_weight,
    shared_tail,
    shared_verb,
)
from prevalence.claims.outlook import Outlook
from prevalence.claims.pronouns import named_before, resolve
from prevalence.claims.small_clauses import gapped, small_clause, small_predicate
from prevalence.claims.speakers import people_at
from prevalence.claims.words import is_base, is_plural

if TYPE_CHECKING:
    from prevalence.claims.amounts import Quantity

__all__ = ["folded"]


def folded(text: str, words: list[Token]) -> list[Draft]:
    """The claims that words of a sentence make; none where no rule is safe.

    Args:
        text: the sentence.
        words: some or all of its words, tagged.
    """
    return _Folding(text).fold(words)


class _Folding:
    """Takes the pieces of a sentence one after the other and makes claims of them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._drafts: list[Draft] = []
        self._lead: list[Token] = []
        self._scope: list[Token] = []
        self._waiting: list[Piece] = []
        self._asides: list[Piece] = []
        self._rest = Outlook()
        self._said_by: Quantity | None = None
        self._dropped = False

    def fold(self, words: list[Token]) -> list[Draft]:
        """The claims of a sentence."""
        if words and words[-1].text == "?":
            return []
        while words and words[-1].text in ENDS:
            words = words[:-1]
        if is_cleft(words):
            return []
        plain = plain_words(words)
        self._dropped = len(plain) < len(words)
        pieces = pieces_of(plain)
        self._rest = Outlook(reversed(plain_pieces(pieces)))
        self._dropped = self._dropped or len(self._rest) < len(pieces)
        while self._rest:
            piece = self._rest.pop()
            if self._drafts:
                self._follow(piece)
            else:
                self._begin(piece)
        begun = self._drafts or self._lead or self._asides
        whole = all(word.tag != "prep" for piece in self._waiting[:-1] for word in piece.words)
        if not begun and whole and all(map(is_praise, self._waiting)):
            praised, self._waiting = self._waiting, []
            for piece in praised:
                self._fragment(piece)
        if self._lead or self._waiting or self._asides or not self._drafts:
            return []
        return self._drafts

    def _begin(self, piece: Piece) -> None:
        """Take a piece before which there is no whole clause."""
        shape = shape_of(piece.words)
        told = not (self._asides or self._waiting) and is_told_first(piece, self._rest.after(piece))
        if self._waiting and (is_ended(piece) or (shape == "clause" and self._is_apart(piece))):
            self._end_waiting()
            self._follow(piece)
        elif self._extends_lead(piece, shape):
            self._lead += [*piece.glue, *piece.words]
        elif shape == "clause" and not told:
            self._first_clause(piece)
        elif self._waiting:
            self._begin_subject(piece, shape)
        elif shape in {"sub", "prep", "adverb"}:
            self._set_aside(piece)
        elif told:
            self._asides.append(piece)
        elif shape == "noun" or (
            shape == "ing" and self._rest and is_doing(piece, self._rest.after(piece))
        ):
            self._waiting.append(piece)
        elif shape == "adjective" and shares_noun(self._rest.after(piece)):
            following = self._rest.pop()
            self._begin(piece._replace(words=[*piece.words, *following.glue, *following.words]))
        else:
            self._fragment(piece)

    def _first_clause(self, piece: Piece) -> None:
        if piece.joint in CONTRASTS - {"however"} and not self._rest.answers():
            self._fragment(piece._replace(words=[*piece.glue, *piece.words]))
        else:
            self._clause(piece)

    def _end_waiting(self) -> None:
        """Make one claim of nouns that get no verb."""
        first, *others = self._waiting
        self._waiting = []
        self._fragment(first)
        for one in others:
            self._glue(one)

    def _extends_lead(self, piece: Piece, shape: str) -> bool:
        """Whether a piece goes on with a phrase before the subject: "for small | or old dogs"."""
        listed = piece.joint == "or" and shape in {"noun", "ing"}
        return bool(self._lead) and not piece.comma and (self._lead[0].tag == "sub" or listed)

    def _is_apart(self, piece: Piece) -> bool:
        """Whether a clause has no part in the nouns before it: "great food and it was cheap"."""
        core = find_core(piece.words)
        alone = core is not None and piece.words[core.first].low in {"is", "was", "has"}
        praise = alone and all(map(is_praise, self._waiting))
        return praise or piece.joint in {"but", "yet", "so"}

    def _begin_subject(self, piece: Piece, shape: str) -> None:
        """Take a piece after nouns that have no verb yet."""
        last = self._waiting[-1]
        if shape in {"adjective", "verb"} and self._asides and piece.joint and not piece.comma:
            words = [*self._asides[-1].words, *piece.glue, *piece.words]
            self._asides[-1] = self._asides[-1]._replace(words=words)
        elif shape == "verb" and piece.comma and len(piece.words) == 1 and not self._asides:
            self._waiting.append(piece)  # "its camera, display and speed": a noun
        elif shape == "verb" and piece.joint in {"and", "or"} and not self._asides:
            self._waiting.append(piece)  # "the lens | and flash work": a noun
        elif shape == "verb":
            named = len(self._waiting) == 2 and piece.comma and not (piece.joint or last.joint)
            if named and last.words[0].low in {"a", "an"}:
                self._asides.append(self._waiting.pop())
            subject = self._waiting.pop()
            self._clause(subject._replace(words=[*subject.words, *piece.words]))
        elif shape == "rel":
            self._asides.append(piece)
        elif shape == "noun":
            self._waiting.append(piece)
        else:
            self._fragment(piece)

    def _is_source(self, piece: Piece) -> bool:
        """Whether a piece says who makes the statement after it: "according to most owners"."""
        start = piece.words[0].start
        found = frame_of(self._text[start:])
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
        pieces = [*self._waiting, *self._asides, piece]
        for waiting in sorted(pieces, key=lambda one: one.words[0].start):
            words += [*waiting.glue, *waiting.words] if words else waiting.words
        self._lead, self._scope, self._waiting, self._asides = [], [], [], []
        self._drafts.append(Draft(words, 0, words[0].start, words[-1].end))

    def _clause(self, piece: Piece, sayers: Draft | None = None) -> None:
        """Begin a claim with a clause of its own subject, or one for each of its subjects.

        Args:
            piece: the clause.
            sayers: a claim before it that is made by the same people.
        """
        words = without_discourse(piece.words)
        draft = Draft(words, 0, piece.words[0].start, piece.words[-1].end)
        draft.changed = words is not piece.words or self._dropped
        draft.quantity, self._said_by = self._said_by, None
        if not (self._rest and goes_on_saying(self._rest[-1])):
            drop_frame(draft, self._drafts[-1] if self._drafts else None)
        if sayers is not None and not draft.framed:
            draft.framed, draft.quantity = sayers.framed, sayers.quantity
        if draft.framed and shape_of(draft.words) == "noun":
            self._waiting.append(piece._replace(words=draft.words))
            return
        if self._drafts:
            resolve(draft, named_before(self._drafts))
        core = find_core(draft.words)
        if core is None:
            self._fragment(piece)
            return
        draft.lead = before_that(draft, core)
        begun = self._lead
        self._set_scope(piece)
        aside, self._asides = self._asides, []
        for relative in aside:
            self._tell(draft, core, relative)
        if not aside and self._each_subject(draft, core, piece):
            return
        for waiting in reversed([*self._waiting, piece][:-1]):
            draft.words = [*waiting.words, *piece.glue, *draft.words]
            draft.start, piece = waiting.words[0].start, waiting
        self._waiting = []
        draft.words = [*self._scope, *draft.words]
        draft.lead += len(self._scope)
        draft.start = begun[0].start if begun else draft.start
        self._drafts.append(draft)

    def _set_scope(self, piece: Piece) -> None:
        """Find the condition of a clause: its own, or that of the clause before."""
        if self._lead:
            first = (self._waiting or [piece])[0]
            glue = first.glue if first.joint in {"and", "or"} else commas_of(first)
            self._scope, self._lead = [*self._lead, *glue], []
        elif (
            not self._continues(piece)
            or any(word.tag == "conj" for word in self._scope[:1])
            or names_people(piece)
        ):
            self._scope = []

    def _continues(self, piece: Piece) -> bool:
        """Whether a clause goes on with what is said before: no contrast, no new sentence."""
        ends = "and" if any(one.joint == "and" for one in self._rest) else ""
        return all(
            (one.joint or ends) == "and"
            and all(token.text == "," for token in one.glue if token.tag == "mark")
            for one in (*self._waiting[:1], piece)
        )

    def _tell(self, draft: Draft, core: Core, aside: Piece) -> None:
        """Make claims of what stands beside a subject: "which is made of wool", "an old mill"."""
        subject, words = subject_of(draft.words, core), aside.words
        quantity = None
        if words[0].tag == "rel" and (reported := reported_so(words)):
            said, quantity = [*subject, *reported[0]], reported[1]
        elif words[0].tag == "rel":
            said = described_so(subject, words) or [*subject, *words[1:]]
        else:
            verb = draft.words[core.first].low
            if verb not in {"is", "are", "was", "were"}:
                verb = "are" if is_plural(head_of(subject).low) else "is"
            begun = words[0].text[0].lower() + words[0].text[1:]
            said = [*subject, words[0].reworded(verb, "aux"), words[0].reworded(begun), *words[1:]]
        for one in _Folding(self._text).fold(said) or [Draft(said, 0, 0, 0)]:
            self._append(one.words, one.lead, aside, draft)
            self._drafts[-1].quantity = quantity or self._drafts[-1].quantity
            if aside.joint in CONTRASTS:
                self._drafts[-1].quantity = None  # "while slow, most users like it"

    def _each_subject(self, draft: Draft, core: Core, piece: Piece) -> bool:
        """Make a claim of each subject that shares the verb, where that can be."""
        if not self._waiting or piece.joint not in {"and", "or", "nor"}:
            return False
        subjects = [*(waiting.words for waiting in self._waiting), draft.words[: core.first]]
        apart = piece.joint != "or" or or_distributes(draft.words, core)
        shared = shared_verb(subjects, draft.words, core) if apart else None
        if shared is None:
            return False
        before = len(self._drafts)
        for one, waiting in zip(shared, [*self._waiting, piece], strict=True):
            self._append([*self._scope, *one], len(self._scope), waiting, draft)
        self._join_from(before)
        self._waiting = []
        return True

    def _join_from(self, begin: int) -> None:
        """What is said next is said of all the claims from here on."""
        joined = self._drafts[begin:]
        for draft in joined:
            draft.alike = joined

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

    def _follow(self, piece: Piece) -> None:
        """Take a piece after a claim: a claim of its own, or part of the one before."""
        shape = shape_of(piece.words)
        draft = self._drafts[-1]
        if self._waiting and shape not in {"clause", "noun", "rel"}:
            self._release()
        if shape == "clause" and leans(piece, draft):
            self._glue(piece)
            return
        if shape == "sub" and self._rest.leads(piece):
            self._lead = piece.words
            return
        if shape == "sub" and is_whole(piece):
            self._fragment(piece)
            return
        ended = is_ended(piece) and shape != "clause"
        joins = piece.joint in {"and", "or"} or (piece.joint == "but" and shape != "clause")
        sealed = not piece.comma and joins and is_sealed(draft, piece)
        verbs = shape in {"adjective", "verb"} and lists_verbs(draft, self._rest.listed(piece))
        short = shape == "clause" and is_cut_short(draft, piece)
        if ended or sealed or verbs or short or is_bound(draft, piece):
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
        before = len(self._drafts)
        sources = draft.alike if draft.alike and shape in {"verb", "adjective"} else [draft]
        taken = [take is not None and take(one, agreeing(piece, one)) for one in sources]
        if not any(taken):
            self._glue(piece)
        elif len(sources) > 1:
            self._join_from(before)

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for piece in waiting:
            self._glue(piece)

    def _glue(self, piece: Piece) -> None:
        """Leave a piece with the claim before it."""
        if self._waiting:
            self._release()
        for draft in self._drafts[-1].alike or self._drafts[-1:]:
            draft.words = [*draft.words, *piece.glue, *piece.words]
            draft.end = piece.words[-1].end

    def _next_clause(self, draft: Draft, piece: Piece) -> bool:
        if piece.joint in {"or", "nor"}:
            return False
        if draft.framed and piece.words[0].low == "that" and len(piece.words) > 2:
            return self._next_that(draft, piece)
        shared = self._continues(piece) and is_shared_view(draft, piece)
        self._clause(piece, draft if shared else None)
        return True

    def _next_that(self, draft: Draft, piece: Piece) -> bool:
        if draft.framed:
            self._clause(piece._replace(words=piece.words[1:]), draft)
        elif draft.lead and draft.words[draft.lead - 1].low == "that":
            self._append([*draft.words[: draft.lead], *piece.words[1:]], draft.lead, piece)
        else:
            return False
        return True

    def _next_verb(self, draft: Draft, piece: Piece) -> bool:
        sayers = find_core(draft.words) if draft.lead and goes_on_saying(piece) else None
        if sayers is None and not is_advice(draft, piece):
            return self._another_verb(draft, piece)
        before = sayers.first if sayers else 0  # "users find that it is big | but like it"
        self._append([*draft.words[:before], *piece.words], 0, piece)
        return True

    def _another_verb(self, draft: Draft, piece: Piece) -> bool:
        core = find_core(draft.words, draft.lead)
        framed = draft.framed and not draft.people and is_of_buyers(piece)
        if core is None or framed or is_inverted(piece):
            return False
        if core.first == 0 and draft.words[0].tag != "pron":
            return self._next_without_subject(draft, piece)
        if is_participle(draft, core, piece.words):
            return self._next_adjective(draft, piece)
        joint = self._rest.joint_of(piece)
        if (joint in {"or", "nor"} and not or_distributes(draft.words, core)) or not (
            piece.joint or self._rest.lists(piece) or piece.words[0].tag == "aux"
        ):
            return False
        shared = shared_before_verb(draft.words, core, piece._replace(joint=joint))
        if draft.people:
            shared = [*self._scope, *draft.people]
        if shared is None:
            return is_lone_noun(draft, core, piece) and self._next_noun(draft, piece)
        said = small_clause(piece.words)
        if said is not None and finders_in(plain_text([*shared, piece.words[0]])):
            self._append([*self._scope, *said], len(self._scope), piece)
            self._drafts[-1].people = tuple(shared[len(self._scope) :])
        else:
            words = without_first(piece.words, {"also", "then"})
            self._append([*shared, *words], draft.lead, piece)
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
        begin = adjective_start(draft.words, core, piece.words)
        if begin is not None and draft.words[begin].tag == "det" and not piece.joint:
            return False  # "a place to get a massage, facial and haircut"
        if begin is None or (piece.words[0].tag == "ing" and draft.words[begin].tag != "adj"):
            return False
        contrast = piece.joint in {"but", "yet"}
        words = without_first(piece.words, {"also", "then"})
        shared, adjectives = before_own(draft.words[:begin], core, words), draft.words[begin:]
        joint = self._rest.joint_of(piece)
        if (not contrast and is_evasive(adjectives)) or is_held(
            shared[core.first :], [adjectives, words], joint
        ):
            return False
        if piece.joint == "nor":
            draft.words = shared = with_not(draft.words)[:begin] and with_not(draft.words)
            shared = shared[:begin]
        against = contrast or "but" in {word.low for word in draft.words[begin:]}
        if against and has_negation(shared[core.first :]):
            if shared[-1].low != "not":
                return False  # "isn't soft but durable"
            shared = shared[:-1]
        degree = draft.words[begin]
        if degree.low in DEGREES and words[0].tag == "adj" and piece.joint != "but":
            shared = [*shared, degree]
            if degree.low == "too" and len(draft.words) == begin + 2:
                tail = words[1:]
                draft.words, draft.changed = [*draft.words, *tail], bool(tail)
        self._append([*shared, *words], draft.lead, piece)
        self._drafts[-1].people = draft.people
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
        if draft.people and (said := small_predicate(piece.words)) is not None:
            self._append([*self._scope, *said], len(self._scope), piece)
            self._drafts[-1].people = draft.people
            return True
        if is_of_one(piece) or piece.words[0].low in INSTANCES or is_torn(piece):
            return False
        if self._waiting or self._rest.begin_subject(piece, self._text):
            self._waiting.append(piece)
            return True
        core = find_core(draft.words, draft.lead)
        said = None if core is None else gapped(draft.words, core, piece.words)
        if piece.comma and is_praise(piece) and (core is None or praises(self._drafts, core)):
            said = said or piece.words
        if said is not None:
            self._append([*self._scope, *said], len(self._scope), piece)
            return True
        held = any(ends_in_particle(one.words) for one in self._rest.listed(piece))
        if core is None or held or not self._rest.lists(piece):
            return False
        begin = None
        if piece.joint != "or" or or_distributes(draft.words, core):
            begin = (piece.comma * draft.listed) or object_start(draft.words, core, piece.words)
        return begin is not None and self._add_object(draft, core, begin, piece)

    def _add_object(self, draft: Draft, core: Core, begin: int, piece: Piece) -> bool:
        """Make a claim with another noun in place of the one that begins there."""
        left, right = draft.words[begin:], piece.words
        plain = [word for word in left if word.tag != "adv"] or left
        if is_ambiguous(draft.words, core, begin, piece) or finds_both(draft.words, core, right):
            return False
        linked = draft.words[core.main].low in BE and plain[0].tag == "adj" and is_predicate(plain)
        only = any(word.low == "only" for word in draft.words[: core.first])
        if linked or only or is_sealed(draft) or is_evasive(left):
            return False
        if left[0].low == "both" and all(word.tag == "adj" for word in left[1:]):
            noun = [word for word in right if word.tag != "adj"]
            draft.words, left = [*draft.words, *noun], [*left, *noun]
        if left[-1].tag == "adj" and left[0].tag == "det":
            return False  # "a fun and easy game"
        bare = right[0].tag not in {"det", "poss"}
        if bare and has_purpose(right) and not has_purpose(left):
            return False  # "adults and children to sleep": both are
        paired = left[0].low in {"both", "either"}
        left = left[paired:]
        if not left or not (piece.comma or self._both_stand(draft, left, right)):
            return False
        if paired:
            draft.words, draft.changed = [*draft.words[:begin], *left], True
        tail = shared_tail(left, right)
        for one in self._drafts if tail else []:
            if one.words[:begin] == draft.words[:begin]:
                one.words, one.changed = [*one.words, *tail], True
        self._append([*draft.words[:begin], *completed(left, right)], draft.lead, piece)
        self._drafts[-1].listed = begin
        return True

    def _both_stand(self, draft: Draft, left: list[Token], right: list[Token]) -> bool:
        """Whether two nouns are of one weight, so that each can be the object alone."""
        begin = draft.words[draft.lead].start
        told = people_at(self._text, begin) is not None and begin >= draft.start
        return told or of_one_weight(left, right)

    def _next_ing(self, draft: Draft, piece: Piece) -> bool:
        """One word more, or "making it ideal for travel", "calling it soft": it is ideal, soft."""
        if len(piece.words) == 1 and self._rest.lists(piece):
            return self._next_adjective(draft, piece) or self._next_noun(draft, piece)
        if piece.joint in {"and", "or"} and piece.words[1].tag == "noun":
            return self._next_noun(draft, piece)
        if not piece.comma or self._tell_effect(draft, piece, piece.words):
            return piece.comma
        said, quantity = found_besides(draft, piece.words)
        if said:
            self._append(said, 0, piece)
            self._drafts[-1].quantity = quantity
        return bool(said)

    def _tell_effect(self, draft: Draft, piece: Piece, words: list[Token]) -> bool:
        if (said := effect_of(draft, words)) is not None:
            self._append(said, draft.lead, piece)
        return said is not None

    def _next_prep(self, draft: Draft, piece: Piece) -> bool:
        """After a comma "with friendly staff" is what the subject has; else one more phrase."""
        core = find_core(draft.words, draft.lead)
        words = piece.words
        if core is None or core.first == draft.lead or len(words) < 2:
            return False
        denied = words[0].low == "not" and draft.words[core.main].low in BE
        words = words[denied:]
        if piece.comma and not piece.joint and words[0].low == "with":
            doing = self._rest and any(word.tag == "ing" for word in self._rest[-1].words)
            said = None if doing else held_with(draft, core, words)
            if said is None:
                return False
            self._append(said, draft.lead, piece)
            return True
        same = [at for at in range(core.main, len(draft.words))
                if draft.words[at].low == words[0].low]  # fmt: skip
        joints = {"but", "yet"} if denied else {"and", "or"}
        if not same or words[0].low == "as" or piece.joint not in joints:
            return False
        shared = draft.words[: same[-1]]
        if denied:
            shared.insert(core.main + 1, piece.words[0])
        if piece.joint == "or" and not or_distributes(draft.words, core):
            return False
        self._append([*shared, *words], draft.lead, piece)
        return True

    def _next_relative(self, draft: Draft, piece: Piece) -> bool:
        """A relative clause after a comma, said of the noun before it."""
        words = piece.words
        if self._waiting:
            self._asides.append(piece)
            return True
        if not piece.comma or words[0].low not in {"which", "who"} or len(words) < 3:
            return False
        if words[0].low == "which" and words[1].low in EFFECTS:
            return self._tell_effect(draft, piece, words[1:])
        said = described_so(last_noun(draft.words, find_core(draft.words, draft.lead)), words)
        if said is None and (noun := told_of(draft, words)):
            said = [*noun, *words[1:]]
        if said is not None:
            self._append(said, 0, piece)
        return said is not None
