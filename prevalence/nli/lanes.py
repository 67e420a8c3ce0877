"""Batches side by side on a CPU: small matrix products scale over batches, not inside one.

Splitting one batch's products over cores leaves the element-wise work and the host between them
on one core; whole batches on a core each keep all of them busy.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["MOST_LANES", "Mapper", "lanes"]

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
