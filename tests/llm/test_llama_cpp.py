"""Token probabilities from a server that is not ours: llama.cpp's, with the weights of a test."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import pytest

from prevalence.baselines.judges.packs import load_method
from prevalence.baselines.judges.prompts import Prompter, choose_dimensions
from prevalence.records import Product, Review

for package in ("openai", "gguf", "xllamacpp"):
    pytest.importorskip(package)

PARTS = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}  # fmt: skip
WHOLE = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
CLOSE = 5e-3
"""Relative; llama.cpp's kernels round in their own way on every processor."""
SERVER = """
import sys
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.port, params.use_jinja, params.n_ctx, params.n_parallel = 0, True, 16384, 2
params.cpuparams.n_threads = 1
params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def loaded(judge_folder):
    """The model and its tokenizer in transformers."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(judge_folder, dtype="float32")
    return model.eval(), AutoTokenizer.from_pretrained(judge_folder)


def paired(weight, heads):
    """Rows of a rotary projection in llama.cpp's order: the two of a rotation side by side."""
    rows, columns = weight.shape
    split = weight.reshape(heads, 2, rows // heads // 2, columns)
    return split.swapaxes(1, 2).reshape(rows, columns)


def tensor_of(name, weight, config):
    """llama.cpp's name of a tensor, and its values."""
    if name in WHOLE:
        return WHOLE[name], weight
    layer, part = name.removeprefix("model.layers.").removesuffix(".weight").split(".", 1)
    if part.endswith("q_proj"):
        weight = paired(weight, config.num_attention_heads)
    elif part.endswith("k_proj"):
        weight = paired(weight, config.num_key_value_heads)
    return f"blk.{layer}.{PARTS[part]}.weight", weight


def write_vocabulary(writer, tokenizer, size):
    import gguf

    data = json.loads(tokenizer.backend_tokenizer.to_str())
    added = {row["id"]: row["special"] for row in data["added_tokens"]}
    kinds = {None: gguf.TokenType.NORMAL, True: gguf.TokenType.CONTROL,
             False: gguf.TokenType.USER_DEFINED}  # fmt: skip
    merges = data["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokenizer.convert_ids_to_tokens(list(range(size))))
    writer.add_token_types([kinds[added.get(token)] for token in range(size)])
    writer.add_token_merges([one if isinstance(one, str) else " ".join(one) for one in merges])
    writer.add_bos_token_id(tokenizer.bos_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_add_bos_token(False)
    writer.add_chat_template(tokenizer.chat_template)


@pytest.fixture(scope="module")
def gguf_file(loaded, tmp_path_factory):
    """The same model as a file of llama.cpp."""
    import gguf
    import numpy as np

    model, tokenizer = loaded
    config = model.config
    path = tmp_path_factory.mktemp("gguf") / "judge.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    write_vocabulary(writer, tokenizer, config.vocab_size)
    for name, weight in model.state_dict().items():
        named, values = tensor_of(name, weight.numpy(), config)
        writer.add_tensor(named, np.ascontiguousarray(values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def llama_cpp(gguf_file):
    """Address of the server."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(gguf_file)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    url = process.stdout.readline().strip()
    assert url.startswith("http://127.0.0.1:"), "llama.cpp's server did not come up"
    yield f"{url}/v1"
    process.stdin.close()
    process.wait(60)
    process.stdout.close()


@pytest.fixture
def server(llama_cpp):
    """Words of the command line that choose the server."""
    return ["--backend", "openai:judge", "--base-url", llama_cpp]


def first_tokens(loaded, messages):
    """Probability of each of the 20 most probable first tokens of a reply, by its text."""
    import torch

    model, tokenizer = loaded
    turns = [message._asdict() for message in messages]
    text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        shares = model(ids).logits[0, -1].double().softmax(dim=-1)
    values, tokens = shares.topk(20)
    return [(tokenizer.decode([token]).strip(), value) for token, value in
            zip(tokens.tolist(), values.tolist(), strict=True)]  # fmt: skip


@pytest.mark.parametrize("name", ["g-eval", "mcq", "mcq2"])
def test_weights_are_the_models_own_probabilities(judged, server, loaded, name, tmp_path):
    words = ("--method", name, "--dimensions", "fluency", "--form", "probabilities")
    result, rows = judged(*words, *server, "--record", tmp_path / "replies.jsonl")
    assert result.exit_code == 0, result.output
    method = load_method(name)
    [dimension] = choose_dimensions(method, ["fluency"])
    lines = (tmp_path / "replies.jsonl").read_text(encoding="utf-8").splitlines()
    written = [row for row in map(json.loads, lines) if "id" not in row]
    steps = {row["dimension"]: row["replies"][0] for row in written}
    assert bool(steps) == (name == "g-eval")
    prompter = Prompter(method, [dimension], steps=steps, probabilities=True)
    product = Product(
        "p1", (Review("It boils fast, but the lid is stiff."), Review("Quiet and quick.")), ()
    )
    grades = "12345" if name == "g-eval" else "ABCDE"
    summaries = ("A quick kettle with a stiff lid.", "A kettle.")
    for row, summary in zip(rows, summaries, strict=True):
        shown = first_tokens(loaded, prompter.messages(dimension, product, summary))
        shares = {grade: math.fsum(p for text, p in shown if text == grade) for grade in grades}
        mass = math.fsum(shares.values())
        raw = math.fsum(k * shares[grade] for k, grade in enumerate(grades, start=1))
        report = row["judge"][f"{name}-weighted.fluency"]
        assert 0.01 < mass < 0.9
        assert report["mass"] == pytest.approx(mass, rel=CLOSE)
        assert report["probabilities"] == pytest.approx(
            {grade: share for grade, share in shares.items() if share}, rel=CLOSE
        )
        assert report["unseen"] == [grade for grade in grades if not shares[grade]]
        assert row["metrics"][f"{name}-weighted-raw.fluency"] == pytest.approx(raw, rel=CLOSE)
        assert row["metrics"][f"{name}-weighted.fluency"] == pytest.approx(raw / mass, rel=CLOSE)
    # The model in this process sees every token, and answers of several tokens too.
    backend = ("--backend", f"hf:{loaded[0].name_or_path}", "--device", "cpu")
    _, here = judged(*words, *backend, name="here.jsonl")
    for one, other in zip(rows, here, strict=True):
        assert one["metrics"] == pytest.approx(other["metrics"], rel=0.02)


def test_several_samples_of_one_call(judged, server):
    words = ("--method", "op-i", "--dimensions", "fluency", "--samples", "4", "--max-tokens", "16")
    result, rows = judged(*words, *server, "--samples-per-call", "2")
    assert "8 were asked for: 4 calls" in result.stderr
    for row in rows:
        report = row["judge"]["op-i.fluency"]
        assert (report["asked"], report["failed"]) == (4, 0)
        assert len(row["samples"]["op-i.fluency"]) == 4
