"""Rivals that look at no meaning: any sentences, and the first ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from prevalence.extractive.candidates import Candidates

__all__ = ["drawn", "leading"]


def drawn(candidates: Candidates, seed: list[int]) -> list[int]:
    """All places in random order: sentences are drawn without replacement.

    Args:
        candidates: the sentences.
        seed: of the generator.

    Returns:
        Positions in ``candidates.places``.

    Source: Malon 2023, section 5; the draw stops when the length is exceeded.
    """
    return list(np.random.default_rng(seed).permutation(len(candidates.places)).tolist())


def leading(candidates: Candidates) -> list[int]:
    """The first sentence of every review in source order, then the second of every review, ...

    Args:
        candidates: the sentences.

    Returns:
        Positions in ``candidates.places``.
    """
    seen: dict[int, int] = {}
    turns = []
    for position, place in enumerate(candidates.places):
        turn = seen.get(place.review, 0)
        seen[place.review] = turn + 1
        turns.append((turn, position))
    return [position for _, position in sorted(turns)]
