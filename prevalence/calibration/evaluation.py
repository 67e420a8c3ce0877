"""Scores of a labelled set → every figure of it, as plain JSON values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.calibration.figures import ThresholdRule, best_threshold
from prevalence.calibration.resampling import (
    Outcome,
    Resampling,
    ScorerComparison,
    compare,
    figures_of,
    intervals_of,
)

if TYPE_CHECKING:
    from prevalence.labelled import JudgedPairs
    from prevalence.scorers.calibrated import ScoreMap
    from prevalence.stats.arrays import Floats
    from prevalence.stats.resampling import PairedTest

__all__ = ["Decider", "comparison_json", "outcome_of", "relation_figures", "set_figures"]

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


def set_figures(outcome: Outcome, resampling: Resampling) -> Figures:
    """Size, figures and intervals of a set.

    Args:
        outcome: Scores, decisions and labels.
        resampling: How to draw intervals.

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
    }


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
            own = best_threshold(outcome.scores, outcome.labels, candidates=candidates)
            figures["own_threshold"] = own._asdict()
        result[relation] = figures
    return result


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
