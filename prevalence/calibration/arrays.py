"""Checked columns of scores and labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from prevalence.errors import InputError

__all__ = ["Bools", "Floats", "Labels", "Scores", "checked_pairs"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Scores = Sequence[float] | Floats
Labels = Sequence[int] | Sequence[bool] | NDArray[np.bool_] | NDArray[np.int64] | Floats


def checked_pairs(scores: Scores, labels: Labels) -> tuple[Floats, Bools]:
    """Scores and labels as arrays.

    Args:
        scores: [n], finite.
        labels: [n] of 0 and 1.

    Returns:
        float64 [n] and bool [n].

    Raises:
        InputError: lengths differ, a class is missing, or a score is not finite.
    """
    s = np.asarray(scores, dtype=np.float64)
    y = np.asarray(labels).astype(np.bool_)
    if s.shape != y.shape or s.ndim != 1:
        raise InputError(f"scores {s.shape} and labels {y.shape} must be equally long lists")
    if y.all() or not y.any():
        raise InputError("both positive and negative labels are needed for this figure")
    if not np.isfinite(s).all():
        raise InputError("a score is not a finite number; leave that pair out")
    return s, y
