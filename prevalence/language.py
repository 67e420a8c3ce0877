"""Languages: those that sentences can be cut in, and whether a text is probably English."""

from __future__ import annotations

import re

__all__ = ["LANGUAGES", "probably_english"]

LANGUAGES = {
    "en": "english", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "es": "spanish", "et": "estonian", "fi": "finnish", "fr": "french", "it": "italian",
    "ml": "malayalam", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ru": "russian", "sl": "slovene", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
"""Code → name of the model of Punkt that the wheel carries."""

_WORD = re.compile(r"[^\W\d_]+")
_COMMON = """
    the and it this that with but not they are you on be very of these would was were from your
    our their its
"""
_ENGLISH = frozenset(_COMMON.split())
"""Frequent words of English that are rare elsewhere: a quarter and more of what reviewers write."""
_LEAST_WORDS = 20
_LEAST_SHARE = 0.1
_READ = 4_096


def probably_english(text: str) -> bool:
    """Whether a text may well be English, by the share of frequent English words.

    Args:
        text: any; its first 4,096 characters are read. One of fewer than 20 words is not judged.

    >>> probably_english("Die Lampe ist hell und die Stiefel sind sehr warm, aber " * 3)
    False
    >>> probably_english("The lamp is bright and the boots are very warm, but " * 3)
    True
    """
    head = text[:_READ]
    words = [word.casefold() for word in _WORD.findall(head)]
    if len(words) < _LEAST_WORDS:
        # Scripts without spaces have few words in many letters.
        return sum(len(word) for word in words) < _LEAST_WORDS * 10 or head.isascii()
    return sum(word in _ENGLISH for word in words) >= _LEAST_SHARE * len(words)
