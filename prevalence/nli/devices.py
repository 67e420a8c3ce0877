"""One model on several devices of a machine, which share the pairs of every call."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import pairwise
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.errors import BackendError, ConfigurationError
from prevalence.models.checkpoint import PREMISE_FIRST
from prevalence.models.devices import ALL_DEVICES
from prevalence.nli.pairs import PairScorer, PairScores, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from prevalence.nli.pairs import TextTable
    from prevalence.stats.arrays import Ints

__all__ = ["SharedScorer", "device_names", "open_on_devices", "pair_costs", "shares"]

_TOKEN = 6
"""Characters in a token, spaces included, of texts with the longest words."""


def device_names(asked: str) -> list[str]:
    """The devices that a user asks for: one, ``all`` CUDA devices, or some with commas between.

    >>> device_names("cuda:0, cuda:2")
    ['cuda:0', 'cuda:2']

    Raises:
        ConfigurationError: of several, one is no CUDA device with a number, or is named twice.
        BackendError: ``all`` where there is no CUDA device.
    """
    if asked == ALL_DEVICES:
        import torch

        if not torch.cuda.is_available():
            raise BackendError("there is no CUDA device here; try device='cpu' or --device cpu")
        return [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    names = [name.strip() for name in asked.split(",")]
    if len(names) == 1:
        return names
    numbered = all(name.startswith("cuda:") and name[5:].isdecimal() for name in names)
    if not numbered or len(set(names)) < len(names):
        raise ConfigurationError(
            f"device {asked!r}: several devices must be CUDA devices, each named once, as in "
            "cuda:0,cuda:1; or all"
        )
    return names


def open_on_devices(
    model: str, device: str, *, marks: Path | str | None = None, **options: Any
) -> PairScorer:
    """Open an NLI model on the device or devices that a user asks for, and test its answers.

    Args:
        model: as :class:`prevalence.nli.scorer.NLIScorer` takes it.
        device: see :func:`device_names`.
        marks: see :func:`prevalence.nli.self_test.self_test`.
        options: the scorer's others.

    Raises:
        ConfigurationError, BackendError, ModelError: see :func:`device_names` and the scorer.
    """
    from prevalence.nli.scorer import NLIScorer
    from prevalence.nli.self_test import self_test

    scorers = [NLIScorer(model, device=name, **options) for name in device_names(device)]
    for scorer in scorers:
        self_test(scorer, marks=marks)
    if len(scorers) == 1:
        return scorers[0]
    checkpoint = scorers[0].checkpoint
    return SharedScorer(
        scorers,
        readable=None if options.get("windows") else _TOKEN * checkpoint.max_length,
        premise_once=checkpoint.attention == PREMISE_FIRST,
    )


class SharedScorer(PairScorer):
    """Scorers of one model on several devices, each with its share of every call.

    Pairs of one premise go to one device, so that within a call no premise is tokenised or computed
    more often than on a single device. (Hypotheses are: they are short, and common to many.)

    Args:
        scorers: the same model with the same settings, one a device.
        readable: characters of a text beyond which a model reads no more; None for no such limit.
        premise_once: whether a premise is computed once for all its hypotheses.

    Its traits are those of the first scorer, with the sums of all devices and work units.

    Attributes:
        readable, premise_once: as given.

    Raises:
        ConfigurationError: the scorers do not read pairs in the same way.
    """

    def __init__(
        self,
        scorers: Sequence[PairScorer],
        *,
        readable: int | None = None,
        premise_once: bool = False,
    ) -> None:
        first = scorers[0].traits
        if any(scorer.traits.digest != first.digest for scorer in scorers):
            raise ConfigurationError(
                "the devices would read pairs in different ways; name devices of one kind"
            )
        traits = replace(
            first,
            devices=sum(scorer.traits.devices for scorer in scorers),
            work_unit=sum(scorer.traits.work_unit for scorer in scorers),
        )
        super().__init__(traits, *scorers)
        self.readable = readable
        self.premise_once = premise_once

    def score(
        self, texts: TextTable, pairs: Ints, *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`prevalence.nli.pairs.PairScorer.score`.

        When one device fails, or the caller is interrupted, the others stop at their next report
        of progress.
        """
        result = PairScores.empty(len(pairs))
        costs = pair_costs(texts, pairs, readable=self.readable, premise_once=self.premise_once)
        parts = list(shares(pairs[:, 0], costs, len(self.inners)))
        lock, stopped = Lock(), Event()

        def told(count: int) -> None:
            if stopped.is_set():
                raise _Stopped
            if progress is not None:
                with lock:
                    progress(count)

        def run(scorer: PairScorer, rows: Ints) -> PairScores:
            try:
                return scorer.score(texts, pairs[rows], progress=told)
            except BaseException:
                stopped.set()
                raise

        with ThreadPoolExecutor(len(self.inners), "device") as pool:
            try:
                running = [
                    (rows, pool.submit(run, scorer, rows))
                    for scorer, rows in zip(self.inners, parts, strict=True)
                    if rows.size
                ]
                wait([future for _, future in running])
            except BaseException:
                stopped.set()
                raise
        failures = [error for _, future in running if (error := future.exception())]
        if failures:
            # Those that were stopped have failed for another's sake.
            raise min(failures, key=lambda error: isinstance(error, _Stopped))
        for rows, future in running:
            result.put(rows, future.result())
        return result


class _Stopped(Exception):  # noqa: N818
    """Another device has failed, or the caller was interrupted."""


def pair_costs(
    texts: TextTable, pairs: Ints, *, readable: int | None = None, premise_once: bool = False
) -> Ints:
    """What each pair costs, about, in characters, int64 [P].

    Args:
        texts: the table that the numbers refer to.
        pairs: int64 [P, 2] of (premise, hypothesis).
        readable: characters of a text beyond which nothing is read; None for no such limit.
        premise_once: a premise costs its first pair only.
    """
    used, places = np.unique(pairs, return_inverse=True)
    lengths = np.array([len(texts[number]) for number in used.tolist()], np.int64)
    if readable is not None:
        lengths = np.minimum(lengths, readable)
    both = 1 + lengths[places.reshape(pairs.shape)]
    if premise_once:
        again = np.ones(len(pairs), np.bool_)
        again[np.unique(pairs[:, 0], return_index=True)[1]] = False
        both[again, 0] = 0
    costs: Ints = both.sum(axis=1)
    return costs


def shares(premises: Ints, costs: Ints, count: int) -> Iterator[Ints]:
    """Divide pairs among devices, about the same cost each.

    Args:
        premises: int64 [P], of each pair.
        costs: int64 [P], positive.
        count: number of devices.

    Yields:
        Row numbers for each device; all pairs of a premise in one share, which may leave another
        empty.

    >>> [rows.tolist() for rows in shares(np.array([7, 8, 7]), np.array([2, 4, 2]), 2)]
    [[0, 2], [1]]
    """
    order = np.argsort(premises, kind="stable")
    starts = np.flatnonzero(np.diff(premises[order], prepend=-1))
    whole = np.add.reduceat(costs[order], starts) if starts.size else costs
    middles = np.cumsum(whole) - whole / 2
    # A premise belongs to the device in whose part of the cost its middle lies.
    owner = middles * count // max(int(whole.sum()), 1)
    bounds = np.append(starts, order.size)[np.searchsorted(owner, np.arange(count + 1))]
    for begin, end in pairwise(bounds.tolist()):
        yield order[begin:end]
