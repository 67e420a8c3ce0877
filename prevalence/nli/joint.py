"""Pairs read jointly: padded to the longest of a batch, or without padding in one row.

Everything but attention works on a token at a time, so it runs on the row as it is, each token with
its position in its own pair; attention keeps to the pairs. The states that the head reads are
gathered from the row, and the head itself is computed in float32.
"""

from __future__ import annotations

import inspect
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from prevalence.errors import ModelError
from prevalence.kernels.assembly import assemble
from prevalence.kernels.packing import assemble_packed, sent, working_path
from prevalence.models.lengths import first_position
from prevalence.nli.disentangled import DISENTANGLED, DisentangledEncoder
from prevalence.nli.first_token import read_first_token_only
from prevalence.nli.packing import batches, fit, packs
from prevalence.nli.registered import RegisteredEncoder, head_of, obstacle, uses_varlen
from prevalence.nli.tokens import pair_layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prevalence.models.checkpoint import LoadedCheckpoint
    from prevalence.nli.tokens import TokenStore
    from prevalence.stats.arrays import Ints

__all__ = ["JointReader", "JointRows", "PackedJointReader", "ResidentTokens", "worth_packing"]


class ResidentTokens:
    """Copies of token stores on a device, each freed with its store.

    Args:
        device: torch device.
        least: tokens that there is room for from the start.
    """

    def __init__(self, device: Any, *, least: int = 65_536) -> None:
        self._device = device
        self._least = least
        self._kept: weakref.WeakKeyDictionary[TokenStore, tuple[Tensor, int]] = (
            weakref.WeakKeyDictionary()
        )

    def __len__(self) -> int:
        """The number of stores that have a copy."""
        return len(self._kept)

    def of(self, store: TokenStore) -> Tensor:
        """All tokens of a store, int32 [T] on the device; only new ones are sent.

        A later call may move them: use the last answer.
        """
        size = len(store.tokens)
        room, known = self._kept.get(store, (self._empty(0), 0))
        if size > len(room):
            grown = self._empty(max(size, 2 * len(room), self._least))
            grown[:known] = room[:known]
            room = grown
        if size > known:
            fresh = torch.from_numpy(store.tokens[known:]).to(torch.int32)
            room[known:size].copy_(sent(fresh, self._device))
            self._kept[store] = room, size
        return room[:size]

    def _empty(self, size: int) -> Tensor:
        return torch.empty(size, dtype=torch.int32, device=self._device)


class JointRows:
    """Rows of ``premise + hypothesis``, however they are computed.

    Args:
        checkpoint: model and tokenizer.

    Attributes:
        longest: tokens from the start of a text that can ever be read without windows.
        signature: what the answers depend on beside the weights, for signatures.
        fit: :func:`.packing.fit` with the room of this model.
        work_unit: number of pairs that are worth one call on a CPU.
        kind: how pairs are read.
        advice: what to try when it fails.

    Raises:
        ModelError: the tokenizer encodes a pair differently from its two texts.
    """

    work_unit = 512
    kind = "padded"
    advice = ""

    def __init__(self, checkpoint: LoadedCheckpoint) -> None:
        self._layout = pair_layout(checkpoint.tokenizer, name=checkpoint.name, pad=checkpoint.pad)
        takes = inspect.signature(checkpoint.model.forward).parameters
        gives = checkpoint.tokenizer.model_input_names
        self._uses_types = "token_type_ids" in gives and "token_type_ids" in takes
        self.longest = checkpoint.max_length
        self.signature = {"trunc": str(checkpoint.max_length)}
        self.fit = partial(fit, room=self.longest - self._layout.special)

    def _lengths(self, spans: Ints) -> Ints:
        lengths: Ints = self._layout.special + spans[:, 1] + spans[:, 3]
        return lengths


class JointReader(JointRows):
    """Reads ``premise + hypothesis`` as one padded input of a Hugging Face classifier.

    Args:
        checkpoint: model and tokenizer; the model is moved to the device and its last layer may be
            replaced by one that gives the same answers.
        device: torch device.

    Raises:
        ModelError: the tokenizer encodes a pair differently from its two texts.
    """

    def __init__(self, checkpoint: LoadedCheckpoint, device: Any) -> None:
        super().__init__(checkpoint)
        self._device = device
        self._model = checkpoint.model.to(device)
        read_first_token_only(self._model)

    def batches(self, spans: Ints, budget: int) -> Iterator[Ints]:
        """Rows of similar length together, longest first."""
        return batches(self._lengths(spans), budget)

    def size(self, spans: Ints) -> int:
        """Rows times the longest of them."""
        return len(spans) * int(self._lengths(spans).max(initial=0))

    def place(self, store: TokenStore) -> Ints:
        """The tokens stay where they are: rows are assembled in the host's memory."""
        return store.tokens

    def logits(self, tokens: Ints, spans: Ints) -> Tensor:
        """Assemble the rows, pad them, run the model."""
        batch = assemble(tokens, spans, self._layout)
        inputs = {"input_ids": batch.ids, "attention_mask": batch.mask}
        if self._uses_types:
            inputs["token_type_ids"] = batch.types
        moved = {key: sent(torch.from_numpy(part), self._device) for key, part in inputs.items()}
        logits: Tensor = self._model(**moved).logits
        return logits


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

    kind = "packed"
    advice = "; packing='padded' or --packing padded asks less of it"

    def __init__(self, checkpoint: LoadedCheckpoint, device: Any) -> None:
        super().__init__(checkpoint)
        model = checkpoint.model
        why = _obstacle(model.config)
        if why is not None:
            raise ModelError(f"{checkpoint.name}: {why}; choose padded (packing= or --packing)")
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
