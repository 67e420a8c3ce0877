"""Text → the spans of its paragraphs and list items, without list marks and labels.

Language models write lists, whose items often end without a full stop, under labels that say
nothing by themselves ("**Pros:**").
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["paragraphs"]

_DOTS = "\u2022\u2023\u25aa\u25cf\u25e6"
"""Bullets that are nothing else, and begin an item in the middle of a line too."""
_INLINE = re.compile(rf"(?<=\s)(?=[{_DOTS}])")
_SIGNS = "\u2190-\u21ff\u25a0-\u25ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
"""Arrows, shapes, ticks and emoji, of which one may begin an item."""
_SPACE = r"[ \t\u00a0]"
_ITEM = re.compile(
    rf"\s*(?:(?P<dot>[{_DOTS}]){_SPACE}*"
    rf"|(?:(?P<dash>[-*+\u00b7\u2013\u2014]|[{_SIGNS}]\ufe0f?)|\(?(?P<number>\d{{1,2}}|[a-z])[.)]){_SPACE}+)(?=\S)"
)
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?!\d)")
_INDENT = re.compile(r"\s*")
_MARKUP = re.compile(r"[\s*_:#]+")

_WHO = r"(?:people|customers|reviewers|users|buyers|guests|owners|they|i|you)"
_LABEL = re.compile(
    r"(?:the |key |main |common |final |overall |quick )*(?:"
    r"pros|cons|pros (?:and|&) cons|summary|overall|verdict|conclusions?|bottom line"
    r"|in (?:short|summary|conclusion)|to sum up|strengths|weaknesses|(?:dis)?advantages"
    r"|(?:dis)?likes|praise|complaints?|criticisms?|highlights|lowlights|issues|problems|concerns"
    r"|takeaways?|points|features|feedback|thoughts"
    r"|(?:positive|negative|mixed)s?(?: (?:points?|aspects?|sides?|feedback|reviews?|comments?))?"
    rf"|(?:what )?{_WHO} (?:(?:do not|don't|didn't|did not) )?(?:(?:dis)?like|love|say|think)d?"
    r")|(?:the )?(?:good|bad|ugly)",
    re.IGNORECASE,
)
"""Lines that name what follows. In other languages they are sentences."""
_LEADS_IN = re.compile(
    r"\b(?:following|below|includes?|including|as follows|mention(?:s|ed)?)\b", re.IGNORECASE
)
"""What a line with a colon says that leads to the list below it."""
_HERE = re.compile(
    r"(?:(?:sure|certainly|of course|absolutely|okay|ok)\W+)?(?:(?:based on|from) [^.!?]{1,60}, )?"
    r"here(?: is| are|['\u2019]s)\b[^.!?]*$",
    re.IGNORECASE,
)
"""A line with a colon at its end that announces a summary: "Here is what customers say:"."""
_NAMED = re.compile(r"(\*\*|__)[^*_:\n]{1,60}(?::\1|\1 ?:)")
"""A name in bold with a colon, which begins a line."""
_LABEL_WORDS = 3
"""Most words of other lines with a colon at their end that name the list below them."""


class _Line(NamedTuple):
    """A line that is not blank.

    Attributes:
        start: where its words begin, behind a list mark or a heading's.
        end: where they end.
        mark: ``item``, ``heading`` or nothing.
        apart: whether a blank line stands before it.
    """

    start: int
    end: int
    mark: str
    apart: bool


def paragraphs(text: str) -> Iterator[tuple[int, int]]:
    r"""Yield start and end of each paragraph and list item, in order.

    A blank line ends a paragraph, and so do headings ("## Fit"). An item begins at "•", wherever it
    stands; at a dash or star that begins a line, if it is in the first line of a paragraph, below a
    colon, or beside the line of another one; and at numbers and letters that begin lines and count
    from 1 or "a"; at an arrow, tick or emoji, as at a dash. A name in bold with a colon at the
    beginning of a line ("**Fit**: small") begins a paragraph. Any other line goes on with what
    stands before it.

    Left out are labels: up to three words with a colon before an item ("Battery life:"), what leads
    in English to a list ("Common complaints include:") or announces a summary ("Here is what users
    say:"), and usual English ones ("What users like") that are headings, in bold, or have a colon
    before an item.

    >>> text = "Pros:\n- light\n- easy to\nclean\n\nGood value\nfor money."
    >>> [text[start:end] for start, end in paragraphs(text)]
    ['light', 'easy to\nclean', 'Good value\nfor money.']
    """
    lines = _lines(text)
    begun: tuple[int, int] | None = None
    ended = True
    for line, after in itertools.zip_longest(lines, lines[1:]):
        words = text[line.start : line.end]
        label = _is_label(words, line.mark, listed=after is not None and after.mark == "item")
        begins = line.apart or line.mark or label or _NAMED.match(words)
        if begun is not None and not (ended or begins):
            begun = (begun[0], line.end)
        else:
            if begun is not None:
                yield begun
            begun = None if label else (line.start, line.end)
        ended = line.mark == "heading"
    if begun is not None:
        yield begun


def _is_label(words: str, mark: str, *, listed: bool) -> bool:
    """Whether a line names what follows it; ``listed`` says that this is an item."""
    bare = _MARKUP.sub(" ", words).strip()
    short = len(bare.split()) <= _LABEL_WORDS and not re.search(r"[.!?,;]", bare)
    usual = _LABEL.fullmatch(bare) is not None
    leads = words.rstrip("*_").endswith(":")
    if leads and (_HERE.match(bare) or (listed and (short or _LEADS_IN.search(bare)))):
        return True
    return usual and ((leads and listed) or mark == "heading" or words.startswith(("**", "__")))


def _lines(text: str) -> list[_Line]:
    """The lines that are not blank, and of which an item in the middle of a line begins one."""
    whole = [part for line in text.splitlines(keepends=True) for part in _INLINE.split(line)]
    places = itertools.accumulate(map(len, whole), initial=0)
    lines = [line.rstrip() for line in whole]
    found: list[_Line] = []
    apart = False
    for place, line, item in zip(places, lines, _items(lines), strict=False):
        heading = _HEADING.match(line)
        lead = item or heading or _INDENT.match(line)
        mark = "item" if item else "heading" if heading else ""
        if line:
            found.append(_Line(place + (lead.end() if lead else 0), place + len(line), mark, apart))
        apart = not line
    return found


def _items(lines: Sequence[str]) -> list[re.Match[str] | None]:
    """For each line the mark of its item, if it begins one."""
    marks = [_ITEM.match(line) for line in lines]
    kept = _counted(marks)
    dots = [number for number, mark in enumerate(marks) if mark and mark["dot"]]
    if len(dots) > 1 or (dots and not "".join(lines[: dots[0]]).strip()):
        kept.update(dots)
    dashes = [mark is not None and mark["dash"] is not None for mark in marks]
    inside = False
    for number, line in enumerate(lines):
        before = lines[number - 1].rstrip("*_") if number else ""
        beside = sum(dashes[max(number - 1, 0) : number + 2]) > 1
        if dashes[number] and (inside or beside or not before or before.endswith(":")):
            kept.add(number)
        inside = bool(line) and (inside or number in kept)
    return [mark if number in kept else None for number, mark in enumerate(marks)]


def _counted(marks: Sequence[re.Match[str] | None]) -> set[int]:
    """The lines whose numbers or letters count from 1 or "a", at least to the second."""
    kept: set[int] = set()
    run: list[int] = []
    for number, mark in enumerate(marks):
        if mark is None or mark["number"] is None:
            continue
        value = mark["number"]
        count = int(value) if value.isdecimal() else ord(value) - ord("a") + 1
        if count != len(run) + 1:
            run = []
        if count == len(run) + 1:
            run.append(number)
            if count > 1:
                kept.update(run)
    return kept
