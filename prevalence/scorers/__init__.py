"""Scorers of (premise, hypothesis) pairs, each with an id that names its direction."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prevalence.nli.pairs import score_pairs
    from prevalence.scorers.registry import open_scorer

__all__ = ["open_scorer", "score_pairs"]

_HOMES = {"open_scorer": "prevalence.scorers.registry", "score_pairs": "prevalence.nli.pairs"}


def __getattr__(name: str) -> Any:
    """Load a public name on first use: help texts need the options here, and no array library."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'prevalence.scorers' has no attribute {name!r}")
