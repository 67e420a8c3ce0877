"""A model's name: the folder that holds its files, their digest, and how signatures call it."""

from __future__ import annotations

import hashlib
import os
import re
from difflib import get_close_matches
from pathlib import Path

from prevalence.errors import ModelError
from prevalence.files import expanded_path
from prevalence.models.registry import REGISTRY, SHIPPED, Checkpoint, lookup

__all__ = [
    "folder_digest",
    "is_here",
    "local_folder",
    "plain_name",
    "refuse_pickles",
    "resolve",
]

_NEAR = 0.7
"""How like a name must be to a registered one that is suggested in its place, from 0 to 1."""

_DIGESTED = (
    "*.safetensors",
    "*.model",
    "added_tokens.json",
    "config.json",
    "generation_config.json",
    "merges.txt",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
)
"""Files that can change an answer; a licence or a training log beside them cannot."""


def resolve(model: str) -> Path:
    """The folder that holds a model's files, downloading a hub model where the network allows.

    Raises:
        ModelError: there is no such folder, and the hub does not answer or does not know it.
    """
    if not model.strip():
        raise ModelError("the model has no name; give a checkpoint folder or a name from "
                         "`prevalence models`")  # fmt: skip
    entry = lookup(model)
    location = entry.location if entry else model
    path = expanded_path(location)
    if path.is_dir():
        return path
    if entry is not None and path.is_absolute():
        raise ModelError(f"{model}: its files are missing from this installation ({path.name})")
    if path.is_absolute() or location.startswith((".", "~")) or location.count("/") > 1:
        raise ModelError(f"{model}: no such folder; give a checkpoint folder or a name from "
                         "`prevalence models`")  # fmt: skip
    return _download(model, location, entry)


def is_here(model: str) -> bool:
    """Whether a model's weights are on this machine, so that nothing must be fetched."""
    from huggingface_hub import snapshot_download

    entry = lookup(model)
    folder = expanded_path(entry.location if entry else model)
    if not folder.is_dir():
        location, revision = (entry.location, entry.revision) if entry else (model, "main")
        try:
            folder = Path(snapshot_download(location, revision=revision, local_files_only=True))
        # The hub's own errors, and its refusal of what is no name on it.
        except (OSError, ValueError):
            return False
    return any(folder.glob("*.safetensors"))


def _download(model: str, location: str, entry: Checkpoint | None) -> Path:
    from huggingface_hub import snapshot_download

    wanted = ["*.json", "*.safetensors", "*.txt", "*.model", "merges.txt"]
    revision = entry.revision if entry else "main"
    try:
        return Path(snapshot_download(location, revision=revision, allow_patterns=wanted))
    except Exception as error:
        near = [] if entry else get_close_matches(model, REGISTRY, n=1, cutoff=_NEAR)
        start = f"unknown model {model!r}: did you mean {near[0]!r}? It is" if near else f"{model}:"
        offline = " (HF_HUB_OFFLINE is set)" if os.environ.get("HF_HUB_OFFLINE") == "1" else ""
        hidden = Path(model).is_dir()
        here = f"; write ./{model} for the folder here" if hidden else ""
        # Whoever opens a family's checkpoint says how to get it; some must be converted.
        own = entry is not None and (entry.family or entry.convert)
        steps = "" if own else f" (hf download {location} --local-dir FOLDER)"
        raise ModelError(
            f"{start} {'a registered name' if hidden else 'not a local folder'}, and "
            f"{_hub_answer(error)}{offline}. Give the folder of a checkpoint{steps}, or a model "
            f"that needs no network (prevalence models){here}"
        ) from error


def _hub_answer(error: Exception) -> str:
    """Why the hub gave no model, in words."""
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    if isinstance(error, GatedRepoError):
        return "the hub asks for a login (hf auth login)"
    if isinstance(error, RepositoryNotFoundError):
        return "the hub has no such model"
    return "the hub gave no model"


def local_folder(model: str | Path, what: str) -> Path:
    """The folder of a model that is never fetched.

    Raises:
        ModelError: there is none, or none with safetensors.
    """
    path = expanded_path(model)
    if not path.is_dir():
        raise ModelError(
            f"{model}: no such folder; give a {what} checkpoint folder (a hub model is fetched by: "
            "hf download NAME --local-dir FOLDER)"
        )
    refuse_pickles(path, str(model))
    return path


def refuse_pickles(folder: Path, model: str) -> None:
    """Raise an error where a folder has no safetensors.

    Raises:
        ModelError: it has none.
    """
    if not list(folder.glob("*.safetensors")):
        raise ModelError(
            f"{model}: no .safetensors file in it. Pickled weights are never loaded; convert them "
            "once with save_pretrained(..., safe_serialization=True)"
        )


def plain_name(model: str) -> str:
    """A name for signatures: the last part of a path or hub name, without their separators.

    A folder that is called like a model that ships, and is another, is marked.
    """
    name = re.sub(r"[|\s]", "_", Path(os.path.abspath(expanded_path(model))).name)
    return f"{name}(local)" if name in SHIPPED and lookup(model) is None else name


def folder_digest(folder: Path) -> bytes:
    """Digest of every file that can change an answer, by name and content."""
    hasher = hashlib.blake2b(digest_size=16)
    for path in sorted({path for pattern in _DIGESTED for path in folder.glob(pattern)}):
        hasher.update(path.name.encode())
        with path.open("rb") as file:
            hasher.update(hashlib.file_digest(file, "blake2b").digest())
    return hasher.digest()
