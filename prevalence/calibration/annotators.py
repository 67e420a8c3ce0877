"""Annotators of labelled documents: their rates against the majority, and Krippendorff's alpha."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.errors import InputError
from prevalence.stats.agreement import krippendorff_alpha

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from prevalence.labelled import Document

__all__ = ["Agreement", "majority_agreement", "worker_figures"]


class Agreement(NamedTuple):
    """All annotators' labels, pooled, against the majority's.

    Attributes:
        labels: number of labels compared.
        accuracy: share that equal the majority's.
        false_positive_rate: share of positive ones on majority-negatives; NaN without any.
        false_negative_rate: share of negative ones on majority-positives; NaN without any.
    """

    labels: int
    accuracy: float
    false_positive_rate: float
    false_negative_rate: float


def majority_agreement(votes: ArrayLike, majority: ArrayLike) -> Agreement:
    """Compare annotators with a majority.

    Args:
        votes: float [annotators, P] of 0 and 1; NaN where an annotator gave no label.
        majority: [P] of 0 and 1.

    Returns:
        Pooled rates, the annotators' own votes included in the majority as they are.

    Raises:
        InputError: shapes do not fit, or there is no label.

    Source: Malon 2023, section 3.
    """
    given, truth = np.asarray(votes, np.float64), np.asarray(majority).astype(np.bool_)
    if given.ndim != 2 or truth.shape != given.shape[1:]:
        raise InputError(
            f"votes {given.shape} must be annotators by pairs, as many as {truth.shape}"
        )
    present = ~np.isnan(given)
    if not present.any():
        raise InputError("there is no annotator's label to compare")
    yes, whole = given > 0.5, np.broadcast_to(truth, given.shape)
    negatives, positives = present & ~whole, present & whole
    with np.errstate(invalid="ignore"):
        false_positive = np.float64((yes & negatives).sum()) / negatives.sum()
        false_negative = np.float64((~yes & positives).sum()) / positives.sum()
    return Agreement(
        int(present.sum()),
        float((yes == whole)[present].mean()),
        float(false_positive),
        float(false_negative),
    )


def worker_figures(documents: Iterable[Document]) -> dict[str, Any] | None:
    """How well annotators agree.

    Args:
        documents: With the annotators' labels; pairs without any are passed over.

    Returns:
        Pairs, labels, pooled rates against the majority, and nominal alpha, as JSON values (None
        where a figure is not defined); None when no document has annotators.
    """
    voted = [document for document in documents if document.votes and document.hypotheses]
    if not voted:
        return None
    annotators = max(len(document.votes) for document in voted)
    blocks = []
    for document in voted:
        block = np.full((annotators, len(document.hypotheses)), np.nan)
        given = np.asarray(document.votes, np.float64)
        block[: len(document.votes)] = np.where(np.isnan(given), np.nan, given > 0.5)
        blocks.append(block)
    votes = np.concatenate(blocks, axis=1)
    judged = ~np.isnan(votes).all(axis=0)
    if not judged.any():
        return None
    majority = [target.entailment > 0.5 for document in voted for target in document.targets]
    figures = {
        "pairs": int(judged.sum()),
        **majority_agreement(votes, majority)._asdict(),
        "krippendorff_alpha": krippendorff_alpha(votes.T, level="nominal"),
    }
    return {name: None if math.isnan(value) else value for name, value in figures.items()}
