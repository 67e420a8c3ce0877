"""What published fact-checking encoders share as scorers: chunks, claims, fitting, pooling.

A checker cuts the premise into chunks, asks each about a claim, and takes the chunk that supports
the claim most. A new one is a file with a child of :class:`FactChecker`, its line among
:data:`CHECKERS`, and its checkpoints in :data:`prevalence.models.registry.REGISTRY`.
"""

from __future__ import annotations

from abc import abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import ModelError
from prevalence.metric import check_threshold
from prevalence.models.lengths import asked_length
from prevalence.models.registry import REGISTRY, lookup
from prevalence.nli.pairs import FLAG_TRUNCATED, ScorerTraits
from prevalence.nli.scorer import rounding_doubt
from prevalence.scorers.reading import (
    TOO_LONG,
    WORK_UNIT,
    Inputs,
    Reading,
    ReadingScorer,
    fitted,
)
from prevalence.scorers.units import sentences_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from prevalence.models.checkpoint import Network

__all__ = [
    "CHECKERS",
    "SUPPORTED",
    "FactChecker",
    "Rule",
    "Running",
    "in_chunks",
    "open_checker",
]

CHECKERS: Mapping[str, str] = {
    "alignscore": "prevalence.scorers.alignscore:AlignScore",
    "minicheck": "prevalence.scorers.minicheck:open_minicheck",
    "factcg": "prevalence.scorers.minicheck:FactCG",
    "hhem": "prevalence.scorers.hhem:HHEM",
}
"""Where each family is: "module:function", which takes a checkpoint, the options in its name and
those beside it."""

SUPPORTED = 1
"""The output of two that means "supported"; their config names none of them."""


_THRESHOLD = 0.5
"""Above which all of their authors decide; none was calibrated on reviews."""


class Running(NamedTuple):
    """Where and how a checker runs: fields of the options of scorers.

    Attributes:
        device: ``auto``, ``cpu``, ``cuda``, ``mps``.
        dtype: ``auto`` (float32), ``float32``, ``float16`` or ``bfloat16``.
        threshold: decision threshold in [0, 1); None takes the authors'.
        max_length: most tokens of a chunk with a claim; None for the checker's own limit.
        batch_tokens: most tokens in a batch, padding included; None for 4,096.
    """

    device: str = "auto"
    dtype: str = "auto"
    threshold: float | None = None
    max_length: int | None = None
    batch_tokens: int | None = None


class Rule(NamedTuple):
    """How a checker reads.

    Attributes:
        name: the family's, with what else changes a score, for the signature.
        gran: what is compared with what, for the signature.
        limit: most tokens of a chunk with a claim.
        by_sentence: whether each sentence of a hypothesis is a claim of its own.
    """

    name: str
    gran: str
    limit: int
    by_sentence: bool


class FactChecker(ReadingScorer):
    """Mean over the claims of a hypothesis of P(supported) by the chunk that supports it most.

    A chunk that is too long beside its claim loses its end. There is no contradiction class.

    Args:
        opened: the network.
        rule: how it reads.
        options: threshold, length and batches.

    Raises:
        ConfigurationError: a length beyond what the checker reads.
    """

    def __init__(self, opened: Network, rule: Rule, options: Running) -> None:
        self.limit = asked_length(
            opened.config, rule.limit, opened.name, options.max_length, rule.limit
        )
        self._by_sentence = rule.by_sentence
        super().__init__(opened, self._traits(opened, rule, options.threshold),
                         batch_tokens=options.batch_tokens)  # fmt: skip

    def _traits(self, opened: Network, rule: Rule, threshold: float | None) -> ScorerTraits:
        claims = "sentence" if rule.by_sentence else "whole"
        signature = {
            "nli": opened.signature,
            "consistency": rule.name,
            "gran": f"{rule.gran}-{claims}",
            "trunc": str(self.limit),
        }
        if opened.dtype != "float32":
            signature["dtype"] = opened.dtype
        return ScorerTraits.unwrapped(
            opened.digest + repr(sorted(signature.items())).encode(),
            signature=signature,
            threshold=_THRESHOLD if threshold is None else check_threshold(threshold),
            calibrated=threshold is not None,
            three_way=False,
            probability=True,
            # Maxima and means move log-odds no further than the answer that moves furthest.
            doubt=rounding_doubt(opened.dtype),
            work_unit=WORK_UNIT,
        )

    @abstractmethod
    def chunks(self, premise: str) -> Sequence[str]:
        """The parts of a premise that are read, one at a time."""

    @abstractmethod
    def shown(self, chunk: str, claim: str) -> tuple[str, ...]:
        """What the tokenizer is given: a text, or two as a pair."""

    def asked(self, inputs: Sequence[Inputs]) -> Any:
        """P(supported), [B, 1]: here by a head of two classes."""
        logits = self.opened.network(**self.opened.padded(inputs)).logits.float()
        return logits.softmax(-1)[:, SUPPORTED, None]

    def read(self, premise: str, hypothesis: str) -> Reading:
        """Every chunk with every claim; the chunks of a claim stand side by side."""
        claims = (sentences_of(hypothesis) if self._by_sentence else []) or [hypothesis]
        chunks = self.chunks(premise) or [""]
        inputs, flags = [], 0
        for claim in claims:
            for chunk in chunks:
                found, cut = self._fitted(chunk, claim)
                if found is None:
                    return TOO_LONG
                inputs.append(found)
                flags |= FLAG_TRUNCATED * cut
        return Reading(inputs, flags, len(claims))

    def _fitted(self, chunk: str, claim: str) -> tuple[Inputs | None, bool]:
        """The inputs of a chunk with a claim, None where it has no room, and whether it was cut."""

        def encode(part: str) -> Inputs:
            return self.encoded(*self.shown(part, claim))

        whole = encode(chunk)
        if len(whole["input_ids"]) <= self.limit:
            return whole, False
        if len(encode("")["input_ids"]) >= self.limit:
            return None, False
        return fitted(encode, chunk, self.tokens(chunk), self.limit)

    def pooled(self, outputs: NDArray[np.float32], reading: Reading) -> tuple[float, float]:
        """The mean over claims of the greatest P(supported)."""
        return float(outputs.reshape(reading.claims, -1).max(axis=1).mean()), float("nan")


def in_chunks(sentences: Iterable[str], size: Callable[[str], int], most: int) -> list[list[str]]:
    """Sentences in runs, each as long as it can be without its sizes summing to more than ``most``.

    A sentence of a greater size is a run by itself.

    >>> in_chunks(["a b", "c", "d e f g", "h"], lambda text: len(text.split()), 3)
    [['a b', 'c'], ['d e f g'], ['h']]
    """
    runs: list[list[str]] = []
    held = 0
    for sentence in sentences:
        added = size(sentence)
        if runs and held + added <= most:
            runs[-1].append(sentence)
            held += added
        else:
            runs.append([sentence])
            held = added
    return runs


def open_checker(family: str, named: Mapping[str, str], options: Running) -> FactChecker:
    """Open a checker.

    Args:
        family: one of :data:`CHECKERS`.
        named: the options in its name, ``model`` and ``claims`` among them.
        options: those beside it.

    Raises:
        ModelError: its weights are not there or not usable; the message says how to get them.
    """
    module, _, name = CHECKERS[family].partition(":")
    try:
        checker: FactChecker = getattr(import_module(module), name)(named, options)
    except ModelError as error:
        published = [entry for entry in REGISTRY.values() if entry.family == family]
        entry = lookup(named["model"]) or published[0]
        raise ModelError(f"{error}. Published weights: {entry.fetching}") from error
    return checker
