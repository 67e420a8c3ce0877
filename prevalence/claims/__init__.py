"""Claims: the single statements of a text, by rule or from a record, and their quantities."""

from typing import TYPE_CHECKING

from prevalence.lazy import loader

if TYPE_CHECKING:
    from prevalence.claims.cutter import CLAIMS, MOST_WORDS, Claim, cut, given, stated_claim

__all__ = ["CLAIMS", "MOST_WORDS", "Claim", "cut", "given", "stated_claim"]

# Scores by sentence need no rules that cut claims.
__getattr__ = loader(__name__, dict.fromkeys(__all__, "prevalence.claims.cutter"))
