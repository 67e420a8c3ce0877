from __future__ import annotations

import math
import random
import socket
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from prevalence.errors import BackendError, ConfigurationError
from prevalence.llm.backends import BackendOptions, open_backend
from prevalence.llm.pace import Pace
from prevalence.llm.protocol import Message, Request, Sampling, sample_seed
from prevalence.llm.server import Server
from prevalence.llm.spending import (
    Ledger,
    Prices,
    estimated_tokens,
    most_tokens,
)
from prevalence.llm.store import ReplyStore, StoredBackend
from prevalence.llm.transport import MOST_BYTES

pytest.importorskip("openai")

KEY = "sk-very-secret-0123456789"
FURTHER = [sample_seed(0, index) for index in range(5)]
"""Seeds of the samples of seed 0."""
BUSY = (429, {}, {"message": "slow down", "type": "x", "code": "rate_limit_exceeded"})
BROKEN = (500, {}, {"message": "oops"})


def request(prompt, *, samples=1, answers=(), **sampling):
    return Request(
        messages=(Message("system", "Judge."), Message("user", prompt)),
        sampling=Sampling(**{"temperature": 0.7, **sampling}),
        indices=tuple(range(samples)),
        answers=answers,
    )


def brisk():
    """Delays of milliseconds."""
    return Pace(base=0.001, longest=0.01, random=random.Random(1))


@pytest.fixture
def connect(chat_server, monkeypatch):
    """A function that opens the server's model, with delays of milliseconds."""
    monkeypatch.setenv("JUDGE_KEY", KEY)
    opened = []

    def connect(*, pace=None, **options):
        settings = {"base_url": chat_server.url, "api_key_env": "JUDGE_KEY", **options}
        opened.append(Server("tiny", BackendOptions(**settings), pace=pace or brisk()))
        return opened[-1]

    yield connect
    for server in opened:
        server.close()


def test_each_sample_is_a_call_with_a_seed_of_its_own(chat_server, connect):
    server = connect()
    asked = [request("a", samples=3), request("b", seed=10, top_p=0.9, top_k=5, max_tokens=7)]
    answered = server.complete(asked)
    assert [[r.text for r in responses] for responses in answered] == [
        ["a / 0", f"a / {FURTHER[1]}", f"a / {FURTHER[2]}"],
        ["b / 10"],
    ]
    assert [response.index for response in answered[0]] == [0, 1, 2]
    assert (answered[0][0].prompt_tokens, answered[0][0].completion_tokens) == (10, 3)
    body = next(body for body in chat_server.bodies if body["messages"][1]["content"] == "b")
    assert body == {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "Judge."},
            {"role": "user", "content": "b"},
        ],
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 5,
        "max_tokens": 7,
        "seed": 10,
    }
    assert set(chat_server.keys) == {f"Bearer {KEY}"}
    assert server.ledger.usage == (4, 40, 12, 0)


def test_no_more_calls_are_open_than_allowed(chat_server, connect):
    chat_server.seconds = 0.02
    connect(concurrency=3).complete([request(str(k)) for k in range(12)])
    assert 1 < chat_server.most_open <= 3


@pytest.mark.parametrize(
    "fault", [BUSY, BROKEN, "malformed", "no choices", "html", "cut", "hang up", "slow"]
)
def test_a_fault_neither_loses_nor_duplicates(chat_server, connect, fault):
    # The first call gives a connection that the later ones may find closed.
    chat_server.faults = {1: fault, 3: fault}
    kept = []
    server = connect(timeout=0.4, concurrency=2)
    answered = server.complete(
        [request(str(k), samples=2) for k in range(4)],
        keep=lambda request, response: kept.append((request.messages[1].content, response.index)),
    )
    assert [[r.text for r in responses] for responses in answered] == [
        [f"{k} / 0", f"{k} / {FURTHER[1]}"] for k in range(4)
    ]
    assert sorted(kept) == [(str(k), i) for k in range(4) for i in range(2)]
    assert set(chat_server.delivered.values()) == {1}
    assert len(chat_server.delivered) == 8
    assert len(chat_server.bodies) == 10
    assert server.ledger.usage.calls == 10


def test_many_faults_at_random(chat_server, connect):
    draw = random.Random(5)
    faults = [BUSY, BROKEN, "malformed", "cut", "hang up", None, None, None]
    chat_server.faults = lambda body: draw.choice(faults)
    answered = connect(retries=40, concurrency=6).complete(
        [request(str(k), samples=5) for k in range(12)]
    )
    assert [r.text for responses in answered for r in responses] == [
        f"{k} / {seed}" for k in range(12) for seed in FURTHER
    ]
    assert set(chat_server.delivered.values()) == {1}


def test_a_lasting_fault_is_the_error_of_its_own_reply(chat_server, connect):
    chat_server.faults = lambda body: BROKEN if body["messages"][1]["content"] == "b" else None
    kept = []
    answered = connect(retries=2).complete(
        [request("a"), request("b"), request("c")], keep=lambda *pair: kept.append(pair)
    )
    assert [responses[0].text for responses in answered] == ["a / 0", "", "c / 0"]
    assert answered[1][0].error.startswith("status 500: ")
    assert len(kept) == 2
    assert sum(body["messages"][1]["content"] == "b" for body in chat_server.bodies) == 3


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ((400, {}, {"message": "context too long"}), "status 400: "),
        ("null", "no text"),
        ("filter", "withheld"),
    ],
)
def test_what_asking_again_cannot_change_is_asked_once(chat_server, connect, fault, said):
    chat_server.faults = {0: fault}
    [[response]] = connect().complete([request("a")])
    assert said in response.error
    assert len(chat_server.bodies) == 1


@pytest.mark.parametrize("status", [400, 404, 422, 500])
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"detail": "prompt\\n too long"}', "prompt too long"),
        ('{"error": "prompt too long"}', "prompt too long"),
        ('[{"error": {"code": 400, "message": "too long"}}]', "too long"),
        (
            '{"detail": [{"loc": ["body", "n"], "msg": "not 2"}, {"msg": "no"}]}',
            "body.n: not 2; no",
        ),
        ('{"reason": "too long"}', '{"reason": "too long"}'),
        ("prompt too long, use <8k\n", "prompt too long, use <8k"),
        ("<html><title> Not\n here </title><p>nginx</p></html>", "Not here"),
        ("<!DOCTYPE html><title></title>\n<h1>Bad &amp; gone</h1>", "Bad & gone"),
        ("x" * 999, "x" * 200),
    ],
)
def test_what_a_server_says_is_shown_in_whatever_shape(chat_server, connect, status, body, said):
    chat_server.faults = lambda _: (status, {}, body)
    try:
        line = connect(retries=0).complete([request("a")])[0][0].error
    except BackendError as error:
        line = str(error)
    assert line.split("status ")[1] in (f"{status}: {said}", f"404 for model 'tiny': {said}")


@pytest.mark.parametrize(
    "body",
    ['{{"detail": "bad key {}"}}', '[{{"error": {{"message": "{}"}}}}]', '{{"why": "{}"}}',
     "{}", "<p>bad<b>{}</b></p>", "<title>bad {}</title>"],
)  # fmt: skip
@pytest.mark.parametrize("status", [200, 400, 404])
def test_a_key_is_shown_in_no_shape(chat_server, connect, body, status):
    for key in (KEY, f"{KEY[:7]}****{KEY[-4:]}"):
        chat_server.faults = lambda _, key=key: (status, {}, body.format(key))
        try:
            line = str(connect(retries=0).complete([request("a")]))
        except BackendError as error:
            line = str(error)
        # Not in the address, whose port may be any.
        assert KEY[-4:] not in line.replace(chat_server.url, "")
        assert KEY not in line


def test_an_error_in_place_of_a_reply_is_asked_again_and_told(chat_server, connect):
    body = '{"error": {"message": "over capacity", "code": 503}}'
    chat_server.faults = lambda _: (200, {}, body)
    ((response,),) = connect(retries=1).complete([request("a")])
    assert response.error == "the server's reply has no choices: over capacity"
    assert len(chat_server.bodies) == 2


@pytest.mark.parametrize(
    "fault",
    [
        (401, {}, {"message": f"Incorrect API key provided: {KEY}"}),
        (403, {}, {"message": f"no access with {KEY}"}),
        (404, {}, {"message": "no such model"}),
        (429, {}, {"message": "pay", "code": "insufficient_quota"}),
        (429, {"retry-after": "7200"}, {"message": "tomorrow"}),
    ],
)
def test_what_no_call_can_change_ends_the_run_without_showing_the_key(chat_server, connect, fault):
    chat_server.faults = lambda body: fault
    with pytest.raises(BackendError) as caught:
        connect(concurrency=1).complete([request(str(k)) for k in range(20)])
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert len(chat_server.bodies) == 1


def test_a_refused_key_is_told_with_what_the_server_says(chat_server, connect):
    masked = f"{KEY[:7]}****{KEY[-4:]}"
    said = (
        f"Incorrect API key: {masked} (ends in ...{KEY[-4:]}).\nFind it at example.org. "
        + "x" * 300
    )
    chat_server.faults = lambda body: (401, {}, {"message": said})
    with pytest.raises(BackendError) as caught:
        connect().complete([request("a")])
    line = str(caught.value)
    assert "for model 'tiny': Incorrect API key: *** (ends in *** Find it at example.org. x" in line
    assert line.endswith(
        "; set the right key, or name another environment variable with --api-key-env"
    )
    assert "\n" not in line
    assert len(line) < 400
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY[:7] not in shown
    assert KEY[-4:] not in shown


@pytest.mark.parametrize("status", [400, 403, 404, 429])
def test_no_part_of_the_key_is_told_whatever_the_status(chat_server, connect, status):
    said = f"This project has no access with {KEY[:7]}****{KEY[-4:]} ({KEY[-4:]}) to **models**."
    chat_server.faults = lambda body: (status, {}, {"message": said})
    try:
        line = str(connect(retries=0).complete([request("a")]))
    except BackendError as error:
        line = str(error)
    assert "This project has no access with *** *** to **models**." in line
    assert KEY[-4:] not in line.replace(chat_server.url, "")


def test_a_server_that_is_down_is_named(connect):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(BackendError) as caught:
        connect(base_url=url, retries=0).complete([request("a")])
    assert str(caught.value) == (
        f"{url}: Connection refused; start the server, or give its address as --base-url"
    )


KEPT_OUT = r"sk\very-secret/+1=="


@pytest.mark.parametrize("fault", [403, 307, 400, "finish"])
def test_a_key_is_shown_in_no_form(chat_server, connect, monkeypatch, fault):
    monkeypatch.setenv("JUDGE_KEY", f" {KEPT_OUT}\r\n")
    forms = [KEPT_OUT, quote(KEPT_OUT, safe=""), quote(KEPT_OUT)]
    server = connect(concurrency=1)
    for text in forms:
        if fault == "finish":
            chat_server.completion = lambda body, text=text: (
                {"choices": [{"message": {"content": None}, "finish_reason": text}]}, []
            )  # fmt: skip
        else:
            chat_server.faults = lambda _, text=text: (
                fault, {"location": text} if fault == 307 else {}, {"message": text}
            )  # fmt: skip
        try:
            ((response,),) = server.complete([request("a")])
            shown = str(response.error)
        except BackendError as error:
            shown = "".join(traceback.format_exception(error))
        assert "***" in shown
        assert "secret" not in shown
    assert set(chat_server.keys) == {f"Bearer {KEPT_OUT}"}


@pytest.mark.parametrize("key", ["sk-\u00e9-secret", "sk secret", "sk\r-secret", "sk-\x01-secret"])
def test_what_is_no_key_is_refused_by_the_name_of_its_variable(connect, monkeypatch, key):
    monkeypatch.setenv("JUDGE_KEY", key)
    with pytest.raises(ConfigurationError, match="JUDGE_KEY") as caught:
        connect()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"), [("OPENAI_ORG_ID", "org-\u00e9"), ("OPENAI_PROJECT_ID", "secret\r")]
)
def test_a_header_that_cannot_be_sent_is_not_shown(connect, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    monkeypatch.setattr("prevalence.llm.server.is_openai", lambda _: True)
    with pytest.raises(BackendError, match=name) as caught:
        connect().complete([request("a")])
    assert value[:5] not in "".join(traceback.format_exception(caught.value))


def test_replies_before_the_end_are_kept(chat_server, connect):
    chat_server.faults = {3: (403, {}, {"message": "gone"})}
    kept = []
    with pytest.raises(BackendError):
        connect(concurrency=1).complete(
            [request(str(k)) for k in range(9)], keep=lambda _, r: kept.append(r.text)
        )
    assert kept == ["0 / 0", "1 / 0", "2 / 0"]


def test_no_server_at_all(chat_server, connect):
    server = connect(retries=1, base_url="http://127.0.0.1:9/v1")
    with pytest.raises(BackendError, match=r"127\.0\.0\.1:9"):
        server.complete([request("a")])


def test_several_samples_of_one_call_and_a_server_that_gives_fewer(chat_server, connect):
    chat_server.most_choices = 2
    server = connect(samples_per_call=5)
    [responses] = server.complete([request("a", samples=5)])
    # The samples of a call share its seed; the stand-in counts on from it.
    seeds = [0, 1, FURTHER[2], FURTHER[2] + 1, FURTHER[4]]
    assert [response.text for response in responses] == [f"a / {seed}" for seed in seeds]
    assert [body.get("n", 1) for body in chat_server.bodies] == [5, 3, 1]
    # What was charged is what the responses add up to.
    assert sum(response.prompt_tokens for response in responses) == 30
    assert sum(response.completion_tokens for response in responses) == 15


def test_replies_of_calls_of_several_are_no_replies_of_single_calls(connect, tmp_path):
    store = ReplyStore(tmp_path)
    several, single = connect(samples_per_call=5), connect()
    StoredBackend(several, store).complete([request("a", samples=2)])
    stored = StoredBackend(single, store)
    (responses,) = stored.complete([request("a", samples=2)])
    assert (stored.hits, stored.misses) == (0, 2)
    assert [response.text for response in responses] == ["a / 0", f"a / {FURTHER[1]}"]
    assert several.signature == {**single.signature, "samples-per-call": "5"}
    store.close()


def test_another_address_is_asked_anew(connect, chat_server, tmp_path):
    # It may serve other weights under the same name.
    store = ReplyStore(tmp_path)
    for url, stored in ((chat_server.url, 0), (chat_server.url, 1), (f"{chat_server.url}/b", 0)):
        backend = StoredBackend(connect(base_url=url), store)
        backend.complete([request("a")])
        assert (backend.hits, backend.misses) == (stored, 1 - stored)
    store.close()


def test_log_probabilities_of_answers(chat_server, connect):
    [[response]] = connect().complete([request("a", answers=("4", "5", "1"))])
    assert response.logprobs == pytest.approx(
        {"4": math.log(math.exp(-0.5) + math.exp(-1.5)), "5": -2.0}
    )
    body = chat_server.bodies[0]
    assert (body["logprobs"], body["top_logprobs"]) == (True, 20)
    assert (body["temperature"], body["max_tokens"]) == (1.0, 1)


def test_what_holds_no_answer_is_not_stored_and_asked_again(chat_server, connect, tmp_path):
    silent = True
    usual = chat_server.completion

    def completion(body):
        reply, delivered = usual(body)
        if silent:
            for choice in reply["choices"]:
                choice.pop("logprobs", None)
                choice["message"]["content"] = ""
        return reply, delivered

    chat_server.completion = completion
    store = ReplyStore(tmp_path)
    asked = [request("a"), request("b", answers=("4", "5"))]
    first = StoredBackend(connect(), store).complete(asked)
    assert all(response.error for (response,) in first)
    assert len(store) == 0
    silent = False
    (text,), (odds,) = StoredBackend(connect(), store).complete(asked)
    assert (text.error, text.text) == (None, "a / 0")
    assert set(odds.logprobs) == {"4", "5"}
    assert len(store) == 2
    store.close()


def test_the_budget_is_never_passed(chat_server, connect):
    # A reply costs (10 + 3) / 1e6 × 1e6 = 13; a prompt of 6 + 1 bytes is 7 + 16 + 64 = 87 tokens at
    # most, so that a call reserves 87 + 20 = 107: calls begin while 13 k + 107 ≤ 160, k = 0 … 4.
    server = connect(price_in=1e6, price_out=1e6, budget=160, concurrency=1)
    kept = []
    with pytest.raises(BackendError, match="budget of 160"):
        server.complete(
            [request(str(k), max_tokens=20) for k in range(9)], keep=lambda _, r: kept.append(r)
        )
    assert len(kept) == 5
    assert server.ledger.spent == 65


def test_a_call_that_may_have_been_charged_counts_against_the_budget(chat_server, connect):
    # 10 tokens for each of two replies, and 87 reserved for the prompt of the malformed one.
    chat_server.faults = {1: "malformed"}
    server = connect(price_in=1e6, price_out=0, budget=1000)
    server.complete([request("0"), request("1")])
    assert server.ledger.spent == 87 + 20
    assert server.ledger.usage.unsure_tokens == 87 + 1024


def test_reservations_of_others_are_waited_for(chat_server, connect):
    # A call reserves 107 and costs 13: side by side the budget has room for two, and all twelve
    # cost 156, so that the last begins at 143 + 107 = 250 and not before others have settled.
    chat_server.seconds = 0.01
    server = connect(price_in=1e6, price_out=1e6, budget=250, concurrency=6)
    answered = server.complete([request(f"{k:x}", max_tokens=20) for k in range(12)])
    assert [responses[0].error for responses in answered] == [None] * 12
    assert chat_server.most_open <= 2
    assert server.ledger.spent == 156


def test_a_budget_that_is_used_up_ends_no_call_under_way():
    ledger = Ledger(Prices(prompt=1e6), budget=100)
    first = ledger.reserve(50, 0)
    with ThreadPoolExecutor(1) as pool:
        # Whatever the first call costs, the budget has no room for this one.
        refused = pool.submit(ledger.reserve, 200, 0)
        with pytest.raises(TimeoutError):
            refused.result(timeout=0.05)
        ledger.settle(first, 10, 0)
        with pytest.raises(BackendError, match="budget of 100 is used up: 10 is spent"):
            refused.result(timeout=5)


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_no_order_of_calls_passes_the_budget(chat_server, connect, workers):
    # A server that reads and writes as much as it may: every byte a token, every reply the longest.
    chat_server.completion = lambda body: (
        {
            "choices": [{"message": {"content": "x"}}],
            "usage": {
                "prompt_tokens": sum(len(m["content"].encode()) for m in body["messages"]),
                "completion_tokens": body["max_tokens"],
            },
        },
        [],
    )
    draw = random.Random(workers)
    chat_server.faults = lambda body: draw.choice([None, None, BROKEN, "malformed"])
    server = connect(price_in=1e6, price_out=2e6, budget=3000, concurrency=workers, retries=50)
    with pytest.raises(BackendError, match="budget of 3000"):
        server.complete([request("漢字" * (k % 7), max_tokens=20) for k in range(60)])
    usage = server.ledger.usage
    charged = usage.prompt_tokens + 2 * usage.completion_tokens
    assert 0 < charged <= server.ledger.spent <= 3000


def test_what_waits_when_the_run_ends_is_not_sent(chat_server, connect):
    pace = brisk()
    pace.wait = pace.stop
    server = connect(pace=pace, concurrency=1)
    [[response]] = server.complete([request("a")])
    assert response.error == "the run was stopped"
    assert (chat_server.bodies, server.ledger.usage.calls) == ([], 0)


@pytest.mark.parametrize("options", [{"budget": 1.0}, {"budget": -1.0, "prices": Prices(prompt=1)}])
def test_budgets_that_mean_nothing(options):
    with pytest.raises(ConfigurationError, match="--budget"):
        Ledger(options.get("prices"), budget=options["budget"])


def test_estimates_count_bytes():
    # 6 bytes → 2, 2 bytes → 1, 7 bytes → 3, and 8 a message.
    assert estimated_tokens(request("é")) == 2 + 1 + 16
    assert estimated_tokens(request("seven b")) == 2 + 3 + 16
    assert most_tokens(request("é")) == 6 + 2 + 16 + 64


def test_a_key_is_needed_away_from_this_machine(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        open_backend("openai:gpt")


def test_the_key_of_openai_goes_to_no_one_else(chat_server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("JUDGE_KEY", KEY)
    for url in ("https://example.org/v1", "https://api.openai.com.example.org/v1"):
        with pytest.raises(ConfigurationError, match="--api-key-env NAME"):
            open_backend("openai:gpt", BackendOptions(base_url=url))
        open_backend("openai:gpt", BackendOptions(base_url=url, api_key_env="JUDGE_KEY")).close()
    for url in ("http://example.org/v1", "http://api.openai.com/v1"):
        with pytest.raises(ConfigurationError, match="unencrypted"):
            open_backend("openai:gpt", BackendOptions(base_url=url, api_key_env="JUDGE_KEY"))
    open_backend("openai:gpt").close()
    server = open_backend("openai:tiny", BackendOptions(base_url=chat_server.url))
    server.complete([request("a")])
    assert chat_server.keys == ["Bearer none"]
    server.close()


@pytest.mark.parametrize(
    "url",
    [
        "",
        " ",
        "ftp://x/v1",
        "127.0.0.1:80",
        "https://u:p@x/v1",
        "https://x?a=b",
        "http://[x/v1",
        "https://x:99999/v1",
        "https://u:secret/1@x/v1",
    ],
)
def test_bad_addresses(url):
    with pytest.raises(ConfigurationError, match="--base-url") as caught:
        open_backend("openai:gpt", BackendOptions(base_url=url))
    assert "secret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "options",
    [{"concurrency": 0}, {"retries": -1}, {"timeout": 0}, {"samples_per_call": 0},
     {"max_tokens_field": "limit"}],
)  # fmt: skip
def test_bad_options(options):
    with pytest.raises(ConfigurationError):
        BackendOptions(**options)


def test_a_hold_lasts_from_one_unit_of_work_to_the_next(chat_server, connect):
    connect()
    server = Server("tiny", BackendOptions(base_url=chat_server.url, api_key_env="JUDGE_KEY"))
    chat_server.headers |= {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "300ms",
    }
    server.complete([request("a")])
    start = time.monotonic()
    [[response]] = server.complete([request("b")])
    server.close()
    assert response.text == "b / 0"
    assert time.monotonic() - start > 0.15


def test_no_proxy_reads_what_is_for_this_machine(chat_server, connect, monkeypatch):
    for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    [[response]] = connect(retries=0).complete([request("a")])
    assert response.text == "a / 0"
    assert len(chat_server.bodies) == 1


@pytest.mark.parametrize("own", [False, True])
def test_a_server_is_told_nothing_but_the_prompt(chat_server, connect, monkeypatch, own):
    said = {
        "OPENAI_ORG_ID": "org-1",
        "OPENAI_PROJECT_ID": "proj-1",
        "OPENAI_CUSTOM_HEADERS": "X-Account: acc-1\nUser-Agent: acc-1\nAccept: acc-1",
        "OPENAI_ADMIN_KEY": "adm-1",
    }
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    if own:
        monkeypatch.setattr("prevalence.llm.server.is_openai", lambda _: True)
    (((response,),)) = connect().complete([request("a")])
    assert response.error is None
    told = {name.lower(): value for name, value in chat_server.told[0].items()}
    assert told["authorization"] == f"Bearer {KEY}"
    assert ("org-1" in told.values()) == ("proj-1" in told.values()) == own
    assert "adm-1" not in str(told)
    assert ("acc-1" in str(told)) == own
    if not own:
        assert set(told) <= {
            "accept", "accept-encoding", "authorization", "connection", "content-length",
            "content-type", "host", "user-agent",
        }  # fmt: skip


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed(chat_server, connect, status):
    other = "http://127.0.0.1:9/v1\x1b[31m/chat"
    chat_server.faults = lambda _: (status, {"Location": other}, {"message": "moved"})
    with pytest.raises(BackendError, match=r"redirects to http://127.0.0.1:9/v1.*--base-url"):
        connect().complete([request("a")])
    assert len(chat_server.bodies) == 1


@pytest.mark.parametrize(
    ("fault", "said"),
    [("endless", "longer than 8 MiB"), ("endless error", "longer than 8 MiB"),
     ("gzip", "compressed, which was not asked for")],
)  # fmt: skip
def test_a_reply_fills_no_memory(chat_server, connect, fault, said):
    chat_server.faults = lambda body: fault if "a" in body["messages"][-1]["content"] else None
    (bad,), (good,) = connect(retries=1).complete([request("a"), request("b")])
    assert said in bad.error
    assert good.error is None
    assert len(chat_server.bodies) == 3
    assert chat_server.written < 4 * (MOST_BYTES + (1 << 20))


@pytest.mark.parametrize("fault", ["drip", "drip headers", "silent"])
def test_a_call_ends_in_time_whatever_drips(chat_server, connect, fault):
    chat_server.faults = lambda _: fault
    ((response,),) = connect(retries=1, timeout=0.4).complete([request("a")])
    assert response.error == "no reply within 0.4 s"
    assert len(chat_server.bodies) == 2


def test_a_stopped_run_does_not_wait_for_a_call_that_hangs(chat_server, connect, monkeypatch):
    monkeypatch.setattr("prevalence.llm.transport.GRACE", 0.2)
    chat_server.faults = {1: "silent"}
    pace, kept = brisk(), []

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("prevalence.llm.server.wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        connect(pace=pace, concurrency=2).complete(
            [request("a"), request("b")], keep=lambda *found: kept.append(found)
        )
    assert pace.stopped
    assert len(kept) == 1


NOTHING_LEFT = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "150ms"}


@pytest.mark.parametrize(
    "fault",
    [
        (429, {"retry-after-ms": "150"}, {"message": "wait"}),
        (429, NOTHING_LEFT, {"message": "wait"}),
        (503, NOTHING_LEFT, {"message": "wait"}),
    ],
)
def test_a_server_that_asks_to_wait_is_not_asked_before(chat_server, connect, fault):
    chat_server.faults = {0: fault}
    held, pace = [], Pace(base=0.001, longest=1, random=random.Random(1))
    server = connect(pace=pace, concurrency=1)
    hold = pace.hold
    pace.hold = lambda seconds: (held.append(seconds), hold(seconds))
    assert server.complete([request("a")])[0][0].text == "a / 0"
    assert held == [0.15]
