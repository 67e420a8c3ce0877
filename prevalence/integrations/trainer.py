"""``compute_metrics`` for transformers' Trainer: prevalence of what the model generates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.errors import ConfigurationError
from prevalence.rewards.batch import BatchScorer, Sample, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["prevalence_metrics"]


def prevalence_metrics(
    tokenizer: Any,
    reviews: Sequence[Sequence[str]],
    names: Sequence[str | None] | None = None,
    *,
    batches: BatchScorer | None = None,
) -> Callable[[Any], dict[str, float]]:
    """Make a ``compute_metrics`` for a ``Seq2SeqTrainer`` with ``predict_with_generate``.

    Args:
        tokenizer: decodes predictions.
        reviews: one list of reviews for each example of the evaluation set, in its order.
        names: one product name for each, or None.
        batches: scores the summaries; the embedded model by default.

    Returns:
        A function from an ``EvalPrediction`` to means and shares by name.

    Raises:
        ConfigurationError: here when the lists differ in length; from the function when there are
            not as many predictions as lists of reviews, or they are no token ids.
    """
    known = [None] * len(reviews) if names is None else names
    if len(known) != len(reviews):
        raise ConfigurationError(f"{len(reviews)} lists of reviews and {len(known)} names")
    scorer = batches or BatchScorer()

    def compute_metrics(prediction: Any) -> dict[str, float]:
        found = prediction.predictions
        ids = np.asarray(found[0] if isinstance(found, tuple) else found)
        if ids.ndim != 2 or ids.dtype.kind not in "iu":
            raise ConfigurationError(
                f"predictions are {ids.dtype} of shape {ids.shape}, not token ids: set "
                "predict_with_generate=True"
            )
        if len(ids) != len(reviews):
            raise ConfigurationError(
                f"{len(ids)} predictions and {len(reviews)} lists of reviews: give those of the "
                "evaluation set, in its order"
            )
        # Trainers fill shorter rows up with -100, which no tokenizer decodes.
        rows = [row[row >= 0].tolist() for row in ids]
        texts = tokenizer.batch_decode(rows, skip_special_tokens=True)
        samples = [Sample(*row) for row in zip(texts, reviews, known, strict=True)]
        return Tally.of(scorer.score(samples)).metrics()

    return compute_metrics
