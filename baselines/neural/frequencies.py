"""Weights of tokens, and metrics that must see the whole input before they can weigh one."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.baselines.protocol import REFERENCE
from prevalence.baselines.rules import ComparingMetric
from prevalence.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from prevalence.baselines.neural.runner import Runner, Tokens
    from prevalence.baselines.protocol import Example

__all__ = ["PreparedMetric", "Weights"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedMetric(ComparingMetric):
    """A comparing metric that learns weights from the whole input.

    Attributes:
        learn: takes a summary, and the texts that it is compared with.
    """

    learn: Callable[[str, tuple[str, ...]], None]

    @classmethod
    def of(
        cls, metric: ComparingMetric, learn: Callable[[str, tuple[str, ...]], None]
    ) -> PreparedMetric:
        """The metric, with what it must learn."""
        kept: dict[str, Any] = {part.name: getattr(metric, part.name) for part in fields(metric)}
        return cls(**kept, learn=learn)

    def prepare(self, examples: Iterable[Example]) -> None:
        """Learn from all examples; each text counts once."""
        for example in examples:
            against = example.references if self.against == REFERENCE else example.reviews
            self.learn(example.summary, against)
