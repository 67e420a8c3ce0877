"""Scorers of (premise, hypothesis) pairs, each with an id that names its direction."""

from typing import TYPE_CHECKING

from prevalence.lazy import loader

if TYPE_CHECKING:
    from prevalence.nli.pairs import score_pairs
    from prevalence.scorers.registry import open_scorer

__all__ = ["open_scorer", "score_pairs"]

# Help texts need the options that stand here, and no array library.
__getattr__ = loader(
    __name__,
    {"open_scorer": "prevalence.scorers.registry", "score_pairs": "prevalence.nli.pairs"},
)
