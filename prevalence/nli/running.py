"""Rows → probabilities: batches in waves, so that a device computes one while the next is prepared.

On a CUDA device this module waits for nothing inside a wave (a model's own code may), and its
answers come back in one copy, which is awaited when the next wave has been handed over. On a CPU a
wave is what the lanes do side by side.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from prevalence.errors import BackendError, PrevalenceError, first_line
from prevalence.models.devices import out_of_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray
    from torch import Tensor

    from prevalence.nli.joint import JointReader, PackedJointReader
    from prevalence.nli.premise_first import PremiseFirstReader

    PairReader = JointReader | PackedJointReader | PremiseFirstReader
    """Turns spans of pairs, a premise (or a window over it) and a hypothesis each, into logits."""
    from prevalence.stats.arrays import Ints

__all__ = ["MOST_LANES", "BatchRunner", "Mapper", "lanes"]


MOST_LANES = 8
"""More lanes would starve for batches in a unit of work; each gets several threads instead."""

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Mapper(Protocol):
    """Like ``map``, all at once: answers in the order of the items."""

    def __call__(self, work: Callable[[Item], Answer], items: Iterable[Item]) -> list[Answer]:
        """Apply ``work`` to every item."""
        ...


@contextmanager
def lanes(count: int) -> Iterator[Mapper]:
    """Open lanes that share torch's threads evenly; torch's own setting is restored at the end.

    Args:
        count: number of lanes, at least 1; one lane works in the calling thread.

    Yields:
        A function that applies work to items, one a lane at a time.
    """
    if count == 1:
        yield lambda work, items: [work(item) for item in items]
        return
    import torch

    usual = torch.get_num_threads()
    share = max(1, usual // count)
    with ThreadPoolExecutor(
        count, "scoring", initializer=torch.set_num_threads, initargs=(share,)
    ) as pool:
        try:
            torch.set_num_threads(share)
            yield lambda work, items: list(pool.map(work, items))
        finally:
            torch.set_num_threads(usual)


_TURN = 4
"""Batches a lane in a wave: few enough to stop soon after memory runs out."""
_WAVE = 8
"""Batches in a wave on a CUDA device: about half a million tokens, some tenths of a second."""


class _NoRoomError(BackendError):
    """Memory ran out; smaller batches may fit."""


class _Wave(NamedTuple):
    """Batches whose answers are on their way.

    Attributes:
        rows: int64, the rows of all batches, in the order of the answers.
        answers: float32 [rows, classes], in the host's memory once the event has come.
        event: None where the answers are there already.
    """

    rows: Ints
    answers: Tensor
    event: Any | None


class BatchRunner:
    """Runs rows through a reader, with smaller batches once memory has run out.

    Args:
        reader: computes batches.
        device: the reader's.
        budget: most tokens in a batch.
        workers: batches computed side by side.

    Attributes:
        budget: what it has come down to.
    """

    def __init__(self, reader: PairReader, device: Any, *, budget: int, workers: int) -> None:
        self._reader = reader
        self._device = device
        self._workers = workers
        self.budget = budget

    def run(
        self, tokens: Any, spans: Ints, classes: int, *, finished: Callable[[Ints], None]
    ) -> NDArray[np.float32]:
        """Class probabilities of rows, float32 [R, classes].

        Args:
            tokens: what the reader's ``place`` gave.
            spans: int64 [R, 4].
            classes: number of classes.
            finished: called with the numbers of rows that have been answered.

        Raises:
            BackendError: the model or the device failed, or one row alone does not fit its memory.
        """
        probabilities = np.empty((len(spans), classes), np.float32)
        queue = list(self._reader.batches(spans, self.budget))
        count = max(1, min(self._workers, len(queue)))
        size = _WAVE if self._device.type == "cuda" else 1 if count == 1 else _TURN * count
        flying: _Wave | None = None
        with lanes(count) as apply:
            while queue or flying:
                taken, queue = queue[:size], queue[size:]
                answers = apply(lambda rows: self.compute(tokens, spans[rows]), taken)
                landing, flying = flying, self._launch(taken, answers)
                if landing:
                    probabilities[landing.rows] = self._landed(landing)
                    finished(landing.rows)
                failed = [r for r, answer in zip(taken, answers, strict=True) if answer is None]
                if failed:
                    self._halve(spans[failed[0]])
                    left = np.concatenate([*failed, *queue])
                    queue = [left[b] for b in self._reader.batches(spans[left], self.budget)]
        return probabilities

    def compute(self, tokens: Any, spans: Ints) -> Tensor | None:
        """Class probabilities of one batch, float32 on the device; None when memory ran out.

        Raises:
            BackendError: the model or the device failed otherwise.
        """
        import torch

        try:
            with self.guarded(), torch.inference_mode():
                logits = self._reader.logits(tokens, spans).float()
                alone = logits.shape[1] == 1
                return torch.sigmoid(logits) if alone else torch.softmax(logits, dim=1)
        except _NoRoomError:
            pass
        if self._device.type == "cuda":
            torch.cuda.empty_cache()
        return None

    def _launch(self, batches: list[Ints], answers: list[Tensor | None]) -> _Wave | None:
        """Send the answers of a wave to the host's memory, without waiting for them."""
        import torch

        done = [(r, a) for r, a in zip(batches, answers, strict=True) if a is not None]
        if not done:
            return None
        rows = np.concatenate([rows for rows, _ in done])
        event: Any | None = None
        with self.guarded():
            together = torch.cat([answer for _, answer in done])
            sent = together.to("cpu", non_blocking=self._device.type == "cuda")
            if self._device.type == "cuda":
                cuda: Any = torch.cuda
                event = cuda.Event()
                event.record(cuda.current_stream(self._device))
        return _Wave(rows, sent, event)

    def _landed(self, wave: _Wave) -> NDArray[np.float32]:
        if wave.event is not None:
            with self.guarded():
                wave.event.synchronize()
        return np.asarray(wave.answers.numpy(), np.float32)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Say what to do about a failure of what is not ours: models, compilers and devices.

        Compilers of kernels have exceptions of their own, so that no narrower class would do.
        """
        try:
            yield
        except PrevalenceError:
            raise
        except Exception as error:
            if out_of_memory(error):
                raise _NoRoomError(
                    f"out of memory on {self._device}: {first_line(error)}; use a smaller "
                    "--batch-tokens"
                ) from error
            raise BackendError(
                f"the model or the device failed: {first_line(error)}{self._reader.advice}"
            ) from error

    def _halve(self, spans: Ints) -> None:
        """Halve the budget after a batch of these rows ran out of memory."""
        size = self._reader.size(spans)
        if len(spans) == 1:
            raise BackendError(
                f"one pair of {size} tokens does not fit the memory of {self._device}; "
                "use --max-length, another device or a smaller model"
            )
        self.budget = min(self.budget, size) // 2
        warnings.warn(
            f"out of memory on {self._device}: batches now hold {self.budget:,} tokens",
            RuntimeWarning,
            stacklevel=2,
        )
