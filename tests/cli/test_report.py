"""`prevalence report` and `prevalence score --report`, seen from outside."""

from __future__ import annotations

import gzip
import json
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from prevalence.scored import ScoredSummary
from prevalence.stats.resampling import paired_randomization

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]


@pytest.fixture
def rows(score: Run, write: Write, boots: dict[str, Any], tmp_path: Path) -> Path:
    """Rows of the boots with evidence."""
    path = tmp_path / "rows.jsonl"
    result = score(write(boots), "--evidence", "--output", path)
    assert result.exit_code == 0, result.output
    return path


def data_of(page: Path) -> dict[str, Any]:
    text = page.read_text("utf-8")
    start = text.index(">", text.index('id="data"')) + 1
    data: dict[str, Any] = json.loads(text[start : text.index("</script>", start)])
    return data


def test_a_report_of_rows_and_records(run: Run, rows: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    result = run("report", rows, "--records", tmp_path / "input.jsonl", "-o", page)
    assert result.exit_code == 0, result.output
    assert re.search(r"r\.html: 1 product, \d\d kB\n", result.stderr)
    data = data_of(page)
    assert data["texts"] == ["Such warm boots.", "warm warm boots", "they leak badly"]
    good = data["products"][0]["s"][0]
    assert good["d"] == ["ssn"]
    assert good["e"] == [[0, 0, 0, 16, 1.0, None], [0, 1, 0, 15, 1.0, None]]


def test_without_records_passages_come_from_the_rows(run: Run, rows: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    assert run("report", rows, "-o", page, "--quiet").stderr == ""
    data = data_of(page)
    assert data["texts"] == []
    assert data["products"][0]["s"][0]["e"][0][6] == "Such warm boots."


def test_score_writes_the_same_page_by_itself(
    run: Run, score: Run, rows: Path, tmp_path: Path
) -> None:
    own, later = tmp_path / "own.html", tmp_path / "later.html"
    source = tmp_path / "input.jsonl"
    assert score(source, "--evidence", "--report", own).exit_code == 0
    assert run("report", rows, "--records", source, "-o", later).exit_code == 0
    assert data_of(own) == data_of(later)


def test_resamples_and_seed_of_scores_reach_the_report(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def recorded(*args: Any, **options: Any) -> Any:
        asked.append(options)
        return paired_randomization(*args, **options)

    monkeypatch.setattr("prevalence.report.contents.paired_randomization", recorded)
    words = ("--resamples", 7, "--seed", 5, "--test", "bootstrap")
    result = score(write(boots), *words, "--report", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    assert asked == [{"resamples": 7, "seed": 5}]


def test_a_continued_run_reports_all_rows(score: Run, rows: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    source = tmp_path / "input.jsonl"
    again = score(source, "--evidence", "--output", rows, "--report", page)
    assert again.exit_code == 0, again.output
    assert data_of(page)["products"][0]["s"][0]["d"] == ["ssn"]
    assert len(data_of(page)["texts"]) == 3


def test_records_that_were_not_scored_are_left_out_and_counted(
    run: Run, write: Write, boots: dict[str, Any], rows: Path, tmp_path: Path
) -> None:
    other = write({**boots, "reviews": ["Something else."]}, name="other.jsonl")
    page = tmp_path / "r.html"
    result = run("report", rows, "--records", other, "-o", page)
    assert result.exit_code == 0
    assert "records differ from those that were scored: 1;" in result.stderr
    assert data_of(page)["texts"] == []


def test_records_are_found_with_the_names_and_the_reviews_that_were_scored_with_them(
    run: Run, score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    reviews, names = write(boots, name="reviews.jsonl"), write("p1 boot", name="names.txt")
    lines, rows, page = write("Warm boots.", name="s.txt"), tmp_path / "rows.jsonl", "r.html"
    words = ("--reviews", reviews, "--product-names", names)
    assert score(lines, *words, "--output", rows).exit_code == 0
    report = ("report", rows, "-o", tmp_path / page)
    found = run(*report, "--records", lines, *words)
    assert found.exit_code == 0, found.output
    assert data_of(tmp_path / page)["texts"] == boots["reviews"]
    assert "without reviews" not in found.stderr
    unnamed = run(*report, "--records", lines, *words[:2])
    assert "left out (give the --reviews and --product-names of the scores)" in unnamed.stderr
    assert "products without reviews: 1; --records has no record" in unnamed.stderr
    refused = run(*report, *words[:2])
    assert refused.exit_code == 2
    assert "--reviews goes with --records" in refused.stderr


def test_products_that_no_record_gives_reviews_are_counted(
    run: Run, write: Write, boots: dict[str, Any], rows: Path, tmp_path: Path
) -> None:
    bare = write({"id": "p1", "reviews": boots["reviews"]}, name="bare.jsonl")
    words = ("report", rows, "--records", bare, "-o", tmp_path / "r.html")
    assert "products without reviews: 1; --records has no record" in run(*words).stderr
    assert run(*words, "--quiet").stderr == ""


def test_records_are_not_compared_with_rows_of_other_metrics(
    run: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    records, rows = write(boots), tmp_path / "base.jsonl"
    made = run("baselines", records, "--metrics", "length", "--output", rows)
    assert made.exit_code == 0, made.output
    words = ("report", rows, "--records", records, "-o", tmp_path / "r.html")
    said = run(*words).stderr
    assert "differ" not in said
    assert "without reviews" not in said
    assert "--records has no effect: reviews are shown only beside rows of prevalence score" in said


def test_the_same_command_writes_the_page_again(score: Run, write: Write, boots: Any) -> None:
    page, rows = write(name="r.html"), write(name="own.jsonl")
    words = (write(boots), "--output", rows, "--report")
    for _ in range(2):
        assert score(*words, page).exit_code == 0
        assert data_of(page)["products"][0]["s"][0]["d"] == ["ssn"]
    refused = score(*words, rows)
    assert refused.exit_code == 2
    assert "--report and --output are one file" in refused.stderr


def test_a_report_is_no_pdf(run: Run, score: Run, write: Write, rows: Path, boots: Any) -> None:
    asked = rows.with_name("r.pdf")
    for refused, option in (
        (run("report", rows, "-o", asked), "--output"),
        (score(write(boots), "--report", asked), "--report"),
    ):
        assert refused.exit_code == 2
        assert f"{option}: {asked} would hold HTML; name it {asked.with_suffix('.html')}" in (
            " ".join(refused.stderr.split())
        )
    assert not asked.exists()


def test_rows_that_are_there_twice_count_once_and_are_noted(
    run: Run, rows: Path, tmp_path: Path
) -> None:
    page, copy = tmp_path / "r.html", tmp_path / "copy.jsonl"
    copy.write_bytes(2 * rows.read_bytes())
    for given, repeats in (([copy], 2), ([rows, copy], 4)):
        result = run("report", *given, "-o", page)
        assert f"{repeats} rows repeat others: each summary is counted once\n" in result.stderr
        html = page.read_text("utf-8")
        assert re.search(rf"rows that repeat others \(not counted\)\D+{repeats}\b", html)
        assert "<bdi>good (copy)</bdi>" not in html
        assert len(data_of(page)["products"]) == 1
    assert run("report", copy, "-o", page, "--quiet").stderr == ""


def test_shards_give_the_table_of_the_whole(
    run: Run, score: Run, boots: Any, tmp_path: Path
) -> None:
    whole, shards = tmp_path / "whole.jsonl", []
    records = [{**boots, "id": f"p{n}", "reviews": boots["reviews"][n % 3 :]} for n in range(8)]
    whole.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    halves = records[:4], records[4:]
    for place in range(2):
        source = tmp_path / f"in-{place}.jsonl"
        source.write_text("".join(json.dumps(one) + "\n" for one in halves[place]), "utf-8")
        shards.append(tmp_path / f"shard-{place}.jsonl")
        assert score(source, "-q", "--output", shards[-1]).exit_code == 0
    table = score(whole, "-q").stdout
    assert "group" in table
    words = ("report", *shards, "-o", tmp_path / "r.html")
    assert run(*words).stdout == table
    assert run(*words, "--quiet").stdout == ""


def test_shards_without_ids_are_refused(run: Run, score: Run, boots: Any, tmp_path: Path) -> None:
    del boots["id"]
    shards = []
    for place in range(2):
        source = tmp_path / str(place) / "data.jsonl"
        source.parent.mkdir()
        source.write_text(json.dumps({**boots, "name": f"boot {place}"}), "utf-8")
        shards.append(tmp_path / f"shard-{place}.jsonl")
        assert score(source, "--output", shards[-1]).exit_code == 0
    result = run("report", *shards, "-o", tmp_path / "r.html")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {shards[1]}: its rows are about other reviews or ")
    assert (
        'shard-0, under the same ids (such as "data.jsonl:1", a place in a file)' in result.stderr
    )


def test_rows_in_parquet_are_read_like_lines(
    run: Run, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    from prevalence.distributed import PartsWriter

    folder, pages = tmp_path / "rows.parquet", [tmp_path / "a.html", tmp_path / "b.html"]
    with PartsWriter(folder, continues=False, rows=1) as writer:
        for line in rows.read_text("utf-8").splitlines():
            writer.write(ScoredSummary.from_json(json.loads(line)))
    for given, page in zip((rows, folder), pages, strict=True):
        assert run("report", given, "-o", page, "-q").exit_code == 0
    assert data_of(pages[0]) == data_of(pages[1])
    source = tmp_path / "input.jsonl"
    lines, parts = (run("verify", given, source) for given in (rows, folder))
    assert (parts.exit_code, parts.stdout, parts.stderr) == (
        lines.exit_code, lines.stdout, lines.stderr,
    )  # fmt: skip
    assert "2 rows" in parts.stderr
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    for words in (("report", folder, "-o", pages[0]), ("verify", folder, source)):
        refused = run(*words)
        assert (refused.exit_code, refused.stderr) == (
            2, "error: Parquet needs pyarrow: pip install pyarrow\n",
        )  # fmt: skip


def test_files_of_one_name_are_told_apart_by_their_paths(
    run: Run, rows: Path, tmp_path: Path
) -> None:
    page, other = tmp_path / "r.html", tmp_path / "large" / "rows.jsonl"
    other.parent.mkdir()
    other.write_text(rows.read_text("utf-8").replace('"signature": "', '"signature": "large '))
    assert run("report", rows, other, "-o", page).exit_code == 0
    assert len(data_of(page)["products"]) == 1
    html = page.read_text("utf-8")
    for name in ("good", "double", f"good ({other})", f"double ({other})"):
        assert f"<bdi>{name}</bdi>" in html


def test_scores_of_other_settings_are_noted(run: Run, rows: Path, tmp_path: Path) -> None:
    after, page = tmp_path / "after.jsonl", tmp_path / "r.html"
    after.write_text(rows.read_text("utf-8").replace("|v:", "|reviews:date>=2024-05|v:"))
    told = run("report", rows, after, "-o", page).stderr
    assert "good, double without a file in brackets: the scores of rows\n" in told
    assert "the signatures differ in reviews: none or date>=2024-05. Only scores of equal" in told
    assert "differ in" not in run("report", rows, "-o", page).stderr
    assert not run("report", rows, after, "-o", page, "--quiet").stderr


@pytest.mark.parametrize("name", ["rows.jsonl", "link.jsonl"])
def test_a_file_that_is_given_twice_is_refused(
    run: Run, rows: Path, tmp_path: Path, name: str
) -> None:
    page = tmp_path / "r.html"
    (tmp_path / "link.jsonl").symlink_to(rows)
    result = run("report", rows, tmp_path / name, "-o", page)
    assert result.exit_code == 2
    again = tmp_path / name
    assert result.stderr == f"error: {again}: is given twice; name each file of rows once\n"
    assert not page.exists()


def test_rows_may_come_from_standard_input(run: Run, rows: Path, tmp_path: Path) -> None:
    page, piped = tmp_path / "r.html", tmp_path / "piped.html"
    run("report", rows, "-o", page)
    result = run("report", "-", "-o", piped, stdin=rows.read_bytes())
    assert result.exit_code == 0, result.output
    assert data_of(piped) == data_of(page)
    assert "<stdin>: is given twice" in run("report", "-", "-", "-o", piped).stderr
    bad = run("report", "-", "-o", piped, stdin='{"scorer": "s", "dev": {}}\nno\n')
    assert bad.stderr.startswith("error: <stdin>:2: not a JSON object")


def test_gzipped_rows_are_read(run: Run, rows: Path, tmp_path: Path) -> None:
    page, packed = tmp_path / "r.html", tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(rows.read_bytes()))
    assert run("report", packed, "-o", page).exit_code == 0
    assert len(data_of(page)["products"]) == 1


def test_pages_make_a_folder(run: Run, rows: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    assert run("report", rows, "--pages", 1, "-o", folder).exit_code == 0
    assert sorted(p.name for p in folder.iterdir()) == ["index.html", "page-1.html"]


def test_a_second_run_leaves_its_own_pages_and_foreign_files(
    run: Run, rows: Path, tmp_path: Path
) -> None:
    many = tmp_path / "many.jsonl"
    written_rows = [json.loads(line) for line in rows.read_text("utf-8").splitlines()]
    lines = (json.dumps({**row, "id": f"p{n}"}) for n in range(5) for row in written_rows)
    many.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    folder = tmp_path / "pages"
    assert run("report", many, "--pages", 1, "-o", folder).exit_code == 0
    assert sum(1 for _ in folder.iterdir()) == 6
    # A page under another name, a file of someone else, a single report and a link are not ours.
    written = (folder / "page-4.html").read_bytes()
    foreign = {"page-7.html": written, "page-8.html": b"mine", "notes.txt": b"", "page-x.html": b""}
    for name, content in foreign.items():
        (folder / name).write_bytes(content)
    assert run("report", rows, "-o", folder / "page-9.html").exit_code == 0
    (folder / "page-5.html").rename(tmp_path / "page-5.html")
    (folder / "page-5.html").symlink_to(tmp_path / "page-5.html")
    result = run("report", rows, "--pages", 1, "-o", folder)
    assert result.exit_code == 0
    kept = {"index.html", "page-1.html", "page-5.html", "page-9.html", *foreign}
    assert {path.name for path in folder.iterdir()} == kept
    assert (folder / "page-7.html").read_bytes() == written
    assert "also holds page-5.html, page-7.html, page-8.html and 1 more: no page" in result.stderr


def test_a_page_of_another_report_stays(run: Run, rows: Path, tmp_path: Path) -> None:
    """It has the name of a page of its own report, and no folder of pages lay here before."""
    many = tmp_path / "many.jsonl"
    row = json.loads(rows.read_text("utf-8").splitlines()[0])
    ids = [f"p{n}" for n in range(4)]
    many.write_text("".join(json.dumps({**row, "id": i}) + "\n" for i in ids), encoding="utf-8")
    source, folder, fresh = (tmp_path / name for name in ("source", "pages", "fresh"))
    assert run("report", many, "--pages", 1, "-o", source).exit_code == 0
    assert run("report", many, "--pages", 2, "-o", folder).exit_code == 0
    fresh.mkdir()
    for place in (folder, fresh):
        (place / "page-4.html").write_bytes((source / "page-4.html").read_bytes())
        result = run("report", rows, "--pages", 1, "-o", place)
        assert sorted(p.name for p in place.iterdir()) == [
            "index.html", "page-1.html", "page-4.html",
        ]  # fmt: skip
        assert "also holds page-4.html: no page of this run or of an earlier one" in result.stderr


def test_pages_make_the_folders_above_too(run: Run, rows: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "pages"
    assert run("report", rows, "--pages", 1, "-o", folder).exit_code == 0
    assert (folder / "index.html").is_file()


def test_a_limit_is_said_in_the_page(
    run: Run, score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    rows, page = tmp_path / "rows.jsonl", tmp_path / "r.html"
    score(write(boots, {**boots, "id": "p2"}), "--output", rows)
    made = run("report", rows, "-o", page, "--limit", 1)
    assert made.exit_code == 0
    assert f"{page}: 1 of 2 products, " in made.stderr
    assert len(data_of(page)["products"]) == 1
    assert "1 of 2 products are shown" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pages", "1", "--limit", "1"], "exclude each other"),
        (["--doubt", "0.5"], "0.5 is not in the range"),
    ],
)
def test_options_that_do_not_go(
    run: Run, rows: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    result = run("report", rows, "-o", tmp_path / "r.html", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_places_that_cannot_be_written(run: Run, rows: Path, tmp_path: Path) -> None:
    assert "is a folder" in run("report", rows, "-o", tmp_path).stderr
    assert "is a file" in run("report", rows, "-o", rows, "--pages", 1).stderr
    assert run("report", rows, "-o", rows).exit_code == 2
    assert "no folder" in run("report", rows, "-o", tmp_path / "no" / "r.html").stderr


def test_records_are_no_rows(run: Run, rows: Path, tmp_path: Path) -> None:
    result = run("report", tmp_path / "input.jsonl", "-o", tmp_path / "r.html")
    assert result.exit_code == 2
    assert "neither a row of prevalence score" in result.stderr
    assert "input.jsonl" in result.stderr


def test_files_without_a_row_make_no_report(run: Run, rows: Path, tmp_path: Path) -> None:
    empty, page = tmp_path / "empty.jsonl", tmp_path / "r.html"
    empty.write_text("\n")
    result = run("report", empty, "-o", page)
    assert result.exit_code == 2
    assert result.stderr == f"error: {empty}: no row; there is nothing to show\n"
    assert not page.exists()
    assert run("report", empty, rows, "-o", page).exit_code == 0


def test_a_report_does_not_go_with_ray(run: Run, rows: Path, tmp_path: Path) -> None:
    result = run("score", tmp_path / "input.jsonl", "--engine", "ray", "--report", "r.html")
    assert result.exit_code == 2
    assert "--report does not go with --engine ray" in result.stderr
