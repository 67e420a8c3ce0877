"""BARTScore: mean log-likelihood of one text given the other, by an encoder with a decoder.

A value equals that of the authors' ``BARTScorer.score`` with the same checkpoint: every token of
the target counts, those that the tokenizer puts before and behind it included, and the decoder
starts as the checkpoint's config says. Several references are averaged unless asked otherwise,
as in the authors' ``multi_ref_score``.

Source: Yuan, Neubig and Liu 2021, section 3, without prompts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prevalence.baselines.generative.likelihood import GivenLikelihood
from prevalence.baselines.rules import comparing

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["open_bartscore"]

_MODEL = "facebook/bart-large-cnn"
_TO_OTHER = "bartscore-recall"


def open_bartscore(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open one direction."""
    likelihood = GivenLikelihood(spec.options.get("model", _MODEL), runtime)

    def compute(comparisons: Sequence[Comparison]) -> NDArray[np.float64]:
        pairs = [(pair.text, pair.summary) for pair in comparisons]
        if entry.name == _TO_OTHER:
            pairs = [(summary, text) for text, summary in pairs]
        return likelihood(pairs)

    return comparing(
        entry,
        spec,
        compute,
        signature=likelihood.runner.signature,
        refs="mean",
        cuts=lambda: likelihood.truncated,
    )
