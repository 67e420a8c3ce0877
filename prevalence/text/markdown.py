"""Text without the marks of Markdown, which no model was trained to read.

Language models write them into summaries: "**Battery:** The battery lasts *all day* [2]."
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "blanked",
    "closed",
    "denies",
    "needless",
    "places_of",
    "spoken",
    "without_marks",
    "without_opening",
]

_ANY = re.compile(r"[*_`~\[(>:|\"\u201c\u3010]")
"""What every mark and name has one of."""
_INLINE = (
    # Links and pictures, of which the words stay.
    re.compile(r"(?P<open>!?\[)[^\[\]]{0,300}(?P<close>\]\([^()\s]{0,2000}\))"),
    # References behind a word or another one: "all day [2]", "all day.[1, 3]".
    re.compile(r"(?<=[^\s(\[])\s?(?P<open>(?:\[\^?\d{1,3}(?:\s?[,;\u2013-]\s?\d{1,3}){0,20}\]){1,20})"
               r"(?=[\s.,;:!?]|$)"),
    re.compile(r"(?P<open>(?:[ \t]?\u3010\d{1,3}(?:[\u2020:][^\u3010\u3011\n]{0,40})?\u3011)"
               r"{1,20})"),
    # "(Review 3)", and "(R3)" before a mark; "(Reviews 2, 5 and 7)" is a count of people.
    re.compile(r"(?<=[^\s(\[])\s?(?P<open>(?:[(\[]review(?:er)? #?\d{1,3}[)\]]){1,20})"
               r"(?=[\s.,;:!?]|$)", re.IGNORECASE),
    re.compile(r"(?<=[^\s(\[])\s?(?P<open>(?:[(\[]R\d{1,3}[)\]]){1,20})(?=[.,;:!?]|\s*$)"),
    # A number in bold before a name.
    re.compile(r"^(?P<open>(?:\*\*|__)\d{1,2}[.)][ \t]+)[^*_\s][^*_\n]*(?P<close>\*\*|__)"),
    re.compile(r"(?<![\w`])(?P<open>`{1,3})[^`\n]+(?P<close>(?P=open))(?![\w`])"),
    re.compile(r"(?<![\w~])(?P<open>~~)(?=[^\s~])[^~]+(?<=[^\s~])(?P<close>~~)(?![\w~])"),
    *2 * (
        re.compile(r"(?<![\w*])(?P<open>\*{1,3})(?=[^\s*])[^*]+(?<=[^\s*])(?P<close>(?P=open))"
                   r"(?![\w*])"),
        re.compile(r"(?<!\w)(?P<open>_{1,3})(?=[^\s_])[^_]+(?<=[^\s_])(?P<close>(?P=open))(?!\w)"),
    ),
    re.compile(r"^[ \t]*(?P<open>(?:>[ \t]?)+)(?=[\"\u201c*]{0,3}[^\W\d_])", re.MULTILINE),
    # Around the whole.
    re.compile(r"^\s*(?P<open>[\"\u201c])[^\"\u201c\u201d]+(?P<close>[\"\u201d])(?=[.!?]?\s*$)"),
)  # fmt: skip
"""Marks to leave out. Those of emphasis twice, as one may stand within another."""

_BOLD = re.compile(
    r"(?P<mark>\*\*|__)(?:\d{1,2}[.)][ \t]+)?(?P<name>[^*_:\n]{1,60})"
    r"(?:\s?:\s?(?P=mark):?|(?P=mark)(?:\s?:|[ \t][\u2013\u2014|-]))(?=\s)"
)
_FIRST = re.compile(r"\s*(?P<name>[^\W\d_][^*_.:!?|\n]{0,60})(?::|[ \t]\|)(?=\s)")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_ENDS = re.compile(r"[.!?](?:\s|$)")
_DENIES = re.compile(
    r"\b(?:no|not|nothing|nobody|none|never|without|hardly|\w+n['\u2019]t)\b", re.IGNORECASE
)
_USUAL = """
    all and any are but can did for from get got had has how its may more most not off one our out
    own that the this too two very was what when who why with you
    customers guests people reviewers users
"""
_COMMON = frozenset(_USUAL.split())
"""Words of names that sentences have without speaking of the same."""
_ADDED = """
    amount aspect design experience factor feature features general issue issues level life matter
    of overall performance product quality system time use
"""
_NEUTRAL = frozenset(_ADDED.split())
"""Words of names that say nothing of their own, so that sentences need not repeat them."""
_LINKS = """
    additionally, all in all, all told, also, and, at the end of the day, basically, besides, but,
    by contrast, conversely, finally, first, firstly, for example, for instance, fortunately,
    furthermore, honestly, however, importantly, in a nutshell, in addition, in conclusion, in
    contrast, in fact, in my opinion, in particular, in short, in summary, in the end, indeed,
    interestingly, lastly, luckily, meanwhile, moreover, most importantly, nevertheless,
    nonetheless, notably, of course, on the downside, on the negative side, on the one hand, on the
    other hand, on the plus side, on the positive side, on the whole, overall, plus, sadly, second,
    secondly, simply put, still, taken together, thankfully, that said, third, thirdly, to be
    honest, to sum up, ultimately, unfortunately
"""
"""What links a sentence to those before it, with a comma."""
_HEADS = """
    answer, bottom line, conclusion, customers say, edit, final thoughts, final verdict, guests say,
    in a nutshell, in conclusion, in short, in summary, note, overall, overall verdict, people say,
    quick answer, review highlights, reviewers say, short, short answer, summary, the bottom line,
    the short answer, the verdict, thoughts, tl;dr, tldr, update, users say, verdict
"""
"""What heads a sentence, with a colon."""


def _any_of(phrases: str) -> str:
    return "|".join(re.escape(" ".join(phrase.split())) for phrase in phrases.split(","))


_OPENING = re.compile(
    rf"(?:(?:{_any_of(_LINKS)})\s*,\s+(?=\w)|(?:{_any_of(_HEADS)})\s*:\s+(?=[^\W\d_])"
    r"|(?:based on|judging by|according to|across) (?:(?:all|the|these|those|[\d,]+|customer|user"
    r"|guest|available|online|recent|verified|more than|over|about)\s+){0,4}"
    r"(?:reviews|feedback|comments)\s*,\s+(?=\w)"
    # "But for the smell" is a condition.
    r"|(?:and|but(?!\s+for\b))\s+(?=[^\W\d_])){1,2}",
    re.IGNORECASE,
)
_NAME_WORDS, _LEAST_REST, _SHORT, _LONG = 4, 3, 3, 7
_REST = 200


def without_marks(text: str) -> str:
    """The text with spaces for marks and for the names of what its sentences are about.

    Marks are those of emphasis, code, links, quotation and numbered references. A name is left out
    in bold where a sentence begins ("**Battery:** The battery lasts") or at the beginning
    ("Battery: The battery lasts"; "Battery | The battery lasts" in a table), if what follows does
    without it (:func:`needless`).

    Args:
        text: a paragraph or an item of a list.

    Returns:
        A text of the same length, so that places in it are those of ``text``.

    >>> without_marks("**Fit:** Fits like *gloves* [2].")
    '  Fit:   Fits like  gloves     .'
    >>> without_marks("**Battery:** The battery lasts.").strip()
    'The battery lasts.'
    """
    if not _ANY.search(text):
        return text
    text = blanked(text, _names(text))
    for pattern in _INLINE:
        groups = pattern.groupindex
        text = blanked(text, (m.span(group) for m in pattern.finditer(text) for group in groups))
    return text


def without_opening(sentence: str) -> str:
    """The sentence with spaces for an English word that only links it to those before.

    >>> without_opening("However, they leak.")
    '         they leak.'
    """
    match = _OPENING.match(sentence)
    return sentence if match is None else blanked(sentence, [match.span()])


def blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with spaces in place of spans, each a start and an end.

    >>> blanked("It *leaks*.", [(3, 4), (9, 10)])
    'It  leaks .'
    """
    found = None
    for start, end in spans:
        found = found or list(text)
        found[start:end] = " " * (end - start)
    return text if found is None else "".join(found)


def spoken(left: str, source: str) -> str:
    """What is left of a sentence, with a capital.

    Args:
        left: the sentence with spaces for what is left out.
        source: the sentence as it stands, of the same length. Where something is left out within
            it, white space becomes single spaces, and none before a full stop.

    >>> spoken("    the   TV  's remote fails    .", "But the **TV**'s remote fails [1].")
    "The TV's remote fails."
    """
    said = "".join(a for a, b in zip(left, source, strict=True) if a == b).strip()
    if not source.endswith(said):
        said = closed(said)
    return said[:1].upper() + said[1:]


def closed(text: str) -> str:
    """The text with single spaces, and none before a full stop.

    >>> closed("It   leaks  .")
    'It leaks.'
    """
    return re.sub(r" (?=[.,;:!?]+(?:\s|$))", "", " ".join(text.split()))


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


def denies(text: str) -> bool:
    """Whether there is an English negation.

    >>> denies("Not waterproof"), denies("Notes")
    (True, False)
    """
    return _DENIES.search(text) is not None


def needless(name: str, after: str) -> bool:
    """Whether the sentence after a name does without it, as it says all of it again.

    Args:
        name: of up to four words, or it is needed. So it is if it denies or counts something.
        after: the text behind it.

    >>> [needless(name, "The battery lasts.") for name in ("Battery life", "Poor battery", "Power")]
    [True, False, False]
    """
    names = _WORD.findall(name.casefold())
    end = _ENDS.search(after, 0, _REST)
    rest = _WORD.findall(after[: end.start() if end else _REST].casefold())
    if len(names) > _NAME_WORDS or len(rest) < _LEAST_REST:
        return False
    if denies(name) or any(map(str.isdigit, name)):
        return False
    told = [word for word in names if word not in _COMMON]
    repeated = [any(_akin(word, other) for other in rest) for word in told]
    return any(repeated) and all(
        again or word in _NEUTRAL for word, again in zip(told, repeated, strict=True)
    )


def _akin(word: str, other: str) -> bool:
    """Whether two words mean the same: "noise" and "noisy", "softness" and "soft".

    Not "delivery" and "delicious": of a long word five letters have to be the same.
    """
    stem = word[: 4 if len(word) < _LONG else 5]
    alike = other.startswith(stem) or stem.startswith(other)
    return word == other or (min(len(word), len(other)) > _SHORT and alike)


def _names(text: str) -> Iterator[tuple[int, int]]:
    """The names to leave out, with their marks."""
    first = _FIRST.match(text)
    for match in (*([first] if first else []), *_BOLD.finditer(text)):
        begins = text[max(match.start() - 2, 0) : match.start()].rstrip()[-1:] in ".!?]"
        if begins and needless(match["name"], text[match.end() : match.end() + _REST]):
            yield match.span()
