"""Paths as users name them in options, texts and files, and digests of what they name."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

__all__ = ["expanded_path", "file_digest"]


def expanded_path(path: str | Path) -> Path:
    """A path below a home folder in full; as it is where there is no such user."""
    return Path(os.path.expanduser(path))


def file_digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
