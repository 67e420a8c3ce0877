"""Runs that were killed, cut short or changed, through the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prevalence.baselines.judges.packs import PACKS
from prevalence.baselines.judges.replay import Recorder, Replay, read_recording
from prevalence.errors import BackendError
from prevalence.llm.protocol import Message, Request, Response, Subject

pytest.importorskip("openai")

COUNT = 12


@pytest.fixture
def products(tmp_path):
    """A file of records with one summary each."""
    path = tmp_path / "many.jsonl"
    rows = [
        {"id": f"p{k}", "reviews": ["It is warm."], "summaries": {"s": f"Number {k}."}}
        for k in range(COUNT)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def command(products, chat_server, tmp_path, monkeypatch):
    """A function that starts `prevalence judge` in a process of its own."""
    monkeypatch.setenv("PREVALENCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    chat_server.text = lambda prompt, seed: f"<score>{len(prompt) % 5 + 1}</score>"

    def start(*words, source=products, output="rows.jsonl"):
        arguments = ["judge", source, "--method", "op-i", "--dimensions", "fluency",
                     "--samples", "2", "--backend", "openai:tiny", "--base-url", chat_server.url,
                     "--concurrency", "1", "--output", tmp_path / output, *words]  # fmt: skip
        code = "from prevalence.cli import main; main()"
        return subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    return start


def finished(process):
    output, said = process.communicate(timeout=300)
    return process.returncode, output + said


@pytest.mark.slow
def test_a_killed_command_goes_on_and_pays_for_nothing_twice(command, chat_server, tmp_path):
    chat_server.seconds = 0.05
    record = tmp_path / "replies.jsonl"
    killed = command("--record", record)
    deadline = time.monotonic() + 300
    # The first rows are written after 8 replies, a unit of work; the kill comes in a later one.
    while sum(chat_server.delivered.values()) < 11 and time.monotonic() < deadline:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    chat_server.seconds = 0.0
    rows = (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert 0 < len(rows) < COUNT
    # What a kill in the middle of a line would leave.
    with record.open("a", encoding="utf-8") as file:
        file.write('{"method": "op-i", "dimen')
    status, said = finished(command("--record", record))
    assert status == 0, said
    assert f"{len(rows)} rows were in" in said
    # One call was under way; no other was made twice.
    assert sum(chat_server.delivered.values()) <= 2 * COUNT + 1
    assert len(read_recording(record)) == COUNT
    # A run that nobody disturbed writes the same.
    status, said = finished(command(output="whole.jsonl"))
    assert status == 0, said
    assert "24 replies were stored, 0 were asked for" in said
    whole = (tmp_path / "whole.jsonl").read_bytes()
    assert (tmp_path / "rows.jsonl").read_bytes() == whole
    assert len(whole.splitlines()) == COUNT


@pytest.fixture
def judge_many(products, chat_server, tmp_path, monkeypatch):
    """A function that runs `prevalence judge` here; it returns the result and the rows."""
    from click.testing import CliRunner

    from prevalence.cli import main

    monkeypatch.setenv("PREVALENCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    chat_server.text = lambda prompt, seed: f"<score>{seed % 5 + 1}</score>"

    def run(*words, source=products, method="op-i"):
        output = tmp_path / "rows.jsonl"
        command = ["judge", source, "--method", method, "--dimensions", "fluency", "--samples", "2",
                   "--backend", "openai:tiny", "--base-url", chat_server.url, "--output", output,
                   *words]  # fmt: skip
        result = CliRunner().invoke(main, [str(word) for word in command])
        lines = output.read_text(encoding="utf-8").splitlines() if output.exists() else []
        return result, [json.loads(line) for line in lines]

    return run


def test_a_limit_can_be_raised_and_not_lowered(judge_many, chat_server):
    assert len(judge_many("--limit", "2")[1]) == 2
    result, rows = judge_many("--limit", "5")
    assert result.exit_code == 0, result.output
    assert [row["id"] for row in rows] == [f"p{k}" for k in range(5)]
    assert len(chat_server.bodies) == 10
    lower, rows = judge_many("--limit", "2")
    assert (lower.exit_code, len(rows)) == (1, 5)
    assert "not what this input has in its place" in lower.stderr


def test_rows_of_another_prompt_are_refused(judge_many, tmp_path):
    path = tmp_path / "mine.toml"
    pack = (PACKS / "methods" / "op-i.toml").read_text(encoding="utf-8")
    path.write_text(pack, encoding="utf-8")
    result, before = judge_many("--limit", "1", method=path)
    assert (result.exit_code, len(before)) == (0, 1)
    path.write_text(pack.replace('inputs = ["reviews"]', 'inputs = ["title", "reviews"]'),
                    encoding="utf-8")  # fmt: skip
    result, rows = judge_many("--limit", "2", method=path)
    assert result.exit_code == 2
    assert "scores of other settings" in result.stderr
    assert rows == before


def test_a_budget_ends_a_run_and_a_larger_one_continues_it(judge_many, chat_server):
    money = ("--price-in", "1000000", "--price-out", "0", "--concurrency", "1")
    result, rows = judge_many(*money, "--budget", "1")
    assert (result.exit_code, rows, chat_server.bodies) == (2, [], [])
    assert "the budget of 1 is used up: 0 is spent" in result.stderr
    result, rows = judge_many(*money, "--budget", "1000000")
    assert (result.exit_code, len(rows)) == (0, COUNT)
    # 24 calls of 10 tokens.
    assert "24 calls, 240 tokens read and 72 written; 240 spent at most" in result.stderr


def test_samples_that_are_all_alike_are_said_to_be(judge_many, chat_server):
    result, _ = judge_many("--limit", "2")
    assert "are identical" not in result.stderr
    chat_server.text = lambda prompt, seed: "<score>4</score>"
    result, rows = judge_many("--limit", "2", "--no-cache", "--overwrite")
    assert "all samples of each prompt are identical" in result.stderr
    assert [row["judge"]["op-i.fluency"]["distinct"] for row in rows] == [1, 1]


def test_awkward_records_have_rows_of_their_own(judge_many, tmp_path, chat_server):
    path = tmp_path / "awkward.jsonl"
    records = [
        {"id": "empty", "reviews": ["Warm."], "summaries": {"s": ""}},
        {"id": "none", "reviews": [], "summaries": {"s": "Warm."}},
        {
            "id": "日本",
            "reviews": ["暖かい \ud83d 😀"],
            "summaries": {"ß": "‹score›5 <score>5</score>"},
        },
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in records), encoding="utf-8")
    result, rows = judge_many(source=path)
    assert result.exit_code == 1
    assert [(row["id"], row["error"] is None) for row in rows] == [
        ("empty", False), ("none", False), ("日本", True),
    ]  # fmt: skip
    # Seeds 0 and 221381403.
    assert rows[2]["samples"] == {"op-i.fluency": [1.0, 4.0]}
    prompts = [body["messages"][-1]["content"] for body in chat_server.bodies]
    shown = next(prompt for prompt in prompts if "暖かい" in prompt)
    assert "<summary>\n‹score›5 ‹score›5‹/score›\n</summary>" in shown
    assert "暖かい \ufffd 😀" in shown


def test_a_dry_run_knows_the_steps_that_are_stored(judge_many, chat_server):
    dry = ("--limit", "2", "--dry-run")
    result, _ = judge_many(*dry, method="g-eval")
    # One reply of steps, and two samples for each of two summaries.
    assert "5 replies to generate, 0 stored" in result.stderr
    assert "1 of these replies are evaluation steps" in result.stderr
    judge_many("--limit", "1", method="g-eval")
    result, _ = judge_many(*dry, method="g-eval")
    assert "2 replies to generate, 3 stored" in result.stderr
    assert "evaluation steps" not in result.stderr
    assert len(chat_server.bodies) == 3


def test_a_recording_of_steps_alone_keeps_no_run_from_going_on(judge_many, chat_server, tmp_path):
    record = tmp_path / "replies.jsonl"
    words = ("--limit", "2", "--record", record, "--concurrency", "1")
    chat_server.faults = {1: (401, {}, {"message": "no"})}
    result, _ = judge_many(*words, method="g-eval")
    assert (result.exit_code, record.read_bytes()) == (2, b"")
    result, rows = judge_many(*words, method="g-eval")
    assert result.exit_code == 0, result.stderr
    assert len(rows) == 2
    steps, *others = (json.loads(line) for line in record.read_text("utf-8").splitlines())
    assert "id" not in steps
    assert [row["id"] for row in others] == ["p0", "p1"]


def test_a_recording_holds_the_replies_beside_one_that_failed(judge_many, chat_server, tmp_path):
    record = tmp_path / "replies.jsonl"
    chat_server.faults = {1: "filter"}
    words = ("--limit", "1", "--concurrency", "1", "--samples", "3")
    result, [row] = judge_many(*words, "--record", record)
    assert result.exit_code == 0, result.stderr
    first, none, last = row["samples"]["op-i.fluency"]
    assert none is None
    assert first
    assert last
    backend = Replay(read_recording(record), name="x")
    subject = Subject("op-i", "fluency", "p0", "s")
    body = chat_server.bodies[0]["messages"]
    messages = tuple(Message(one["role"], one["content"]) for one in body)
    request = Request(messages=messages, indices=(0, 1, 2), subject=subject)
    [replies] = backend.complete([request])
    assert [reply.text for reply in replies] == [
        f"<score>{first:.0f}</score>", "", f"<score>{last:.0f}</score>",
    ]  # fmt: skip
    assert "reply 2 for op-i, fluency, p0, s failed" in str(replies[1].error)


@pytest.mark.parametrize(
    ("method", "words"), [("op-i", ["--systems", "s"]), ("h2h", ["--samples", "1"])]
)
def test_what_failed_is_asked_again_with_overwrite(
    judge_many, chat_server, tmp_path, method, words
):
    source = tmp_path / "two.jsonl"
    texts = {"s": "Warm.", "t": "Hot."}
    rows = [{"id": name, "reviews": [name], "summaries": texts} for name in "pq"]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    if method == "h2h":
        chat_server.text = lambda prompt, seed: "A"
    words += ["--concurrency", "1", "--retries", "0"]
    chat_server.faults = {1: (500, {}, {"message": "oops"})}
    result, rows = judge_many(*words, source=source, method=method)
    told = "--overwrite asks again for replies that failed; the others are stored"
    assert told in result.stderr, result.output
    assert len(chat_server.bodies) == 4
    # Going on keeps the rows as they are, and says so.
    result, same = judge_many(*words, source=source, method=method)
    assert told in result.stderr
    assert (same, len(chat_server.bodies)) == (rows, 4)
    result, rows = judge_many(*words, "--overwrite", source=source, method=method)
    assert "asks again" not in result.stderr
    assert len(chat_server.bodies) == 5
    assert [row["error"] for row in rows] == [None, None]


@pytest.mark.parametrize(
    ("dimension", "cut"), [("d", '{"method": "m"'), ("", '{"method": "m", "id": "1", "sys')]
)
def test_a_recording_goes_on_after_a_line_that_was_cut(tmp_path, dimension, cut):
    path = tmp_path / "replies.jsonl"
    request = Request(messages=(), subject=Subject("m", dimension, "1", "s"))
    for append in (False, True):
        recorder = Recorder(path, append=append)
        recorder.write(request, [Response(index=0, text="ü")])
        recorder.close()
        with path.open("a", encoding="utf-8") as file:
            file.write(cut)
    whole = path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["replies"] for line in whole[:2]] == [["ü"], ["ü"]]
    assert len(whole) == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_a_recording_on_a_full_disk_is_named():
    recorder = Recorder(Path("/dev/full"))
    request = Request(messages=(), subject=Subject("m", "d", "1", "s"))
    with pytest.raises(BackendError, match="/dev/full: No space left on device"):
        recorder.write(request, [Response(index=0, text="x")])
    recorder.close()
