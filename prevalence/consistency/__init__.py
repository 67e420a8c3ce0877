"""Scorers of (premise, hypothesis) pairs, each with an id that names its direction."""

from prevalence.consistency.pairs import score_pairs

__all__ = ["score_pairs"]
