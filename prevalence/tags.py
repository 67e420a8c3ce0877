"""HTML in a text, put as Markdown, so that it is cut and left out as that is.

Shops and language models write summaries as pages do: "<li><b>Fit:</b> small &amp; tight</li>".
"""

from __future__ import annotations

import html
import re

__all__ = ["FILLER", "as_markdown"]

FILLER = "\u200b"
"""What fills the place of an entity behind the character that it stands for; no part of a text."""

_INLINE = {"b": "**", "strong": "**", "i": "*", "em": "*", "code": "`", "q": '"'}
"""Tags that stand around words, and the marks that do so in Markdown."""
_BREAKS = (
    "p|div|section|article|header|footer|ul|ol|dl|dt|dd|table|tr|thead|tbody|blockquote|hr|h[1-6]"
)
"""Tags at which a paragraph begins and ends."""
_OTHERS = "span|a|u|s|small|mark|sub|sup|font|big|td|th|abbr|cite"
_NAMES = "|".join([_BREAKS, _OTHERS, *_INLINE, "br", "li"])
_TAG = re.compile(
    rf"<(?P<ends>/?)(?P<name>{_NAMES})(?P<rest>(?:\s[^<>]{{0,2000}})?/?)>", re.IGNORECASE
)
_ENTITY = re.compile(r"&(?:amp|quot|apos|nbsp|[lr][sd]quo|[mn]dash|hellip|#39|#x27|#34|#160);")


def as_markdown(text: str) -> str:
    r"""The text with Markdown in place of tags, and characters in place of entities.

    Returns:
        A text of the same length. Where an entity is longer than its character, :data:`FILLER`
        follows. Texts without tags and entities are returned as they are.

    >>> as_markdown("<b>Fit:</b> small").split()
    ['**Fit:**', 'small']
    >>> as_markdown("It leaks.<br>It hums.")
    'It leaks.   \nIt hums.'
    >>> as_markdown("so-so &lt;3 <3")
    'so-so &lt;3 <3'
    """
    if "<" in text:
        text = _TAG.sub(_marked, text)
    if "&" in text:
        text = _ENTITY.sub(_spelt, text)
    return text


def _marked(tag: re.Match[str]) -> str:
    name, size = tag["name"].lower(), len(tag[0])
    if name == "br":
        return "\n".rjust(size)
    if name == "li":
        return ("\n" if tag["ends"] else "\n- ").rjust(size)
    mark = _INLINE.get(name)
    if mark is not None:
        return mark.ljust(size) if tag["ends"] else mark.rjust(size)
    if re.fullmatch(_BREAKS, name):
        heading = name[0] == "h" and name[1:].isdecimal() and not tag["ends"]
        return ("\n\n# " if heading else "\n\n").rjust(size)
    return " " * size


def _spelt(entity: re.Match[str]) -> str:
    character = html.unescape(entity[0]).replace("\u00a0", " ")
    return character.ljust(len(entity[0]), FILLER)
