"""Recordings: what is read of them, what is written to them, and requests for somebody else."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from prevalence.baselines.judges.replay import Recorded, Recorder, Replay, read_recording
from prevalence.cli import main
from prevalence.errors import InputError
from prevalence.llm.protocol import Message, Request, Response, Subject

RTS = ("-m", "rts", "-d", "fluency")


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def write(tmp_path):
    def call(name, rows):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return call


@pytest.fixture
def products(write):
    """Two products with a summary by s each."""
    rows = [{"id": k, "reviews": ["Warm."], "summaries": {"s": f"{k} is warm."}} for k in "ab"]
    return write("products.jsonl", rows)


@pytest.fixture
def judge(products, tmp_path, monkeypatch):
    monkeypatch.setenv("PREVALENCE_CACHE", str(tmp_path / "cache"))

    def call(*words):
        return CliRunner().invoke(main, ["judge", str(products), *map(str, words)])

    return call


@pytest.fixture
def replies(write):
    """A function that writes a recording of both products and gives its spec."""

    def call(*replies, more=(), **fields):
        rows = [
            {"dimension": "fluency", "id": k, "system": "s", "replies": replies, **fields}
            for k in "ab"
        ]
        return f"replay:{write('recording.jsonl', [*rows, *more])}"

    return call


def test_lines_about_one_request_add_up(write):
    row = {"method": "rts", "dimension": "fluency", "id": "a", "system": "s"}
    path = write("r.jsonl", [
        {**row, "replies": ["1", None]},
        {**row, "replies": ["2", "3"]},
        {**row, "id": "b", "replies": ["1"]},
        {**row, "id": "b", "replies": ["2"], "instead": True},
    ])  # fmt: skip
    found = read_recording(path)
    texts = [[reply.text for reply in replies] for replies in found.values()]
    assert texts == [["1", "2", "3"], ["2"]]


def test_one_sample_a_line_is_read(judge, replies, write, tmp_path):
    rows = [
        {"dimension": "fluency", "id": k, "system": "s", "replies": [f"Score: {score}"]}
        for k in "ab"
        for score in (5, 1, 3)
    ]
    output = tmp_path / "rows.jsonl"
    spec = f"replay:{write('lines.jsonl', rows)}"
    found = judge(*RTS, "--backend", spec, "--samples", "3", "-o", output)
    assert found.exit_code == 0, found.output
    assert [row["samples"]["rts.fluency"] for row in lines(output)] == [[5, 1, 3]] * 2
    # Nothing says that they are alike, and nothing was left.
    assert "the same one" not in found.stderr
    assert "not used" not in found.stderr


def test_replies_that_were_not_used_are_counted(judge, replies):
    found = judge(*RTS, "--backend", replies("Score: 5", "Score: 1", "Score: 3"))
    assert found.exit_code == 0
    assert "4 recorded replies were not used; --samples 3 reads up to 3 of each" in found.stderr
    found = judge(*RTS, "--backend", replies("Score: 5", "Score: 1"), "--form", "direct")
    assert "2 recorded replies were not used; one is read of each" in found.stderr


def test_a_cut_reply_is_recorded_as_one(judge, replies, tmp_path):
    record = tmp_path / "kept.jsonl"
    spec = replies("It has 2 points. Score: 4", "Score: 3", finish=["length", None])
    found = judge(*RTS, "--samples", "2", "--backend", spec, "--record", record)
    assert found.exit_code == 0, found.output
    assert "of 4 replies: 2 unparsable, 2 cut" in found.stderr
    assert [row["finish"] for row in lines(record)] == [["length", "stop"]] * 2
    again = judge(*RTS, "--samples", "2", "--backend", f"replay:{record}")
    assert "of 4 replies: 2 unparsable, 2 cut" in again.stderr
    whole = judge(*RTS, "--backend", replies("Score: 4"), "--record", record, "--overwrite")
    assert whole.exit_code == 0
    assert all("finish" not in row for row in lines(record))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"finish": "length"}, "finish is a list"),
        ({"finish": ["cut"]}, "finish is a list"),
        ({"finish": ["stop", "stop"]}, "finish has 2 entries for 1 replies"),
        ({"prompt": 3}, "prompt are strings"),
    ],
)
def test_a_line_that_is_no_record_is_refused(write, fields, message):
    with pytest.raises(InputError, match=message):
        read_recording(write("r.jsonl", [{"id": "a", "replies": ["x"], **fields}]))


def test_replies_to_another_prompt_count_as_failed(judge, replies, products, tmp_path):
    record = tmp_path / "kept.jsonl"
    assert judge(*RTS, "--backend", replies("Score: 4"), "--record", record).exit_code == 0
    assert all(len(row["prompt"]) == 16 for row in lines(record))
    assert judge(*RTS, "--backend", f"replay:{record}").exit_code == 0
    text = products.read_text(encoding="utf-8")
    products.write_text(text.replace("a is warm", "a is cold"), encoding="utf-8")
    found = judge(*RTS, "--backend", f"replay:{record}")
    assert found.exit_code == 1
    assert "1 reply answers another prompt: the texts, the wording of the" in found.stderr
    assert "1 row without and 1 with an error" in found.stderr
    # Without digests nothing can tell.
    assert judge(*RTS, "--backend", replies("Score: 4")).exit_code == 0


def test_lines_that_match_nothing_are_counted(judge, replies):
    named = ({"dimension": "fluency", "id": "A"}, {"dimension": "Fluency", "id": "a"})
    other = [{**one, "system": "s", "replies": ["Score: 1"]} for one in named]
    spec = replies("Score: 4", more=other)
    told = "2 requests of the recording match nothing that was asked; the first is fluency, A, s"
    assert told in judge(*RTS, "--backend", spec).stderr
    assert "match" not in judge(*RTS, "--backend", spec, "--limit", "1").stderr
    assert "match" not in judge(*RTS, "--backend", replies("Score: 4")).stderr


def test_a_run_that_goes_on_leaves_no_reply_twice(tmp_path):
    path = tmp_path / "kept.jsonl"
    request = Request(messages=(Message("user", "?"),), subject=Subject("m", "d", "1", "s"))
    for append, reply in ((False, "old"), (True, "new")):
        recorder = Recorder(path, append=append)
        recorder.write(request, [Response(index=0, text=reply)])
        recorder.close()
    assert [row.get("instead") for row in lines(path)] == [None, True]
    [[reply]] = read_recording(path).values()
    assert reply.text == "new"
    backend = Replay(read_recording(path), name="x")
    assert [one.text for one in backend.complete([request])[0]] == ["new"]
    assert backend.spare == (0, 1)


def test_requests_are_exported_filled_in_and_given_back(judge, tmp_path):
    path, output = tmp_path / "requests.jsonl", tmp_path / "rows.jsonl"
    found = judge(*RTS, "--export", path, "--samples", "2", "--temperature", "0.5")
    assert found.exit_code == 0, found.output
    assert "2 requests written, for 2 replies at temperature 0.5 each" in found.stderr
    rows = lines(path)
    first = rows[0]
    assert [*first] == ["method", "dimension", "id", "system", "prompt", "samples", "temperature",
                        "max_tokens", "messages", "replies"]  # fmt: skip
    assert (first["samples"], first["temperature"], first["replies"]) == (2, 0.5, [])
    assert "a is warm." in first["messages"][-1]["content"]
    # One is left empty: it counts as failed.
    rows[0]["replies"] = ["Score: 4", "Score: 5"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    back = ("--backend", f"replay:{path}", "--samples", "2", "--temperature", "0.5")
    found = judge(*RTS, *back, "--output", output)
    assert found.exit_code == 1
    assert [row["metrics"]["rts.fluency"] for row in lines(output)] == [4.5, None]
    assert "of 4 replies: 2 failed" in found.stderr
    # Replies that were filled in are not lost by a second export.
    refused = judge(*RTS, "--export", path)
    assert (refused.exit_code, lines(path)) == (2, rows)
    assert "is there, perhaps with replies" in refused.stderr
    assert judge(*RTS, "--export", path, "--overwrite").exit_code == 0
    assert lines(path)[0]["replies"] == []


def test_both_orders_of_pairs_are_exported(judge, products, tmp_path):
    row = {"id": "a", "reviews": ["Warm."], "summaries": {"s": "Warm.", "t": "Hot."}}
    products.write_text(json.dumps(row), encoding="utf-8")
    path = tmp_path / "requests.jsonl"
    assert judge("-m", "h2h", "-d", "fluency", "--export", path).exit_code == 0
    assert [(row["system"], row["other"]) for row in lines(path)] == [("s", "t"), ("t", "s")]


def test_steps_are_exported_before_what_shows_them(judge, tmp_path):
    steps, path = tmp_path / "steps.jsonl", tmp_path / "requests.jsonl"
    command = ("-m", "g-eval", "-d", "fluency", "--export")
    found = judge(*command, steps)
    assert "1 request written, for 1 reply at temperature 0 each" in found.stderr
    assert "fill in their replies, and export again" in found.stderr
    [row] = lines(steps)
    steps.write_text(json.dumps({**row, "replies": ["1. Read it slowly."]}), encoding="utf-8")
    found = judge(*command, path, "--backend", f"replay:{steps}")
    assert "2 requests written, for 100 replies at temperature 0.7 each" in found.stderr
    first, *others = lines(path)
    assert first["replies"] == ["1. Read it slowly."]
    assert len(others) == 2
    assert all("1. Read it slowly." in row["messages"][-1]["content"] for row in others)


def test_an_export_tells_of_records_that_cannot_be_read(judge, products, tmp_path):
    with products.open("a", encoding="utf-8") as file:
        file.write("{}\n")
    path = tmp_path / "requests.jsonl"
    found = judge(*RTS, "--export", path)
    assert (found.exit_code, len(lines(path))) == (1, 2)
    assert "products.jsonl:3" in found.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--backend", "hf:folder"), "--export asks nobody: give no --backend"),
        (("--output", "x"), "--output does not go with --export"),
        (("--record", "x"), "--record does not go with --export"),
        (("--dry-run",), "--dry-run does not go with --export"),
        (("--budget", "1"), "--budget has no effect with --export"),
        (("--form", "probabilities"), "--form probabilities: a recording holds no"),
    ],
)
def test_what_does_not_go_with_an_export(judge, tmp_path, words, said):
    path = tmp_path / "requests.jsonl"
    method = ("-m", "g-eval", "-d", "fluency")
    found = judge(*method, "--export", path, *words)
    assert found.exit_code == 2
    assert said in found.stderr
    assert not path.exists()


def test_replies_made_in_python():
    subject = Subject("m", "d", "1", "s")
    backend = Replay({subject: [Recorded("x", cut=True)]}, name="x")
    [[reply]] = backend.complete([Request(messages=(), subject=subject)])
    assert (reply.text, reply.finish) == ("x", "length")


def test_samples_of_an_export_at_temperature_0_are_those_of_its_replay(judge, tmp_path):
    requests, output = tmp_path / "requests.jsonl", tmp_path / "rows.jsonl"
    words = (*RTS, "--samples", "3")
    assert judge(*words, "--export", requests).exit_code == 0
    rows = [{**row, "replies": ["Score: 4"] * row["samples"]} for row in lines(requests)]
    requests.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = judge(*words, "--backend", f"replay:{requests}", "-o", output)
    assert found.exit_code == 0, found.output
    # All are the same one, which was asked for once.
    assert [row["samples"]["rts.fluency"] for row in lines(output)] == [[4.0]] * 2
    assert "failed" not in found.stderr
    assert "asked for once" in found.stderr
