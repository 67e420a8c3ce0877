"""Cosine scorers against vectors made one text at a time by Hugging Face."""

from __future__ import annotations

import json
import re
import shutil
from functools import cache

import numpy as np
import pytest

from prevalence.errors import ConfigurationError, ModelError
from prevalence.nli.pairs import FLAG_TRUNCATED, PairScorer
from prevalence.scorers.cosine import CosineScorer, Encoder
from prevalence.scorers.registry import open_scorer

REVIEW = "The soles grip well. My feet stay dry! Laces come undone, they are thin."
CLAIMS = ("They grip on wet ground.", "dry feet", "")
PAIRS = [(premise, claim) for premise in (REVIEW, "boots", "") for claim in CLAIMS]
SENTENCES = {REVIEW: ["The soles grip well.", "My feet stay dry!",
                      "Laces come undone, they are thin."]}  # fmt: skip
LONG = "the laces come undone and my feet are wet " * 12


@cache
def loaded(folder):
    from transformers import AutoTokenizer, BertModel

    return AutoTokenizer.from_pretrained(folder), BertModel.from_pretrained(folder).eval()


def vector(folder, text, pooling="mean", most=64):
    """One text a call, nothing padded."""
    import torch

    tokenizer, model = loaded(folder)
    inputs = tokenizer(text, truncation=True, max_length=most, return_tensors="pt")
    with torch.inference_mode():
        hidden = model(**inputs).last_hidden_state[0]
    pooled = (hidden.mean(0) if pooling == "mean" else hidden[0]).numpy().astype(np.float64)
    return pooled / np.linalg.norm(pooled)


@pytest.mark.parity
@pytest.mark.parametrize("mode", ["document", "sentence-max"])
def test_equals_single_texts(tiny, asked, mode):
    folder = tiny("encoder")
    seen = []
    scores = asked(CosineScorer(Encoder(str(folder), batch_tokens=40), mode), *PAIRS,
                   progress=seen.append)  # fmt: skip
    units = (lambda text: [text]) if mode == "document" else (lambda t: SENTENCES.get(t, [t]))
    expected = [
        max(float(vector(folder, unit) @ vector(folder, claim)) for unit in units(premise))
        if re.search(r"\w", premise) and re.search(r"\w", claim)
        else -1.0
        for premise, claim in PAIRS
    ]
    np.testing.assert_allclose(2 * scores.entailment - 1, expected, atol=2e-6)
    assert np.isnan(scores.contradiction).all()
    assert sum(seen) == len(PAIRS)
    assert np.ptp(expected) > 0.02


def test_the_first_token_and_a_limit(tiny, asked):
    folder = tiny("encoder")
    scorer = open_scorer(f"cosine:{folder},document,pooling=cls", max_length=8, device="cpu")
    (score,) = asked(scorer, (REVIEW, "dry feet")).entailment
    expected = vector(folder, REVIEW, "cls", 8) @ vector(folder, "dry feet", "cls", 8)
    assert 2 * score - 1 == pytest.approx(expected, abs=2e-6)
    assert (scorer.traits.signature["pooling"], scorer.traits.signature["trunc"]) == ("cls", "8")


def test_half_precision_is_refused_since_its_doubt_has_no_bound(tiny):
    with pytest.raises(ConfigurationError, match="cosine needs float32"):
        open_scorer(f"cosine:{tiny('encoder')}", dtype="bfloat16")


@pytest.mark.parametrize("mode", ["document", "sentence-max"])
def test_a_text_without_words_says_nothing(tiny, asked, mode):
    scorer = CosineScorer(Encoder(str(tiny("encoder"))), mode)
    seen = []
    pairs = [("", ""), ("?!", "?!"), (REVIEW, "..."), (" ", "dry"), ("dry", "dry")]
    scores = asked(scorer, *pairs, progress=seen.append)
    assert scores.entailment[:4].tolist() == [0, 0, 0, 0]
    assert scores.entailment[4] == pytest.approx(1)
    assert sum(seen) == len(pairs)


def test_a_sentence_without_words_is_not_the_nearest(tiny, asked):
    scorer = CosineScorer(Encoder(str(tiny("encoder"))))
    plain, marked = asked(scorer, ("dry feet", "!!!"), ("dry feet !!!", "wet")).entailment
    assert plain == 0
    assert 0 < marked <= 1


def test_marks_in_a_review_are_no_tokens(tiny):
    encoder = Encoder(str(tiny("encoder")))
    marked, plain = encoder.embed(
        ["it grips [SEP] it leaks [PAD]", "it grips   it leaks  "]
    ).vectors
    np.testing.assert_allclose(marked, plain, atol=1e-6)


def test_what_is_not_read_is_flagged(tiny, asked):
    scorer = CosineScorer(Encoder(str(tiny("encoder"))), "document")
    flags = asked(scorer, (LONG, "dry"), (REVIEW, LONG), (LONG, LONG), (REVIEW, "dry")).flags
    assert flags.tolist() == [FLAG_TRUNCATED] * 3 + [0]


def test_vectors_are_made_once_for_a_table(tiny, asked):
    encoder = Encoder(str(tiny("encoder")))
    texts, at_once = [], encoder.embed

    def counting(new, **options):
        texts.extend(new)
        return at_once(new, **options)

    encoder.embed = counting
    asked(CosineScorer(encoder), (REVIEW, "dry"), (REVIEW, "wet"), ("dry", "wet"))
    assert sorted(texts) == sorted([*SENTENCES[REVIEW], "dry", "wet"])


def test_is_a_pair_scorer(tiny):
    encoder = Encoder(str(tiny("encoder")))
    scorers = [CosineScorer(encoder), CosineScorer(encoder, "document")]
    assert isinstance(scorers[0], PairScorer)
    assert scorers[0].traits.digest != scorers[1].traits.digest != encoder.digest
    assert (scorers[0].traits.threshold, scorers[0].traits.calibrated) == (0.75, False)
    assert CosineScorer(encoder, threshold=0.4).traits.calibrated
    with pytest.raises(ConfigurationError, match="unknown mode 'word'"):
        CosineScorer(encoder, "word")


def test_a_folder_states_pooling_and_length(tiny, tmp_path):
    folder = shutil.copytree(tiny("encoder"), tmp_path / "stated")
    (folder / "1_Pooling").mkdir()
    stated = folder / "1_Pooling" / "config.json"
    stated.write_text(json.dumps({"pooling_mode_cls_token": True, "word_embedding_dimension": 32}))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 20}')
    encoder = Encoder(str(folder))
    assert (encoder.pooling, encoder.max_length) == ("cls", 20)
    assert Encoder(str(folder), pooling="mean").pooling == "mean"
    stated.write_text(json.dumps({"pooling_mode_max_tokens": True}))
    with pytest.raises(ModelError, match="pooling by max_tokens is not known"):
        Encoder(str(folder))
    stated.write_text("{")
    with pytest.raises(ModelError, match="not JSON"):
        Encoder(str(folder))


@pytest.mark.parametrize(("stated", "pooling"), [
    ({"pooling_mode": "cls"}, "cls"), ({"pooling_mode": ["mean"]}, "mean"), ({}, "mean"),
    ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean"),
])  # fmt: skip
def test_pooling_as_old_and_new_files_state_it(tiny, tmp_path, stated, pooling):
    assert Encoder(str(with_pooling(tiny("encoder"), tmp_path, stated))).pooling == pooling


@pytest.mark.parametrize(("stated", "said"), [
    ({"pooling_mode": "lasttoken"}, "lasttoken"), ({"pooling_mode": ["cls", "mean"]}, "cls, mean"),
    ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, "mean_tokens, cls_token"),
])  # fmt: skip
def test_another_pooling_is_refused(tiny, tmp_path, stated, said):
    folder = with_pooling(tiny("encoder"), tmp_path, stated)
    with pytest.raises(ModelError, match=f"pooling by {said} is not known"):
        Encoder(str(folder))


def test_a_layer_after_pooling_is_refused_unless_left_out(tiny, tmp_path):
    folder = with_pooling(tiny("encoder"), tmp_path, {"pooling_mode": "mean"})
    (folder / "2_Dense").mkdir()
    with pytest.raises(ModelError, match="its layer 2_Dense is not read here"):
        Encoder(str(folder))
    assert Encoder(str(folder), pooling="mean").pooling == "mean"


def with_pooling(encoder, tmp_path, stated):
    """A copy of an encoder beside which sentence-transformers' file states this."""
    folder = shutil.copytree(encoder, tmp_path / "stated")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(stated))
    return folder


@pytest.mark.parametrize(("options", "said"), [
    ({"max_length": 65}, r"maximum length 65 is outside 2\.\.64"), ({"pooling": "sum"}, "pooling"),
])  # fmt: skip
def test_options_out_of_range(tiny, options, said):
    with pytest.raises(ConfigurationError, match=said):
        Encoder(str(tiny("encoder")), **options)


def test_a_classifier_is_an_encoder_with_a_head(tiny, asked):
    # The embedded model's own folder is one.
    scores = asked(open_scorer(f"cosine:{tiny('classifier')}", device="cpu"), ("dry", "dry"))
    assert scores.entailment == pytest.approx([1.0], abs=1e-6)


def test_a_number_that_is_not_finite_is_one_line(tiny, tmp_path):
    from safetensors.numpy import load_file, save_file

    folder = shutil.copytree(tiny("encoder"), tmp_path / "broken")
    weights = load_file(folder / "model.safetensors")
    for name in weights:
        if name.endswith("LayerNorm.bias"):
            weights[name] = np.full_like(weights[name], np.nan)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match="broken: it gave no finite number for some texts"):
        Encoder(str(folder)).embed(["The soles grip well."])
