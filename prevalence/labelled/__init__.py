"""Labelled (premise, hypothesis) pairs: every accepted layout, for training and calibration."""

from prevalence.labelled.documents import Document, Target, parse_target
from prevalence.labelled.layouts import LABEL_MODES, LabelMode
from prevalence.labelled.reading import JudgedPairs, read_documents

__all__ = [
    "LABEL_MODES",
    "Document",
    "JudgedPairs",
    "LabelMode",
    "Target",
    "parse_target",
    "read_documents",
]
