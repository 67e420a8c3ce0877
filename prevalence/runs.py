"""Streams that may fail half-way, when what came before is not to be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Guarded"]

Item = TypeVar("Item")


class Guarded(Generic[Item]):
    """A stream that ends where its source fails; the failure waits until it is asked for.

    Who gathers items into chunks can so finish the chunk under way first.

    Args:
        source: any stream.

    >>> def reader():
    ...     yield 1
    ...     raise OSError("the disk is gone")
    >>> stream = Guarded(reader())
    >>> list(stream)
    [1]
    >>> stream.finish()
    Traceback (most recent call last):
    OSError: the disk is gone
    """

    def __init__(self, source: Iterable[Item]) -> None:
        self._source = source
        self._failure: Exception | None = None

    def __iter__(self) -> Iterator[Item]:
        """Iterate over the items that the source gives."""
        try:
            yield from self._source
        except Exception as error:
            self._failure = error

    def finish(self) -> None:
        """Raise what ended the source, if it did not end by itself.

        Raises:
            Exception: whatever the source raised.
        """
        if self._failure is not None:
            raise self._failure
