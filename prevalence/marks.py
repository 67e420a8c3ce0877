"""Text without the marks of Markdown, which no model was trained to read.

Language models write them into summaries: "**Battery:** The battery lasts *all day* [2]."
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prevalence.language import SUBJECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["places_of", "spoken", "without_marks", "without_opening"]

_ANY = re.compile(r"[*_`\[>:\"\u201c]")
"""What every mark and name has one of."""
_INLINE = (
    # Links and pictures, of which the words stay.
    re.compile(r"(?P<open>!?\[)[^\[\]]{1,300}(?P<close>\]\([^()\s]{0,2000}\))"),
    # References behind a word or another one: "all day [2]", "all day.[1, 3]".
    re.compile(r"(?<=[^\s(\[])\s?(?P<open>(?:\[\^?\d{1,3}(?:\s?[,;\u2013-]\s?\d{1,3}){0,20}\])+)"
               r"(?=[\s.,;:!?]|$)"),
    re.compile(r"(?<![\w`])(?P<open>`{1,3})[^`\n]+(?P<close>(?P=open))(?![\w`])"),
    *2 * (
        re.compile(r"(?<![\w*])(?P<open>\*{1,3})(?=[^\s*])[^*]+(?<=[^\s*])(?P<close>(?P=open))"
                   r"(?![\w*])"),
        re.compile(r"(?<!\w)(?P<open>_{1,3})(?=[^\s_])[^_]+(?<=[^\s_])(?P<close>(?P=open))(?!\w)"),
    ),
    re.compile(r"^[ \t]*(?P<open>(?:>[ \t]?)+)(?=[^\s\d])", re.MULTILINE),
    # Around the whole.
    re.compile(r"^\s*(?P<open>[\"\u201c])[^\"\u201c\u201d]+(?P<close>[\"\u201d])(?=[.!?]?\s*$)"),
)  # fmt: skip
"""Marks to leave out. Those of emphasis twice, as one may stand within another."""

_BOLD = re.compile(
    r"(?P<mark>\*\*|__)(?P<name>[^*_:\n]{1,60})"
    r"(?:\s?:\s?(?P=mark):?|(?P=mark)(?:\s?:|[ \t][\u2013\u2014-]))(?=\s)"
)
_FIRST = re.compile(r"\s*(?P<name>[^\W\d_][^*_.:!?\n]{0,60}):(?=\s)")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_ENDS = re.compile(r"[.!?](?:\s|$)")
_DENIES = re.compile(
    r"\b(?:no|not|nothing|nobody|none|never|without|hardly|\w+n['\u2019]t)\b", re.IGNORECASE
)
_PEOPLE = "people customers reviewers reviews users buyers guests owners many several few others"
_BEGINNINGS = SUBJECTS | set(_PEOPLE.split())
_OPENING = re.compile(
    r"(?:overall|all in all|in (?:short|summary|conclusion|addition|contrast)|to sum up|however"
    r"|(?:additional|final|last)ly|also|furthermore|moreover|besides|meanwhile|conversely|that said"
    r"|(?:never|none)theless|on the (?:other|one|plus|down|positive|negative) (?:hand|side)|still"
    r"|by contrast|plus|and|but)\s*,\s+(?=\w)|(?:and|but)\s+(?=[^\W\d_])",
    re.IGNORECASE,
)
_NAME_WORDS, _LEAST_REST, _STEM = 4, 3, 4
_REST = 200


def without_marks(text: str) -> str:
    """The text with spaces for marks and for the names of what its sentences are about.

    Marks are those of emphasis, code, links, quotation and numbered references. A name is left out
    in bold ("**Battery:** The battery lasts") or at the beginning ("Battery: The battery lasts"),
    if it has up to four words, denies nothing, and what follows does without it: by naming it
    again, or by beginning as sentences do ("The", "They", "Users").

    Args:
        text: a paragraph or an item of a list.

    Returns:
        A text of the same length, so that places in it are those of ``text``.

    >>> without_marks("**Battery:** It lasts *all day* [2].")
    '             It lasts  all day     .'
    """
    if not _ANY.search(text):
        return text
    found = list(text)
    for start, end in _names(text):
        found[start:end] = " " * (end - start)
    for pattern in _INLINE:
        for match in pattern.finditer("".join(found)):
            for group in pattern.groupindex:
                start, end = match.span(group)
                found[start:end] = " " * (end - start)
    return "".join(found)


def without_opening(sentence: str) -> str:
    """The sentence with spaces for an English word that only links it to those before.

    >>> without_opening("However, they leak.")
    '         they leak.'
    """
    match = _OPENING.match(sentence)
    return sentence if match is None else " " * match.end() + sentence[match.end() :]


def spoken(left: str, source: str) -> str:
    """What is left of a sentence, with a capital.

    Args:
        left: the sentence with spaces for what is left out.
        source: the sentence as it stands. Where something is left out within it, white space
            becomes single spaces, and none before a full stop.

    >>> spoken("         they last  all day     .", "However, they last *all day* [2].")
    'They last all day.'
    """
    said = left.strip()
    if not source.endswith(said):
        said = re.sub(r" (?=[.,;:!?)\]])", "", " ".join(said.split()))
    return said[:1].upper() + said[1:]


def places_of(said: str, source: str) -> list[int]:
    """Where the characters of what is left stand in their source.

    Args:
        said: what :func:`spoken` returned, or the source itself.
        source: the sentence with its marks.

    Returns:
        For each character a place in ``source``, in order: of the last such character before the
        next one's place, or of the next one, where there is none.

    >>> places_of("It is so.", "But it *is* so.")
    [4, 5, 6, 8, 9, 11, 12, 13, 14]
    """
    places: list[int] = []
    place = len(source)
    for character in reversed(said):
        same = str.isspace if character.isspace() else character.casefold().__eq__
        before = range(place - 1, -1, -1)
        place = next((k for k in before if same(source[k].casefold())), min(place, len(source) - 1))
        places.append(place)
    return places[::-1]


def _names(text: str) -> Iterator[tuple[int, int]]:
    """The names to leave out, with their marks."""
    first = _FIRST.match(text)
    for match in (*([first] if first else []), *_BOLD.finditer(text)):
        if _needless(match["name"], text[match.end() : match.end() + _REST]):
            yield match.span()


def _needless(name: str, after: str) -> bool:
    """Whether what stands after a name does without it."""
    names = _WORD.findall(name.casefold())
    end = _ENDS.search(after)
    rest = _WORD.findall(after[: end.start() if end else _REST].casefold())
    if not 0 < len(names) <= _NAME_WORDS or len(rest) < _LEAST_REST or _DENIES.search(name):
        return False
    stems = {word[:_STEM] for word in names if len(word) >= _STEM}
    begins = len(rest) > _LEAST_REST and rest[0] in _BEGINNINGS
    return begins or any(word[:_STEM] in stems for word in rest)
