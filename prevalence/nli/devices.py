"""One model on several devices of a machine, which share the pairs of every call."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prevalence.errors import BackendError, ConfigurationError
from prevalence.nli.protocol import PairScorer, PairScores, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prevalence.texts import TextTable

__all__ = ["SharedScorer", "device_names", "shares"]

ALL = "all"
"""Every CUDA device of the machine."""

Ints = NDArray[np.int64]


def device_names(asked: str) -> list[str]:
    """The devices that a user asks for: one, ``all`` CUDA devices, or some with commas between.

    >>> device_names("cuda:0, cuda:2")
    ['cuda:0', 'cuda:2']

    Raises:
        ConfigurationError: of several, one is no CUDA device with a number, or is named twice.
        BackendError: ``all`` where there is no CUDA device.
    """
    if asked == ALL:
        import torch

        if not torch.cuda.is_available():
            raise BackendError("there is no CUDA device here; try --device cpu")
        return [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    names = [name.strip() for name in asked.split(",")]
    if len(names) == 1:
        return names
    numbered = all(name.startswith("cuda:") and name[5:].isdecimal() for name in names)
    if not numbered or len(set(names)) < len(names):
        raise ConfigurationError(
            f"device {asked!r}: several devices are CUDA devices, each named once, as in "
            "cuda:0,cuda:1; or all"
        )
    return names


class SharedScorer:
    """Scorers of one model on several devices, each with its share of every call.

    Pairs of one premise go to one device, so that no text is tokenised, and no premise computed,
    more often than on a single device (but hypotheses, which are short, and common to many).

    Args:
        scorers: the same model with the same settings, one a device.

    The attributes are those of the first scorer; ``work_unit`` is the sum of all.

    Raises:
        ConfigurationError: the scorers do not give the same answers.
    """

    def __init__(self, scorers: Sequence[PairScorer]) -> None:
        first = scorers[0]
        if any(scorer.digest != first.digest for scorer in scorers):
            raise ConfigurationError(
                "the devices would not give the same answers; name devices of one kind"
            )
        self._scorers = tuple(scorers)
        self.digest = first.digest
        self.signature: Mapping[str, str] = first.signature
        self.threshold = first.threshold
        self.calibrated: bool = getattr(first, "calibrated", True)
        self.doubt: float = getattr(first, "doubt", 0.0)
        self.three_way = first.three_way
        self.work_unit = sum(scorer.work_unit for scorer in scorers)

    def score(
        self, texts: TextTable, pairs: Ints, *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.protocol.PairScorer.score`."""
        result = PairScores.empty(len(pairs))
        told = progress and _one_at_a_time(progress)
        parts = list(shares(texts, pairs, len(self._scorers)))
        with ThreadPoolExecutor(len(self._scorers), "device") as pool:
            running = [
                (rows, pool.submit(scorer.score, texts, pairs[rows], progress=told))
                for scorer, rows in zip(self._scorers, parts, strict=True)
                if rows.size
            ]
            for rows, answer in running:
                result.put(rows, answer.result())
        return result


def shares(texts: TextTable, pairs: Ints, count: int) -> Iterator[Ints]:
    """Divide pairs among devices, about the same number of characters each.

    Args:
        texts: the table that the numbers refer to.
        pairs: int64 [P, 2] of (premise, hypothesis).
        count: number of devices.

    Yields:
        Row numbers for each device; all pairs of a premise in one share, which may leave another
        empty.
    """
    order = np.argsort(pairs[:, 0], kind="stable")
    used, places = np.unique(pairs, return_inverse=True)
    lengths = np.array([len(texts[number]) for number in used.tolist()], np.int64)
    costs = 1 + lengths[places.reshape(pairs.shape)].sum(axis=1)[order]
    ends = np.cumsum(costs)
    starts = np.flatnonzero(np.diff(pairs[order, 0], prepend=-1))
    # A premise belongs to the device in whose part of all characters it begins.
    owner = (ends[starts] - costs[starts]) * count // max(int(ends[-1]) if ends.size else 1, 1)
    bounds = np.append(starts, order.size)[np.searchsorted(owner, np.arange(count + 1))]
    for begin, end in pairwise(bounds.tolist()):
        yield order[begin:end]


def _one_at_a_time(progress: Progress) -> Progress:
    """A progress that several threads may call."""
    lock = Lock()

    def told(pairs: int) -> None:
        with lock:
            progress(pairs)

    return told
