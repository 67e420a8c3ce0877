"""Likelihoods beside a plain loop that reads one pair at a time."""

import math
import shutil

import numpy as np
import pytest
import torch
import transformers as hf
from safetensors.numpy import load_file, save_file

from prevalence.baselines import Example, Runtime, get
from prevalence.baselines.neural.runner import SEQ2SEQ, open_runner
from prevalence.errors import ConfigurationError, ModelError

DIRECTIONS = ("bartscore-faithfulness", "bartscore-precision", "bartscore-recall")


@pytest.fixture(scope="module")
def given(tiny):
    """``given(source, target)``: mean log-probability of every target token, one after another."""
    folder = tiny("seq2seq")
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    network = hf.BartForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()

    def one(source, target):
        ids = tokenizer(source, truncation=True, return_tensors="pt")["input_ids"]
        wanted = tokenizer(target, truncation=True)["input_ids"]
        start = network.config.decoder_start_token_id
        total = 0.0
        for place, token in enumerate(wanted):
            prefix = torch.tensor([[start, *wanted[:place]]])
            with torch.inference_mode():
                logits = network(input_ids=ids, decoder_input_ids=prefix).logits[0, -1].double()
            total += float(logits.log_softmax(-1)[token])
        return total / len(wanted)

    return one


@pytest.mark.parametrize("budget", [1, 50, None])
def test_bartscore_is_a_plain_loops(tiny, pairs, given, budget):
    runtime = Runtime(batch_tokens=budget)
    examples = [Example(summary, (other, "Thin soles."), (other,)) for summary, other in pairs]
    joined = [f"{other} Thin soles." for _, other in pairs]
    expected = {
        "bartscore-faithfulness": [
            given(text, s) for text, (s, _) in zip(joined, pairs, strict=True)
        ],
        "bartscore-precision": [given(other, summary) for summary, other in pairs],
        "bartscore-recall": [given(summary, other) for summary, other in pairs],
    }
    for name in DIRECTIONS:
        metric = get(name, model=str(tiny("seq2seq")), runtime=runtime)
        np.testing.assert_allclose(metric.score(examples), expected[name], atol=1e-5)


@pytest.mark.parity
def test_bartscore_of_real_summaries_is_a_plain_loops(tiny, summary_pairs):
    metric = get("bartscore-precision", model=str(tiny("seq2seq")))
    found = metric.score([Example(summary, (), (other,)) for summary, other in summary_pairs])
    tokenizer = hf.AutoTokenizer.from_pretrained(tiny("seq2seq"))
    network = hf.BartForConditionalGeneration.from_pretrained(
        tiny("seq2seq"), dtype=torch.float32
    ).eval()
    expected = []
    for summary, other in summary_pairs:
        source = tokenizer(other, truncation=True, return_tensors="pt")["input_ids"]
        labels = tokenizer(summary, truncation=True, return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            expected.append(-float(network(input_ids=source, labels=labels).loss))
    assert len(expected) == 100
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_source_is_encoded_once_and_cut_texts_are_counted(tiny, monkeypatch):
    from prevalence.baselines.generative import likelihood

    runner = open_runner(SEQ2SEQ, str(tiny("seq2seq")), Runtime())  # the metric's own
    encoded = []
    hook = runner.network.get_encoder().register_forward_pre_hook(
        lambda _module, _given, named: encoded.extend(named["attention_mask"].sum(1).tolist()),
        with_kwargs=True,
    )
    metric = get("bartscore-faithfulness", model=str(tiny("seq2seq")))
    reviews = ("dry " * 70,)
    examples = [Example(text, reviews) for text in ("Dry.", "Wet.", "Thin laces.")]
    found = metric.score(examples)
    assert len(encoded) == 1
    assert metric.truncated == 1
    # Sources that do not fit the memory together are read one after the other.
    monkeypatch.setattr(likelihood, "KEPT_BYTES", 1)
    other = Example("Dry.", ("thin soles",))
    again = metric.score([*examples, other])
    np.testing.assert_allclose(again[:3], found, atol=1e-6)
    hook.remove()
    assert encoded[1] == encoded[0] > encoded[2]
    assert len(encoded) == 3


def test_references_are_averaged_as_the_authors_do(tiny):
    references = ("Dry feet.", "Thin laces, thin soles.")
    metric = get("bartscore-precision", model=str(tiny("seq2seq")))
    alone = metric.score([Example("Wet.", (), (text,)) for text in references])
    assert metric.score([Example("Wet.", (), references)])[0] == pytest.approx(alone.mean())
    assert metric.signature["refs"] == "mean"


def plain_causal(folder, text, start=None):
    ids = hf.AutoTokenizer.from_pretrained(folder)(text)["input_ids"]
    ids = ids if start is None else [start, *ids]
    network = hf.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    total = 0.0
    for place in range(1, len(ids)):
        with torch.inference_mode():
            logits = network(torch.tensor([ids[:place]])).logits[0, -1].double()
        total -= float(logits.log_softmax(-1)[ids[place]])
    return math.exp(total / (len(ids) - 1))


@pytest.fixture(scope="module")
def bare(tiny, tmp_path_factory):
    """A causal model whose tokenizer adds no special tokens."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder = tmp_path_factory.mktemp("bare")
    words = ["<s>", "[UNK]", "dry", "boots", "thin", "laces"]
    tokenizer = Tokenizer(models.WordLevel({w: n for n, w in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    hf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", unk_token="[UNK]", model_max_length=6
    ).save_pretrained(folder)
    config = hf.AutoConfig.from_pretrained(tiny("causal"))
    config.vocab_size = len(words)
    torch.manual_seed(3)
    hf.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def test_perplexity_is_a_plain_loops(tiny, pairs):
    metric = get("perplexity", model=str(tiny("causal")))
    assert metric.needs == ()
    summaries = [summary for summary, _ in pairs] * 2
    expected = [plain_causal(tiny("causal"), summary) for summary in summaries[: len(pairs)]] * 2
    found = metric.score([Example(summary) for summary in summaries])
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert math.isnan(metric.score([Example("")])[0])


def test_a_start_token_lets_the_first_token_count(bare):
    text = "dry boots laces"
    with_start = get("perplexity:start", model=str(bare))
    found = with_start.score([Example(text), Example("dry " * 6), Example("dry")])
    assert found[0] == pytest.approx(plain_causal(bare, text, start=0), rel=1e-5)
    # Six tokens and the start are one too many.
    assert found[1] == pytest.approx(plain_causal(bare, "dry " * 5, start=0), rel=1e-5)
    assert with_start.truncated == 1
    without = get("perplexity", model=str(bare))
    assert without.score([Example(text)])[0] == pytest.approx(plain_causal(bare, text), rel=1e-5)
    assert math.isnan(without.score([Example("dry")])[0])
    assert with_start.signature["first"] == "counts"


def test_perplexity_given_the_reviews(tiny, given):
    metric = get("perplexity:seq2seq", model=str(tiny("seq2seq")))
    example = Example("Thin laces.", ("Dry feet.", "They grip."))
    expected = math.exp(-given("Dry feet. They grip.", "Thin laces."))
    assert metric.score([example])[0] == pytest.approx(expected, rel=1e-5)
    assert np.isnan(metric.score([example._replace(summary=" ")])[0])


@pytest.mark.parametrize(
    ("name", "kind"), [("perplexity", "causal"), ("bartscore-precision", "seq2seq")]
)
def test_a_network_that_gives_no_number_is_one_line(tiny, tmp_path, name, kind):
    folder = shutil.copytree(tiny(kind), tmp_path / "broken")
    weights = load_file(folder / "model.safetensors")
    broken = {key: np.full_like(weight, np.nan) for key, weight in weights.items()}
    save_file(broken, folder / "model.safetensors", metadata={"format": "pt"})
    example = Example("Thin laces.", (), ("Dry feet.",))
    for dtype, advice in (("float32", "$"), ("bfloat16", "; try --dtype float32$")):
        metric = get(name, model=str(folder), runtime=Runtime(dtype=dtype))
        with pytest.raises(ModelError, match=f"broken: it gave no number for some texts{advice}"):
            metric.score([example])


def test_wrong_models_are_refused(tiny):
    with pytest.raises(ModelError, match=r"cannot be loaded|not a model"):
        get("bartscore-recall", model=str(tiny("encoder")))
    with pytest.raises(ConfigurationError, match="has no option 'against'"):
        get("perplexity:against=reviews", model=str(tiny("causal")))
    # transformers opens a masked model as a causal one, and it would see the tokens asked for.
    with pytest.raises(ModelError, match="a bert model that reads what stands after a token too"):
        get("perplexity", model=str(tiny("masked")))
