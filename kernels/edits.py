"""Translation edits: the fewest word edits and shifts that a greedy search finds.

The search is Tercom's as sacrebleu writes it down, limits included: runs of at most ten words are
shifted by at most fifty places, distances stay within a beam around the diagonal, and the search
ends after a thousand shifts tried. A result equals sacrebleu's ``translation_edit_rate``.

Source: Snover et al. 2006; sacrebleu 2.6.0, ``metrics/lib_ter.py``.
"""

from __future__ import annotations

import math
from itertools import groupby, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.kernels.edits_limits import (
    ADD,
    BEAM,
    DROP,
    FAR,
    KEEP,
    MOST_CANDIDATES,
    REPLACE,
    SHIFT_DISTANCE,
    SHIFTED_WORDS,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["translation_edits", "translation_edits_reference"]


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


def translation_edits_reference(words: Sequence[str], reference: Sequence[str]) -> int:
    """The plain version of :func:`translation_edits`: the same, slow and easy to check.

    >>> translation_edits_reference("boots the are warm".split(), "the boots are warm".split())
    1
    """
    if not reference:
        return len(words)
    left, shifts, tried = list(words), 0, 0
    while True:
        gain, tried, moved = _best_shift(left, reference, tried)
        if tried >= MOST_CANDIDATES or gain <= 0:
            return shifts + _table(left, reference)[-1][-1].cost
        left, shifts = moved, shifts + 1


class _Cell(NamedTuple):
    cost: int
    step: int


def _table(words: Sequence[str], reference: Sequence[str]) -> list[list[_Cell]]:
    """Distances of all beginnings of the words (rows) to all of the reference, within the beam."""
    n, m = len(words), len(reference)
    ratio = m / n if n else 1.0
    beam = math.ceil(ratio / 2 + BEAM) if ratio / 2 > BEAM else BEAM
    table = [[_Cell(j, ADD) for j in range(m + 1)]]
    for i, word in enumerate(words, start=1):
        above, row = table[-1], [_Cell(FAR, KEEP)] * (m + 1)
        diagonal = math.floor(i * ratio)
        for j in range(max(0, diagonal - beam), m + 1 if i == n else min(m + 1, diagonal + beam)):
            ways = [(above[j].cost + 1, DROP)]
            if j:
                equal = word == reference[j - 1]
                ways.insert(0, (above[j - 1].cost + (not equal), KEEP if equal else REPLACE))
                ways.append((row[j - 1].cost + 1, ADD))
            # The first of equal ways counts; one from beyond the beam leads nowhere.
            best = min(ways, key=lambda way: way[0])
            row[j] = _Cell(*best) if best[0] < FAR else row[j]
        table.append(row)
    return table


class _Alignment(NamedTuple):
    """The path of least cost.

    Attributes:
        partner: for each place of the reference, the last word at or before it.
        wrong: which words err.
        missed: which places of the reference err.
    """

    partner: list[int]
    wrong: list[bool]
    missed: list[bool]


def _aligned(table: list[list[_Cell]]) -> _Alignment:
    i, j = len(table) - 1, len(table[0]) - 1
    partner, wrong, missed = [0] * j, [False] * i, [False] * j
    while i or j:
        step = table[i][j].step
        i, j = i - (step != ADD), j - (step != DROP)
        if step != ADD:
            wrong[i] = step != KEEP
        if step != DROP:
            partner[j], missed[j] = (i - 1 if step == ADD else i), step != KEEP
    return _Alignment(partner, wrong, missed)


def _best_shift(
    words: list[str], reference: Sequence[str], tried: int
) -> tuple[int, int, list[str]]:
    """The gain of the best shift, how many were tried so far, and the words after it."""
    table = _table(words, reference)
    aligned = _aligned(table)
    best, after = (-FAR, 0, 0, 0), words
    for i, j in product(range(len(words)), range(len(reference))):
        for length in range(1, _shiftable(words, reference, i, j) + 1):
            for target in _targets(aligned, i, j, length):
                moved = _shifted(words, i, length, target)
                gain = table[-1][-1].cost - _table(moved, reference)[-1][-1].cost
                tried += 1
                if (gain, length, -i, -target) > best:
                    best, after = (gain, length, -i, -target), moved
        if tried >= MOST_CANDIDATES:
            return 0, tried, words
    return (best[0] if best[1] else 0), tried, after


def _shiftable(words: Sequence[str], reference: Sequence[str], i: int, j: int) -> int:
    """How many words from two places on are the same, up to as many as may be shifted."""
    if abs(i - j) > SHIFT_DISTANCE:
        return 0
    pairs = zip(words[i : i + SHIFTED_WORDS], reference[j : j + SHIFTED_WORDS], strict=False)
    same, many = next(groupby(pairs, key=lambda pair: pair[0] == pair[1]))
    return len(list(many)) if same else 0


def _targets(aligned: _Alignment, i: int, j: int, length: int) -> list[int]:
    """Where words from i on may go to stand at j; nowhere when all of them are right already."""
    errs = any(aligned.wrong[i : i + length]) and any(aligned.missed[j : j + length])
    if not errs or i <= aligned.partner[j] < i + length:
        return []
    places = [0 if at < 0 else aligned.partner[at] + 1 for at in range(j - 1, j + length)]
    return [target for target, _ in groupby(places)]


def _shifted(words: list[str], start: int, length: int, target: int) -> list[str]:
    """Words with a run of them moved to another place."""
    end = start + length
    run = words[start:end]
    if target < start:
        return [*words[:target], *run, *words[target:start], *words[end:]]
    # A place inside the run means as far behind it.
    stop = target if target > end else target + length
    return [*words[:start], *words[end:stop], *run, *words[stop:]]
