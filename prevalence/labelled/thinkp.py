"""ThinkP: pairs of key points of a business or product, and which implies which.

Each pair has a relation and the scores of the methods that its authors compare. A pair says
whether its first key point implies its second, as an edge of a hierarchy runs from the particular
to the general.

Source: Cattan et al. 2023, From Key Points to Key Point Hierarchy (IBM, kpa-hierarchy).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prevalence.errors import InputError
from prevalence.readers.key_points import (
    GROUPS,
    STANCES,
    YES_NO,
    KeyPointPair,
    KeyPointTable,
    NamedRow,
    label_of,
    own_scores,
    text_in,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["is_thinkp", "thinkp_table"]

_SIDE = re.compile(r"(?:kp|key_?point)_?(?:text_?)?(?P<side>[12abij])")
_RELATIONS = ("relation", "label", "gold")
_SPELLINGS = {
    "entailment": True, "entails": True, "implies": True, "equivalence": True, "equivalent": True,
    "not_entailment": False, "neutral": False, "none": False, "no_relation": False,
    "unrelated": False, "contradiction": False, "entailed_by": False,
    **YES_NO,
}  # fmt: skip
"""What a relation says of the first key point and the second; a name without direction is none."""


def is_thinkp(row: NamedRow) -> bool:
    """Whether a first row is of a table of pairs of key points."""
    return len(_sides(row)) == 2


def _sides(row: NamedRow) -> list[str]:
    """The columns of the first and the second key point."""
    sided = {match["side"]: name for name in row.cells if (match := _SIDE.fullmatch(name))}
    return [sided[side] for side in sorted(sided)]


def thinkp_table(rows: Sequence[NamedRow]) -> KeyPointTable:
    """Take the rows of a table of pairs of key points as pairs.

    Args:
        rows: at least one.

    Returns:
        The pairs, in the order of the rows; the first key point is the premise.

    Raises:
        InputError: a row lacks something, or a pair stands twice.
    """
    first, second = _sides(rows[0])
    scores = own_scores(rows, (first, second, *_RELATIONS, *GROUPS, *STANCES))
    pairs: dict[tuple[str, ...], KeyPointPair] = {}
    for row, own in zip(rows, scores, strict=True):
        premise, hypothesis = text_in(row, (first,)), text_in(row, (second,))
        topic = row.text(GROUPS), row.text(STANCES)
        key = (*topic, premise, hypothesis)
        if key in pairs:
            raise InputError(f"{row.where}: {premise!r} and {hypothesis!r} appear twice; keep one")
        label = label_of(row, _RELATIONS, _SPELLINGS)
        pairs[key] = KeyPointPair(premise, hypothesis, label, *topic, premise, own)
    return KeyPointTable(tuple(pairs.values()), "sentence")
