"""Limits and steps of the search for translation edits, plain and compiled."""

from __future__ import annotations

__all__ = ["ADD", "BEAM", "DROP", "FAR", "KEEP", "MOST_CANDIDATES", "REPLACE", "SHIFTED_WORDS",
           "SHIFT_DISTANCE"]  # fmt: skip

SHIFTED_WORDS = 10
SHIFT_DISTANCE = 50
BEAM = 25
MOST_CANDIDATES = 1000
FAR = 10**16
"""A cost beyond all others."""

KEEP, REPLACE, DROP, ADD = 0, 1, 2, 3
"""Steps: both texts go on, or the words alone, or the reference alone."""
