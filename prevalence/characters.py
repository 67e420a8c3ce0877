"""Characters that a text may not hold, because no UTF-8 file can."""

from __future__ import annotations

import re

__all__ = ["LONE_SURROGATE", "well_formed"]

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a pair: what broken escapes and wrong bytes leave behind."""


def well_formed(text: str) -> str:
    r"""The text with each lone surrogate replaced by U+FFFD, so that offsets stay as they are.

    >>> well_formed("caf\udce9") == "caf\ufffd"
    True
    """
    return text if text.isascii() else LONE_SURROGATE.sub("\ufffd", text)
