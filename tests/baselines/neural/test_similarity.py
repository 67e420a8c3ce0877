import json
import math
from collections import Counter

import numpy as np
import pytest
import torch
import transformers as hf

from prevalence.baselines import Example, Runtime, get
from prevalence.baselines.neural.vectors import open_encoder
from prevalence.errors import ConfigurationError, InputError

PARTS = ("precision", "recall", "f1")
WORDS = "the boots kept my feet dry in deep snow and laces come undone because they are thin soles"


def scores(name, folder, pairs, **options):
    metric = get(name, model=str(folder), **options)
    examples = [Example(summary, references=(other,)) for summary, other in pairs]
    if hasattr(metric, "prepare"):
        metric.prepare(iter(examples))
    return metric.score(examples)


@pytest.mark.parity
@pytest.mark.parametrize("idf", [False, True])
def test_bertscore_is_that_of_the_package(tiny, pairs, idf):
    package = pytest.importorskip("bert_score")
    wanted = package.score(
        [summary for summary, _ in pairs], [other for _, other in pairs],
        model_type=str(tiny("encoder")), num_layers=4, idf=idf, device="cpu", nthreads=0,
    )  # fmt: skip
    more = {"idf": ""} if idf else {}
    for part, expected in zip(PARTS, wanted, strict=True):
        found = scores(f"bertscore-{part}", tiny("encoder"), pairs, layer="4", **more)
        np.testing.assert_allclose(found, expected.numpy(), atol=1e-5)


@pytest.mark.parity
def test_bertscore_of_real_summaries_is_that_of_the_package(tiny, summary_pairs):
    package = pytest.importorskip("bert_score")
    wanted = package.score(
        [summary for summary, _ in summary_pairs], [other for _, other in summary_pairs],
        model_type=str(tiny("encoder")), num_layers=3, device="cpu", nthreads=0,
    )  # fmt: skip
    assert len(summary_pairs) == 100
    for part, expected in zip(PARTS, wanted, strict=True):
        found = scores(f"bertscore-{part}", tiny("encoder"), summary_pairs, layer="3")
        np.testing.assert_allclose(found, expected.numpy(), atol=1e-5)


def plain(folder, text):
    inputs = hf.AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    with torch.inference_mode():
        network = hf.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
        return network(**inputs).last_hidden_state[0].double().numpy()


def cosines(left, right):
    products = left @ right.T
    return products / np.outer(np.linalg.norm(left, axis=1), np.linalg.norm(right, axis=1))


@pytest.mark.parity
def test_bertscore_is_that_of_torchmetrics_but_for_special_tokens(tiny, summary_pairs):
    package = pytest.importorskip("torchmetrics.functional.text.bert")
    # torchmetrics sorts texts by length and does not undo it: these are in that order already.
    summary, other = (text.split() for text in summary_pairs[0])
    chosen = [(" ".join(summary[:size]), " ".join(other[:size])) for size in range(1, 8)]
    wanted = package.bert_score(
        [summary for summary, _ in chosen], [other for _, other in chosen],
        model_name_or_path=str(tiny("encoder")), num_layers=3, max_length=64, truncation=True,
        device="cpu",
    )  # fmt: skip
    known = open_encoder(str(tiny("encoder")), (3,), Runtime())(t for pair in chosen for t in pair)

    def words(text):
        return text.layers[0][text.tokens.plain]

    for part, name in ((0, "precision"), (1, "recall")):
        found = scores(f"bertscore-{name}", tiny("encoder"), chosen, layer="3")
        # There a token may not be matched with a special one; zeros stand in the place of those.
        without = [
            np.maximum(cosines(words(known[pair[part]]), words(known[pair[1 - part]])).max(1), 0)
            for pair in chosen
        ]
        means = [values.mean() for values in without]
        np.testing.assert_allclose(wanted[name].numpy(), means, atol=1e-5)
        assert (found >= wanted[name].numpy() - 1e-5).all()


def test_every_similarity_is_that_of_a_plain_computation(tiny, pairs):
    folder = tiny("encoder")
    for summary, other in pairs[:2]:
        left, right = plain(folder, summary), plain(folder, other)
        all_tokens = cosines(left, right)
        precision, recall = all_tokens.max(1)[1:-1].mean(), all_tokens.max(0)[1:-1].mean()
        a, b = left[1:-1], right[1:-1]
        matched = cosines(a, b)
        far = [np.array([max(c, key=abs) for c in table.T]) for table in (a, b)]
        expected = {
            "bertscore-precision": precision,
            "bertscore-recall": recall,
            "bertscore-f1": 2 * precision * recall / (precision + recall),
            "embedding-average": cosines(a.mean(0)[None], b.mean(0)[None])[0, 0],
            "vector-extrema": cosines(far[0][None], far[1][None])[0, 0],
            "greedy-matching": (matched.max(1).mean() + matched.max(0).mean()) / 2,
        }
        for name, value in expected.items():
            found = scores(name, folder, [(summary, other)])
            assert found[0] == pytest.approx(value, abs=1e-5), name


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    """An untrained RoBERTa, for which words with and without a space before them differ."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
    )  # fmt: skip
    trained.train_from_iterator([f"{WORDS} {WORDS}"], trainer)
    state = json.loads(trained.to_str())["model"]
    folder = tmp_path_factory.mktemp("roberta")
    merges = [tuple(merge) for merge in state["merges"]]
    tokenizer = hf.RobertaTokenizerFast(vocab=state["vocab"], merges=merges, model_max_length=128)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(5)
    hf.RobertaModel(hf.RobertaConfig(
        vocab_size=400, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=130, initializer_range=0.6, pad_token_id=1,
        bos_token_id=0, eos_token_id=2,
    )).save_pretrained(folder)  # fmt: skip
    return folder


def test_roberta_reads_a_space_before_the_first_word_as_bert_score_intends(roberta, pairs):
    for summary, other in pairs[:2]:
        matched = cosines(plain(roberta, f" {summary}"), plain(roberta, f" {other}"))
        without = cosines(plain(roberta, summary), plain(roberta, other))
        padded = [(f"{summary} ", f"\n{other}")]
        for name, axis in (("precision", 1), ("recall", 0)):
            expected = matched.max(axis)[1:-1].mean()
            assert scores(f"bertscore-{name}", roberta, padded)[0] == pytest.approx(
                expected, abs=1e-5
            )
            assert abs(expected - without.max(axis)[1:-1].mean()) > 1e-4
    signature = get("bertscore-f1", model=str(roberta)).signature
    assert signature["prefix"] == "space"


def test_roberta_learns_idf_from_what_it_reads(roberta, pairs):
    tokenizer = hf.AutoTokenizer.from_pretrained(roberta)
    rows = [tokenizer(f" {other}")["input_ids"] for _, other in pairs]
    counts = Counter(number for row in rows for number in set(row))
    weights = np.array([math.log((len(rows) + 1) / (counts[n] + 1)) for n in rows[0][1:-1]])
    summary, other = pairs[0]
    best = cosines(plain(roberta, f" {summary}"), plain(roberta, f" {other}")).max(0)[1:-1]
    found = scores("bertscore-recall", roberta, pairs, idf="")
    assert found[0] == pytest.approx(best @ weights / weights.sum(), abs=1e-5)


@pytest.mark.parametrize("name", ["bertscore-f1", "embedding-average", "greedy-matching"])
def test_a_text_is_like_itself_and_an_empty_one_has_no_value(tiny, name):
    same, empty = scores(name, tiny("encoder"), [("Dry feet.", "Dry feet."), ("", "Dry feet.")])
    assert same == pytest.approx(1, abs=1e-5)
    assert np.isnan(empty)


def test_static_vectors_know_no_order(tiny):
    pair = [("thin laces grip", "grip thin laces")]
    found = scores("embedding-average", tiny("encoder"), pair, static="")
    assert found[0] == pytest.approx(1, abs=1e-6)
    assert scores("embedding-average", tiny("encoder"), pair)[0] < 0.9999


def test_a_baseline_rescales(tiny, pairs, tmp_path, monkeypatch):
    file = tmp_path / "baseline.tsv"
    file.write_text("LAYER,P,R,F\n0,.1,.1,.1\n6,.2,.3,.5\n", encoding="utf-8")
    raw = scores("bertscore-f1", tiny("encoder"), pairs)
    scaled = scores("bertscore-f1", tiny("encoder"), pairs, baseline=str(file))
    np.testing.assert_allclose(scaled, (raw - 0.5) / 0.5, atol=1e-9)
    monkeypatch.setenv("HOME", str(tmp_path))
    near = scores("bertscore-f1", tiny("encoder"), pairs, baseline="~/baseline.tsv")
    np.testing.assert_array_equal(near, scaled)
    with pytest.raises(ConfigurationError, match="no line of layer 3"):
        scores("bertscore-f1", tiny("encoder"), pairs, baseline=str(file), layer="3")


@pytest.mark.parametrize(
    "text", ["6,.2,.3,.5\n", "LAYER,P,R,F\n\n6,.2,.3,.5\n,,,\n \n", "\n6,.2,.3,.5\n\n0,.1,.1,.1\n"]
)
def test_a_baseline_without_names_and_with_empty_lines(tiny, tmp_path, text):
    file = tmp_path / "baseline.tsv"
    file.write_text(text, encoding="utf-8")
    metric = get("bertscore-f1", model=str(tiny("encoder")), baseline=str(file))
    assert metric.signature["baseline"] == "0.5"


@pytest.mark.parametrize("text", ["", "LAYER,P,R,F\n6,.2\n", "6," + "9" * 200_000])
def test_what_is_no_baseline_is_refused_in_one_line(tiny, tmp_path, text):
    file = tmp_path / "baseline.tsv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"baseline\.tsv: (give a file|it has no line)"):
        get("bertscore-f1", model=str(tiny("encoder")), baseline=str(file))


def test_wrong_use_is_refused(tiny):
    with pytest.raises(InputError, match="call prepare"):
        get("bertscore-f1:idf", model=str(tiny("encoder"))).score(
            [Example("dry", references=("wet",))]
        )
    with pytest.raises(ConfigurationError, match="give a whole number"):
        get("bertscore-f1", model=str(tiny("encoder")), layer="top")
    with pytest.raises(ConfigurationError, match="exclude each other"):
        get("vector-extrema", model=str(tiny("encoder")), layer="1", static="")


def test_idf_of_one_product_leaves_precision(tiny):
    folder = tiny("encoder")
    # Every token of the only reference weighs log(2/2); of the summary, "boots" weighs log(2/1).
    pair = ("dry boots", "dry feet")
    expected = cosines(*(plain(folder, text) for text in pair)).max(1)[2]
    (found,) = scores("bertscore-precision", folder, [pair], idf="")
    assert found == pytest.approx(expected, abs=1e-5)
    for part in ("recall", "f1"):
        assert np.isnan(scores(f"bertscore-{part}", folder, [pair], idf="")), part
    undefined = get("bertscore-f1", model=str(folder)).entry.undefined
    assert undefined == "a text is empty, or with idf all of its tokens stand in every text"


@pytest.mark.parametrize("part", PARTS)
def test_either_text_empty_is_no_value(tiny, part):
    pairs = [("dry boots", " "), ("", "dry feet"), ("thin", "laces")]
    for more in ({}, {"idf": ""}):
        found = scores(f"bertscore-{part}", tiny("encoder"), pairs, **more)
        assert np.isnan(found[:2]).all()


@pytest.mark.parametrize("name", ["embedding-average", "vector-extrema", "greedy-matching"])
def test_rounding_takes_no_cosine_out_of_range(tiny, name):
    words = WORDS.split()
    texts = [" ".join(words[:size]) for size in range(1, len(words))]
    found = scores(name, tiny("encoder"), [(text, text) for text in texts])
    assert found.max() <= 1
