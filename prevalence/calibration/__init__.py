"""Thresholds and maps from labelled pairs: figures, resampling, cross-validation, files."""

from prevalence.calibration.cautions import label_caution, set_cautions, use_caution
from prevalence.calibration.figures import (
    THRESHOLD_RULES,
    Threshold,
    ThresholdRule,
    auc,
    balanced_accuracy,
    best_threshold,
    calibration_error,
)
from prevalence.calibration.resampling import Resampling
from prevalence.calibration.study import (
    ScoredPairs,
    ScorerRow,
    Settings,
    best_of,
    check_sets,
    grouped_folds,
    study,
)
from prevalence.scorers.calibrated import MAPS, Calibration, read_calibration

__all__ = [
    "MAPS",
    "THRESHOLD_RULES",
    "Calibration",
    "Resampling",
    "ScoredPairs",
    "ScorerRow",
    "Settings",
    "Threshold",
    "ThresholdRule",
    "auc",
    "balanced_accuracy",
    "best_of",
    "best_threshold",
    "calibration_error",
    "check_sets",
    "grouped_folds",
    "label_caution",
    "read_calibration",
    "set_cautions",
    "study",
    "use_caution",
]
