"""Labelled (premise, hypothesis) pairs: every accepted layout, for training and calibration."""

from prevalence.labelled.documents import Document, Target, parse_target
from prevalence.labelled.key_points import join_key_points, read_key_points
from prevalence.labelled.layouts import LABEL_MODES, LabelMode
from prevalence.labelled.reading import JudgedPairs, check_summaries, read_documents

__all__ = [
    "LABEL_MODES",
    "Document",
    "JudgedPairs",
    "LabelMode",
    "Target",
    "check_summaries",
    "join_key_points",
    "parse_target",
    "read_documents",
    "read_key_points",
]
