"""How a scorer has pairs read, whatever the attention of its model: one small interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from prevalence.errors import ModelError
from prevalence.models.checkpoint import PREMISE_FIRST, LoadedCheckpoint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from functools import partial

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from prevalence.nli.packing import Fitted
    from prevalence.nli.tokens import TokenStore

    Ints = NDArray[np.int64]

__all__ = ["PACKINGS", "PairReader", "open_reader"]

PACKINGS = ("auto", "packed", "padded")
"""How pairs share a batch; ``auto`` packs on CUDA devices, and DeBERTa on a CPU too."""


class PairReader(Protocol):
    """Turns token spans of pairs into logits.

    A row is one premise (or a window over it) with one hypothesis, given as its span: premise
    start and length, hypothesis start and length.

    Attributes:
        longest: tokens from the start of a text that can ever be read without windows.
        signature: what the answers depend on beside the weights, for signatures.
        work_unit: number of pairs that are worth one call on a CPU.
        advice: what else to try when it fails.
        fit: rows for pairs within the model's limits; :func:`.packing.fit` or one like it, which
            takes starts and lengths of both texts, ``stride`` and ``longest_first``.
    """

    longest: int
    signature: dict[str, str]
    work_unit: int
    advice: str
    fit: partial[Fitted]

    def batches(self, spans: Ints, budget: int) -> Iterator[Ints]:
        """Cut rows into batches of at most ``budget`` tokens; a single row may exceed it."""
        ...

    def size(self, spans: Ints) -> int:
        """Tokens that a batch of rows computes, padding included."""
        ...

    def place(self, store: TokenStore) -> Any:
        """The tokens of a store, int [T], where this reader assembles rows of them."""
        ...

    def logits(self, tokens: Any, spans: Ints) -> Tensor:
        """Logits of a batch, [rows, classes], on the model's device.

        Args:
            tokens: what :meth:`place` gave, and what the spans point into.
            spans: int64 [rows, 4].
        """
        ...


def open_reader(checkpoint: LoadedCheckpoint, device: Any, packing: str = "auto") -> PairReader:
    """The reader that a checkpoint asks for, its model moved to a device.

    Args:
        checkpoint: model and tokenizer.
        device: torch device.
        packing: one of :data:`PACKINGS`. Premise-first attention packs always.

    Raises:
        ModelError: the tokenizer's special tokens are not what the reader needs, or the model
            cannot be read with this packing.
    """
    if checkpoint.attention == PREMISE_FIRST:
        from prevalence.nli.premise_first import PremiseFirstReader

        if packing == "padded":
            raise ModelError(
                f"{checkpoint.name}: {PREMISE_FIRST} attention has no padded form; use "
                "--packing auto"
            )
        return PremiseFirstReader(checkpoint, device)
    if packing != "padded":
        from prevalence.nli.joint import PackedJointReader, worth_packing

        if packing == "packed" or worth_packing(checkpoint, device):
            return PackedJointReader(checkpoint, device)
    from prevalence.nli.joint import JointReader

    return JointReader(checkpoint, device)
