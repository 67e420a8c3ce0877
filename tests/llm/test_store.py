from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import zlib

import pytest

from prevalence.errors import BackendError
from prevalence.llm.backends import BackendOptions
from prevalence.llm.protocol import (
    Message,
    Request,
    Response,
    Sampling,
    Subject,
    request_key,
    sample_seed,
)
from prevalence.llm.spending import DryRun, Prices
from prevalence.llm.store import ReplyStore, StoredBackend

WHOLE = Response(
    index=3, text="é \ud800 <score>4</score>", prompt_tokens=7, completion_tokens=2,
    logprobs={"4": -0.25}, finish="length",
)  # fmt: skip


class Counting:
    """A backend that counts what it is asked."""

    work_unit = 4

    def __init__(self, *, name="a", fails=()):
        self.signature = {"backend": name}
        self.asked = []
        self.fails = fails

    def complete(self, requests, *, keep=None):
        answered = []
        for request in requests:
            responses = []
            for index in request.indices:
                self.asked.append((request.messages[0].content, index))
                error = "no" if self.asked[-1] in self.fails else None
                text = f"{request.messages[0].content} {index}"
                responses.append(Response(index=index, text="" if error else text, error=error))
                if keep is not None and error is None:
                    keep(request, responses[-1])
            answered.append(responses)
        return answered

    def describe(self):
        return ""


def request(prompt, *indices, subject=None):
    return Request(
        messages=(Message("user", prompt),),
        sampling=Sampling(max_tokens=30),
        indices=indices or (0,),
        subject=subject or Subject(),
    )


@pytest.fixture
def store(tmp_path):
    store = ReplyStore(tmp_path)
    yield store
    store.close()


def test_what_is_put_is_what_is_got(store, tmp_path):
    assert store.get("k") is None
    store.put("k", WHOLE)
    assert store.get("k") == WHOLE
    other = ReplyStore(tmp_path)
    assert (other.get("k"), len(other)) == (WHOLE, 1)
    other.close()


def test_the_first_reply_stays_and_errors_are_not_kept(store):
    store.put("k", WHOLE)
    store.put("k", Response(index=3, text="another"))
    store.put("e", Response(index=0, error="no"))
    assert store.get("k") == WHOLE
    assert len(store) == 1


def test_the_first_of_two_processes_counts(store, tmp_path, monkeypatch):
    other = ReplyStore(tmp_path)
    other.put("k", WHOLE)
    # As if the other one had written between the look and the writing.
    monkeypatch.setattr(store, "get", lambda _: None)
    store.put("k", Response(index=3, text="another"))
    assert (other.get("k"), len(other)) == (WHOLE, 1)
    other.close()


def test_a_damaged_entry_is_missing_and_can_be_put_again(store):
    store.put("k", WHOLE)
    with sqlite3.connect(store.path) as db:
        db.execute("UPDATE replies SET value = replace(value, '4', '5')")
    db.close()
    assert store.get("k") is None
    store.put("k", WHOLE)
    assert store.get("k") == WHOLE


def test_a_file_that_is_no_store_is_an_error_that_leaves_it(tmp_path):
    path = tmp_path / "replies-v1.sqlite"
    path.write_bytes(b"precious" * 1000)
    with pytest.raises(BackendError, match="store of replies"):
        ReplyStore(tmp_path)
    assert path.read_bytes() == b"precious" * 1000


def test_only_what_is_missing_is_asked(store):
    first = StoredBackend(Counting(), store)
    first.complete([request("p", 0, 1)])
    again = StoredBackend(Counting(), store)
    [responses] = again.complete([request("p", 0, 1, 2)])
    assert [response.text for response in responses] == ["p 0", "p 1", "p 2"]
    assert again.inner.asked == [("p", 2)]
    assert (again.hits, again.misses) == (2, 1)


def test_another_model_prompt_or_setting_has_replies_of_its_own(store):
    StoredBackend(Counting(), store).complete([request("p")])
    other = StoredBackend(Counting(name="b"), store)
    other.complete([request("p"), request("q")])
    assert other.inner.asked == [("p", 0), ("q", 0)]


def test_samples_of_neighbouring_seeds_are_others():
    # The first 31 bits of BLAKE2b of "0 1".
    assert (sample_seed(0, 0), sample_seed(5, 0), sample_seed(0, 1)) == (0, 5, 221381403)
    assert len({sample_seed(seed, index) for seed in range(20) for index in range(20)}) == 400


def test_of_what_earlier_versions_stored_only_further_samples_are_asked_again():
    asked = Request(messages=(Message("user", "a"),), sampling=Sampling(temperature=1.0))
    # Keys of the time when sample 1 had the seed 0 + 1.
    earlier = ["2af34bdb2d8860270f98591d4e4ab5b5", "965100762a82d2f1cf3c517a92604cf3"]
    found = [request_key({"backend": "a"}, asked, index) for index in (0, 1)]
    assert found[0] == earlier[0]
    assert found[1] != earlier[1]


def test_equal_prompts_share_a_reply_whatever_they_are_about(store):
    backend = StoredBackend(Counting(), store)
    about = [Subject("m", "d", "1", "a"), Subject("m", "d", "2", "a")]
    answered = backend.complete([request("p", 0, 1, subject=one) for one in about])
    assert backend.inner.asked == [("p", 0), ("p", 1)]
    assert answered[0] == answered[1]


def test_an_error_is_asked_again_next_time(store):
    first = StoredBackend(Counting(fails={("p", 1)}), store)
    [responses] = first.complete([request("p", 0, 1)])
    assert [response.error for response in responses] == [None, "no"]
    again = StoredBackend(Counting(), store)
    again.complete([request("p", 0, 1)])
    assert again.inner.asked == [("p", 1)]
    assert again.describe() == "1 reply was stored, 1 was asked for"


def test_every_reply_is_handed_on_once(store):
    StoredBackend(Counting(), store).complete([request("p", 0)])
    kept = []
    StoredBackend(Counting(), store).complete(
        [request("p", 0, 1)], keep=lambda _, response: kept.append(response.text)
    )
    assert sorted(kept) == ["p 0", "p 1"]


def test_a_dry_run_counts_what_is_missing_and_asks_nothing(store):
    StoredBackend(Counting(), store).complete([request("p", 0)])
    counter = DryRun(StoredBackend(Counting(), store))
    [responses, _] = counter.complete([request("p", 0, 1), request("p", 1)])
    assert responses[0].text == "p 0"
    assert "dry run" in responses[1].error
    # One byte is one token (rounded up), and a message takes 8 more; a reply takes at most 30.
    assert (counter.stored, counter.replies) == (1, 1)
    assert (counter.prompt_tokens, counter.completion_tokens) == (9, 30)
    line = counter.describe(Prices(prompt=1e6, completion=2e6))
    assert "1 reply to generate, 1 stored" in line
    assert "69.00" in line
    # Nothing that costs something is free.
    assert "at most about 6.9e-05 at 1 and 2" in counter.describe(Prices(prompt=1, completion=2))


_SCRIPT = """
import sys
from prevalence.llm.backends import BackendOptions, open_backend
from prevalence.llm.protocol import Message, Request
options = BackendOptions(base_url=sys.argv[1], cache=sys.argv[2], concurrency=1)
requests = [Request(messages=(Message("user", str(k)),)) for k in range(30)]
open_backend("openai:tiny", options).complete(requests)
"""


def test_a_killed_run_pays_for_nothing_twice(chat_server, tmp_path):
    pytest.importorskip("openai")
    from prevalence.llm.server import Server

    chat_server.seconds = 0.05
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, chat_server.url, str(tmp_path)], env=environment
    )
    deadline = time.monotonic() + 120
    while len(chat_server.delivered) < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    chat_server.seconds = 0.0
    store = ReplyStore(tmp_path)
    stored = len(store)
    assert 4 <= stored < 30
    inner = Server("tiny", BackendOptions(base_url=chat_server.url))
    backend = StoredBackend(inner, store)
    requests = [Request(messages=(Message("user", str(k)),)) for k in range(30)]
    answered = backend.complete(requests)
    assert [response.text for [response] in answered] == [f"{k} / 0" for k in range(30)]
    assert backend.hits == stored
    # One call was under way when the run was killed; no other was made twice.
    assert sum(chat_server.delivered.values()) <= 31
    assert all(store.get(request_key(inner.signature, one, 0)) for one in requests)
    inner.close()
    store.close()


def test_replies_are_for_the_user_alone(tmp_path):
    store = ReplyStore(tmp_path / "new")
    store.put("k", Response(index=0, text="a"))
    modes = {path.stat().st_mode & 0o777 for path in store.path.parent.glob(f"{store.path.name}*")}
    store.close()
    assert modes == {0o600}


def test_a_reply_of_a_later_version_is_named(store, tmp_path):
    value = json.dumps({"index": 0, "text": "a", "mood": "glad"})
    with sqlite3.connect(store.path) as db:
        check = zlib.crc32(f"k\0{value}".encode())
        db.execute("INSERT INTO replies VALUES (?, ?, ?)", ("k", value, check))
    with pytest.raises(BackendError, match="stored by a later version of prevalence; update it"):
        store.get("k")
