"""From an option to a pair scorer: the one place that knows which scorers there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.errors import ConfigurationError
from prevalence.nli.registry import EMBEDDED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from prevalence.nli.protocol import PairScorer

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
        device: ``auto``, ``cpu``, ``cuda``, ``mps``. This and the options below are for models,
            see :class:`prevalence.nli.scorer.NLIScorer`; ``rouge1-precision`` has none.
        dtype: ``auto``, ``float32``, ``float16`` or ``bfloat16``.
        batch_tokens: most tokens in a batch.
        windows: read long premises in windows that advance by this many tokens.
        max_length: a token limit below the model's own.
        labels: class names in output order, for a checkpoint that does not name them.
        cache: folder of the pair cache; None for no cache.

    Raises:
        ModelError, ConfigurationError, BackendError: see the scorer. A cache never fails: when its
            file cannot be used, it warns and scoring goes on without it.
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
