"""InfoLM: how far apart two texts are in what a masked language model expects of them.

Every token is masked once; the mean of what the model expects in those places is the text's
distribution over the vocabulary, and the value is a divergence of two of them. With ``idf`` a
place weighs as its hidden token does among the texts of its own side.

Source: Colombo, Clavel and Piantanida 2022, section 3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.baselines.generative.divergences import Divergence
from prevalence.baselines.generative.masked import logits_at, open_masked
from prevalence.baselines.neural.frequencies import Weights, learnt_by_side
from prevalence.baselines.rules import comparing
from prevalence.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.generative.masked import Frame
    from prevalence.baselines.neural.runner import Runner, Tokens
    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["Distributions", "open_infolm"]

_TEMPERATURE = 0.25


class Distributions:
    """Distributions of texts over the vocabulary.

    Args:
        runner: a masked language model.
        frame: its special tokens.
        temperature: divides the logits.

    Attributes:
        truncated: texts cut so far.
    """

    def __init__(self, runner: Runner, frame: Frame, temperature: float) -> None:
        self.runner = runner
        self._mask = frame.mask
        self._temperature = temperature
        self.truncated = 0

    def __call__(self, texts: Sequence[str], weights: Weights) -> list[NDArray[np.float64]]:
        """Distributions, float64 [V] each; all NaN for a text of which nothing weighs.

        Raises:
            ModelError: the network gives no number.
        """
        rows = self.runner.tokens(texts)
        self.truncated += sum(row.cut for row in rows)
        weight = [weights.of(row) for row in rows]
        asked = [(at, place) for at, w in enumerate(weight) for place in np.flatnonzero(w).tolist()]
        sums = [np.zeros(int(self.runner.network.config.vocab_size)) for _ in rows]

        def forward(chosen: NDArray[np.int64]) -> list[bool]:
            batch = [asked[number] for number in chosen.tolist()]
            for (at, place), row in zip(batch, self._expected(rows, batch), strict=True):
                sums[at] += weight[at][place] * row
            return [True] * len(batch)

        self.runner.run([rows[at].ids.size for at, _ in asked], forward)
        totals = [float(part.sum()) for part in weight]
        return [
            part / total if total > 0 else np.full_like(part, math.nan)
            for part, total in zip(sums, totals, strict=True)
        ]

    def _expected(self, rows: Sequence[Tokens], batch: Sequence[tuple[int, int]]) -> Any:
        """What is expected in each place, float32 [B, V]."""
        inputs = [rows[at].ids.copy() for at, _ in batch]
        for row, (_, place) in zip(inputs, batch, strict=True):
            row[place] = self._mask
        logits = logits_at(self.runner, inputs, [np.array([place]) for _, place in batch])
        expected = (logits.float() / self._temperature).softmax(-1).cpu().numpy()
        self.runner.numbers(expected.max(axis=-1))
        return expected


def open_infolm(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:
    """Open InfoLM: a divergence of two distributions over the vocabulary, 0 for equal ones.

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: an option has a value that it does not know.

    Source: Colombo, Clavel and Piantanida 2022, section 3.
    """
    divergence = _divergence(entry, spec)
    temperature = _number(entry, spec, "temperature", _TEMPERATURE)
    if not 0 < temperature < math.inf:
        raise ConfigurationError(
            f"{entry.name}: temperature={temperature:g}: give a number above 0"
        )
    runner, frame = open_masked(spec.options.get("model", entry.models[0]), runtime)
    distributions = Distributions(runner, frame, temperature)
    idf = "idf" in spec.options
    own, other = Weights(runner, learns=idf), Weights(runner, learns=idf)

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        summaries = [*dict.fromkeys(pair.summary for pair in comparisons)]
        texts = [*dict.fromkeys(pair.text for pair in comparisons)]
        q = dict(zip(summaries, distributions(summaries, own), strict=True))
        p = dict(zip(texts, distributions(texts, other), strict=True))
        return [divergence(p[pair.text], q[pair.summary]) for pair in comparisons]

    signature = {
        **runner.signature,
        "measure": divergence.measure,
        **{name: f"{value:g}" for name, value in divergence.parameters.items()},
        "temperature": f"{temperature:g}",
    }
    metric = comparing(
        entry, spec, compute, signature=signature, cuts=lambda: distributions.truncated
    )
    return learnt_by_side(metric, own, other) if idf else metric


def _divergence(entry: Entry, spec: Spec) -> Divergence:
    numbers = {name: _number(entry, spec, name, 1.0) for name in ("alpha", "beta")}
    measure = spec.options.get("measure", "ab")
    try:
        divergence = Divergence(measure=measure, **numbers)
    except ConfigurationError as error:
        raise ConfigurationError(f"{entry.name}: {error}") from error
    unused = sorted(numbers.keys() & spec.options.keys() - divergence.parameters.keys())
    if unused:
        raise ConfigurationError(f"{entry.name}: measure={measure} has no {unused[0]}")
    return divergence


def _number(entry: Entry, spec: Spec, option: str, usual: float) -> float:
    stated = spec.options.get(option)
    try:
        return usual if stated is None else float(stated)
    except ValueError as error:
        raise ConfigurationError(f"{entry.name}: {option}={stated}: give a number") from error
