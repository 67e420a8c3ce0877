"""Replies kept across runs: what was generated or paid for once is never asked for again.

One SQLite file a folder, shared by processes. A key is the digest of everything that a reply
depends on, so an entry never goes stale. A reply is on disk before :meth:`ReplyStore.put` returns.
Unlike a cache, the file holds what may have cost money: it has no size limit, nothing in it is
replaced, and a damaged file is an error that says so rather than a new beginning.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import zlib
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prevalence.errors import BackendError
from prevalence.llm.protocol import Response, request_key
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.llm.protocol import Backend, Keep, Request, ResponseStore

__all__ = ["ReplyStore", "StoredBackend"]

FILE_NAME = "replies-v1.sqlite"
_BUSY_SECONDS = 60.0
_CREATE = (
    "CREATE TABLE IF NOT EXISTS replies"
    " (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID"
)
_PUT = (
    "INSERT INTO replies VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE"
    " SET value = excluded.value, sum = excluded.sum"
    " WHERE replies.sum IS NOT sum_of(replies.key, replies.value)"
)
"""One statement, so that of two processes the first one counts."""


class ReplyStore:
    """Responses by key, in one file.

    Args:
        folder: where the file lives; created when missing.

    Attributes:
        path: the file.

    Raises:
        BackendError: the file cannot be opened, here and in every method.
    """

    def __init__(self, folder: Path | str) -> None:
        self.path = Path(folder).expanduser() / FILE_NAME
        self._lock = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = _connect(self.path)
        except (sqlite3.Error, OSError) as error:
            raise self._failure(error) from error

    def get(self, key: str) -> Response | None:
        """The response under a key; None also where it is not what had been written."""
        rows = self._run("SELECT value, sum FROM replies WHERE key = ?", (key,))
        return _decode(key, *rows[0]) if rows else None

    def put(self, key: str, response: Response) -> None:
        """Keep a response for good before returning; equal keys keep the first sound one."""
        if response.error is None:
            value = json.dumps(asdict(response), ensure_ascii=True)
            self._run(_PUT, (key, value, _sum(key, value)))

    def __len__(self) -> int:
        return int(self._run("SELECT COUNT(*) FROM replies", ())[0][0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _run(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        try:
            with self._lock, self._db as db:
                return db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> BackendError:
        return BackendError(
            f"store of replies {self.path}: {error}; repair the file or move it away, name "
            "another folder (--cache), or keep no replies (--no-cache)"
        )


class StoredBackend:
    """A backend that asks the store first, and stores every new reply as soon as it is there.

    Args:
        inner: answers what the store does not hold.
        store: what was answered before.

    Attributes:
        hits: responses that the store held.
        misses: responses that were asked for.
        kept: those of them that are stored by now.
    """

    def __init__(self, inner: Backend, store: ResponseStore) -> None:
        self.inner = inner
        self.store = store
        self.signature = inner.signature
        self.work_unit = inner.work_unit
        self.hits = 0
        self.misses = 0
        self.kept = 0

    def describe(self) -> str:
        """What was stored and what was asked for, in one line."""
        stored = counted(self.hits, "reply was", "replies were")
        line = f"{stored} stored, {counted(self.misses, 'was', 'were')} asked for"
        inner = self.inner.describe()
        return f"{line}: {inner}" if inner else line

    def complete(
        self, requests: Sequence[Request], *, keep: Keep | None = None
    ) -> list[list[Response]]:
        """Answer requests; see :meth:`Backend.complete`."""
        keys = [[self._key(request, index) for index in request.indices] for request in requests]
        known: dict[str, Response] = {}
        missing: list[Request] = []
        wanted: set[str] = set()
        for request, names in zip(requests, keys, strict=True):
            lacking = []
            for index, key in zip(request.indices, names, strict=True):
                response = self.store.get(key)
                if response is not None:
                    self._found(request, response, keep)
                    known[key] = response
                elif key not in wanted:
                    lacking.append(index)
            # What several requests lack is asked for once.
            wanted.update(names)
            if lacking:
                missing.append(replace(request, indices=tuple(lacking)))
        known |= self._asked(missing, keep)
        return [[known[key] for key in names] for names in keys]

    def _key(self, request: Request, index: int) -> str:
        return request_key(self.signature, request, index)

    def _found(self, request: Request, response: Response, keep: Keep | None) -> None:
        self.hits += 1
        if keep is not None:
            keep(request, response)

    def _asked(self, requests: Sequence[Request], keep: Keep | None) -> dict[str, Response]:
        """Replies that the store lacks, by key."""

        def kept(request: Request, response: Response) -> None:
            self.store.put(self._key(request, response.index), response)
            self.kept += response.error is None
            if keep is not None:
                keep(request, response)

        self.misses += sum(len(request.indices) for request in requests)
        answers = self.inner.complete(requests, keep=kept) if requests else []
        return {
            self._key(request, response.index): response
            for request, responses in zip(requests, answers, strict=True)
            for response in responses
        }


def _connect(path: Path) -> sqlite3.Connection:
    # Prompts and replies are nobody else's affair; SQLite gives its side files the same mode.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    db = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        # A reply may have cost money: it survives a power cut, not only a killed process.
        db.execute("PRAGMA synchronous = FULL")
        db.create_function("sum_of", 2, _sum, deterministic=True)
        with db:
            db.execute(_CREATE)
    except sqlite3.Error:
        db.close()
        raise
    return db


def _sum(key: str, value: object) -> int:
    return zlib.crc32(f"{key}\0{value}".encode())


def _decode(key: str, value: object, check: object) -> Response | None:
    """The response, or None when it is not what was written."""
    if not isinstance(value, str) or check != _sum(key, value):
        return None
    try:
        return Response(**json.loads(value))
    except TypeError as error:
        raise BackendError(
            "a reply was stored by a later version of prevalence; update it, name another folder "
            "(--cache), or keep no replies (--no-cache)"
        ) from error
