"""A scorer behind a cache: pair probabilities on disk, content-addressed, shared by processes.

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
import time
import warnings
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from prevalence.errors import BackendError, ConfigurationError
from prevalence.nli.pairs import FLAG_TOO_LONG, PairScorer, PairScores, PairStore, Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from prevalence.nli.pairs import TextTable

__all__ = [
    "BUSY_SECONDS",
    "DEFAULT_MAX_BYTES",
    "MOST_UNIT",
    "READING",
    "CacheInfo",
    "CachedScorer",
    "PairCache",
    "default_folder",
    "default_folder_or_none",
]


FILE_NAME = "pairs-v1.sqlite"
DEFAULT_MAX_BYTES = 2 << 30
"""2 GiB: about 25 million pairs."""

ENTRY_BYTES = 80
"""Room that an entry takes in the file, its share of the index included (67 measured)."""

BUSY_SECONDS = 30.0
"""Wait for a lock of another process, after which the cache turns itself off."""

Entry = tuple[Any, ...]
"""The fields of a cache's layout; of pairs P(entailment), P(contradiction), flags."""

T = TypeVar("T")

_VALUE = struct.Struct("<ffB")
_CHECK = struct.Struct("<I")
_LOOKUP = 500
_OPENING_SECONDS = 5.0
_PAUSE_SECONDS = 0.02
_TARGET_FILL = 0.8
_LOG_BYTES = 8 << 20
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def default_folder() -> Path:
    """``$PREVALENCE_CACHE``, or ``prevalence`` in the user's cache folder.

    Raises:
        ConfigurationError: the user has no home folder.
    """
    explicit = os.environ.get("PREVALENCE_CACHE")
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        if explicit:
            return Path(explicit).expanduser()
        return (Path(base) if base else Path.home() / ".cache") / "prevalence"
    except RuntimeError as error:
        raise ConfigurationError(
            "the user has no home folder for a cache: set $PREVALENCE_CACHE or give --cache"
        ) from error


def default_folder_or_none() -> Path | None:
    """The same, or None with a RuntimeWarning: no want of a cache stops a run."""
    try:
        return default_folder()
    except ConfigurationError as error:
        warnings.warn(f"nothing is cached: {error}", RuntimeWarning, stacklevel=2)
        return None


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache holds.

    Attributes:
        path: its file.
        pairs: entries in it.
        bytes: size on disk, write-ahead log included.
        max_bytes: bound on the size.
    """

    path: Path
    pairs: int
    bytes: int
    max_bytes: int


class PairCache:
    """Stored pair scores.

    A file that cannot be opened, read or written turns the cache off with one RuntimeWarning:
    it then finds nothing and keeps nothing.

    Args:
        folder: where the file lives; created when missing.
        max_bytes: size above which the oldest entries are dropped.

    Attributes:
        path: the file.
        max_bytes: as given.
        damaged_entries: entries read so far whose checksum was wrong.
        file_name, layout: of the kind of cache; another kind of entry is a subclass.

    Raises:
        ConfigurationError: ``max_bytes`` leaves no room for an entry.
    """

    file_name = FILE_NAME
    layout = _VALUE

    def __init__(self, folder: Path | str, *, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        if max_bytes < ENTRY_BYTES:
            raise ConfigurationError(
                f"the cache size must be at least {ENTRY_BYTES} bytes, not {max_bytes}"
            )
        self.path = Path(folder).expanduser() / self.file_name
        self.max_bytes = max_bytes
        self.damaged_entries = 0
        self._db: sqlite3.Connection | None = None
        self._file: int | None = None
        self._open()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Entry]:
        """Stored (entailment, contradiction, flags) of those keys that are present and sound."""
        damaged_before = self.damaged_entries
        found = self._safely(lambda db: dict(self._read(db, keys))) or {}
        if self.damaged_entries and not damaged_before:
            self._warn("has damaged entries; their pairs are computed again", level=3)
        return found

    def put(self, entries: Mapping[bytes, Entry]) -> None:
        """Store entries in one transaction, dropping the oldest ones when room is short."""
        most = self.max_bytes // ENTRY_BYTES
        rows = [(key, _encode(key, value, self.layout)) for key, value in entries.items()]
        # In the order of the keys, each page of the index is read and written once.
        kept = sorted(rows[-most:])

        def write(db: sqlite3.Connection) -> None:
            with db:
                _make_room(db, len(rows), most)
                db.executemany("INSERT OR REPLACE INTO pairs (key, value) VALUES (?, ?)", kept)

        self._safely(write)

    def info(self) -> CacheInfo:
        """Number of pairs and size in bytes."""
        count = self._safely(lambda db: int(db.execute(_COUNT).fetchone()[0]))
        files = [file for file in (self.path, self._beside("-wal")) if file.exists()]
        size = sum(file.stat().st_size for file in files)
        return CacheInfo(self.path, count or 0, size, self.max_bytes)

    def clear(self) -> None:
        """Drop every entry, and a file set aside earlier, and give the space back.

        Raises:
            BackendError: the file cannot be emptied.
        """
        try:
            if self._db is None:
                raise sqlite3.OperationalError("it is not open")
            with self._db as db:
                db.execute("DELETE FROM pairs")
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._aside.unlink(missing_ok=True)
        except (sqlite3.Error, OSError) as error:
            raise BackendError(
                f"cache {self.path}: {error}; end the runs that use it, or delete the file"
            ) from error

    def close(self) -> None:
        """Close the file; the cache then finds nothing and keeps nothing."""
        if self._db is not None:
            self._db.close()
            self._db = None

    @property
    def _aside(self) -> Path:
        return self.path.with_suffix(".damaged")

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)

    def _read(self, db: sqlite3.Connection, keys: Sequence[bytes]) -> Iterator[tuple[bytes, Entry]]:
        ordered = sorted(keys)
        for start in range(0, len(ordered), _LOOKUP):
            part = ordered[start : start + _LOOKUP]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, value FROM pairs WHERE key IN ({marks})"  # noqa: S608
            for key, value in db.execute(query, part):
                entry = _decode(key, value, self.layout)
                if entry is None:
                    self.damaged_entries += 1
                else:
                    yield key, entry

    def _open(self) -> None:
        """Open or create the file; one that is no cache is replaced, once."""
        deadline = time.monotonic() + _OPENING_SECONDS
        replaced = False
        while self._db is None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = _identity(self.path)
                self._db = _connect(self.path)
                self._file = _identity(self.path)
            except (sqlite3.Error, OSError) as error:
                if _code(error) == sqlite3.SQLITE_BUSY and time.monotonic() < deadline:
                    # Processes that create the file at once do not wait for each other.
                    time.sleep(_PAUSE_SECONDS)
                elif _code(error) in _DAMAGE and not replaced:
                    self._set_aside(error)
                    replaced = True
                else:
                    self._turn_off(error)
                    return

    def _safely(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """``work(connection)``; None when the cache is off or ``work`` failed."""
        if self._db is None:
            return None
        try:
            return work(self._db)
        except sqlite3.Error as error:
            if _code(error) in _DAMAGE:
                self.close()
                self._set_aside(error)
                self._open()
            else:
                self._turn_off(error)
        return None

    def _turn_off(self, error: Exception) -> None:
        self.close()
        self._warn(f"cannot be used ({error}); scoring goes on without it", level=5)

    def _set_aside(self, error: Exception) -> None:
        """Move the damaged file away, unless another process has already done so."""
        if _identity(self.path) != self._file:
            return
        try:
            self.path.replace(self._aside)
            for suffix in ("-wal", "-shm"):
                self._beside(suffix).unlink(missing_ok=True)
        except OSError:
            # The next attempt to open it fails and turns the cache off.
            return
        self._warn(f"is damaged ({error}); moved to {self._aside.name}, a new one begins", level=5)

    def _warn(self, what: str, *, level: int) -> None:
        warnings.warn(f"cache {self.path} {what}", RuntimeWarning, stacklevel=level)


_COUNT = "SELECT COUNT(*) FROM pairs"
# Two subqueries, because SQLite scans the whole table for two aggregates in one.
_ROW_RANGE = "SELECT (SELECT MIN(rowid) FROM pairs), (SELECT MAX(rowid) FROM pairs)"


def _encode(key: bytes, value: Entry, layout: struct.Struct) -> bytes:
    body = layout.pack(*value)
    return body + _CHECK.pack(zlib.crc32(key + body))


def _decode(key: bytes, value: object, layout: struct.Struct) -> Entry | None:
    """The entry, or None when it is damaged, which may change even its type."""
    if not isinstance(value, bytes) or len(value) != layout.size + _CHECK.size:
        return None
    body, check = value[: layout.size], value[layout.size :]
    return layout.unpack(body) if _CHECK.pack(zlib.crc32(key + body)) == check else None


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        # Readers and one writer at a time work side by side; a crash loses the last
        # transactions at most, never the file.
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
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


def _make_room(db: sqlite3.Connection, incoming: int, most: int) -> None:
    """Delete the oldest entries when ``incoming`` more would exceed ``most``.

    Row numbers grow with age, so their range counts the entries without reading them; replaced
    entries leave gaps, which only makes the count cautious. Freed pages are used again, so the
    file stays at its bound.
    """
    first, last = db.execute(_ROW_RANGE).fetchone()
    if first is None or last - first + 1 + incoming <= most:
        return
    keep = max(min(int(most * _TARGET_FILL), most - incoming), 0)
    db.execute("DELETE FROM pairs WHERE rowid <= ?", (last - keep,))


def _code(error: Exception) -> int | None:
    """SQLite's primary result code, None for other errors."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else int(code) & 0xFF


def _identity(path: Path) -> int | None:
    """Inode number, by which a process sees that another has replaced the file."""
    try:
        return path.stat().st_ino
    except OSError:
        return None


READING = b""
"""Part of every key: change it (b"1", b"2") when our own reading of pairs changes answers, since
digests name weights and settings alone. The first is empty."""

MOST_UNIT = 32_768
"""Pairs that a device scores between two times that answers are stored."""


class CachedScorer(PairScorer):
    """A scorer that asks the cache first and stores what it had to compute.

    Work is handed to the inner scorer in its own units, or parts of them, each stored when it is
    done: a killed run loses 32,768 pairs a device at most, which a small model answers in seconds.
    """

    def __init__(self, inner: PairScorer, cache: PairStore) -> None:
        super().__init__(replace(inner.traits, cached=True), inner)
        self._inner = inner
        self._cache = cache

    def at(self, threshold: float) -> CachedScorer:
        """The scorer to decide with at another threshold."""
        inner = self._inner.at(threshold)
        return self if inner is self._inner else CachedScorer(inner, self._cache)

    def score(
        self, texts: TextTable, pairs: NDArray[np.int64], *, progress: Progress | None = None
    ) -> PairScores:
        """Score pairs; see :meth:`PairScorer.score`."""
        result = PairScores.empty(len(pairs))
        unit = min(self.traits.work_unit, MOST_UNIT * self.traits.devices)
        for start in range(0, len(pairs), unit):
            part = slice(start, start + unit)
            result.put(part, self._score_unit(texts, pairs[part], progress))
        return result

    def _score_unit(
        self, texts: TextTable, pairs: NDArray[np.int64], progress: Progress | None
    ) -> PairScores:
        keys = [self._key(texts, premise, hypothesis) for premise, hypothesis in pairs.tolist()]
        stored = self._cache.get(keys)
        result = PairScores.empty(len(pairs))
        missing = []
        for row, key in enumerate(keys):
            if key in stored:
                result.entailment[row], result.contradiction[row], result.flags[row] = stored[key]
            else:
                missing.append(row)
        self._did.hits += len(pairs) - len(missing)
        if progress is not None and len(missing) < len(pairs):
            progress(len(pairs) - len(missing))
        if missing:
            rows = np.asarray(missing, np.int64)
            fresh = self._inner.score(texts, pairs[rows], progress=progress)
            result.put(rows, fresh)
            self._keep([keys[row] for row in missing], fresh)
        return result

    def _keep(self, keys: list[bytes], fresh: PairScores) -> None:
        """Store answers; a pair without a probability is asked again next time."""
        answered = np.isfinite(fresh.entailment) & (fresh.flags & FLAG_TOO_LONG == 0)
        values = zip(*(column.tolist() for column in fresh), strict=True)
        self._cache.put(
            {
                key: value
                for key, value, kept in zip(keys, values, answered.tolist(), strict=True)
                if kept
            }
        )

    def _key(self, texts: TextTable, premise: int, hypothesis: int) -> bytes:
        parts = self.traits.digest + texts.digest(premise) + texts.digest(hypothesis)
        return hashlib.blake2b(parts, digest_size=16, person=READING).digest()
