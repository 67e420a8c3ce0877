"""Adapter files, and classifiers read through them, one text a call beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from prevalence.errors import ConfigurationError, InputError, ModelError
from prevalence.nli.pairs import FLAG_TOO_LONG, FLAG_TRUNCATED, PairScorer
from prevalence.scorers import reading as reading_module
from prevalence.scorers.adapter import AdaptedScorer, Adapter, read_adapter
from prevalence.scorers.registry import open_scorer

TEMPLATE = "premise: {premise} hypothesis: {hypothesis}"
PAIRS = [("The soles grip well on wet ground.", "They grip."), ("", "dry"), ("{hypothesis}", "dry"),
         ("Dry feet in deep snow, I like them a lot!", "The laces come undone.")]  # fmt: skip
LONG = "the laces come undone and my feet are wet " * 12


@cache
def loaded(folder):
    from transformers import AutoTokenizer, BertForSequenceClassification

    model = BertForSequenceClassification.from_pretrained(folder).eval()
    return AutoTokenizer.from_pretrained(folder), model


def outputs(folder, *texts, activation="softmax"):
    """Activated outputs of one text or pair, nothing padded."""
    import torch

    tokenizer, model = loaded(folder)
    with torch.inference_mode():
        logits = model(**tokenizer(*texts, return_tensors="pt")).logits[0]
    active = logits.softmax(0) if activation == "softmax" else logits.sigmoid()
    return active.numpy()


@pytest.mark.parity
@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
def test_one_string_models(tiny, asked, activation):
    folder = str(tiny("classifier", num_labels=2))
    adapter = Adapter(model=folder, template=TEMPLATE, entailment=0, contradiction=1,
                      activation=activation)  # fmt: skip
    seen = []
    scores = asked(AdaptedScorer(adapter, batch_tokens=40), *PAIRS, progress=seen.append)
    expected = np.array([
        outputs(folder, f"premise: {p} hypothesis: {h}", activation=activation) for p, h in PAIRS
    ])  # fmt: skip
    np.testing.assert_allclose(scores.entailment, expected[:, 0], atol=1e-5)
    np.testing.assert_allclose(scores.contradiction, expected[:, 1], atol=1e-5)
    assert not scores.flags.any()
    assert sum(seen) == len(PAIRS)


@pytest.mark.parity
def test_pairs_and_a_single_sigmoid(tiny, asked):
    folder = str(tiny("classifier", num_labels=1))
    scorer = AdaptedScorer(Adapter(model=folder, entailment=0, activation="sigmoid"))
    scores = asked(scorer, *PAIRS)
    expected = [outputs(folder, *pair, activation="sigmoid")[0] for pair in PAIRS]
    np.testing.assert_allclose(scores.entailment, expected, atol=1e-5)
    assert np.isnan(scores.contradiction).all()
    assert not scorer.traits.three_way


def test_a_softmax_over_one_output_is_refused(tiny):
    adapter = Adapter(model=str(tiny("classifier", num_labels=1)), entailment=0)
    with pytest.raises(ModelError, match=r'always 1; write activation = "sigmoid"'):
        AdaptedScorer(adapter)


@pytest.mark.parametrize(("pooling", "reduce"), [("max", max), ("min", min), ("mean", np.mean)])
def test_chunks_are_pooled(tiny, asked, pooling, reduce):
    folder = str(tiny("classifier", num_labels=2))
    adapter = Adapter(model=folder, template=TEMPLATE, chunk=3, pooling=pooling)
    (score,) = asked(
        AdaptedScorer(adapter), ("the soles grip well on wet ground", "dry")
    ).entailment
    chunks = ["the soles grip", "well on wet", "ground"]
    found = [outputs(folder, f"premise: {c} hypothesis: dry")[1] for c in chunks]
    assert score == pytest.approx(reduce(found), abs=1e-5)


def test_the_beginning_is_read_where_nothing_is_chunked(tiny, asked):
    folder = str(tiny("classifier", num_labels=2))
    scorer = AdaptedScorer(Adapter(model=folder, template=TEMPLATE, max_length=20))
    found = asked(scorer, (LONG, "dry"), ("dry", "dry"), ("dry", LONG))
    assert found.flags.tolist() == [FLAG_TRUNCATED, 0, FLAG_TOO_LONG]
    # [CLS], [SEP], "premise :", "hypothesis :", "dry" leave 13 of 20 tokens.
    cut = " ".join(LONG.split()[:13])
    assert found.entailment[0] == pytest.approx(
        outputs(folder, f"premise: {cut} hypothesis: dry")[1], abs=1e-5
    )
    assert np.isnan(found.entailment[2])


@pytest.mark.parametrize("chunk", [None, 7])
def test_a_premise_that_the_template_makes_too_long_counts_as_cut(tiny, asked, chunk):
    # After the colon "boots" is five tokens, and by itself one: seven words that fit are too many.
    shown = "premise:{premise} hypothesis: {hypothesis}"
    folder = str(tiny("deberta"))
    scorer = AdaptedScorer(Adapter(model=folder, template=shown, max_length=17, chunk=chunk))
    six = "boots kept my feet dry in"
    found = asked(scorer, (six, "dry"), (f"{six} deep", "dry"))
    assert found.flags.tolist() == [0, FLAG_TRUNCATED]
    assert found.entailment[0] == found.entailment[1]


def test_pairs_are_read_a_unit_at_a_time(tiny, asked, monkeypatch):
    folder = str(tiny("classifier", num_labels=2))
    scorer = AdaptedScorer(Adapter(model=folder, template=TEMPLATE), batch_tokens=40)
    whole, held, usual = asked(scorer, *PAIRS), [], reading_module.batches

    def counting(lengths, budget):
        held.append(len(lengths))
        return usual(lengths, budget)

    monkeypatch.setattr(reading_module, "batches", counting)
    scorer.traits = replace(scorer.traits, work_unit=3)
    seen = []
    parts = asked(scorer, *PAIRS, progress=seen.append)
    assert held == seen == [3, 1]
    np.testing.assert_allclose(parts.entailment, whole.entailment, atol=1e-6)


def test_half_precision_brings_the_doubt_of_its_kind(tiny):
    adapter = Adapter(model=str(tiny("classifier", num_labels=2)))
    kinds = ("auto", "float16", "bfloat16")
    doubts = [AdaptedScorer(adapter, dtype=kind).traits.doubt for kind in kinds]
    assert doubts[0] == 0 < doubts[1] < doubts[2]


def test_special_tokens_in_a_review_are_text(tiny, asked):
    folder = str(tiny("classifier", num_labels=2))
    scorer = AdaptedScorer(Adapter(model=folder))
    one, other = asked(scorer, ("dry[SEP]feet", "dry"), ("dry feet", "dry")).entailment
    assert one == pytest.approx(other, abs=1e-6)


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_a_file_beside_the_checkpoint(tiny, asked, tmp_path, suffix):
    folder = tiny("classifier", num_labels=2)
    fields = {"template": TEMPLATE, "entailment": 1, "threshold": 0.3}
    path = folder / f"adapter.{suffix}"
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in fields.items())
    path.write_text(lines if suffix == "toml" else json.dumps(fields), encoding="utf-8")
    scorer = open_scorer(f"adapter:{path}", device="cpu", cache=tmp_path)
    assert isinstance(scorer, PairScorer)
    assert (scorer.traits.threshold, scorer.traits.calibrated) == (0.3, True)
    first, again = asked(scorer, *PAIRS), asked(scorer, *PAIRS)
    assert first.entailment.tolist() == again.entailment.tolist()
    assert scorer.counts.hits == len(PAIRS)
    named = open_scorer(f"superpal:adapter:{path}", device="cpu")
    assert named.traits.signature["adapter"] == scorer.traits.signature["adapter"]


def test_every_field_changes_the_digest(tiny):
    folder = str(tiny("classifier", num_labels=2))
    fields = [{}, {"template": TEMPLATE}, {"entailment": 0}, {"contradiction": 0},
              {"activation": "sigmoid"}, {"chunk": 5}, {"pooling": "min"},
              {"max_length": 30}]  # fmt: skip
    scorers = [AdaptedScorer(Adapter(model=folder, **given)) for given in fields]
    assert len({scorer.traits.digest for scorer in scorers}) == len(fields)
    assert len({scorer.traits.signature["adapter"] for scorer in scorers}) == len(fields)
    assert (
        AdaptedScorer(Adapter(model=folder, threshold=0.1)).traits.digest
        == scorers[0].traits.digest
    )


@pytest.mark.parametrize(("wrong", "said"), [
    ({"template": "{premise}"}, "template must hold"),
    ({"template": "{premise} {premise} {hypothesis}"}, "once each"),
    ({"activation": "tanh"}, "choose from softmax, sigmoid"),
    ({"pooling": "sum"}, "choose from max, mean, min"),
    ({"chunk": 0}, "at least 1"), ({"entailment": -1}, "at least 0"),
    ({"entailment": 1, "contradiction": 1}, "different outputs"),
    ({"entailment": "1"}, "is '1', not a int"), ({"entailment": True}, "not a int"),
    ({"template": 3}, "not a str"), ({"threshold": 1.0}, "threshold"),
    ({"model": None}, "model is None, not a str"),
    ({"entailment": None, "contradiction": 0}, "entailment is None, not a int"),
])  # fmt: skip
def test_fields_out_of_range(wrong, said):
    with pytest.raises(ConfigurationError, match=said):
        Adapter(**{"model": "m", **wrong})


def test_files_that_are_no_adapter(tmp_path, tiny):
    path = tmp_path / "adapter.toml"
    with pytest.raises(InputError, match="not a readable adapter file"):
        read_adapter(path)
    for text, error, said in (
        ("entailment = ", InputError, "not a readable adapter"),
        ("entailmant = 1", InputError, "entailmant: an adapter has the fields activation"),
        ("chunk = 0", ConfigurationError, "adapter.toml: chunk must be at least 1"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(error, match=said):
            read_adapter(path)
    for name, deep in (("deep.toml", "x = " + "[" * 100_000), ("deep.json", "[" * 100_000)):
        (tmp_path / name).write_text(deep, encoding="utf-8")
        with pytest.raises(InputError, match="not a readable adapter") as caught:
            read_adapter(tmp_path / name)
        assert "\n" not in str(caught.value)
    (tmp_path / "adapter.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="no fields"):
        read_adapter(tmp_path / "adapter.json")
    folder = str(tiny("classifier", num_labels=2))
    with pytest.raises(ModelError, match="has 2 outputs, numbered from 0, and the adapter names 2"):
        AdaptedScorer(Adapter(model=folder, entailment=2))
