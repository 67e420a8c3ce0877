"""Quantities of people in a statement: "most users", "12 of 20 reviewers", "nobody", "some say".

"Most users love the fit" says two things: what is loved, and by how many. A review can support the
first alone. So the quantity is taken out, the rest is scored, and the share of reviews that support
the rest is compared with the quantity. Quantities of things ("most of the battery", "half an hour",
"two zippers") are left where they are. Counts that stand apart, "(7 of 10 reviews)", are taken out
with their brackets.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from prevalence.claims.clauses import CONTRASTS, Piece, find_core, pieces_of, shape_of
from prevalence.claims.english import tagged
from prevalence.claims.people import ADVERB, OTHERS_DO, PEOPLE, REPORT, THEY, TROUBLE, part_of
from prevalence.claims.words import is_base, is_third
from prevalence.marks import closed, without_marks

__all__ = [
    "RANGES",
    "Aside",
    "People",
    "Quantified",
    "Quantity",
    "after_frame",
    "asides",
    "people_at",
    "quantified",
    "without_words",
]

RANGES: dict[str, tuple[float, float]] = {
    "all": (0.9, 1.0),
    "almost all": (0.75, 1.0),
    "three quarters": (0.65, 0.85),
    "two thirds": (0.55, 0.8),
    "most": (0.5, 1.0),
    "over half": (0.5, 1.0),
    "half": (0.4, 0.6),
    "over a third": (0.33, 1.0),
    "over a quarter": (0.25, 1.0),
    "many": (0.2, 1.0),
    "a third": (0.25, 0.45),
    "a quarter": (0.15, 0.35),
    "several": (0.05, 0.6),
    "a minority": (0.0, 0.5),
    "some": (0.0, 0.6),
    "a few": (0.0, 0.35),
    "few": (0.0, 0.25),
    "nobody": (0.0, 0.05),
}
"""Shares of the reviewers that a word may stand for, both ends included: conventions of ours, wide
on purpose, so that only what no careful reader would say is called a disagreement."""

_EXIST = frozenset({"several", "some", "a few", "a minority"})
"""Words whose range begins at 0, and that say all the same that there is somebody."""

_SPELT = {"a single": 1} | {
    word: number
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
         "twelve"), start=1,
    )
}  # fmt: skip
_NUMBER = rf"(?:\d{{1,3}}(?:,\d{{3}}){{1,2}}|\d{{1,6}}|{'|'.join(_SPELT)})"
_ROUGHLY = r"(?:about |around |roughly |nearly |almost |approximately )?"
_WORDS = (
    ("almost all", r"(?:almost|nearly|virtually|practically) (?:all|every|everyone|everybody)"
                   r"|(?:the|an?) (?:vast|overwhelming|great) majority"),
    ("few", r"(?:hardly|barely|scarcely) (?:any|anyone|anybody)|almost (?:nobody|no one|none|no)"
            r"|very few|only a few|few|(?:less|fewer) than an?[- ]quarter"),
    ("nobody", rf"none of (?:the )?{_NUMBER}(?= \w)|nobody|no one|none|no|zero"),
    ("all", rf"all(?: of)?(?: the)? {_NUMBER}(?= \w)|all|everyone|everybody|every|each"),
    ("over half", r"(?:well )?(?:over|more than|at least) half"),
    ("over a third", r"(?:well )?(?:over|more than|at least) (?:a|one)[- ]third"),
    ("over a quarter", r"(?:well )?(?:over|more than|at least) (?:a|one)[- ]quarter"),
    ("two thirds", rf"{_ROUGHLY}two[- ]thirds"),
    ("three quarters", rf"{_ROUGHLY}three[- ]quarters"),
    ("a third", rf"{_ROUGHLY}(?:a|one)[- ]third"),
    ("a quarter", rf"{_ROUGHLY}(?:a|one)[- ]quarter"),
    ("a minority", r"(?:less|fewer) than half|an? (?:small |significant )?minority"),
    ("half", rf"{_ROUGHLY}half"),
    ("most", r"most|(?:the|a) (?:clear |large |small )?majority"),
    ("many", r"(?:very |so )?many|a lot|lots|plenty|numerous|countless"
             r"|a (?:large|great|significant|considerable|good) (?:number|share|part|proportion)"),
    ("several", r"several|various|multiple|a (?:fair |certain )?number|quite a few"),
    ("a few", r"(?:just )?a few|a couple|a handful|a small (?:number|share|proportion)"
              r"|(?:less|fewer) than (?:a|one)[- ]third"),
    ("some", r"some|certain"),
)  # fmt: skip
"""What stands for each range; the first that fits is taken."""

_LIMIT = (
    r"(?:(?P<about>about|around|roughly|nearly|almost|approximately)|(?P<least>at least"
    r"|no (?:less|fewer) than)|(?P<above>over|more than)|(?P<below>under|less than|fewer than)"
    r"|(?P<most>up to|at most|no more than)"
    r"|only|just) "
)
_PEOPLE2 = PEOPLE.replace("<people>", "<only>").replace("<one>", "<single>")


def _pattern() -> re.Pattern[str]:
    """A quantity with people, or one before a verb that only people can do; or people alone."""
    words = "|".join(rf"(?P<w{place}>{words})" for place, (_, words) in enumerate(_WORDS))
    quantity = (
        rf"(?P<quantity>(?:{_LIMIT})?(?:"
        rf"(?P<part>{_NUMBER})(?: (?:out of|of|in)(?: the)? | ?/ ?)(?P<whole>{_NUMBER})"
        rf"|(?P<percent>\d{{1,3}}(?:\.\d{{1,3}})?) ?(?:%|percent|per cent)"
        rf"|(?P<count>{_NUMBER})(?:(?: ?[-–] ?| to )(?P<upto>{_NUMBER}))?)|{words})"
    )
    link = r"(?: of)?(?: the| these| our| all)? "
    nobody = "|".join(rf"(?<={word})" for word in ("body", "everyone", "anyone", "no one"))
    # Not "everyone was friendly", which is said of the staff.
    ends = rf"(?:{nobody})(?= (?:ha[sd]|have) (?:\w+ )?{TROUBLE}|[.!?]*$)"
    # Not "most mention of it is positive", "most remarks are positive", "a couple was delighted".
    noun = (
        r"(?! (?:mention|report|claim|praise|note|thought|experience)s? of\b"
        r"| (?:mention|report|claim|remark|comment|note|thought|experience)s (?:are|were|with)\b"
        r"|(?<=couple) (?:is|was|has)\b)"
    )
    alone = rf"(?P<alone>{noun}(?= {ADVERB}(?:{REPORT}|{OTHERS_DO})\b)|{ends})"
    # Not "all reviewers but one", "one person out of nine".
    but = r"(?! (?:but|out of) |,? (?:except|apart from|aside from|other than|excluding)\b)"
    # Without re.ASCII, "ſix" would be "six".
    flags = re.IGNORECASE | re.ASCII
    return re.compile(
        rf"(?:{quantity}(?:{link}{PEOPLE}{but}|{alone})|(?:the )?{_PEOPLE2}|{THEY})", flags
    )


_AT = _pattern()
_FRAME = re.compile(rf" {ADVERB}(?P<verb>{REPORT})(?P<that>,? that)?\b", re.IGNORECASE)
_SOURCE = re.compile(
    r"(?:according to|in the (?:opinion|view|experience) of) (?=\w)", re.IGNORECASE
)
_SOMEBODY = re.compile(rf"(?:one|another)(?= {ADVERB}{REPORT} that\b)", re.IGNORECASE)
_BY = re.compile(r"\bby (?=\w)", re.IGNORECASE)
_FRONT = re.compile(r"(?:(?:overall|however|also|similarly|additionally|in general),? )?", re.I)

_BRACKET = re.compile(r"\([^()\[\]]{1,120}\)|\[[^()\[\]]{1,120}\]")
_CELL = re.compile(r"\|\s*(?P<words>[^|()\[\]\s](?:[^|()\[\]]{0,60}[^|()\[\]\s])?)\s*(?=\||$)")
_TALLY = re.compile(r"(?<=[a-z] )\(\d{1,5}\)(?=\s*(?:[,;.]|$))", re.ASCII)
"""A number behind a point of a list: "honest quotes (31); fair rates (14)"."""
_TALLIES = 3
"""How many of them say that they count, where the first point has no verb."""
_DASH = re.compile(r"(?:(?<!\d)—|: | (?:–|--?) )\s?(?P<words>[^—–()\[\]\s][^—–()\[\]]{1,120})$")
_DASHES = ("—", ": ", " – ", " - ", " -- ")
_SAID_BY = re.compile(r",? (?P<words>according to [^,;:()\[\]]{3,60})$", re.IGNORECASE)
_TOLD = (
    rf"(?:{REPORT}|written|cited|raised|shared|echoed|voiced|flagged|brought up|expressed|"
    r"described|experienced|praised|criticized|criticised|seen)"
)
_LEAD = re.compile(
    r"(?:(?:as|also|often|frequently|consistently|repeatedly) )?"
    rf"(?:(?:(?P<told>{_TOLD}) )?(?:(?P<by>by)|in|across|among|from|per)"
    r"|(?P<source>according to)) ",
    re.IGNORECASE | re.ASCII,
)
_TAIL = re.compile(
    rf"(?P<say> {_TOLD}(?: (?:this|it|that|so|the same))?)?(?:[,;] \d{{1,3}} ?%)?",
    re.IGNORECASE | re.ASCII,
)
_JUDGES = re.compile(
    r"\b(?:review(?:er)?|user|customer|buyer|owner|purchaser|shopper|consumer|respondent|critic)s?$"
)
"""Those whose bare number is no size: "(4 people)", "(2 players)" may say for how many it is."""
_PART = re.compile(
    rf"(?:{_LIMIT})?{_NUMBER} (?:out )?of(?: the)? {_NUMBER}", re.IGNORECASE | re.ASCII
)
_BARE = re.compile(
    rf"(?:{_LIMIT})?(?:\d{{1,3}}(?:\.\d{{1,3}})? ?%|\d{{1,6}})", re.IGNORECASE | re.ASCII
)
_RATED = re.compile(r"\b(?:rat(?:e[sd]?|ings?)|scor(?:e[sd]?|ing)|stars?|grades?|points?)\b", re.I)
_REFERENCES = re.compile(
    r"(?:(?:see|e\.g\.,?|as in|in|from) )?(?:review(?:er)?s? #?|R(?=\d+\D+\d))(?P<numbers>\d{1,4}"
    r"(?:(?:[,;] and |[,;] ?| and | & | ?[–-] ?)(?:review(?:er)?s? |R)?#?\d{1,4}){0,40})",
    re.IGNORECASE | re.ASCII,
)
_RANGE = re.compile(r"(\d+)(?: ?[–-] ?#?(\d+))?", re.ASCII)
_SPOKEN = (
    (re.compile(r"^n ?= ?(\d{1,6})$", re.I | re.A), r"\1 reviews"),
    (re.compile(r"(?:[~≈] ?|\b(?:approx\.?|ca\.) )(?=\d)", re.I | re.A), "about "),
    (re.compile(r"\b(\d{1,6}) ?/ ?(\d{1,6})\b", re.A), r"\1 of \2"),
    (re.compile(r"\b(\d{1,6})\+(?= )", re.A), r"at least \1"),
    (re.compile(r"\ball (?:of )?(?:the )?\d{1,6}(?= )", re.I | re.A), "all"),
    (re.compile(r" mentions?$", re.I), " reviews"),
)  # fmt: skip
"""What numbers and signs are in words that :func:`people_at` reads."""
_ANY = re.compile(
    r"(?<!\bat )(?<!\bby )(?<!\bif )(?<!\bin )(?<!\bfor )(?<!\bfrom )(?<!\bwith )\b"
    r"(?:any of|any (?!(?:at|in|longer|more|time|way)\b)(?=\w)|any(?:thing|one|body|where))\b",
    re.IGNORECASE,
)
_SOME = {
    "any of": "some of", "any ": "", "anything": "something", "anyone": "someone",
    "anybody": "somebody", "anywhere": "somewhere",
}  # fmt: skip
"""What a denial says in place of "some"."""
_BEGIN = re.compile(r"\b\w")
_STOPS = ".!?…"
_LABEL = 6
"""Words of the longest label."""
_LABELLED = re.compile(rf"(?P<label>\w+(?:[ /&-]\w+){{0,{_LABEL - 1}}})(?: ?:| [–—-]) (?=\w)")
_SEEN = 80
"""Words of a statement that are looked at to find out whether it is one, and characters after "no
one"."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """How many people a statement says that it holds for.

    Attributes:
        text: the words that say so.
        low: least share that they stand for; equal to ``high`` for a number alone.
        high: greatest share.
        count: least and most people, where the words say no share ("two users"); ``low`` and
            ``high`` are then those of any number of reviews, 0 and 1.
        exists: whether the words say that there is somebody.
        of: the part of the reviewers of whom they say it ("families"); None where it is all. Which
            reviews are theirs is unknown, so the quantity cannot be compared.
    """

    text: str
    low: float
    high: float
    count: tuple[float, float] | None = None
    exists: bool = False
    of: str | None = None

    @property
    def denies(self) -> bool:
        """Whether the words say that hardly anybody does: "nobody", "few", "0%"."""
        return self.low == 0 and not self.exists

    def shares(self, n_reviews: int) -> tuple[float, float]:
        """The range of the share among so many reviews."""
        if self.count is None:
            return self.low, self.high
        low, high = (min(people / n_reviews, 1.0) for people in self.count)
        return low, high


class People(NamedTuple):
    """People that a text speaks of.

    Attributes:
        end: offset after the words.
        quantity: how many of them, or None where the text does not say.
        named: the words without the quantity: ``users``, ``a customer``.
    """

    end: int
    quantity: Quantity | None
    named: str


class Quantified(NamedTuple):
    """A statement and its quantity.

    Attributes:
        statement: what is said, without the quantity.
        quantity: by how many.
    """

    statement: str
    quantity: Quantity


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


def people_at(text: str, start: int = 0) -> People | None:
    """The people that a text speaks of at an offset, with or without a quantity.

    >>> people_at("Half of the users love it.")
    People(end=17, quantity=Quantity(text='Half', low=0.4, high=0.6, count=None, exists=False, \
of=None), named='users')
    >>> people_at("Half an hour is enough.") is None
    True
    """
    match = _AT.match(text, start)
    if match is None:
        return None
    if match["quantity"] is None:
        return People(match.end(), None, (match["only"] or match[0]).lower())
    quantity = _quantity(match)
    if quantity is not None and match["people"] is not None:
        quantity = _said_of(quantity, match["people"], text[match.end() : match.end() + _SEEN])
    if quantity is None or (match["alone"] is not None and _of_things(text, match.end())):
        return None
    named = (match["people"] or "reviewers").lower()
    singular = match["people"] is None and quantity.text.lower().endswith(("one", "body"))
    one = (match["part"] if "/" not in match[0] else None) or match["count"]
    if singular or (named.endswith("s") and (_is_one(one) or _is_one_s(text, match.end()))):
        # "One of the eight users is", "a minority dislikes it".
        named, singular = named.removesuffix("s"), True
    article = "an" if named.startswith(("a", "e", "i", "o", "unh")) else "a"
    return People(
        match.end(), quantity, f"{article} {named}" if match["one"] or singular else named
    )


def _said_of(quantity: Quantity, people: str, behind: str = "") -> Quantity:
    """A quantity of those people, who may be a part of the reviewers."""
    return replace(quantity, of=part_of(people, behind, counted=quantity.count is not None))


def _is_one(number: str | None) -> bool:
    return number is not None and _number(number) == 1


def _is_one_s(text: str, end: int) -> bool:
    """Whether the verb behind that offset is said of one: "a minority | dislikes it"."""
    verb = re.match(r" (?:\w+ly )?(\w+)", text[end : end + _SEEN])
    return verb is not None and (verb[1] in {"is", "was", "has", "does"} or is_third(verb[1]))


def _of_things(text: str, end: int) -> bool:
    """Whether "no one" before that offset goes with a thing: "no one size", "no one of them"."""
    if not text[:end].lower().endswith("no one"):
        return False
    following = tagged(text[end : end + _SEEN])[:1]
    return any(
        word.tag in {"noun", "adj", "num"} or is_base(word.low) or word.low == "of"
        for word in following
    )


def _quantity(match: re.Match[str]) -> Quantity | None:
    text = match["quantity"]
    if match["count"]:
        if match["people"] is None:
            return None
        number = _number(match["count"])
        if match["upto"]:
            most = _number(match["upto"])
            found = number < most and match["one"] is None  # not "a 4-5 person tent"
            return Quantity(text, 0.0, 1.0, (number, most), exists=True) if found else None
        low, high = _limited(match, number, number / 4, 1)
        return Quantity(text, 0.0, 1.0, (low, high), exists=high > 0)
    if match["part"] or match["percent"]:
        part = _number(match["part"]) if match["part"] else float(match["percent"])
        whole = _number(match["whole"]) if match["part"] else 100
        if not whole or part > whole:
            return None
        low, high = _limited(match, part / whole, 0.1, 0)
        limited = low < high and high > RANGES["few"][1]
        return Quantity(text, low, min(high, 1.0), exists=limited)
    name = next(name for place, (name, _) in enumerate(_WORDS) if match[f"w{place}"])
    return Quantity(text, *RANGES[name], exists=name in _EXIST)


def _limited(match: re.Match[str], number: float, about: float, step: int) -> tuple[float, float]:
    """Least and greatest that "at least", "up to" and the like leave of a number.

    Args:
        match: of the words.
        number: a share, or so many people.
        about: how far "about" reaches to either side, though no lower than half of the number.
        step: between a number and the next.
    """
    if match["about"]:
        return round(max(number - about, number / 2), 6), round(number + about, 6)
    if match["least"] or match["above"]:
        return number + (step if match["above"] else 0), math.inf
    if match["most"] or match["below"]:
        return 0.0, max(number - (step if match["below"] else 0), 0.0)
    return number, number


def _number(text: str) -> int:
    return _SPELT.get(text.lower()) or int(text.replace(",", ""))


def after_frame(text: str) -> tuple[int, Quantity | None] | None:
    """Where the statement begins in a text that says who makes it; None where it does not.

    >>> after_frame("Some reviewers say that it leaks.")[0]
    24
    >>> after_frame("Some reviewers love it.") is None
    True
    """
    front = _FRONT.match(text)
    begin = 0 if front is None else front.end()
    source = _SOURCE.match(text, begin)
    people = people_at(text, begin if source is None else source.end())
    if people is None:
        somebody = None if source is not None else _SOMEBODY.match(text, begin)
        if somebody is None:
            return None
        people = People(somebody.end(), None, "somebody")
    if source is not None:
        comma = re.match(r", *", text[people.end :])
        return None if comma is None else (people.end + comma.end(), people.quantity)
    frame = _FRAME.match(text, people.end)
    if frame is None:
        return None
    rest = text[frame.end() :]
    place = frame.end() + len(rest) - len(rest.lstrip())
    sure = frame["that"] is not None
    return (place, people.quantity) if sure or _is_clause(rest) else None


def _is_clause(text: str) -> bool:
    """Whether a text begins with a subject and its verb, and not with an object."""
    subject = False
    for token in islice(tagged(text[: 10 * _SEEN]), _SEEN):
        if token.tag in {"aux", "verb"}:
            return subject
        if token.tag == "pron" and "'" in token.low and token.low != "let's":
            return True  # "it's comfortable"
        if token.tag in {"conj", "sub", "rel", "to", "mark"}:
            return False
        subject = subject or token.tag not in {"adv", "neg"}
    return False


def asides(text: str) -> list[Aside]:
    """The quantities of people that stand apart, in brackets or at the end behind a dash, in order.

    >>> found = asides("It lasts (7/10 reviewers) for days (3 of 4 trips).")
    >>> [aside.quantity.text for aside in found]
    ['7 of 10']
    """
    found = []
    tallies = len(_TALLY.findall(text))
    tallied = tallies >= _TALLIES and find_core(tagged(text[: text.find("(")][:_SEEN])) is None
    for match in _BRACKET.finditer(text):
        words = _spoken(match[0][1:-1])
        before = text[max(match.start() - _SEEN, 0) : match.start()].rstrip()
        if not (_BARE.fullmatch(words) or _PART.fullmatch(words)):
            quantity, people = _apart(words), None
        else:
            people = _people_ending(before)
            counted = people is not None and (people.quantity is not None or "%" in words)
            # "7/10" alone is a grade as often as not, and so is "7 out of 10" of what is rated.
            part = _PART.fullmatch(words) and "/" not in match[0] and not _RATED.search(before)
            tally = _TALLY.match(text, match.start()) is not None
            point = tallies == 1 and _is_point(before, text[match.end() :])
            tally = tally and (tallied or point)
            quantity = _of_reviews(words) if counted or part or tally else None
        if quantity is not None:
            quantity = quantity if people is None else _said_of(quantity, people.named)
            label = _is_of_label(text, match.start(), match.end())
            found.append(Aside(*match.span(), quantity, people is not None, label))
    for cell in _CELL.finditer(text):
        words = _spoken(cell["words"])
        part = _PART.fullmatch(words) and "/" not in cell[0]
        quantity = _of_reviews(words) if part else _apart(words)
        if quantity is not None:
            found.append(Aside(*cell.span(), quantity, behind_people=False, of_label=True))
    found.sort(key=lambda aside: aside.start)
    ending = _ending(text, found[-1].end if found else 0)
    return found if ending is None else [*found, ending]


def _is_of_label(text: str, start: int, end: int) -> bool:
    """Whether what stands there belongs to a label: "Fit (7 reviews): small"."""
    if not 0 < start <= _SEEN:
        return False
    label, behind = text[:start].rstrip(), text[end : end + _SEEN].lstrip()
    words = len(label.split())
    marked = label.endswith(":") or behind.startswith((":", "– ", "— "))
    named = marked and (words == 1 or (0 < words <= _LABEL and find_core(tagged(label)) is None))
    return named and behind.strip(_STOPS + ": ") != ""


def _ending(text: str, begin: int) -> Aside | None:
    """The quantity at the end of a text, behind a dash, a colon or "according to"."""
    said = text.rstrip(_STOPS + " ")
    match = _SAID_BY.search(said, begin)
    if match is None:
        last = max(text.rfind(dash, begin) for dash in _DASHES)
        match = None if last < 0 else _DASH.match(said, last)
        if match is None or not any(map(str.isdigit, match["words"])):
            return None
        before = tagged(text[max(last - 10 * _SEEN, 0) : last]) if match[0][0] == ":" else []
        if before and (find_core(before) is None or before[-1].tag == "aux"):
            return None  # "Battery: 7 of 10 reviews", "the numbers are: 7 of 10 reviews"
    words = _spoken(match["words"])
    quantity = None if _PART.fullmatch(words) else _apart(words)
    return None if quantity is None else Aside(match.start(), match.end(), quantity, False)


def _is_point(before: str, after: str) -> bool:
    """Whether a number at the end is that of a point in a list: "cigarette smoke (2)"."""
    words = tagged(before)
    named = bool(words) and words[-1].tag != "num"
    first = pieces_of(words)[:1] if named and find_core(words) is not None else []
    named = named and all(shape_of(piece.words) in {"adjective", "noun"} for piece in first)
    return named and not after.strip(_STOPS + " ")


def _spoken(words: str) -> str:
    """The words of an aside with single spaces, its signs in words."""
    words = " ".join(words.split())
    for pattern, spoken in _SPOKEN:
        words = pattern.sub(spoken, words)
    return words


def _apart(words: str) -> Quantity | None:
    """The quantity of an aside that says nothing else."""
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
        sized = people.quantity.count is not None and not (told or tail["say"])
        plain = not sized or _JUDGES.search(people.named) is not None
        return people.quantity if named and plain else None
    by = lead is not None and lead["told"] is not None and lead["by"] is not None
    return _of_reviews(words[begin:]) if by else None


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


def _people_ending(text: str) -> People | None:
    """The people that a text ends with, the longest words for them."""
    found = (people_at(text, match.start()) for match in _BEGIN.finditer(text))
    return next((people for people in found if people and people.end == len(text)), None)


def quantified(text: str) -> Quantified | None:
    """A statement without its quantity, and the quantity; None where there is none of people.

    >>> quantified("Most users say that the zipper sticks.")
    Quantified(statement='The zipper sticks.', quantity=Quantity(text='Most', low=0.5, high=1.0, \
count=None, exists=False, of=None))
    >>> quantified("One customer returned it.").statement
    'A customer returned it.'
    >>> quantified("The battery lasts (7 of 10 reviews).").statement
    'The battery lasts.'
    >>> quantified("Noise: Few users find it loud.").statement
    'Noise: Users find it loud.'
    >>> quantified("Most of the battery is left.") is None
    True
    >>> quantified("Half of the buyers love it and half hate it.") is None
    True
    """
    found = asides(text)
    label = "" if found else _label(text)
    named = _in_words(text[len(label) :]) if label else None
    if named is not None and find_core(tagged(named.statement)) is not None:
        return named._replace(statement=label + named.statement)
    if len(found) != 1:
        return _in_words(text)
    aside = found[0]
    before, after = text[: aside.start].rstrip(), text[aside.end :].lstrip()
    begins, ends = not before, re.search(r"\w", after) is None
    if not (begins or ends or aside.behind_people or aside.of_label):
        return _in_words(text)
    if begins:
        rest = _begun(after.lstrip(":—–- "))
    elif ends and before.endswith(tuple(_STOPS)):
        rest = before
    else:
        rest = before + (after if ends or after[0] in ",;:" else f" {after}")
    if aside.of_label:
        begins, rest = True, _begun(closed(without_marks(rest)))
    if re.search(r"\w", rest) is None:
        return None
    said = without_words(rest, aside.quantity)
    # Behind a second clause it is meant for that; before two it is like "most users say that".
    if said is None and _says_more(rest, framed=begins or after_frame(rest) is not None):
        return None
    return Quantified(said or rest, aside.quantity)


def _label(text: str) -> str:
    """The label that a statement begins with: "Noise: ", or nothing."""
    found = _LABELLED.match(text)
    if found is None or people_at(text) is not None:
        return ""
    named = " " not in found["label"] or find_core(tagged(found["label"])) is None
    return found[0] if named else ""


def without_words(text: str, quantity: Quantity) -> str | None:
    """A statement without the words for a quantity that is known more exactly.

    Args:
        text: the statement.
        quantity: what stands apart from it.

    Returns:
        The statement; None where it has no such words, or they are part of what the quantity is
        said of: "nobody complained" by 12 of 20.

    >>> exact = people_at("12 of 20 users").quantity
    >>> without_words("Most users love it.", exact)
    'Users love it.'
    >>> without_words("Nobody complained.", exact) is None
    True
    """
    found = _in_words(text)
    if found is None:
        return None
    words = found.quantity
    meet = words.low <= quantity.high and quantity.low <= words.high
    meet = meet or (words.of is not None and quantity.of is None)
    nobody = words.high <= RANGES["nobody"][1] and not quantity.denies
    return found.statement if meet and not nobody else None


def _in_words(text: str) -> Quantified | None:
    """What :func:`quantified` finds in words that do not stand apart."""
    frame = after_frame(text)
    if frame is not None:
        place, quantity = frame
        more = quantity is None or _says_more(text[place:], framed=True)
        return None if quantity is None or more else Quantified(_begun(text[place:]), quantity)
    front = _FRONT.match(text)
    begin = 0 if front is None else front.end()
    people = people_at(text, begin)
    if people is not None and people.quantity is not None:
        if _says_more(text[begin:]):
            return None
        said = people.named + text[people.end :]
        if people.quantity.denies:  # Who noticed smell did not notice "any".
            said = _ANY.sub(lambda word: _SOME[word[0].lower()], said)
        return Quantified(_begun(said), people.quantity)
    for by in islice(_BY.finditer(text), 8):
        people = people_at(text, by.end())
        if people is not None and people.quantity is not None and not _says_more(text):
            return Quantified(text[: by.end()] + people.named + text[people.end :], people.quantity)
    return None


def _says_more(text: str, *, framed: bool = False) -> bool:
    """Whether a statement has another clause or people that its quantity is not meant for.

    Args:
        text: the statement.
        framed: whether people say it, who may say several things that "and" joins.
    """
    words = [*islice(tagged(text[: 10 * _SEEN]), _SEEN)]
    first, *others = pieces_of(words) or [Piece("", False, [], words)]
    reasoned = any(word.tag == "sub" for word in first.words)
    for piece in others:
        people = people_at(text, piece.words[0].start)
        clause = shape_of(piece.words) == "clause"
        if people is not None and (clause or people.quantity is not None):
            return True
        goes_on = framed or (reasoned and not piece.comma)
        if clause and not (goes_on and piece.joint in {"", "and", "or"}):
            return True
    whiles = (at for at, word in enumerate(words[:-1]) if at and word.low in CONTRASTS)
    return any(shape_of(words[at + 1 :]) == "clause" for at in whiles)


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]
