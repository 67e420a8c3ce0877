"""Conditions on the statements and reviews that count: their language, and what they leave.

A restricted score is the score of what is left: the summary without its other statements, against
the product without its other reviews. So m and n shrink, and a statement that is left out masks
nothing: what is asked is how prevalent the statements on, say, the battery are, and a statement on
something else does not take one of them away. Source: Malon 2023, section 7.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import pairwise, takewhile
from numbers import Real
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import ConfigurationError, InputError
from prevalence.records import well_formed
from prevalence.signature import safe
from prevalence.wording import counted, first_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from prevalence.records import Product, Review, Summary
    from prevalence.text.sentences import Sentence

__all__ = [
    "STATEMENTS",
    "Clause",
    "Left",
    "Restriction",
    "Where",
    "as_rating",
    "field_of",
    "kind_of",
    "parse_groups",
    "parse_where",
    "rated_of",
    "review_fields",
]


_TOKEN = re.compile(r'\s*(?:"(?P<quoted>[^"]*)"|(?P<sign>[<>!=]?=|[<>,])|(?P<word>[^\s"<>=!,]+))')
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d{1,2}")
"""A comma before three digits may separate thousands, and one before fewer cannot."""
_RATED = re.compile(
    r"(?P<number>\d+(?:\.\d+|,\d{1,2})?)\s*(?:/|(?:out )?of\b)\s*(?P<most>5|10|100)"
    r"(?:[.,]0)?(?:\s*stars?)?",
    re.IGNORECASE,
)
"""A rating beside the best one of its scale; halves, thirds and the like are none."""
_DATE = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01])(?:[T ].*)?)?)?", re.DOTALL)
_DOTTED_DATE = re.compile(
    r"(0?[1-9]|[12]\d|3[01])\. ?(0?[1-9]|1[0-2])\. ?(\d{4})(?:[T ,].*)?", re.DOTALL
)
_WORD = re.compile(r"\w+")
_PLAIN = re.compile(r"[\w.+-]+")

_ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_OPERATORS = {*_ORDERINGS, "=", "!=", "has"}
_EXAMPLE = 'write for example: rating >= 4 and text has battery, "power supply"'


@dataclass(frozen=True, slots=True)
class Clause:
    """One test of one field.

    Attributes:
        field: a key; dots lead into nested objects where no key has the whole name.
        operator: ``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=`` or ``has``.
        values: one or more; one for an ordering.
    """

    field: str
    operator: str
    values: tuple[str, ...]

    def holds(self, fields: Mapping[str, Any]) -> bool:
        """Whether the clause is true; one about a missing, null or empty field never is.

        A list satisfies a clause when one of its elements does, and ``!=`` when none equals.
        """
        found = field_of(fields, self.field)
        if found is None or found == "":
            return False
        elements = found if isinstance(found, list | tuple) else [found]
        if self.operator == "!=":
            return not any(_equal(item, value) for item in elements for value in self.values)
        test = {"=": _equal, "has": _has}.get(self.operator, self._compares)
        return any(test(item, value) for item in elements for value in self.values)

    def _compares(self, found: object, wanted: str) -> bool:
        """Whether the comparison is true; of things that have no order, it never is."""
        ordered = _ordered(found, wanted)
        return ordered is not None and _ORDERINGS[self.operator](*ordered)

    @property
    def orders(self) -> bool:
        """Whether it compares by order, for which both must be numbers or dates."""
        return self.operator in _ORDERINGS

    def finds_no_order(self, objects: Sequence[Mapping[str, Any]]) -> bool:
        """Whether it compares, and no object has a number or date there, as the value is one."""
        found = [field_of(fields, self.field) for fields in objects]
        elements = [e for one in found for e in (one if isinstance(one, list | tuple) else [one])]
        return self.orders and all(
            _ordered(element, self.values[0]) is None for element in elements
        )

    def __str__(self) -> str:
        values = ",".join(map(_quoted, self.values))
        sign = " has " if self.operator == "has" else self.operator
        return f"{_quoted(self.field)}{sign}{values}"


@dataclass(frozen=True, slots=True)
class Where:
    """A condition: clauses that must all hold.

    >>> where = parse_where('rating>=4 and text has battery, "power supply"')
    >>> where.holds({"rating": 5, "text": "The Power-Supply hums."})
    True
    >>> str(where)
    'rating>=4 and text has battery,"power supply"'
    """

    clauses: tuple[Clause, ...]

    def holds(self, fields: Mapping[str, Any]) -> bool:
        """Whether all clauses are true of an object's fields."""
        return all(clause.holds(fields) for clause in self.clauses)

    @property
    def fields(self) -> frozenset[str]:
        """Fields that the clauses test."""
        return frozenset(clause.field for clause in self.clauses)

    @property
    def labels(self) -> list[str]:
        """Fields that a statement has from the record only, sorted: all but its text."""
        return sorted(field for field in self.fields if field.casefold() != "text")

    def missing(self, objects: Sequence[Mapping[str, Any]]) -> list[str]:
        """Fields that none of the objects has, sorted."""
        return sorted(
            field
            for field in self.fields
            if all(field_of(fields, field) is None for fields in objects)
        )

    def __str__(self) -> str:
        """One spelling for all that mean the same clauses; :func:`parse_where` reads it back."""
        return " and ".join(map(str, self.clauses))


def parse_where(text: str) -> Where:
    """Read a condition.

    Args:
        text: clauses joined by ``and``. Field names and values with spaces, commas or signs stand
            in double quotes. Several values after ``=``, ``!=`` and ``has`` are separated by
            commas.

    Raises:
        ConfigurationError: the text is no condition; the message says where it goes wrong.
    """
    text = _checked(text)
    return _where(list(_tokens(text)), text)


def parse_groups(text: str) -> tuple[Where, ...]:
    """Read several conditions with commas between them.

    A comma between values stays one: a new condition begins where a field and an operator follow.

    Args:
        text: conditions as :func:`parse_where` takes them.

    Raises:
        ConfigurationError: one cannot be read, or there are two of the same.

    >>> [str(where) for where in parse_groups("rating <= 2, color = red, blue")]
    ['rating<=2', 'color=red,blue']
    """
    text = _checked(text)
    tokens = list(_tokens(text))
    starts = [
        k + 1
        for k in range(len(tokens) - 2)
        if tokens[k] == ("sign", ",") and tokens[k + 2][1] in _OPERATORS
    ]
    edges = [0, *starts, len(tokens) + 1]
    groups = tuple(_where(tokens[start : end - 1], text) for start, end in pairwise(edges))
    if len(set(groups)) < len(groups):
        raise _fault(text, "the same group stands there twice")
    return groups


def _checked(text: object) -> str:
    if not isinstance(text, str):
        raise ConfigurationError(f"a condition is {type(text).__name__}, not text; {_EXAMPLE}")
    return well_formed(text)


_Token = tuple[str, str]


def _where(tokens: list[_Token], text: str) -> Where:
    clauses: list[Clause] = []
    while True:
        clause, tokens = _clause(tokens, text)
        clauses.append(clause)
        if not tokens:
            return Where(tuple(clauses))
        if tokens[0] != ("word", "and"):
            raise _fault(text, f"{tokens[0][1]!r} stands where 'and' or the end should be")
        tokens = tokens[1:]


def _tokens(text: str) -> Iterator[_Token]:
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            raise _fault(text, f"cannot be read at {text[place:].strip()[:20]!r}")
        kind = str(match.lastgroup)
        # Programmers write ==.
        yield kind, "=" if kind == "sign" and match[kind] == "==" else match[kind]
        place = match.end()


def _clause(tokens: list[_Token], text: str) -> tuple[Clause, list[_Token]]:
    if len(tokens) < 3:
        raise _fault(text, "a clause needs a field, an operator and a value")
    (kind, field), (_, operator) = tokens[:2]
    if kind == "sign" or not field.strip():
        raise _fault(text, f"{field!r} stands where a field should be")
    if operator not in _OPERATORS or tokens[1][0] == "quoted":
        problem = f"{operator!r} is no operator (=, !=, <, <=, >, >=, has)"
        raise _fault(text, f"{problem}{_name_of_words(tokens)}")
    values, rest = _values(tokens[2:], text)
    if operator in _ORDERINGS:
        ordered = _as_number(values[0]) is not None or as_date(values[0])
        if len(values) > 1 or not ordered:
            raise _fault(
                text, f"{operator} needs one number or date (2024-06-30), not {', '.join(values)!r}"
            )
    if operator == "has":
        for value in values:
            if not _words(value):
                raise _fault(text, f"has needs words, not {value!r}")
    return Clause(field, operator, values), rest


def _name_of_words(tokens: list[_Token]) -> str:
    """How to write a field of several words, where an operator follows them."""
    words = list(takewhile(lambda token: token[0] == "word" and token[1] != "has", tokens))
    if not 1 < len(words) < len(tokens) or tokens[len(words)][1] not in _OPERATORS:
        return ""
    return f'; names with spaces go in double quotes: "{" ".join(word for _, word in words)}"'


def _values(tokens: list[_Token], text: str) -> tuple[tuple[str, ...], list[_Token]]:
    values = []
    while True:
        if not tokens or tokens[0][0] == "sign":
            raise _fault(text, "a value is missing")
        values.append(tokens[0][1])
        if len(tokens) < 2 or tokens[1] != ("sign", ","):
            return tuple(values), tokens[1:]
        tokens = tokens[2:]


def _fault(text: str, problem: str) -> ConfigurationError:
    return ConfigurationError(f"condition {text!r}: {problem}; {_EXAMPLE}")


def field_of(fields: Mapping[str, Any], name: str) -> Any:
    """A field's value: that of the name as written, or else of the only one but for case."""
    spelt = _spelling(fields, name)
    if spelt is not None:
        return _plain(fields[spelt])
    head, dot, rest = name.partition(".")
    outer = _spelling(fields, head) if dot else None
    inner = None if outer is None else fields[outer]
    return field_of(inner, rest) if isinstance(inner, dict) else None


def _spelling(fields: Mapping[str, Any], name: str) -> str | None:
    """How a name is written in the fields; None where it is not there, or only in two cases."""
    # Tables headed "Rating" have the field "rating".
    for spelt in (name, folded := name.casefold()):
        if spelt in fields:
            return spelt
    alike = [key for key in fields if isinstance(key, str) and key.casefold() == folded]
    return alike[0] if len(alike) == 1 else None


def _plain(value: Any) -> Any:
    """A value out of NumPy's types, a date as text; None where data frames hold nothing."""
    found = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(found, float | date):
        return found
    missing = found != found  # noqa: PLR0124 - NaN and NaT
    return None if missing else found.isoformat() if isinstance(found, date) else found


def _as_number(value: object) -> float | None:
    """The number that a value is or that a text spells, as in tables; None where there is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Real):
        try:
            return float(value)
        except OverflowError:
            return -math.inf if value < 0 else math.inf
    numeral = _numeral(value) if isinstance(value, str) else None
    return None if numeral is None else float(numeral)


def _numeral(text: str) -> str | None:
    """A text that spells a number, with a decimal point; None for others."""
    text = text.strip()
    if _DECIMAL_COMMA.fullmatch(text):
        return text.replace(",", ".")
    return text if _NUMBER.fullmatch(text) else None


def as_rating(value: object) -> float | None:
    """The number that a value is, spells or gives before the best of its scale.

    >>> as_rating("8,3/10"), as_rating("4 out of 5"), as_rating("3/4"), as_rating("7/5")
    (8.3, 4.0, None, None)
    """
    return _as_number(_unscaled(value))


def rated_of(value: object) -> int | None:
    """The best of the scale that stands beside a rating; None where none does.

    >>> rated_of("8,3/10"), rated_of("8,3")
    (10, None)
    """
    found = _rated(value)
    return None if found is None else int(found["most"])


def _unscaled(value: object) -> object:
    """A value as it is, or the number of a rating that stands beside its scale."""
    found = _rated(value)
    return value if found is None else found["number"]


def _rated(value: object) -> re.Match[str] | None:
    found = _RATED.fullmatch(value.strip()) if isinstance(value, str) else None
    number = None if found is None else _as_number(found["number"])
    return found if found and number is not None and number <= float(found["most"]) else None


_DAY = 3
"""Parts of a date that names a day."""


def as_date(value: object) -> tuple[int, ...]:
    """Year, month and day of a text as ISO 8601 writes dates, or those of them that it names.

    A day, month and year with points between them are a date too. A time of day is not looked at.
    Empty where the value is no date.

    >>> as_date("2024-06-30T12:00:00Z"), as_date("2024-06"), as_date("June 30, 2024")
    ((2024, 6, 30), (2024, 6), ())
    >>> as_date("30.06.2024"), as_date("30/06/2024")
    ((2024, 6, 30), ())
    """
    if not isinstance(value, str):
        return ()
    if dotted := _DOTTED_DATE.fullmatch(value.strip()):
        return tuple(int(part) for part in reversed(dotted.groups()))
    found = _DATE.fullmatch(value.strip())
    return () if found is None else tuple(int(part) for part in found.groups() if part)


def _ordered(found: object, wanted: str) -> tuple[Any, Any] | None:
    """Both as numbers, or both as dates; None where they are neither.

    A month or a year as the limit stands for all its days.
    """
    number, limit = as_rating(found), _as_number(wanted)
    if number is not None and limit is not None:
        return number, limit
    day, edge = as_date(found), as_date(wanted)
    return (day[: len(edge)], edge) if edge and len(day) == _DAY else None


def _equal(found: object, wanted: str) -> bool:
    if isinstance(found, bool):
        return str(found).casefold() == wanted.strip().casefold()
    number, limit = as_rating(found), _as_number(wanted)
    if number is not None and limit is not None:
        # Long ids are one float and yet not the same.
        bare = _unscaled(found)
        return number == limit and (
            not isinstance(bare, int | str) or _exact(bare) == _exact(wanted)
        )
    return isinstance(found, str) and found.strip().casefold() == wanted.strip().casefold()


def _exact(number: int | str) -> Decimal | str:
    """All digits of a number; its text where no exponent is so large."""
    try:
        return Decimal((_numeral(number) or number) if isinstance(number, str) else number)
    except InvalidOperation:
        return str(number).strip().casefold()


def _has(found: object, phrase: str) -> bool:
    if not isinstance(found, str):
        return False
    words, wanted = _words(found), _words(phrase)
    size = len(wanted)
    return any(words[k : k + size] == wanted for k in range(len(words) - size + 1))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _quoted(text: str) -> str:
    """A name or value as it must be written; "and" and "has" would be read as what they are."""
    if _PLAIN.fullmatch(text) and text not in ("and", "has"):
        return text
    return f'"{text}"'


_SHOWN = 40
"""Characters of a sentence that a message shows."""
_SHORT = re.compile(r'[^"\n\r]{1,40}')
_FEW = 6
"""Most values that a message lists."""
_NAMED = 20
"""Most fields that a message names."""

STATEMENTS = "statements"
"""Key of a summary that holds labels, one object a sentence, in order."""


class Left(NamedTuple):
    """What a condition leaves.

    Attributes:
        places: 0-based places of what is left, increasing.
        reason: why nothing is, or None.
    """

    places: tuple[int, ...]
    reason: str | None


@dataclass(frozen=True, slots=True)
class Restriction:
    """Which statements and which reviews count; None for all of them.

    Attributes:
        statements: of ``text`` and of labels that the record gives.
        reviews: of ``text``, ``id`` and all other keys of a review.
        first: at most so many of these reviews, the first ones.
    """

    statements: Where | None = None
    reviews: Where | None = None
    first: int | None = None

    @classmethod
    def parse(
        cls, *, statements: str | None, reviews: str | None, first: int | None = None
    ) -> Restriction:
        """Read both conditions.

        Raises:
            ConfigurationError: one cannot be read.
        """
        return cls(
            None if statements is None else parse_where(statements),
            None if reviews is None else parse_where(reviews),
            first,
        )

    def __bool__(self) -> bool:
        return (self.statements, self.reviews, self.first) != (None, None, None)

    @property
    def chooses_reviews(self) -> bool:
        """Whether some reviews may not count."""
        return (self.reviews, self.first) != (None, None)

    @property
    def signature(self) -> dict[str, str]:
        """Parts of the signature, on one line and without the sign that separates them."""
        parts = {"statements": self.statements, "reviews": self.reviews}
        told = {name: safe(str(where)) for name, where in parts.items() if where is not None}
        return told if self.first is None else told | {"first": str(self.first)}

    def reviews_left(self, product: Product) -> Left:
        """The reviews that count; the reason is set when there are none of those given."""
        fields = [review_fields(review) for review in product.reviews]
        left = _left(self.reviews, fields, "review")
        return left._replace(places=left.places[: self.first])

    def sentences_left(self, summary: Summary, sentences: Sequence[Sentence]) -> Left:
        """The statements that count.

        Raises:
            InputError: the condition asks for labels, and the summary has none, another number
                of them than sentences, or labels that name another text.
        """
        labels = self._labels(summary, len(sentences))
        for place, (label, sentence) in enumerate(zip(labels, sentences, strict=True)):
            whole = summary.text[sentence.start : sentence.end]
            if label.get("text", whole) not in (whole, sentence.text):
                raise InputError(
                    f'"{STATEMENTS}"[{place}] does not match sentence {place} '
                    f"({sentence.text[:_SHOWN]!r}); bring both into one order"
                )
        fields = [
            {**label, "text": sentence.text}
            for label, sentence in zip(labels, sentences, strict=True)
        ]
        return _left(self.statements, fields, "statement")

    def _labels(self, summary: Summary, count: int) -> Sequence[Mapping[str, Any]]:
        if self.statements is None or not self.statements.labels or not count:
            return [{}] * count
        labels = summary.extra.get(STATEMENTS)
        named = ", ".join(self.statements.labels)
        advice = f'give "{STATEMENTS}", a list of objects, one a sentence, or ask for words of text'
        if not isinstance(labels, list) or not all(isinstance(label, dict) for label in labels):
            raise InputError(f"no labels to read {named} from; {advice}")
        if len(labels) != count:
            raise InputError(
                f'"{STATEMENTS}" has {counted(len(labels), "entry", "entries")} and the summary '
                f"{counted(count, 'sentence')}; "
                f"{advice} (--splitter says what a sentence is)"
            )
        return labels


def review_fields(review: Review) -> dict[str, Any]:
    """What conditions may ask of a review."""
    return {**review.extra, "id": review.id, "text": review.text}


def _left(where: Where | None, objects: Sequence[Mapping[str, Any]], what: str) -> Left:
    if where is None:
        return Left(tuple(range(len(objects))), None)
    places = tuple(place for place, fields in enumerate(objects) if where.holds(fields))
    if places:
        return Left(places, None)
    return Left((), f"no {what} satisfies {where}{_why_none(where, objects)}")


def _why_none(where: Where, objects: Sequence[Mapping[str, Any]]) -> str:
    """What no object has that the condition asks for, in brackets; empty where that is not why."""
    if not objects:
        return ""
    if missing := where.missing(objects):
        return f" (none has {', '.join(missing)}; the fields are: {_names(objects)})"
    for clause in where.clauses:
        if clause.finds_no_order(objects):
            return f" (none has a {kind_of(clause)} in {clause.field})"
        named = clause.operator == "=" and clause.field.casefold() != "text"
        if named and not any(map(clause.holds, objects)):
            values = [_plain(field_of(fields, clause.field)) for fields in objects]
            plain = not any(isinstance(value, dict | list | tuple) for value in values)
            texts = sorted({str(value) for value in values if value not in (None, "")})
            if plain and 0 < len(texts) <= _FEW and all(map(_SHORT.fullmatch, texts)):
                return f" ({clause.field} is one of: {', '.join(map(_quoted, texts))})"
    return ""


def kind_of(clause: Clause) -> str:
    """What a clause that compares by order needs, in words."""
    # A year may be meant as a number or as a date.
    wanted = ["number"] if _as_number(clause.values[0]) is not None else []
    wanted += ["date such as 2024-06-30"] if as_date(clause.values[0]) else []
    return " or a ".join(wanted)


def _names(objects: Sequence[Mapping[str, Any]]) -> str:
    """Fields of which an object has a value, sorted; of very many the first."""
    names = {
        str(key)
        for fields in objects
        for key, value in fields.items()
        if _plain(value) not in (None, "")
    }
    return first_of([*map(_quoted, sorted(names, key=str.casefold))], _NAMED)
