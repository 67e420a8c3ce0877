"""Text → the spans of its paragraphs and list items, without list marks and labels.

Language models write lists, whose items often end without a full stop, under labels that say
nothing by themselves ("**Pros:**").
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

from prevalence.text.markdown import denies, needless

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["paragraphs"]

_DOTS = "\u2022\u2023\u25aa\u25cf\u25e6"
"""Bullets that are nothing else, and begin an item in the middle of a line too."""
_TICK = r"[\u2705\u2714\u2716-\u2718\u274c]\ufe0f?(?=[ \t]+[^\s|])"
"""Ticks and crosses before words, which do so in a line that begins with one."""
_PARTS = re.compile(rf"(?<=\s)(?=[{_DOTS}])|(?<=[.!?]\s)(?=[^.!?]{{1,120}}:[*_]*\s*$)")
_TICKED = re.compile(rf"(?<=\s)(?={_TICK})")
"""Where a line has another one in it: an item, or a sentence with a colon at the line's end."""
_SIGNS = "\u2190-\u21ff\u25a0-\u25ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
"""Arrows, shapes, ticks and emoji, of which one may begin an item."""
_SPACE = r"[ \t\u00a0]"
_KEYCAP = "\\d\ufe0f?\u20e3"
"""A digit on a key, which counts items."""
_ITEM = re.compile(
    rf"\s*(?:(?P<dot>[{_DOTS}]|{_TICK}){_SPACE}*"
    rf"|(?:(?P<dash>[-*+\u00b7\u2013\u2014]|[{_SIGNS}]\ufe0f?|{_KEYCAP}|\[[ xX]\])"
    rf"|\(?(?P<number>\d{{1,2}}|[a-z])[.)]){_SPACE}+)"
    # A box to tick, and a sign.
    rf"(?:\[[ xX]\]{_SPACE}+)?(?:[{_SIGNS}]\ufe0f?{_SPACE}+)?(?=\S)"
)
_HEADING = re.compile(
    rf" {{0,3}}(?:#{{1,6}}[ \t]+(?:(?!\d)|(?={_KEYCAP}))|#{{2,6}}[ \t]+(?:\d{{1,2}}[.)][ \t]+)?)"
    rf"(?:(?:[{_SIGNS}]|{_KEYCAP})\ufe0f?{_SPACE}+)?"
)
_INDENT = re.compile(r"\s*")
_ROW = re.compile(r"\s*\|[\s|]*(?=[^\s|].*\|$)")
"""What begins a row of a table; its last character ends it."""
_CELL = re.compile(r"[\s|]*(?=[^\s|])")
"""The same below a head with a rule, where none has to stand at its ends."""
_RULE = re.compile(
    r"\s*(?:([-*_=])(?:[ \t]*\1){2,}|\|[ \t:|-]+|(?P<fence>`{3,}|~{3,})[ \t]*[\w.+-]*)"
)
"""A line across the page, or around code."""
_HEAD_RULE = re.compile(r"(?=[^|]*\|)(?=[^-]*-)[\s:|-]+")
"""A line below the head of a table."""
_WHO_WROTE = r"(?:guest|reviewer|customer|buyer|user|visitor|travell?er|owner)"
_DATE = r"(?:\d{1,2}\.? )?(?:[^\W\d_]{3,9}\.? )?(?:\d{1,2},? )?\d{4}"
_ASIDE = re.compile(
    # Pictures, which a link may hold.
    r"\s*(?:(?:\[?!\[[^\[\]]{0,300}\]\([^()]{0,2000}\)(?:\]\([^()]{0,2000}\))?\s*){1,20}"
    # What references and links refer to: "[^1]: Review 3", "Sources: Reviews 1 and 2".
    r"|(?:(?:\*\*|__)?(?:sources?|references?|citations?):?(?:\*\*|__)?:?|\[\^?\d{1,3}\]:?)"
    r"(?=[^\d\n]{0,40}\d)(?:(?:reviews?|reviewers?|and|R(?=\d))?[\s\d,;&#()\[\]\u2013-]){1,300}\.?"
    r"|\[[^\[\]]{1,60}\]:\s*<?https?://\S{1,2000}"
    # Who wrote a quotation: "\u2014 Guest, May 2024".
    r"|(?P<quoted>>\s*)?(?:[\u2013\u2014]|--)\s*(?:(?:an? |verified |anonymous ){0,3}"
    rf"{_WHO_WROTE}(?: #?\d{{1,4}})?(?:,? \(?{_DATE}\)?)?"
    rf"|(?(quoted)(?-i:[A-Z])\w*\.?(?: (?-i:[A-Z])\w*\.?){{0,2}}(?:, ?\(?| \(){_DATE}\)?|(?!))))",
    re.IGNORECASE,
)
"""A line that says nothing of what is reviewed."""
_MARKUP = re.compile(rf"^(?:\*\*|__)?\d{{1,2}}[.)]\s|[\s*_:#{_SIGNS}\ufe0f]+")
_BOLD_LINE = re.compile(r"(\*\*|__)[^*_]+\1:?")

_WHO = r"(?:people|customers|reviewers|users|buyers|guests|owners|they|i|you)"
_OF = r"(?:(?:customer|user|guest|product|review|feedback|opinion)s? ?\b){1,3}"
_LABEL = re.compile(
    r"(?:the |key |main |common |final |overall |quick |most |top |major |frequent |recurring )*(?:"
    r"pros|cons|pros (?:and|&) cons|overall|verdict|conclusions?|bottom line"
    rf"|(?:{_OF})?(?:summary|overview)|(?:summary|overview) of (?:the |all )?{_OF}"
    r"|in (?:short|summary|conclusion)|to sum up|strengths|weaknesses|(?:dis)?advantages"
    r"|(?:dis)?likes|praise|complaints?|criticisms?|highlights|lowlights|issues|problems|concerns"
    r"|takeaways?|points|features|feedback|thoughts|themes|findings|insights|drawbacks|benefits"
    r"|(?:areas?|room) (?:for|of) improvements?|(?:what|things) (?:needs? improvement|stood out"
    r"|to (?:improve|know|consider|love|expect)|stands? out"
    r"|(?:could|can|should|might) (?:be (?:better|improved)|improve))"
    r"|(?:positive|negative|mixed)s?(?: (?:points?|aspects?|sides?|feedback|reviews?|comments?))?"
    rf"|(?:what )?{_WHO} (?:(?:do not|don't|didn't|did not) )?(?:(?:dis)?like|love|say|think)d?"
    r")|(?P<judges>(?:the )?(?:good|bad|ugly))",
    re.IGNORECASE,
)
"""Lines that name what follows. In other languages they are sentences."""
_LEADS_IN = re.compile(
    r"\b(?:(?:following|below|as follows)\b|(?:includes?|including)\b(?:\W+\w+){0,3}$"
    r"|mention(?:s|ed)?\b[^,;]{0,40}$)",
    re.IGNORECASE,
)
"""What a line with a colon says that leads to the list below it."""
_STATES = re.compile(
    r"(?:(?:it|they|this|these|those|we|you|i|he|she|everyone|nobody)\b\S* \S.* "
    r"(?!(?:with|for|if|when|in|of|(?:dis)?like|love|praise|mention|say|want|need)$)"
    r"|(?:do not|don['\u2019]t|never)\b.*)\w+$",
    re.IGNORECASE,
)
"""What a line of few words says that is no name of what follows."""
_TURNS = re.compile(r"\b(?:but|although|though|while|whereas|none|nobody|no one)\b", re.IGNORECASE)
"""What such a line has if it says something else first, or denies what is in the list."""
_HERE = re.compile(
    r"(?:(?:sure|certainly|of course|absolutely|okay|ok)\W+)?(?:(?:based on|from) [^.!?]{1,60}, )?"
    r"(?:here(?: is| are|['\u2019]s)|below (?:is|are)|the following is)\b[^.!?]*$",
    re.IGNORECASE,
)
"""A line with a colon at its end that announces a summary: "Here is what customers say:"."""
_NAMED = re.compile(r"(\*\*|__)[^*_:\n]{1,60}(?::\1|\1 ?:)")
"""A name in bold with a colon, which begins a line."""
_PLAIN_NAMED = re.compile(
    r"[^\W\d_a-z][\w/&'\u2019-]*(?: [\w/&'\u2019-]+){0,3}(?::| [\u2013\u2014-])[ \t]+\S"
)
"""A name without bold, which does so beside the line of another one."""
_STOP = re.compile(r"[.!?]\s")
_CAPITAL = re.compile(r"[\"'\u201c\u2018(]?[^\W\d_a-z]\S*")
"""What begins a line that may say something of its own."""
_TAIL = 40
"""Characters at the end of a line that show how it ends."""
_UNFINISHED = re.compile(
    r"(?:[.!?\u2026:;,&/(\u2013\u2014-]|\b(?:a|an|the|this|these|my|our|your|his|her|its|their|of|from|by|at|in"
    r"|on|with|for|to|as|than|like|and|or|but|nor|is|are|was|were|be|has|have|had|not|no|very|so))\W*$",
    re.IGNORECASE,
)
"""How a line ends that ends by itself, or goes on in the next one."""
_LEAST_WIDTH, _MOST_WIDTH = 60, 100
"""Characters at which people and programs break lines, where no line is longer."""
_LABEL_WORDS = 3
"""Most words of other lines that name the list below them."""
_AFTER = 200
"""How many characters behind a heading may show that it is a name."""


class _Line(NamedTuple):
    """A line that is not blank.

    Attributes:
        start: where its words begin, behind a list mark or a heading's.
        end: where they end.
        mark: ``item``, ``heading``, ``row`` (of a table) or nothing.
        apart: whether a blank line or nothing stands before it.
        indent: of the whole line, in characters.
        rank: above that of the items which an item may head: a dash or dot, a sign, a number.
    """

    start: int
    end: int
    mark: str
    apart: bool
    indent: int
    rank: int


def paragraphs(text: str, *, capitals: bool = True) -> Iterator[tuple[int, int]]:
    r"""Yield start and end of each paragraph and list item, in order.

    A blank line ends a paragraph, and so do headings ("## Fit"), rows of tables and lines across
    the page ("---"). An item begins at "•", wherever it stands; at "✅" and "❌", in a line that
    begins with one; at a dash or star that begins a line, if it is in the first line of a
    paragraph, below a colon, heading or line in bold, or beside the line of another one; and at
    numbers and letters that begin lines and count from 1 or "a", or are a single 1 below a
    colon, heading or line in bold; at an arrow, emoji, box ("[x]") or keycap, as at a dash. Each
    line with a bar below the head and rule of a table is a row. A name in bold with a
    colon at the beginning of a line ("**Fit**: small") begins a paragraph, and so do names without
    bold in two lines running. So does, with ``capitals``, a line with a capital below
    one that ends neither in a mark nor in a word such as "the", and in which its first word had
    room, or which has more than 100 characters; but not in a block where a line begins with a
    small letter. Any other line goes on with what stands before it.

    Left out are labels: up to three words before an item that are a heading, in bold or with a
    colon ("Battery life:"), what leads in English to a list ("Common complaints include:") or
    announces a summary ("Here is what users say:"), usual English ones ("What users like") that are
    headings, in bold, before an item or between blank lines, headings and lines in bold that the
    sentence after them does without, heads of tables, fences around code, and pictures and
    references alone on a line ("Sources: Reviews 1, 2").

    >>> text = "Pros:\n- light\n- easy to\nclean\n\nGood value\nfor money."
    >>> [text[start:end] for start, end in paragraphs(text)]
    ['light', 'easy to\nclean', 'Good value\nfor money.']
    """
    lines = _lines(text)
    broken = _broken_lines(text, lines) if capitals else frozenset()
    begun: tuple[int, int] | None = None
    ended = True
    for before, line, after in zip([None, *lines], lines, [*lines[1:], None], strict=False):
        apart = ended or line.apart or line.mark or line in broken
        begins = apart or _is_named(text, line, before, after)
        goes_on = begun is not None and not begins
        label = _is_label(text, line, after, goes_on=goes_on, broken=broken)
        if begun is not None and goes_on and not label:
            begun = (begun[0], line.end)
        else:
            if begun is not None:
                yield begun
            begun = None if label else (line.start, line.end)
        ended = line.mark in ("heading", "row")
    if begun is not None:
        yield begun


def _is_named(text: str, line: _Line, before: _Line | None, after: _Line | None) -> bool:
    """Whether a line begins with a name and a colon, in bold or beside another such line."""
    if _NAMED.match(text, line.start, line.end):
        return True
    beside = (before, None if after is None or after.apart else after)
    return _PLAIN_NAMED.match(text, line.start, line.end) is not None and any(
        other is not None and _PLAIN_NAMED.match(text, other.start, other.end) for other in beside
    )


def _broken_lines(text: str, lines: Sequence[_Line]) -> frozenset[_Line]:
    """Lines that say something of their own, as they need not have begun where they do."""
    found: set[_Line] = set()
    block: list[_Line] = []
    for line in [*lines, None]:
        if line is None or line.apart:
            found.update(_broken(text, block))
            block = []
        if line is not None:
            block.append(line)
    return frozenset(found)


def _broken(text: str, block: Sequence[_Line]) -> list[_Line]:
    """Those of the lines between two blank ones; none where lines are broken as they fill up."""
    if any(not line.mark and text[line.start].islower() for line in block[1:]):
        return []
    width = max(_LEAST_WIDTH, *(line.end - line.start for line in block), 0)
    found: list[_Line] = []
    for before, line in itertools.pairwise(block):
        first = None if line.mark else _CAPITAL.match(text, line.start, line.end)
        above = text[max(before.start, before.end - _TAIL) : before.end]
        if first is None or _UNFINISHED.search(above) or above.endswith("**"):
            continue
        size = before.end - before.start
        if size > _MOST_WIDTH or size + 1 + len(first[0]) <= width:
            found.append(line)
    return found


def _is_label(
    text: str, line: _Line, after: _Line | None, *, goes_on: bool, broken: frozenset[_Line]
) -> bool:
    """Whether a line names what follows it; ``goes_on`` says that it may belong to one before."""
    words = text[line.start : line.end]
    bare = _bare(words)
    listed = after is not None and after.mark == "item"
    below = listed and (line.mark != "item" or _is_within(line, after))
    leads = words.rstrip("*_").endswith(":")
    titled = line.mark == "heading" or _BOLD_LINE.fullmatch(words) is not None
    if usual := _LABEL.fullmatch(bare):
        leads_on = after is not None and (after.apart or after in broken)
        alone = line.apart and leads_on and not usual["judges"]
        plain = (below or alone) and not denies(bare)
        return titled or plain or (leads and listed) or words.startswith(("**", "__"))
    name = re.search(r"[.!?,;]", bare) is None
    short = name and len(bare.split()) <= _LABEL_WORDS
    if leads and not (goes_on and words[:1].islower()):
        leads_in = _LEADS_IN.search(bare) and not _TURNS.search(bare) and not _STOP.search(bare)
        if _HERE.match(bare) or (listed and ((short and not _STATES.match(bare)) or leads_in)):
            return True
    titled = titled or (after in broken and bare.istitle())
    if not (titled and name) or denies(bare) or after is None:
        return False
    behind = text[after.start : after.start + _AFTER]
    return short if below else not after.mark and needless(bare, behind)


def _is_within(line: _Line, after: _Line | None) -> bool:
    """Whether an item is one of those of the item before it."""
    return after is not None and (after.indent > line.indent or line.rank > after.rank)


def _rank(item: re.Match[str] | None) -> int:
    """0 for a dash or dot, 1 for a sign such as an emoji, 2 for a number."""
    if item is None or item["dot"]:
        return 0
    if item["number"] or item["dash"][0].isdigit():
        return 2
    return int(re.match(f"[{_SIGNS}]", item["dash"]) is not None)


def _bare(words: str) -> str:
    """Words without marks of Markdown, signs, and the number before them."""
    return _MARKUP.sub(" ", words).strip()


def _lines(text: str) -> list[_Line]:
    """The lines that say something, and of which parts are lines of their own."""
    whole: list[str] = []
    for line in text.splitlines(keepends=True):
        here = line.rstrip("*_ \r\n").endswith(":") and _HERE.match(_bare(line))
        parts = _TICKED if re.match(_TICK, line) else _PARTS
        whole += [line] if here else parts.split(line)
    places = itertools.accumulate(map(len, whole), initial=0)
    lines = [line.rstrip() for line in whole]
    cells = _without_heads(lines)
    found: list[_Line] = []
    apart = True
    for place, line, listed, cell in zip(places, lines, _items(lines), cells, strict=False):
        heading, row, indent = _HEADING.match(line), _ROW.match(line) or cell, _INDENT.match(line)
        item = None if cell else listed
        lead = item or heading or row or indent
        mark = "item" if item else "heading" if heading else "row" if row else ""
        if line and lead and indent:
            end = place + len(line.rstrip("| \t") if mark == "row" else line)
            found.append(_Line(place + lead.end(), end, mark, apart, indent.end(), _rank(item)))
        apart = not line
    return found


def _without_heads(lines: list[str]) -> list[re.Match[str] | None]:
    """Empty the lines that say nothing, and return what begins the rows below a table's head."""
    rules = [_HEAD_RULE.fullmatch(line) is not None for line in lines]
    cells: list[re.Match[str] | None] = []
    inside = False
    for number, line in enumerate(lines):
        rule, head = rules[number], number + 1 < len(lines) and rules[number + 1] and "|" in line
        inside = "|" in line and (rule or inside) and not head
        if rule or head or _RULE.fullmatch(line) or _ASIDE.fullmatch(line):
            lines[number] = ""
        cells.append(_CELL.match(lines[number]) if inside else None)
    return cells


def _items(lines: Sequence[str]) -> list[re.Match[str] | None]:
    """For each line the mark of its item, if it begins one."""
    marks = [_ITEM.match(line) for line in lines]
    kept = _counted(marks)
    dots = [number for number, mark in enumerate(marks) if mark and mark["dot"]]
    if len(dots) > 1 or (dots and not "".join(lines[: dots[0]]).strip()):
        kept.update(dots)
    dashes = [mark is not None and mark["dash"] is not None for mark in marks]
    inside, above = False, ""
    for number, line in enumerate(lines):
        mark = marks[number]
        if mark and mark["number"] == "1" and above and _leads(above):
            kept.add(number)
        above = line or above
        beside = sum(dashes[max(number - 1, 0) : number + 2]) > 1
        if dashes[number] and (inside or beside or not number or _leads(lines[number - 1])):
            kept.add(number)
        inside = bool(line) and (inside or number in kept)
    return [mark if number in kept else None for number, mark in enumerate(marks)]


def _leads(line: str) -> bool:
    """Whether an item may follow a line: nothing, a colon at its end, a heading or a label."""
    words = line.strip()
    if not words or words.rstrip("*_").endswith(":") or _HEADING.match(line):
        return True
    bare = _bare(words)
    return bool(_BOLD_LINE.fullmatch(words) or (_LABEL.fullmatch(bare) and not denies(bare)))


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
