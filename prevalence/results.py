"""From a finished job to the row of the output."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence import metric
from prevalence.records import ScoredSentence, ScoredSummary, input_digest

if TYPE_CHECKING:
    from prevalence.jobs import SummaryJob
    from prevalence.matrix import ReviewMatrix

__all__ = ["scored_summary"]


def scored_summary(
    job: SummaryJob, *, signature: str, soft: bool, restricted: bool = False
) -> ScoredSummary:
    """The scored summary, or the row that says why there is no score.

    Args:
        job: a job whose answers have all been read.
        signature: what produced them.
        soft: whether to compute soft prevalence, which needs every column of the matrix.
        restricted: whether to say which statements and reviews the score is restricted to.
    """
    blank = ScoredSummary(
        id=job.product.id,
        system=job.summary.system,
        prevalence=None,
        n_reviews=job.n_reviews,
        sentences=(),
        signature=signature,
        error=job.error,
        warning=job.nothing_left,
        restriction=_restricted_to(job) if restricted and job.error is None else None,
        input_digest=input_digest(job.product, job.summary, fields=restricted),
        extra={**job.product.extra, **job.summary.extra},
    )
    if job.error is not None or job.masks is None or job.weights is None or job.matrix is None:
        return blank
    return replace(
        blank,
        prevalence=_score(job, job.masks, job.matrix),
        ceiling=job.ceiling,
        soft_prevalence=metric.soft_prevalence(job.matrix.entailment, job.weights)
        if soft
        else None,
        sentences=_sentences(job, job.masks, job.matrix),
        warning=_warning(job),
    )


def _score(job: SummaryJob, masks: metric.Masks, matrix: ReviewMatrix) -> float:
    supports = np.zeros(len(job.sentences), np.int64)
    supports[job.columns] = metric.support(matrix.implied)
    return metric.prevalence(supports, masks.counts, job.n_reviews)


def _sentences(
    job: SummaryJob, masks: metric.Masks, matrix: ReviewMatrix
) -> tuple[ScoredSentence, ...]:
    asked = {
        k: matrix.column(nth).spread(job.review_places, len(job.product.reviews))
        for nth, k in enumerate(job.columns.tolist())
    }
    causes = masks.redundant_with.tolist()
    return tuple(
        ScoredSentence(
            text=sentence.text,
            start=sentence.start,
            end=sentence.end,
            trivial=bool(masks.trivial[k]),
            redundant_with=None if causes[k] == metric.NOT_REDUNDANT else causes[k],
            contradicts=_contradicts(job, k),
            **(asked[k]._asdict() if k in asked else {}),
        )
        for k, sentence in enumerate(job.sentences)
    )


def _contradicts(job: SummaryJob, k: int) -> tuple[int, ...] | None:
    if job.contradicted is None:
        return None
    return tuple(np.flatnonzero(job.contradicted[:, k]).tolist())


def _restricted_to(job: SummaryJob) -> dict[str, Any]:
    return {
        "reviews": job.review_places.tolist(),
        "of_reviews": len(job.product.reviews),
        "sentences": job.sentence_places.tolist(),
        "of_sentences": job.of_sentences,
    }


def _warning(job: SummaryJob) -> str | None:
    empty = job.n_reviews - len(job.review_ids)
    notes = []
    if not job.sentences:
        notes.append("the summary has no sentence, so it scores 0")
    if empty:
        notes.append(f"{empty} of {job.n_reviews} reviews empty: counted, support nothing")
    return "; ".join(notes) or None
