"""A scorer behind the cache: the same answers, less work, and no trouble of the cache's own."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from prevalence.errors import BackendError
from prevalence.nli import cache as module
from prevalence.nli.cache import FILE_NAME, CachedScorer, PairCache
from prevalence.nli.pairs import (
    FLAG_TOO_LONG,
    FLAG_TRUNCATED,
    PairScorer,
    PairScores,
    ScorerTraits,
    TextTable,
)

if TYPE_CHECKING:
    from pathlib import Path


class Counting(PairScorer):
    """A scorer with a value for every pair that counts the pairs it is asked."""

    def __init__(self, digest: bytes = b"d" * 16, work_unit: int = 4) -> None:
        traits = ScorerTraits(
            digest=digest,
            signature={"nli": "counting@0"},
            threshold=0.5,
            calibrated=False,
            three_way=True,
            probability=True,
            doubt=0.05,
            rechecks=False,
            cached=False,
            devices=1,
            work_unit=work_unit,
            errors=None,
        )
        super().__init__(traits)
        self.asked: list[tuple[str, str]] = []
        self.fail_at: int | None = None
        self.failure: BaseException = BackendError("the device failed")

    def score(self, texts: TextTable, pairs: np.ndarray, *, progress: Any = None) -> PairScores:
        result = PairScores.empty(len(pairs))
        for row, (premise, hypothesis) in enumerate(pairs.tolist()):
            if self.fail_at is not None and len(self.asked) >= self.fail_at:
                raise self.failure
            self.asked.append((texts[premise], texts[hypothesis]))
            if texts[hypothesis] == "too long":
                result.flags[row] = FLAG_TOO_LONG
                continue
            seed = hashlib.blake2b(f"{self.asked[-1]}{self.traits.digest}".encode()).digest()
            result.entailment[row] = np.float32(int.from_bytes(seed[:4])) / np.float32(2**33)
            result.contradiction[row] = np.float32(int.from_bytes(seed[4:8])) / np.float32(2**33)
            result.flags[row] = FLAG_TRUNCATED * (seed[9] % 2)
        if progress is not None:
            progress(len(pairs))
        return result


def grid(premises: int, hypotheses: int = 5) -> tuple[TextTable, np.ndarray]:
    table = TextTable()
    first = table.add_all(f"review {i}" for i in range(premises))
    second = table.add_all(f"sentence {i}" for i in range(hypotheses))
    pairs = np.stack([np.repeat(first, hypotheses), np.tile(second, premises)], axis=1)
    return table, pairs


def equal(one: PairScores, other: PairScores) -> bool:
    return all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


def damage(cache: Path, at: int, data: bytes) -> None:
    with cache.open("r+b") as file:
        file.seek(at)
        file.write(data)


def test_a_second_run_computes_nothing_and_gives_the_same_bits(tmp_path: Path) -> None:
    texts, pairs = grid(7)
    plain = Counting().score(texts, pairs)
    for run, (hits, misses) in enumerate([(0, 35), (35, 0)]):
        inner = Counting()
        scorer = CachedScorer(inner, PairCache(tmp_path))
        finished: list[int] = []
        assert equal(scorer.score(texts, pairs, progress=finished.append), plain)
        assert (scorer.counts.hits, len(inner.asked)) == (hits, misses), run
        assert sum(finished) == 35


def test_only_what_is_missing_is_computed(tmp_path: Path) -> None:
    texts, pairs = grid(7)
    inner = Counting(work_unit=100)
    scorer = CachedScorer(inner, PairCache(tmp_path))
    scorer.score(texts, pairs[::3])
    inner.asked.clear()
    assert equal(scorer.score(texts, pairs[::-1]), Counting().score(texts, pairs[::-1]))
    asked = {(texts[p], texts[h]) for p, h in pairs.tolist()}
    known = {(texts[p], texts[h]) for p, h in pairs[::3].tolist()}
    assert set(inner.asked) == asked - known


def test_texts_are_known_by_content_not_by_number(tmp_path: Path) -> None:
    scorer = CachedScorer(Counting(), PairCache(tmp_path))
    texts, pairs = grid(3)
    expected = scorer.score(texts, pairs)
    shifted = TextTable()
    shifted.add_all(["others", "before"])
    numbers = np.array([[shifted.add(texts[p]), shifted.add(texts[h])] for p, h in pairs])
    assert equal(scorer.score(shifted, numbers), expected)
    assert scorer.counts.hits == 15


def test_swapped_texts_and_other_settings_have_other_keys(tmp_path: Path) -> None:
    texts, pairs = grid(3)
    first = CachedScorer(Counting(b"d" * 16), PairCache(tmp_path))
    first.score(texts, pairs)
    first.score(texts, pairs[:, ::-1])
    assert first.counts.hits == 0
    other = CachedScorer(Counting(b"e" * 16), PairCache(tmp_path))
    assert equal(other.score(texts, pairs), Counting(b"e" * 16).score(texts, pairs))
    assert other.counts.hits == 0


def test_looks_like_the_scorer_inside(tmp_path: Path) -> None:
    inner = Counting()
    scorer = CachedScorer(inner, PairCache(tmp_path))
    assert isinstance(scorer, PairScorer)
    assert scorer.traits == replace(inner.traits, cached=True)


def test_pairs_without_a_probability_are_not_kept(tmp_path: Path) -> None:
    table = TextTable()
    pairs = table.add_all(["a", "too long", "a", "fine"]).reshape(2, 2)
    scorer = CachedScorer(Counting(), PairCache(tmp_path))
    for _ in range(2):
        found = scorer.score(table, pairs)
        assert found.flags[0] == FLAG_TOO_LONG
        assert np.isnan(found.entailment[0])
    assert scorer.counts.hits == 1


@pytest.mark.parametrize("failure", [BackendError("the device failed"), KeyboardInterrupt()])
def test_finished_units_survive_a_failure(tmp_path: Path, failure: BaseException) -> None:
    texts, pairs = grid(4)
    inner = Counting(work_unit=5)
    inner.fail_at, inner.failure = 13, failure
    with pytest.raises(type(failure)):
        CachedScorer(inner, PairCache(tmp_path)).score(texts, pairs)
    again = CachedScorer(Counting(), PairCache(tmp_path))
    assert equal(again.score(texts, pairs), Counting().score(texts, pairs))
    assert again.counts.hits == 10


def test_a_flipped_bit_is_a_miss_and_is_told_once(tmp_path: Path) -> None:
    texts, pairs = grid(4)
    CachedScorer(Counting(), PairCache(tmp_path)).score(texts, pairs)
    with sqlite3.connect(tmp_path / FILE_NAME) as db:
        for rowid, offset in ((3, 0), (9, 5), (17, 12)):
            value = bytearray(
                db.execute("SELECT value FROM pairs WHERE rowid = ?", (rowid,)).fetchone()[0]
            )
            value[offset] ^= 4
            db.execute("UPDATE pairs SET value = ? WHERE rowid = ?", (bytes(value), rowid))
        db.execute("UPDATE pairs SET value = x'00' WHERE rowid = 20")
    db.close()
    cache = PairCache(tmp_path)
    scorer = CachedScorer(Counting(), cache)
    with pytest.warns(RuntimeWarning, match="has damaged entries") as caught:
        assert equal(scorer.score(texts, pairs), Counting().score(texts, pairs))
    assert len(caught) == 1
    assert (cache.damaged_entries, scorer.counts.hits) == (4, 16)
    healed = CachedScorer(Counting(), PairCache(tmp_path))
    healed.score(texts, pairs)
    assert healed.counts.hits == 20


@pytest.mark.parametrize("content", [b"not a database" * 99, b"SQLite format 3\0" + b"\1" * 99])
def test_a_garbage_file_is_set_aside(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    texts, pairs = grid(2)
    with pytest.warns(RuntimeWarning, match=r"is damaged .*moved to pairs-v1.damaged"):
        cache = PairCache(tmp_path)
    assert (tmp_path / "pairs-v1.damaged").read_bytes() == content
    scorer = CachedScorer(Counting(), cache)
    scorer.score(texts, pairs)
    scorer.score(texts, pairs)
    assert scorer.counts.hits == 10


def test_damage_met_while_scoring_starts_a_new_file(tmp_path: Path) -> None:
    texts, pairs = grid(600)
    cache = PairCache(tmp_path)
    CachedScorer(Counting(work_unit=5_000), cache).score(texts, pairs)
    cache.close()
    size = cache.path.stat().st_size
    assert size > 100_000
    damage(cache.path, size // 2, b"\xa5" * (size // 2))
    scorer = CachedScorer(Counting(work_unit=1_000), PairCache(tmp_path))
    with pytest.warns(RuntimeWarning, match="is damaged"):
        found = scorer.score(texts, pairs)
    assert equal(found, Counting().score(texts, pairs))
    again = CachedScorer(Counting(), PairCache(tmp_path))
    again.score(texts, pairs)
    assert again.counts.hits >= 2_000


def test_a_folder_that_cannot_be_made_turns_the_cache_off(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    texts, pairs = grid(3)
    with pytest.warns(RuntimeWarning, match="cannot be used .*scoring goes on") as caught:
        cache = PairCache(tmp_path / "file" / "cache")
    assert len(caught) == 1
    scorer = CachedScorer(Counting(), cache)
    assert equal(scorer.score(texts, pairs), Counting().score(texts, pairs))
    assert scorer.counts.hits == 0


@pytest.mark.parametrize(
    "trouble",
    ["database is locked", "disk I/O error", "attempt to write a readonly database",
     "database or disk is full"],
)  # fmt: skip
def test_trouble_with_the_file_is_told_once(
    tmp_path: Path, trouble: str, connections: list[Any]
) -> None:
    texts, pairs = grid(10)
    cache = PairCache(tmp_path)
    (connection,) = connections
    connection.faults["INSERT"] = sqlite3.OperationalError(trouble)
    with pytest.warns(RuntimeWarning, match=f"cannot be used .{trouble}") as caught:
        found = CachedScorer(Counting(), cache).score(texts, pairs)
    assert equal(found, Counting().score(texts, pairs))
    assert (len(caught), connection.failed) == (1, 1)


def test_a_lock_that_stays_turns_the_cache_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prevalence.nli.cache.BUSY_SECONDS", 0.05)
    cache = PairCache(tmp_path)
    blocker = sqlite3.connect(cache.path)
    blocker.execute("BEGIN EXCLUSIVE")
    texts, pairs = grid(3)
    with pytest.warns(RuntimeWarning, match="database is locked"):
        found = CachedScorer(Counting(), cache).score(texts, pairs)
    assert equal(found, Counting().score(texts, pairs))
    blocker.close()


def test_the_store_is_asked_by_the_unit_and_not_by_the_pair(
    tmp_path: Path, connections: list[Any]
) -> None:
    cache = PairCache(tmp_path)
    statements: list[str] = []
    (connection,) = connections
    connection.set_trace_callback(statements.append)
    texts, pairs = grid(400)
    scorer = CachedScorer(Counting(work_unit=1_000), cache)
    for run, writes in enumerate((2, 0)):
        statements.clear()
        scorer.score(texts, pairs)
        kinds = [statement.split()[0] for statement in statements]
        # 2,000 pairs are two units; a query takes up to 500 keys, and a unit is one transaction.
        looked_up = sum("WHERE key IN" in statement for statement in statements)
        assert (looked_up, kinds.count("COMMIT")) == (4, writes), run
    assert scorer.counts.hits == 2_000


def test_answers_of_another_reading_are_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, pairs = grid(3)
    CachedScorer(Counting(), PairCache(tmp_path)).score(texts, pairs)
    # The first reading has no name: caches from before readings were named are read on.
    named = [b"d" * 16 + texts.digest(p) + texts.digest(h) for p, h in pairs.tolist()]
    keys = [hashlib.blake2b(parts, digest_size=16).digest() for parts in named]
    assert set(PairCache(tmp_path).get(keys)) == set(keys)
    monkeypatch.setattr(module, "READING", b"1")
    again = CachedScorer(Counting(), PairCache(tmp_path))
    again.score(texts, pairs)
    assert again.counts.hits == 0


def test_large_units_are_stored_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_UNIT", 8)
    texts, pairs = grid(7)
    inner = Counting(work_unit=10**6)
    inner.fail_at = 20
    with pytest.raises(BackendError):
        CachedScorer(inner, PairCache(tmp_path)).score(texts, pairs)
    left = CachedScorer(Counting(), PairCache(tmp_path))
    left.score(texts, pairs)
    assert left.counts.hits == 16
