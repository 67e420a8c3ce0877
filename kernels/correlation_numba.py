"""The compiled loops of :mod:`prevalence.kernels.correlation`; importing it imports numba.

A coefficient is named by its place in KINDS: 0 Kendall, 1 Spearman, 2 Pearson.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from prevalence.kernels.compiling import compiled

__all__ = ["correlate_resamples", "correlate_rows"]

_compiled = partial(compiled, error_model="numpy")

_FEW = 48
"""Up to this many points, comparing all pairs is faster than sorting."""


@_compiled
def _defined(x, y, w):  # type: ignore[no-untyped-def]
    """Whether both sides vary and hold no NaN among the points that were drawn."""
    first = -1
    x_varies, y_varies = False, False
    for i in range(len(w)):
        if w[i] > 0:
            if np.isnan(x[i]) or np.isnan(y[i]):
                return False
            if first < 0:
                first = i
            x_varies |= x[i] != x[first]
            y_varies |= y[i] != y[first]
    return x_varies and y_varies


@_compiled
def _bounded(value):  # type: ignore[no-untyped-def]
    """Undo a last digit of rounding beyond 1; NaN stays."""
    return 1.0 if value > 1.0 else -1.0 if value < -1.0 else value


@_compiled
def _tau_of_pairs(x, y, w):  # type: ignore[no-untyped-def]
    """Tau-b by comparing all pairs; whole numbers until the last line."""
    score, x_pairs, y_pairs = 0, 0, 0
    for i in range(len(w)):
        if w[i] > 0:
            for j in range(i):
                pairs = w[i] * w[j]
                x_sign = (x[i] > x[j]) - (x[i] < x[j])
                y_sign = (y[i] > y[j]) - (y[i] < y[j])
                score += pairs * x_sign * y_sign
                x_pairs += pairs * (x_sign != 0)
                y_pairs += pairs * (y_sign != 0)
    return _bounded(score / np.sqrt(float(x_pairs) * float(y_pairs)))


@_compiled
def _codes(values, order):  # type: ignore[no-untyped-def]
    """Rank without gaps of each value, and the number of distinct values."""
    codes = np.zeros(len(values), np.int64)
    for place in range(1, len(order)):
        risen = values[order[place]] != values[order[place - 1]]
        codes[order[place]] = codes[order[place - 1]] + risen
    return codes, (codes[order[-1]] + 1 if len(order) else 0)


@_compiled
def _below(tree, code):  # type: ignore[no-untyped-def]
    """Weight of the codes below this one in a Fenwick tree."""
    total = 0
    while code > 0:
        total += tree[code]
        code &= code - 1
    return total


@_compiled
def _insert(tree, code, weight):  # type: ignore[no-untyped-def]
    place = code + 1
    while place < len(tree):
        tree[place] += weight
        place += place & -place


@_compiled
def _tau_of_codes(order, x_codes, y_codes, w, tree):  # type: ignore[no-untyped-def]
    """Tau-b in n log k: walk up x; a tree over the k values of y counts what lies below.

    Args:
        order: points by rising x.
        x_codes: ranks of x without gaps.
        y_codes: likewise of y.
        w: weights.
        tree: room of k + 1 whole numbers; the loop clears it.
    """
    tree[:] = 0
    seen, score, x_ties = 0, 0, 0
    start = 0
    while start < len(order):
        end, group = start, 0
        while end < len(order) and x_codes[order[end]] == x_codes[order[start]]:
            i = order[end]
            if w[i] > 0:
                below = _below(tree, y_codes[i])
                above = seen - _below(tree, y_codes[i] + 1)
                score += w[i] * (below - above)
                group += w[i]
            end += 1
        for place in range(start, end):
            if w[order[place]] > 0:
                _insert(tree, y_codes[order[place]], w[order[place]])
        seen += group
        x_ties += group * group
        start = end
    y_ties = 0
    for code in range(len(tree) - 1):
        weight = _below(tree, code + 1) - _below(tree, code)
        y_ties += weight * weight
    x_pairs, y_pairs = (seen * seen - x_ties) // 2, (seen * seen - y_ties) // 2
    return _bounded(score / np.sqrt(float(x_pairs) * float(y_pairs)))


@_compiled
def _fill_ranks(order, codes, w, ranks):  # type: ignore[no-untyped-def]
    """Mean ranks of a resample, from the order of all points."""
    before = 0
    start = 0
    while start < len(order):
        end, group = start, 0
        while end < len(order) and codes[order[end]] == codes[order[start]]:
            group += w[order[end]]
            end += 1
        for place in range(start, end):
            ranks[order[place]] = before + (group + 1) / 2.0
        before += group
        start = end


@_compiled
def _pearson(x, y, w):  # type: ignore[no-untyped-def]
    """Pearson's r in two passes, deviations scaled by their largest so that none overflows."""
    total, x_mean, y_mean = 0, 0.0, 0.0
    for i in range(len(w)):
        if w[i] > 0:
            total += w[i]
            x_mean += (x[i] - x_mean) * (w[i] / total)
            y_mean += (y[i] - y_mean) * (w[i] / total)
    x_scale, y_scale = 0.0, 0.0
    for i in range(len(w)):
        if w[i] > 0:
            x_scale = max(x_scale, abs(x[i] - x_mean))
            y_scale = max(y_scale, abs(y[i] - y_mean))
    xx, yy, xy = 0.0, 0.0, 0.0
    for i in range(len(w)):
        if w[i] > 0:
            dx, dy = (x[i] - x_mean) / x_scale, (y[i] - y_mean) / y_scale
            xx += w[i] * dx * dx
            yy += w[i] * dy * dy
            xy += w[i] * dx * dy
    return _bounded(xy / np.sqrt(xx * yy))


@_compiled
def correlate_rows(kind, x, y, w, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` (float64 [R]) with the coefficient of each row of x, y, w ([R, n])."""
    size = x.shape[1]
    x_ranks, y_ranks = np.empty(size), np.empty(size)
    for row in range(x.shape[0]):
        if not _defined(x[row], y[row], w[row]):
            out[row] = np.nan
        elif kind == 2:
            out[row] = _pearson(x[row], y[row], w[row])
        elif kind == 0 and size <= _FEW:
            out[row] = _tau_of_pairs(x[row], y[row], w[row])
        else:
            x_order, y_order = np.argsort(x[row]), np.argsort(y[row])
            x_codes, _ = _codes(x[row], x_order)
            y_codes, levels = _codes(y[row], y_order)
            if kind == 0:
                tree = np.empty(levels + 1, np.int64)
                out[row] = _tau_of_codes(x_order, x_codes, y_codes, w[row], tree)
            else:
                _fill_ranks(x_order, x_codes, w[row], x_ranks)
                _fill_ranks(y_order, y_codes, w[row], y_ranks)
                out[row] = _pearson(x_ranks, y_ranks, w[row])


@_compiled
def correlate_resamples(kind, x, y, w, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` (float64 [B]) with the coefficient of x and y ([n]) under each row of w."""
    x_order, y_order = np.argsort(x), np.argsort(y)
    x_codes, x_levels = _codes(x, x_order)
    y_codes, y_levels = _codes(y, y_order)
    if x_levels < y_levels:
        # Tau is symmetric, and the tree is smaller over the side with fewer values.
        x_order, y_order = y_order, x_order
        x_codes, y_codes, y_levels = y_codes, x_codes, x_levels
    tree = np.empty(y_levels + 1, np.int64)
    x_ranks, y_ranks = np.empty(len(x)), np.empty(len(x))
    for row in range(w.shape[0]):
        if not _defined(x, y, w[row]):
            out[row] = np.nan
        elif kind == 2:
            out[row] = _pearson(x, y, w[row])
        elif kind == 0:
            out[row] = _tau_of_codes(x_order, x_codes, y_codes, w[row], tree)
        else:
            _fill_ranks(x_order, x_codes, w[row], x_ranks)
            _fill_ranks(y_order, y_codes, w[row], y_ranks)
            out[row] = _pearson(x_ranks, y_ranks, w[row])
