"""Files as users name them: paths, digests, and outputs that are whole, locked or refused."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from prevalence.errors import BackendError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["atomic_file", "expanded_path", "file_digest", "is_stream", "lock", "named_output"]

_STREAM = re.compile(r"/dev/(?:stdout|stderr|fd/\d+)|/proc/[^/]+/fd/\d+")


def expanded_path(path: str | Path) -> Path:
    """A path below a home folder in full; as it is where there is no such user."""
    return Path(os.path.expanduser(path))


def file_digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def named_output(path: Path, kept: str) -> Iterator[None]:
    """Turn a disk that is full, and its like, into an error that names the file.

    Args:
        path: the file that is written.
        kept: what is kept of it, for the message.

    Raises:
        BackendError: it cannot be written.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise BackendError(f"{path}: {error.strerror or error}; {kept}") from error


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[str]]:
    """A text file that appears under its name only when the block ends well.

    Args:
        path: the file; a pipe or another device, /dev/stdout among them whatever it leads to, is
            written directly.

    Yields:
        The open file; UTF-8, line ends as written.

    Raises:
        OSError: it cannot be written; the error names it.
    """
    try:
        with _replaced(path) as file:
            yield file
    except OSError as error:
        if isinstance(error, ConnectionError) or error.filename is not None or error.errno is None:
            raise
        # That of a full disk does not say where.
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def _replaced(path: Path) -> Iterator[IO[str]]:
    if path.exists() and (is_stream(path) or not path.is_file()):
        with path.open("a", encoding="utf-8", newline="") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    part = target.with_name(f".prevalence-{secrets.token_hex(8)}.part")
    try:
        with part.open("x", encoding="utf-8", newline="") as file:
            if target.is_file():
                part.chmod(target.stat().st_mode & 0o7777)
            yield file
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def is_stream(path: Path) -> bool:
    """Whether a path names something that is open already, such as /dev/stdout.

    A shell may have opened a file there to append to it, which replacing or cutting it would lose.
    """
    return _STREAM.fullmatch(str(path)) is not None


def lock(file: IO[Any], path: Path) -> None:
    """Keep other runs from writing to an open file, until it is closed.

    Raises:
        InputError: another run writes to it.
    """
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            f"{path}: another run is writing to it; wait for its end, or choose another --output"
        ) from None
    except OSError:
        # Some file systems know no locks.
        return
