"""vLLM itself needs a GPU; what stands here is how it is asked and read."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from prevalence.errors import ConfigurationError, MissingDependencyError, ModelError
from prevalence.llm.backends import BackendOptions, open_backend
from prevalence.llm.local_model import model_name
from prevalence.llm.protocol import Message, Request, Sampling, sample_seed
from prevalence.llm.vllm import Vllm


class Engine:
    """Answers as ``vllm.LLM.chat`` does, with the prompt and the seed."""

    def chat(self, dialogues, params, use_tqdm):
        self.asked = list(zip(dialogues, params, strict=True))
        return [self.output(dialogue, one) for dialogue, one in self.asked]

    @staticmethod
    def output(dialogue, params):
        top = {1: ("4", -0.5), 2: (" 5", -1.0), 3: (None, -2.0)}
        logprobs = {k: SimpleNamespace(decoded_token=t, logprob=v) for k, (t, v) in top.items()}
        reply = SimpleNamespace(
            text=f"{dialogue[-1]['content']} {params.get('seed')}",
            token_ids=[7, 8],
            finish_reason="length",
            logprobs=[logprobs] if "logprobs" in params else None,
        )
        return SimpleNamespace(prompt_token_ids=[1, 2, 3], outputs=[reply])


def request(prompt, **changes):
    return Request(messages=(Message("user", prompt),), **changes)


def test_how_the_engine_is_asked_and_read():
    engine = Engine()
    backend = Vllm(engine, dict, {"backend": "vllm"})
    kept = []
    sampling = Sampling(temperature=0.7, top_p=0.9, max_tokens=9, seed=5)
    answered = backend.complete(
        [
            request("a", sampling=sampling, indices=(0, 2)),
            request("b", sampling=Sampling(seed=None, top_k=3)),
            request("c", answers=("4", "5", "1")),
        ],
        keep=lambda _, response: kept.append(response),
    )
    assert [[r.text for r in one] for one in answered] == [
        ["a 5", f"a {sample_seed(5, 2)}"],
        ["b None"],
        [""],
    ]
    assert [r.index for r in answered[0]] == [0, 2]
    assert answered[0][0].finish == "length"
    assert (answered[0][0].prompt_tokens, answered[0][0].completion_tokens) == (3, 2)
    assert answered[2][0].logprobs == pytest.approx({"4": -0.5, "5": -1.0})
    assert kept == [response for one in answered for response in one]
    params = [one for _, one in engine.asked]
    assert params[0] == {
        "temperature": 0.7, "top_p": 0.9, "top_k": -1, "max_tokens": 9, "seed": 5,
    }  # fmt: skip
    assert (params[2]["top_k"], params[2]["seed"]) == (3, None)
    assert (params[3]["logprobs"], params[3]["max_tokens"], params[3]["temperature"]) == (20, 1, 1)


def test_a_prompt_that_is_too_long_fails_alone():
    class Strict(Engine):
        def chat(self, dialogues, params, use_tqdm):
            if any(len(dialogue[-1]["content"]) > 5 for dialogue in dialogues):
                raise ValueError("The decoder prompt is too long\nby far")
            return super().chat(dialogues, params, use_tqdm)

    kept = []
    asked = [request(text) for text in ("a", "far too long", "b", "c")]
    answered = Vllm(Strict(), dict, {}).complete(asked, keep=lambda _, one: kept.append(one.text))
    assert [one[0].text for one in answered] == ["a 0", "", "b 0", "c 0"]
    assert answered[1][0].error == "vllm: The decoder prompt is too long"
    assert kept == ["a 0", "b 0", "c 0"]


def test_replies_before_a_failure_are_kept():
    class Failing(Engine):
        def chat(self, dialogues, params, use_tqdm):
            if len(dialogues) > 1:
                raise ValueError("The decoder prompt is too long")
            if dialogues[0][-1]["content"] == "b":
                raise RuntimeError("the device failed")
            return super().chat(dialogues, params, use_tqdm)

    kept = []
    with pytest.raises(RuntimeError, match="the device failed"):
        Vllm(Failing(), dict, {}).complete(
            [request("a"), request("b")], keep=lambda _, one: kept.append(one.text)
        )
    assert kept == ["a 0"]


def test_what_cannot_be_opened(tiny_llama, tmp_path):
    with pytest.raises(ModelError, match="no such folder"):
        open_backend(f"vllm:{tmp_path / 'none'}")
    with pytest.raises(ConfigurationError, match="device"):
        open_backend(f"vllm:{tiny_llama}", BackendOptions(device="cpu"))


def test_another_chat_template_is_another_model(tiny_llama, tmp_path, monkeypatch):
    installed = SimpleNamespace(LLM=lambda **_: Engine(), SamplingParams=dict, __version__="0")
    monkeypatch.setitem(sys.modules, "vllm", installed)
    folder = shutil.copytree(tiny_llama, tmp_path / "model")
    names = []
    for template in ("{{ messages }}", "{{ messages[0] }}"):
        (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
        names.append(open_backend(f"vllm:{folder}").signature["model"])
    assert names[0] != names[1]
    assert names[1] == model_name(folder)


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is installed")
def test_the_engine_is_not_installed(tiny_llama):
    with pytest.raises(MissingDependencyError, match="pip install vllm"):
        open_backend(f"vllm:{tiny_llama}")


@pytest.mark.gpu
def test_the_engine_itself(tiny_llama):
    pytest.importorskip("vllm", reason="vLLM is not installed")
    backend = open_backend(f"vllm:{tiny_llama}")
    [[first], [second]] = backend.complete([request("a"), request("a")])
    assert first.text == second.text
