"""Perplexity and BARTScore: the likelihood of a summary, or of what it is compared with.

Perplexity is the exponential of the mean negative log-likelihood of a summary's tokens: alone, by
a causal model, or given the reviews, by an encoder with a decoder. Which tokens count is said in
:mod:`prevalence.baselines.generative.likelihood`.

BARTScore is the mean log-likelihood of one text given the other. A value equals that of the
authors' ``BARTScorer.score`` with the same checkpoint: every token of the target counts, those
that the tokenizer puts before and behind it included, and the decoder starts as the checkpoint's
config says. Several references are averaged unless asked otherwise, as in the authors'
``multi_ref_score``.

Source: Yuan, Neubig and Liu 2021, section 3, without prompts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prevalence.baselines.generative.likelihood import (
    CausalLikelihood,
    GivenLikelihood,
    open_given,
)
from prevalence.baselines.rules import SummaryMetric, comparing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["open_bartscore", "open_perplexity", "open_perplexity_given"]

_TO_OTHER = "bartscore-recall"


def open_perplexity(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open perplexity of the summary alone, from 1; lower is better.

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: a start token is asked for that the tokenizer lacks.
    """
    start = "start" in spec.options
    likelihood = CausalLikelihood(spec.options.get("model", entry.models[0]), runtime, start=start)

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
    """Open perplexity of the summary given the reviews, from 1; lower is better.

    Raises:
        ModelError: the checkpoint is unusable.
    """
    return _given(entry, spec, runtime, lambda known, pairs: np.exp(-known(pairs)), refs="best")


def open_bartscore(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open one direction of BARTScore: a mean natural log-probability of tokens, up to 0.

    Raises:
        ModelError: the checkpoint is unusable.

    Source: Yuan, Neubig and Liu 2021; the authors' program without prompts.
    """

    def value(known: GivenLikelihood, pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
        return known([(s, t) for t, s in pairs] if entry.name == _TO_OTHER else pairs)

    return _given(entry, spec, runtime, value, refs="mean")


def _given(
    entry: Entry,
    spec: Spec,
    runtime: Runtime,
    value: Callable[[GivenLikelihood, list[tuple[str, str]]], NDArray[np.float64]],
    *,
    refs: str,
) -> Metric:
    """A metric by the likelihood of one text of a pair given the other."""
    likelihood = open_given(spec.options.get("model", entry.models[0]), runtime)

    def compute(comparisons: Sequence[Comparison]) -> NDArray[np.float64]:
        return value(likelihood, [(pair.text, pair.summary) for pair in comparisons])

    return comparing(
        entry,
        spec,
        compute,
        signature=likelihood.runner.signature,
        refs=refs,
        cuts=lambda: likelihood.truncated,
    )
