"""The store of pairs: exact, checked, bounded, shared by processes."""

from __future__ import annotations

import hashlib
import multiprocessing
import sqlite3
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.errors import BackendError, ConfigurationError
from prevalence.nli.cache import (
    DEFAULT_MAX_BYTES,
    ENTRY_BYTES,
    FILE_NAME,
    PairCache,
    default_folder,
    default_folder_or_none,
)


def test_a_missing_contradiction_is_kept_as_missing(tmp_path: Path) -> None:
    cache = PairCache(tmp_path)
    cache.put({b"k" * 16: (0.25, float("nan"), 0)})
    entailment, contradiction, flags = cache.get([b"k" * 16])[b"k" * 16]
    assert (entailment, flags) == (0.25, 0)
    assert np.isnan(contradiction)


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> PairCache:
    return PairCache(tmp_path_factory.mktemp("cache"))


@settings(deadline=None)
@given(
    entailment=st.floats(0, 1, width=32),
    contradiction=st.floats(width=32, allow_nan=False),
    flags=st.integers(0, 255),
    key=st.binary(min_size=16, max_size=16),
)
def test_values_come_back_exactly(
    shared_cache: PairCache,
    entailment: float,
    contradiction: float,
    flags: int,
    key: bytes,
) -> None:
    shared_cache.put({key: (entailment, contradiction, flags)})
    assert shared_cache.get([key]) == {key: (entailment, contradiction, flags)}


def test_a_value_moved_to_another_key_is_a_miss(tmp_path: Path) -> None:
    cache = PairCache(tmp_path)
    cache.put({b"a" * 16: (0.1, 0.2, 0), b"b" * 16: (0.3, 0.4, 0)})
    with sqlite3.connect(tmp_path / FILE_NAME) as db:
        db.execute("UPDATE pairs SET value = (SELECT value FROM pairs WHERE rowid = 1)")
    db.close()
    with pytest.warns(RuntimeWarning, match="damaged entries"):
        assert set(cache.get([b"a" * 16, b"b" * 16])) == {b"a" * 16}


def test_entries_are_written_and_looked_up_in_the_order_of_their_keys(tmp_path: Path) -> None:
    # At random, every entry would read and write a page of the index of its own.
    cache = PairCache(tmp_path)
    keys = [bytes([place]) * 16 for place in (9, 2, 7, 4)]
    cache.put(dict.fromkeys(keys, (0.5, 0.5, 0)))
    found = sqlite3.connect(cache.path).execute("SELECT key FROM pairs ORDER BY rowid")
    assert [key for (key,) in found] == sorted(keys)
    many = [int.to_bytes(place * 7919 % 1500, 16) for place in range(1500)]
    cache.put(dict.fromkeys(many, (0.5, 0.5, 0)))
    assert list(cache.get(many)) == sorted(many)


@pytest.mark.parametrize("value", [7, 0.5, "text", b"", b"x" * 13])
def test_a_value_of_another_kind_is_a_miss(tmp_path: Path, value: object) -> None:
    cache = PairCache(tmp_path)
    cache.put({b"a" * 16: (0.1, 0.2, 0)})
    with sqlite3.connect(tmp_path / FILE_NAME) as db:
        db.execute("UPDATE pairs SET value = ?", (value,))
    db.close()
    with pytest.warns(RuntimeWarning, match="damaged entries"):
        assert cache.get([b"a" * 16]) == {}


def test_a_file_replaced_by_another_process_is_left_alone(
    tmp_path: Path, connections: list[Any]
) -> None:
    first, second = PairCache(tmp_path), PairCache(tmp_path)
    second.close()
    second.path.unlink()
    fresh = PairCache(tmp_path)
    fresh.put({b"k" * 16: (0.5, 0.5, 0)})
    damaged = sqlite3.DatabaseError("database disk image is malformed")
    damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    connections[0].faults["SELECT"] = damaged
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert first.get([b"k" * 16]) == {}
    assert connections[0].failed == 1
    assert first.get([b"k" * 16]) == {b"k" * 16: (0.5, 0.5, 0)}
    assert not (tmp_path / "pairs-v1.damaged").exists()


def test_damage_that_cannot_be_moved_turns_the_cache_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"garbage" * 999)

    def refuse(self: Path, target: Path) -> Path:
        raise PermissionError("read-only folder")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.warns(RuntimeWarning, match="cannot be used"):
        cache = PairCache(tmp_path)
    cache.put({b"k" * 16: (0.1, 0.2, 0)})
    assert cache.get([b"k" * 16]) == {}


def _write(folder: str, process: int, count: int) -> None:
    cache = PairCache(folder)
    for start in range(0, count, 50):
        keys = [f"{process}:{i}".encode() for i in range(start, start + 50)]
        cache.put(dict.fromkeys(keys, (process / 8, 0.5, 0)))
        shared = [f"shared:{i}".encode() for i in range(start, start + 50)]
        cache.put(dict.fromkeys(shared, (0.75, 0.125, 1)))
        if len(cache.get(keys)) != 50:
            raise RuntimeError("a process does not find what it wrote")


def test_processes_write_at_once_and_lose_nothing(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    workers = [
        spawn.Process(target=_write, args=(str(tmp_path), process, 500)) for process in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    cache = PairCache(tmp_path)
    for process in range(4):
        keys = [f"{process}:{i}".encode() for i in range(500)]
        assert cache.get(keys) == dict.fromkeys(keys, (process / 8, 0.5, 0))
    assert cache.info().pairs == 2_500
    assert sqlite3.connect(cache.path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def keys_of(block: int, size: int) -> list[bytes]:
    return [hashlib.blake2b(f"{block}:{i}".encode(), digest_size=16).digest() for i in range(size)]


def test_the_file_stays_within_its_size_and_keeps_the_newest(tmp_path: Path) -> None:
    bound = 1 << 20
    cache = PairCache(tmp_path, max_bytes=bound)
    fits = bound // ENTRY_BYTES
    for block in range(30):
        cache.put(dict.fromkeys(keys_of(block, 1_000), (0.5, 0.25, 0)))
        assert cache.info().pairs <= fits
    cache.close()
    assert cache.path.stat().st_size <= bound
    cache = PairCache(tmp_path, max_bytes=bound)
    kept = [len(cache.get(keys_of(block, 1_000))) for block in range(30)]
    assert kept[-9:] == [1_000] * 9
    assert sum(kept) == cache.info().pairs > 0.7 * fits
    first = next(block for block, count in enumerate(kept) if count)
    assert all(count == 1_000 for count in kept[first + 1 :])


def test_more_than_the_bound_at_once_keeps_the_last(tmp_path: Path) -> None:
    cache = PairCache(tmp_path, max_bytes=10 * ENTRY_BYTES)
    keys = keys_of(0, 25)
    cache.put({key: (nth / 32, 0.0, 0) for nth, key in enumerate(keys)})
    assert list(cache.get(keys)) != []
    assert set(cache.get(keys)) == set(keys[-10:])
    cache.put({b"k" * 16: (1.0, 0.0, 0)})
    assert b"k" * 16 in cache.get([b"k" * 16])
    assert cache.info().pairs <= 10


@pytest.mark.parametrize("size", [0, -1, ENTRY_BYTES - 1])
def test_a_size_without_room_is_refused(tmp_path: Path, size: int) -> None:
    with pytest.raises(ConfigurationError, match="at least 80 bytes"):
        PairCache(tmp_path, max_bytes=size)


def test_info_and_clear(tmp_path: Path) -> None:
    cache = PairCache(tmp_path / "new" / "folder")
    cache.put(dict.fromkeys(keys_of(0, 5_000), (0.5, 0.25, 0)))
    aside = tmp_path / "new" / "folder" / "pairs-v1.damaged"
    aside.write_text("old damage")
    before = cache.info()
    assert (before.path, before.pairs, before.max_bytes) == (cache.path, 5_000, DEFAULT_MAX_BYTES)
    assert before.bytes > 5_000 * 40
    cache.clear()
    after = cache.info()
    assert after.pairs == 0
    assert after.bytes < 50_000
    assert not aside.exists()
    cache.put({b"k" * 16: (0.5, 0.5, 0)})
    assert cache.info().pairs == 1


def test_a_cache_that_cannot_be_cleared_says_so(tmp_path: Path) -> None:
    cache = PairCache(tmp_path)
    cache.close()
    with pytest.raises(BackendError, match="it is not open; end the runs that use it"):
        cache.clear()


def test_a_closed_cache_is_empty_and_its_file_whole(tmp_path: Path) -> None:
    cache = PairCache(tmp_path)
    cache.put({b"k" * 16: (0.5, 0.5, 0)})
    cache.close()
    cache.close()
    cache.put({b"l" * 16: (0.5, 0.5, 0)})
    assert cache.get([b"k" * 16]) == {}
    assert list(PairCache(tmp_path).get([b"k" * 16, b"l" * 16])) == [b"k" * 16]


def test_default_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PREVALENCE_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "prevalence"
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert default_folder() == Path("/x/prevalence")
    monkeypatch.setenv("PREVALENCE_CACHE", "~/mine")
    assert default_folder() == tmp_path / "mine" == default_folder_or_none()


def test_without_a_home_there_is_no_default_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("PREVALENCE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(ConfigurationError, match=r"set \$PREVALENCE_CACHE or give --cache"):
        default_folder()
    with pytest.warns(RuntimeWarning, match="nothing is cached: the user has no home folder"):
        assert default_folder_or_none() is None
