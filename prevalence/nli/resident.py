"""Tokens of texts kept where pairs of them are assembled: each is sent to a device once."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from prevalence.kernels.packing import sent

if TYPE_CHECKING:
    from prevalence.nli.tokens import TokenStore

__all__ = ["ResidentTokens"]

_LEAST = 65_536


class ResidentTokens:
    """Copies of token stores on a device, each freed with its store.

    Args:
        device: torch device.
    """

    def __init__(self, device: Any) -> None:
        self._device = device
        self._kept: weakref.WeakKeyDictionary[TokenStore, tuple[Tensor, int]] = (
            weakref.WeakKeyDictionary()
        )

    def of(self, store: TokenStore) -> Tensor:
        """All tokens of a store, int32 [T] on the device; only new ones are sent.

        A later call may move them: use the last answer.
        """
        size = len(store.tokens)
        room, known = self._kept.get(store, (self._empty(0), 0))
        if size > len(room):
            grown = self._empty(max(size, 2 * len(room), _LEAST))
            grown[:known] = room[:known]
            room = grown
        if size > known:
            fresh = torch.from_numpy(store.tokens[known:]).to(torch.int32)
            room[known:size].copy_(sent(fresh, self._device))
            self._kept[store] = room, size
        return room[:size]

    def _empty(self, size: int) -> Tensor:
        return torch.empty(size, dtype=torch.int32, device=self._device)
