"""Text → the spans of its paragraphs and list items, without list marks and labels.

Language models write lists, whose items often end without a full stop, under headings that say
nothing by themselves ("**Pros:**").
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["paragraphs"]

_DOTS = "\u2022\u2023\u25aa\u25cf\u25e6"
"""Bullets that are nothing else, and begin an item in the middle of a line too."""
_INLINE = re.compile(rf"(?<=\s)(?=[{_DOTS}]\s)")
_ITEM = re.compile(
    rf"\s*(?:(?P<bullet>[-*+{_DOTS}\u00b7\u2013\u2014])|\(?(?:\d{{1,2}}|[a-z])[.)])[ \t]+(?=\S)"
)
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+")
_INDENT = re.compile(r"\s*")
_BOLD = re.compile(r"(\*\*|__)(?P<inside>.+)\1:?")
_LABEL_WORDS = 4
"""Most words of a heading that is taken to name what follows, and to say nothing itself."""


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
    r"""Yield start and end of each paragraph, list item and telling heading, in order.

    A blank line ends a paragraph. Where lines begin with list marks ("-", "•", "1."), each of
    them begins an item, and so does a line that begins with a capital letter. Any other line goes
    on with what stands before it. "•" begins a line wherever it stands.

    Left out are labels, lines of at most four words that no mark ends: headings ("## Summary");
    lines in bold of one word, with a colon or before a list; others with a colon before a list.

    >>> text = "Pros:\n- light\n- easy to\nclean\n\nGood value\nfor money."
    >>> [text[start:end] for start, end in paragraphs(text)]
    ['light', 'easy to\nclean', 'Good value\nfor money.']
    """
    lines = _lines(text)
    listed = any(line.mark == "item" for line in lines)
    begun: tuple[int, int] | None = None
    after = ""
    for line, following in itertools.zip_longest(lines, lines[1:]):
        follows = following.mark if following else ""
        label = _is_label(text[line.start : line.end], line.mark, follows)
        goes_on = not (line.apart or line.mark or label or after == "heading")
        if goes_on and begun is not None and not (listed and text[line.start].isupper()):
            begun = (begun[0], line.end)
        else:
            if begun is not None:
                yield begun
            begun = None if label else (line.start, line.end)
        after = line.mark
    if begun is not None:
        yield begun


def _lines(text: str) -> list[_Line]:
    """The lines that are not blank.

    A dash or a number at the beginning of a line need not be the mark of a list: there is one where
    several lines have marks, or a bullet is in the first line of a paragraph or below a colon.
    """
    whole = [part for line in text.splitlines(keepends=True) for part in _INLINE.split(line)]
    places = itertools.accumulate(map(len, whole), initial=0)
    lines = [(place, line.rstrip()) for place, line in zip(places, whole, strict=False)]
    items = [_ITEM.match(line) for _, line in lines]
    above = ["", *(line.rstrip("*_") for _, line in lines)]
    opened = (
        item is not None and item["bullet"] is not None and (not before or before.endswith(":"))
        for before, item in zip(above, items, strict=False)
    )
    listed = sum(map(bool, items)) > 1 or any(opened)
    found: list[_Line] = []
    apart = False
    for (place, line), item in zip(lines, items, strict=True):
        heading = _HEADING.match(line)
        mark = "item" if item and listed else "heading" if heading else ""
        lead = (item if mark == "item" else heading) or _INDENT.match(line)
        if line:
            found.append(_Line(place + (lead.end() if lead else 0), place + len(line), mark, apart))
        apart = not line
    return found


def _is_label(words: str, mark: str, follows: str) -> bool:
    """Whether a line names what follows it."""
    bold = _BOLD.fullmatch(words)
    inside = bold["inside"] if bold else words
    size, leads = len(inside.split()), follows == "item"
    if mark == "item" or size > _LABEL_WORDS or inside.endswith((".", "!", "?")):
        return False
    if bold:
        return leads or size == 1 or words.rstrip("*_").endswith(":")
    return mark == "heading" or (leads and words.endswith(":"))
