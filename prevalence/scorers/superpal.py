"""Propositions by rule, and how far those of a hypothesis are aligned with those of a premise.

Source: Ernst et al. 2021, SuperPAL: a classifier decides whether two propositions say the same;
Malon 2023 compares sentence and review by the greatest and by the average alignment. Their
propositions come from an open information extractor; ours are clauses, cut by the rules below.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.errors import ConfigurationError
from prevalence.scorers.units import UnitAnswers, UnitCutter, UnitScorer, sentences_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prevalence.nli.pairs import PairScorer

__all__ = ["ALIGNMENTS", "AlignmentScorer", "propositions"]

ALIGNMENTS = ("average", "max")
"""Mean over the hypothesis's propositions of their best alignment, or the best of all."""

_LEAST_WORDS = 2
_RULE = "2"
"""Which rules cut propositions; other ones have another number."""
_SUBJECT = (
    r"(?:I|we|you|he|she|it|they|this|that|these|those|there|the|an?|my|our|your|his|her|its|their"
    r"|everyone|everything|nothing|nobody|some|most|all|both|one)\b"
)
_BEFORE = r"(?:(?<!\s)\s+)"
_CLAUSE_STARTS = re.compile(
    # A mark that parts clauses, with the white space around it; "10:30" and "8–9" stay whole. No
    # match begins inside white space, or a long run of it would be read once for each character.
    rf"{_BEFORE}?[;()]\s*|{_BEFORE}?(?<!\d)[:\u2013\u2014]\s*"
    rf"|{_BEFORE}?[:\u2013\u2014](?!\d)\s*|{_BEFORE}-+\s+"
    # A conjunction before a new subject: "..., but the laces ...".
    rf"|,?{_BEFORE}(?=(?:and|but|or|so|yet|nor|plus)\s+{_SUBJECT})"
    # A subordinate clause.
    rf"|,?{_BEFORE}(?=(?:because|although|though|while|whereas|unless|since|until|when|whenever|if"
    r"|which|who|where|even\s+though|as\s+if)\s)"
    # Two clauses with nothing but a comma between them.
    rf"|,\s+(?={_SUBJECT}\s+\w+)",
    re.IGNORECASE,
)
_CONNECTIVE = re.compile(r"^(?:and|but|or|so|yet|nor|plus)\s+", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def propositions(text: str) -> list[str]:
    """The clauses of a text, in order; a text without words has none.

    Sentences are cut at semicolons, brackets, colons and dashes that do not stand between digits,
    before conjunctions and commas that a new subject follows, and before subordinate clauses. A
    piece of one word joins its left neighbour; a conjunction at the beginning of a piece is left
    out.

    >>> propositions("The soles grip well, but the laces come undone because they are thin.")
    ['The soles grip well', 'the laces come undone', 'because they are thin.']
    """
    found = []
    for sentence in sentences_of(text):
        pieces: list[str] = []
        for piece in filter(None, map(str.strip, _CLAUSE_STARTS.split(sentence))):
            if pieces and len(_WORD.findall(_CONNECTIVE.sub("", piece))) < _LEAST_WORDS:
                pieces[-1] = f"{pieces[-1]} {piece}"
            else:
                pieces.append(_CONNECTIVE.sub("", piece))
        found += [piece for piece in pieces if _WORD.search(piece)]
    return found


class AlignmentScorer(UnitScorer):
    """SuperPAL-style alignment of propositions, as a pair scorer.

    A pair in which a text has no proposition scores 0.

    Args:
        inner: answers pairs of propositions with the probability that they are aligned.
        alignment: one of :data:`ALIGNMENTS`.
        threshold: decision threshold in [0, 1); None takes the inner scorer's, which was not
            calibrated for this use.

    Raises:
        ConfigurationError: an unknown alignment.
    """

    def __init__(
        self, inner: PairScorer, alignment: str = "average", *, threshold: float | None = None
    ) -> None:
        if alignment not in ALIGNMENTS:
            raise ConfigurationError(
                f"unknown alignment {alignment!r}: choose from {', '.join(ALIGNMENTS)}"
            )
        self._over: Callable[..., Any] = np.mean if alignment == "average" else np.max
        super().__init__(
            [inner],
            UnitCutter(propositions, propositions),
            name="superpal",
            described={"gran": "proposition", "rule": _RULE, "ops": alignment},
            threshold=inner.traits.threshold if threshold is None else threshold,
            calibrated=threshold is not None,
            probability=inner.traits.probability,
        )

    def reduce(self, answers: Sequence[UnitAnswers]) -> NDArray[np.float64]:
        """One score in [0, 1] a pair, float64 [P]."""
        (only,) = answers
        images = only.images(only.scores.entailment)
        return np.array([self._over(image.max(axis=0)) for image in images], np.float64)
