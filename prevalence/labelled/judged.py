"""Labelled pairs as columns: what evaluation and calibration work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from prevalence.labelled.documents import Document

__all__ = ["JudgedPairs"]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPairs:
    """P labelled pairs.

    Attributes:
        premises: P texts.
        hypotheses: P texts.
        labels: bool [P], whether the premise implies the hypothesis.
        groups: str [P], product of each pair.
        relations: str [P], `review`, `product` or `sentence`.
    """

    premises: tuple[str, ...]
    hypotheses: tuple[str, ...]
    labels: NDArray[np.bool_]
    groups: NDArray[np.str_]
    relations: NDArray[np.str_]

    @classmethod
    def of(cls, documents: Iterable[Document]) -> JudgedPairs:
        """Lay documents out; a pair is positive where its target is above one half."""
        rows = [
            (document, text, target)
            for document in documents
            for text, target in zip(document.hypotheses, document.targets, strict=True)
        ]
        return cls(
            tuple(document.premise for document, _, _ in rows),
            tuple(text for _, text, _ in rows),
            np.asarray([target.entailment > 0.5 for _, _, target in rows], np.bool_),
            np.asarray([document.group for document, _, _ in rows], np.str_),
            np.asarray([document.relation for document, _, _ in rows], np.str_),
        )

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """(premise, hypothesis) of each pair."""
        return list(zip(self.premises, self.hypotheses, strict=True))

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, kept: NDArray[np.bool_]) -> JudgedPairs:
        """The pairs where ``kept``, bool [P], is true."""
        rows = np.flatnonzero(kept).tolist()
        return JudgedPairs(
            tuple(self.premises[row] for row in rows),
            tuple(self.hypotheses[row] for row in rows),
            self.labels[kept],
            self.groups[kept],
            self.relations[kept],
        )
