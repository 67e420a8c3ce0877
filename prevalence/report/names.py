"""Names of figures and quantities of rows → how tables and pages call them."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.records import Profile

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["figure_name", "quantity_note"]

_OWN = ("soft_prevalence", "coverage_parity", *(field.name for field in fields(Profile)))
_NAMES = {
    **{name: name.replace("_", " ") for name in _OWN},
    "ceiling_share": "of ceiling",
    "sap": "SAP",
    "review_sap": "review SAP",
}


def figure_name(name: str) -> str:
    """A figure of rows of ``score`` as people read it; the id of any other metric as it is.

    >>> [figure_name(name) for name in ("equal_coverage", "review_sap", "my_metric")]
    ['equal coverage', 'review SAP', 'my_metric']
    """
    return _NAMES.get(name, name)


def quantity_note(quantity: Mapping[str, Any]) -> str:
    """A quantity of people in a sentence, and whether the reviews bear it out.

    Args:
        quantity: as rows have it.

    Raises:
        InputError: it is none that ``score --quantities`` writes.

    >>> quantity_note({"text": "Most users", "low": 0.5, "high": 1.0, "agrees": False})
    'says "Most users" (50–100%): the reviews disagree'
    """
    verdict = {True: "the reviews agree", False: "the reviews disagree", None: "not asked"}
    try:
        bounds = sorted({round(100 * quantity[name]) for name in ("low", "high")})
        share = "–".join(map(str, bounds))
        return f'says "{quantity["text"]}" ({share}%): {verdict[quantity["agrees"]]}'
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError(f"not a scored summary: quantity cannot be {quantity!r:.60}") from None
