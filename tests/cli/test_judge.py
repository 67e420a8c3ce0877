"""`prevalence judge` and `prevalence audit` through the entry point."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from prevalence.baselines.judges.replay import Recorder
from prevalence.cli import main
from prevalence.errors import InputError
from prevalence.llm.protocol import Message, Request, Response, Subject
from prevalence.llm.store import ReplyStore, StoredBackend

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXAMPLE = ("--method", "rts", "--dimensions", "fluency", "--systems", "balanced,trivial")


@pytest.fixture
def judge(repository, cache_folder):
    def call(*arguments):
        files = {"SUMMARIES": "examples/summaries.jsonl", "REPLIES": "examples/replies.jsonl"}
        words = [str(one) for one in arguments]
        for name, path in files.items():
            words = [word.replace(name, str(repository / path)) for word in words]
        return CliRunner().invoke(main, words)

    return call


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Interrupted:
    """Answers two requests, and then Ctrl-C is pressed."""

    signature = {"script": "1"}  # noqa: RUF012
    work_unit = 100

    def complete(self, requests, *, keep=None):
        for request in requests[:2]:
            keep(request, Response(index=0, text="Score: 4"))
        raise KeyboardInterrupt


def test_an_interrupted_judge_counts_the_replies_that_are_stored(judge, tmp_path, monkeypatch):
    def opened(spec, options):
        return StoredBackend(Interrupted(), ReplyStore(tmp_path))

    monkeypatch.setattr("prevalence.llm.backends.open_backend", opened)
    output = tmp_path / "rows.jsonl"
    command = ("judge", "SUMMARIES", *EXAMPLE, "--backend", "hf:model", "--samples", 1)
    told = judge(*command, "--output", output)
    assert told.exit_code == 130
    stored = "2 replies of this run are stored and will not be paid for again"
    assert f"no row was written to {output} yet; {stored}" in told.stderr
    assert (
        "no row is kept (--output FILE.jsonl would); 2 replies"
        in judge(*command, "--dimensions", "relevance").stderr
    )


def test_the_list_names_every_method(judge):
    listed = json.loads(judge("judge", "--list", "--json").stdout)
    names = {method["name"] for method in listed["methods"]}
    assert {"op-i", "op-prompts", "g-eval", "omni", "spectra", "rts", "rts2", "mcq", "mcq2", "h2h",
            "star", "chatgpt-4d"} == names  # fmt: skip
    assert all(method["citation"] for method in listed["methods"])
    assert "op-prompts" in judge("judge", "--list").stdout


def test_replay_record_and_continue(judge, tmp_path):
    output, record = tmp_path / "rows.jsonl", tmp_path / "replies.jsonl"
    command = ("judge", "SUMMARIES", *EXAMPLE, "--output", output, "--record", record)
    first = judge(*command, "--backend", "replay:REPLIES")
    assert first.exit_code == 0, first.output
    whole = output.read_bytes()
    assert rows(output)[0]["metrics"] == {"rts.fluency": 5.0}
    assert len(rows(output)) == len(rows(record)) == 12
    lines = whole.splitlines(keepends=True)
    output.write_bytes(b"".join(lines[:5]) + lines[5][:20])
    again = judge(*command, "--backend", "replay:REPLIES")
    assert again.exit_code == 0, again.output
    assert "5 rows were in" in again.stderr
    assert output.read_bytes() == whole
    replayed = judge("judge", "SUMMARIES", *EXAMPLE, "--backend", f"replay:{record}", "-q")
    assert "5.0000" in replayed.stdout
    other = judge(*command, "--backend", "replay:REPLIES", "--seed", "1", "--temperature", "1")
    assert other.exit_code == 2
    assert "scores of other settings" in other.stderr


def test_what_is_not_recorded_is_an_error_of_its_row(judge):
    found = judge("judge", "SUMMARIES", "-m", "rts", "-d", "fluency", "--limit", "1",
                  "--backend", "replay:REPLIES")  # fmt: skip
    assert found.exit_code == 1
    assert "the recording has 0 replies" in found.stderr


@pytest.mark.parametrize("number", ["nan", "1e400", "9" * 400])
def test_stars_that_are_no_plain_number_are_unread(judge, tmp_path, number):
    replies = tmp_path / "replies.jsonl"
    record = json.loads((EXAMPLES / "summaries.jsonl").read_text().splitlines()[0])
    reply = {"id": record["id"], "system": "trivial", "dimension": "fluency"}
    replies.write_text(json.dumps(reply | {"replies": [f"{number} stars"]}) + "\n")
    output = tmp_path / "rows.jsonl"
    found = judge("judge", "SUMMARIES", "-m", "star", "-d", "fluency", "--systems", "trivial",
                  "--limit", "1", "--backend", f"replay:{replies}", "--parser", "llm-summeval",
                  "--output", output)  # fmt: skip
    assert found.exit_code == 2
    assert "of 1 replies none has a score (1 unparsable)" in found.stderr
    assert "fault of prevalence" not in found.stderr
    assert rows(output)[0]["metrics"] == {"star.fluency": None}


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_nothing_to_judge_is_an_error(judge, tmp_path, words):
    found = judge("judge", "SUMMARIES", "-m", "rts", "-d", "fluency", "--systems", "nosuch",
                  "--backend", "replay:REPLIES", *words)  # fmt: skip
    assert found.exit_code == 2
    assert "--systems: no summary by nosuch; choose from balanced, " in found.stderr
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text('{"a": "balanced", "b": "nosuch"}\n')
    duel = ("judge", "SUMMARIES", "-m", "h2h", "-d", "fluency", "--backend", "replay:REPLIES")
    found = judge(*duel, "--pairs", pairs, *words)
    assert found.exit_code == 2
    assert "--pairs: no summary by nosuch" in found.stderr
    pairs.write_text('{"id": "nosuch", "a": "balanced", "b": "trivial"}\n')
    found = judge(*duel, "--pairs", pairs, *words)
    assert found.exit_code == 2
    assert "--pairs: of the ids it names, no record has nosuch" in found.stderr
    found = judge(*duel, "--systems", "balanced", *words)
    assert found.exit_code == 2
    assert "nothing is left to judge" in found.stderr


def test_a_system_that_is_not_there_beside_one_that_is(judge):
    found = judge("judge", "SUMMARIES", "-m", "rts", "-d", "fluency", "--systems",
                  "balanced,nosuch", "--backend", "replay:REPLIES")  # fmt: skip
    assert found.exit_code == 1
    assert "balanced" in found.stdout
    assert "--systems: no summary by nosuch" in found.stderr


def test_a_recording_is_not_begun_anew_unasked(judge, tmp_path):
    record, output = tmp_path / "replies.jsonl", tmp_path / "rows.jsonl"
    command = ("judge", "SUMMARIES", *EXAMPLE, "--backend", "replay:REPLIES", "--record", record)
    assert judge(*command).exit_code == 0
    whole = record.read_bytes()
    for more in ((), ("--output", output)):
        refused = judge(*command, *more)
        assert refused.exit_code == 2
        assert "holds a recording" in refused.stderr
        assert record.read_bytes() == whole
    assert judge(*command, "--overwrite").exit_code == 0
    assert record.read_bytes() == whole


def test_a_recording_is_kept_until_a_reply_takes_its_place(judge, tmp_path):
    record, silent = tmp_path / "replies.jsonl", tmp_path / "silent.jsonl"
    command = ("judge", "SUMMARIES", *EXAMPLE, "--record", record, "--overwrite")
    assert judge(*command, "--backend", "replay:REPLIES").exit_code == 0
    whole = record.read_bytes()
    silent.write_text('{"id": "other", "system": "s", "dimension": "d", "replies": ["5"]}\n')
    failed = judge(*command, "--backend", f"replay:{silent}")
    assert failed.exit_code == 2
    assert record.read_bytes() == whole
    replaced = judge(*command, "--backend", "replay:REPLIES", "--limit", "1")
    assert replaced.exit_code == 0
    assert [row["system"] for row in rows(record)] == ["balanced", "trivial"]


def test_two_records_of_one_id_are_not_taken_for_each_other(judge, write, tmp_path):
    path = write(*(
        {"id": "p", "reviews": ["Warm."], "summaries": {"s": f"Number {number}."}}
        for number in range(2)
    ))  # fmt: skip
    replies, record = tmp_path / "replies.jsonl", tmp_path / "record.jsonl"
    line = {"id": "p", "system": "s", "dimension": "fluency", "replies": ["Score: 4"]}
    replies.write_text(json.dumps(line) + "\n")
    words = ("judge", path, "-m", "rts", "-d", "fluency", "--backend", f"replay:{replies}")
    found = judge(*words)
    assert found.exit_code == 2
    assert "two records are called 'p', and a recording tells them apart by" in found.stderr
    request = Request(messages=(), subject=Subject("rts", "fluency", "p", "s"))
    recorder = Recorder(record)
    for _ in range(2):
        recorder.write(request, [Response(index=0, text="Score: 4")])
    with pytest.raises(InputError, match="two records are called 'p'"):
        recorder.write(replace(request, messages=(Message("user", "?"),)), [Response(index=0)])
    recorder.close()
    assert len(rows(record)) == 2


def test_errors_without_an_output_are_all_shown(judge, write):
    # Of 21 errors the last is one more than a run with an output shows.
    reviewed = {"reviews": ["Warm."], "summaries": {"s": "Warm."}}
    path = write(*({"id": f"p{number}", **reviewed} for number in range(21)))
    words = ("judge", path, "-m", "rts", "-d", "fluency", "--backend", "replay:REPLIES")
    alone = judge(*words).stderr
    assert alone.count("error: ") == 21
    assert "more errors" not in alone
    kept = judge(*words, "--output", path.with_name("rows.jsonl")).stderr
    assert kept.count("error: ") == 20
    assert '1 more error is in the "error" fields of the rows' in kept


def test_files_that_are_not_utf8_are_named(judge, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b'{"a": "caf\xe9", "b": "t"}\n')
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "fluency.txt").write_bytes(b"caf\xe9 {} {}")
    words = ("judge", "SUMMARIES", "-d", "fluency", "--backend")
    for found in (
        judge(*words, f"replay:{bad}", "-m", "rts"),
        judge(*words, "replay:REPLIES", "-m", "h2h", "--pairs", bad),
        judge(*words, "replay:REPLIES", "-m", folder),
        judge("audit", bad),
    ):
        assert found.exit_code == 2
        assert "not UTF-8 at byte" in found.stderr
        assert "fault of prevalence" not in found.stderr


@pytest.mark.parametrize(
    ("backend", "given"),
    [
        ("replay:REPLIES", ("--budget", "0.01")),
        ("replay:REPLIES", ("--cache", "x")),
        ("replay:REPLIES", ("--base-url", "http://127.0.0.1:1/v1")),
        ("hf:x", ("--price-in", "1")),
        ("openai:x", ("--device", "cpu")),
        ("openai:x", ("--no-reuse",)),
    ],
)
def test_what_a_backend_does_not_read_is_refused(judge, backend, given):
    found = judge("judge", "SUMMARIES", *EXAMPLE, "--backend", backend, *given)
    assert found.exit_code == 2
    kind = backend.partition(":")[0]
    option = "--reuse" if given[0] == "--no-reuse" else given[0]
    assert f"{option} has no effect with --backend {kind}" in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_a_dry_run_may_be_told_prices_for_any_backend(judge):
    found = judge("judge", "SUMMARIES", *EXAMPLE, "--backend", "replay:REPLIES", "--dry-run",
                  "--price-in", "1")  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "at most about" in found.stderr


def test_head_to_head(judge, tmp_path):
    replies = tmp_path / "h2h.jsonl"
    orders = [("balanced", "trivial", "A"), ("trivial", "balanced", "B")]
    replies.write_text(
        "".join(
            json.dumps({"id": "ex-boots", "system": a, "other": b, "dimension": "fluency",
                        "replies": [reply]}) + "\n"
            for a, b, reply in orders
        )
    )  # fmt: skip
    output = tmp_path / "pairs.jsonl"
    command = ("judge", "SUMMARIES", "-m", "h2h", "-d", "fluency", "--systems", "balanced,trivial",
               "--limit", "1", "--backend", f"replay:{replies}", "--output", output)  # fmt: skip
    assert judge(*command).exit_code == 0
    (row,) = rows(output)
    assert (row["a"], row["b"], row["verdict_ab"], row["verdict_ba"]) == (
        "balanced", "trivial", 1, 1,
    )  # fmt: skip
    whole = output.read_bytes()
    assert judge(*command).exit_code == 0
    assert output.read_bytes() == whole
    table = judge("audit", output)
    assert table.exit_code == 0
    assert "order of two summaries" in table.stdout


def test_neighbours_are_those_of_the_whole_input(judge, write, tmp_path):
    # Of the first record alone the order is s, t, u; with the second it is s, u, t.
    ratings = ({"s": 5, "t": 4, "u": 3}, {"s": 5, "t": 1, "u": 3})
    path = write(
        *(
            {"id": f"p{number}", "reviews": ["Warm."],
             "summaries": {name: {"summary": f"By {name}.", "human": {"fluency": [rating]}}
                           for name, rating in rated.items()}}
            for number, rated in enumerate(ratings)
        )
    )  # fmt: skip
    output = tmp_path / "pairs.jsonl"
    for limit in ("1", "2"):
        judge("judge", path, "-m", "h2h", "-d", "fluency", "--pairs", "neighbours", "--limit",
              limit, "--backend", "replay:REPLIES", "--output", output, "--overwrite")  # fmt: skip
        found = {frozenset((row["a"], row["b"])) for row in rows(output)}
        assert found == {frozenset("su"), frozenset("ut")}
    assert len(rows(output)) == 4


def test_attacks_are_judged_beside_the_record(judge):
    found = judge("judge", "SUMMARIES", *EXAMPLE, "--attacks", "--limit", "1", "--backend",
                  "replay:REPLIES", "--dry-run")  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "32 rows; 32 replies" in found.stderr


def test_released_replies_give_the_released_scores(judge, shared_data, tmp_path):
    released = rows(shared_data / "llm_summeval" / "M8.jsonl")
    articles = {row["id"]: row["article"] for row in
                rows(shared_data / "llm_summeval" / "articles.jsonl")}  # fmt: skip
    products, expected = tmp_path / "products.jsonl", {}
    folder = tmp_path / "gpt" / "eval_M8_generations"
    folder.mkdir(parents=True)
    with products.open("w", encoding="utf-8") as file:
        for row in released:
            item = {"id": row["id"], "reviews": [articles[row["id"]]],
                    "summaries": {"M8": row["summary"]}}  # fmt: skip
            file.write(json.dumps(item) + "\n")
    for method in ("rts", "mcq"):
        for dimension in ("coherence", "consistency", "fluency", "relevance"):
            path = folder / f"{dimension[:3]}_{method.upper()}.txt"
            with path.open("w", encoding="utf-8") as file:
                for row in released:
                    (evaluator,) = row["eval"].values()
                    answer = evaluator[method][dimension]
                    expected[method, dimension, row["id"]] = answer["score"]
                    file.write(json.dumps({"id": row["id"], "resp": answer["resp"]}) + "\n")
    for method in ("rts", "mcq"):
        output = tmp_path / f"{method}.jsonl"
        found = judge("judge", products, "-m", method, "-d", "summeval", "--parser", "llm-summeval",
                      "--backend", f"replay:{tmp_path / 'gpt'}", "-o", output)  # fmt: skip
        assert found.exit_code == 0, found.output
        for row in rows(output):
            for metric, value in row["metrics"].items():
                assert value == expected[method, metric.partition(".")[2], row["id"]]
        assert len(rows(output)) == len(released)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["judge"], "no INPUT"),
        (["judge", "SUMMARIES"], "no --method"),
        (["judge", "SUMMARIES", "-m", "rts"], "no --backend"),
        (["judge", "SUMMARIES", "-m", "none", "--backend", "replay:x"], "unknown judging method"),
        (["judge", "SUMMARIES", "-m", "rts", "--backend", "magic:x"], "is none of"),
        (["judge", "SUMMARIES", "-m", "rts", "--backend", "replay:/none"], "no such recording"),
        (["judge", "SUMMARIES", "-m", "rts", "--pairs", "all", "--backend", "replay:REPLIES"],
         "--pairs goes with"),
        (["judge", "SUMMARIES", "-m", "h2h", "--pairs", "neighbours", "--backend",
          "replay:REPLIES"], "needs human ratings"),
        (["judge", "--json"], "--json goes with --list"),
    ],
)  # fmt: skip
def test_faults_are_one_line(judge, arguments, message):
    found = judge(*arguments)
    assert found.exit_code == 2
    assert message in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_audit_as_json(judge, repository):
    found = judge("audit", repository / "examples/ratings.jsonl", "--json")
    audit = json.loads(found.stdout)
    assert [one["metric"] for one in audit["metrics"]] == ["judge.faithfulness", "judge.coverage"]
    assert audit["metrics"][0]["consistency"]["items"] == 30


def test_an_audit_reads_every_line_or_says_which_it_cannot(judge, tmp_path):
    pair = {"id": "p\u2028\x85", "a": "s", "b": "t", "dimension": "d", "verdict_ab": 1,
            "verdict_ba": 1}  # fmt: skip
    path = tmp_path / "pairs.jsonl"
    path.write_text(3 * (json.dumps(pair, ensure_ascii=False) + "\n"), encoding="utf-8")
    orders = json.loads(judge("audit", path, "--json").stdout)["orders"]
    assert orders["d"]["asked"] == 3
    with path.open("a", encoding="utf-8") as file:
        file.write('{"id": \n')
    broken = judge("audit", path)
    assert broken.exit_code == 2
    assert f"{path}:4: not valid JSON" in broken.stderr


def test_an_audit_counts_verdicts_with_a_point_and_rows_without_a_dimension(judge, tmp_path):
    pair = {"id": "p", "a": "s", "b": "t"}
    told = {**pair, "dimension": "d", "verdict_ab": 1.0, "verdict_ba": 2.0}
    path = tmp_path / "pairs.jsonl"
    unread = {"id": "q", "a": None, "b": None, "verdict_ab": None, "error": "no reviews"}
    rows = (told, {**pair, "verdict_ab": 0, "verdict_ba": 0}, unread)
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    orders = json.loads(judge("audit", path, "--json").stdout)["orders"]
    assert {name: (one["asked"], one["first"]) for name, one in orders.items()} == {
        "d": (1, 1), "no dimension": (1, 0),
    }  # fmt: skip


@pytest.mark.parametrize("verdict", [3, -1, 1.5, True, "1", [1]])
def test_an_audit_refuses_a_verdict_that_is_none(judge, tmp_path, verdict):
    path = tmp_path / "pairs.jsonl"
    pair = {"id": "p", "a": "s", "b": "t", "dimension": "d", "verdict_ab": 1, "verdict_ba": 2}
    path.write_text(json.dumps(pair) + "\n" + json.dumps({**pair, "verdict_ba": verdict}))
    found = judge("audit", path)
    assert found.exit_code == 2
    assert f"{path}: row 2: verdict_ba: is " in found.stderr


def test_an_audit_keeps_judges_apart(judge, repository):
    duels = repository / "examples/duels.jsonl"
    whole = json.loads(judge("audit", duels, "--json").stdout)["orders"]
    both = judge("audit", duels, duels)
    assert both.exit_code == 2
    assert "the same two summaries were compared in" in both.stderr
    labelled = json.loads(judge("audit", duels, f"x={duels}", "--json").stdout)["orders"]
    assert labelled == {**whole, **{f"x:{name}": one for name, one in whole.items()}}


def test_an_audit_says_how_many_rows_have_no_value(judge, tmp_path):
    row = {"schema": 1, "id": "p", "system": "s", "metrics": {"m.d": 4.0, "n.d": None},
           "human": {"d": [3]}, "error": "n.d failed"}  # fmt: skip
    empty = {**row, "system": "t", "metrics": {"m.d": None, "n.d": None}, "human": {}}
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (row, empty)), encoding="utf-8")
    found = judge("audit", path, "--json")
    assert "left out: 1 row of the inputs with an error" in found.stderr
    metrics = {one["metric"]: one for one in json.loads(found.stdout)["metrics"]}
    assert metrics["m.d"]["offset"] == 1.0


def test_an_audit_takes_ratings_from_a_table(judge, tmp_path):
    scores, ratings = tmp_path / "rows.jsonl", tmp_path / "ratings.csv"
    scores.write_text('{"id": "p", "system": "s", "metrics": {"m.d": 4.0}}\n')
    ratings.write_text("id,system,rater,d\np,s,anna,3\np,s,ben,2\n")
    found = judge("audit", scores, ratings, "--json")
    assert found.exit_code == 0, found.output
    (metric,) = json.loads(found.stdout)["metrics"]
    assert (metric["metric"], metric["offset"]) == ("m.d", 1.5)


def test_an_empty_file_of_a_recording_is_named_and_its_rows_say_so(judge, tmp_path):
    products = tmp_path / "products.jsonl"
    summaries = {"A": "Good.", "B": "Bad."}
    products.write_text(json.dumps({"id": "d", "reviews": ["Good."], "summaries": summaries}))
    for system, text in (("A", json.dumps({"id": "d", "resp": "Score: 4"})), ("B", "")):
        folder = tmp_path / "gpt" / f"eval_{system}_generations"
        folder.mkdir(parents=True)
        (folder / "flu_rts.txt").write_text(text)
    found = judge("judge", products, "-m", "rts", "-d", "summeval/fluency", "--backend",
                  f"replay:{tmp_path / 'gpt'}", "-o", tmp_path / "rows.jsonl")  # fmt: skip
    assert found.exit_code == 1, found.output
    assert "files of the recording without a reply: 1 (eval_B_generations/flu_rts.txt)" in (
        found.stderr
    )
    first, second = rows(tmp_path / "rows.jsonl")
    assert (first["metrics"]["rts.fluency"], first["error"]) == (4.0, None)
    assert "the recording has 0 replies for" in second["error"]


def test_an_audit_of_nothing_says_what_it_needs(judge, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "p", "system": "s", "metrics": {"rouge-1": 0.5}}\n')
    found = judge("audit", path)
    assert found.exit_code == 2
    assert found.stderr.startswith("error: the inputs hold nothing to audit")
