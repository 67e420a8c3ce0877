"""Cross-validation folds that keep the pairs of a product together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prevalence.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["grouped_folds"]


def grouped_folds(
    groups: Sequence[str] | NDArray[np.str_], *, folds: int, seed: int
) -> list[frozenset[str]]:
    """Deal groups into folds of nearly equal numbers of pairs.

    Args:
        groups: Group of each pair.
        folds: Number of folds.
        seed: Shuffles the groups first.

    Returns:
        Held-out groups of each fold; they cover every group once.

    Raises:
        InputError: There are fewer groups than folds.
    """
    names, counts = np.unique(np.asarray(groups), return_counts=True)
    if len(names) < folds:
        raise InputError(f"{folds} folds need at least as many groups, found {len(names)}")
    order = np.random.default_rng(seed).permutation(len(names))
    order = order[np.argsort(-counts[order], kind="stable")]
    held: list[set[str]] = [set() for _ in range(folds)]
    sizes = np.zeros(folds, dtype=np.int64)
    for index in order.tolist():
        fold = int(np.argmin(sizes))
        held[fold].add(str(names[index]))
        sizes[fold] += counts[index]
    return [frozenset(fold) for fold in held]
