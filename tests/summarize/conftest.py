"""Made-up products whose answers are all known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from prevalence.metric import ReviewMatrix
from prevalence.summarize.candidates import Candidates, Place
from prevalence.summarize.questions import KnownJudge

if TYPE_CHECKING:
    from collections.abc import Callable


class World:
    """Random answers of m reviews about N sentences, some of which stand at several places.

    Args:
        seed: of everything.
        m: reviews.
        n: distinct sentences.
        shares: P(review implies sentence) of each sentence; None draws them.
        redundancy: P(sentence implies another).
        trivial: P(statement implies a sentence).
        repeats: places beyond the first, spread over the sentences.
    """

    def __init__(
        self,
        seed: int,
        *,
        m: int = 12,
        n: int = 20,
        shares: np.ndarray | None = None,
        redundancy: float = 0.1,
        trivial: float = 0.1,
        repeats: int = 0,
    ) -> None:
        random = np.random.default_rng(seed)
        shares = random.beta(0.7, 2.0, n) if shares is None else shares
        self.implied = random.random((m, n)) < shares
        self.between = random.random((n, n)) < redundancy
        self.contradicted = random.random((n, n)) < redundancy
        # Most models say that a sentence implies itself; this world has some that do not.
        np.fill_diagonal(self.between, random.random(n) < 0.8)
        np.fill_diagonal(self.contradicted, False)
        self.trivial = random.random(n) < trivial
        owners = random.permutation(np.r_[np.arange(n), random.integers(0, n, repeats)])
        # Distinct sentences are numbered by their first appearance.
        _, first = np.unique(owners, return_index=True)
        number = np.empty(n, np.int64)
        number[owners[np.sort(first)]] = np.arange(n)
        self.owners = number[owners].tolist()
        self.lengths = random.integers(5, 40, n).tolist()
        self.candidates = Candidates(
            texts=tuple("x" * size for size in self.lengths),
            places=tuple(Place(place, 0, 1) for place in range(len(self.owners))),
            ranks=tuple(
                tuple(place for place, owner in enumerate(self.owners) if owner == k)
                for k in range(n)
            ),
        )

    def judge(self) -> KnownJudge:
        """A fresh judge, which has counted nothing."""
        entailment = self.implied.astype(np.float32)
        return KnownJudge(
            ReviewMatrix(entailment, self.implied, None),
            implied=self.between,
            trivial=self.trivial,
            contradicted=self.contradicted,
        )


@pytest.fixture(scope="session")
def world() -> Callable[..., World]:
    """The class of made-up products."""
    return World
