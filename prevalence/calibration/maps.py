"""Maps from scores to calibrated probabilities, fitted to labelled pairs.

All are monotone: an order of pairs, and so a decision at a threshold, does not change, while soft
prevalence, Brier score and calibration error do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from prevalence.calibration.arrays import Bools, Floats, Labels, Scores, checked_pairs
from prevalence.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MAPS", "IsotonicMap", "LogitMap", "ScoreMap", "fit_map", "read_map"]

_EDGE = 1e-7
"""Scores are kept this far from 0 and 1, where log-odds have no value; float32 resolves 6e-8."""
_STEPS = 100
_STEEPEST = 1e3
"""Pairs that one threshold separates would want an infinite slope."""


class ScoreMap(Protocol):
    """A monotone map of scores in [0, 1] to probabilities."""

    def __call__(self, scores: Floats) -> Floats:
        """Probabilities of scores, any shape."""
        ...

    def to_json(self) -> dict[str, Any]:
        """The form that :func:`read_map` reads."""
        ...


@dataclass(frozen=True, slots=True)
class LogitMap:
    """σ(scale · logit(score) + shift): temperature 1/scale where the shift is 0, else Platt.

    Source: Guo et al. 2017 (temperature); Platt 1999.
    """

    scale: float
    shift: float = 0.0

    def __call__(self, scores: Floats) -> Floats:
        """Probabilities of scores, any shape."""
        return _sigmoid(self.scale * _logit(scores) + self.shift)

    def to_json(self) -> dict[str, Any]:
        """The form that :func:`read_map` reads."""
        return {"kind": "logit", "scale": self.scale, "shift": self.shift}


@dataclass(frozen=True, slots=True)
class IsotonicMap:
    """The non-decreasing function of least squares, linear between the scores it was fitted to.

    Attributes:
        scores: increasing.
        values: non-decreasing probabilities at them; constant beyond both ends.
    """

    scores: tuple[float, ...]
    values: tuple[float, ...]

    def __call__(self, scores: Floats) -> Floats:
        """Probabilities of scores, any shape."""
        return np.interp(scores, self.scores, self.values)

    def to_json(self) -> dict[str, Any]:
        """The form that :func:`read_map` reads."""
        return {"kind": "isotonic", "scores": list(self.scores), "values": list(self.values)}


MAPS = ("none", "temperature", "platt", "isotonic")
"""Kinds of map by the name that ``--map`` takes."""


def fit_map(kind: str, scores: Scores, labels: Labels) -> ScoreMap | None:
    """Fit a map.

    Args:
        kind: one of :data:`MAPS`.
        scores: [n] in [0, 1].
        labels: [n] of 0 and 1.

    Returns:
        The map; None for ``none``.

    Raises:
        InputError: a class is missing, a score lies outside [0, 1], or scores fall as labels rise.

    >>> fit_map("isotonic", [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]).values
    (0.0, 0.5, 0.5, 1.0)
    """
    if kind == "none":
        return None
    s, y = checked_pairs(scores, labels)
    if s.min() < 0 or s.max() > 1:
        raise InputError(f"a calibration map needs scores in [0, 1], not {s.min():g}–{s.max():g}")
    return _isotonic(s, y) if kind == "isotonic" else _logistic(s, y, shifted=kind == "platt")


def read_map(record: Mapping[str, Any] | None) -> ScoreMap | None:
    """Read a map from its JSON form.

    Raises:
        InputError: the record is no map.
    """
    if record is None:
        return None
    try:
        if record["kind"] == "logit":
            return _checked_logit(float(record["scale"]), float(record["shift"]))
        if record["kind"] == "isotonic":
            scores, values = (tuple(map(float, record[name])) for name in ("scores", "values"))
            return _checked_isotonic(scores, values)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"malformed calibration map ({error!r})") from error
    raise InputError(f"unknown kind of calibration map {record['kind']!r}")


def _checked_logit(scale: float, shift: float) -> LogitMap:
    if not (0 < scale < np.inf and np.isfinite(shift)):
        raise ValueError("scale must be positive and both numbers finite")
    return LogitMap(scale, shift)


def _checked_isotonic(scores: tuple[float, ...], values: tuple[float, ...]) -> IsotonicMap:
    s, v = np.asarray(scores), np.asarray(values)
    ordered = s.size == v.size > 0 and bool(np.all(np.diff(s) > 0) and np.all(np.diff(v) >= 0))
    if not (ordered and np.isfinite(s).all() and v[0] >= 0 and v[-1] <= 1):
        raise ValueError("scores must increase and values not decrease within [0, 1]")
    return IsotonicMap(scores, values)


def _logistic(scores: Floats, labels: Bools, *, shifted: bool) -> LogitMap:
    """Newton's method on the log-loss with Platt's targets, which keep it finite."""
    positives, negatives = labels.sum(), (~labels).sum()
    targets = np.where(labels, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    inputs = np.stack([_logit(scores), np.ones_like(scores)])[: 1 + shifted]
    weights = np.zeros(len(inputs))
    weights[0] = 1.0
    loss = _log_loss(weights, inputs, targets)
    for _ in range(_STEPS):
        guess = _sigmoid(weights @ inputs)
        gradient = inputs @ (guess - targets)
        curvature = (inputs * (guess * (1 - guess))) @ inputs.T + 1e-9 * np.eye(len(inputs))
        step = np.linalg.solve(curvature, gradient)
        # Newton's step overshoots where the curve is flat; half of it, and so on, does not.
        while _log_loss(weights - step, inputs, targets) > loss and np.abs(step).max() > 1e-12:
            step = step / 2
        weights = weights - step
        loss = _log_loss(weights, inputs, targets)
        if np.abs(step).max() < 1e-10:
            break
    if not weights[0] > 0:
        raise InputError("scores fall as labels rise: no increasing map fits them")
    return LogitMap(float(min(weights[0], _STEEPEST)), float(weights[1]) if shifted else 0.0)


def _isotonic(scores: Floats, labels: Bools) -> IsotonicMap:
    """Pool adjacent violators: neighbouring blocks out of order become their mean."""
    values, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    positives = np.bincount(inverse, weights=labels, minlength=values.size)
    blocks: list[tuple[float, int, int]] = []
    for positive, count in zip(positives.tolist(), counts.tolist(), strict=True):
        block = (positive, count, 1)
        while blocks and blocks[-1][0] * block[1] >= block[0] * blocks[-1][1]:
            last = blocks.pop()
            block = (last[0] + block[0], last[1] + block[1], last[2] + block[2])
        blocks.append(block)
    fitted = np.concatenate([np.full(size, total / n) for total, n, size in blocks])
    # Only the ends of a flat stretch are needed to draw it.
    inner = np.r_[False, (fitted[1:-1] == fitted[:-2]) & (fitted[1:-1] == fitted[2:]), False]
    kept = ~inner[: values.size]
    return IsotonicMap(tuple(values[kept].tolist()), tuple(fitted[kept].tolist()))


def _logit(scores: Floats) -> Floats:
    inside = np.clip(np.asarray(scores, np.float64), _EDGE, 1 - _EDGE)
    return np.log(inside) - np.log1p(-inside)


def _sigmoid(values: Floats) -> Floats:
    return np.exp(-np.logaddexp(0.0, -values))


def _log_loss(weights: Floats, inputs: Floats, targets: Floats) -> float:
    odds = weights @ inputs
    return float((np.logaddexp(0.0, odds) - targets * odds).sum())
