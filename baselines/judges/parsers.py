"""Scores in judges' replies, read strictly: what is not said plainly is counted, never guessed.

A parser sees the reply alone. The rules by which published figures were made are in
:mod:`prevalence.llm.released_replies`; they are used only where they are asked for by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Literal, NamedTuple

from prevalence.errors import ConfigurationError
from prevalence.llm.released_replies import (
    UNREAD,
    read_letter,
    read_reason_then_score,
    read_stars,
)

__all__ = [
    "PARSERS",
    "Fault",
    "Parser",
    "Reading",
    "before_cut",
    "contradicts_percentage",
    "parser_for",
    "read_choice",
    "read_plain",
    "read_star_count",
    "read_table",
    "read_tag",
    "read_verdict",
    "spoken",
]

Fault = Literal["", "unparsable", "several", "out_of_range"]


class Reading(NamedTuple):
    """What a reply says.

    Attributes:
        value: the score, or the verdict (1 first better, 2 second, 0 equal); None without one.
        fault: why there is none; "" where there is one.
    """

    value: float | None
    fault: Fault = ""


Parser = Callable[[str], Reading]

PARSERS = ("strict", "llm-summeval")
"""Names of the sets of rules."""

_LOW, _HIGH = 1.0, 5.0
_WORDS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5"}
# A sign makes it another number, and none of the scale.
_NUMBER = rf"(?<![-+\u2212])(\d+(?:[.,]\d+)?|{'|'.join(_WORDS)})\b(?![.,]\d)"
# Marks of emphasis, as Markdown and HTML have them.
_EMPHASIS = re.compile(
    r"(?<!\w)\*{1,3}|\*{1,3}(?!\w)|(?<![^\W_])_{1,3}|_{1,3}(?![^\W_])|</?(?:b|i|u|em|strong)>",
    re.IGNORECASE,
)
_TAG = re.compile(r"<score>([^<]*)</score>", re.IGNORECASE)
_PLACEHOLDERS = {"k", "x"}
"""What prompts write between the tags to show where the score goes."""
_PLAIN_NUMBER = re.compile(
    r"([-+]?\d+(?:\.\d+)?)(?:\s*(?:/|(?:out\s+)?of)\s*(?:5(?:\.0)?|five))?", re.IGNORECASE
)
_THOUGHT = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_REASONS = (
    r"for|because|since|as|due|on|in|with|given|based|overall|considering|would|is|was|seems|but|"
    r"although|though|while|which|to|and|or|at|compared|I|it|the|this|explanation|reason(?:s|ing)?"
)
# What is counted after a number would make it one of something else: "4 out of 5 reviewers".
_ON_SCALE = rf"(?=\s*(?:$|[^\w\s%/]|stars?\b|points?\b|(?:{_REASONS})\b)|[ \t]*\n)"
_OUT_OF = r"out\s+of(?:\s+(?:an?|the|possible|maximum)){0,3}"
# The reception that is open 24/7 has no score.
_OF_SCALE = re.compile(
    rf"(?<![\w./])(?!24/7){_NUMBER}\s*(?:/|{_OUT_OF})\s*{_NUMBER}{_ON_SCALE}", re.IGNORECASE
)
_LEGEND = re.compile(
    r"(?<=\w)\s*\((?![^()]*\b(?:[06-9]|\d\d+)\b)[15]\s*(?:[-\u2013\u2014=]|to\b)[^()\n]{0,60}\)(?=\s*:)",
    re.IGNORECASE,
)
"""What a label says of the scale, no part of which is a score: "Score (1 = worst, 5 = best):"."""
_LABELLED_SCALE = re.compile(
    rf"{_NUMBER}\s*(?:/|{_OUT_OF}|of(?:\s+an?)?)\s*{_NUMBER}{_ON_SCALE}", re.IGNORECASE
)
"""Behind a word of scoring, "4 of 5" is on a scale too."""
_PART = re.compile(r"\s*(?:/\s*\d|(?:out\s+)?of\b)", re.IGNORECASE)
_ENDED = rf"(?=\s*(?:$|[^\w\s%]|(?:out\s+)?of\b|stars?\b|(?:{_REASONS})\b)|[ \t]*\n)"
# A number that a word of scoring introduces: "Score: 3", "a score of four", "rated it 2.5".
_SCORED = re.compile(
    r"\b(?:scor(?:e[sd]?|ing)|rat(?:e[sd]?|ing)|grade[sd]?)\b\W{0,4}"
    r"(?:(?:of|is|as|at|a|an|the|it|this|be|would|to|for|with|and|summary|text)\b\W{0,3}){0,4}"
    rf"(?<![\d.]){_NUMBER}{_ENDED}",
    re.IGNORECASE,
)
# "I'd give it a 4."
_GIVEN = re.compile(
    r"\bI(?:\s+(?:would|will)|['\u2019](?:d|ll))?\s+(?:give|assign|award)\s{1,3}"
    r"(?:(?:it|this|that|the|its|summary|text|a|an|score|rating|grade|of)\b\s{1,3}){0,6}"
    rf"{_NUMBER}{_ENDED}",
    re.IGNORECASE,
)
_RATERS = (
    r"\b(?:guest|review(?:er)?|customer|user|buyer|visitor|travell?er|owner|shopper|diner|reader|"
    r"people|person|(?<!\bthis )(?<!\bthat )one|some|many|most|few|other|they|he|she)s?['\u2019]?s?"
)
_RATED_THINGS = (
    r"\b(?:hotel|product|item|place|restaurant|business|property|resort|hostel|film|movie|book|"
    r"shop|store|device|app)(?:['\u2019]s)?"
)
# Others' ratings: "a guest rated it 2 out of 5", "the reviewers' score of 3", "the hotel has 4
# stars". Whoever else is named, or what else is rated, is not recognised.
_REPORTED = re.compile(
    rf"(?:{_RATERS}\s+(?:(?:\w+ly|also|all|both|have|has|had|who|would|overall|average|mean)\s+){{0,2}}"
    r"(?:(?:rat|scor|grad|gave|giv|award)\w*\s+(?:\w+\s+){0,4}|(?:is|was|of|at)\s+)?"
    rf"|{_RATED_THINGS}\s+(?:(?:is|was|has|had|with|that|which|boasts|holds|currently|rat(?:ed|ing))"
    r"\s+(?:(?:been|rated|rating|an?|of|at|overall|average)\s+){0,3})?)$",
    re.IGNORECASE,
)
# "4 or 5", "3/5 to 4", "3, 4": neither is plainly the score.
_ALTERNATIVES = re.compile(
    rf"(?<![\w.]){_NUMBER}(?:\s*(?:/|out\s+of)\s*5)?[ \t,(]{{0,4}}"
    rf"(?:(?:or|and|to|through)\b|[-\u2013\u2014~&,])[ \t]{{0,3}}(?:an?\s)?"
    rf"(\d+(?:[.,]\d+)?|{'|'.join(_WORDS)})\b",
    re.IGNORECASE,
)
# "not 5 stars", "would not rate it 5", "rather than option B", "out of 5 stars".
_DENIED = re.compile(
    r"(?:(?:\b(?:not|never|cannot|nor|neither|unlike)|n['\u2019]t)\s+(?:\w+\s+){0,3}"
    r"|\b(?:than|against|over)\s+(?:\w+\s+)?|\bout\s+of\s+(?:\w+\s+)?"
    # "It could have been a score of 5": it was not.
    r"|\b(?:would|could|might|should)(?:\s+have|['\u2019]ve)\s+(?:\w+\s+){0,3})$",
    re.IGNORECASE,
)
# "A score of 5 would be too high", "5/5 is not justified", "5 stars would require prices". What
# refuses a score in other words, or conditionally ("for a 5/5 it lacks prices"), is read.
_REFUSED = re.compile(
    r"(?:\s*(?:/|out\s+of)\s*(?:5|five))?[ \t)*\"'\u201d]{1,4}(?:is|was|seems|would|could|might)"
    r"(?:n['\u2019]t\b|\s+(?:\w+\s+){0,3}?(?:not|too|wrong|over\w+|excessive|un(?:fair|just|deserv|"
    r"warrant|realistic)\w*|inappropriate)\b|\s+(?:need|require|take|have\s+to)\b)",
    re.IGNORECASE,
)
# "4 or higher", "2 or a score of 4": another score is meant too, whatever it is.
_OR_AFTER = re.compile(r"(?:\s*(?:/|out\s+of)\s*5)?[\s,(]{0,3}or\b", re.IGNORECASE)
_OR_BEFORE = re.compile(r"\bor\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_ANOTHER = "0"
"""Stands for such a score; it is none of the scale."""
_BEFORE = 60
"""Characters before a number in which a denial is looked for."""
_WHOLE = re.compile(rf"\W*{_NUMBER}\W*", re.IGNORECASE)
_FIRST = r"(?:^|\n|[.!?][)\"'\u201d*]*\s)[^\w\n]*"
"""The beginning of a line or sentence."""
# "Overall, I would rate it 4", "**Final score:** 4/5": the verdict, whatever else is mentioned.
_FINAL = r"\b(?:final|overall)(?:ly)?\W{1,3}(?:[\w'\u2019]+\s+){0,3}$"
_FINAL_ANYWHERE = re.compile(_FINAL, re.IGNORECASE)
_FINAL_FIRST = re.compile(rf"{_FIRST}(?:my\s+)?{_FINAL}", re.IGNORECASE)
_LABEL = re.compile(f"{_FIRST}$")
# The last sentence is a number alone: "... It leaves out the price. 3".
_CLOSING = re.compile(
    rf"(?:\n|(?<!\bno)(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)(?<=[a-z\])\"'\u201d])"
    rf"[.!?][)\"'\u201d*]*[ \t])"
    rf"[^\w\n]{{0,40}}?{_NUMBER}(?:\s*(?:/|out\s+of)\s*5)?\W*$",
    re.IGNORECASE,
)
# The first line is a number alone; the reasons follow.
_OPENING = re.compile(rf"\W*{_NUMBER}(?:\s*(?:/|out\s+of)\s*5)?[ \t]*\n", re.IGNORECASE)
_BOXED = re.compile(rf"\\boxed\{{\s*{_NUMBER}\s*\}}", re.IGNORECASE)
_AFTER_BOX = re.compile(r"[\s$.]*$|[\s$]*\\[\])]\s*$")
_ANY_NUMBER = re.compile(rf"\d|\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)
_IN_BRACKETS = re.compile(rf"\(\s*{_NUMBER}\s*\)\W*$", re.IGNORECASE)
# The scale, if it is named, stands before the word or after it: "3 of 5 stars", "3 stars out of 5".
_STARS = re.compile(
    rf"(?<![\w.]){_NUMBER}(?:\s*(?:/|(?:out\s+)?of\b)(?:\s+(?:an?|the|possible))*\s*{_NUMBER})?"
    rf"[\s-]*stars?\b(?:\s*(?:/|(?:out\s+)?of\b)(?:\s+(?:an?|possible))*\s*{_NUMBER})?"
    # "A 4-star hotel" is none that the summary is given.
    rf"(?=\s*(?:$|[^\w\s]|(?:out|rating|score|summary|one|{_REASONS})\b)|[ \t]*\n)",
    re.IGNORECASE,
)
_SHARE = r"(?<!\d)(\d{1,9}(?:\.\d{1,9})?)\s*%"
_PERCENT = re.compile(rf"\bestimate[ds]?\b[^\d%\n]{{0,40}}{_SHARE}", re.IGNORECASE)
_ANY_PERCENT = re.compile(_SHARE)
_BANDS = ((0.0, 20.0), (21.0, 50.0), (51.0, 75.0), (76.0, 94.0), (95.0, 100.0))


def read_tag(reply: str) -> Reading:
    """The score in ``<score>k</score>`` or ``<score>k/5</score>``; several tags must agree.

    >>> read_tag("Mostly. Score- <score>4</score>"), read_tag("4")
    (Reading(value=4.0, fault=''), Reading(value=None, fault='unparsable'))
    >>> read_tag("<score>2</score> or <score>3</score>").fault, read_tag("<score>7</score>").fault
    ('several', 'out_of_range')
    """
    found = [text.strip() for text in _TAG.findall(_unmarked(reply))]
    texts = [text for text in found if text.casefold() not in _PLACEHOLDERS]
    numbers = [match[1] for match in map(_PLAIN_NUMBER.fullmatch, texts) if match]
    if len(numbers) < len(texts):
        return Reading(None, "unparsable")
    return _agreed(numbers)


def read_plain(reply: str, title: str = "") -> Reading:
    r"""The score that a sentence gives: "Score: 4", "a score of four", "3/5", "3 out of 5".

    A number without such a context is no score, nor is a share ("4 out of 5 reviewers") or the
    rating of a guest; one on another scale is out of range. Several must agree, unless one is
    marked as the verdict ("Final score: 4/5"); of those the last counts. A closing sentence or
    line that is a number alone is a score too, and so is such a first line. Without any of these,
    ``\boxed{4}`` at the end is read, or the number that ends the first line behind the title of the
    dimension that was asked for, if the reply has no other number.

    >>> read_plain("Orderly but thin; 3 out of 5.").value, read_plain("Score: 3.5.").value
    (3.0, 3.5)
    >>> read_plain("Final score: 4/5. One point is missing from a perfect 5/5.").value
    4.0
    >>> read_plain("It has 3 facts and 2 errors.").fault, read_plain("Score: 7/10").fault
    ('unparsable', 'out_of_range')
    >>> read_plain("Fluency: 4", "Fluency").value, read_plain("Fluency: 4", "Relevance").value
    (4.0, None)
    """
    said = _LEGEND.sub("", _unmarked(reply).strip())
    if _TAG.search(said):
        return read_tag(said)
    verdict = _verdict(said)
    if verdict is not None:
        return verdict
    if any(
        float(_digits(match[2])) != _HIGH and not _ahead(_REPORTED, said, match)
        for match in _OF_SCALE.finditer(said)
    ):
        return Reading(None, "out_of_range")
    whole = _WHOLE.fullmatch(said)
    alone = [whole] if whole else [_OPENING.match(said), _CLOSING.search(said)]
    numbers = _stated(said, _OF_SCALE, _SCORED, _GIVEN)
    numbers += [match[1] for match in alone if match]
    if not numbers:
        closing = _IN_BRACKETS.search(said)
        numbers = [closing[1]] if closing else _boxed(said) or _titled(said, title)
    return _agreed(numbers)


def _boxed(said: str) -> list[str]:
    """The numbers in boxes, if a text ends with one."""
    boxes = list(_BOXED.finditer(said))
    ends = boxes and _AFTER_BOX.match(said, boxes[-1].end())
    return [box[1] for box in boxes] if ends else []


def _titled(said: str, title: str) -> list[str]:
    """The number behind a title that a text begins with, if it is the only one."""
    match = _title_pattern(title).match(said) if title else None
    return [match[1]] if match and not _ANY_NUMBER.search(said, match.end()) else []


@cache
def _title_pattern(title: str) -> re.Pattern[str]:
    # A number that more words follow may be that of a list, or count something.
    return re.compile(
        rf"[^\w\n]*{_spelt(title)}[ \t]*:[ \t]*{_NUMBER}\.?[ \t]*(?:\n|$)", re.IGNORECASE
    )


def _verdict(said: str) -> Reading | None:
    """The score that is marked as the verdict, with what is stated after it; None without one.

    The last "final score" counts that begins a line or sentence, or has a colon. Lines and
    sentences that begin with "Score:" may be of several things, and must agree; of the final scores
    only one that does both overrides them, because any other may be somebody else's.
    """
    scored = list(_SCORED.finditer(said))
    firsts = {m.start() for m in scored if _ahead(_FINAL_FIRST, said, m)}
    labels = [m for m in scored if ":" in m[0] and _ahead(_LABEL, said, m)]
    finals = [
        m
        for m in scored
        if m.start() in firsts or (":" in m[0] and _ahead(_FINAL_ANYWHERE, said, m))
    ]
    if not finals and not labels:
        return None
    marked = finals[-1] if finals else labels[0]
    overrides = marked.start() in firsts and ":" in marked[0]
    scale = _LABELLED_SCALE.match(said, marked.start(1))
    if scale is not None and float(_digits(scale[2])) != _HIGH:
        return Reading(None, "out_of_range")
    first = min(m.start() for m in ([marked] if overrides else [marked, *labels]))
    numbers = [number for place, number in _statements(said, _SCORED) if place >= first]
    return _agreed(numbers) if numbers else None


def _ahead(pattern: re.Pattern[str], said: str, match: re.Match[str]) -> bool:
    """Whether a pattern that ends with "$" fits what stands before a match."""
    place = match.start()
    return pattern.search(said, max(0, place - _BEFORE), place) is not None


def read_star_count(reply: str) -> Reading:
    """The number before "star"; a reply that is a number alone counts too.

    Stars of a hotel, and those that a guest gave, are no score.

    >>> read_star_count("I give it 4 stars."), read_star_count("3").value
    (Reading(value=4.0, fault=''), 3.0)
    """
    said = _unmarked(reply)
    scales = [
        scale
        for match in _STARS.finditer(said)
        if not _ahead(_REPORTED, said, match)
        for scale in match.groups()[1:]
        if scale
    ]
    if any(float(_digits(scale)) != _HIGH for scale in scales):
        return Reading(None, "out_of_range")
    whole = _WHOLE.fullmatch(said.strip())
    return _agreed([whole[1]] if whole else _stated(said, _STARS))


def read_choice(reply: str) -> Reading:
    """The letter A to E that is answered; A is 1, E is 5.

    >>> read_choice("D").value, read_choice("Answer: B. Partly.").value, read_choice("A fine text.")
    (4.0, 2.0, Reading(value=None, fault='unparsable'))
    """
    return _lettered(reply, "ABCDE", (1.0, 2.0, 3.0, 4.0, 5.0))


def read_verdict(reply: str) -> Reading:
    """The letter A (first better), B (second) or C (equal): 1, 2 or 0.

    >>> read_verdict("B").value, read_verdict("C.").value, read_verdict("A or B?").fault
    (2.0, 0.0, 'unparsable')
    """
    return _lettered(reply, "ABC", (1.0, 2.0, 0.0))


def read_table(reply: str, titles: Sequence[str]) -> list[Reading]:
    r"""One score a dimension, on the line, in the row or beside the JSON key that has its name.

    >>> read_table("Readability: 4\nSelf-coherence - 5/5", ["Readability", "Self-coherence"])
    [Reading(value=4.0, fault=''), Reading(value=5.0, fault='')]
    """
    said = _unmarked(reply)
    return [_agreed(_stated(said, *_row_patterns(title))) for title in titles]


def parser_for(answer: str, rules: str = "strict", *, method: str = "", title: str = "") -> Parser:
    """The parser of a method's replies.

    Args:
        answer: what a reply looks like.
        rules: one of :data:`PARSERS`.
        method: the method's name, for messages.
        title: of the dimension that is asked for.

    Raises:
        ConfigurationError: the rules are unknown, or were never used for such replies.
    """
    if rules not in PARSERS:
        raise ConfigurationError(f"unknown parser {rules!r}; choose from {', '.join(PARSERS)}")
    if rules == "strict":
        return partial(read_plain, title=title) if answer == "plain" else _STRICT[answer]
    if answer not in _RELEASED:
        raise ConfigurationError(
            f"parser {rules} reads rts, mcq and star replies; those of {method} need strict"
        )
    read = _RELEASED[answer]

    def compatible(reply: str) -> Reading:
        value = read(reply)
        return Reading(None, "unparsable") if value == UNREAD else Reading(value)

    return compatible


def contradicts_percentage(reply: str, score: float) -> bool | None:
    """Whether the percentage that a reply estimates lies outside the band of its score.

    A share between two bands, such as 20.5%, may take either neighbour's score.

    Returns:
        None where the reply has no percentage, or several and calls none its estimate.

    >>> [contradicts_percentage(f"Estimate: {p}%", 2) for p in (50, 20.5, 60)]
    [False, False, True]
    """
    said = spoken(reply)
    found = [float(share) for share in _PERCENT.findall(said)[-1:] or _ANY_PERCENT.findall(said)]
    if len(set(found)) != 1:
        return None
    share = found[0]
    fitting = [
        number
        for number, (low, high) in enumerate(_BANDS, start=1)
        if low - 1.0 < share < high + 1.0 and not _inside_another(share, number)
    ]
    return score not in fitting


def _inside_another(share: float, number: int) -> bool:
    """Whether a share lies within a band other than the numbered one."""
    return any(
        low <= share <= high for other, (low, high) in enumerate(_BANDS, start=1) if other != number
    )


def spoken(reply: str) -> str:
    """The reply without the thoughts that reasoning models write before it, ended or cut."""
    return _THOUGHT.split(_THOUGHT_END.split(reply)[-1])[0]


def before_cut(reply: str) -> str:
    """The lines that a cut reply has finished; all of it where it is a single line."""
    finished, _, _ = reply.rpartition("\n")
    return finished if finished.strip() else reply


def _unmarked(reply: str) -> str:
    """What is spoken, without emphasis."""
    return _EMPHASIS.sub("", spoken(reply))


def _digits(number: str) -> str:
    return _WORDS.get(number.casefold(), number).replace(",", ".")


def _stated(said: str, *patterns: re.Pattern[str]) -> list[str]:
    """The numbers that patterns find, with the alternatives beside them, and none denied."""
    return [number for _, number in _statements(said, *patterns)]


def _statements(said: str, *patterns: re.Pattern[str]) -> list[tuple[int, str]]:
    """Likewise, each with the place where it is stated."""
    beside: dict[int, str] = {}
    for pair in _ALTERNATIVES.finditer(said):
        beside |= {pair.start(1): pair[2], pair.start(2): pair[1]}
    found = []
    for pattern in patterns:
        for match in pattern.finditer(said):
            if _ahead(_DENIED, said, match) or _REFUSED.match(said, match.end()):
                continue
            if _ahead(_REPORTED, said, match) or _is_share(said, match):
                continue
            found.append((match.start(), match[1]))
            if match.start(1) in beside:
                found.append((match.start(), beside[match.start(1)]))
            elif _OR_AFTER.match(said, match.end()) or _ahead(_OR_BEFORE, said, match):
                found.append((match.start(), _ANOTHER))
    return found


def _is_share(said: str, match: re.Match[str]) -> bool:
    """Whether a number is a part of something counted: "rated 3 of 5 facts"."""
    part = _PART.match(said, match.end(1)) is not None
    return part and not _LABELLED_SCALE.match(said, match.start(1))


def _agreed(numbers: Sequence[str]) -> Reading:
    values = {float(_digits(number)) for number in numbers}
    if not values:
        return Reading(None, "unparsable")
    if len(values) > 1:
        return Reading(None, "several")
    (value,) = values
    return Reading(value) if _LOW <= value <= _HIGH else Reading(None, "out_of_range")


def _lettered(reply: str, letters: str, values: Sequence[float]) -> Reading:
    said = _unmarked(reply).strip()
    *rules, beginning, last_line = _letter_rules(letters)
    for rule, ending in (*rules, beginning):
        named = {
            match[1]: ending.match(said, match.end(1)) is not None
            for match in rule.finditer(said)
            if not _ahead(_DENIED, said, match)
        }
        if len(named) > 1:
            return Reading(None, "several")
        for letter, ended in named.items():
            if ended:
                return Reading(values[letters.index(letter)])
            if rule is not beginning[0]:
                return Reading(None, "unparsable")
    # A text that begins with "A" may come to a letter yet.
    options, (line, _) = last_line[1], last_line
    last = None if options.search(said) else line.search(said)
    return Reading(values[letters.index(last[1])]) if last else Reading(None, "unparsable")


@cache
def _letter_rules(letters: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """Where an answer may stand, best first, and what must come after its letter."""
    one = rf"[(\[*\"']{{0,9}}([{letters}])\b(?!['\u2019]\w)"
    closed = r"[\])}*\"'.:,;!\s]*$"
    # An article goes on ("A fine text"), and so does a list of letters, or what is said of one
    # ("(A) is worse than (B)").
    alone = (
        rf"(?!\W{{0,4}}(?:or|and)\W{{1,4}}[{letters}]\b|\W{{0,3}}[,/&]\s{{0,3}}[{letters}]\b"
        r"|[)\]*\"']{0,4}\s{1,3}(?:(?:is|was|has|had|does|did)(?:n['\u2019]t)?"
        r"|seems|looks|would|could|can|cannot)\b)"
    )
    rules = (
        (rf"<answer>\s*([{letters}])\s*</answer>", ""),
        (
            r"\b(?:(?:[Aa]nswer|[Cc]hoice|[Oo]ption)\b[\"']?(?:\s+is)?\s{0,9}[:=]?"
            r"|(?:[Ww]inner|[Vv]erdict|[Gg]rade|[Rr]ating)\b[\"']?\s{0,9}[:=])"
            rf"\s{{0,9}}{one}",
            rf"{alone}(?:{closed}|[)\]*\"']{{0,4}}(?:[).\]}}:;,!\n]|\s+[-\u2013\u2014(]"
            r"|\s+(?:because|since)\b))",
        ),
        # A list of the options, in which other letters begin lines of their own, is no answer.
        (
            rf"^{one}(?!(?s:.*)\n[ \t]{{0,9}}[(\[*\"']{{0,9}}(?!\1)[{letters}]"
            r"(?:[)\].:]|[ \t]*(?:\n|$)))",
            rf"{alone}(?:{closed}|[)\].:]|[)\]*\"']{{0,4}}[ \t]{{0,9}}\n)",
        ),
        # The last line, where no line before it begins like an option.
        (
            rf"\n[ \t]{{0,9}}{one}[)\].\"']{{0,9}}$",
            rf"(?:^|\n)[ \t]{{0,9}}[(\[*\"']{{0,9}}[{letters}]"
            rf"(?:[)\].:][^\n]*|[ \t]*)\n",
        ),
    )
    return tuple((re.compile(rule), re.compile(ending)) for rule, ending in rules)


def _spelt(title: str) -> str:
    """A title with its words apart or joined, as in keys of JSON."""
    return r"[\s_-]+".join(re.escape(word) for word in re.split(r"[\s_-]+", title))


@cache
def _row_patterns(title: str) -> tuple[re.Pattern[str], ...]:
    """A dimension's score in a line or in JSON on one line, and in a row of a Markdown table."""
    words = _spelt(title)
    return (
        re.compile(
            rf"(?:^[^\w\n]*(?:\d{{1,2}}[.)][^\w\n]*)?|[{{,]\s{{0,9}}\"|(?<=\d)[,;]\s{{0,9}}){words}"
            rf"\W{{0,6}}?\s*[:=\u2013-]\W{{0,4}}?{_NUMBER}"
            r"(?!\s*(?:/|out\s+of\b)(?!\s*(?:an?\s+)?(?:possible\s+)?(?:5|five)\b))"
            r"(?=[ \t]*(?:$|[^\w\s%]|out\s+of\b|stars?\b))",
            re.IGNORECASE | re.MULTILINE,
        ),
        # Another number in the row leaves open which of them is the score.
        re.compile(
            rf"^[^\w\n]*{words}[ \t]*\|[ \t]*{_NUMBER}(?:[ \t]*/[ \t]*5)?[ \t]*(?=\||$)"
            r"(?!(?:[^\n]*\|)?[ \t]*\d[\d.,/ \t]*(?:\||$))",
            re.IGNORECASE | re.MULTILINE,
        ),
    )


_STRICT: dict[str, Parser] = {
    "tag": read_tag,
    "letter": read_choice,
    "stars": read_star_count,
    "verdict": read_verdict,
}

_RELEASED: dict[str, Callable[[str], float]] = {
    "plain": read_reason_then_score,
    "letter": read_letter,
    "stars": read_stars,
}
"""Readers of the compatibility rules by what a reply looks like."""
