"""How many: words for shares and numbers of people, "most", "12 of 20", "at least three"."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

__all__ = ["LIMIT", "NUMBER", "RANGES", "WORDS", "Quantity", "number_of", "quantity_of"]

RANGES: dict[str, tuple[float, float]] = {
    "all": (0.9, 1.0),
    "almost all": (0.75, 1.0),
    "three quarters": (0.65, 0.85),
    "two thirds": (0.55, 0.8),
    "most": (0.5, 1.0),
    "over three quarters": (0.75, 1.0),
    "over two thirds": (0.66, 1.0),
    "over half": (0.5, 1.0),
    "under three quarters": (0.0, 0.75),
    "under two thirds": (0.0, 0.67),
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
_EXIST = frozenset({
    "several", "some", "a few", "a minority", "under two thirds", "under three quarters",
})  # fmt: skip
"""Words whose range begins at 0, and that say all the same that there is somebody."""
_SPELT = {"a single": 1} | {
    word: number
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
         "twelve"), start=1,
    )
}  # fmt: skip
NUMBER = rf"(?:\d{{1,3}}(?:,\d{{3}}){{1,2}}|\d{{1,6}}|{'|'.join(_SPELT)})"
_NEAR = r"(?:just|slightly|a little|a bit) (?:over|under|above|below|more than|less than)"
_ROUGHLY = rf"(?:(?:about|around|roughly|nearly|almost|approximately|close to|{_NEAR}) )?"
_OVER = r"(?:well )?(?:over|above|more than|at least)"
_UNDER = r"(?:(?:well )?(?:under|below|less than|fewer than)|up to|at most|no more than)"
_HALF, _TWO_THIRDS, _THREE_QUARTERS = "(?:half|½)", "(?:two[- ]thirds|⅔)", "(?:three[- ]quarters|¾)"
_THIRD, _QUARTER = "(?:(?:a|one)[- ]third|⅓)", "(?:(?:a|one)[- ]quarter|¼)"
WORDS = (
    ("almost all", r"(?:almost|nearly|virtually|practically) (?:all|every|everyone|everybody)"
                   r"|(?:the|an?) (?:vast|overwhelming|great) majority"),
    ("few", r"(?:hardly|barely|scarcely) (?:any|anyone|anybody)|almost (?:nobody|no one|none|no)"
            r"|very few|only an? (?:few|couple|handful)|few(?:,? if any,?)?|not (?:very |so )?many"
            rf"|{_UNDER} {_QUARTER}"),
    ("nobody", rf"none of (?:the )?{NUMBER}(?= \w)|nobody|no one|none|no|zero|not one"
               r"|not a single"),
    ("all", rf"all(?: of)?(?: the)? {NUMBER}(?= \w)|all|everyone|everybody|each and every"
            r"|every(?: single| last)?(?! other\b)|each"),
    ("both", r"both"),
    ("over three quarters", rf"{_OVER} {_THREE_QUARTERS}"),
    ("over two thirds", rf"{_OVER} {_TWO_THIRDS}"),
    ("over half", rf"{_OVER} {_HALF}"),
    ("over a third", rf"{_OVER} {_THIRD}"),
    ("over a quarter", rf"{_OVER} {_QUARTER}"),
    ("under three quarters", rf"{_UNDER} {_THREE_QUARTERS}"),
    ("under two thirds", rf"{_UNDER} {_TWO_THIRDS}"),
    ("two thirds", rf"{_ROUGHLY}{_TWO_THIRDS}"),
    ("three quarters", rf"{_ROUGHLY}{_THREE_QUARTERS}"),
    ("a third", rf"{_ROUGHLY}{_THIRD}"),
    ("a quarter", rf"{_ROUGHLY}{_QUARTER}"),
    ("a minority", rf"{_UNDER} {_HALF}"
                   r"|an? (?:(?:small|significant|siz(?:e)?able|large|notable|vocal) )?minority"),
    ("half", rf"{_ROUGHLY}{_HALF}"),
    ("most", r"most|(?:the|a) (?:clear |large |small )?majority"),
    ("many", r"(?:very |so )?many|a lot|lots|plenty|numerous|countless|dozens|scores|hundreds"
             r"|a (?:large|great|significant|considerable|good) (?:number|share|part|proportion)"),
    ("several", r"several|various|multiple|a (?:fair |certain )?number|quite a few"),
    ("a few", r"(?:just )?a few|a couple|a handful|a small (?:number|share|proportion)"
              rf"|{_UNDER} {_THIRD}"),
    ("some", r"some|certain"),
)  # fmt: skip
"""What stands for each range; the first that fits is taken."""
LIMIT = (
    rf"(?:(?P<about>about|around|roughly|nearly|almost|approximately|close to|{_NEAR})"
    r"|(?P<least>at least|no (?:less|fewer) than)|(?P<above>(?:well )?(?:over|more than|above))"
    r"|(?P<below>(?:well )?(?:under|less than|fewer than|below))"
    r"|(?P<most>up to|at most|no more than)"
    r"|only|just) "
)


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
        """The range of the share among so many reviews; above 1 where it is of more people."""
        if self.count is None:
            return self.low, self.high
        least, most = (people / n_reviews for people in self.count)
        return least, max(least, min(most, 1.0))


def quantity_of(match: re.Match[str]) -> Quantity | None:
    """The quantity in a match of :data:`LIMIT`, :data:`WORDS` and numbers, in their groups.

    Args:
        match: it has the groups ``quantity``, ``part`` of a ``whole`` (and whether a ``slash``
            stands between, as in a grade), ``percent`` (and where its
            range begins, ``from``), ``vulgar`` fraction, ``count`` (and its end, ``upto``),
            and ``w0``, ``w1``, ... of the words; ``one`` if the words for people are singular.

    Returns:
        None for numbers that cannot be meant so, as in "24/7 customer service" and "a 4-5 person
        tent". A share above 1 ("150%", "11 of 8") keeps its number: no reviews can agree with it.
    """
    text = match["quantity"]
    if match["count"]:
        number = number_of(match["count"])
        if match["upto"]:
            most = number_of(match["upto"])
            found = number < most and match["one"] is None  # not "a 4-5 person tent"
            return Quantity(text, 0.0, 1.0, (number, most), exists=True) if found else None
        low, high = _limited(match, number, number / 4, 1)
        return Quantity(text, 0.0, 1.0, (low, high), exists=high > 0)
    if match["part"] or match["percent"] or match["vulgar"]:
        return _share_of(match)
    name = next(name for place, (name, _) in enumerate(WORDS) if match[f"w{place}"])
    if name == "both":
        return Quantity(text, 0.0, 1.0, (2, 2), exists=True)
    return Quantity(text, *RANGES[name], exists=name in _EXIST)


def _share_of(match: re.Match[str]) -> Quantity | None:
    """The quantity of a part of a whole, of a percentage or of a fraction ("⅖")."""
    text = match["quantity"]
    if match["vulgar"]:
        part, whole = unicodedata.numeric(match["vulgar"]), 1
    else:
        part = number_of(match["part"]) if match["part"] else float(match["percent"])
        whole = number_of(match["whole"]) if match["part"] else 100
    if not whole or (part > whole and match["slash"]):
        return None
    if part > whole:
        return Quantity(text, part / whole, part / whole)
    low, high = _limited(match, part / whole, 0.1, 0)
    low = min(low, float(match["from"]) / 100) if match["from"] else low
    limited = low < high and high > RANGES["few"][1]
    return Quantity(text, low, min(high, 1.0), exists=limited)


def _limited(match: re.Match[str], number: float, about: float, step: int) -> tuple[float, float]:
    """Least and greatest that "at least", "up to" and the like leave of a number.

    Args:
        match: of the words.
        number: a share, or so many people.
        about: how far "about" reaches to either side, though no lower than half of the number.
        step: between a number and the next.
    """
    more = "+" in match["quantity"]  # "80%+", "5+"
    if match["about"] and not more:
        return round(max(number - about, number / 2), 6), round(number + about, 6)
    if match["least"] or match["above"] or more:
        return number + (step if match["above"] else 0), math.inf
    if match["most"] or match["below"]:
        return 0.0, max(number - (step if match["below"] else 0), 0.0)
    return number, number


def number_of(text: str) -> int:
    """The number that digits or a word for it say: 12 for "twelve", 1200 for "1,200"."""
    return _SPELT.get(text.lower()) or int(text.replace(",", ""))
