"""What scorers share that show texts to one network: cleaning, fitting, batches, flags.

A child says how a pair becomes inputs, what the network answers, and what becomes of the answers.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.errors import ModelError
from prevalence.nli.packing import batches
from prevalence.nli.pairs import FLAG_TOO_LONG, PairScorer, PairScores, Progress, ScorerTraits
from prevalence.nli.tokens import cleaner

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prevalence.models.checkpoint import Network
    from prevalence.nli.pairs import TextTable

__all__ = ["TOO_LONG", "WORK_UNIT", "Inputs", "Reading", "ReadingScorer", "fitted"]

WORK_UNIT = 512
"""Pairs that are read at a time."""

_BATCH_TOKENS = 4_096

Inputs = dict[str, list[int]]
"""What a tokenizer makes of one text or pair: token ids, and what goes with them."""


class Reading(NamedTuple):
    """How one pair is shown.

    Attributes:
        inputs: what the network is asked, in order.
        flags: a sum of FLAG_* values.
        claims: how many claims they are about, each in as many of them as the others.
    """

    inputs: list[Inputs]
    flags: int = 0
    claims: int = 1


TOO_LONG = Reading([], FLAG_TOO_LONG)
"""Of a pair whose hypothesis leaves the premise no room."""


def fitted(
    encode: Callable[[str], Inputs], text: str, spans: Sequence[tuple[int, int]], limit: int
) -> tuple[Inputs, bool]:
    """The inputs with these tokens of a text, or with as many of the first ones as fit.

    Args:
        encode: from a part of the text to the whole input.
        text: the text.
        spans: characters of each of its tokens, in order.
        limit: most tokens of an input.

    Returns:
        The inputs, and whether tokens were left out.
    """
    left = list(spans)
    # Inside an input the same characters may make more tokens than by themselves.
    while True:
        inputs = encode(text[left[0][0] : left[-1][1]] if left else "")
        over = len(inputs["input_ids"]) - limit
        if over <= 0 or not left:
            return inputs, len(left) < len(spans)
        left = left[:-over]


class ReadingScorer(PairScorer):
    """A pair scorer that shows texts to one network.

    Args:
        opened: the network.
        traits: what the scorer is.
        batch_tokens: most tokens in a batch, padding included; None for 4,096.
    """

    def __init__(
        self, opened: Network, traits: ScorerTraits, *, batch_tokens: int | None = None
    ) -> None:
        super().__init__(traits)
        self.opened = opened
        self._budget = batch_tokens or _BATCH_TOKENS
        self._clean = cleaner(opened.tokenizer)

    @abstractmethod
    def read(self, premise: str, hypothesis: str) -> Reading:
        """The inputs of a pair, in whose texts no special token stands."""

    @abstractmethod
    def asked(self, inputs: Sequence[Inputs]) -> Any:
        """The answers to a batch of inputs, a tensor [B, outputs]."""

    @abstractmethod
    def pooled(self, outputs: NDArray[np.float32], reading: Reading) -> tuple[float, float]:
        """P(entailment) and P(contradiction), or NaN, from float32 [inputs, outputs] of a pair."""

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.pairs.PairScorer.score`."""
        result = PairScores.empty(len(pairs))
        unit = self.traits.work_unit
        for start in range(0, len(pairs), unit):
            part = slice(start, start + unit)
            result.put(part, self._score_unit(texts, pairs[part]))
            if progress is not None:
                progress(len(pairs[part]))
        return result

    def tokens(self, text: str) -> list[tuple[int, int]]:
        """The characters of each token of a text, special ones left aside."""
        spans = self.opened.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )["offset_mapping"]
        return [(int(start), int(end)) for start, end in spans]

    def encoded(self, *texts: str) -> Inputs:
        """The inputs of one text, or of two as a pair, however long."""
        return dict(self.opened.tokenizer(*texts, truncation=False, verbose=False))

    def _score_unit(self, texts: TextTable, pairs: NDArray[np.int64]) -> PairScores:
        """Score as many pairs as are read at a time, all of whose inputs are in memory at once."""
        result = PairScores.empty(len(pairs))
        readings = [self.read(self._clean(texts[a]), self._clean(texts[b]))
                    for a, b in pairs.tolist()]  # fmt: skip
        ends = np.cumsum([len(reading.inputs) for reading in readings])
        outputs = self._outputs([part for reading in readings for part in reading.inputs])
        for row, (reading, end) in enumerate(zip(readings, ends.tolist(), strict=True)):
            result.flags[row] = reading.flags
            if not reading.flags & FLAG_TOO_LONG:
                own = outputs[end - len(reading.inputs) : end]
                result.entailment[row], result.contradiction[row] = self.pooled(own, reading)
        return result

    def _outputs(self, inputs: Sequence[Inputs]) -> NDArray[np.float32]:
        """The answers, float32 [inputs, outputs]."""
        if not inputs:
            return np.empty((0, 1), np.float32)
        lengths = np.array([len(part["input_ids"]) for part in inputs], np.int64)
        found: list[Any] = [None] * len(inputs)
        for rows in batches(lengths, self._budget):
            with self.opened.asked(f"{self.opened.name}: the device failed"):
                answers = self.asked([inputs[row] for row in rows]).float().cpu().numpy()
            for row, answer in zip(rows.tolist(), answers, strict=True):
                found[row] = answer
        outputs = np.array(found, np.float32)
        if not np.isfinite(outputs).all():
            raise ModelError(f"{self.opened.name}: it gave no finite number for some pairs")
        return outputs
