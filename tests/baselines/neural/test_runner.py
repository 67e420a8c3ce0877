import gc
import weakref

import numpy as np
import pytest
import torch
import transformers as hf

from prevalence.baselines import Example, Runtime, get
from prevalence.baselines.neural.runner import ENCODER, Parts, open_runner
from prevalence.baselines.neural.vectors import TokenEncoder, open_encoder
from prevalence.errors import BackendError, ConfigurationError, ModelError

TEXTS = ["The boots kept my feet dry.", "", "Thin laces!", "The soles grip on wet ground " * 4]


def plain_layers(folder, text):
    """Hidden states of one text, computed alone."""
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(text, truncation=True, return_tensors="pt")
    with torch.inference_mode():
        network = hf.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
        return [layer[0].numpy() for layer in network(**inputs, output_hidden_states=True)[-1]]


@pytest.mark.parametrize("layers", [(-1,), (0,), (3,), (2, 3, 6)])
@pytest.mark.parametrize("budget", [1, 40, None])
def test_vectors_are_those_of_each_text_alone(tiny, layers, budget):
    encoder = open_encoder(str(tiny("encoder")), layers, Runtime(batch_tokens=budget))
    found = encoder(TEXTS)
    for text in TEXTS:
        wanted = plain_layers(tiny("encoder"), text)
        expected = np.stack([wanted[number] for number in layers])
        np.testing.assert_allclose(found[text].layers, expected, atol=2e-5)


def test_the_encoder_of_a_seq2seq_model_serves_as_well(tiny):
    found = open_encoder(str(tiny("seq2seq")), (-1,), Runtime())(TEXTS[:1])
    network = hf.BartModel.from_pretrained(tiny("seq2seq"), dtype=torch.float32).eval()
    inputs = hf.AutoTokenizer.from_pretrained(tiny("seq2seq"))(TEXTS[0], return_tensors="pt")
    with torch.inference_mode():
        answer = network.encoder(inputs["input_ids"], attention_mask=inputs["attention_mask"])
    np.testing.assert_allclose(
        found[TEXTS[0]].layers[0], answer.last_hidden_state[0].numpy(), atol=2e-5
    )


def test_a_model_is_loaded_once_and_let_go_with_its_last_user(tiny):
    first = open_runner(ENCODER, str(tiny("encoder")), Runtime())
    assert open_runner(ENCODER, f"{tiny('encoder')}/.", Runtime()) is first
    assert open_runner(ENCODER, str(tiny("encoder")), Runtime(batch_tokens=9)) is not first
    network = weakref.ref(first.network)
    del first
    gc.collect()
    assert network() is None


def test_a_text_is_read_once_for_all_metrics(tiny, monkeypatch):
    runner = open_runner(ENCODER, str(tiny("encoder")), Runtime())
    asked = []
    usual = runner.run
    monkeypatch.setattr(runner, "run", lambda rows, f: asked.append(len(rows)) or usual(rows, f))
    one, other = TokenEncoder(runner, (-1,)), TokenEncoder(runner, (6,))
    one(["dry boots", "dry boots", "thin laces"])
    other(["thin laces", "wet ground"])
    assert asked == [2, 1]


def test_tokens_know_their_words_and_what_was_cut(tiny):
    runner = open_runner(ENCODER, str(tiny("encoder")), Runtime())
    short, long = runner.tokens(["Dry boots!", "dry " * 70])
    assert short.plain.tolist() == [False, True, True, True, False]
    assert short.word.tolist() == [-1, 0, 1, 2, -1]
    assert short.span[1:-1].tolist() == [[0, 3], [4, 9], [9, 10]]
    assert (short.cut, long.cut, long.ids.size) == (False, True, runner.limit)
    assert runner.tokens(["Dry"], special=False)[0].plain.all()
    encoder = TokenEncoder(runner, (-1,))
    encoder(["dry " * 70, "dry"])
    encoder(["dry " * 70])
    assert encoder.truncated == 2


def test_no_token_of_a_blank_text_is_plain(tiny):
    from tokenizers import Tokenizer, models, pre_tokenizers

    letters = {letter: n for n, letter in enumerate(pre_tokenizers.ByteLevel.alphabet())}
    by_bytes = Tokenizer(models.BPE(vocab=letters, merges=[]))
    by_bytes.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=by_bytes, model_max_length=64)
    runner = open_runner(ENCODER, str(tiny("encoder")), Runtime(), Parts(tokenizer=tokenizer))
    blank, text = runner.tokens(["\n\n", "a b"])
    assert (blank.ids.size, blank.plain.any()) == (2, False)
    assert text.plain.tolist() == [True] * 3


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (torch.OutOfMemoryError, "CUDA out of memory"),
        (RuntimeError, "DefaultCPUAllocator: can't allocate memory"),
        (MemoryError, "Unable to allocate 9 GiB"),
    ],
)
def test_memory_that_runs_out_halves_the_budget(tiny, error, told):
    runner = open_runner(ENCODER, str(tiny("encoder")), Runtime(batch_tokens=64))
    seen = []

    def forward(rows):
        seen.append(rows.size)
        if rows.size > 4:
            raise error(told)
        return [int(row) * 2 for row in rows]

    with pytest.warns(RuntimeWarning, match="batches now hold 32 tokens"):
        assert runner.run([8] * 11, forward) == [2 * row for row in range(11)]
    assert seen == [8, 4, 4, 3]

    def broken(rows):
        raise torch.OutOfMemoryError

    with pytest.raises(BackendError, match="one text of 40 tokens does not fit"):
        runner.run([40], broken)

    def failing(rows):
        raise RuntimeError("no kernel")

    with pytest.raises(BackendError, match="the device failed: no kernel"):
        runner.run([4], failing)


def test_wrong_settings_are_refused(tiny, tmp_path):
    with pytest.raises(ConfigurationError, match="batch tokens must be positive"):
        open_runner(ENCODER, str(tiny("encoder")), Runtime(batch_tokens=0))
    with pytest.raises(ModelError, match=r"outside 0\.\.6"):
        open_encoder(str(tiny("encoder")), (7,), Runtime())
    with pytest.raises(ModelError, match="no such folder"):
        open_runner(ENCODER, str(tmp_path / "none"), Runtime())


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize(
    "name",
    ["bertscore-f1", "embedding-average", "greedy-matching", "sms", "moverscore", "baryscore",
     "supert"],
)  # fmt: skip
def test_a_network_without_numbers_has_no_scores(tiny, name, bad):
    if name in ("sms", "moverscore", "baryscore"):
        pytest.importorskip("ot")
    # The budget makes it a runner of its own.
    runtime = Runtime(batch_tokens=77)
    runner = open_runner(ENCODER, str(tiny("encoder")), runtime)
    with torch.no_grad():
        runner.network.encoder.layer[-1].output.LayerNorm.bias[0] = bad
    metric = get(name, model=str(tiny("encoder")), runtime=runtime)
    assert metric.score([]).size == 0
    with pytest.raises(ModelError, match=r"encoder0: it gave no number for some texts$"):
        metric.score([Example("Dry boots", ("Thin laces.",), ("Thin laces.",))])


def test_input_embeddings_without_numbers_have_no_scores(tiny):
    runtime = Runtime(batch_tokens=78, dtype="bfloat16")
    runner = open_runner(ENCODER, str(tiny("encoder")), runtime)
    with torch.no_grad():
        runner.network.get_input_embeddings().weight.fill_(float("nan"))
    metric = get("embedding-average:static", model=str(tiny("encoder")), runtime=runtime)
    with pytest.raises(ModelError, match="no number for some texts; try --dtype float32"):
        metric.score([Example("Dry boots", (), ("Thin laces.",))])
