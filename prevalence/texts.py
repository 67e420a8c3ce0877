"""Unique numbered texts, and work as pairs of their numbers.

A text is stored, tokenised and digested once; a pair is two integers; a pair asked for twice is
scored once. Nothing downstream holds m x n copies of a review.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["PairPlan", "TextTable"]

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
        number = self._ids[text] = len(self._texts)
        self._texts.append(text)
        self.characters += len(text)
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
