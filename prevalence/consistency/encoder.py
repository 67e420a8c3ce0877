"""Texts → unit vectors by a Hugging Face encoder, with the pooling that its folder states."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.characters import well_formed
from prevalence.errors import BackendError, ConfigurationError, ModelError
from prevalence.nli.checkpoint import (
    first_line,
    folder_digest,
    load_network,
    plain_name,
    read_config,
    read_tokenizer,
    resolve,
)
from prevalence.nli.limits import real_limit
from prevalence.nli.packing import batches
from prevalence.nli.registry import lookup
from prevalence.nli.scorer import dtype_name, open_device

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
        import torch

        folder = resolve(model)
        config = read_config(folder, model)
        self._tokenizer = read_tokenizer(folder, model)
        if self._tokenizer.pad_token is None:
            raise ModelError(f"{model}: its tokenizer has no padding token")
        self.pooling = _pooling(folder, model) if pooling is None else pooling
        if self.pooling not in POOLINGS:
            raise ConfigurationError(
                f"unknown pooling {self.pooling!r}: choose from {', '.join(POOLINGS)}"
            )
        self.max_length = _length(folder, real_limit(config, self._tokenizer), max_length, model)
        self._device = open_device(device)
        dtype = self.dtype = dtype_name(dtype)
        self._network = load_network(
            "AutoModel", folder, config, model, dtype=getattr(torch, dtype), optional=("pooler.",)
        ).to(self._device)
        self._budget = batch_tokens or _BATCH_TOKENS
        weights = folder_digest(folder)
        entry = lookup(model)
        self.name = f"{entry.name if entry else plain_name(model)}@{weights.hex()[:12]}"
        settings = repr((self.pooling, self.max_length, dtype))
        self.digest = hashlib.blake2b(weights + settings.encode(), digest_size=16).digest()

    def embed(
        self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None
    ) -> Embedded:
        """Vectors of texts; what lies beyond the limit is not read.

        Args:
            texts: N texts.
            progress: called with the number of texts just done.
        """
        vectors = np.zeros((len(texts), int(self._network.config.hidden_size)), np.float32)
        if not texts:
            return Embedded(vectors, np.zeros(0, np.bool_))
        encoded = self._tokenizer(
            [well_formed(text) for text in texts], truncation=True, max_length=self.max_length,
            return_overflowing_tokens=True, padding=False, verbose=False,
        )  # fmt: skip
        # What does not fit comes back as further rows of the same text.
        owner = np.asarray(encoded.pop("overflow_to_sample_mapping"), np.int64)
        first = np.searchsorted(owner, np.arange(len(texts)))
        lengths = np.array([len(encoded["input_ids"][row]) for row in first], np.int64)
        for rows in batches(lengths, self._budget):
            part = {key: [values[first[row]] for row in rows] for key, values in encoded.items()}
            vectors[rows] = self._forward(part)
            if progress is not None:
                progress(len(rows))
        return Embedded(vectors, np.bincount(owner, minlength=len(texts)) > 1)

    def _forward(self, part: dict[str, Any]) -> NDArray[np.float32]:
        import torch

        inputs = self._tokenizer.pad(part, return_tensors="pt").to(self._device)
        try:
            with torch.inference_mode():
                hidden = self._network(**inputs).last_hidden_state.float()
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
    except ValueError as error:
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
