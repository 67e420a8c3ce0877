"""HTML in a text, put as Markdown and so cut as that is; JSON, thoughts and chat tokens left out.

Shops and language models write summaries as pages do: "<li><b>Fit:</b> small &amp; tight</li>".
Reasoning models write their thoughts before them, within "<think>" and "</think>"; prompts ask for
the summary within "<answer>" and "</answer>"; and chat templates leave tokens such as "<|im_end|>".
"""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING

from prevalence.text.markdown import blanked

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FILLER", "as_markdown", "plain", "unwrapped", "without_tags"]

FILLER = "\ufdd0"
"""Padding behind the character of an entity, so that lengths stay; it occurs in no text."""

_BREAKS = (
    "p|div|section|article|aside|nav|main|header|footer|ul|ol|dl|dt|dd|table|tbody|thead|tfoot"
    "|caption|colgroup|col|figure|figcaption|details|blockquote|pre|center|hr|h[1-6]|html|body"
    # Within these a prompt may ask for the summary.
    "|final|result|(?:final[_-]?)?(?:answer|summary|output|response)"
)
"""Tags at which a paragraph begins and ends."""
_OTHERS = (
    "b|strong|i|em|code|q|span|a|u|sub|sup|font|abbr|cite|img|th|td|tr|br|li"
    "|small|big|mark|del|ins|strike|s|kbd|samp|var|tt|dfn|time|wbr"
)
_VALUES = (
    r"(?:\s+(?:[\w:-]+\s*=\s*(?:\"[^\"<>]{0,2000}\"|'[^'<>]{0,2000}'|[^\s\"'<>]{1,2000})"
    r"|open\b)){0,50}"
)
_TAG = re.compile(rf"<(?P<ends>/?)(?P<name>{_BREAKS}|{_OTHERS}){_VALUES}\s*/?>", re.IGNORECASE)
_UNSEEN = re.compile(
    r"<!--.{0,5000}?-->|<!doctype\b[^<>]{0,200}>|<(?P<name>script|style)\b[^<>]{0,2000}>.{0,5000}?</(?P=name)>"
    # Tokens of chat templates, with the role or channel that they name, and thoughts between them.
    r"|<\|channel\|>(?:analysis|commentary)\b.*?(?:<\|(?:end|call|return)\|>|(?=<\|channel\|>)|\Z)"
    r"|<\|(?:start|im_start|start_header_id|channel)\|>(?:assistant|final)\b"
    r"|<start_of_turn>model\b|<(?:start|end)_of_turn>|</?s>|<(?:bos|eos|pad|unk)>"
    r"|<[|\uff5c][\w\u2581]{1,30}[|\uff5c]>"
    # A reference that stands above the line.
    r"|<sup\b[^<>]{0,200}>(?:\s|<[^<>]{0,500}>){0,6}\[?\d{1,3}\]?(?:\s|</[^<>]{0,20}>){0,6}</sup>",
    re.IGNORECASE | re.DOTALL,
)
_ITEM = re.compile(
    rf"<li{_VALUES}\s*>(?:\s|<(?:p|div|span){_VALUES}\s*>)*(?P<said>(?=[^<\s])|(?=<(?!/|li\b)))?",
    re.IGNORECASE,
)
"""What begins an item, and whether anything stands in it."""
_FOLDED = re.compile(rf"<details{_VALUES}\s*>\s*<summary{_VALUES}\s*>", re.IGNORECASE)
"""What begins the title of what is folded, as a heading does."""
_BOLD = re.compile(
    rf"(?P<open><(?P<name>b|strong){_VALUES}\s*>)(?P<words>[^\s<>](?:[^<>]{{0,300}}[^\s<>])?)"
    r"(?P<close></(?P=name)\s*>)",
    re.IGNORECASE,
)
_THOUGHT = re.compile(
    r"<(?P<ends>/?)(?P<name>think|thought|reasoning|analysis|reflection|scratchpad)"
    r"(?:(?<=think)ing|(?<=thought)s)?>|(?-i:\[(?P<closes>/?)THINK\])",
    re.IGNORECASE,
)
_TAGGED = re.compile(r"<|\[/?THINK\]")
"""What a text with tags has."""
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,30});")


_WRAPPED = re.compile(r"\s*(?:(?:`{3,}|~{3,})\w*\s+)?(?=[{\[])")
"""What begins a text that may be JSON."""
_STRING = re.compile(r"\"(?P<said>(?:[^\"\\]|\\.)*)\"")
_LONE = re.compile(r"[\ud800-\udfff]")
_ESCAPE = re.compile(
    r"(?:\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F]|\\u[\da-fA-F]{2})[\da-fA-F]{2}|\\."
)


def as_markdown(text: str) -> str:
    r"""The text with Markdown in place of tags, and characters in place of entities.

    Returns:
        A text of the same length, with spaces for comments and thoughts. Where an entity is longer
        than its character, :data:`FILLER` follows. Texts without tags and entities are returned as
        they are.

    >>> as_markdown("<b>Fit:</b> small").split()
    ['**Fit:**', 'small']
    >>> as_markdown("It leaks.<br>It hums.")
    'It leaks.   \nIt hums.'
    >>> as_markdown("so-so <3")
    'so-so <3'
    """
    if _TAGGED.search(text):
        text = blanked(text, _thoughts(text))
        text = _UNSEEN.sub(lambda found: " " * len(found[0]), text)
        text = _BOLD.sub(_emphasized, text)
        text = _ITEM.sub(_listed, text)
        text = _FOLDED.sub(lambda found: "\n\n# ".rjust(len(found[0])), text)
        heads = _heads(text)
        text = _TAG.sub(lambda tag: "\n|-|\n" if tag.start() in heads else _marked(tag), text)
    if "&" in text:
        text = _ENTITY.sub(_spelt, text)
    return text


def unwrapped(text: str) -> str:
    r"""The text that a JSON object or list holds, if it holds nothing else.

    That is an object with one value, a text or a list of texts; or a list of texts, of which each
    is a paragraph. A fence may stand around it.

    Returns:
        A text of the same length, with :data:`FILLER` behind characters whose escapes are longer.
        Any other text is returned as it is.

    >>> unwrapped('{"summary": "It leaks."}').strip()
    'It leaks.'
    >>> unwrapped('["It leaks", "It hums"]').split()
    ['It', 'leaks', 'It', 'hums']
    """
    begun = _WRAPPED.match(text)
    texts = _texts(text[begun.end() :].rstrip("`~ \t\r\n")) if begun else []
    if begun is None or not texts:
        return text
    strings = [one.span("said") for one in _STRING.finditer(text, begun.end())]
    parts, end = [], 0
    for start, after in strings[-len(texts) :]:
        gap = start - end
        parts += ["\n\n".rjust(gap) if end and gap > 1 else " " * gap]
        parts += [_ESCAPE.sub(_unescaped, text[start:after])]
        end = after
    return "".join(parts) + " " * (len(text) - end)


def _texts(page: str) -> list[str]:
    """What a page of JSON holds, if it is nothing but texts."""
    try:
        held = json.loads(page)
    except (ValueError, RecursionError):
        return []
    if isinstance(held, dict) and len(held) == 1:
        (held,) = held.values()
    texts = held if isinstance(held, list) else [held]
    sound = all(isinstance(one, str) and not _LONE.search(one) for one in texts)
    return texts if sound else []


def _unescaped(found: re.Match[str]) -> str:
    return str(json.loads(f'"{found[0]}"')).ljust(len(found[0]), FILLER)


def _heads(text: str) -> set[int]:
    """Where rows end that have no cells but those of a head, above a row that has others."""
    heads: set[int] = set()
    cells: set[str] = set()
    end: int | None = None
    for tag in _TAG.finditer(text):
        name, ends = tag["name"].lower(), bool(tag["ends"])
        if name == "table":
            end = None
        elif name == "tr" and ends and len(tag[0]) == len("</tr>"):
            end, cells = tag.start() if cells == {"th"} else None, set()
        elif name in {"th", "td"} and not ends:
            cells.add(name)
            if name == "td" and end is not None:
                heads.add(end)
        elif name == "tr":
            cells = set()
    return heads


def _thoughts(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each thought: closed, begun by a chat template, or cut off."""
    tags = [
        ((tag["name"] or "[think]").casefold(), bool(tag["ends"] or tag["closes"]), tag.span())
        for tag in _THOUGHT.finditer(text)
    ]
    last = {name: start for name, ends, (start, _) in tags if ends}
    begun: tuple[str, int] | None = None
    cut: int | None = None
    opened = set()
    for name, ends, (start, end) in tags:
        if not ends:
            opened.add(name)
            if begun is None and last.get(name, -1) > start:
                begun = name, start
            elif begun is None and cut is None:
                cut = start
        elif begun is not None and begun[0] == name:
            yield begun[1], end
            begun = None
        elif begun is None and name not in opened:
            yield 0, end
            cut = None
    if cut is not None and not text[:cut].rpartition("\n")[2].strip():
        yield cut, len(text)


def plain(text: str) -> str:
    """The same without padding, as models read a review.

    >>> plain("It isn&#39;t loud &amp; it fits.")
    "It isn't loud & it fits."
    """
    return as_markdown(text).replace(FILLER, "")


def without_tags(text: str) -> str:
    r"""The text without HTML, comments and thoughts: characters for entities, lines for paragraphs.

    Texts without tags and entities, and Markdown in any text, stay as they are.

    >>> without_tags("<p>It <b>leaks</b> &amp; hums.</p><p>Loud.</p>")
    'It leaks & hums.\nLoud.'
    >>> without_tags("**3** < 4 & so on")
    '**3** < 4 & so on'
    """
    seen = text
    if _TAGGED.search(text):
        seen = blanked(seen, _thoughts(seen))
        seen = _TAG.sub(_parted, _UNSEEN.sub(" ", seen))
        if seen != text:
            seen = "\n".join(filter(None, map(str.strip, seen.split("\n"))))
    if "&" in seen:
        seen = _ENTITY.sub(lambda found: _spelt(found).replace(FILLER, "").strip() or " ", seen)
    return seen


def _parted(tag: re.Match[str]) -> str:
    """A new line for a tag that parts what stands around it; nothing for one within a sentence."""
    name = tag["name"].lower()
    if name in {"td", "th"}:
        return " "
    return "\n" if name in {"br", "li", "tr"} or re.fullmatch(_BREAKS, name) else ""


def _emphasized(found: re.Match[str]) -> str:
    return "**".rjust(len(found["open"])) + found["words"] + "**".ljust(len(found["close"]))


def _listed(item: re.Match[str]) -> str:
    return ("\n" if item["said"] is None else "\n- ").rjust(len(item[0]))


def _marked(tag: re.Match[str]) -> str:
    name, ends = tag["name"].lower(), bool(tag["ends"])
    if name in {"br", "li"}:
        put = "\n"
    elif name in {"td", "th", "tr"}:
        # A row of a table: "| Fit | small |".
        put = "|" * ends if name != "tr" else "\n" if ends else "\n| "
    elif name == "thead":
        put = "|-|\n" if ends else "\n"
    elif re.fullmatch(_BREAKS, name):
        put = "\n\n# " if name[0] == "h" and name[1:].isdecimal() and not ends else "\n\n"
    else:
        put = ""
    return put.rjust(len(tag[0]))


def _spelt(entity: re.Match[str]) -> str:
    character = html.unescape(entity[0])
    if len(character) != 1 or not character.isprintable():
        blank = character.isspace() or character in "\u200b\u00ad\ufeff"
        return " " * len(entity[0]) if blank else entity[0]
    return character.ljust(len(entity[0]), FILLER if not character.isspace() else " ")
