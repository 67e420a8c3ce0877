"""Weights of tokens, and metrics that must see the whole input before they can weigh one."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from prevalence.baselines.protocol import WrappedMetric
from prevalence.baselines.rules import ComparingMetric
from prevalence.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.neural.runner import Runner, Tokens
    from prevalence.baselines.protocol import Example, Progress

__all__ = ["PreparedMetric", "Weights", "learnt_by_side"]


class Weights:
    """Weights of tokens: inverse document frequencies once learnt, and 1 otherwise.

    Args:
        runner: reads the texts.
        learns: whether frequencies must be learnt before the first weight.

    Source: Zhang et al. 2020, section 3; log((N + 1) / (n + 1)) of N texts, n of which hold it.
    """

    def __init__(self, runner: Runner, *, learns: bool) -> None:
        self._runner = runner
        self._learns = learns
        self._counts: Counter[int] = Counter()
        self._texts: set[str] = set()

    def learn(self, texts: Iterable[str]) -> None:
        """Count in which of these texts a token stands; texts seen before do not count again."""
        new = [text for text in dict.fromkeys(texts) if text not in self._texts]
        self._texts.update(new)
        for row in self._runner.tokens(new):
            self._counts.update(set(row.ids.tolist()))

    @property
    def digest(self) -> str:
        """Digest of the frequencies learnt so far, 12 hex digits."""
        learnt = json.dumps([len(self._texts), sorted(self._counts.items())])
        return hashlib.blake2b(learnt.encode(), digest_size=6).hexdigest()

    def of(self, text: Tokens) -> NDArray[np.float64]:
        """Weights of a text's tokens, float64 [T]; special tokens weigh nothing.

        Raises:
            InputError: frequencies are wanted and were not learnt.
        """
        if not self._learns:
            return text.plain.astype(np.float64)
        if not self._texts:
            raise InputError("idf weights need the whole input first: call prepare(examples)")
        count = len(self._texts) + 1
        learnt = [math.log(count / (self._counts[number] + 1)) for number in text.ids.tolist()]
        return np.where(text.plain, learnt, 0.0)


def learnt_by_side(metric: ComparingMetric, own: Weights, other: Weights) -> PreparedMetric:
    """The metric with one table of weights for summaries, and one for what they are compared with.

    Args:
        metric: its values depend on both.
        own: weights of summaries.
        other: weights of the other texts.
    """

    def learn(summary: str, texts: tuple[str, ...]) -> None:
        own.learn([summary])
        other.learn(texts)

    return PreparedMetric(metric, [own, other], learn)


class PreparedMetric(WrappedMetric[ComparingMetric]):
    """A comparing metric that learns weights from the whole input.

    Its signature says ``idf=input`` until it is prepared, and then also what was learnt, so that
    values under other weights are not taken for these.

    Args:
        inner: the metric, whose values depend on ``weights``.
        weights: what is learnt.
        learn: takes a summary, and the texts that it is compared with.
    """

    def __init__(
        self,
        inner: ComparingMetric,
        weights: Sequence[Weights],
        learn: Callable[[str, tuple[str, ...]], None],
    ) -> None:
        super().__init__(inner)
        self._weights = tuple(weights)
        self._learn = learn
        self._learnt = ""

    @property
    def signature(self) -> Mapping[str, str]:
        """The metric's, and a digest of what was learnt."""
        return {**self._inner.signature, "idf": f"input{self._learnt}"}

    def prepare(self, examples: Iterable[Example]) -> None:
        """Learn from all examples; each text counts once."""
        for example in examples:
            self._learn(example.summary, self._inner.texts(example))
        self._learnt = "".join(f"@{weights.digest}" for weights in self._weights)

    def score(
        self, examples: Sequence[Example], *, progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """Score examples; see :meth:`prevalence.baselines.protocol.Metric.score`."""
        return self._inner.score(examples, progress=progress)
