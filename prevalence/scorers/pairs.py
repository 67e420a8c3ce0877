"""Plain lists of premises and hypotheses through any pair scorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prevalence.errors import InputError
from prevalence.nli.pairs import PairPlan, TextTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.nli.pairs import PairScorer, Progress

__all__ = ["score_pairs"]


def score_pairs(
    scorer: PairScorer,
    premises: Sequence[str],
    hypotheses: Sequence[str],
    *,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """Score (premises[i], hypotheses[i]); equal pairs are asked once.

    Args:
        scorer: answers pairs.
        premises: P texts. An empty one implies nothing and is not asked, as in prevalence.
        hypotheses: P texts.
        progress: called with the number of pairs just done.

    Returns:
        float64 [P], the scorer's entailment score; NaN where the hypothesis alone is longer than
        the scorer reads.

    Raises:
        InputError: the lists are not equally long.
    """
    if len(premises) != len(hypotheses):
        raise InputError(
            f"{len(premises)} premises and {len(hypotheses)} hypotheses: give one of each a pair"
        )
    texts, plan = TextTable(), PairPlan()
    asked = np.asarray([bool(text.strip()) for text in premises], np.bool_)
    rows = np.flatnonzero(asked).tolist()
    plan.add(
        texts.add_all(premises[row] for row in rows), texts.add_all(hypotheses[row] for row in rows)
    )
    pairs, back = plan.unique()
    scores = np.zeros(len(premises))
    scores[asked] = scorer.score(texts, pairs, progress=progress).entailment[back]
    if progress is not None and len(pairs) < len(premises):
        progress(len(premises) - len(pairs))
    return scores
