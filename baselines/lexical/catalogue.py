"""The lexical metrics as data."""

from __future__ import annotations

from prevalence.baselines.protocol import REFERENCE, Entry
from prevalence.baselines.rules import AGAINST_OPTIONS

__all__ = ["ENTRIES"]

_PACKAGE = "prevalence.baselines.lexical"

_ROUGE_OPTIONS = {
    "precision": "precision in place of F1",
    "recall": "recall in place of F1",
    "nostem": "no Porter stemming",
    "py-rouge": "as py-rouge 1.1 computes it (needs its stem tables)",
    "limit=N": "with py-rouge: read so many characters of each text [default: all]",
    **AGAINST_OPTIONS,
}


def _rouge(name: str, about: str) -> Entry:
    return Entry(
        name=name,
        about=about,
        needs=(REFERENCE,),
        range=(0.0, 1.0),
        citation="Lin 2004, ROUGE; numbers of rouge-score 0.1.2 (stemmed), or of py-rouge 1.1",
        factory=f"{_PACKAGE}.rouge:open_rouge",
        options=_ROUGE_OPTIONS,
        undefined="never",
    )


ENTRIES: tuple[Entry, ...] = (
    _rouge("rouge-1", "F1 of shared words"),
    _rouge("rouge-2", "F1 of shared word pairs"),
    _rouge("rouge-l", "F1 of the longest common subsequence of words"),
)
"""In the order in which they are listed."""
