"""Thresholds and maps from labelled pairs: figures, resampling, cross-validation, files."""

from prevalence.calibration.figures import auc, balanced_accuracy, calibration_error
from prevalence.calibration.folds import grouped_folds
from prevalence.calibration.maps import MAPS
from prevalence.calibration.record import Calibration, read_calibration
from prevalence.calibration.resampling import Resampling
from prevalence.calibration.study import Row, ScoredPairs, Settings, best_of, study
from prevalence.calibration.thresholds import CANDIDATES, Candidates, Threshold, best_threshold

__all__ = [
    "CANDIDATES",
    "MAPS",
    "Calibration",
    "Candidates",
    "Resampling",
    "Row",
    "ScoredPairs",
    "Settings",
    "Threshold",
    "auc",
    "balanced_accuracy",
    "best_of",
    "best_threshold",
    "calibration_error",
    "grouped_folds",
    "read_calibration",
    "study",
]
