from __future__ import annotations

import gzip
import json
import threading
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class ChatServer:
    """A small OpenAI-compatible server on the loopback, which can be told to misbehave.

    ``faults`` holds, for a call's number (0, 1, ...), the fault that it suffers; a callable decides
    by itself. A reply is a function of the last message and the seed, so that a mix-up shows.
    """

    def __init__(self):
        self.faults = {}
        self.bodies = []
        self.keys = []
        self.told = []
        self.written = 0
        self.over = threading.Event()
        self.delivered = Counter()
        self.open = self.most_open = 0
        self.seconds = 0.0
        self.headers = {"Content-Type": "application/json"}
        self.most_choices = 99
        self.lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                data = self.rfile.read(int(self.headers["Content-Length"]))
                server.answer(self, json.loads(data))

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"

    @staticmethod
    def text(prompt, seed):
        return f"{prompt} / {seed}"

    def answer(self, handler, body):
        with self.lock:
            number = len(self.bodies)
            self.bodies.append(body)
            self.keys.append(handler.headers["Authorization"])
            self.told.append(dict(handler.headers))
            self.open += 1
            self.most_open = max(self.open, self.most_open)
            fault = self.faults(body) if callable(self.faults) else self.faults.get(number)
        try:
            time.sleep(self.seconds)
            self.respond(handler, body, fault)
        finally:
            with self.lock:
                self.open -= 1

    def respond(self, handler, body, fault):
        reply, delivered = self.completion(body)
        status, headers, data = 200, dict(self.headers), json.dumps(reply).encode()
        declared = len(data)
        if fault is None:
            with self.lock:
                self.delivered.update(delivered)
        elif fault == "hang up":
            handler.close_connection = True
            return
        elif fault == "slow":
            time.sleep(0.8)
        elif fault in ("silent", "drip", "drip headers", "endless", "endless error", "gzip"):
            handler.close_connection = True
            with suppress(OSError):
                self.torment(handler, fault)
            return
        elif fault == "cut":
            data, handler.close_connection = data[: len(data) // 2], True
        else:
            status, headers, data = self.spoilt(reply, fault)
            declared = len(data)
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(declared)}.items():
            handler.send_header(name, value)
        handler.end_headers()
        with suppress(OSError):
            handler.wfile.write(data)
            handler.wfile.flush()

    def torment(self, handler, fault):
        """Say nothing, or a byte now and then, or more than anyone wants, until closed."""
        head = b"HTTP/1.1 500 No\r\n" if fault == "endless error" else b"HTTP/1.1 200 OK\r\n"
        if fault == "gzip":
            data = gzip.compress(
                json.dumps(self.completion({"messages": [{"content": "a"}]})[0]).encode()
            )
            head += b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(data)
            handler.wfile.write(head + data)
            return
        if fault != "silent":
            handler.wfile.write(head if fault == "drip headers" else head + b"\r\n")
        pause = 0 if fault.startswith("endless") else 0.05
        while not self.over.wait(pause):
            part = {"silent": b"", "drip headers": b"X: y\r\n", "drip": b" "}.get(
                fault, b" " * 65536
            )
            handler.wfile.write(part)
            self.written += len(part)

    def completion(self, body):
        """A reply, and the (prompt, seed) pairs that it delivers."""
        prompt, seed = body["messages"][-1]["content"], body.get("seed", 0)
        delivered = [(prompt, seed + k) for k in range(min(body.get("n", 1), self.most_choices))]
        choices = [
            {"index": k, "finish_reason": "stop", "message": {"content": self.text(*pair)}}
            for k, pair in enumerate(delivered)
        ]
        if body.get("logprobs"):
            top = [("4", -0.5), (" 4", -1.5), ("5", -2.0), ("great", -3.0)]
            entries = [{"token": token, "logprob": value} for token, value in top]
            choices[0]["logprobs"] = {"content": [{**entries[0], "top_logprobs": entries}]}
        usage = {"prompt_tokens": 10, "completion_tokens": 3 * len(choices)}
        return {"id": "x", "choices": choices, "usage": usage}, delivered

    def spoilt(self, reply, fault):
        """Status, headers and data of a reply that is not what it should be."""
        if isinstance(fault, tuple):
            status, headers, error = fault
            whole = error if isinstance(error, str) else json.dumps({"error": error})
            return status, headers, whole.encode()
        if fault == "null":
            reply["choices"][0]["message"]["content"] = None
        elif fault == "filter":
            reply["choices"][0]["finish_reason"] = "content_filter"
        elif fault == "no choices":
            reply["choices"] = []
        data = json.dumps(reply).encode()
        spoilt = {"malformed": data[:-20], "html": b"<html>Bad gateway</html>"}
        return 200, {"Content-Type": "application/json"}, spoilt.get(fault, data)

    def close(self):
        self.over.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def chat_server():
    server = ChatServer()
    yield server
    server.close()


WORDS = (
    "The reviews praise the warm coat but the zip breaks . Score 1 2 3 4 5 assistant user system"
)
TEMPLATE = (
    "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% endif %}"
)


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory):
    """Checkpoint folder: an untrained Llama of two layers with a byte-level tokenizer."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny-llama")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<s>", "</s>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    tokenizer.train_from_iterator([WORDS] * 3, trainer)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", chat_template=TEMPLATE,
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(7)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=tokenizer.get_vocab_size(), hidden_size=32, intermediate_size=48,
            num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            max_position_embeddings=256, bos_token_id=0, eos_token_id=1, initializer_range=0.4,
        )
    )  # fmt: skip
    model.save_pretrained(folder)
    return folder


REPLIES = [
    f"Answer: {letter}. I give it {k} stars. <score>{k}</score>\nReadability: {k}"
    for k, letter in enumerate("ABCDE", start=1)
]
"""Replies that every parser of grades can read; the model below has a token for each."""


@pytest.fixture(scope="session")
def judge_folder(tmp_path_factory):
    """Checkpoint folder: a small Llama that answers like a judge, and reads long prompts.

    Its first dimension says that a reply begins, its second that it ends, and its output weights
    turn them into grades of every kind, a refusal, and the end token. All else is random, so that
    the probabilities of the grades depend on the prompt.
    """
    import torch
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    from prevalence.baselines.judges.packs import PACKS

    folder = tmp_path_factory.mktemp("judge")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1500, special_tokens=["<s>", "</s>", "<|reply|>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    texts = [path.read_text(encoding="utf-8") for path in sorted(PACKS.rglob("*.toml"))]
    tokenizer.train_from_iterator(texts, trainer)
    said = [*REPLIES, "I cannot say."]
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in said])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>",
        chat_template=TEMPLATE.replace("[assistant] ", "<|reply|>"),
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(7)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=tokenizer.get_vocab_size(), hidden_size=64, intermediate_size=96,
            num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            max_position_embeddings=8192, bos_token_id=0, eos_token_id=1, initializer_range=0.05,
            tie_word_embeddings=False,
        )
    )  # fmt: skip
    with torch.no_grad():
        into, out = model.model.embed_tokens.weight, model.lm_head.weight
        out.mul_(8)
        into[:, :2], out[:, :2] = 0, 0
        into[tokenizer.token_to_id("<|reply|>"), 0] = 4
        for text, weight in [*((text, 1.5) for text in said), *((c, 1.3) for c in "12345ABCDE")]:
            token = tokenizer.token_to_id(text)
            out[token, 0], into[token] = weight, 0
            into[token, 1] = 4
        out[1, 1] = 1.5
    # `transformers serve` draws no samples unless the checkpoint says so.
    model.generation_config.do_sample = True
    model.save_pretrained(folder)
    return folder


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """A function that runs `prevalence judge` on two summaries; it returns the result and rows."""
    from click.testing import CliRunner

    from prevalence.cli import main

    monkeypatch.setenv("PREVALENCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    source = tmp_path / "products.jsonl"
    product = {
        "id": "p1",
        "name": "kettle",
        "reviews": ["It boils fast, but the lid is stiff.", "Quiet and quick."],
        "summaries": {"one": "A quick kettle with a stiff lid.", "two": "A kettle."},
        "metadata": {"title": "Kettle", "description": "Steel.", "average_rating": 4.0},
    }
    source.write_text(json.dumps(product) + "\n", encoding="utf-8")

    def run(*words, name="rows.jsonl"):
        output = tmp_path / name
        command = ["judge", source, "--output", output, *words]
        result = CliRunner().invoke(main, [str(word) for word in command])
        lines = output.read_text(encoding="utf-8").splitlines() if output.exists() else []
        return result, [json.loads(line) for line in lines]

    return run
