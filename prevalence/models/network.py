"""A checkpoint, opened: what scorers with a network of their own have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prevalence.errors import ModelError
from prevalence.models.checkpoint import (
    folder_digest,
    load_network,
    plain_name,
    read_config,
    read_tokenizer,
    real_limit,
    resolve,
)
from prevalence.models.devices import dtype_name, open_device

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["Network"]


class Network:
    """Weights, tokenizer and where they run.

    Args:
        kind: name of one of transformers' automatic classes.
        model: checkpoint folder, registered name or hub name.
        device: ``auto``, ``cpu``, ``cuda``, ``mps``.
        dtype: ``auto`` (float32), ``float32``, ``float16`` or ``bfloat16``.
        optional: beginnings of the names of weights that may be missing.
        pads: whether rows are padded with the tokenizer's own token.

    Attributes:
        folder: where the files lie.
        config: the checkpoint's.
        tokenizer: the checkpoint's, a fast one.
        limit: most tokens that the network and its tokenizer take.
        device: the torch device.
        dtype: the precision, resolved.
        name: last part of the path or hub name.
        digest: of the files, bytes.
        network: the module, in evaluation mode.

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigurationError: an option is out of range.
        BackendError: the device is not there.
    """

    def __init__(
        self,
        kind: str,
        model: str,
        *,
        device: str = "auto",
        dtype: str = "auto",
        optional: tuple[str, ...] = (),
        pads: bool = True,
    ) -> None:
        import torch

        self.folder: Path = resolve(model)
        self.config = read_config(self.folder, model)
        self.tokenizer = read_tokenizer(self.folder, model)
        if pads and self.tokenizer.pad_token is None:
            raise ModelError(f"{model}: its tokenizer has no padding token")
        self.limit = real_limit(self.config, self.tokenizer)
        self.device = open_device(device)
        self.dtype = dtype_name(dtype)
        self.name = plain_name(model)
        self.digest = folder_digest(self.folder)
        self.network = load_network(
            kind, self.folder, self.config, model, dtype=getattr(torch, self.dtype),
            optional=optional,
        ).to(self.device)  # fmt: skip

    @property
    def signature(self) -> str:
        """The name and the beginning of the digest."""
        return f"{self.name}@{self.digest.hex()[:12]}"

    def padded(self, rows: Sequence[Mapping[str, list[int]]]) -> Any:
        """Rows of token ids as one batch on the device."""
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        return self.tokenizer.pad(columns, return_tensors="pt").to(self.device)
