"""Pairs read jointly without padding: all tokens of a batch lie in one row.

Everything but attention works on a token at a time, so it runs on the row as it is, each token with
its position in its own pair; attention keeps to the pairs. The states that the head reads are
gathered from the row, and the head itself is computed in float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from prevalence.errors import ModelError
from prevalence.kernels.packing import assemble_packed, working_path
from prevalence.nli.disentangled import DISENTANGLED, DisentangledEncoder
from prevalence.nli.heads import head_of, obstacle
from prevalence.nli.joint import JointRows
from prevalence.nli.limits import first_position
from prevalence.nli.packing import packs
from prevalence.nli.registered import RegisteredEncoder, uses_varlen
from prevalence.nli.resident import ResidentTokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from prevalence.nli.checkpoint import LoadedCheckpoint
    from prevalence.nli.tokens import TokenStore

    Ints = NDArray[np.int64]

__all__ = ["PackedJointReader", "worth_packing"]

_TRANSFORMERS = 5
"""Before this version BERT and others had attention of their own, and DeBERTa's was not tried."""


class PackedJointReader(JointRows):
    """Reads ``premise + hypothesis`` of many pairs as one row without padding.

    Args:
        checkpoint: model and tokenizer; the model is moved to the device, and where its attention
            is exchanged, it takes rows of several pairs alone from then on.
        device: torch device.

    Raises:
        ModelError: the model cannot be read so, or the tokenizer encodes a pair differently from
            its two texts.
    """

    advice = "; --packing padded asks less of it"

    def __init__(self, checkpoint: LoadedCheckpoint, device: Any) -> None:
        super().__init__(checkpoint)
        model = checkpoint.model
        why = _obstacle(model.config)
        if why is not None:
            raise ModelError(f"{checkpoint.name}: {why}; use --packing padded")
        model = model.to(device)
        self._first_position = first_position(model.config)
        self._head = head_of(model)
        self._encoder: DisentangledEncoder | RegisteredEncoder = (
            DisentangledEncoder(model, self.longest, checkpoint.name)
            if model.config.model_type in DISENTANGLED
            else RegisteredEncoder(model, checkpoint.name)
        )
        self._tokens = ResidentTokens(device)
        probe = torch.zeros(1, dtype=torch.int32, device=device)
        self._path = working_path(probe, self._layout)
        if model.dtype != torch.float32:
            # The head is more precise than that of padded pairs, and the sums are in another order.
            self.signature["pack"] = self._encoder.attention

    def batches(self, spans: Ints, budget: int) -> Iterator[Ints]:
        """As many rows as fit, longest first."""
        return packs(self._lengths(spans), budget)

    def size(self, spans: Ints) -> int:
        """The tokens of the rows; nothing is padded."""
        return int(self._lengths(spans).sum())

    def place(self, store: TokenStore) -> Tensor:
        """A copy of the tokens on the device, where rows are assembled."""
        return self._tokens.of(store)

    def logits(self, tokens: Tensor, spans: Ints) -> Tensor:
        """Assemble the rows, run the encoder on all of them as one, and the head on each.

        Raises:
            ModelError: the encoder's attention is not the one that keeps pairs apart.
        """
        packed = assemble_packed(
            tokens, spans, self._layout, first_position=self._first_position, path=self._path
        )
        if not self._uses_types:
            packed = packed._replace(types=torch.zeros_like(packed.types))
        logits: Tensor = self._head(self._encoder(packed, self._lengths(spans)).float())
        return logits


def worth_packing(checkpoint: LoadedCheckpoint, device: Any) -> bool:
    """Whether packing is the better way to read this checkpoint on that device.

    It is for disentangled attention, which costs less here than in transformers; and on a CUDA
    device, unless pairs in half precision would have to go without torch's kernel for sequences of
    unequal length. Devices other than these two have not been tried.
    """
    model = checkpoint.model
    if device.type not in {"cpu", "cuda"} or _obstacle(model.config) is not None:
        return False
    if model.config.model_type in DISENTANGLED:
        return True
    on_cuda = device.type == "cuda"
    return on_cuda and (model.dtype == torch.float32 or uses_varlen(model, device))


def _obstacle(config: Any) -> str | None:
    """Why pairs cannot be packed, with this version of transformers among the reasons."""
    from transformers import __version__ as version

    why = obstacle(config)
    if why is None and int(version.partition(".")[0]) < _TRANSFORMERS:
        return f"pairs can be packed with transformers {_TRANSFORMERS}, not {version}"
    return why
