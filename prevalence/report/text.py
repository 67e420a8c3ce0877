"""Text from outside → text that a terminal only shows; numbers → cells of tables."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["decimals_of", "inert", "one_line", "shown_number"]

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


def decimals_of(values: Sequence[float]) -> int:
    """Decimals for all values of a figure: shares have three, ratings two, others one or none.

    Args:
        values: all that are shown, at least one; none is NaN.

    >>> decimals_of([1.0, 0.25]), decimals_of([1.0, 4.5]), decimals_of([3.0, 120.5])
    (3, 2, 1)
    >>> decimals_of([1.0, 12.0])
    0
    """
    # A share may lie a little above 1 by rounding.
    largest = max(abs(value) for value in values) - 1e-6
    if largest <= 1:
        return 3
    if all(value.is_integer() for value in values):
        return 0
    return 2 if largest < 10 else 1
