"""BLEURT beside the network's published equations, written in NumPy."""

import json
import shutil

import numpy as np
import pytest
import sentencepiece
import torch
import transformers as hf
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from scipy.special import erf

from prevalence.baselines import Example, Runtime, get
from prevalence.baselines.neural.bleurt import kept_lengths
from prevalence.baselines.neural.runner import REGRESSION, open_runner
from prevalence.errors import ConfigurationError, ModelError

HEADS, LAYERS, LIMIT = 2, 2, 24
TEXTS = ("The boots kept my feet dry", "dry feet in deep snow", "laces come undone . they are thin")


def weights_of(size, embedding):
    """A network's weights by the names that transformers gives them, without the family's."""
    draw = np.random.default_rng(7)

    def linear(name, rows, columns):
        return {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}

    def norm(name, width):
        return {f"{name}.weight": (width,), f"{name}.bias": (width,)}

    shapes = {
        "embeddings.word_embeddings.weight": (size, embedding),
        "embeddings.position_embeddings.weight": (LIMIT, embedding),
        "embeddings.token_type_embeddings.weight": (2, embedding),
        **norm("embeddings.LayerNorm", embedding),
        **linear("pooler.dense", 16, 16),
    }
    if embedding != 16:
        shapes |= linear("encoder.embedding_hidden_mapping_in", 16, embedding)
    for number in range(LAYERS):
        at = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            shapes |= linear(f"{at}.attention.self.{part}", 16, 16)
        shapes |= linear(f"{at}.attention.output.dense", 16, 16)
        shapes |= norm(f"{at}.attention.output.LayerNorm", 16)
        shapes |= linear(f"{at}.intermediate.dense", 20, 16) | linear(f"{at}.output.dense", 16, 20)
        shapes |= norm(f"{at}.output.LayerNorm", 16)
    body = {name: draw.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    head = {"classifier.weight": draw.normal(0, 0.5, (1, 16)).astype(np.float32),
            "classifier.bias": np.array([0.3], np.float32)}  # fmt: skip
    return body, head


def cut(reference, candidate, room):
    """The published loop: the longer text loses its last token, the candidate if none is longer."""
    reference, candidate = list(reference), list(candidate)
    while len(reference) + len(candidate) > room:
        (reference if len(reference) > len(candidate) else candidate).pop()
    return reference, candidate


def plain_value(weights, texts, ends):
    """The value of token numbers: BERT's equations with RemBERT's projection, one pair, float64."""
    (body, head), (first, last) = weights, ends
    reference, candidate = cut(*texts, LIMIT - 3)
    ids = [first, *reference, last, *candidate, last]
    types = [0] * (len(reference) + 2) + [1] * (len(candidate) + 1)

    def linear(name, x):
        return x @ body[f"{name}.weight"].astype(float).T + body[f"{name}.bias"]

    def norm(name, x):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return scaled * body[f"{name}.weight"] + body[f"{name}.bias"]

    table = "embeddings.{}_embeddings.weight"
    x = body[table.format("word")][ids].astype(float)
    x = x + body[table.format("token_type")][types] + body[table.format("position")][: len(ids)]
    x = norm("embeddings.LayerNorm", x)
    if "encoder.embedding_hidden_mapping_in.weight" in body:
        x = linear("encoder.embedding_hidden_mapping_in", x)
    for number in range(LAYERS):
        at = f"encoder.layer.{number}"
        q, k, v = (
            linear(f"{at}.attention.self.{part}", x).reshape(len(ids), HEADS, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        share = np.exp(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1]))
        share /= share.sum(-1, keepdims=True)
        mixed = (share @ v).swapaxes(0, 1).reshape(len(ids), -1)
        mixed = linear(f"{at}.attention.output.dense", mixed)
        x = norm(f"{at}.attention.output.LayerNorm", x + mixed)
        wide = linear(f"{at}.intermediate.dense", x)
        wide = wide * (1 + erf(wide / np.sqrt(2))) / 2
        x = norm(f"{at}.output.LayerNorm", x + linear(f"{at}.output.dense", wide))
    pooled = np.tanh(linear("pooler.dense", x[0]))
    return float((head["classifier.weight"][0] * pooled).sum() + head["classifier.bias"][0])


def save_weights(folder, body, head, family):
    named = {f"{family}.{name}": weight for name, weight in body.items()} | head
    tensors = {name: torch.from_numpy(weight) for name, weight in named.items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


COMMON = {
    "hidden_size": 16, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
    "intermediate_size": 20, "max_position_embeddings": LIMIT, "type_vocab_size": 2,
    "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def known(tiny, tmp_path_factory):
    """``known(family)``: a checkpoint that transformers knows, and a way to value a pair."""

    def build(family):
        folder = tmp_path_factory.mktemp(family)
        for name in ("vocab.txt", "tokenizer_config.json"):
            shutil.copy(tiny("encoder") / name, folder)
        tokenizer = hf.BertTokenizerFast.from_pretrained(folder)
        body, head = weights_of(len(tokenizer), 16 if family == "bert" else 6)
        save_weights(folder, body, head, family)
        kind, more = {
            "bert": (hf.BertConfig, {}),
            "rembert": (hf.RemBertConfig, {"input_embedding_size": 6}),
        }[family]
        kind(vocab_size=len(tokenizer), num_labels=1, **COMMON, **more).save_pretrained(folder)

        def value(*texts):
            rows = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
            return plain_value((body, head), rows, (2, 3))

        return folder, value

    return build


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """``port(embedding)``: a checkpoint as the PyTorch port of BLEURT-20 writes it."""
    texts = tmp_path_factory.mktemp("texts") / "texts.txt"
    texts.write_text("\n".join(TEXTS * 20), encoding="utf-8")

    def build(embedding):
        folder = tmp_path_factory.mktemp("port")
        sentencepiece.SentencePieceTrainer.train(
            input=str(texts), model_prefix=str(folder / "spm"), vocab_size=45, minloglevel=2,
            hard_vocab_limit=False, control_symbols=["[CLS]", "[SEP]"], pad_id=0, unk_id=1,
            bos_id=-1, eos_id=-1,
        )  # fmt: skip
        (folder / "spm.vocab").unlink()
        pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spm.model"))
        body, head = weights_of(pieces.get_piece_size(), embedding or 16)
        names = {n: n.replace("embedding_hidden_mapping_in", "embedding_projection") for n in body}
        save_weights(folder, {names[n]: weight for n, weight in body.items()}, head, "bleurt")
        config = COMMON | {"model_type": "bleurt", "vocab_size": pieces.get_piece_size(),
                           "embedding_size": embedding, "id2label": {"0": "LABEL_0"}}  # fmt: skip
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")

        def value(*texts):
            ends = (pieces.piece_to_id(name) for name in ("[CLS]", "[SEP]"))
            return plain_value((body, head), pieces.encode(list(texts)), ends)

        return folder, value

    return build


PAIRS = [(TEXTS[0], TEXTS[1]), (TEXTS[1], "dry"), (TEXTS[2], TEXTS[1]), ("thin", "thin")]


def assert_values_equal_the_equations(folder, value):
    examples = [Example(candidate, (), (reference,)) for reference, candidate in PAIRS]
    expected = [value(*pair) for pair in PAIRS]
    assert np.ptp(expected) > 0.02
    for budget in (1, 40, None):
        metric = get("bleurt", model=str(folder), runtime=Runtime(batch_tokens=budget))
        np.testing.assert_allclose(metric.score(examples), expected, atol=2e-5)


@pytest.mark.parametrize("family", ["bert", "rembert"])
def test_values_are_those_of_the_equations(known, family):
    assert_values_equal_the_equations(*known(family))


@pytest.mark.parametrize("embedding", [6, None])
def test_the_ports_layout_is_read(port, embedding):
    assert_values_equal_the_equations(*port(embedding))


def test_references_reviews_and_blank_texts(known):
    folder, value = known("bert")
    best = get("bleurt", model=str(folder))
    mean = get("bleurt:refs=mean", model=str(folder))
    example = Example(TEXTS[1], TEXTS, (TEXTS[0], TEXTS[2]))
    both = [value(TEXTS[0], TEXTS[1]), value(TEXTS[2], TEXTS[1])]
    assert best.score([example])[0] == pytest.approx(max(both), abs=1e-5)
    assert mean.score([example])[0] == pytest.approx(np.mean(both), abs=1e-5)
    each = get("bleurt:against=reviews:source=each", model=str(folder))
    expected = np.mean([value(review, TEXTS[1]) for review in TEXTS])
    assert each.score([example])[0] == pytest.approx(expected, abs=1e-5)
    assert each.signature["source"] == "each"
    blank = [example._replace(summary=" "), example._replace(references=("",))]
    assert np.isnan(best.score(blank)).all()


def test_long_texts_give_way_token_by_token_and_are_counted(known):
    folder, value = known("bert")
    metric = get("bleurt", model=str(folder))
    assert metric.signature["limit"] == str(LIMIT)
    long, short = "dry " * 60, "thin laces"
    found = metric.score([Example(short, (), (long,)), Example(long, (), (long,))])
    # 24 tokens less three special ones are 21: 19 and 2, or 11 of the reference and 10.
    expected = [value("dry " * 19, short), value("dry " * 11, "dry " * 10)]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert metric.truncated == 3
    small = get("bleurt:limit=8", model=str(folder))
    assert small.score([Example(long, (), (long,))])[0] == pytest.approx(
        value("dry " * 3, "dry " * 2), abs=1e-5
    )
    assert small.signature["limit"] == "8"


@given(st.integers(0, 40), st.integers(0, 40), st.integers(2, 40))
def test_kept_lengths_are_those_of_the_published_loop(reference, candidate, room):
    left = cut(range(reference), range(candidate), room)
    assert kept_lengths(reference, candidate, room=room) == (len(left[0]), len(left[1]))


def test_special_tokens_in_a_text_are_text(known, port):
    folder, value = known("bert")
    metric = get("bleurt", model=str(folder))
    spelt = Example("dry [SEP] thin", (), ("dry",))
    apart = Example("dry [ sep ] thin", (), ("dry",))
    assert metric.score([spelt])[0] == pytest.approx(metric.score([apart])[0], abs=1e-6)
    folder, value = port(6)
    metric = get("bleurt", model=str(folder))
    assert metric.score([spelt])[0] == pytest.approx(value("dry", "dry [SEP] thin"), abs=1e-5)


def test_other_checkpoints_are_refused_in_one_line(known, port, tiny, tmp_path):
    folder, _ = known("bert")
    headless = tmp_path / "headless"
    shutil.copytree(folder, headless)
    kept = {n: w for n, w in load_file(folder / "model.safetensors").items() if "pooler" not in n}
    save_file(kept, headless / "model.safetensors", metadata={"format": "pt"})
    three = tmp_path / "three"
    shutil.copytree(folder, three)
    config = hf.BertConfig.from_pretrained(three)
    config.num_labels = 3
    hf.BertForSequenceClassification(config).save_pretrained(three)
    ported, _ = port(6)
    (bare, vague) = (tmp_path / name for name in ("bare", "vague"))
    shutil.copytree(ported, bare)
    (bare / "spm.model").unlink()
    shutil.copytree(ported, vague)
    (vague / "config.json").write_text('{"model_type": "bleurt"}', encoding="utf-8")
    pickled = tmp_path / "pickled"
    shutil.copytree(ported, pickled)
    (pickled / "model.safetensors").unlink()
    for model, message in [
        (headless, "weights are missing for bert.pooler"),
        (three, "a bert classifier with 3 outputs is not BLEURT"),
        (bare, r"no tokenizer files in it \(spm.model or vocab.txt\)"),
        (vague, "its config does not say 'vocab_size'"),
        (pickled, "no .safetensors file in it"),
        (tiny("encoder"), "weights are missing for classifier"),
    ]:
        with pytest.raises(ModelError, match=message) as error:
            get("bleurt", model=str(model))
        assert "\n" not in str(error.value)
    for limit, message in (
        ("4", "reads pairs of 5 to 24"),
        ("25", "of 5 to"),
        ("x", "give a n"),
        ("9" * 5_000, "give a n"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            get("bleurt", model=str(folder), limit=limit)


def test_weights_that_cannot_be_fetched_are_named_with_the_command(monkeypatch):
    import huggingface_hub

    def unreachable(*_, **__):
        raise ConnectionError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    for metric, model in (
        ("bleurt", "lucadiliello/BLEURT-20"),
        ("prism", "facebook/m2m100_418M"),
        ("unieval-overall", "MingZhong/unieval-sum"),
    ):
        with pytest.raises(ModelError, match=f"hf download {model} or give model=PATH"):
            get(metric)


def test_a_run_that_was_cut_off_goes_on(known, resumed):
    folder, value = known("bert")
    rows = resumed(f'bleurt:model="{folder}"')
    (found,) = rows[0]["metrics"].values()
    expected = value("Dry boots, thin laces.", "The boots kept my feet dry.")
    assert found == pytest.approx(expected, abs=1e-5)
    assert "has no value: a text is empty" in rows[1]["error"]


def test_a_network_without_numbers_has_no_scores(known):
    folder, _ = known("bert")
    runner = open_runner(REGRESSION, str(folder), Runtime())
    with torch.no_grad():
        runner.network.classifier.bias.fill_(float("nan"))
    with pytest.raises(ModelError, match="it gave no number for some texts"):
        get("bleurt", model=str(folder)).score([Example(TEXTS[0], (), (TEXTS[1],))])
