"""Perplexity: the exponential of the mean negative log-likelihood of a summary's tokens.

Alone, by a causal model, or given the reviews, by an encoder with a decoder; which tokens count
is said in :mod:`prevalence.baselines.generative.likelihood`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prevalence.baselines.generative.likelihood import CausalLikelihood, GivenLikelihood
from prevalence.baselines.rules import SummaryMetric, comparing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["open_perplexity", "open_perplexity_given"]

_MODEL = "gpt2"
_GIVEN_MODEL = "facebook/bart-large-cnn"


def open_perplexity(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open perplexity of the summary alone."""
    start = "start" in spec.options
    likelihood = CausalLikelihood(spec.options.get("model", _MODEL), runtime, start=start)

    def compute(summaries: Sequence[str]) -> NDArray[np.float64]:
        return np.exp(-likelihood(summaries))

    return SummaryMetric(
        name=spec.canonical(),
        entry=entry,
        compute=compute,
        signature={**likelihood.runner.signature, "first": "counts" if start else "given"},
        cuts=lambda: likelihood.truncated,
    )


def open_perplexity_given(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open perplexity of the summary given the reviews."""
    likelihood = GivenLikelihood(spec.options.get("model", _GIVEN_MODEL), runtime)

    def compute(comparisons: Sequence[Comparison]) -> NDArray[np.float64]:
        return np.exp(-likelihood([(pair.text, pair.summary) for pair in comparisons]))

    return comparing(
        entry,
        spec,
        compute,
        signature=likelihood.runner.signature,
        cuts=lambda: likelihood.truncated,
    )
