"""`prevalence score`: what every option does, seen from outside."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from prevalence.cli.score import score as score_command
from prevalence.models.devices import DTYPES
from prevalence.stats.resampling import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]


def rows_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def table_line(output: str, system: str) -> list[str]:
    return next(line.split() for line in output.splitlines() if line.startswith(system))


def test_table_holds_the_numbers_of_the_hand_computation(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    # good: (2) / (3 · 1) = .667. double: "Warm boots." 2, the repeat masked, "They leak." 1:
    # 3 / (3 · 3) = .333, with 1 of 3 sentences redundant; 11 + 11 + 10 = 32 characters.
    result = score(write(boots))
    assert result.exit_code == 0
    assert table_line(result.stdout, "system")[:2] == ["system", "prevalence"]
    good = table_line(result.stdout, "good")
    double = table_line(result.stdout, "double")
    assert good == ["good", "0.667", "–", "1", "1.0", "11", "0%", "0%", "0%"]
    assert double == ["double", "0.333", "–", "1", "3.0", "32", "0%", "33%", "0%"]
    assert result.stdout.index("good ") < result.stdout.index("double ")


def test_signature_names_scorer_threshold_and_resampling(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    last = score(write(boots)).stdout.rstrip().splitlines()[-1]
    assert last.startswith("prev|consistency:rouge1-precision|gran:document|thr:0.5|trivial:name|")
    assert last.rsplit("|v:")[0].endswith("|bs:1000|seed:12345")


def test_signatures_of_named_and_unnamed_products_are_both_shown(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    result = score(write(boots, {**boots, "id": "p2", "name": None}))
    signatures = [line for line in result.stdout.splitlines() if line.startswith("prev|")]
    assert ["trivial:name" in line for line in signatures] == [True, False]
    assert "2 summaries have no product name" in result.stderr


def test_jsonl_rows_have_the_fields_of_the_contract(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    row = rows_of(score(write(boots), "--format", "jsonl").stdout)[1]
    assert (row["schema"], row["id"], row["system"]) == (1, "p1", "double")
    assert (row["n_reviews"], row["n_sentences"], row["error"]) == (3, 3, None)
    first, second, third = row["sentences"]
    assert (first["support"], first["supporting_reviews"]) == (2, [0, 1])
    assert (second["support"], second["redundant_with"]) == (None, 0)
    assert (third["text"], third["start"], third["end"]) == ("They leak.", 24, 34)


def test_json_is_one_array_and_csv_one_line_a_summary(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    path = write(boots)
    array = json.loads(score(path, "--format", "json").stdout)
    lines = list(csv.DictReader(io.StringIO(score(path, "--format", "csv").stdout)))
    assert [row["system"] for row in array] == ["good", "double"]
    assert [line["system"] for line in lines] == ["good", "double"]
    assert float(lines[1]["prevalence"]) == pytest.approx(1 / 3)
    assert lines[1]["redundant"] == "1"


@pytest.mark.parametrize(
    ("name", "first"), [("o.jsonl", '{"schema"'), ("o.json", "["), ("o.csv", "id,"), ("o", "{")]
)
def test_output_format_goes_by_the_suffix_and_the_table_stays_on_the_screen(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path, *, name: str, first: str
) -> None:
    result = score(write(boots), "--output", tmp_path / name)
    assert result.exit_code == 0
    assert (tmp_path / name).read_text().startswith(first)
    assert "0.667" in result.stdout


def test_format_wins_over_the_suffix(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    score(write(boots), "-o", tmp_path / "o.txt", "--format", "csv")
    assert (tmp_path / "o.txt").read_text().startswith("id,system,")


def test_stdin_gzip_and_several_inputs_are_read_in_order(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps({**boots, "id": "zipped"}).encode()))
    plain = write({**boots, "id": "plain"})
    result = score(
        plain, "-", packed, "--format", "jsonl", stdin=json.dumps({**boots, "id": "piped"})
    )
    assert result.exit_code == 0
    ids = [row["id"] for row in rows_of(result.stdout)]
    assert ids == ["plain", "plain", "piped", "piped", "zipped", "zipped"]


@pytest.mark.parametrize("names", [["--systems", "a,c"], ["--systems", "a", "--systems", " c "]])
def test_systems_are_chosen_by_commas_or_repetition(
    score: Run, write: Write, boots: dict[str, Any], names: list[str]
) -> None:
    path = write({**boots, "summaries": dict.fromkeys("abc", "Warm boots.")})
    result = score(path, "--format", "jsonl", *names)
    assert [row["system"] for row in rows_of(result.stdout)] == ["a", "c"]


def test_an_unknown_system_is_one_line_and_status_2(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    result = score(write(boots), "--systems", "goood")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == ("error: --systems: no summary by goood; choose from double, good\n")


def test_an_unknown_system_beside_a_known_one_fails_after_the_known_is_scored(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    result = score(write(boots), "--systems", "good,goood", "--quiet")
    assert result.exit_code == 1
    assert table_line(result.stdout, "good")[1] == "0.667"
    assert result.stderr.count("\n") == 1


def test_limit_counts_records(score: Run, write: Write, boots: dict[str, Any]) -> None:
    path = write(*({**boots, "id": f"p{n}"} for n in range(5)))
    rows = rows_of(score(path, "--format", "jsonl", "--limit", 2).stdout)
    assert {row["id"] for row in rows} == {"p0", "p1"}


def test_limit_takes_a_record_with_its_faulty_summaries(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    path = write({**boots, "summaries": {"a": "They fit.", "b": 5}}, {**boots, "id": "other"})
    rows = rows_of(score(path, "--format", "jsonl", "--limit", 1).stdout)
    assert [(row["system"], row["error"] is None) for row in rows] == [("a", True), ("b", False)]


def test_explain_shows_each_sentence_with_its_reviews(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    lines = score(write(boots), "--explain", "--systems", "double").stdout.splitlines()
    assert lines[0] == "p1 · double · prevalence 0.333 · 3 reviews"
    shown = [line.strip() for line in lines[1:6]]
    assert shown[0].split() == ["0", "2/3", "support", "Warm", "boots."]
    assert shown[1] == "reviews 0, 1"
    assert shown[2].split() == ["1", "repeats", "0", "Warm", "boots!"]
    assert shown[3].split() == ["2", "1/3", "support", "They", "leak."]
    assert shown[4] == "reviews 2"


def test_full_matrix_asks_about_masked_sentences_and_leaves_the_score(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    row = rows_of(score(write(boots), "--full-matrix", "--format", "jsonl").stdout)[1]
    assert row["prevalence"] == pytest.approx(1 / 3)
    assert row["sentences"][1]["support"] == 2
    assert "|matrix:full|" in row["signature"]


def test_soft_adds_a_column_and_a_field(score: Run, write: Write, boots: dict[str, Any]) -> None:
    path = write(boots)
    assert table_line(score(path, "--soft").stdout, "system")[4] == "soft"
    row = rows_of(score(path, "--soft", "--format", "jsonl").stdout)[0]
    # "Warm boots." has p = 1, 1, 0, and the statement "I bought a lamp." shares no word.
    assert row["soft_prevalence"] == pytest.approx(2 / 3)


def test_trivial_mask_by_record_name_file_template_and_not_at_all(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    def trivial(*options: object) -> bool:
        output = score(path, "--format", "jsonl", "--systems", "s", *options).stdout
        return bool(rows_of(output)[0]["sentences"][0]["trivial"])

    path = write({**boots, "summaries": {"s": "I bought warm boots."}})
    names = tmp_path / "names.txt"
    names.write_text("p1 pair of warm boots\n")
    assert not trivial()
    assert trivial("--product-names", names)
    assert not trivial("--product-names", names, "--no-trivial")
    assert trivial("--trivial-template", "I bought warm boots, a {name}.")


def test_reviews_file_takes_one_summary_a_line(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    reviews = write(boots, {**boots, "id": "p2", "reviews": ["they leak"]}, name="reviews.jsonl")
    for system in ("first", "second"):
        (tmp_path / f"{system}.txt").write_text("Warm boots.\nThey leak.\n")
    result = score(
        tmp_path / "first.txt", tmp_path / "second.txt", "--reviews", reviews, "--format", "jsonl"
    )
    found = [(row["id"], row["system"], row["prevalence"]) for row in rows_of(result.stdout)]
    assert found == [
        ("p1", "first", pytest.approx(2 / 3)),
        ("p2", "first", 1.0),
        ("p1", "second", pytest.approx(2 / 3)),
        ("p2", "second", 1.0),
    ]


def test_files_of_lines_have_a_system_each(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    reviews = write(boots)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "test.txt").write_text("Warm boots.\n")
    files = [tmp_path / folder / "test.txt" for folder in ("a", "b")]
    result = score(*files, "--reviews", reviews)
    assert (result.exit_code, result.stdout) == (2, "")
    said = f"{files[0]} and {files[1]} both name the system 'test', after the file"
    assert result.stderr == f"error: {said}; rename one\n"


def test_a_table_of_summaries_is_joined_by_id(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    reviews = write(boots, {**boots, "id": "p2", "reviews": ["they leak"]}, name="reviews.jsonl")
    table, output = tmp_path / "all.csv", tmp_path / "rows.jsonl"
    table.write_text('id;system;summary\np2;b;They leak.\np1;b;"Warm\nboots."\np1;a;They leak.\n')
    words = (table, "--reviews", reviews, "--output", output)

    def found() -> list[Any]:
        rows = rows_of(output.read_text())
        return [(row["id"], row["system"], row["prevalence"]) for row in rows]

    third = pytest.approx(1 / 3)
    assert score(*words, "--limit", 1).exit_code == 0
    assert found() == [("p1", "b", pytest.approx(2 / 3)), ("p1", "a", third)]
    again = score(*words)
    assert "2 rows were in" in again.stderr
    assert found()[2:] == [("p2", "b", 1.0)]
    output.unlink()
    assert score(*words, "--systems", "a").exit_code == 0
    assert found() == [("p1", "a", third)]


def test_names_of_no_product_are_counted(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    boots = {key: value for key, value in boots.items() if key != "name"}
    path, names = write({**boots, "id": "Lake View"}, boots), tmp_path / "names.txt"
    names.write_text("Lake View hotel\np1 boot\n")
    said = f"{names}: 1 name matches no product (such as that of 'Lake'); write ids as in the input"
    assert said in score(path, "--product-names", names).stderr
    # What --limit leaves out may have the name.
    assert "no product (" not in score(path, "--product-names", names, "--limit", 1).stderr
    names.write_text("Lake View\thotel\np1 boot\n")
    result = score(path, "--product-names", names)
    assert "no product" not in result.stderr


def test_reviews_that_repeat_another_are_counted(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    texts = ["Good.", "Bad.", "Good.", "Good.", "", ""]
    known = [{"id": name, "text": "Good."} for name in "ab"]
    path = write(
        {**boots, "reviews": texts}, {**boots, "id": "p2", "reviews": [*known, "Fine."]},
        {**boots, "id": "p3", "reviews": ["A", "A"]},
    )  # fmt: skip
    # Of p1 the third and fourth, of p3 the second; an empty review has no words.
    said = "3 of 8 reviews of 2 products repeat another of the same product word for word; each"
    assert score(path).stderr.count(said) == 1
    assert "word for word" not in score(path, "-q").stderr


def test_splitter_lines_and_max_sentences(score: Run, write: Write, boots: dict[str, Any]) -> None:
    path = write({**boots, "summaries": {"s": "Warm boots. They leak.\nWarm"}})
    by_line = rows_of(score(path, "--splitter", "lines", "--format", "jsonl").stdout)[0]
    assert [s["text"] for s in by_line["sentences"]] == ["Warm boots. They leak.", "Warm"]
    result = score(path, "--max-sentences", 2)
    assert result.exit_code == 2
    assert "--max-sentences" in result.stderr


def test_second_summaries_of_a_product_by_a_system_are_noted(
    score: Run, run: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    said = "2 summaries have the id and the system of an earlier one; each counts in the means"
    rows = tmp_path / "rows.jsonl"
    assert said not in score(write(boots)).stderr
    assert said in score(write(boots, boots), "--output", str(rows)).stderr
    assert said in run("table", str(rows)).stdout


def test_threshold_is_strict(score: Run, write: Write, boots: dict[str, Any]) -> None:
    # "They squeak." shares 1 of 2 words with review 2.
    path = write({**boots, "summaries": {"s": "They squeak."}})
    scores = [
        rows_of(score(path, "--threshold", p, "--format", "jsonl").stdout)[0]["prevalence"]
        for p in (0.5, 0.49)
    ]
    assert scores == [0.0, pytest.approx(1 / 3)]


def test_both_tests_with_their_own_numbers_of_resamples(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    path = write(*({**boots, "id": f"p{n}"} for n in range(8)))
    result = score(path, "--test", "both")
    line = next(x.split() for x in result.stdout.splitlines() if x.startswith("good    double"))
    # Every product differs by −1/3: no bootstrap resample is as extreme after the shift, and
    # all-swapped or none-swapped has probability 2 / 2⁸.
    assert line[2] == "-0.333"
    assert float(line[3]) == pytest.approx(1 / 1001, abs=1e-4)
    assert float(line[4]) == pytest.approx(2 / 256, abs=0.004)
    assert line[5] == "8"
    assert result.stdout.rstrip().rsplit("|v:")[0].endswith("|bs:1000|ar:10000|seed:12345")
    fewer = score(path, "--test", "both", "--resamples", 50, "--seed", 7).stdout.rstrip()
    assert fewer.rsplit("|v:")[0].endswith("|bs:50|ar:50|seed:7")


def test_one_system_has_nothing_to_compare(score: Run, write: Write, boots: dict[str, Any]) -> None:
    result = score(write(boots), "--systems", "good", "--test", "bootstrap")
    assert result.exit_code == 0
    assert "--test: there is one system, so nothing to compare" in result.stdout
    apart = [boots | {"id": one, "summaries": {one: "Warm boots."}} for one in "ab"]
    stdout = score(write(*apart), "--test", "bootstrap").stdout
    assert "--test: no two systems share a product, so nothing to compare" in stdout


def test_cache_answers_the_second_run(
    score: Run, write: Write, boots: dict[str, Any], cache_folder: Path, tmp_path: Path
) -> None:
    command = (write(boots), "--model", "rougeL-precision")
    first, second = score(*command), score(*command)
    assert "0 answers were cached" in first.stderr
    assert "0 answers were cached" not in second.stderr
    assert first.stdout == second.stdout
    assert list(cache_folder.iterdir())
    assert "0 answers were cached" in score(*command, "--no-cache").stderr
    assert "0 answers were cached" in score(*command, "--cache", tmp_path / "other").stderr


def test_a_scorer_that_costs_less_than_the_cache_uses_the_one_that_is_named(
    score: Run, write: Write, boots: dict[str, Any], cache_folder: Path, tmp_path: Path
) -> None:
    path = write(boots)
    plain, again = score(path), score(path)
    assert "0 answers were cached" in again.stderr
    assert not cache_folder.exists()
    named = (path, "--cache", tmp_path / "named")
    first, second = score(*named), score(*named)
    assert "0 answers were cached" in first.stderr
    assert "0 answers were cached" not in second.stderr
    assert plain.stdout == second.stdout
    assert list((tmp_path / "named").iterdir())


def test_quiet_keeps_errors_and_drops_notes(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    assert score(write(boots), "--quiet").stderr == ""
    result = score(write(boots, "{broken"), "--quiet")
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


def test_status_1_when_some_fail_and_2_when_all_do(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    assert score(write(boots, "{broken")).exit_code == 1
    assert score(write("{broken")).exit_code == 2


def test_a_file_that_ends_the_run_halfway_is_status_1_with_the_rest_scored(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    picture = tmp_path / "picture.jsonl"
    picture.write_bytes(b"PK\x03\x04 not text")
    result = score(write(boots), picture)
    assert result.exit_code == 1
    assert table_line(result.stdout, "good")[1] == "0.667"
    assert "error: " in result.stderr.splitlines()[-1]
    assert "picture.jsonl" in result.stderr


def test_a_missing_input_is_found_before_others_are_scored(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    result = score(write(boots), "gone.jsonl", "-o", tmp_path / "o.jsonl")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "error: gone.jsonl: no such file; check the path, or use - for stdin\n"
    )
    assert not (tmp_path / "o.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--no-trivial", "--trivial-template", "script"], "exclude each other"),
        (["--cache", "c", "--no-cache"], "exclude each other"),
        (["--explain", "--format", "csv"], "--explain goes with the table"),
        (["-"], "standard input (-) can be read once"),
        (["--product-names", "-"], "standard input (-) can be read once"),
        (["--reviews", "-"], "standard input (-) can be read once"),
        (["--systems", " , "], "--systems names no system"),
        (["--overwrite"], "--overwrite goes with --output"),
        (["--output", "no/such/o.jsonl"], "no folder"),
        (["--output", "-"], "--format jsonl alone writes to the screen"),
        (["--output", "o.parquet"], "csv or json, or --engine ray (pip install 'prevalence[ray]')"),
        (["--output", "o.jsonl.gz"], "suffix .gz; add --format jsonl, csv or json; output is not"),
        (["--threshold", "1"], "not in the range"),
        (["--threshold", "nan"], "nan is not a finite number"),
        (["--limit", "0"], "not in the range"),
        (["--trivial-template", "I bought it."], "lacks {name}"),
        (["--input-format", "xml"], "'xml' is not one of"),
        (["--reviews", "r.txt", "--input-format", "csv"], "does not go with --reviews"),
        (["--reviews", "gone.txt"], "gone.txt: no such file"),
        (["--product-names", "gone.txt"], "gone.txt: no such file"),
        (["--windows", "5"], "takes no windows"),
        (["--bogus"], "No such option"),
    ],
)
def test_usage_errors_are_one_line_and_status_2(score: Run, options: list[str], said: str) -> None:
    result = score("-", *options, stdin="")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_an_input_is_never_written_over(
    score: Run, write: Write, boots: dict[str, Any], overwrite: list[str]
) -> None:
    path = write(boots)
    before = path.read_bytes()
    result = score(path, "--output", path, *overwrite)
    assert result.exit_code == 2
    assert path.read_bytes() == before


def test_defaults_are_those_of_the_library() -> None:
    # The command states them itself, because its help must not load numpy or torch.
    defaults = {option.name: option.default for option in score_command.params}
    assert defaults["seed"] == DEFAULT_SEED
    assert (
        next(
            tuple(option.type.choices) for option in score_command.params if option.name == "dtype"
        )
        == DTYPES
    )


def test_empty_summary_scores_0_with_a_warning(
    score: Run, write: Write, boots: dict[str, Any]
) -> None:
    result = score(write({**boots, "summaries": {"s": ""}}), "--explain")
    assert result.exit_code == 0
    assert table_line(result.stdout, "s ")[1] == "0.000"
    assert "no sentence" in result.stdout
    assert '1 summary carries a "warning"' in result.stderr


@pytest.mark.parametrize(
    ("threshold", "written"),
    [
        ("0.040", "0.04"),
        ("1e-5", "1e-05"),
        ("0.9999999999999999", "0.9999999999999999"),
        # A float32, which is not above itself, but above its first 12 digits.
        ("0.10000000149011612", "0.10000000149011612"),
    ],
)
def test_the_signed_threshold_can_be_given_again(
    run: Run, write: Any, boots: Any, threshold: str, written: str
) -> None:
    words = ("score", write(boots), "--model", "rouge1-precision", "--format", "jsonl")
    first = run(*words, "--threshold", threshold).stdout
    assert f"|thr:{written}|" in json.loads(first.splitlines()[0])["signature"]
    assert run(*words, "--threshold", written).stdout == first


def test_records_that_could_not_be_read_are_counted_apart(
    score: Run, write: Write, boots: dict[str, Any], tmp_path: Path
) -> None:
    unread = [{"id": "p2", "reviews": []}, {"id": "p3", "name": "", "reviews": ["Dry."]}]
    report = tmp_path / "r.html"
    result = score(write(boots, *unread), "--explain", "--report", report)
    assert "2 records could not be read (no system is known for them)" in result.stdout
    assert "\np2\n  error: " in result.stdout
    assert "None" not in result.stdout
    assert "2 summaries scored, 0 failed, 2 records could not be read; of " in result.stderr
    page = report.read_text("utf-8")
    assert "<dt>failed</dt><dd>0</dd>" in page
    assert "<dt>records that could not be read</dt><dd>2</dd>" in page
    assert page.count("<li><bdi>p") == 2
    alone = score(write(boots, unread[0]))
    assert "1 record could not be read (no system is known for it)" in alone.stdout


def test_pairs_that_were_not_asked_are_explained(score: Run, write: Write) -> None:
    product = {"id": "p", "name": "boot", "reviews": ["Warm.", " "], "summary": "Warm boots."}
    # One pair with the product statement, two with the reviews, one of which is empty.
    said = score(write(product)).stderr
    assert "1 summary scored, 0 failed; of 3 pairs 1 was not asked (masked sentences, empty" in said
    said = score(write(product | {"reviews": ["Warm."]})).stderr
    assert "of 2 pairs 0 were not asked, 0 were duplicates" in said


def test_products_in_another_language_are_named(score: Run, write: Write) -> None:
    german = "Die Stiefel sind warm und halten die Nacht durch. Der Deckel ist leider kaputt. " * 3
    english = "Great kettle, boils in two minutes. The lid broke after a week. " * 3
    texts = [english, *[german] * 4]
    records = [
        {"id": f"p{n}", "name": "boot", "reviews": [text], "summary": "Warm."}
        for n, text in enumerate(texts)
    ]
    said = score(write(*records)).stderr
    assert "4 products are probably not in English (p1, p2, p3 and 1 more), which the" in said
    assert "1 product is probably not in English (p1), which" in score(write(*records[:2])).stderr


def test_quantities_are_shown_where_people_look(score: Run, write: Write, tmp_path: Path) -> None:
    reviews = ["The zipper sticks.", *["Roomy and light."] * 9]
    text = "Most users say the zipper sticks. Some find it roomy and light."
    record = {"id": "a", "reviews": reviews, "summary": text}
    page = tmp_path / "page.html"
    result = score(write(record), "--quantities", "--explain", "--report", str(page))
    assert result.exit_code == 0
    assert 'says "Most" (50–100%): the reviews disagree' in result.stdout
    assert table_line(result.stdout, "system")[-2:] == ["wrong", "quantities"]
    assert "(50–100%): the reviews disagree" in page.read_text(encoding="utf-8")
    plain = score(write(record))
    assert "quantities" not in plain.stdout


def test_other_units_are_named_as_other_settings(score: Run, write: Write, tmp_path: Path) -> None:
    source, output = (
        write({"id": "a", "reviews": ["Warm."], "summary": "Warm."}),
        tmp_path / "o.jsonl",
    )
    assert score(source, "-o", str(output)).exit_code == 0
    again = score(source, "-o", str(output), "--unit", "claim")
    assert "holds scores of other settings" in again.stderr
