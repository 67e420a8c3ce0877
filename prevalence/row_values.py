"""What a value of a stored row may be: rules, and the refusal of rows that break them.

Rows come back from files, to which anything may have happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prevalence.errors import InputError

__all__ = ["Rule", "check", "each", "listing", "maybe", "natural", "number", "of", "share"]

Rule = Callable[[object], bool]
"""Tells whether a value fits."""

_BEYOND = 1e300
"""No figure, and no number that becomes a figure, is as large."""
_ROUNDING = 1e-6


def number(value: object) -> bool:
    """Whether it is a finite number within bounds.

    >>> number(0.5), number(True), number(None), number(10**400)
    (True, False, False, False)
    """
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    return usable and abs(value) < _BEYOND  # type: ignore[arg-type]


def natural(value: object) -> bool:
    """Whether it is a whole number from 0 on."""
    return type(value) is int and 0 <= value < _BEYOND


def share(value: object) -> bool:
    """Whether it is a number from 0 to 1, up to rounding.

    >>> share(0.5), share(1), share(1.2), share(-0.1)
    (True, True, False, False)
    """
    return number(value) and -_ROUNDING <= value <= 1.0 + _ROUNDING  # type: ignore[operator]


def of(*kinds: type) -> Rule:
    """The rule of values of these types."""
    return lambda value: isinstance(value, kinds)


def maybe(fits: Rule) -> Rule:
    """The rule of null, and of values that fit."""
    return lambda value: value is None or fits(value)


def listing(fits: Rule, *, size: int | None = None) -> Rule:
    """The rule of lists whose values fit, of that size where one is given.

    >>> listing(natural)([0, 3]), listing(number, size=2)([0.1])
    (True, False)
    """
    return lambda value: (
        isinstance(value, list) and size in (None, len(value)) and all(map(fits, value))
    )


def each(fits: Rule) -> Rule:
    """The rule of objects whose values fit."""
    return lambda value: isinstance(value, dict) and all(map(fits, value.values()))


def check(item: object, rules: Mapping[str, Rule], what: str, *, complete: bool = False) -> None:
    """Refuse what is no object, or has a value that breaks its rule.

    Args:
        item: what was read.
        rules: a rule for each key.
        what: what the object should belong to, for the message: "a scored summary".
        complete: refuse it too if a key is missing.

    Raises:
        InputError: it does not fit.
    """
    if not isinstance(item, dict):
        raise InputError(f"not {what}: {_shown(item)} is no object")
    for key, fits in rules.items():
        if key in item and not fits(item[key]):
            raise InputError(f"not {what}: {key} cannot be {_shown(item[key])}")
        if complete and key not in item:
            raise InputError(f"not {what}: {key} is missing")


def _shown(value: object) -> str:
    try:
        return f"{value!r:.60}"
    except ValueError:  # Python writes no whole number of thousands of digits.
        return "a number of so many digits"
