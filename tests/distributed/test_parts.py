"""Rows in a folder of Parquet files, and back."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from prevalence.distributed import PartsWriter, finished_count, finished_parts, part_rows
from prevalence.distributed.parts import COLUMNS, PART_ROWS
from prevalence.errors import BackendError, InputError
from prevalence.records import BadRecord, Product, Review, Summary
from prevalence.scored import PROFILE_FIGURES, Profile, ScoredSummary
from prevalence.scoring.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def rows(fake_scorer: Any) -> list[ScoredSummary]:
    """Five scored summaries with keys of their own, and a bad record."""
    items: list[Any] = [
        Product(f"p{n}", (Review("Warm."),), (Summary("a", "Warm. Dry."),), extra={"aisle": [n]})
        for n in range(5)
    ]
    return list(Engine(fake_scorer()).run([*items, BadRecord("line 6: broken")]))


def write(
    folder: Path, rows: list[ScoredSummary], *, continues: bool, most: int = PART_ROWS
) -> None:
    with PartsWriter(folder, continues=continues, rows=most) as writer:
        for row in rows:
            writer.write(row)


def test_rows_come_back_whole_and_in_order(tmp_path: Path, rows: list[ScoredSummary]) -> None:
    folder = tmp_path / "rows.parquet"
    write(folder, rows[:3], continues=False, most=2)
    write(folder, rows[3:], continues=True, most=2)
    names = [path.name for path in sorted(folder.glob("part-*"))]
    assert names == [f"part-0000{n}.parquet" for n in range(4)]  # 2 + 1, then 2 + 1
    assert list(finished_parts(folder)) == rows
    assert finished_count(folder) == len(rows)
    table = pq.read_table(folder)
    assert table.column_names == list(COLUMNS)
    assert table["prevalence"].to_pylist() == [row.prevalence for row in rows]
    assert table["error"].to_pylist() == [*[None] * 5, "line 6: broken"]
    assert table["row"].to_pylist() == [row.to_json_line() for row in rows]


def test_what_was_taken_is_kept_when_the_block_fails(
    tmp_path: Path, rows: list[ScoredSummary]
) -> None:
    folder = tmp_path / "rows.parquet"
    with suppress(KeyboardInterrupt), PartsWriter(folder, continues=False) as writer:
        writer.write(rows[0])
        raise KeyboardInterrupt
    assert list(finished_parts(folder)) == rows[:1]


def test_a_part_cut_off_while_it_was_written_is_none(
    tmp_path: Path, rows: list[ScoredSummary]
) -> None:
    folder = tmp_path / "rows.parquet"
    write(folder, rows[:2], continues=False)
    (folder / ".part-00001.parquet").write_bytes(b"PAR1")
    assert list(finished_parts(folder)) == rows[:2]
    write(folder, rows[2:], continues=True)
    assert list(finished_parts(folder)) == rows


def test_a_run_begun_anew_removes_the_parts_before(
    tmp_path: Path, rows: list[ScoredSummary]
) -> None:
    folder = tmp_path / "rows.parquet"
    write(folder, rows, continues=False)
    write(folder, rows[:1], continues=False)
    assert list(finished_parts(folder)) == rows[:1]


def test_a_run_begun_anew_that_makes_no_row_removes_none(
    tmp_path: Path, rows: list[ScoredSummary]
) -> None:
    folder = tmp_path / "rows.parquet"
    write(folder, rows, continues=False, most=2)
    with suppress(KeyboardInterrupt), PartsWriter(folder, continues=False):
        raise KeyboardInterrupt
    assert list(finished_parts(folder)) == rows


@pytest.mark.skipif(sys.platform == "win32", reason="no locks there")
def test_one_run_at_a_time_writes_to_a_folder(tmp_path: Path, rows: list[ScoredSummary]) -> None:
    folder = tmp_path / "rows.parquet"
    with PartsWriter(folder, continues=False, rows=1) as writer:
        writer.write(rows[0])
        for continues in (True, False):
            with pytest.raises(InputError, match=r"rows\.parquet: another run is writing to it"):
                PartsWriter(folder, continues=continues)
        writer.write(rows[1])
    write(folder, rows[2:], continues=True)
    assert list(finished_parts(folder)) == rows


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process can grow meanwhile."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_named_and_keeps_the_parts_before(
    tmp_path: Path, rows: list[ScoredSummary]
) -> None:
    folder = tmp_path / "rows.parquet"
    write(folder, rows[:2], continues=False)
    said = r"rows\.parquet: .*File too large.*; the parts already written are kept"
    with full_disk(), pytest.raises(BackendError, match=said):
        write(folder, rows[2:], continues=True)
    assert list(finished_parts(folder)) == rows[:2]
    write(folder, rows[2:], continues=True)
    assert list(finished_parts(folder)) == rows


def test_columns_have_what_was_asked_for(tmp_path: Path, rows: list[ScoredSummary]) -> None:
    profile = Profile(coverage=0.25, attested=1.0)
    scored = replace(rows[0], corrected=0.125, soft_prevalence=0.5, profile=profile)
    write(tmp_path / "rows.parquet", [scored, rows[1]], continues=False)
    table = pq.read_table(tmp_path / "rows.parquet")
    assert table["corrected"].to_pylist() == [0.125, None]
    assert table["coverage"].to_pylist() == [0.25, None]
    assert table["contested"].to_pylist() == [None, None]
    assert {*PROFILE_FIGURES} <= {*table.column_names}


def test_rows_without_a_score_have_no_counts(tmp_path: Path, rows: list[ScoredSummary]) -> None:
    nothing_left = replace(rows[1], prevalence=None, warning="no statement satisfies it")
    write(tmp_path / "rows.parquet", [rows[0], nothing_left, rows[-1]], continues=False)
    table = pq.read_table(tmp_path / "rows.parquet")
    for name in ("trivial", "redundant", "unsupported", "contradictions"):
        assert [count is None for count in table[name].to_pylist()] == [False, True, True], name


def test_other_files_are_never_touched(tmp_path: Path, rows: list[ScoredSummary]) -> None:
    folder = tmp_path / "rows.parquet"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds notes\.txt"):
        PartsWriter(folder, continues=False)
    assert (folder / "notes.txt").read_text() == "mine"
    assert not (folder / ".lock").exists()
    plain = tmp_path / "file.parquet"
    plain.write_text("mine")
    with pytest.raises(InputError, match="is a file"):
        PartsWriter(plain, continues=False)


def test_a_part_of_something_else_is_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    folder = tmp_path / "rows.parquet"
    folder.mkdir()
    path = folder / "part-00000.parquet"
    for content in ({"row": ["{}"]}, {"text": ["a"]}, {"row": [None]}):
        pq.write_table(pa.table(content), path)
        with pytest.raises(InputError, match="not a part of an earlier run"):
            list(finished_parts(folder))
    path.write_bytes(b"nothing")
    with pytest.raises(InputError, match="not a part of an earlier run"):
        list(finished_parts(folder))
    with pytest.raises(InputError, match="not a part of an earlier run"):
        finished_count(folder)


def test_parts_are_sorted_by_number(tmp_path: Path) -> None:
    folder = tmp_path / "rows.parquet"
    folder.mkdir()
    names = [f"part-{number:05}.parquet" for number in (99_998, 99_999, 100_000, 100_001)]
    for name in names:
        (folder / name).touch()
    # By their names, the 100,000th would be the first.
    with pytest.raises(InputError, match=r"part-99998\.parquet, which is not part 0"):
        PartsWriter(folder, continues=True)


def test_parts_are_read_as_rows_in_their_order(tmp_path: Path, rows: list[ScoredSummary]) -> None:
    folder = tmp_path / "rows.parquet"
    write(folder, rows[:3], continues=False, most=1)
    (folder / "part-00002.parquet").rename(folder / "part-100000.parquet")
    (folder / "_SUCCESS").touch()
    found = list(part_rows(folder))
    assert [row for _, row in found] == [row.to_json() for row in rows[:3]]
    assert found[2][0] == f"{folder / 'part-100000.parquet'}: row 1"
    (alone,) = part_rows(folder / "part-00001.parquet")
    assert alone[1]["id"] == "p1"


def test_what_holds_no_rows_is_refused_with_its_place(tmp_path: Path) -> None:
    import pyarrow as pa

    folder = tmp_path / "rows.parquet"
    folder.mkdir()
    with pytest.raises(InputError, match=r"rows\.parquet: is a folder; name the files in it"):
        list(part_rows(folder))
    part = folder / "part-00000.parquet"
    for column, value, message in (
        ("id", "p", "has no column row"),
        ("row", "[1]", "row 1: column row holds no JSON object"),
        ("row", None, "row 1: column row holds no JSON object"),
        ("row", 3, "row 1: column row holds no JSON object"),
    ):
        pq.write_table(pa.table({column: [value]}), part)
        with pytest.raises(InputError, match=f"part-00000.parquet: {message}"):
            list(part_rows(folder))
    part.write_bytes(part.read_bytes()[:-8])
    with pytest.raises(InputError, match=r"part-00000\.parquet: cannot be read \("):
        list(part_rows(folder))
