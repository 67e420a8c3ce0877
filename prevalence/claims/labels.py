"""The claims of a sentence, and of what stands behind a label: "Kind hosts: they help"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.claims.clauses import Piece, find_core, pieces_of, shape_of
from prevalence.claims.drafts import Draft, is_praise
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
    return _behind(text, words[: end - 1], retagged(words[end:])) if end else folded(text, words)


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
    """The claims behind a label; none where these are no clauses, or speak of "it"."""
    first, *others = pieces_of(rest)
    listed = shape_of(first.words) == "noun" and bool(others) and others[0].joint == "and"
    if rest[0].tag == "pron" or not (listed or shape_of(first.words) == "clause"):
        return []
    found = folded(text, rest)
    if all(find_core(draft.words, draft.lead) is None for draft in found):
        return []
    for draft in found:
        draft.changed = True
    told = is_praise(Piece("", False, [], label)) or shape_of(label) == "adjective"
    if told and label[0].low not in _NEUTRAL:
        found = [Draft(label, 0, label[0].start, label[-1].end, changed=True), *found]
    return found
