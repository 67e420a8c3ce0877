"""From an option to a pair scorer: the one place that knows which scorers there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prevalence.errors import ConfigurationError
from prevalence.nli.protocol import PairScorer
from prevalence.nli.registry import EMBEDDED

__all__ = ["open_scorer"]


def open_scorer(
    model: str = EMBEDDED,
    *,
    threshold: float | None = None,
    device: str = "auto",
    dtype: str = "auto",
    batch_tokens: int | None = None,
    windows: int | None = None,
    max_length: int | None = None,
    labels: Sequence[str] | None = None,
    cache: Path | str | None = None,
) -> PairScorer:
    """Open a scorer.

    Args:
        model: ``embedded``, a registered name, a checkpoint folder, a hub name, any of these
            after ``nli:``, or ``rouge1-precision``.
        threshold: decision threshold; None takes the scorer's own.
        device, dtype, batch_tokens, windows, max_length, labels: see
            :class:`prevalence.nli.scorer.NLIScorer`; they do not go with ``rouge1-precision``.
        cache: folder of the pair cache; None for no cache.

    Raises:
        ModelError, ConfigurationError, BackendError: see the scorer and the cache.
    """
    from prevalence.consistency.rouge import ROUGE1_PRECISION, Rouge1PrecisionScorer

    scorer: PairScorer
    if model == ROUGE1_PRECISION:
        if windows or max_length or labels or dtype not in {"auto", "float32"}:
            raise ConfigurationError(
                f"{ROUGE1_PRECISION} has no model: it takes no windows, length, labels or dtype"
            )
        scorer = Rouge1PrecisionScorer(threshold=threshold)
    else:
        from prevalence.nli.scorer import NLIScorer

        scorer = NLIScorer(
            model.removeprefix("nli:"),
            threshold=threshold,
            device=device,
            dtype=dtype,
            batch_tokens=batch_tokens,
            windows=windows,
            max_length=max_length,
            labels=labels,
        )
    if cache is None:
        return scorer
    from prevalence.nli.cache import CachedScorer, PairCache

    return CachedScorer(scorer, PairCache(cache))
