"""A checkpoint on disk or hub → model, tokenizer, labels, real length limit, digest."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prevalence.errors import ModelError
from prevalence.nli.labels import LabelMap, parse_labels, read_labels
from prevalence.nli.registry import lookup

__all__ = ["LoadedCheckpoint", "load_checkpoint", "resolve"]

_UNSET_LIMIT = 1_000_000
"""Tokenizers without a stated limit report about 1e30."""

_DEFAULT_THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class LoadedCheckpoint:
    """Everything that scoring needs of a checkpoint.

    Attributes:
        name: for the signature: the registered name, or the folder's name.
        model: a Hugging Face sequence-classification model in evaluation mode.
        tokenizer: a fast tokenizer.
        labels: which output is which class.
        max_length: real limit in tokens, special tokens included.
        threshold: calibrated threshold, or 0.5.
        calibrated: whether the threshold was calibrated.
        digest: BLAKE2b of weights, config and tokenizer, 16 bytes.
    """

    name: str
    model: Any
    tokenizer: Any
    labels: LabelMap
    max_length: int
    threshold: float
    calibrated: bool
    digest: bytes


def load_checkpoint(
    model: str,
    *,
    dtype: Any = None,
    labels: Sequence[str] | None = None,
    max_length: int | None = None,
    revision: str | None = None,
) -> LoadedCheckpoint:
    """Load an NLI checkpoint: a registered name, a folder, or a hub name.

    Only safetensors are read, and no code from the checkpoint is run.

    Args:
        model: name or path.
        dtype: torch dtype; float32 when None.
        labels: class names in output order, for a checkpoint whose config does not name them.
        max_length: a limit below the model's own.
        revision: hub revision, in place of the registered one.

    Raises:
        ModelError: not found, not loadable, labels ambiguous, or ``max_length`` above the limit.
    """
    import torch

    entry = lookup(model)
    folder = resolve(model, revision=revision)
    config = _config(folder, model)
    _refuse_other_heads(config, folder, model)
    names = parse_labels(labels, name=model) if labels else _labels_of(config, model)
    if names.size != config.num_labels:
        raise ModelError(
            f"{model}: --labels names {names.size} classes, the model has {config.num_labels}"
        )
    tokenizer = _tokenizer(folder, model)
    limit = real_limit(config, tokenizer)
    if max_length is not None and not 8 <= max_length <= limit:
        raise ModelError(f"{model}: maximum length {max_length} is outside 8..{limit}")
    stored = getattr(config, "prevalence_threshold", None)
    threshold = stored if stored is not None else entry.threshold if entry else None
    return LoadedCheckpoint(
        name=entry.name if entry else Path(model).name,
        model=_weights(folder, config, model, dtype or torch.float32),
        tokenizer=tokenizer,
        labels=names,
        max_length=max_length or min(limit, getattr(config, "prevalence_max_length", limit)),
        threshold=_DEFAULT_THRESHOLD if threshold is None else float(threshold),
        calibrated=threshold is not None,
        digest=_digest(folder),
    )


def resolve(model: str, *, revision: str | None = None) -> Path:
    """The folder that holds a model's files, downloading a hub model where the network allows.

    Raises:
        ModelError: there is no such folder, and the hub does not answer or does not know it.
    """
    entry = lookup(model)
    location = entry.location if entry else model
    path = Path(location).expanduser()
    if path.is_dir():
        return path
    if entry is not None and path.is_absolute():
        raise ModelError(f"{model}: its files are missing from this installation ({path.name})")
    if path.is_absolute() or location.startswith((".", "~")) or location.count("/") > 1:
        raise ModelError(f"{model}: no such folder; give a checkpoint folder or a name from "
                         "`prevalence models`")  # fmt: skip
    return _download(model, location, revision or (entry.revision if entry else "main"))


def _download(model: str, location: str, revision: str) -> Path:
    from huggingface_hub import snapshot_download

    wanted = ["*.json", "*.safetensors", "*.txt", "*.model", "merges.txt"]
    try:
        return Path(snapshot_download(location, revision=revision, allow_patterns=wanted))
    except Exception as error:
        offline = " (HF_HUB_OFFLINE is set)" if os.environ.get("HF_HUB_OFFLINE") == "1" else ""
        raise ModelError(
            f"{model}: not a local folder, and the hub gave no model{offline}: "
            f"{type(error).__name__}. Use --model embedded, which needs no network, "
            "or the path of a checkpoint folder"
        ) from error


def real_limit(config: Any, tokenizer: Any) -> int:
    """Longest input in tokens: the tokenizer's limit, bounded by the position table.

    RoBERTa-like models number positions from ``padding_idx + 1``, so 514 rows serve 512 tokens;
    some tokenizers state no limit and report about 1e30.
    """
    candidates = []
    stated = getattr(tokenizer, "model_max_length", None)
    if stated and stated < _UNSET_LIMIT:
        candidates.append(int(stated))
    rows = getattr(config, "max_position_embeddings", None)
    if rows and rows > 0:
        offset = 0
        if config.model_type in _OFFSET_POSITIONS:
            offset = (config.pad_token_id or 0) + 1
        candidates.append(int(rows) - offset)
    return min(candidates) if candidates else 512


_OFFSET_POSITIONS = {
    "camembert",
    "data2vec-text",
    "ibert",
    "longformer",
    "mpnet",
    "roberta",
    "roberta-prelayernorm",
    "xlm-roberta",
    "xlm-roberta-xl",
    "xmod",
}


def _config(folder: Path, model: str) -> Any:
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, trust_remote_code=False)
    except Exception as error:
        raise ModelError(f"{model}: its config cannot be read: {_first_line(error)}") from error


def _refuse_other_heads(config: Any, folder: Path, model: str) -> None:
    heads = getattr(config, "architectures", None) or []
    if heads and not any(head.endswith("ForSequenceClassification") for head in heads):
        raise ModelError(
            f"{model}: {folder.name} holds {', '.join(heads)}, not a sequence-classification "
            "model; fine-tune it first (prevalence train)"
        )


def _labels_of(config: Any, model: str) -> LabelMap:
    return read_labels(config.id2label, name=model)


def _tokenizer(folder: Path, model: str) -> Any:
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True, trust_remote_code=False)
    except Exception as error:
        raise ModelError(f"{model}: no usable tokenizer: {_first_line(error)}") from error
    if not tokenizer.is_fast:
        raise ModelError(f"{model}: it has no fast tokenizer (tokenizer.json)")
    return tokenizer


def _weights(folder: Path, config: Any, model: str, dtype: Any) -> Any:
    from transformers import AutoModelForSequenceClassification

    if not list(folder.glob("*.safetensors")):
        raise ModelError(
            f"{model}: no .safetensors file in it. Pickled weights are never loaded; convert them "
            "once with save_pretrained(..., safe_serialization=True)"
        )
    try:
        network, info = AutoModelForSequenceClassification.from_pretrained(
            folder,
            config=config,
            dtype=dtype,
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except Exception as error:
        raise ModelError(f"{model}: its weights cannot be loaded: {_first_line(error)}") from error
    if info["missing_keys"]:
        missing = ", ".join(sorted(info["missing_keys"])[:3])
        raise ModelError(
            f"{model}: weights are missing for {missing}: this is not a fine-tuned classifier, "
            "and its answers would be random"
        )
    return network.eval()


def _digest(folder: Path) -> bytes:
    """Digest of every file that can change a probability, by name and content."""
    hasher = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.iterdir()):
        if path.suffix in {".safetensors", ".json", ".model", ".txt"} and path.is_file():
            hasher.update(path.name.encode())
            with path.open("rb") as file:
                hasher.update(hashlib.file_digest(file, "blake2b").digest())
    return hasher.digest()


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0][:200] if text else type(error).__name__
