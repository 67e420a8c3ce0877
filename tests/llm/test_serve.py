"""Every method, here and on a server that is not ours: ``transformers serve`` on the loopback."""

from __future__ import annotations

import json
import math
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from prevalence.baselines.judges.packs import method_names
from prevalence.baselines.judges.parsers import (
    read_choice,
    read_plain,
    read_star_count,
    read_table,
    read_tag,
    read_verdict,
)
from prevalence.llm.backends import BackendOptions, open_backend
from prevalence.llm.protocol import Message, Request, Sampling
from prevalence.llm.store import ReplyStore, StoredBackend

for package in ("openai", "fastapi", "uvicorn", "accelerate"):
    pytest.importorskip(package)

TITLES = {
    "aspect_relevance": "Aspect relevance", "self_coherence": "Self-coherence",
    "sentiment_consistency": "Sentiment consistency", "readability": "Readability",
}  # fmt: skip
READERS = {"mcq": read_choice, "mcq2": read_choice, "rts": read_plain, "rts2": read_plain,
           "star": read_star_count}  # fmt: skip
FAULTS = ("unparsable", "several", "out_of_range", "failed")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_until_up(url, process):
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"transformers serve ended with status {process.returncode}")
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail("transformers serve did not come up")


@pytest.fixture(scope="module")
def served(judge_folder, tmp_path_factory):
    """Address of the server."""
    command = shutil.which("transformers", path=str(Path(sys.executable).parent))
    if command is None:
        pytest.skip("transformers' command is not installed next to this interpreter")
    port = free_port()
    log = (tmp_path_factory.mktemp("serve") / "log").open("wb")
    words = ["serve", str(judge_folder), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [command, *words, "--device", "cpu", "--dtype", "float32"], stdout=log, stderr=log,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    try:
        wait_until_up(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(60)
        log.close()


@pytest.fixture(params=["hf", "openai"])
def backend(request, judge_folder):
    """Words of the command line that choose the model in this process, and then on the server."""
    if request.param == "hf":
        return ["--backend", f"hf:{judge_folder}", "--device", "cpu"]
    url = request.getfixturevalue("served")
    # One call at a time: the server seeds its one generator at the beginning of each.
    return ["--backend", f"openai:{judge_folder}", "--base-url", url, "--concurrency", "1"]


def recorded(path):
    """Replies by dimension, system and other system."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    keys = ("dimension", "system", "other")
    return {tuple(row.get(key, "") for key in keys): row["replies"] for row in rows if "id" in row}


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in method_names() if name != "h2h"])
def test_every_method_end_to_end(judged, backend, method, tmp_path):
    dimension = "all" if method == "chatgpt-4d" else "fluency"
    result, rows = judged(
        "--method", method, "--dimensions", dimension, *backend, "--samples", "4",
        "--temperature", "1", "--max-tokens", "16", "--record", tmp_path / "replies.jsonl",
    )  # fmt: skip
    assert "Traceback" not in result.output
    replies = recorded(tmp_path / "replies.jsonl")
    assert [row["system"] for row in rows] == ["one", "two"]
    keys = list(TITLES) if method == "chatgpt-4d" else ["fluency"]
    known = []
    for row in rows:
        assert f"judge:{method}@" in row["signature"]
        assert "|form:samples|parser:strict|n:4|temp:1|" in row["signature"]
        assert set(row["metrics"]) == {f"{method}.{key}" for key in keys}
        for key in keys:
            said = replies["" if method == "chatgpt-4d" else key, row["system"], ""]
            if method == "chatgpt-4d":
                read = [read_table(text, [TITLES[key]])[0] for text in said]
            else:
                read = [READERS.get(method, read_tag)(text) for text in said]
            samples = row["samples"][f"{method}.{key}"]
            report = row["judge"][f"{method}.{key}"]
            assert samples == [one.value for one in read]
            assert (len(said), report["asked"], report["failed"]) == (4, 4, 0)
            assert report["read"] == sum(value is not None for value in samples)
            assert report["read"] + sum(report[name] for name in FAULTS) == 4
            assert report["distinct"] == len(set(said))
            found = [value for value in samples if value is not None]
            mean = math.fsum(found) / len(found) if found else None
            assert row["metrics"][f"{method}.{key}"] == mean
            known += found
    assert known
    assert all(row["error"] is None for row in rows) == (result.exit_code == 0)


def test_head_to_head_end_to_end(judged, backend, tmp_path):
    _, rows = judged(
        "--method", "h2h", "--dimensions", "fluency,coherence", *backend, "--temperature", "1",
        "--max-tokens", "16", "--record", tmp_path / "replies.jsonl",
    )  # fmt: skip
    said = recorded(tmp_path / "replies.jsonl")
    assert [(row["a"], row["b"], row["dimension"]) for row in rows] == [
        ("one", "two", "fluency"), ("one", "two", "coherence"),
    ]  # fmt: skip
    back = {1: 2, 2: 1, 0: 0, None: None}
    for row in rows:
        [first], [second] = (said[row["dimension"], *pair] for pair in
                             (("one", "two"), ("two", "one")))  # fmt: skip
        assert row["verdict_ab"] == read_verdict(first).value
        assert row["verdict_ba"] == back[read_verdict(second).value]
        assert (row["error"] is None) == (None not in (row["verdict_ab"], row["verdict_ba"]))


def test_a_server_without_log_probabilities_gives_no_values(judged, judge_folder, served):
    result, rows = judged(
        "--method", "mcq", "--dimensions", "fluency", "--form", "probabilities",
        "--backend", f"openai:{judge_folder}", "--base-url", served,
    )  # fmt: skip
    assert result.exit_code == 2
    for row in rows:
        assert set(row["metrics"].values()) == {None}
        assert "gives no log-probabilities" in row["error"]


def test_a_served_model_says_what_it_says_here(served, judge_folder, tmp_path):
    requests = [
        Request(
            messages=(Message("system", "Score."), Message("user", f"The coat is {word}.")),
            sampling=Sampling(max_tokens=8),
        )
        for word in ("warm", "cold", "but the zip breaks")
    ]
    options = BackendOptions(base_url=served, concurrency=2, timeout=300)
    store = ReplyStore(tmp_path)
    server = StoredBackend(open_backend(f"openai:{judge_folder}", options), store)
    there = server.complete(requests)
    here = open_backend(f"hf:{judge_folder}", BackendOptions(device="cpu")).complete(requests)
    assert [[r.text for r in one] for one in there] == [[r.text for r in one] for one in here]
    assert [one[0].prompt_tokens for one in there] == [one[0].prompt_tokens for one in here]
    assert server.inner.ledger.usage.calls == 3
    server.complete(requests)
    assert server.inner.ledger.usage.calls == 3
    assert server.describe().startswith("3 replies were stored, 3 were asked for: 3 calls, ")
    server.inner.close()
    store.close()
