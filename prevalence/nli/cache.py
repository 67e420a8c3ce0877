"""Pair probabilities kept across runs: content-addressed, checked, bounded, shared by processes.

One SQLite file a folder. A key is the digest of (scorer digest, premise digest, hypothesis
digest), so an entry never goes stale: another model, limit or precision has other keys. An entry
carries a checksum; a damaged entry is a miss, a damaged file is set aside and replaced. The cache
can only ever save work: no failure of it stops a run.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import struct
import warnings
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prevalence.errors import BackendError, ConfigurationError
from prevalence.nli.protocol import FLAG_TOO_LONG, PairScorer, PairScores, Progress
from prevalence.texts import TextTable

__all__ = ["DEFAULT_MAX_BYTES", "CacheInfo", "CachedScorer", "PairCache", "default_folder"]

FILE_NAME = "pairs-v1.sqlite"
DEFAULT_MAX_BYTES = 2 << 30
"""2 GiB: about 25 million pairs."""

_VALUE = struct.Struct("<ffB")
_CHECK = struct.Struct("<I")
_LOOKUP = 500
_BUSY_SECONDS = 30.0
_TARGET_FILL = 0.8


def default_folder() -> Path:
    """``$PREVALENCE_CACHE``, or ``prevalence`` in the user's cache folder."""
    explicit = os.environ.get("PREVALENCE_CACHE")
    if explicit:
        return Path(explicit).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "prevalence"


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache holds."""

    path: Path
    pairs: int
    bytes: int
    max_bytes: int


class PairCache:
    """Stored pair scores.

    Args:
        folder: where the file lives; created when missing.
        max_bytes: size above which the oldest entries are dropped.

    Raises:
        ConfigurationError: ``max_bytes`` is not positive.
        BackendError: the folder or file cannot be opened or created.
    """

    def __init__(self, folder: Path | str, *, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        if max_bytes < 1:
            raise ConfigurationError(f"the cache size must be positive, not {max_bytes}")
        self.path = Path(folder).expanduser() / FILE_NAME
        self.max_bytes = max_bytes
        self.damaged_entries = 0
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = self._open()
        except (OSError, sqlite3.OperationalError) as error:
            raise BackendError(
                f"cache {self.path}: {error}; use --cache DIR or --no-cache"
            ) from error

    def get(self, keys: list[bytes]) -> dict[bytes, tuple[float, float, int]]:
        """Stored (entailment, contradiction, flags) of those keys that are present and sound."""
        found: dict[bytes, tuple[float, float, int]] = {}
        for start in range(0, len(keys), _LOOKUP):
            part = keys[start : start + _LOOKUP]
            marks = ",".join("?" * len(part))
            rows = self._safely(
                lambda db, part=part, marks=marks: db.execute(
                    f"SELECT key, value FROM pairs WHERE key IN ({marks})",  # noqa: S608
                    part,
                ).fetchall()
            )
            for key, value in rows or ():
                entry = self._decode(key, value)
                if entry is not None:
                    found[key] = entry
        return found

    def put(self, entries: Mapping[bytes, tuple[float, float, int]]) -> None:
        """Store entries in one transaction, then drop the oldest if the file is over its size."""
        rows = [(key, _encode(key, value)) for key, value in entries.items()]

        def write(db: sqlite3.Connection) -> None:
            with db:
                db.executemany("INSERT OR REPLACE INTO pairs (key, value) VALUES (?, ?)", rows)

        self._safely(write)
        self._safely(self._shrink)

    def info(self) -> CacheInfo:
        """Number of pairs and size in bytes."""
        count = self._safely(lambda db: db.execute("SELECT COUNT(*) FROM pairs").fetchone()[0])
        return CacheInfo(self.path, int(count or 0), _size(self.path), self.max_bytes)

    def clear(self) -> None:
        """Drop every entry and give the space back."""

        def empty(db: sqlite3.Connection) -> None:
            with db:
                db.execute("DELETE FROM pairs")
            db.execute("VACUUM")

        self._safely(empty)

    def close(self) -> None:
        """Close the file; the object cannot be used afterwards."""
        self._db.close()

    def _open(self) -> sqlite3.Connection:
        try:
            return _connect(self.path)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            self._set_aside(error)
            return _connect(self.path)

    def _safely(self, work):  # type: ignore[no-untyped-def]
        """Run ``work(connection)``; on damage start a new file, on any trouble return None."""
        try:
            return work(self._db)
        except sqlite3.OperationalError as error:
            warnings.warn(
                f"cache {self.path}: {error}; scoring goes on without it",
                RuntimeWarning,
                stacklevel=3,
            )
        except sqlite3.DatabaseError as error:
            self._db.close()
            self._set_aside(error)
            self._db = _connect(self.path)
        return None

    def _set_aside(self, error: Exception) -> None:
        aside = self.path.with_suffix(".damaged")
        warnings.warn(
            f"cache {self.path} is damaged ({error}); moved to {aside.name}, starting a new one",
            RuntimeWarning,
            stacklevel=4,
        )
        for suffix in ("-wal", "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        self.path.replace(aside)

    def _decode(self, key: bytes, value: bytes) -> tuple[float, float, int] | None:
        sound = len(value) == _VALUE.size + _CHECK.size
        if sound:
            body, check = value[: _VALUE.size], value[_VALUE.size :]
            sound = _CHECK.pack(zlib.crc32(key + body)) == check
        if not sound:
            self.damaged_entries += 1
            return None
        entailment, contradiction, flags = _VALUE.unpack(body)
        return entailment, contradiction, flags

    def _shrink(self, db: sqlite3.Connection) -> None:
        used = _used_bytes(db)
        if used <= self.max_bytes:
            return
        first, last = db.execute("SELECT MIN(rowid), MAX(rowid) FROM pairs").fetchone()
        keep = int((last - first + 1) * _TARGET_FILL * self.max_bytes / used)
        with db:
            db.execute("DELETE FROM pairs WHERE rowid <= ?", (last - keep,))


class CachedScorer:
    """A scorer that asks the cache first and stores what it had to compute.

    Work is handed to the inner scorer in units of a few seconds, each stored when it is done, so
    that a killed run loses little.

    Attributes:
        hits: pairs answered by the cache so far.
        misses: pairs computed so far.
    """

    def __init__(self, inner: PairScorer, cache: PairCache) -> None:
        self._inner = inner
        self._cache = cache
        self.digest = inner.digest
        self.signature = inner.signature
        self.threshold = inner.threshold
        self.three_way = inner.three_way
        self.work_unit = inner.work_unit
        self.hits = 0
        self.misses = 0

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`PairScorer.score`."""
        result = PairScores.empty(len(pairs))
        for part in _units(len(pairs), self.work_unit):
            result.put(part, self._score_unit(texts, pairs[part], progress))
        return result

    def _score_unit(
        self, texts: TextTable, pairs: NDArray[np.int64], progress: Progress | None
    ) -> PairScores:
        keys = [self._key(texts, premise, hypothesis) for premise, hypothesis in pairs.tolist()]
        stored = self._cache.get(keys)
        result = PairScores.empty(len(pairs))
        for row, key in enumerate(keys):
            if key in stored:
                result.entailment[row], result.contradiction[row], result.flags[row] = stored[key]
        missing = np.array([row for row, key in enumerate(keys) if key not in stored], np.int64)
        self.hits += len(pairs) - missing.size
        self.misses += missing.size
        if progress is not None and missing.size < len(pairs):
            progress(len(pairs) - missing.size)
        if missing.size:
            fresh = self._inner.score(texts, pairs[missing], progress=progress)
            result.put(missing, fresh)
            self._keep([keys[row] for row in missing], fresh)
        return result

    def _keep(self, keys: list[bytes], fresh: PairScores) -> None:
        values = zip(*(column.tolist() for column in fresh), strict=True)
        self._cache.put(
            {
                key: value
                for key, value in zip(keys, values, strict=True)
                if not value[2] & FLAG_TOO_LONG
            }
        )

    def _key(self, texts: TextTable, premise: int, hypothesis: int) -> bytes:
        parts = self.digest + texts.digest(premise) + texts.digest(hypothesis)
        return hashlib.blake2b(parts, digest_size=16).digest()


def _units(total: int, size: int) -> Iterator[slice]:
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))


def _encode(key: bytes, value: tuple[float, float, int]) -> bytes:
    body = _VALUE.pack(*value)
    return body + _CHECK.pack(zlib.crc32(key + body))


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=_BUSY_SECONDS)
    try:
        # Readers and one writer at a time work side by side; a crash loses the last
        # transactions at most, never the file.
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA auto_vacuum = FULL")
        with db:
            db.execute(
                "CREATE TABLE IF NOT EXISTS pairs"
                " (rowid INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, value BLOB NOT NULL)"
            )
            db.execute("SELECT key, value FROM pairs LIMIT 1").fetchone()
    except sqlite3.Error:
        db.close()
        raise
    return db


def _used_bytes(db: sqlite3.Connection) -> int:
    pages = db.execute("PRAGMA page_count").fetchone()[0]
    free = db.execute("PRAGMA freelist_count").fetchone()[0]
    size = db.execute("PRAGMA page_size").fetchone()[0]
    return int((pages - free) * size)


def _size(path: Path) -> int:
    files = (path, Path(f"{path}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
