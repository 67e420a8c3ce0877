"""Tokens on a device: all of a store's, each sent once."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import torch

from prevalence.nli.joint import ResidentTokens

CPU = torch.device("cpu")


class _Store:
    """A store as far as its tokens go."""

    def __init__(self, tokens: Any) -> None:
        self.tokens = np.asarray(tokens, np.int64)

    def add(self, tokens: Any) -> None:
        self.tokens = np.concatenate([self.tokens, np.asarray(tokens, np.int64)])


def test_all_tokens_are_there_as_the_store_grows() -> None:
    store, kept = _Store([7, 8, 9]), ResidentTokens(CPU, least=4)
    assert kept.of(store).tolist() == [7, 8, 9]
    for more in ([1], [2], [], range(100), [5]):
        store.add(more)
        found = kept.of(store)
        assert found.dtype == torch.int32
        assert found.tolist() == store.tokens.tolist()


def test_only_new_tokens_are_sent() -> None:
    store, kept = _Store([7, 8]), ResidentTokens(CPU)
    kept.of(store)
    store.tokens[:] = 0  # a store never does that; here it shows what is read again
    store.add([9])
    assert kept.of(store).tolist() == [7, 8, 9]


def test_stores_are_kept_apart_and_freed() -> None:
    first, second, kept = _Store([1]), _Store([2, 3]), ResidentTokens(CPU)
    assert kept.of(first).tolist() == [1]
    assert kept.of(second).tolist() == [2, 3]
    del first
    gc.collect()
    assert len(kept) == 1


def test_an_empty_store() -> None:
    assert ResidentTokens(CPU).of(_Store([])).tolist() == []
