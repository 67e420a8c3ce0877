"""Translation edits: the fewest word edits and shifts that a greedy search finds.

The search is Tercom's as sacrebleu writes it down, limits included: runs of at most ten words are
shifted by at most fifty places, distances stay within a beam around the diagonal, and the search
ends after a thousand shifts tried. A result equals sacrebleu's ``translation_edit_rate``.

Source: Snover et al. 2006; sacrebleu 2.6.0, ``metrics/lib_ter.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["translation_edits"]


def translation_edits(words: Sequence[str], reference: Sequence[str]) -> int:
    """Number of edits and shifts from some words to a reference.

    numba is imported on the first call; its machine code is cached on disk.

    >>> translation_edits("boots the are warm".split(), "the boots are warm".split())
    1
    """
    from prevalence.kernels.edits_numba import count_edits

    if not reference:
        return len(words)
    numbers: dict[str, int] = {}
    own, wanted = (
        np.array([numbers.setdefault(word, len(numbers)) for word in part], np.int64)
        for part in (words, reference)
    )
    return int(count_edits(own, wanted))
