"""Claims: the single statements of a text, by rule or from a record, and their quantities."""

from prevalence.claims.cutter import CLAIMS, MOST_WORDS, Claim, cut, given, stated_claim

__all__ = ["CLAIMS", "MOST_WORDS", "Claim", "cut", "given", "stated_claim"]
