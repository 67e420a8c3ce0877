"""Turns of phrase of summaries, put plainly before a sentence is cut.

"Not only A but also B" is A and B, ", however," inside a clause says nothing by itself, and "with
some finding it hard" is a clause of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.claims.clauses import Piece, find_core, shape_of
from prevalence.claims.english import retagged
from prevalence.claims.speakers import after_frame, people_at
from prevalence.claims.words import (
    COPULAS,
    be_after,
    is_past,
    is_plural,
    plain_of_ing,
    singular_verb,
    word_set,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.claims.english import Token
    from prevalence.claims.speakers import People

__all__ = ["INSTANCES", "is_cleft", "plain_pieces", "plain_words"]

_ASIDES = tuple(
    text.split()
    for text in ("however", "though", "too", "on the other hand", "in contrast", "in particular",
                 "overall", "unfortunately", "by contrast", "as a result", "in turn",
                 "by most accounts", "by all accounts", "for the most part", "by and large",
                 "in general", "in many cases")
)  # fmt: skip
"""What may stand between commas inside a clause without a part in what it says."""
_SOMEBODY = frozenset({"one", "another", "at least one", "more than one"})
_BREAKS = word_set(", ; : . ! ? — –")
_NAMING = {"pron", "det", "poss", "noun"}
INSTANCES = word_set("especially particularly notably")
_NAMED = {"det", "poss", "adj", "noun", "num"}
_ONLY = word_set("only just merely simply")


def is_cleft(words: Sequence[Token]) -> bool:
    """Whether a sentence begins as "where it fails is the lid: it sticks" and has more."""
    begins = bool(words) and words[0].low in {"what", "where"}
    return begins and any(word.text == ":" or word.tag == "rel" for word in words[1:])


def plain_words(words: list[Token]) -> list[Token]:
    """The words without "not only", asides between commas, and "alike" after a pair.

    >>> from prevalence.claims.english import tagged
    >>> def plain(text): return " ".join(word.text for word in plain_words(tagged(text)))
    >>> plain("It not only fits but also lasts")
    'It fits and lasts'
    >>> plain("The lid , however , leaks")
    'The lid leaks'
    """
    words = _without_asides(_without_not_only(words))
    words = retagged(_coming_across(_without_names(words)))
    return [
        word
        for at, word in enumerate(words)
        if word.low != "alike"
        or not at
        or words[at - 1].tag in {"verb", "base", "aux"}
        or _text_at(words, at + 1) not in _BREAKS | {""}
    ]


def _coming_across(words: list[Token]) -> list[Token]:
    """The words with "are" in place of "come across as", and likewise."""
    found: list[Token] = []
    place = 0
    while place < len(words):
        be = {"come": "are", "comes": "is"}.get(words[place].low)
        lows = [word.low for word in words[place + 1 : place + 3]]
        across = be is not None and lows == ["across", "as"] and place > 0
        found.append(words[place].reworded(str(be)) if across else words[place])
        place += 3 if across else 1
    return found


def _without_names(words: list[Token]) -> list[Token]:
    """The words without the name of somebody that a noun stands for: "the owner, Jo, helps"."""
    for place in range(1, len(words) - 3):
        noun, begin, name, end, after = words[place - 1 : place + 4]
        named = noun.tag == "noun" and noun.text.islower() and name.text.istitle()
        closed = begin.text == end.text == "," and after.low not in {"and", "or"}
        if named and closed and after.text.islower() and name.tag == "noun":
            return _without_names([*words[:place], *words[place + 3 :]])
    return words


def _text_at(words: Sequence[Token], place: int) -> str:
    return words[place].low if place < len(words) else ""


def _without_not_only(words: list[Token]) -> list[Token]:
    lows = [word.low for word in words]
    first = next((at for at in range(len(lows) - 1)
                  if lows[at] == "not" and lows[at + 1] in _ONLY), None)  # fmt: skip
    if first is None:
        return words
    but = next((at for at in range(first, len(lows) - 1) if _answers(words, at)), None)
    if but is None:
        return words
    before = words[first + 2 : but - (lows[but - 1] == ",")]
    if not first and before[:1] and before[0].tag in {"aux", "verb"}:
        end = next((at for at, word in enumerate(before) if at and word.tag not in _NAMING), 0)
        before = [*before[1:end], *before[:1], *before[end:]]  # "not only is it cheap"
    rest = words[but + 1 + (_text_at(words, but + 1) == "also") :]
    return [*words[:first], *before, words[but].reworded("and"), *rest]


def _answers(words: list[Token], place: int) -> bool:
    """Whether what answers "not only" begins there: "but", or a comma and "it is"."""
    clause = words[place].low == "," and words[place + 1].tag == "pron"
    return clause or words[place].low == "but"


def _without_asides(words: list[Token]) -> list[Token]:
    lows = [word.low for word in words]
    begin = place = 0
    while place < len(words):
        sizes = (len(aside) for aside in _ASIDES if lows[place + 1 :][: len(aside)] == aside)
        size = next(sizes, 0) if lows[place] == "," else 0
        closed = size and _text_at(words, place + size + 1) == ","
        joined = place > 0 and words[place - 1].tag == "conj"
        given = joined or _text_at(words, place + size + 2) == "that"
        if closed and place > begin and (given or find_core(words[begin:place]) is None):
            return _without_asides([*words[:place], *words[place + size + 2 :]])
        begin = place + 1 if lows[place] in _BREAKS else begin
        place += 1
    return words


def plain_pieces(pieces: list[Piece]) -> list[Piece]:
    """The pieces with joined adjectives made one, and with what people were doing made clauses."""
    found: list[Piece] = []
    doing = ""
    closed = [*(piece.comma for piece in pieces[1:]), True]
    told = [piece for piece, ends in zip(pieces, closed, strict=False)
            if not (ends and _only_says(piece))]  # fmt: skip
    for piece in _uninterrupted(told or pieces):
        acting = _acting(piece, doing=doing) or _instance(piece) or _telling(piece)
        if acting is not None:
            doing = "them" if any(word.low == "them" for word in acting.words) else "it"
        elif shape_of(piece.words) != "adjective":
            doing = ""
        if acting is not None:
            found.append(acting)
        elif found and _is_instanced(found[-1], piece):
            words = [*found[-1].words, *piece.glue, *piece.words]
            found[-1] = found[-1]._replace(words=words)
        elif size := _adjectives_before(found, piece):
            words = [*found[-size].words]
            for one in [*found[len(found) - size + 1 :], piece]:
                words += [*one.glue, *one.words]
            found[-size:] = [found[-size]._replace(words=words)]
        else:
            found.append(piece)
    return found


def _only_says(piece: Piece) -> bool:
    """Whether a piece between marks only names who says the rest: ", they say,"."""
    text = " ".join(word.text for word in piece.words)
    alone = piece.comma and not piece.joint and len(piece.words) < _FEW
    ends = [" that ", ", "] if alone else []  # ", according to users"
    found = [(after_frame(f"{text}{end}it"), len(text) + len(end)) for end in ends]
    return any(frame is not None and frame[0] == size for frame, size in found)


_FEW = 6


def _uninterrupted(pieces: list[Piece]) -> list[Piece]:
    """The pieces, a later subject with its verb: "it hums, | and the lid | , thin, | bends"."""
    found: list[Piece] = []
    rest = pieces[::-1]
    while rest:
        piece = rest.pop()
        if len(rest) > 1 and _is_interrupted(piece, *rest[:-3:-1]):
            aside, verb = rest.pop(), rest.pop()
            words = [*piece.words, *aside.glue, *aside.words, *verb.glue, *verb.words]
            piece = piece._replace(words=words)
        found.append(piece)
    return found


def _is_interrupted(piece: Piece, aside: Piece, verb: Piece) -> bool:
    """Whether a noun gets its verb behind an apposition or a relative clause."""
    alone = all(one.comma and not one.joint for one in (aside, verb))
    begin = max((at for at, w in enumerate(piece.words) if w.low == "that"), default=-1) + 1
    last = piece.words[begin:] if begin else piece.words
    named = bool(last) and shape_of(last) == "noun" and (begin > 0 or piece.joint in {"and", "but"})
    core = find_core(aside.words)
    done = core is not None and core.first == 0 and is_past(aside.words[0].low)
    told = aside.words[0].tag == "rel" or core is None or done
    acts = shape_of(verb.words) == "verb" and verb.words[0].tag != "base"
    return alone and named and told and acts


def _acting(piece: Piece, *, doing: str) -> Piece | None:
    """From "with some finding it rich": some find it rich; also for "others calling it thin"."""
    begins = piece.comma and piece.words[0].low in {"one", "another"}
    if not doing and not begins and piece.words[0].low != "with":
        return None
    words = piece.words[piece.words[0].low == "with" :]
    if doing and (finding := _finding(words, doing)):
        return piece._replace(words=finding)
    at = next((at for at, word in enumerate(words[:6]) if word.tag == "ing"), 0)
    base = plain_of_ing(words[at].low) if at else None
    people = " ".join(word.low for word in words[:at])
    if base is None or not (_people_in(words[:at]) or people in _SOMEBODY):
        return _happening(piece, words)
    one = people in _SOMEBODY or people.startswith(("one of ", "another of "))
    one = one or (not is_plural(words[at - 1].low) and words[at - 1].tag == "noun")
    verb = words[at].reworded(singular_verb(base) if one else base, "verb")
    return piece._replace(words=[*words[:at], verb, *words[at + 1 :]])


def _people_in(words: Sequence[Token]) -> People | None:
    """The people that words name, if they name nothing else."""
    text = " ".join(word.text for word in words)
    found = people_at(f"{text} say")
    return found if found is not None and found.end >= len(text) else None


def _finding(words: list[Token], what: str) -> list[Token]:
    """From "others too high", behind "some finding it good": others find it too high."""
    size = next((at for at, word in enumerate(words) if word.tag in {"adj", "adv"}), 0)
    rest = words[size:]
    if not size or _people_in(words[:size]) is None or shape_of(rest) != "adjective":
        return []
    last = rest[0]
    find = [last.reworded("find", "verb"), last.reworded(what, "pron" if what == "it" else "obj")]
    return [*words[:size], *find, *rest]


def _is_instanced(before: Piece, piece: Piece) -> bool:
    """Whether two nouns are instances together: "especially the soup | and the bread"."""
    joined = piece.joint in {"and", "or"} and not piece.comma and shape_of(piece.words) == "noun"
    return joined and before.words[0].low in INSTANCES


def _instance(piece: Piece) -> Piece | None:
    """From "opinions differ, as one guest found it loud": one guest found it loud."""
    words = piece.words[1:]
    if not piece.comma or piece.joint or piece.words[0].low not in {"as", "since"}:
        return None
    core = find_core(words) if words else None
    after = words[core.main + 1 :] if core is not None else []
    if core is None or core.first == 0 or not after or after[0].tag == "prep":
        return None  # "as one guest found on a trip"
    found = _people_in(words[: core.first])
    somebody = found is not None and found.quantity is not None
    named = " ".join(word.low for word in words[: core.first])
    return piece._replace(words=words) if somebody or named in _SOMEBODY else None


def _telling(piece: Piece) -> Piece | None:
    """From "some complain, | who feel that it is dear", ", noting it is": reviewers feel it is.

    From "some say it fits, | others that it is wide": others say that it is wide.
    """
    first, *rest = piece.words
    others = first.low in {"others", "another"} or first.tag == "num"
    if others and rest and rest[0].tag == "rel":
        one = first.low in {"another", "one"}
        say = first.reworded("says" if one else "say", "verb")
        told = (
            len(rest) > 1
            and rest[1].tag in {"pron", "det", "poss"}
            and rest[1].low not in {"i", "we", "you"}
            and rest[-1].tag not in {"aux", "neg"}
            and find_core(rest[1:]) is not None
        )
        return piece._replace(words=[first, say, *rest]) if told else None
    base = plain_of_ing(first.low) if first.low in _SAYING else None
    who = first.low == "who" or base is not None
    if not piece.comma or piece.joint or not who or len(rest) < _TOLD:
        return None
    said = [] if base is None else [first.reworded(base, "verb")]
    sayers = retagged([first.reworded("reviewers", "noun"), *said, *rest])
    told = after_frame(" ".join(word.text for word in sayers)) is not None
    return piece._replace(words=sayers) if told else None


_SAYING = word_set("""
noting saying adding mentioning reporting complaining explaining claiming stating warning observing
remarking feeling believing
""")
_TOLD = 3


def _happening(piece: Piece, words: list[Token]) -> Piece | None:
    """From ", with the staff taking care of all": the staff takes care of all.

    Args:
        piece: what may say so.
        words: its words without "with".
    """
    at = next((at for at, word in enumerate(words) if word.tag not in _NAMED), len(words))
    own = len(words) == len(piece.words)
    if own or not piece.comma or piece.joint or not 0 < at < len(words):
        return None
    past = is_past(words[at].low) or words[at].low.endswith("ed")
    done = words[at].tag in {"verb", "adj"} and past
    base = "be" if words[at].low == "being" else plain_of_ing(words[at].low)
    if words[at - 1].tag != "noun" or not (
        done or base == "be" or (base and words[at].tag == "ing")
    ):
        return None
    plural = is_plural(words[at - 1].low)
    be = words[at].reworded(be_after(words[at - 1].low), "aux")
    if done or base == "be":
        return piece._replace(words=[*words[:at], be, *words[at + (not done) :]])
    verb = words[at].reworded(str(base) if plural else singular_verb(str(base)), "verb")
    return piece._replace(words=[*words[:at], verb, *words[at + 1 :]])


def _adjectives_before(found: Sequence[Piece], piece: Piece) -> int:
    """How many pieces hold adjectives of the noun that a piece is: "a calm | , clean | inn"."""
    if shape_of(piece.words) != "noun":
        return 0
    begin = len(found)
    while begin and all(word.tag == "adj" for word in found[begin - 1].words):
        begin -= 1
    listed = piece.joint == "and" and not piece.comma and begin == len(found) - 1
    if listed and begin and found[begin - 1].words[-1].tag == "noun":
        return 1  # "great coffee, fresh | and healthy food"
    tags = [word.tag for word in found[begin - 1].words if word.low != "both"] if begin else []
    while tags and tags[-1] == "adj":
        tags.pop()
    takes = tags[-1:] == ["verb"] and found[begin - 1].words[len(tags) - 1].low not in COPULAS
    opened = begin and (tags[-1:] == ["det"] or takes) and len(tags) < len(found[begin - 1].words)
    return len(found) - begin + 1 if opened and piece.words[0].tag == "adj" else 0
