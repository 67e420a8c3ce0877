"""A scorer under a calibration: a file's threshold decides, its map gives the probabilities."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prevalence.errors import ConfigurationError, InputError, ModelError, PrevalenceError
from prevalence.metric import check_threshold, decisions
from prevalence.nli.pairs import PairScorer, PairScores, Progress
from prevalence.nli.recheck import RecheckedScorer
from prevalence.row_values import natural
from prevalence.signature import package_version
from prevalence.stats.arrays import Bools, Floats
from prevalence.stats.correction import ErrorRates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prevalence.nli.pairs import TextTable

__all__ = [
    "MAPS",
    "CalibratedScorer",
    "Calibration",
    "IsotonicMap",
    "Labels",
    "LogitMap",
    "ScoreMap",
    "Scores",
    "balanced_cut",
    "check_choice",
    "checked_pairs",
    "fit_map",
    "read_calibration",
    "read_map",
]


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


def check_choice(what: str, value: str, known: Sequence[str]) -> None:
    """Refuse a name that is none of the known ones.

    Args:
        what: it names, for the message.
        value: the name.
        known: all there are.

    Raises:
        ConfigurationError: an unknown name.
    """
    if value not in known:
        raise ConfigurationError(f"unknown {what} {value!r}: choose from {', '.join(known)}")


_EDGE = 1e-7
"""Scores are kept this far from 0 and 1, where log-odds have no value; float32 resolves 6e-8."""
_STEPS = 100
_STEEPEST = 1e3
"""Pairs that one threshold separates would want an infinite slope."""


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


ScoreMap = LogitMap | IsotonicMap
"""A monotone map of scores in [0, 1] to probabilities."""

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
        ConfigurationError: an unknown kind.
        InputError: a class is missing, a score lies outside [0, 1], or scores fall as labels rise;
            for ``temperature``, also where they lie on one side of ½.

    >>> fit_map("isotonic", [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]).values
    (0.0, 0.5, 0.5, 1.0)
    """
    check_choice("map", kind, MAPS)
    if kind == "none":
        return None
    s, y = _checked_chances(scores, labels)
    return _isotonic(s, y) if kind == "isotonic" else _logistic(s, y, shifted=kind == "platt")


def balanced_cut(scores: Scores, labels: Labels) -> float:
    """The score at which a Platt curve would give ½ if both classes were equally frequent.

    There the fitted curve equals the share of positive pairs.

    Args:
        scores: [n] in [0, 1].
        labels: [n] of 0 and 1.

    Returns:
        A score in (0, 1).

    Raises:
        InputError: as :func:`fit_map`.
    """
    s, y = _checked_chances(scores, labels)
    fitted = _logistic(s, y, shifted=True)
    cut = _sigmoid((_logit(y.mean()) - fitted.shift) / fitted.scale)
    return float(np.clip(cut, _EDGE, 1 - _EDGE))


def _checked_chances(scores: Scores, labels: Labels) -> tuple[Floats, Bools]:
    s, y = checked_pairs(scores, labels)
    if s.min() < 0 or s.max() > 1:
        raise InputError(f"a calibration map needs scores in [0, 1], not {s.min():g}–{s.max():g}")
    return s, y


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
        rising = inputs[0][labels].mean() > inputs[0][~labels].mean()
        raise InputError(
            "a temperature alone does not fit scores that lie on one side of .5; use platt or "
            "isotonic"
            if rising and not shifted
            else "scores fall as labels rise: no increasing map fits them"
        )
    # A capped slope turns the curve about the score where it is ½.
    scale = min(weights[0], _STEEPEST)
    shift = weights[1] * scale / weights[0] if shifted else 0.0
    return LogitMap(float(scale), float(shift))


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


_SCHEMA = 1
_KIND = "prevalence-calibration"


@dataclass(frozen=True, slots=True)
class Calibration:
    """What `prevalence calibrate` found for one scorer.

    Attributes:
        scorer: name that opens it.
        scorer_digest: of everything that changes a score of it, in hexadecimal.
        scorer_signature: its part of the signature, for people to read.
        threshold: on the scorer's own scores; a decision is strictly greater.
        score_map: from scores to probabilities, or None.
        source: files, relation, rule and seed, for people to read.
        dev: figures on the set that chose.
        test: figures on the other set, or None.
        products: decisions on unseen pairs by product, for
            :class:`~prevalence.stats.correction.ErrorRates`; empty where there are none.
    """

    scorer: str
    scorer_digest: str
    scorer_signature: Mapping[str, str]
    threshold: float
    score_map: ScoreMap | None = None
    source: Mapping[str, Any] = field(default_factory=dict)
    dev: Mapping[str, Any] = field(default_factory=dict)
    test: Mapping[str, Any] | None = None
    products: tuple[tuple[int, int, int, int], ...] = ()

    def __post_init__(self) -> None:
        check_threshold(self.threshold)

    @property
    def digest(self) -> str:
        """Names what the calibration does to scores: twelve hexadecimal digits."""
        parts = [self.scorer_digest, self.threshold, self._map_json()]
        return hashlib.blake2b(json.dumps(parts).encode(), digest_size=6).hexdigest()

    def check(self, scorer: PairScorer) -> None:
        """Refuse another scorer than the one that was calibrated.

        Raises:
            ModelError: the digests differ.
        """
        found = scorer.traits.digest.hex()
        if found != self.scorer_digest:
            raise ModelError(
                f"the calibration is of {self.scorer!r} with digest {self.scorer_digest[:12]}, and "
                f"this scorer has {found[:12]}: use the same weights and options "
                "(windows, length, labels, dtype), or run `prevalence calibrate` again"
            )

    def error_rates(self, threshold: float) -> ErrorRates | None:
        """How often decisions were wrong on pairs that no choice has seen, or None.

        Args:
            threshold: the calibrated one, on the scale of the probabilities that come out.
        """
        if not self.products:
            return None
        pairs = self.source.get("test") or self.source.get("pairs", "")
        return ErrorRates(self.products, threshold, str(pairs))

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        return {
            "schema": _SCHEMA,
            "kind": _KIND,
            "scorer": self.scorer,
            "scorer_digest": self.scorer_digest,
            "scorer_signature": dict(self.scorer_signature),
            "threshold": self.threshold,
            "map": self._map_json(),
            "source": dict(self.source),
            "dev": dict(self.dev),
            "test": None if self.test is None else dict(self.test),
            "products": [list(counts) for counts in self.products],
            "version": package_version(),
        }

    def _map_json(self) -> dict[str, Any] | None:
        return None if self.score_map is None else self.score_map.to_json()


def read_calibration(path: Path | str) -> Calibration:
    """Read a calibration file.

    Raises:
        InputError: the file cannot be read, or is none of ours, or of a later schema.
    """
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as a calibration file ({error})") from error
    if not isinstance(record, dict) or record.get("kind") != _KIND:
        raise InputError(
            f"{path}: not a calibration file; `prevalence calibrate --output` writes one"
        )
    if record.get("schema") != _SCHEMA:
        raise InputError(
            f"{path}: calibration schema {record.get('schema')!r} is not {_SCHEMA}; use the "
            f"version of prevalence that wrote it ({record.get('version')})"
        )
    try:
        return Calibration(
            scorer=str(record["scorer"]),
            scorer_digest=str(record["scorer_digest"]),
            scorer_signature=dict(record["scorer_signature"]),
            threshold=float(record["threshold"]),
            score_map=read_map(record["map"]),
            source=dict(record["source"]),
            dev=dict(record["dev"]),
            test=record["test"],
            # Older files have none.
            products=_counts(record.get("products", [])),
        )
    except (KeyError, TypeError, ValueError, PrevalenceError) as error:
        raise InputError(f"{path}: damaged calibration file ({error})") from error


def _counts(products: Any) -> tuple[tuple[int, int, int, int], ...]:
    """Counts of decisions by product.

    Raises:
        ValueError: they are not four whole numbers each.
        ConfigurationError: they cannot be error rates.
    """
    found = tuple((a, b, c, d) for a, b, c, d in products)
    if not all(map(natural, chain.from_iterable(found))):
        raise ValueError("products holds what is no count")
    if found:
        ErrorRates(found, 0.0)
    return found


_HIGHEST = float(np.nextafter(np.float32(1), np.float32(0)))
"""Largest threshold that leaves a probability above it."""


class CalibratedScorer(PairScorer):
    """A pair scorer whose decisions are those of the threshold on the inner scorer's scores.

    With a map, probabilities are the mapped ones and the threshold is mapped as well. Rounding and
    flat stretches of the map cannot turn a decision: probabilities are held on the side of the
    threshold that the inner score is on. P(contradiction) keeps its share of what entailment
    leaves.

    Args:
        inner: the scorer that was calibrated.
        calibration: its calibration.

    Raises:
        ModelError: the calibration is another scorer's.
        ConfigurationError: an isotonic map with a scorer in half precision, whose doubtful
            decisions could not be counted.
    """

    def __init__(self, inner: PairScorer, calibration: Calibration) -> None:
        calibration.check(inner.fast if isinstance(inner, RecheckedScorer) else inner)
        self._inner = inner = inner.at(calibration.threshold)
        self._cut = calibration.threshold
        self._map = calibration.score_map
        threshold = self._mapped_threshold()
        traits = replace(
            inner.traits,
            digest=inner.traits.digest + bytes.fromhex(calibration.digest),
            signature=dict(inner.traits.signature) | {"calib": calibration.digest},
            threshold=threshold,
            calibrated=True,
            probability=self._map is not None or inner.traits.probability,
            doubt=self._mapped_doubt(inner.traits.doubt),
            errors=calibration.error_rates(threshold),
        )
        super().__init__(traits, inner)

    def at(self, threshold: float) -> CalibratedScorer:
        """Itself: it can decide at any threshold, unless it makes sure of decisions at its own.

        Raises:
            ConfigurationError: the inner scorer asks again what is near the calibrated threshold.
        """
        if self.traits.rechecks and threshold != self.traits.threshold:
            raise ConfigurationError(
                f"threshold {threshold:g} is not the calibration's {self.traits.threshold:g}, "
                "where decisions are checked in float32; choose float32 (dtype= or --dtype), or do "
                "without (recheck=False or --no-recheck)"
            )
        return self

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.pairs.PairScorer.score`."""
        scores = self._inner.score(texts, pairs, progress=progress)
        if self._map is None:
            return scores
        raw, readable = scores.entailment, np.isfinite(scores.entailment)
        entailment = np.full_like(raw, np.nan)
        entailment[readable] = self._mapped(raw[readable], self._map)
        rest = np.divide(1 - entailment, 1 - raw, out=np.zeros_like(raw), where=raw < 1)
        return PairScores(entailment, scores.contradiction * rest, scores.flags)

    def _mapped(self, raw: NDArray[np.float32], score_map: ScoreMap) -> NDArray[np.float32]:
        mapped = np.clip(score_map(raw.astype(np.float64)), 0.0, 1.0).astype(np.float32)
        cut = np.float32(self.traits.threshold)
        above = np.nextafter(cut, np.float32(1))
        decided = decisions(raw, self._cut)
        return np.where(decided, np.maximum(mapped, above), np.minimum(mapped, cut))

    def _mapped_threshold(self) -> float:
        if self._map is None:
            return self._cut
        mapped = float(np.float32(self._map(np.asarray([self._cut]))[0]))
        return min(max(mapped, 0.0), _HIGHEST)

    def _mapped_doubt(self, doubt: float) -> float:
        if not doubt or self._map is None:
            return doubt
        if isinstance(self._map, LogitMap):
            return doubt * self._map.scale
        raise ConfigurationError(
            "an isotonic map needs float32 (dtype= or --dtype): near its steps, the decisions that "
            "half precision may change cannot be counted"
        )
