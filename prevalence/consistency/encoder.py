"""Texts → unit vectors by a Hugging Face encoder, with the pooling that its folder states."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.characters import well_formed
from prevalence.consistency.network import Network
from prevalence.errors import BackendError, ConfigurationError, ModelError
from prevalence.nli.checkpoint import first_line
from prevalence.nli.packing import batches
from prevalence.nli.registry import lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["POOLINGS", "Embedded", "Encoder"]

POOLINGS = ("mean", "cls")
"""One vector from the last layer: the mean over a text's tokens, or the first token's."""

_BATCH_TOKENS = 8_192


class Embedded(NamedTuple):
    """What an encoder makes of N texts.

    Attributes:
        vectors: float32 [N, H], each of length 1.
        truncated: bool [N], the end of the text was beyond the limit.
    """

    vectors: NDArray[np.float32]
    truncated: NDArray[np.bool_]


class Encoder:
    """An encoder checkpoint that gives a text a vector of length 1.

    Any encoder will do, a fine-tuned classifier's included (its head is left out). The files of
    sentence-transformers, where they lie beside the weights, state pooling and length.

    Args:
        model: checkpoint folder, registered name or hub name.
        pooling: one of :data:`POOLINGS`; None takes what the folder states, or the mean.
        max_length: a limit below the model's own; None takes what the folder states.
        device: ``auto``, ``cpu``, ``cuda``, ``mps``.
        dtype: ``auto`` (float32), ``float32``, ``float16`` or ``bfloat16``.
        batch_tokens: most tokens in a batch, padding included.

    Attributes:
        name: for the signature: name and beginning of the digest of the weights.
        pooling: the pooling used.
        max_length: most tokens read.
        dtype: precision of the network.
        digest: of everything that changes a vector, 16 bytes.

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: an option is out of range.
    """

    def __init__(
        self,
        model: str,
        *,
        pooling: str | None = None,
        max_length: int | None = None,
        device: str = "auto",
        dtype: str = "float32",
        batch_tokens: int | None = None,
    ) -> None:
        opened = Network("AutoModel", model, device=device, dtype=dtype, optional=("pooler.",))
        self._opened, self.dtype, folder = opened, opened.dtype, opened.folder
        self.pooling = _pooling(folder, model) if pooling is None else pooling
        if self.pooling not in POOLINGS:
            raise ConfigurationError(
                f"unknown pooling {self.pooling!r}: choose from {', '.join(POOLINGS)}"
            )
        self.max_length = _length(folder, opened.limit, max_length, model)
        self._budget = batch_tokens or _BATCH_TOKENS
        entry = lookup(model)
        self.name = f"{entry.name if entry else opened.name}@{opened.digest.hex()[:12]}"
        settings = repr((self.pooling, self.max_length, self.dtype))
        self.digest = hashlib.blake2b(opened.digest + settings.encode(), digest_size=16).digest()

    def embed(
        self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None
    ) -> Embedded:
        """Vectors of texts; what lies beyond the limit is not read.

        Args:
            texts: N texts.
            progress: called with the number of texts just done.
        """
        vectors = np.zeros((len(texts), int(self._opened.config.hidden_size)), np.float32)
        if not texts:
            return Embedded(vectors, np.zeros(0, np.bool_))
        encoded = self._opened.tokenizer(
            [well_formed(text) for text in texts], truncation=True, max_length=self.max_length,
            return_overflowing_tokens=True, padding=False, verbose=False,
        )  # fmt: skip
        # What does not fit comes back as further rows of the same text.
        owner = np.asarray(encoded.pop("overflow_to_sample_mapping"), np.int64)
        first = np.searchsorted(owner, np.arange(len(texts)))
        lengths = np.array([len(encoded["input_ids"][row]) for row in first], np.int64)
        for rows in batches(lengths, self._budget):
            part = [{key: ids[first[row]] for key, ids in encoded.items()} for row in rows]
            vectors[rows] = self._forward(part)
            if progress is not None:
                progress(len(rows))
        return Embedded(vectors, np.bincount(owner, minlength=len(texts)) > 1)

    def _forward(self, rows: Sequence[dict[str, list[int]]]) -> NDArray[np.float32]:
        import torch

        inputs = self._opened.padded(rows)
        try:
            with torch.inference_mode():
                hidden = self._opened.network(**inputs).last_hidden_state.float()
        except RuntimeError as error:
            raise BackendError(f"the encoder failed: {first_line(error)}") from error
        if self.pooling == "cls":
            pooled = hidden[:, 0]
        else:
            mask = inputs["attention_mask"].unsqueeze(-1).float()
            pooled = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1)
        vectors = torch.nn.functional.normalize(pooled, dim=-1)
        return np.asarray(vectors.cpu().numpy(), np.float32)


def _stated(folder: Path, file: str) -> dict[str, Any]:
    path = folder / file
    try:
        stated = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: not JSON ({first_line(error)})") from error
    return stated if isinstance(stated, dict) else {}


def _pooling(folder: Path, model: str) -> str:
    stated = _stated(folder, "1_Pooling/config.json")
    modes = [key.removeprefix("pooling_mode_") for key, on in stated.items()
             if key.startswith("pooling_mode_") and on is True]  # fmt: skip
    names = {"mean_tokens": "mean", "cls_token": "cls"}
    if modes and not set(modes) <= set(names):
        raise ModelError(f"{model}: pooling by {', '.join(modes)} is not known here; choose one")
    return names[modes[0]] if modes else "mean"


def _length(folder: Path, limit: int, asked: int | None, model: str) -> int:
    if asked is None:
        stated = _stated(folder, "sentence_bert_config.json").get("max_seq_length")
        return min(limit, stated) if isinstance(stated, int) and stated > 0 else limit
    if not 1 < asked <= limit:
        raise ModelError(f"{model}: maximum length {asked} is outside 2..{limit}")
    return asked
