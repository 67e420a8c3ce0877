"""Quantities of people in a statement: "most users", "12 of 20 reviewers", "nobody", "some say".

"Most users love the fit" says two things: what is loved, and by how many. A review can support the
first alone. So the quantity is taken out, the rest is scored, and the share of reviews that support
the rest is compared with the quantity. Quantities of things ("most of the battery", "half an hour",
"two zippers") are left where they are. Counts that stand apart, "(7 of 10 reviews)", are taken out
with their brackets.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from prevalence.claims.amounts import LIMIT, NUMBER, RANGES, Quantity
from prevalence.claims.asides import LABEL_WORDS, STOPS, asides, ending_aside, is_grade
from prevalence.claims.clauses import CONTRASTS, Piece, find_core, pieces_of, shape_of
from prevalence.claims.english import tagged
from prevalence.claims.groups import has_unread_share, may_act, plain_counts, with_people
from prevalence.claims.speakers import FRONT, SAY, SEEN, after_frame, people_at
from prevalence.text.markdown import closed, without_marks

__all__ = ["Quantified", "counts_others", "quantified", "without_words"]

_OTHERS = re.compile(
    r"(?:[,;] (?:and |but |while |whereas |yet )?"
    r"|\b(?:and|but|while|whereas|yet|though|although) )"
    r"(?:(?P<rest>(?:the )?(?:others?|rest|remaining)|another) "
    r"|(?:only |just |(?:the )?other |another )?"
    rf"(?:(?P<part>{NUMBER} (?:(?:out )?of|in)(?: the)?) )?{NUMBER} )(?=\w)",
    re.IGNORECASE | re.ASCII,
)
"""A number in a further clause: "2 of 8 stayed dry, while | 3 of 8 got wet"."""
_COUNTED = re.compile(
    rf"(?:{LIMIT})?(?:{NUMBER}(?: ?%)?(?=[.,;:!?]|$| (?:and|but|while) )|(?:the )?(?:others|rest)\b"
    r"|(?:some|many|most|several|a few|few|half|nobody|none)\b)",
    re.IGNORECASE | re.ASCII,
)
"""So many, with or without a word for people."""
_BY = re.compile(r"\bby (?=\w)", re.IGNORECASE)
_ANY = re.compile(
    r"(?<!\bat )(?<!\bby )(?<!\bif )(?<!\bin )(?<!\bfor )(?<!\bfrom )(?<!\bwith )\b"
    r"(?:any of|any (?!(?:at|in|longer|more|time|way)\b)(?=\w)|any(?:thing|one|body|where))\b",
    re.IGNORECASE,
)
_SOME = {
    "any of": "some of", "any ": "", "anything": "something", "anyone": "someone",
    "anybody": "somebody", "anywhere": "somewhere",
}  # fmt: skip
"""What a denial says in place of "some"."""
_LABELLED = re.compile(rf"(?P<label>\w+(?:[ /&-]\w+){{0,{LABEL_WORDS - 1}}})(?: ?:| [–—-]) (?=\w)")


class Quantified(NamedTuple):
    """A statement and its quantity.

    Attributes:
        statement: what is said, without the quantity.
        quantity: by how many.
    """

    statement: str
    quantity: Quantity


def quantified(text: str) -> Quantified | None:
    """A statement without its quantity, and the quantity; None where there is none of people.

    >>> quantified("Most users say that the zipper sticks.")
    Quantified(statement='The zipper sticks.', quantity=Quantity(text='Most', low=0.5, high=1.0, \
count=None, exists=False, of=None))
    >>> quantified("One customer returned it.").statement
    'A customer returned it.'
    >>> quantified("The battery lasts (7 of 10 reviews).").statement
    'The battery lasts.'
    >>> quantified("Noise: Few users find it loud.").statement
    'Noise: Users find it loud.'
    >>> quantified("Most of the battery is left.") is None
    True
    >>> quantified("Half of the buyers love it and half hate it.") is None
    True
    """
    plain = plain_counts(text)
    text = text if plain == text else " ".join(plain.split())
    found = asides(text)
    label = "" if found else _label(text)
    named = _in_words(text[len(label) :]) if label else None
    if named is not None and find_core(tagged(named.statement)) is not None:
        return named._replace(statement=label + named.statement)
    if len(found) != 1:
        return _in_words(text)
    aside = found[0]
    before, after = text[: aside.start].rstrip(), text[aside.end :].lstrip()
    begins, ends = not before, re.search(r"\w", after) is None
    if not (begins or ends or aside.behind_people or aside.of_label):
        return _in_words(text)
    if begins:
        rest = _begun(after.lstrip(":—–- "))
    elif ends and before.endswith(tuple(STOPS)):
        rest = before
    else:
        rest = before + (after if ends or after[0] in ",;:" else f" {after}")
    if aside.of_label:
        begins, rest = True, _begun(closed(without_marks(rest)))
    if re.search(r"\w", rest) is None:
        return None
    said = without_words(rest, aside.quantity)
    # Behind a second clause it is meant for that; before two it is like "most users say that".
    if said is None and _says_more(rest, framed=begins or after_frame(rest) is not None):
        return None
    return Quantified(said or rest, aside.quantity)


def _label(text: str) -> str:
    """The label that a statement begins with: "Noise: ", or nothing."""
    found = _LABELLED.match(text)
    if found is None or people_at(text) is not None:
        return ""
    named = " " not in found["label"] or find_core(tagged(found["label"])) is None
    return found[0] if named else ""


def without_words(text: str, quantity: Quantity) -> str | None:
    """A statement without the words for a quantity that is known more exactly.

    Args:
        text: the statement.
        quantity: what stands apart from it.

    Returns:
        The statement; None where it has no such words, or they are part of what the quantity is
        said of: "nobody complained" by 12 of 20.

    >>> exact = people_at("12 of 20 users").quantity
    >>> without_words("Most users love it.", exact)
    'Users love it.'
    >>> without_words("Nobody complained.", exact) is None
    True
    """
    found = _in_words(text)
    if found is None:
        return None
    words = found.quantity
    meet = words.low <= quantity.high and quantity.low <= words.high
    meet = meet or (words.of is not None and quantity.of is None)
    nobody = words.high <= RANGES["nobody"][1] and not quantity.denies
    said = re.search(r"\w", found.statement) is not None
    return found.statement if meet and said and not nobody else None


def _in_words(text: str) -> Quantified | None:
    """What :func:`quantified` finds in words that do not stand apart."""
    frame = after_frame(text)
    if frame is not None:
        place, quantity = frame
        more = quantity is None or _says_more(text[place:], framed=True)
        return None if quantity is None or more else Quantified(_begun(text[place:]), quantity)
    front = FRONT.match(text)
    begin = 0 if front is None else front.end()
    people = people_at(text, begin)
    if people is not None and people.quantity is not None:
        said = people.named + text[people.end :]
        if _says_more(said):
            return None
        if people.quantity.denies:  # Who noticed smell did not notice "any".
            said = _ANY.sub(lambda word: _SOME[word[0].lower()], said)
        return Quantified(_begun(said), people.quantity)
    ending = ending_aside(text, 0)
    if ending is not None and not _says_more(text[: ending.start]):
        return Quantified(text[: ending.start] + text[ending.end :], ending.quantity)
    bys = [*islice(_BY.finditer(text), 8)]
    counted = [by for by in bys if _COUNTED.match(text, by.end())]
    for by in bys:
        people = people_at(text, by.end())
        # "Rated 4.5/5 by 10 guests", "praised by six guests and criticised by two".
        other = any(one is not by for one in counted) or is_grade(
            text[max(by.start() - SEEN, 0) : by.start()]
        )
        if other or people is None or people.quantity is None:
            continue
        if not _says_more(text):
            return Quantified(text[: by.end()] + people.named + text[people.end :], people.quantity)
    return None


def _says_more(text: str, *, framed: bool = False) -> bool:
    """Whether a statement has another clause or people that its quantity is not meant for.

    Args:
        text: the statement.
        framed: whether people say it, who may say several things that "and" joins.
    """
    if counts_others(text):
        return True
    words = [*islice(tagged(text[: 10 * SEEN]), SEEN)]
    first, *others = pieces_of(words) or [Piece("", False, [], words)]
    reasoned = any(word.tag == "sub" for word in first.words)
    for piece in others:
        people = people_at(text, piece.words[0].start)
        clause = shape_of(piece.words) == "clause"
        if people is not None and (clause or people.quantity is not None):
            return True
        goes_on = framed or (reasoned and not piece.comma)
        if clause and not (goes_on and piece.joint in {"", "and", "or"}):
            return True
    whiles = (at for at, word in enumerate(words[:-1]) if at and word.low in CONTRASTS)
    return any(shape_of(words[at + 1 :]) == "clause" for at in whiles)


_GAPPED = frozenset({"the", "about", "of", "that"})


def counts_others(text: str) -> bool:
    """Whether a further clause has a number of people of its own, named or not."""
    if has_unread_share(text):
        return True
    for match in islice(_OTHERS.finditer(text), 8):
        following = tagged(text[match.end() : match.end() + SEEN])
        if not following:
            continue
        word = following[0]
        counted = match["part"] is not None or match["rest"] is not None
        acts = word.tag == "aux" or (counted and word.tag == "verb") or may_act(following)
        # "Two mention the weight, three the size", "6 liked it, 2 of whom loved it".
        gapped = word.low in _GAPPED and match["part"] is None
        if acts or gapped or SAY.match(text, match.end() - 1):
            return True
    words = [*islice(tagged(text[: 10 * SEEN]), SEEN)]
    return with_people(words) is not words


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]
