"""The compiled loops of :mod:`prevalence.kernels.edits`; importing it imports numba.

A cell of the table of distances holds the cost, and the step by which it was reached.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from prevalence.kernels.compiling import compiled
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

__all__ = ["count_edits"]


@compiled
def _fill(words: Any, reference: Any, costs: Any, steps: Any, start: int) -> Any:
    """Fill the rows of the table after ``start``; the cost of all words is returned."""
    n, m = words.size, reference.size
    ratio = m / n if n else 1.0
    beam = math.ceil(ratio / 2 + BEAM) if ratio / 2 > BEAM else BEAM
    if start == 0:
        for j in range(m + 1):
            costs[0, j], steps[0, j] = j, ADD
    for i in range(start + 1, n + 1):
        diagonal = math.floor(i * ratio)
        low = max(0, diagonal - beam)
        high = m + 1 if i == n else min(m + 1, diagonal + beam)
        costs[i, :] = FAR
        for j in range(low, high):
            if j == 0:
                costs[i, 0], steps[i, 0] = costs[i - 1, 0] + 1, DROP
                continue
            equal = words[i - 1] == reference[j - 1]
            best = costs[i - 1, j - 1] + (0 if equal else 1)
            step = KEEP if equal else REPLACE
            if best > costs[i - 1, j] + 1:
                best, step = costs[i - 1, j] + 1, DROP
            if best > costs[i, j - 1] + 1:
                best, step = costs[i, j - 1] + 1, ADD
            if best < FAR:
                costs[i, j], steps[i, j] = best, step
    return costs[n, m]


@compiled
def _align(steps: Any, partner: Any, wrong: Any, missed: Any) -> None:
    """Last word at or before each place of the reference, and which words and places err."""
    i, j = wrong.size, missed.size
    while i > 0 or j > 0:
        step = steps[i, j]
        if step == ADD:
            j -= 1
            partner[j], missed[j] = i - 1, 1
        elif step == DROP:
            i -= 1
            wrong[i] = 1
        else:
            i, j = i - 1, j - 1
            partner[j] = i
            wrong[i] = missed[j] = step == REPLACE


@compiled
def _shift(words: Any, start: int, length: int, target: int, out: Any) -> None:
    """Words with a run of them moved to another place: two neighbouring parts change places."""
    end = start + length
    if target < start:
        low, middle, high = target, start, end
    elif target > end:
        low, middle, high = start, end, target
    else:
        low, middle, high = start, end, min(target + length, words.size)
    out[:low] = words[:low]
    out[low : low + high - middle] = words[middle:high]
    out[low + high - middle : high] = words[low:middle]
    out[high:] = words[high:]


@compiled
def _common(first: Any, second: Any) -> int:
    """Length of the common beginning."""
    at = 0
    while at < first.size and first[at] == second[at]:
        at += 1
    return at


@compiled
def _run(words: Any, reference: Any, i: int, j: int) -> int:
    """Words in common from two places on, as many as may be shifted."""
    length = 0
    while (
        length < SHIFTED_WORDS
        and i + length < words.size
        and j + length < reference.size
        and words[i + length] == reference[j + length]
    ):
        length += 1
    return length


@compiled
def _best_shift(words: Any, reference: Any, tables: Any, tried: int) -> Any:
    """The gain of the best shift, how many were tried so far, and the words after it."""
    n, m = words.size, reference.size
    costs, steps, other_costs, other_steps = tables
    before = _fill(words, reference, costs, steps, 0)
    partner = np.zeros(m, np.int64)
    wrong, missed = np.zeros(n, np.int64), np.zeros(m, np.int64)
    _align(steps, partner, wrong, missed)
    other_costs[:], other_steps[:] = costs, steps
    moved, last, best = words.copy(), words.copy(), words.copy()
    rank = (-FAR, 0, 0, 0)
    for i in range(n):
        for j in range(max(0, i - SHIFT_DISTANCE), min(m, i + SHIFT_DISTANCE + 1)):
            for length in range(1, _run(words, reference, i, j) + 1):
                if not wrong[i : i + length].any() or not missed[j : j + length].any():
                    continue
                if i <= partner[j] < i + length:
                    continue
                previous = -1
                for place in range(j - 1, j + length):
                    target = 0 if place == -1 else partner[place] + 1
                    if target == previous:
                        continue
                    previous = target
                    _shift(words, i, length, target, moved)
                    # Rows of a beginning shared with the last words tried are there already.
                    known = _common(moved, last)
                    cost = _fill(moved, reference, other_costs, other_steps, min(known, n - 1))
                    last[:] = moved
                    tried += 1
                    found = (before - cost, length, -i, -target)
                    if found > rank:
                        rank = found
                        best[:] = moved
                if tried >= MOST_CANDIDATES:
                    return 0, tried, best
    return rank[0] if rank[1] else 0, tried, best


@compiled
def count_edits(words: Any, reference: Any) -> Any:
    """Edits and shifts; both texts are int64, the reference is not empty."""
    n, m = words.size, reference.size
    tables = (
        np.empty((n + 1, m + 1), np.int64), np.empty((n + 1, m + 1), np.int8),
        np.empty((n + 1, m + 1), np.int64), np.empty((n + 1, m + 1), np.int8),
    )  # fmt: skip
    shifts = tried = 0
    while True:
        gain, tried, moved = _best_shift(words, reference, tables, tried)
        if tried >= MOST_CANDIDATES or gain <= 0:
            break
        shifts += 1
        words = moved
    return shifts + _fill(words, reference, tables[0], tables[1], 0)
