"""What scorers on parts of texts share: the wave of unit pairs, flags, progress, names."""

from __future__ import annotations

import hashlib
import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prevalence.metric import check_threshold
from prevalence.nli.pairs import (
    FLAG_TOO_LONG,
    FLAG_TRUNCATED,
    PairPlan,
    PairScorer,
    PairScores,
    Progress,
    TextTable,
)
from prevalence.text.sentences import NLTK_PUNKT, get_splitter, punkt_sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = [
    "GRANULARITIES",
    "LEAST_CHARACTERS",
    "SUMMAC_SPLITTER",
    "Cutter",
    "UnitAnswers",
    "UnitCutter",
    "UnitScorer",
    "ask_units",
    "in_proportion",
    "models_of",
    "sentences_of",
]


LEAST_CHARACTERS = 11
"""Shorter sentences and paragraphs are no units of SummaC's."""

SUMMAC_SPLITTER = NLTK_PUNKT
"""What cuts SummaC's sentences, as in its package."""

Cutter = Callable[[str], list[str]]
"""From a text to its units."""


def sentences_of(text: str, splitter: str | None = None) -> list[str]:
    """The sentences of a text.

    Args:
        text: any.
        splitter: a name that :func:`prevalence.text.sentences.get_splitter` knows; None for
            :func:`prevalence.text.sentences.punkt_sentences`.

    >>> sentences_of("They fit. I love them!")
    ['They fit.', 'I love them!']
    """
    split = punkt_sentences if splitter is None else get_splitter(splitter)
    return [sentence.text for sentence in split(text)]


def _long_sentences(text: str) -> list[str]:
    sentences = sentences_of(text, SUMMAC_SPLITTER)
    return [unit for unit in sentences if len(unit) >= LEAST_CHARACTERS]


def _neighbours(text: str) -> list[str]:
    """Every sentence with the one after it; the last one stands alone."""
    sentences = _long_sentences(text)
    return [" ".join(sentences[place : place + 2]) for place in range(len(sentences))]


def _paragraphs(text: str) -> list[str]:
    """Parts between empty lines, or lines where there is no empty one."""
    parts = text.split("\n\n") if "\n\n" in text else text.split("\n")
    return [unit for unit in map(str.strip, parts) if len(unit) >= LEAST_CHARACTERS]


GRANULARITIES: dict[str, Cutter] = {
    "document": lambda text: [text],
    "paragraph": _paragraphs,
    "sentence": _long_sentences,
    "2sents": _neighbours,
    "mixed": lambda text: _long_sentences(text) + _paragraphs(text),
}
"""How SummaC cuts a text: whole, into paragraphs, sentences, neighbouring sentences, or the second
and third together.

Source: Laban et al. 2022 and the behaviour of the summac package, version 0.0.4.
"""


@dataclass(slots=True)
class _Cut:
    """The units of one table's texts so far."""

    units: TextTable = field(default_factory=TextTable)
    sides: tuple[dict[int, NDArray[np.int64]], ...] = field(default_factory=lambda: ({}, {}))
    shortened: set[int] = field(default_factory=set)


class UnitCutter:
    """Cuts the texts of tables into numbered units, each text once.

    Args:
        premise: cuts premises.
        hypothesis: cuts hypotheses.
        most: units of a premise that are read.
    """

    def __init__(self, premise: Cutter, hypothesis: Cutter, *, most: int | None = None) -> None:
        self._cutters = (premise, hypothesis)
        self._most = (most, None)
        # The units must not hold the table of the texts, so that both can be freed together.
        self._known: weakref.WeakKeyDictionary[TextTable, _Cut] = weakref.WeakKeyDictionary()

    def table(self, texts: TextTable) -> TextTable:
        """The table of the units of a table's texts."""
        return self._of(texts).units

    def units(self, texts: TextTable, number: int, *, side: int) -> NDArray[np.int64]:
        """Numbers, in :meth:`table`, of the units of one text.

        Args:
            texts: the table that ``number`` refers to.
            number: the text.
            side: 0 for a premise, 1 for a hypothesis.
        """
        cut = self._of(texts)
        known = cut.sides[side]
        if number not in known:
            found = self._cutters[side](texts[number])
            kept = found[: self._most[side]]
            if len(kept) < len(found):
                cut.shortened.add(number)
            known[number] = cut.units.add_all(kept)
        return known[number]

    def shortened(self, texts: TextTable, premise: int) -> bool:
        """Whether a premise, whose units were asked for, has more units than are read."""
        return premise in self._of(texts).shortened

    def _of(self, texts: TextTable) -> _Cut:
        return self._known.setdefault(texts, _Cut())


class UnitAnswers(NamedTuple):
    """Answers about the units of P pairs.

    Attributes:
        scores: answers of all unit pairs, one pair after the other, premises varying slowest.
        places: the slice of ``scores`` that belongs to each pair.
        shapes: (premise units, hypothesis units) of each pair.
        flags: uint8 [P], those that any of its unit pairs carries, and FLAG_TRUNCATED for a premise
            with more units than are read.
    """

    scores: PairScores
    places: list[slice]
    shapes: list[tuple[int, int]]
    flags: NDArray[np.uint8]

    def images(self, values: NDArray[np.float32]) -> Iterator[NDArray[np.float64]]:
        """One field of ``scores`` as a matrix [premise units, hypothesis units] for each pair.

        A pair in which a text has no unit gets a single 0, as in SummaC.
        """
        wide = values.astype(np.float64)
        for place, shape in zip(self.places, self.shapes, strict=True):
            yield wide[place].reshape(shape) if 0 not in shape else np.zeros((1, 1))


def ask_units(
    scorer: PairScorer,
    cutter: UnitCutter,
    texts: TextTable,
    pairs: NDArray[np.int64],
    *,
    progress: Progress | None = None,
) -> UnitAnswers:
    """Ask about every unit of the premise and every unit of the hypothesis, in one wave.

    Args:
        scorer: answers pairs of units.
        cutter: cuts the texts.
        texts: the table that ``pairs`` refers to.
        pairs: int64 [P, 2] of (premise, hypothesis).
        progress: called with the number of ``pairs`` done, in step with the unit pairs.
    """
    plan = PairPlan()
    places, shapes = [], []
    for premise, hypothesis in pairs.tolist():
        left = cutter.units(texts, premise, side=0)
        right = cutter.units(texts, hypothesis, side=1)
        places.append(plan.add_product(left, right))
        shapes.append((len(left), len(right)))
    asked, back = plan.unique()
    inner = in_proportion(progress, len(asked), len(pairs))
    answers = scorer.score(cutter.table(texts), asked, progress=inner).take(back)
    if progress is not None and not len(asked):
        progress(len(pairs))
    flags = [np.bitwise_or.reduce(answers.flags[place], initial=0) for place in places]
    short = [cutter.shortened(texts, premise) for premise in pairs[:, 0].tolist()]
    marked = np.array(flags, np.uint8) | np.where(short, FLAG_TRUNCATED, 0).astype(np.uint8)
    return UnitAnswers(answers, places, shapes, marked)


def in_proportion(progress: Progress | None, inner: int, outer: int) -> Progress | None:
    """A progress function for ``inner`` steps that reports ``outer`` steps, all in the end.

    >>> seen = []
    >>> step = in_proportion(seen.append, 4, 10)
    >>> for _ in range(4): step(1)
    >>> seen
    [2, 3, 2, 3]
    """
    if progress is None:
        return None
    done = told = 0

    def step(count: int) -> None:
        nonlocal done, told
        done += count
        reached = outer * done // max(inner, 1)
        if reached > told:
            progress(reached - told)
            told = reached

    return step


_UNIT_PAIRS = 8
"""Unit pairs that a pair is taken to need, when the work of a call is planned."""


def models_of(inners: Sequence[PairScorer]) -> str:
    """The scorers as signatures name them, with ``+`` between."""
    signatures = [inner.traits.signature for inner in inners]
    return "+".join(parts.get("nli", parts.get("consistency", "")) for parts in signatures)


class UnitScorer(PairScorer):
    """A pair scorer that asks others about units; a child says what becomes of the answers.

    Args:
        inners: one or more scorers, each of which answers every pair of units. Their doubt is that
            of the scores, which holds for whatever is made of probabilities and their complements
            by means, maxima and minima alone: σ(logit p + d) is concave in p for d > 0 and convex
            for d < 0, so that a mean's log-odds move no further than d. A child that does more
            refuses doubt.
        cutter: cuts texts.
        name: the scorer's name, for signature and digest.
        described: what else changes a score, by its key in the signature.
        threshold: decision threshold in [0, 1).
        calibrated: whether it was calibrated, or given.
        probability: whether a score may stand for a probability.
    """

    def __init__(
        self,
        inners: Sequence[PairScorer],
        cutter: UnitCutter,
        *,
        name: str,
        described: Mapping[str, str],
        threshold: float,
        calibrated: bool,
        probability: bool,
    ) -> None:
        first, each = inners[0].traits, [inner.traits for inner in inners]
        settings = repr((name, sorted(described.items()))).encode()
        traits = replace(
            first,
            errors=None,
            digest=hashlib.blake2b(
                b"".join(inner.digest for inner in each) + settings, digest_size=16
            ).digest(),
            signature={
                **first.signature,
                "nli": models_of(inners),
                "consistency": name,
                **described,
            },
            threshold=check_threshold(threshold),
            calibrated=calibrated,
            three_way=False,
            probability=probability,
            doubt=max(inner.doubt for inner in each),
            rechecks=False,
            cached=all(inner.cached for inner in each),
            work_unit=max(1, first.work_unit // _UNIT_PAIRS),
        )
        super().__init__(traits, *inners)
        self._cutter = cutter

    def answers(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> list[UnitAnswers]:
        """What each inner scorer says about the units of every pair."""
        step = in_proportion(progress, len(self.inners) * len(pairs), len(pairs))
        return [
            ask_units(inner, self._cutter, texts, pairs, progress=step) for inner in self.inners
        ]

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.pairs.PairScorer.score`."""
        answers = self.answers(texts, pairs, progress=progress)
        result = PairScores.empty(len(pairs))
        result.flags[:] = np.bitwise_or.reduce([answer.flags for answer in answers])
        readable = (result.flags & FLAG_TOO_LONG) == 0
        result.entailment[readable] = np.clip(self.reduce(answers), 0.0, 1.0)[readable]
        return result

    @abstractmethod
    def reduce(self, answers: Sequence[UnitAnswers]) -> NDArray[np.float64]:
        """One score in [0, 1] a pair, float64 [P], from each inner scorer's answers."""
