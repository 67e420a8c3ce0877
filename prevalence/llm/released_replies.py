"""Scores in judges' replies, as LLM_summeval's authors took them: for re-scoring their releases.

A method's name tells how its replies are read: letters A to E for multiple choice (``mcq``), the
token before "star" for stars (``star``), and reason-then-score (``rts``) for all others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "UNREAD",
    "method_name",
    "read_letter",
    "read_reason_then_score",
    "read_stars",
    "reason_then_score_rule",
    "reply_reader",
]

UNREAD = -1.0
"""What the authors' parser gives for a reply without a score."""

_WORDS = {"one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0}
_ANY_WORD = "|".join(_WORDS)
_LABELLED = re.compile(r"score:\s*([1-5](?:\.\d)?)")
_LABELLED_WORD = re.compile(rf"score:\s*({_ANY_WORD})\b")
# The rest of a sentence without a score is taken too, so that it is read for one mention only.
_MENTIONED = re.compile(r"(?:score|scoring)[^.]*?(?:([1-5](?:\.\d)?)|(?=\.)|\Z)")
_MENTIONED_WORD = re.compile(rf"(?:score|scoring)[^.]*?(?:\b({_ANY_WORD})\b|(?=\.)|\Z)")
_RULES = (_LABELLED, _LABELLED_WORD, _MENTIONED, _MENTIONED_WORD)
_LAST_RULE = 6
_GRADE = re.compile(r"[1-5](?:\.[1-5])?")
_LETTER = re.compile(r"\b([A-E])\b")
_RELEASED_NAMES = {"altmcq": "mcq2", "altrts": "rts2", "stareval": "star"}
_STARS = re.compile(r"(?<=[^\s-])[\s-]+stars?\b", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{0,15})?")


def read_reason_then_score(reply: str) -> float:
    """The score by the first rule that matches, or :data:`UNREAD`.

    The rules: "score: 3.5"; "score: four"; a digit, else a word, after a mention of scoring in the
    same sentence; the last number of digits 1 to 5 anywhere. The last one misreads "3 out of 5"
    as 5; it is kept because published figures rest on it.

    Source: the rules of LLM_summeval (Shen et al. 2023), checked against its 4,800 released scores.

    >>> read_reason_then_score("Clear and orderly. Score: 4."), read_reason_then_score("3 of 5")
    (4.0, 5.0)
    """
    return reason_then_score_rule(reply)[0]


def reason_then_score_rule(reply: str) -> tuple[float, int]:
    """Likewise, with the number of the rule that matched: 1 to 4, 6 for the last one, 0 for none.

    >>> reason_then_score_rule("This scores a three."), reason_then_score_rule("Not good (1).")
    ((3.0, 4), (1.0, 6))
    """
    text = reply.casefold()
    for rule, pattern in enumerate(_RULES, start=1):
        found = next((match[1] for match in pattern.finditer(text) if match[1]), None)
        if found is not None:
            return _WORDS.get(found) or float(found), rule
    grades = _GRADE.findall(text)
    return (float(grades[-1]), _LAST_RULE) if grades else (UNREAD, 0)


def read_letter(reply: str) -> float:
    """The first letter A to E that stands alone: A is 1, E is 5.

    >>> read_letter("D"), read_letter("Answer: B. Partly."), read_letter("none")
    (4.0, 2.0, -1.0)
    """
    match = _LETTER.search(reply)
    return UNREAD if match is None else float("ABCDE".index(match[1]) + 1)


def read_stars(reply: str) -> float:
    """The number before the first "star" that has one: digits, with a fraction or not, or a word.

    >>> read_stars("I give it 4 stars."), read_stars("Three-star work"), read_stars("a star")
    (4.0, 3.0, -1.0)
    """
    for token in _before_stars(reply):
        word = token.strip("(*\"'").casefold()
        number = word.partition("/")[0]
        if word in _WORDS:
            return _WORDS[word]
        if _NUMBER.fullmatch(number):
            return float(number)
    return UNREAD


def _before_stars(reply: str) -> Iterator[str]:
    """The word before each "star" or "stars"; it begins after a space or the last star."""
    end = 0
    for star in _STARS.finditer(reply):
        if star.start() > end:
            yield reply[end : star.start()].rsplit(None, 1)[-1]
            end = star.end()


def method_name(released: str) -> str:
    """Our name of a method by the name that released files give it, in lower case.

    >>> method_name("altMCQ"), method_name("stareval"), method_name("rts")
    ('mcq2', 'star', 'rts')
    """
    name = released.casefold()
    return _RELEASED_NAMES.get(name, name)


def reply_reader(method: str) -> Callable[[str], float]:
    """The reader of a method's replies, by the method's name.

    >>> reply_reader("MCQ2").__name__
    'read_letter'
    """
    name = method_name(method)
    if name.startswith("mcq"):
        return read_letter
    return read_stars if name.startswith("star") else read_reason_then_score
