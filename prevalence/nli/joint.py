"""Pairs read jointly: one padded row a pair, as cross-encoders are trained."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from prevalence.kernels.assembly import assemble
from prevalence.kernels.packing import sent
from prevalence.nli.first_token import read_first_token_only
from prevalence.nli.packing import Fitted, batches, fit
from prevalence.nli.tokens import pair_layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from prevalence.nli.checkpoint import LoadedCheckpoint
    from prevalence.nli.tokens import TokenStore

    Ints = NDArray[np.int64]

__all__ = ["JointReader", "JointRows"]


class JointRows:
    """Rows of ``premise + hypothesis``, however they are computed.

    Args:
        checkpoint: model and tokenizer.

    Raises:
        ModelError: the tokenizer encodes a pair differently from its two texts.
    """

    work_unit = 512
    advice = ""

    def __init__(self, checkpoint: LoadedCheckpoint) -> None:
        self._layout = pair_layout(checkpoint.tokenizer, name=checkpoint.name, pad=checkpoint.pad)
        self._uses_types = _uses_types(checkpoint)
        self.longest = checkpoint.max_length
        self.signature = {"trunc": str(checkpoint.max_length)}

    def fit(
        self,
        premises: tuple[Ints, Ints],
        hypotheses: tuple[Ints, Ints],
        *,
        stride: int | None,
        longest_first: bool,
    ) -> Fitted:
        """Cut or window premises to what the hypotheses leave of the model's limit."""
        room = self.longest - self._layout.special
        return fit(premises, hypotheses, room=room, stride=stride, longest_first=longest_first)

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
        import torch

        batch = assemble(tokens, spans, self._layout)
        inputs = {"input_ids": batch.ids, "attention_mask": batch.mask}
        if self._uses_types:
            inputs["token_type_ids"] = batch.types
        moved = {key: sent(torch.from_numpy(part), self._device) for key, part in inputs.items()}
        logits: Tensor = self._model(**moved).logits
        return logits


def _uses_types(checkpoint: LoadedCheckpoint) -> bool:
    """Whether the tokenizer gives token types and the model takes them."""
    return (
        "token_type_ids" in checkpoint.tokenizer.model_input_names
        and "token_type_ids" in inspect.signature(checkpoint.model.forward).parameters
    )
