"""Pair probabilities kept in the memory of one process: the most recently used, up to a bound."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from prevalence.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["MemoryCache"]


class MemoryCache:
    """The last answers used, for a process that asks about the same texts again and again.

    Args:
        pairs: most entries held; each takes about 270 bytes.

    Raises:
        ConfigurationError: ``pairs`` is not positive.

    >>> cache = MemoryCache(2)
    >>> cache.put({b"a": (0.1, 0.0, 0), b"b": (0.2, 0.0, 0)})
    >>> sorted(cache.get([b"a", b"x"]))
    [b'a']
    >>> cache.put({b"c": (0.3, 0.0, 0)})
    >>> sorted(cache.get([b"a", b"b", b"c"]))
    [b'a', b'c']
    """

    def __init__(self, pairs: int) -> None:
        if pairs < 1:
            raise ConfigurationError(f"the number of pairs to keep must be positive, not {pairs}")
        self._most = pairs
        self._entries: OrderedDict[bytes, tuple[Any, ...]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, tuple[Any, ...]]:
        """Stored entries of those keys that are present; they become the last to be dropped."""
        found = {key: self._entries[key] for key in keys if key in self._entries}
        for key in found:
            self._entries.move_to_end(key)
        return found

    def put(self, entries: Mapping[bytes, tuple[Any, ...]]) -> None:
        """Store entries, dropping those whose last use is longest ago."""
        for key, entry in entries.items():
            self._entries[key] = entry
            self._entries.move_to_end(key)
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)
