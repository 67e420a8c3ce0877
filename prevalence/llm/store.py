"""Replies kept across runs: what was generated or paid for once is never asked for again.

One SQLite file a folder, shared by processes. A key is the digest of everything that a reply
depends on, so an entry never goes stale. A reply is on disk before :meth:`ReplyStore.put` returns.
Unlike a cache, the file holds what may have cost money: it has no size limit, nothing in it is
replaced, and a damaged file is an error that says so rather than a new beginning.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import zlib
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prevalence.errors import BackendError
from prevalence.llm.protocol import Response, request_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prevalence.llm.protocol import Backend, Keep, Request, ResponseStore

__all__ = ["ReplyStore", "StoredBackend"]

FILE_NAME = "replies-v1.sqlite"
_BUSY_SECONDS = 60.0
_CREATE = (
    "CREATE TABLE IF NOT EXISTS replies"
    " (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID"
)


class ReplyStore:
    """Responses by key, in one file.

    Args:
        folder: where the file lives; created when missing.

    Attributes:
        path: the file.
        damaged: entries read so far that were not what had been written; they count as missing.

    Raises:
        BackendError: the file cannot be opened, here and in every method.
    """

    def __init__(self, folder: Path | str) -> None:
        self.path = Path(folder).expanduser() / FILE_NAME
        self.damaged = 0
        self._lock = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = _connect(self.path)
        except (sqlite3.Error, OSError) as error:
            raise self._failure(error) from error

    def get(self, key: str) -> Response | None:
        """The response under a key, or None."""
        query = "SELECT value, sum FROM replies WHERE key = ?"
        rows = self._run(query, (key,))
        if not rows:
            return None
        response = _decode(key, *rows[0])
        self.damaged += response is None
        return response

    def put(self, key: str, response: Response) -> None:
        """Keep a response for good before returning; equal keys keep the first sound one."""
        if response.error is not None or self.get(key) is not None:
            return
        value = json.dumps(asdict(response), ensure_ascii=True)
        self._run("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", (key, value, _sum(key, value)))

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
    """

    def __init__(self, inner: Backend, store: ResponseStore) -> None:
        self.inner = inner
        self.store = store
        self.hits = 0
        self.misses = 0

    @property
    def signature(self) -> Mapping[str, str]:
        """The inner backend's."""
        return self.inner.signature

    @property
    def work_unit(self) -> int:
        """The inner backend's."""
        return self.inner.work_unit

    def describe(self) -> str:
        """What was stored and what was asked for, in one line."""
        line = f"{self.hits:,} replies were stored, {self.misses:,} were asked for"
        inner = getattr(self.inner, "describe", None)
        return line if inner is None else f"{line}: {inner()}"

    def complete(
        self, requests: Sequence[Request], *, keep: Keep | None = None
    ) -> list[list[Response]]:
        """Answer requests; see :meth:`Backend.complete`."""
        found = [self._stored(request) for request in requests]
        if keep is not None:
            for request, responses in zip(requests, found, strict=True):
                for response in responses.values():
                    keep(request, response)
        self.hits += sum(map(len, found))
        missing = _Missing(requests, found)
        self.misses += missing.count
        if missing.count:
            missing.fill(self.inner.complete(missing.requests, keep=self._keeping(keep)))
        return [
            [responses[index] for index in request.indices]
            for request, responses in zip(requests, missing.found, strict=True)
        ]

    def _stored(self, request: Request) -> dict[int, Response]:
        keys = {index: request_key(self.signature, request, index) for index in request.indices}
        found = {index: self.store.get(key) for index, key in keys.items()}
        return {index: response for index, response in found.items() if response is not None}

    def _keeping(self, keep: Keep | None) -> Keep:
        def kept(request: Request, response: Response) -> None:
            self.store.put(request_key(self.signature, request, response.index), response)
            if keep is not None:
                keep(request, response)

        return kept


class _Missing:
    """What a store lacks: each (prompt, index) once, however many requests want it."""

    def __init__(self, requests: Sequence[Request], found: list[dict[int, Response]]) -> None:
        self.found = found
        self.requests: list[Request] = []
        self._wanted = requests
        self._first: dict[tuple[object, int], int] = {}
        for place, (request, responses) in enumerate(zip(requests, found, strict=True)):
            new = [
                index
                for index in request.indices
                if index not in responses
                and self._first.setdefault((_asked(request), index), place) == place
            ]
            if new:
                self.requests.append(replace(request, indices=tuple(new)))
        self.count = sum(len(request.indices) for request in self.requests)

    def fill(self, answers: list[list[Response]]) -> None:
        """Give every request its share of the answers."""
        known = {
            (_asked(request), response.index): response
            for request, responses in zip(self.requests, answers, strict=True)
            for response in responses
        }
        for request, responses in zip(self._wanted, self.found, strict=True):
            for index in request.indices:
                if index not in responses:
                    responses[index] = known[_asked(request), index]


def _asked(request: Request) -> object:
    return request.messages, request.sampling, request.answers


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        # A reply may have cost money: it survives a power cut, not only a killed process.
        db.execute("PRAGMA synchronous = FULL")
        with db:
            db.execute(_CREATE)
    except sqlite3.Error:
        db.close()
        raise
    return db


def _sum(key: str, value: str) -> int:
    return zlib.crc32(f"{key}\0{value}".encode())


def _decode(key: str, value: object, check: object) -> Response | None:
    """The response, or None when it is not what was written."""
    if not isinstance(value, str) or check != _sum(key, value):
        return None
    return Response(**json.loads(value))
