"""Annotators of labelled documents: their rates against the majority, and Krippendorff's alpha."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.consistency.workers import krippendorff_alpha, majority_agreement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prevalence.labelled import Document

__all__ = ["worker_figures"]


def worker_figures(documents: Iterable[Document]) -> dict[str, Any] | None:
    """How well annotators agree.

    Args:
        documents: With the annotators' labels; those without are passed over.

    Returns:
        Pairs, labels, pooled rates against the majority, and nominal alpha, as JSON values (None
        where a figure is not defined); None when no document has annotators.
    """
    voted = [document for document in documents if document.votes]
    if not voted:
        return None
    annotators = max(len(document.votes) for document in voted)
    blocks = []
    for document in voted:
        block = np.full((annotators, len(document.hypotheses)), np.nan)
        block[: len(document.votes)] = np.asarray(document.votes) > 0.5
        blocks.append(block)
    votes = np.concatenate(blocks, axis=1)
    majority = [target.entailment > 0.5 for document in voted for target in document.targets]
    figures = {
        "pairs": votes.shape[1],
        **majority_agreement(votes, majority)._asdict(),
        "krippendorff_alpha": krippendorff_alpha(votes),
    }
    return {name: None if math.isnan(value) else value for name, value in figures.items()}
