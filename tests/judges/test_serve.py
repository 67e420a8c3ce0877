"""A server that is not ours: ``transformers serve``, against the same tiny model here."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from prevalence.baselines.judges.backends import BackendOptions, open_backend
from prevalence.baselines.judges.protocol import Message, Request, Sampling
from prevalence.baselines.judges.store import ReplyStore, StoredBackend

for package in ("openai", "fastapi", "uvicorn", "accelerate"):
    pytest.importorskip(package)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_until_up(url, process):
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"transformers serve ended with status {process.returncode}")
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail("transformers serve did not come up")


@pytest.fixture
def served(tiny_llama, tmp_path):
    """Address of the server."""
    command = shutil.which("transformers", path=str(Path(sys.executable).parent))
    if command is None:
        pytest.skip("transformers' command is not installed next to this interpreter")
    port = free_port()
    log = (tmp_path / "log").open("wb")
    words = ["serve", str(tiny_llama), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [command, *words, "--device", "cpu", "--dtype", "float32"], stdout=log, stderr=log
    )
    try:
        wait_until_up(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(60)
        log.close()


@pytest.mark.slow
def test_a_served_model_says_what_it_says_here(served, tiny_llama, tmp_path):
    requests = [
        Request(
            messages=(Message("system", "Score."), Message("user", f"The coat is {word}.")),
            sampling=Sampling(max_tokens=8),
        )
        for word in ("warm", "cold", "but the zip breaks")
    ]
    options = BackendOptions(base_url=served, concurrency=2, timeout=300)
    store = ReplyStore(tmp_path)
    server = StoredBackend(open_backend(f"openai:{tiny_llama}", options), store)
    there = server.complete(requests)
    here = open_backend(f"hf:{tiny_llama}", BackendOptions(device="cpu")).complete(requests)
    assert [[r.text for r in one] for one in there] == [[r.text for r in one] for one in here]
    assert [one[0].prompt_tokens for one in there] == [one[0].prompt_tokens for one in here]
    assert server.inner.ledger.usage.calls == 3
    server.complete(requests)
    assert server.inner.ledger.usage.calls == 3
    server.inner.close()
    store.close()
