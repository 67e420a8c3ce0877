"""Text from outside → text that a terminal only shows; numbers → cells of tables."""

from __future__ import annotations

import math
import re

__all__ = ["inert", "one_line", "shown_number"]

_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # C0, DEL and C1: escape sequences begin here
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # order and width
    "\u2028\u2029\ud800-\udfff\U000e0000-\U000e007f]"  # line ends, halves, invisible tags
)
_BUT_NEWLINE = re.compile(_CONTROL.pattern.replace("\x00-\x1f", "\x00-\x09\x0b-\x1f"))
_SPACE = re.compile(r"[\t\n\r\v\f]+")

SUBSTITUTE = "\N{SYMBOL FOR SUBSTITUTE FORM TWO}"


def inert(text: str) -> str:
    r"""Show control characters, but for line feeds, as ␦: nothing in the text drives a terminal.

    >>> inert("a\x1b[31mb")
    'a␦[31mb'
    """
    return _BUT_NEWLINE.sub(SUBSTITUTE, text)


def one_line(text: str) -> str:
    r"""Likewise, and on one line: line ends and tabs become spaces.

    >>> one_line("two\nlines")
    'two lines'
    """
    return _CONTROL.sub(SUBSTITUTE, _SPACE.sub(" ", text))


def shown_number(value: float | None, form: str = ".3f") -> str:
    """A number in a format, or a dash where there is none, or it is NaN.

    >>> shown_number(0.25, ".0%"), shown_number(None), shown_number(math.nan)
    ('25%', '–', '–')
    """
    return "–" if value is None or math.isnan(value) else f"{value:{form}}"
