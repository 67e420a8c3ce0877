"""A sequence-to-sequence checkpoint folder → model, tokenizer, prefix, limit, digest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prevalence.errors import ModelError
from prevalence.models.checkpoint import load_network, read_config, read_tokenizer
from prevalence.models.devices import PRECISIONS, dtype_name, open_device
from prevalence.models.lengths import real_limit
from prevalence.models.location import folder_digest, local_folder

if TYPE_CHECKING:
    from pathlib import Path

    import torch

__all__ = ["MAX_LENGTH_KEY", "PREFIX_KEY", "SeqToSeq", "load_seq_to_seq"]

PREFIX_KEY = "prevalence_prefix"
MAX_LENGTH_KEY = "prevalence_max_length"

_KEPT = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id",
         "forced_bos_token_id")  # fmt: skip
"""What generation takes from a checkpoint's own defaults: tokens, but no beams or penalties."""


@dataclass(frozen=True, slots=True)
class SeqToSeq:
    """A loaded checkpoint.

    Attributes:
        name: the folder's name.
        model: a Hugging Face encoder-decoder model in evaluation mode.
        tokenizer: its tokenizer.
        device: where the model is.
        prefix: text that training put before each sentence, or "".
        max_length: most tokens of a sentence in training, or None.
        limit: most tokens that the model reads.
        digest: of weights, config and tokenizer, 12 hex digits.
    """

    name: str
    model: Any
    tokenizer: Any
    device: torch.device
    prefix: str
    max_length: int | None
    limit: int
    digest: str


def load_seq_to_seq(folder: str | Path, *, device: str = "auto", dtype: str = "auto") -> SeqToSeq:
    """Load a sequence-to-sequence checkpoint: T5, BART, Pegasus, ...

    Only safetensors are read, and no code from the checkpoint is run.

    Args:
        folder: checkpoint folder.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.
        dtype: ``auto`` (float32), ``float32`` or ``bfloat16``.

    Raises:
        ModelError: no such folder, not an encoder-decoder, or not loadable.
        ConfigurationError: an unknown dtype.
        BackendError: the device is not there.
    """
    import torch

    path, name = local_folder(folder, "sequence-to-sequence"), str(folder)
    where = open_device(device)
    precision = getattr(torch, dtype_name(dtype, where, among=PRECISIONS))
    config = read_config(path, name)
    if not config.is_encoder_decoder:
        raise ModelError(
            f"{folder}: {config.model_type} is not a sequence-to-sequence model; give a T5, BART "
            "or Pegasus checkpoint"
        )
    tokenizer = read_tokenizer(path, name, fast=False)
    model = load_network("AutoModelForSeq2SeqLM", path, config, name, dtype=precision)
    model.generation_config = _plain_generation(model.generation_config)
    settings = model.config.to_dict()
    prefix, limit = settings.get(PREFIX_KEY), settings.get(MAX_LENGTH_KEY)
    return SeqToSeq(
        name=path.resolve().name,
        model=model.to(where),
        tokenizer=tokenizer,
        device=where,
        prefix=prefix if isinstance(prefix, str) else "",
        max_length=limit if isinstance(limit, int) and limit > 0 else None,
        limit=real_limit(model.config, tokenizer),
        digest=folder_digest(path).hex()[:12],
    )


def _plain_generation(own: Any) -> Any:
    from transformers import GenerationConfig

    tokens = {name: getattr(own, name, None) for name in _KEPT}
    given = {name: token for name, token in tokens.items() if token is not None}
    return GenerationConfig(**given)  # type: ignore[no-untyped-call]
