"""Quantities of people that stand apart from what is said: "(7 of 10 reviews)", "— 7 reviewers"."""

from __future__ import annotations

import re
from typing import NamedTuple

from prevalence.claims.amounts import LIMIT, NUMBER, Quantity
from prevalence.claims.clauses import find_core, pieces_of, shape_of
from prevalence.claims.english import tagged
from prevalence.claims.people import REPORT
from prevalence.claims.speakers import SEEN, People, people_at, said_of

__all__ = ["LABEL_WORDS", "STOPS", "Aside", "asides", "ending_aside", "is_grade"]

_BRACKET = re.compile(
    r"\([^()\[\]]{1,120}\)|\[[^()\[\]]{1,120}\]"
    r"|(?<=[a-z]), (?:\w+ )?\d{1,6} (?:out )?of \d{1,6},(?= )",
    re.ASCII,
)
"""An aside in brackets, or between commas: "most users, 7 of 10, say"."""
_CELL = re.compile(r"\|\s*(?P<words>[^|()\[\]\s](?:[^|()\[\]]{0,60}[^|()\[\]\s])?)\s*(?=\||$)")
_FIRST = re.compile(r"\s*(?P<words>[^|:()\[\]\s][^|:()\[\]]{0,60}?)\s*(?:(?P<bar>\|)|:\s)(?=.*\w)")
"""A cell or a label at the beginning: "7 of 10 | It lasts", "7 of 10 reviewers: it lasts"."""
_TALLY = re.compile(r"(?<=[a-z] )\(\d{1,5}\)(?=\s*(?:[,;.]|$))", re.ASCII)
"""A number behind a point of a list: "honest quotes (31); fair rates (14)"."""
_NUMBERED = re.compile(r"\(\d{1,5}(?:, ?\d{1,5})+\)", re.ASCII)
"""Numbers of reviews, among which one in brackets is no count: "(3, 7) and one was angry (6)"."""
_TALLIES = 3
"""How many of them say that they count, where the first point has no verb."""
_DASH = re.compile(r"(?:(?<!\d)—|: | (?:–|--?) )\s?(?P<words>[^—–()\[\]\s][^—–()\[\]]{1,120})$")
_DASHES = ("—", ": ", " – ", " - ", " -- ")
_SAID_BY = re.compile(
    r"(?:,? (?P<words>according to [^,;:()\[\]]{3,60})"
    r"|, (?P<spoken>(?:say|said|report(?:ed)?|noted?|agreed?|complain(?:ed)?)"
    r" [^,;:()\[\]]{3,60}))$",
    re.IGNORECASE,
)
_TOLD = (
    rf"(?:{REPORT}|written|cited|raised|shared|echoed|voiced|flagged|brought up|expressed|"
    r"described|experienced|praised|criticized|criticised|seen)"
)
_LEAD = re.compile(
    r"(?:(?:as|also|often|frequently|consistently|repeatedly) )?"
    rf"(?:(?:(?P<told>{_TOLD}) )?(?:(?P<by>by)|in|across|among|from|per)"
    r"|(?P<source>according to|say|said|report|note|agree|complain)) ",
    re.IGNORECASE | re.ASCII,
)
_TAIL = re.compile(
    rf"(?P<say> {_TOLD}(?: (?:this|it|that|so|the same))?)?(?:[,;] \d{{1,3}} ?%)?",
    re.IGNORECASE | re.ASCII,
)
_SIZES = re.compile(
    r"\b(?:people|others|folks|persons?|individuals?|players?|sleepers?|passengers?|learners?"
    r"|children|students?)$"
)
"""Those whose bare number may be a size: "(4 people)", "(2 players)" may say for how many it is."""
_JUDGES = re.compile(
    r"\b(?:review(?:er)?|user|customer|buyer|owner|purchaser|shopper|consumer|respondent|critic)s?$"
)
"""Those whose bare number never is."""
_ROOM = re.compile(
    r"\b(?:sleep|seat|fit|hold|host|accommodat|serve|capacity|suite|apartment|villa|cabin|bungalow"
    r"|table for|rooms? for|max|group|party|parties|tent|boat)",
    re.IGNORECASE,
)
"""What says that a thing is for so many: "it sleeps a family (4 guests)"."""
_PART = re.compile(rf"(?:{LIMIT})?{NUMBER} (?:out )?of(?: the)? {NUMBER}", re.IGNORECASE | re.ASCII)
_BARE = re.compile(
    rf"(?:{LIMIT})?(?:\d{{1,3}}(?:\.\d{{1,3}})? ?%|\d{{1,6}})", re.IGNORECASE | re.ASCII
)
_RATED = re.compile(r"\b(?:rat(?:e[sd]?|ings?)|scor(?:e[sd]?|ing)|stars?|grades?|points?)\b", re.I)
_REFERENCES = re.compile(
    r"(?:(?:see|e\.g\.,?|as in|in|from) )?(?:review(?:er)?s? #?|R(?=\d+\D+\d))(?P<numbers>\d{1,4}"
    r"(?:(?:[,;] and |[,;] ?| and | & | ?[–-] ?)(?:review(?:er)?s? |R)?#?\d{1,4}){0,40})",
    re.IGNORECASE | re.ASCII,
)
_RANGE = re.compile(r"(\d+)(?: ?[–-] ?(?:review(?:er)?s? ?|R)?#?(\d+))?", re.ASCII | re.IGNORECASE)
_SPOKEN = (
    (re.compile(r"^n ?= ?(\d{1,6})$", re.I | re.A), r"\1 reviews"),
    (re.compile(r"(?:[~≈] ?|\b(?:approx\.?|ca\.) )(?=\d)", re.I | re.A), "about "),
    (re.compile(r"\b(\d{1,6}) ?/ ?(\d{1,6})\b", re.A), r"\1 of \2"),
    (re.compile(r"\b(\d{1,6})\+(?= )", re.A), r"at least \1"),
    (re.compile(r"\ball (?:of )?(?:the )?\d{1,6}(?= )", re.I | re.A), "all"),
    (re.compile(r" mentions?$", re.I), " reviews"),
)  # fmt: skip
"""What numbers and signs are in words that :func:`people_at` reads."""
_BEGIN = re.compile(r"\b\w")
STOPS = ".!?…"
LABEL_WORDS = 6
"""Words of the longest label."""


class Aside(NamedTuple):
    """A quantity that stands apart from what is said: "(7 of 10 reviews)", "— 7 reviewers".

    Attributes:
        start: offset of its bracket or dash.
        end: offset after it.
        quantity: how many people. Its ``text`` is in words that :func:`people_at` reads: "7 of 10"
            for "7/10", "7" for "n=7", "at least 3" for "Reviews 1, 3 and 5".
        behind_people: whether it stands right behind people: "most users (80%)".
        of_label: whether it is said of a label or a row of a table: "Fit (7 of 10 reviews): small".
    """

    start: int
    end: int
    quantity: Quantity
    behind_people: bool
    of_label: bool = False


def asides(text: str) -> list[Aside]:
    """The quantities of people that stand apart, in brackets or at the end behind a dash, in order.

    >>> found = asides("It lasts (7/10 reviewers) for days (3 of 4 trips).")
    >>> [aside.quantity.text for aside in found]
    ['7 of 10']
    """
    found = []
    tallies, numbered = len(_TALLY.findall(text)), _NUMBERED.search(text) is not None
    tallied = tallies >= _TALLIES and find_core(tagged(text[: text.find("(")][:SEEN])) is None
    for match in _BRACKET.finditer(text):
        words = _spoken(match[0][1:-1])
        before = text[max(match.start() - SEEN, 0) : match.start()].rstrip()
        if not (_BARE.fullmatch(words) or _PART.fullmatch(words)):
            quantity, people = _apart(words, _CLAUSES.split(before)[-1]), None
        else:
            people = _people_ending(before, text[match.end() : match.end() + SEEN])
            counted = people is not None and (people.quantity is not None or "%" in words)
            # "7/10" alone is a grade as often as not, and so is "7 out of 10" of what is rated.
            part = _PART.fullmatch(words) and "/" not in match[0] and not _RATED.search(before)
            part = part and match[0][0] != ","
            tally = _TALLY.match(text, match.start()) is not None and not numbered
            point = tallies == 1 and _is_point(before, text[match.end() :])
            tally = tally and (tallied or point)
            quantity = _of_reviews(words) if counted or part or tally else None
            if quantity is not None and quantity.low > 1 and not counted:
                quantity = None  # "11 out of 10" is a grade
        if quantity is not None:
            quantity = quantity if people is None else said_of(quantity, people.named)
            label = _is_of_label(text, match.start(), match.end())
            found.append(Aside(*match.span(), quantity, people is not None, label))
    found = sorted([*found, *_cells(text)], key=lambda aside: aside.start)
    ending = ending_aside(text, found[-1].end if found else 0)
    found = found if ending is None else [*found, ending]
    return [aside for aside in found if not _is_of_grade(text, aside)]


def _cells(text: str) -> list[Aside]:
    """The counts that are cells of a row, and the one that a text begins with, before a colon."""
    first = _FIRST.match(text)
    cells = [] if first is None else [first]
    found = []
    for cell in (*cells, *_CELL.finditer(text)):
        words = _spoken(cell["words"])
        colon = cell is first and first["bar"] is None
        # "9 out of 10: would stay again" is a grade as often as not.
        part = _PART.fullmatch(words) and "/" not in cell[0] and not (colon and " out " in words)
        if part and colon and find_core(tagged(text[cell.end() :][:SEEN])) is None:
            continue  # "3 of 5: great"
        quantity = _of_reviews(words) if part else _apart(words)
        exact = not colon or (quantity is not None and re.search(r"\d", words) is not None)
        if quantity is not None and exact:
            found.append(Aside(*cell.span(), quantity, behind_people=False, of_label=True))
    return found


_GRADE = re.compile(
    r"\b(?:rat(?:e[sd]?|ings?)|scor(?:e[sd]?|ing)|grade[sd]?)\b[^.;!?]{0,40}?\d"
    r"|\b\d+(?:\.\d+)? ?(?:/|out of) ?(?:5|10|100)\b|\d[ -]?stars?\b|[★⭐]",
    re.IGNORECASE | re.ASCII,
)
"""A mean of what people gave: no single review supports it."""
_CLAUSES = re.compile(r"[,;!?]\s|\.\s|\b(?:and|but|while|though|although) ")


def _is_of_grade(text: str, aside: Aside) -> bool:
    """Whether a count is of those who gave a grade: "rated 4.2 out of 5 (10 reviews)"."""
    if aside.behind_people:
        return False
    before = text[max(aside.start - SEEN, 0) : aside.start].rstrip(STOPS + " ")
    alone = aside.of_label or not before
    said = before + text[aside.end : aside.end + SEEN] if alone else _CLAUSES.split(before)[-1]
    return is_grade(_BRACKET.sub("", said))


def is_grade(text: str) -> bool:
    """Whether a clause gives a grade in numbers.

    >>> is_grade("Rating: 4.2"), is_grade("4/5"), is_grade("it is loved by 7 out of 10 guests")
    (True, True, False)
    """
    found = _GRADE.search(text)
    if found is None:
        return False
    part = _NUMBER.search(text, found.start())
    return part is None or people_at(text, part.start()) is None


_NUMBER = re.compile(r"\d")


def _is_of_label(text: str, start: int, end: int) -> bool:
    """Whether what stands there belongs to a label: "Fit (7 reviews): small"."""
    if not 0 < start <= SEEN:
        return False
    label, behind = text[:start].rstrip(), text[end : end + SEEN].lstrip()
    words = len(label.split())
    marked = label.endswith(":") or behind.startswith((":", "– ", "— "))
    short = 0 < words <= LABEL_WORDS
    named = marked and (words == 1 or (short and find_core(tagged(label)) is None))
    return named and behind.strip(STOPS + ": ") != ""


def ending_aside(text: str, begin: int) -> Aside | None:
    """The quantity at the end of a text, behind a dash, a colon or "according to"."""
    said = text.rstrip(STOPS + " ")
    match = _SAID_BY.search(said, begin)
    if match is None:
        last = max(text.rfind(dash, begin) for dash in _DASHES)
        match = None if last < 0 else _DASH.match(said, last)
        if match is None or not any(map(str.isdigit, match["words"])):
            return None
        before = tagged(text[max(last - 10 * SEEN, 0) : last]) if match[0][0] == ":" else []
        if before and (find_core(before) is None or before[-1].tag == "aux"):
            return None  # "Battery: 7 of 10 reviews", "the numbers are: 7 of 10 reviews"
    words = _spoken(match["words"] or match["spoken"])
    quantity = None if _PART.fullmatch(words) else _apart(words)
    aside = None if quantity is None else Aside(match.start(), match.end(), quantity, False)
    return None if aside is None or _is_of_grade(text, aside) else aside


def _is_point(before: str, after: str) -> bool:
    """Whether a number at the end is that of a point in a list: "cigarette smoke (2)"."""
    words = tagged(before)
    named = bool(words) and words[-1].tag != "num"
    first = pieces_of(words)[:1] if named and find_core(words) is not None else []
    named = named and all(shape_of(piece.words) in {"adjective", "noun"} for piece in first)
    return named and not after.strip(STOPS + " ")


def _spoken(words: str) -> str:
    """The words of an aside with single spaces, its signs in words."""
    words = " ".join(words.split())
    for pattern, spoken in _SPOKEN:
        words = pattern.sub(spoken, words)
    return words


def _apart(words: str, before: str = "") -> Quantity | None:
    """The quantity of an aside that says nothing else, behind what stands ``before``."""
    references = _REFERENCES.fullmatch(words)
    if references is not None:
        # Who is named says so; others may too.
        return _of_reviews(f"at least {_referred(references['numbers'])}")
    lead = _LEAD.match(words)
    begin = 0 if lead is None else lead.end()
    told = lead is not None and (lead["told"] or lead["source"]) is not None
    people = people_at(words, begin)
    tail = None if people is None else _TAIL.fullmatch(words, people.end)
    if people is not None and people.quantity is not None and tail is not None:
        named = people.end > begin + len(people.quantity.text) or told or tail["say"] is not None
        plain = told or tail["say"] or not _is_size(people, before)
        return people.quantity if named and plain else None
    by = lead is not None and lead["told"] is not None and lead["by"] is not None
    return _of_reviews(words[begin:]) if by else None


def _is_size(people: People, before: str) -> bool:
    """Whether so many people may be those that a thing is for: "the cabin is small (4 guests)"."""
    count = None if people.quantity is None else people.quantity.count
    if count is None or _JUDGES.search(people.named):
        return False
    sized = _SIZES.search(people.named) or _ROOM.search(before)
    return sized is not None or count[0] == 0


def _of_reviews(words: str) -> Quantity | None:
    """The quantity that words alone stand for, where they are said of reviews."""
    people = people_at(f"{words} reviews")
    whole = people is not None and people.end == len(words) + len(" reviews")
    return people.quantity if people is not None and whole else None


def _referred(numbers: str) -> int:
    """How many reviews are referred to: 4 by "1, 3-5"."""
    named: set[int] = set()
    for first, last in _RANGE.findall(numbers):
        named.update(range(int(first), max(int(first), int(last or first)) + 1))
    return len(named)


def _people_ending(text: str, behind: str) -> People | None:
    """The people that a text ends with, the longest words for them.

    Args:
        text: what stands before an aside.
        behind: what follows the aside: "the majority (70%) | of users", "most (5/8) | love it".
    """
    if not text[-1:].isalpha():
        return None
    begins = [match.start() for match in _BEGIN.finditer(text)]
    found = (people_at(text, begin) for begin in begins)
    ending = next((people for people in found if people and people.end == len(text)), None)
    if ending is not None or not behind.startswith(" "):
        return ending
    of_people = behind.startswith(" of ")
    found = (people_at(text + behind, begin) for begin in begins)
    across = (people for people in found if people and people.quantity is not None)
    return next((p for p in across if p.end >= len(text) + of_people), None)
