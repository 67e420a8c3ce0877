"""Pairs of texts by number, and what answers them: the plan, the answers, the scorer's contract."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from operator import add, sub
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from prevalence.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from prevalence.stats.correction import ErrorRates

__all__ = [
    "FLAG_TOO_LONG",
    "FLAG_TRUNCATED",
    "PairPlan",
    "PairScorer",
    "PairScores",
    "PairStore",
    "Progress",
    "ScorerCounts",
    "ScorerTraits",
    "TextTable",
    "checked_scorer",
    "no_pairs",
    "score_pairs",
]


DIGEST_SIZE = 16

Numbers = Sequence[int] | NDArray[np.int64]
"""Text numbers."""


class TextTable:
    """Texts numbered from 0 in order of first appearance; equal texts share a number.

    Attributes:
        characters: length of all texts together.
    """

    def __init__(self) -> None:
        self.characters = 0
        self._texts: list[str] = []
        self._ids: dict[str, int] = {}
        self._digests: dict[int, bytes] = {}

    def add(self, text: str) -> int:
        """Return the number of ``text``, giving it the next one when it is new."""
        known = self._ids.get(text)
        if known is not None:
            return known
        number = len(self._texts)
        self._texts.append(text)
        self.characters += len(text)
        # Last, so that an interrupt leaves no text under a number that is not its own.
        self._ids[text] = number
        return number

    def add_all(self, texts: Iterable[str]) -> NDArray[np.int64]:
        """Numbers of several texts, int64 of their count."""
        return np.fromiter((self.add(text) for text in texts), dtype=np.int64)

    def digest(self, number: int) -> bytes:
        """BLAKE2b digest of a text's UTF-8 bytes, 16 bytes, computed once."""
        known = self._digests.get(number)
        if known is None:
            # Texts that no reader has repaired still need a digest.
            data = self._texts[number].encode("utf-8", "surrogatepass")
            known = hashlib.blake2b(data, digest_size=DIGEST_SIZE).digest()
            self._digests[number] = known
        return known

    def __getitem__(self, number: int) -> str:
        return self._texts[number]

    def __len__(self) -> int:
        return len(self._texts)


class PairPlan:
    """Requests for pairs, kept in the order in which they were made, scored once each.

    >>> plan = PairPlan()
    >>> first = plan.add([0, 1], [5, 5])
    >>> again = plan.add([1], [5])
    >>> pairs, back = plan.unique()
    >>> pairs.tolist(), back[first].tolist(), back[again].tolist()
    ([[0, 5], [1, 5]], [0, 1], [1])
    """

    def __init__(self) -> None:
        self._premises: list[NDArray[np.int64]] = []
        self._hypotheses: list[NDArray[np.int64]] = []
        self._length = 0

    def add(self, premises: Numbers, hypotheses: Numbers) -> slice:
        """Request the pairs (premises[i], hypotheses[i]).

        Args:
            premises: text numbers, any length k.
            hypotheses: text numbers, the same length.

        Returns:
            The slice of the request: index the second array of :meth:`unique` with it.
        """
        start, self._length = self._length, self._length + len(premises)
        self._premises.append(np.asarray(premises, dtype=np.int64))
        self._hypotheses.append(np.asarray(hypotheses, dtype=np.int64))
        return slice(start, self._length)

    def add_product(self, premises: Numbers, hypotheses: Numbers) -> slice:
        """Request every pair of a premise and a hypothesis, premises varying slowest."""
        rows, columns = len(premises), len(hypotheses)
        return self.add(np.repeat(premises, columns), np.tile(hypotheses, rows))

    def __len__(self) -> int:
        """Pairs requested, repeated ones included."""
        return self._length

    def unique(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The distinct pairs, and where each request finds its own.

        Returns:
            pairs: int64 [P, 2], sorted by premise and then hypothesis.
            back: int64 [requests], the row of ``pairs`` that answers each request.
        """
        if not self._length:
            return np.empty((0, 2), np.int64), np.empty(0, np.int64)
        premises = np.concatenate(self._premises)
        hypotheses = np.concatenate(self._hypotheses)
        base = int(hypotheses.max()) + 1
        keys, back = np.unique(premises * base + hypotheses, return_inverse=True)
        return np.stack(np.divmod(keys, base), axis=1), back


def no_pairs() -> slice:
    """The slice of a request that asks nothing."""
    return slice(0, 0)


FLAG_TRUNCATED = 1
"""The end of the premise, or of another text that the scorer cuts, was not read."""
FLAG_TOO_LONG = 2
"""The hypothesis alone leaves the premise no room; the pair has no probability (NaN)."""

Progress = Callable[[int], None]
"""Called with the number of pairs just scored."""


class PairScores(NamedTuple):
    """Answers for P pairs, in the order of the pairs.

    Attributes:
        entailment: float32 [P], P(entailment) in [0, 1]; NaN where FLAG_TOO_LONG is set.
        contradiction: float32 [P], P(contradiction); NaN for a scorer without that class.
        flags: uint8 [P], a sum of FLAG_* values.
    """

    entailment: NDArray[np.float32]
    contradiction: NDArray[np.float32]
    flags: NDArray[np.uint8]

    @classmethod
    def empty(cls, size: int) -> PairScores:
        """Scores to be filled in: NaN probabilities and no flags."""
        return cls(
            np.full(size, np.nan, np.float32),
            np.full(size, np.nan, np.float32),
            np.zeros(size, np.uint8),
        )

    def take(self, rows: NDArray[np.int64] | slice) -> PairScores:
        """The scores at some rows."""
        return PairScores(self.entailment[rows], self.contradiction[rows], self.flags[rows])

    def put(self, rows: NDArray[np.int64] | slice, other: PairScores) -> None:
        """Write other scores at some rows, in place."""
        self.entailment[rows] = other.entailment
        self.contradiction[rows] = other.contradiction
        self.flags[rows] = other.flags


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerTraits:
    """What a scorer is. None has a default, so that no scorer leaves one out.

    A wrapper states those of what it wraps: ``replace(inner.traits, cached=True)``.

    Attributes:
        digest: names everything that changes a probability: weights, tokenizer, truncation,
            precision. Keys the cache.
        signature: ordered parts of the signature, such as ``{"nli": "name@digest"}``.
        threshold: decision threshold in [0, 1).
        calibrated: whether the threshold was calibrated, or given, and not only assumed.
        three_way: whether contradiction probabilities exist.
        probability: whether a score may stand for a probability.
        doubt: how far rounding may move the log-odds of a probability; 0 for not at all.
        rechecks: whether rounding can turn no decision at the threshold, since what is near it is
            asked again in float32.
        cached: whether answers are kept, so that another run need not ask for them.
        devices: how many share its work.
        work_unit: number of pairs that is worth one call (on a CPU a few seconds of work).
        errors: how often its decisions were wrong on pairs that people have judged, or None.
    """

    digest: bytes
    signature: Mapping[str, str]
    threshold: float
    calibrated: bool
    three_way: bool
    probability: bool
    doubt: float
    rechecks: bool
    cached: bool
    devices: int
    work_unit: int
    errors: ErrorRates | None

    @classmethod
    def unwrapped(
        cls,
        described: bytes,
        *,
        signature: Mapping[str, str],
        threshold: float,
        calibrated: bool,
        three_way: bool,
        probability: bool,
        doubt: float,
        work_unit: int,
    ) -> ScorerTraits:
        """Those of a scorer by itself.

        It works on one device, keeps no answers, asks nothing again, and nobody has measured how
        often it is wrong.

        Args:
            described: everything that changes a probability, as bytes that are digested.
            signature: as among the attributes, and so are all below.
            threshold: decision threshold in [0, 1).
            calibrated: whether it is not only assumed.
            three_way: whether contradiction probabilities exist.
            probability: whether a score may stand for a probability.
            doubt: how far rounding may move log-odds.
            work_unit: pairs that are worth one call.

        Returns:
            The traits.
        """
        return cls(
            digest=hashlib.blake2b(described, digest_size=DIGEST_SIZE).digest(),
            signature=signature,
            threshold=threshold,
            calibrated=calibrated,
            three_way=three_way,
            probability=probability,
            doubt=doubt,
            rechecks=False,
            cached=False,
            devices=1,
            work_unit=work_unit,
            errors=None,
        )


@dataclass(slots=True)
class ScorerCounts:
    """What scorers did.

    Attributes:
        hits: pairs answered by a cache.
        rechecked: pairs asked again in float32.
        turned: decisions on entailment that this has turned.
        reread: pairs of a cut premise, decided no, that were also read in windows.
        reread_turned: of these, how many the windows would decide otherwise.
    """

    hits: int = 0
    rechecked: int = 0
    turned: int = 0
    reread: int = 0
    reread_turned: int = 0

    def __add__(self, other: ScorerCounts) -> ScorerCounts:
        """What both did."""
        return ScorerCounts(*map(add, astuple(self), astuple(other)))

    def __sub__(self, other: ScorerCounts) -> ScorerCounts:
        """What was done since the other was counted."""
        return ScorerCounts(*map(sub, astuple(self), astuple(other)))


class PairScorer(ABC):
    """Scores (premise, hypothesis) pairs: the contract of every scorer.

    Scores lie in [0, 1] whatever the scorer measures, so that decisions, caches, calibration and
    soft prevalence need to know nothing about it. A measure s whose own range is [-1, 1] (a cosine,
    entailment minus contradiction) is given as (1 + s)/2, which keeps every order and every
    decision; soft prevalence alone refuses it, since there texts without any relation have ½.

    A scorer is a child that gives ``__init__`` its traits and answers pairs in :meth:`score`. What
    it counts itself it adds to ``_did``.

    Args:
        traits: what it is.
        inners: the scorers that it asks, whose counts are among its own.

    Attributes:
        traits, inners: as given.
    """

    def __init__(self, traits: ScorerTraits, *inners: PairScorer) -> None:
        self.traits = traits
        self.inners = inners
        self._did = ScorerCounts()

    @property
    def counts(self) -> ScorerCounts:
        """What it and the scorers that it asks did so far, as of now."""
        return sum((inner.counts for inner in self.inners), replace(self._did))

    def at(self, threshold: float) -> PairScorer:  # noqa: ARG002 - for those who care
        """The scorer to decide with at a threshold: another one where it cares, usually itself."""
        return self

    @abstractmethod
    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs of text numbers.

        Args:
            texts: the table that the numbers refer to.
            pairs: int64 [P, 2] of (premise, hypothesis).
            progress: called with the number of pairs finished since the last call.

        Returns:
            Probabilities and flags, in the order of ``pairs``.
        """


def checked_scorer(scorer: object) -> PairScorer:
    """A scorer that someone else has written, when it keeps the contract.

    Raises:
        ConfigurationError: it does not.
    """
    match scorer:
        case PairScorer(traits=ScorerTraits(), counts=ScorerCounts()):
            return scorer
    raise ConfigurationError(
        f"{type(scorer).__name__} is not a scorer: derive it from "
        "prevalence.nli.pairs.PairScorer and give PairScorer.__init__ its ScorerTraits"
    )


def score_pairs(
    scorer: PairScorer,
    premises: Sequence[str],
    hypotheses: Sequence[str],
    *,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """Score (premises[i], hypotheses[i]); equal pairs are asked once.

    Args:
        scorer: answers pairs.
        premises: P texts. An empty one implies nothing and is not asked, as in prevalence.
        hypotheses: P texts.
        progress: called with the number of pairs just done.

    Returns:
        float64 [P], the scorer's entailment score; NaN where the hypothesis alone is longer than
        the scorer reads.

    Raises:
        InputError: the lists are not equally long.
    """
    if len(premises) != len(hypotheses):
        raise InputError(
            f"{len(premises)} premises and {len(hypotheses)} hypotheses: give one of each per pair"
        )
    texts, plan = TextTable(), PairPlan()
    asked = np.asarray([bool(text.strip()) for text in premises], np.bool_)
    rows = np.flatnonzero(asked).tolist()
    plan.add(
        texts.add_all(premises[row] for row in rows), texts.add_all(hypotheses[row] for row in rows)
    )
    pairs, back = plan.unique()
    scores = np.zeros(len(premises))
    scores[asked] = scorer.score(texts, pairs, progress=progress).entailment[back]
    if progress is not None and len(pairs) < len(premises):
        progress(len(premises) - len(pairs))
    return scores


class PairStore(Protocol):
    """Keeps answers by key: what a cache is to a scorer, on disk or in memory."""

    def get(self, keys: Sequence[bytes]) -> Mapping[bytes, tuple[Any, ...]]:
        """Stored (entailment, contradiction, flags) of those keys that are present."""
        ...

    def put(self, entries: Mapping[bytes, tuple[Any, ...]]) -> None:
        """Store entries, dropping others when room is short."""
        ...
