"""However a file is cut, its splits hold its records, each once, under their own line numbers."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.distributed import Reading, Split, plan_splits
from prevalence.distributed import splits as module
from prevalence.distributed.splits import MOST_SPLITS, count_lines, input_files, numbered
from prevalence.errors import ConfigurationError, InputError, MissingDependencyError
from prevalence.readers import read_products
from prevalence.readers.parquet import parquet as pyarrow_parquet
from prevalence.readers.parquet import plain_record
from prevalence.records import BadRecord

if TYPE_CHECKING:
    from collections.abc import Callable

RECORD = {"id": "p", "reviews": ["Warm."], "summaries": {"a": "Warm.", "b": "Cold."}}
LINE = json.dumps(RECORD)


def cut(path: Path, size: int | None) -> list[Split]:
    splits = plan_splits([str(path)], workers=2, split_bytes=size)
    return numbered(splits, map(count_lines, splits))


def read(splits: list[Split], reading: Reading | None = None) -> list[Any]:
    return [item for split in splits for item in (reading or Reading()).items(split)]


@settings(max_examples=40, deadline=None)
@given(
    lines=st.lists(st.sampled_from([LINE, "{broken", "", " ", "[]", '{"id": "x"}', LINE * 3])),
    size=st.integers(1, 400),
    end=st.sampled_from(["", "\n", "\n\n"]),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
def test_splits_of_any_size_hold_what_the_file_holds(
    lines: list[str], size: int, end: str, mark: bytes
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "input.jsonl"
        path.write_bytes(mark + "\n".join([LINE, *lines]).encode() + end.encode())
        splits = cut(path, size)
        assert read(splits) == list(read_products(path))
        assert sum(split.size for split in splits) == path.stat().st_size


def test_a_line_longer_than_a_split_belongs_to_the_one_where_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "input.jsonl"
    path.write_text(f"{LINE}\n{LINE}\n")
    counts = [len(read([split])) for split in cut(path, 10)]
    assert counts[0] == 1
    assert counts[(len(LINE) + 1) // 10] == 1
    assert sum(counts) == 2


def test_a_gzipped_file_is_one_split(tmp_path: Path) -> None:
    path = tmp_path / "input.jsonl.gz"
    path.write_bytes(gzip.compress(f"{LINE}\n{{broken\n".encode()))
    [split] = cut(path, 1)
    assert split.size == path.stat().st_size
    assert read([split]) == list(read_products(path))


def test_a_large_gzipped_file_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "input.jsonl.gz"
    path.write_bytes(gzip.compress(f"{LINE}\n".encode()))
    monkeypatch.setattr(module, "LARGE_GZIP", path.stat().st_size)
    cut(path, None)
    monkeypatch.setattr(module, "LARGE_GZIP", path.stat().st_size - 1)
    with pytest.warns(RuntimeWarning, match="one worker scores all"):
        cut(path, None)


def test_a_run_goes_on_inside_a_split(tmp_path: Path) -> None:
    path = tmp_path / "input.jsonl"
    path.write_text(f"{LINE}\n{{broken\n{LINE}\n")
    [split] = cut(path, 1_000)
    first, _, third = list(read_products(path))
    assert read([replace(split, skip=2)]) == [third]
    [product, fault, _] = read([replace(split, skip=0, last=1)])
    assert isinstance(fault, BadRecord)
    assert product == first.with_summaries(first.summaries[1:])


def test_the_rest_of_a_record_is_counted_as_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "input.jsonl"
    path.write_text(json.dumps({**RECORD, "claims": {"a": ["Warm."]}}) + "\n")
    [split] = cut(path, 1_000)
    [product] = read([replace(split, last=1)])
    assert [summary.system for summary in product.summaries] == ["b"]
    assert product.gives_claims
    [chosen] = read([split], Reading(systems=frozenset({"b"})))
    assert not chosen.gives_claims


def test_systems_not_wanted_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "input.jsonl"
    other = {**RECORD, "summaries": {"c": "Dry."}}
    wrong = {**RECORD, "summaries": {"b": 3, "c": 4}}
    path.write_text("".join(json.dumps(record) + "\n" for record in (RECORD, other, wrong)))
    product, fault = read(cut(path, None), Reading(systems=frozenset({"b"})))
    assert [summary.system for summary in product.summaries] == ["b"]
    assert fault.system == "b"


def test_sizes_follow_the_workers_and_stay_in_bounds(tmp_path: Path) -> None:
    path = tmp_path / "input.jsonl"
    path.write_text(f"{LINE}\n" * 20_000)
    size = path.stat().st_size
    for workers in (1, 4):
        splits = plan_splits([str(path)], workers=workers)
        assert splits[0].size == size // (16 * workers)
    assert plan_splits([str(path)], workers=10**6)[0].size == 16 << 10
    assert len(plan_splits([str(path)], workers=10**6)) <= MOST_SPLITS


def test_folders_are_read_in_the_order_of_their_parts(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for name in ("part-1", "part-0", "_SUCCESS", ".crc"):
        (folder / name).write_text(f"{LINE}\n")
    lone = tmp_path / "lone.jsonl"
    lone.write_text(f"{LINE}\n")
    found = input_files([str(lone), str(folder)])
    assert found == [str(lone), str(folder / "part-0"), str(folder / "part-1")]


def test_folders_inside_a_folder_are_refused(tmp_path: Path) -> None:
    for name in ("date=2024", "_temporary", ".staging"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part-0").write_text(f"{LINE}\n")
    for beside in ((), ("part-1",)):
        for name in beside:
            (tmp_path / name).write_text(f"{LINE}\n")
        with pytest.raises(InputError, match=r"holds the folder date=2024.*; name each of them"):
            input_files([str(tmp_path)])
    assert input_files([str(tmp_path / "date=2024")]) == [str(tmp_path / "date=2024" / "part-0")]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("id,review,summary\np,Warm.,Warm.\n", {}, "workers read JSON Lines and Parquet"),
        (json.dumps([RECORD]), {}, "workers read JSON Lines and Parquet"),
        ("", {}, "is empty"),
        (LINE, {"source_format": "csv"}, "not 'csv'"),
        (LINE, {"split_bytes": 0}, "at least one byte"),
    ],
)
def test_what_cannot_be_cut_is_refused(
    tmp_path: Path, content: str, options: dict[str, Any], message: str
) -> None:
    path = tmp_path / "input"
    path.write_text(content)
    with pytest.raises((InputError, ConfigurationError), match=message):
        plan_splits([str(path)], workers=1, **options)


def test_missing_inputs_empty_folders_and_streams_are_refused(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path / "none", "no such file"), (tmp_path, "holds no file"), ("-", "standard input"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            input_files([str(path)])


def test_parts_without_a_record_are_left_out(
    tmp_path: Path, parquet_file: Callable[..., Path]
) -> None:
    import pyarrow as pa

    folder = tmp_path / "parts"
    folder.mkdir()
    empty = parquet_file([], schema=pa.schema([("id", pa.string())]))
    empty.rename(folder / "part-0.parquet")
    (folder / "part-1.json").touch()
    (folder / "part-2.json.gz").write_bytes(gzip.compress(b""))
    with pytest.raises(InputError, match=r"parts: its files hold no record"):
        input_files([str(folder)])
    (folder / "part-3.json").write_text(f"{LINE}\n")
    parquet_file([RECORD]).rename(folder / "part-4.parquet")
    found = input_files([str(folder)])
    assert [Path(path).name for path in found] == ["part-3.json", "part-4.parquet"]
    assert len(read(plan_splits(found, workers=1))) == 2


def test_a_file_that_a_node_does_not_see_is_named(tmp_path: Path) -> None:
    path = tmp_path / "input.jsonl"
    path.write_text(f"{LINE}\n")
    splits = cut(path, None)
    path.unlink()
    with pytest.raises(InputError, match="every node of the cluster has to see it"):
        read(splits)


@pytest.fixture
def parquet_file(tmp_path: Path) -> Callable[..., Path]:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")

    def write(records: list[Any], **options: Any) -> Path:
        path = tmp_path / "input.parquet"
        pq.write_table(pa.Table.from_pylist(records, **options), path, row_group_size=5)
        return path

    return write


@pytest.mark.parametrize("size", [1, 300, 10**6])
def test_parquet_rows_are_the_records_whatever_the_row_groups(
    parquet_file: Callable[..., Path], tmp_path: Path, size: int
) -> None:
    records = [
        {"id": f"p{n}", "name": None if n % 2 else "lamp", "stars": n,
         "reviews": [{"text": "Warm.", "id": None, "rating": 4.5}],
         "summaries": {"a": None if n == 3 else "Warm.", "b": "Cold."}}
        for n in range(12)
    ]  # fmt: skip
    lines = tmp_path / "input.jsonl"
    lines.write_text("".join(json.dumps(plain_record(record)) + "\n" for record in records))
    splits = cut(parquet_file(records), size)
    assert sum(split.size for split in splits) == (tmp_path / "input.parquet").stat().st_size
    found = read(splits)
    assert found[7].source == f"{tmp_path / 'input.parquet'}:8"
    assert [replace(item, source="") for item in found] == [
        replace(item, source="") for item in read_products(lines)
    ]


def test_parquet_maps_are_objects_and_dates_texts(parquet_file: Callable[..., Path]) -> None:
    import datetime

    import pyarrow as pa

    schema = pa.schema(
        [("id", pa.string()), ("reviews", pa.list_(pa.string())),
         ("summaries", pa.map_(pa.string(), pa.string())), ("day", pa.date32())]
    )  # fmt: skip
    day = datetime.date(2024, 2, 29)
    record = {"id": "p", "reviews": ["Warm."], "summaries": [("a", "Warm.")], "day": day}
    [product] = read(cut(parquet_file([record], schema=schema), None))
    assert [(s.system, s.text) for s in product.summaries] == [("a", "Warm.")]
    assert product.extra == {"day": "2024-02-29"}


def test_decimals_are_numbers(parquet_file: Callable[..., Path]) -> None:
    records = [
        {"id": "p", "reviews": [{"text": "Warm.", "rating": Decimal(rating)}], "summary": "Warm."}
        for rating in ("4.00", "4.25")
    ]
    found = read(cut(parquet_file(records), None))
    assert [item.reviews[0].extra for item in found] == [{"rating": 4}, {"rating": 4.25}]
    huge = Decimal("12345678901234567890123456789012345678.0")
    assert plain_record(huge) == 12345678901234567890123456789012345678


def test_a_row_that_cannot_be_decoded_costs_no_other(parquet_file: Callable[..., Path]) -> None:
    import pyarrow as pa

    texts = pa.array([b"Warm.", b"caf\xe9", b"Dry."]).cast(pa.binary()).view(pa.binary())
    columns = {
        "id": pa.array(["p0", "p1", "p2"]),
        "reviews": pa.array([["Warm."]] * 3),
        "summary": pa.StringArray.from_buffers(3, *texts.buffers()[1:]),
    }
    path = parquet_file([RECORD])
    pa.parquet.write_table(pa.table(columns), path)
    first, bad, third = read(cut(path, None))
    assert (first.id, third.id) == ("p0", "p2")
    assert bad.error.startswith(
        f"{path}:2: cannot be decoded ('utf-8' codec can't decode byte 0xe9"
    )
    assert bad.source == f"{path}:2"


def test_a_map_with_a_key_twice_is_a_bad_record(parquet_file: Callable[..., Path]) -> None:
    import pyarrow as pa

    schema = pa.schema(
        [("id", pa.string()), ("reviews", pa.list_(pa.string())),
         ("summaries", pa.map_(pa.string(), pa.string()))]
    )  # fmt: skip
    rows = [[("a", "Warm.")], [("a", "Warm."), ("a", "Dry.")], [("b", "Dry.")]]
    records = [{"id": "p", "reviews": ["Warm."], "summaries": pairs} for pairs in rows]
    found = read(cut(parquet_file(records, schema=schema), None))
    assert [isinstance(item, BadRecord) for item in found] == [False, True, False]


def test_a_damaged_page_ends_the_file_with_an_input_error(
    parquet_file: Callable[..., Path],
) -> None:
    path = parquet_file([{**RECORD, "id": f"p{n}", "summaries": None, "summary": "Warm."}
                         for n in range(12)])  # fmt: skip
    splits = cut(path, None)
    data = bytearray(path.read_bytes())
    data[4:200] = bytes(196)
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"input\.parquet: cannot be read"):
        read(splits)


def test_what_pyarrow_says_is_told_in_one_line(
    parquet_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(_: object) -> None:
        raise OSError("Couldn't deserialize thrift.\nDeserializing page header failed.")

    splits = cut(parquet_file([RECORD]), None)
    monkeypatch.setattr(pyarrow_parquet(), "ParquetFile", damaged)
    with pytest.raises(
        InputError, match=r"cannot be read \(Couldn't deserialize thrift\.\); write"
    ):
        read(splits)


def test_a_damaged_footer_is_an_input_error(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "input.parquet"
    path.write_bytes(b"PAR1 and the rest is lost")
    with pytest.raises(InputError, match=r"input\.parquet: cannot be read .* write the file anew"):
        plan_splits([str(path)], workers=1)


def test_a_parquet_file_without_rows_is_refused(parquet_file: Callable[..., Path]) -> None:
    import pyarrow as pa

    path = parquet_file([], schema=pa.schema([("id", pa.string())]))
    with pytest.raises(InputError, match="holds no row"):
        cut(path, None)


def test_parquet_without_pyarrow_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "input.parquet"
    path.write_bytes(b"PAR1 and so on")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(MissingDependencyError, match="pip install pyarrow"):
        plan_splits([str(path)], workers=1)
