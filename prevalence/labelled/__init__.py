"""Labelled (premise, hypothesis) pairs: every accepted layout, for training and calibration."""

from prevalence.labelled.documents import Document
from prevalence.labelled.judged import JudgedPairs
from prevalence.labelled.layouts import LABEL_MODES, LabelMode
from prevalence.labelled.reading import read_documents
from prevalence.labelled.targets import Target, parse_target

__all__ = [
    "LABEL_MODES",
    "Document",
    "JudgedPairs",
    "LabelMode",
    "Target",
    "parse_target",
    "read_documents",
]
