"""The claims of a sentence, and of what stands behind a label: "Kind hosts: they help"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.claims.clauses import ENDS, Piece, find_core, pieces_of, shape_of
from prevalence.claims.descriptions import EMPTY, described, descriptions_in, says
from prevalence.claims.drafts import Draft
from prevalence.claims.english import is_base, retagged, tagged, word_set
from prevalence.claims.rules import folded

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

    A label that praises or blames is a claim; any other is left out before a clause.
    """
    words = tagged(text) if len(text) <= 20 * MOST_WORDS else []
    if not 0 < len(words) <= MOST_WORDS:
        return []
    end = _label_end(words)
    whole = Draft(_unended(words), 0, words[0].start, words[-1].end)
    said = words[-1].text != "?" and not end
    if said and find_core(whole.words) is None and (found := described(whole))[0] is not whole:
        return found
    found = _behind(text, words[: end - 1], retagged(words[end:])) if end else folded(text, words)
    if said and not found:
        found = [whole]
    return [one for draft in found for one in described(draft)]


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
    rest = [word for word in words[end + 1 :] if word.tag != "mark"]
    core = find_core(words[:end])
    # "Repair costs", "order accuracy": nouns, though they could be verbs.
    pair = core is not None and end == 2 and words[1].tag == "verb"
    named = core is None or pair or (core.first == 0 and is_base(words[0].low))
    return end + 1 if end and rest and named else 0


def _behind(text: str, label: list[Token], rest: list[Token]) -> list[Draft]:
    """The claims behind a label; none where it is unclear what they are said of."""
    rest = _unended(rest)
    first, *others = pieces_of(rest)
    praise = any(noun.adjectives for noun in descriptions_in(label) or [])
    judged = praise or (shape_of(label) == "adjective" and any(w.tag == "adj" for w in label))
    told = judged and label[0].low not in _NEUTRAL
    named = [Draft(label, 0, label[0].start, label[-1].end, changed=True)] if told else []
    if shape_of(first.words) == "adjective" and all(word.tag != "mark" for word in first.words):
        found = _predicated(label, [first, *others])
        return [*named, *found] if found else []
    if all(find_core(piece.words) is None for piece in (first, *others)):
        general = len(label) == 1 and label[0].low in _GENERAL
        whole = Draft(rest, 0, rest[0].start, rest[-1].end)
        found = described(whole) if told or general else []
        return [*named, *found] if found and found[0] is not whole else []
    listed = shape_of(first.words) == "noun" and bool(others) and others[0].joint == "and"
    pointed = rest[0].tag == "pron" and not rest[0].low.startswith(("every", "there"))
    if pointed or not (listed or shape_of(first.words) == "clause"):
        return []
    found = folded(text, rest)
    if all(find_core(draft.words, draft.lead) is None for draft in found):
        return []
    for draft in found:
        draft.changed = True
    return [*named, *found]


_GENERAL = word_set("""
food service staff atmosphere ambiance ambience vibe price prices pricing value quality taste flavor
flavors drinks decor location team comfort fit design material build speed
""")
"""Labels that the nouns behind them say again, or need not."""


def _predicated(label: list[Token], pieces: list[Piece]) -> list[Draft]:
    """From "Margaritas: strong and cheap, with salt": they are strong, are cheap, with salt."""
    nouns = descriptions_in(label)
    if nouns is None or len(nouns) > 1 or nouns[0].tail or nouns[0].words[-1].low in EMPTY:
        return []
    found: list[Draft] = []
    for piece in pieces:
        start, end = piece.words[0].start, piece.words[-1].end
        adjective = shape_of(piece.words) == "adjective" and piece.joint in {"", "and", "but"}
        if adjective:
            found.append(Draft(says(nouns[0], piece.words), 0, start, end, changed=True))
        elif piece.words[0].tag not in {"prep", "det"} and not piece.joint:
            return []
        else:
            found[-1].words, found[-1].end = [*found[-1].words, *piece.glue, *piece.words], end
    return found
