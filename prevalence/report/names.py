"""Names of figures and quantities of rows → how tables and pages call them."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from prevalence.errors import InputError
from prevalence.scored import PROFILE_FIGURES, Profile
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["figure_name", "metric_key", "quantity_note", "repeated_note"]

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


def metric_key(name: str) -> str:
    """A metric of ``baselines`` under a name that no figure of a profile has.

    >>> metric_key("coverage"), metric_key("rouge-1")
    ('coverage (baselines)', 'rouge-1')
    """
    return f"{name} (baselines)" if name in PROFILE_FIGURES else name


def quantity_note(quantity: Mapping[str, Any], n_reviews: int) -> str:
    """A quantity of people in a sentence, and whether the reviews bear it out.

    Args:
        quantity: as rows have it.
        n_reviews: reviews of the row.

    Raises:
        InputError: it is none that ``score --quantities`` writes.

    >>> most = {"text": "Most", "low": 0.5, "high": 1.0}
    >>> quantity_note({**most, "agrees": False}, 12)
    'says "Most" (50–100%): the reviews disagree'
    >>> quantity_note({**most, "agrees": True, "support": 3}, 12)
    'says "Most" (50–100%): not refuted (3 of 12)'
    >>> quantity_note({**most, "agrees": None, "of": "families"}, 12)
    'says "Most" of families: not compared'
    """
    verdict = {True: "the reviews agree", False: "the reviews disagree", None: "not asked"}
    try:
        if quantity.get("of") is not None:
            return f'says "{quantity["text"]}" of {quantity["of"]}: not compared'
        bounds = sorted({round(100 * quantity[name]) for name in ("low", "high")})
        share = "–".join(map(str, bounds))
        return f'says "{quantity["text"]}" ({share}%): ' + (
            _doubt(quantity, n_reviews) or verdict[quantity["agrees"]]
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise InputError(f"not a scored summary: quantity cannot be {quantity!r:.60}") from None


def repeated_note(summaries: int) -> str:
    """Says that so many summaries are second ones of a system and an id."""
    again = counted(summaries, "summary has", "summaries have")
    return (
        f"{again} the id and the system of an earlier one; each counts in the means "
        "(prevalence report leaves out equal rows)"
    )


def _doubt(quantity: Mapping[str, Any], n_reviews: int) -> str | None:
    """What is said of a share outside the range that chance may have put there; None of others."""
    support = quantity.get("support")  # older rows lack it
    if quantity["agrees"] is not True or support is None:
        return None
    low, high = quantity["low"], quantity["high"]
    # A share alone ("80%") can only be met to the nearest review.
    near = 0.5 if low == high else 0.0
    inside = low * n_reviews - near <= support <= high * n_reviews + near
    return None if inside else f"not refuted ({support:,} of {n_reviews:,})"
