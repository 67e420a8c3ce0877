"""Correlation coefficients with p-values: one pair of vectors, or row by row."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from prevalence.errors import ConfigurationError, InputError
from prevalence.kernels.correlation import KINDS, Kind, row_correlations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.stats.arrays import Floats, Ints

__all__ = [
    "KINDS",
    "UNDEFINED",
    "Coefficient",
    "Coefficients",
    "Kind",
    "Undefined",
    "check_kind",
    "coefficient",
    "coefficients",
    "mean_coefficient",
    "settle",
    "stars",
]

Undefined = Literal["drop", "zero", "fail"]
UNDEFINED: tuple[Undefined, ...] = get_args(Undefined)
"""What a coefficient of constant values becomes: left out, 0, or an error."""

_EXACT_UP_TO = 33
"""Most points for which SciPy's kendalltau takes the exact distribution by itself."""


class Coefficient(NamedTuple):
    """A coefficient of two vectors.

    Attributes:
        value: in [-1, 1]; NaN where it is undefined (a constant side, fewer than two points).
        p: two-sided p-value of no association; NaN where the value is.
        n: number of points that have both values.
    """

    value: float
    p: float
    n: int


class Coefficients(NamedTuple):
    """Coefficients of many rows: float64, float64 and int64 of the rows' shape."""

    value: Floats
    p: Floats
    n: Ints


def coefficient(
    kind: Kind, x: Sequence[float] | Floats, y: Sequence[float] | Floats
) -> Coefficient:
    """Correlate two vectors; a point without both values (NaN) is left out.

    Args:
        kind: ``kendall`` (tau-b), ``spearman`` or ``pearson``.
        x: float [n].
        y: float [n].

    Returns:
        Value, two-sided p and number of points.

    Raises:
        ConfigurationError: there is no coefficient of that name.
        InputError: the lengths differ.

    >>> value, p, n = coefficient("kendall", [1, 2, 3, 4], [1, 2, 4, 3])
    >>> round(value, 4), round(p, 4), n
    (0.6667, 0.3333, 4)
    """
    found = coefficients(kind, np.asarray(x, np.float64), np.asarray(y, np.float64))
    return Coefficient(float(found.value), float(found.p), int(found.n))


def coefficients(kind: Kind, x: Floats, y: Floats) -> Coefficients:
    """Correlate the last axis of x with that of y, row by row.

    Args:
        kind: ``kendall`` (tau-b), ``spearman`` or ``pearson``.
        x: float64 [..., n]; NaN marks a missing value, and takes its point out of the row.
        y: float64 [..., n], broadcast against x.

    Returns:
        Values, p-values and numbers of points [...]. The p-values are those of SciPy's functions
        with default options: Kendall's exact without ties up to 33 points and normal otherwise,
        Spearman's and Pearson's from Student's t.

    Raises:
        ConfigurationError: there is no coefficient of that name.
        InputError: the shapes do not fit.
    """
    check_kind(kind)
    try:
        x, y = np.broadcast_arrays(x, y)
    except ValueError:
        raise InputError(f"x {x.shape} and y {y.shape} are of different lengths") from None
    shape, size = x.shape[:-1], x.shape[-1]
    rows = int(np.prod(shape))
    x, y = x.reshape(rows, size), y.reshape(rows, size)
    present = ~(np.isnan(x) | np.isnan(y))
    value = row_correlations(kind, x, y, present.astype(np.int64))
    n = present.sum(axis=1)
    p = _kendall_p(x, y, present, value) if kind == "kendall" else _student_p(value, n)
    return Coefficients(value.reshape(shape), p.reshape(shape), n.reshape(shape))


def settle(
    values: Floats,
    undefined: Undefined,
    *,
    points: Ints | None = None,
    what: str = "a coefficient",
) -> Floats:
    """Apply the rule for undefined coefficients.

    Args:
        values: float64 of any shape.
        undefined: ``drop`` keeps NaN (means leave it out), ``zero`` makes it 0, ``fail`` raises.
        points: int64 of that shape, the points behind each value; below two nothing was
            correlated, which is missing data and stays NaN. None: there were two.
        what: the thing that is undefined, for the message.

    Raises:
        InputError: a value of two points or more is NaN under ``fail``.
        ConfigurationError: there is no rule of that name.
    """
    if undefined not in UNDEFINED:
        raise ConfigurationError(f"undefined must be {_listed(UNDEFINED)}, not {undefined!r}")
    constant = np.isnan(values) if points is None else np.isnan(values) & (points >= 2)
    if undefined == "fail" and constant.any():
        raise InputError(
            f"{what}: {int(constant.sum())} of {values.size} coefficients are undefined (constant "
            "values); leave such rows out, or choose drop or zero"
        )
    return np.where(constant, 0.0, values) if undefined == "zero" else values


def mean_coefficient(values: Floats) -> Floats:
    """Mean over the last axis of the values that are defined; NaN where none is."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=-1)
    total = np.where(defined, values, 0.0).sum(axis=-1)
    mean: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean


def stars(p: float, thresholds: Sequence[float] = (0.05, 0.01)) -> str:
    """One star for each threshold that p does not exceed.

    >>> stars(0.05), stars(0.01), stars(0.06), stars(float("nan"))
    ('*', '**', '', '')
    """
    return "*" * sum(p <= threshold for threshold in thresholds)


def check_kind(kind: str) -> None:
    """Refuse a name that is no coefficient's.

    Raises:
        ConfigurationError: naming those there are.
    """
    if kind not in KINDS:
        raise ConfigurationError(f"a coefficient is {_listed(KINDS)}, not {kind!r}")


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _student_p(value: Floats, n: Ints) -> Floats:
    """P of r or rho under Student's t with n - 2 degrees; 1 for two points, which prove nothing."""
    from scipy.special import stdtr

    freedom = np.maximum(n - 2, 1)
    with np.errstate(divide="ignore"):
        t = np.abs(value) * np.sqrt(freedom / ((1.0 - value) * (1.0 + value)))
    p: Floats = np.where(n > 2, 2.0 * stdtr(freedom, -t), np.where(np.isnan(value), np.nan, 1.0))
    return p


class _Ties(NamedTuple):
    """Of one row: tied pairs, and the two sums over tie groups in the variance of the score."""

    pairs: int
    triples: int
    spread: int


def _ties(values: Floats) -> _Ties:
    counts = np.unique(values, return_counts=True)[1].astype(object)
    return _Ties(
        int((counts * (counts - 1) // 2).sum()),
        int((counts * (counts - 1) * (counts - 2)).sum()),
        int((counts * (counts - 1) * (2 * counts + 5)).sum()),
    )


def _kendall_p(x: Floats, y: Floats, present: NDArray[np.bool_], value: Floats) -> Floats:
    p = np.full(len(value), np.nan)
    for row in np.flatnonzero(~np.isnan(value)):
        keep = present[row]
        p[row] = _one_kendall_p(float(value[row]), x[row, keep], y[row, keep])
    return p


def _one_kendall_p(tau: float, x: Floats, y: Floats) -> float:
    """P of one tau-b, exact or normal as SciPy's kendalltau chooses.

    Source: Kendall 1970, chapter 4 (the variance with ties) and 5 (the exact distribution).
    """
    from scipy.special import erfc

    n = x.size
    total = n * (n - 1) // 2
    a, b = _ties(x), _ties(y)
    score = round(tau * float(np.sqrt(float(total - a.pairs)) * np.sqrt(float(total - b.pairs))))
    if a.pairs == b.pairs == 0:
        inversions = (total - abs(score)) // 2
        if n <= _EXACT_UP_TO or inversions <= 1:
            return _exact_kendall_p(n, inversions)
    base = n * (n - 1)
    variance = (base * (2 * n + 5) - a.spread - b.spread) / 18 + 2 * a.pairs * b.pairs / base
    variance += a.triples * b.triples / (9 * base * (n - 2))
    return float(erfc(abs(score) / np.sqrt(2.0 * variance)))


def _exact_kendall_p(n: int, inversions: int) -> float:
    """Share of orders with so few inversions or as few agreements; 1 at the middle."""
    if 4 * inversions >= n * (n - 1):
        return 1.0
    if inversions <= 1:
        with np.errstate(over="ignore"):  # Beyond 170 factors p is 0, as it should be.
            return float(2.0 / np.prod(np.arange(1.0, n + 1 - inversions)))
    return float(min(1.0, 2.0 * _inversion_shares(n)[: inversions + 1].sum()))


@cache
def _inversion_shares(n: int) -> Floats:
    """Share of the orders of n things by their number of inversions, 0 to n(n-1)/2."""
    shares = np.ones(1)
    for size in range(2, n + 1):
        shares = np.convolve(shares, np.full(size, 1.0 / size))
    return shares
