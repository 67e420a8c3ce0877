"""Scores of a labelled set → every figure of it, as plain JSON values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.calibration.figures import BINS, ThresholdRule, best_threshold
from prevalence.calibration.resampling import (
    Outcome,
    Resampling,
    ScorerComparison,
    compare,
    figures_of,
    intervals_of,
)
from prevalence.errors import InputError

if TYPE_CHECKING:
    from prevalence.labelled import JudgedPairs
    from prevalence.scorers.calibrated import ScoreMap
    from prevalence.stats.arrays import Floats
    from prevalence.stats.resampling import PairedTest

__all__ = [
    "Decider",
    "comparison_json",
    "curves_of",
    "outcome_of",
    "relation_figures",
    "set_figures",
    "threshold_figures",
]

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Decider:
    """A threshold on the scorer's own scores, and a map for what is reported as a probability."""

    threshold: float
    score_map: ScoreMap | None = None

    def probabilities(self, scores: Floats) -> Floats:
        """Calibrated probabilities; without a map the scores, held within [0, 1]."""
        mapped = scores if self.score_map is None else self.score_map(scores)
        return np.clip(mapped, 0.0, 1.0)


def outcome_of(scores: Floats, judged: JudgedPairs, decider: Decider) -> Outcome:
    """What a decider makes of the scores [P] of P pairs."""
    return Outcome(
        scores,
        decider.probabilities(scores),
        scores > decider.threshold,
        judged.labels,
        np.unique(judged.groups, return_inverse=True)[1].astype(np.int64),
    )


def set_figures(outcome: Outcome, resampling: Resampling, *, curves: bool = False) -> Figures:
    """Size, figures and intervals of a set.

    Args:
        outcome: Scores, decisions and labels.
        resampling: How to draw intervals.
        curves: Also give the points of :func:`curves_of`.

    Returns:
        JSON values; a figure that is not defined (one class only) is None.
    """
    intervals = intervals_of(outcome, resampling)
    return {
        "n": len(outcome.labels),
        "positives": int(outcome.labels.sum()),
        "products": outcome.size,
        **figures_of(outcome),
        "intervals": {name: [found.low, found.high] for name, found in intervals.items()},
        **({"curves": curves_of(outcome)} if curves else {}),
    }


def threshold_figures(scores: Floats, judged: JudgedPairs, threshold: float) -> Figures:
    """How well a threshold that was chosen elsewhere decides.

    Args:
        scores: [P], of single precision, as scorers give them.
        judged: the P pairs.
        threshold: in [0, 1).

    Returns:
        The threshold, balanced accuracy, recall (sensitivity) and specificity.
    """
    # Scorers decide in single precision too.
    figures = figures_of(outcome_of(scores, judged, Decider(float(np.float32(threshold)))))
    names = ("balanced_accuracy", "recall", "specificity")
    return {"threshold": threshold, **{name: figures[name] for name in names}}


def curves_of(outcome: Outcome) -> Figures:
    """Points to draw: of the ROC curve, and of probabilities against what happens.

    Returns:
        ``roc``: [false positive rate, true positive rate], from (0, 0) to (1, 1), one for each
        distinct score, at most some 200; empty with one class only. ``reliability``: for each of
        the equally wide bins of [0, 1] that has pairs, their mean probability, the share of
        positives, and their number.
    """
    labels = outcome.labels.astype(np.float64)
    order = np.argsort(-outcome.scores, kind="stable")
    last = np.flatnonzero(np.diff(outcome.scores[order], append=np.nan) != 0)
    hits = np.cumsum(labels[order])[last]
    wrong = np.cumsum(1 - labels[order])[last]
    roc: list[list[float]] = []
    if outcome.has_both:
        kept = np.unique(np.linspace(0, len(last) - 1, _POINTS).round().astype(np.int64))
        rates = np.stack([wrong / wrong[-1], hits / hits[-1]], axis=1)[kept]
        roc = [[0.0, 0.0], *rates.tolist()]
    bins = np.minimum((outcome.probabilities * BINS).astype(np.int64), BINS - 1)
    inside = [bins == place for place in range(BINS)]
    return {
        "roc": roc,
        "reliability": [
            [float(outcome.probabilities[m].mean()), float(labels[m].mean()), int(m.sum())]
            for m in inside
            if m.any()
        ],
    }


_POINTS = 200


def relation_figures(
    scores: Floats, judged: JudgedPairs, decider: Decider, *, candidates: ThresholdRule
) -> Figures:
    """How a threshold does on the other uses of C that a set has labels for.

    Args:
        scores: [P], of all pairs of the set.
        judged: The P pairs.
        decider: Chosen elsewhere.
        candidates: Rule for the relation's own best threshold.

    Returns:
        By relation: figures at the decider's threshold, and the threshold that the relation
        itself would have chosen.
    """
    result: Figures = {}
    for relation in sorted(set(judged.relations.tolist())):
        inside = judged.relations == relation
        outcome = outcome_of(scores[inside], judged.take(inside), decider)
        figures: Figures = {
            "n": int(inside.sum()),
            "positives": int(outcome.labels.sum()),
            **figures_of(outcome),
        }
        if outcome.has_both:
            figures["own_threshold"] = _own_threshold(outcome, candidates)
        result[relation] = figures
    return result


def _own_threshold(outcome: Outcome, candidates: ThresholdRule) -> Figures | None:
    """What a relation would have chosen; None where no rising curve fits it."""
    try:
        own = best_threshold(outcome.scores, outcome.labels, candidates=candidates)
    except InputError:
        return None
    return own._asdict()


def comparison_json(name: str, outcome: Outcome, best: Outcome, resampling: Resampling) -> Figures:
    """Paired tests against the scorer ``name``, whose outcome is ``best``."""
    found: ScorerComparison = compare(outcome, best, resampling)
    return {
        "scorer": name,
        "balanced_accuracy": _test_json(found.balanced_accuracy),
        "auc": _test_json(found.auc),
    }


def _test_json(test: PairedTest) -> Figures:
    return {
        "difference": None if np.isnan(test.difference) else test.difference,
        "p_value": None if np.isnan(test.p_value) else test.p_value,
    }
