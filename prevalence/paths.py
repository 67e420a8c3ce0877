"""Paths as users name them in options, texts and files."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["expanded_path"]


def expanded_path(path: str | Path) -> Path:
    """A path below a home folder in full; as it is where there is no such user."""
    return Path(os.path.expanduser(path))
