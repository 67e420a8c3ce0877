"""Whether high or low values of a metric are good, by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.baselines.registry import entry_of
from prevalence.errors import ConfigurationError
from prevalence.meta.table import own_dimension, unrated_dimension
from prevalence.scored import PROFILE_FIGURES

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["direction"]

_OWN = "prevalence"
_LOW = frozenset(
    ("contested", "polarity_distance", "equal_coverage", "genericness", "review_genericness")
)
"""Figures of a profile of which low values are good; docs/profile.md says so of each."""

_SIGNS = {True: 1, False: -1, None: 0}


def direction(metric: str, dimensions: Collection[str] = ()) -> int:
    """Whether high or low values are good.

    Known are the figures of ``score``, metrics of ``baselines``, and what judges a dimension, all
    with or without the label of a file before them, and in any case.

    Args:
        metric: a metric's name, or one of the dimensions, which people rate the higher the better.
        dimensions: the rated dimensions.

    Returns:
        1 where high is good, -1 where low is, 0 where neither is or that is not known.

    >>> [direction(name) for name in ("TER", "B:ter", "js:against=reviews", "rouge-1", "words")]
    [-1, -1, -1, 1, 0]
    >>> direction("SENT:prevalence.contested"), direction("judge.style", ["style"])
    (-1, 1)
    """
    family, _, figure = metric.rpartition(":")[2].partition(".")
    if family == _OWN and figure in ("", *PROFILE_FIGURES):
        return -1 if figure in _LOW else 1
    judges = own_dimension(metric, dimensions)[1] or unrated_dimension(metric, dimensions)
    if metric in dimensions or judges is not None:
        return 1
    # What stands before a colon may be a metric's name too, and is a label all the same.
    for name in (metric.partition(":")[2], metric):
        try:
            return _SIGNS[entry_of(name.casefold()).higher_is_better]
        except ConfigurationError:
            continue
    return 0
