"""Names of figures → how tables and pages call them."""

from __future__ import annotations

from dataclasses import fields

from prevalence.records import Profile

__all__ = ["figure_name"]

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
