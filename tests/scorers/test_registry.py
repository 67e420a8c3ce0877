"""From an option to a scorer."""

from __future__ import annotations

import pytest

from prevalence.errors import ConfigurationError
from prevalence.nli.pairs import PairScorer, TextTable
from prevalence.scorers.registry import cache_folder, loads_model, open_scorer
from prevalence.scorers.rouge import RougeScorer


@pytest.fixture
def model_scorer(monkeypatch, fake_scorer):
    class Opened(fake_scorer):
        """Stands for the model's scorer and keeps what it was given."""

        def __init__(self, model, **options):
            super().__init__()
            self.model, self.options = model, options

    monkeypatch.setattr("prevalence.nli.scorer.NLIScorer", Opened)
    monkeypatch.setattr("prevalence.nli.self_test.self_test", lambda *_, **__: False)


def test_rouge_is_a_pair_scorer():
    scorer = open_scorer("rouge1-precision", threshold=0.3)
    assert isinstance(scorer, RougeScorer)
    assert isinstance(scorer, PairScorer)
    assert scorer.traits.threshold == 0.3


@pytest.mark.parametrize(
    "options",
    [
        {"windows": 3}, {"max_length": 9}, {"labels": ["a"]}, {"dtype": "float16"},
        {"device": "cuda"},
    ],
)  # fmt: skip
def test_rouge_takes_no_model_options(options):
    with pytest.raises(ConfigurationError, match="rouge1-precision has no model"):
        open_scorer("rouge1-precision", **options)


def test_rouge_runs_where_every_scorer_may():
    assert all(
        open_scorer("rougeL-f1", device=device).traits.work_unit for device in ("auto", "cpu")
    )
    assert not loads_model("rougeL-f1")
    assert loads_model("embedded")
    assert loads_model("cosine:some/encoder")


@pytest.mark.parametrize(("name", "model"), [
    ("embedded", "embedded"), ("nli:embedded", "embedded"), ("nli:./m", "./m"), ("a/b", "a/b"),
])  # fmt: skip
def test_models_by_name_path_and_prefix(model_scorer, name, model):
    scorer = open_scorer(name, threshold=0.1, device="cpu", labels=["x"])
    assert scorer.model == model
    assert scorer.options == {
        "threshold": 0.1, "device": "cpu", "dtype": "auto", "batch_tokens": None, "windows": None,
        "packing": "auto",
        "max_length": None, "labels": ["x"],
    }  # fmt: skip


@pytest.mark.parametrize(("name", "said"), [
    ("rouge1-precision:x", "rouge1-precision has no option 'x'; it has: none"),
    ("summac-zs:word", "unknown granularity 'word'"),
    ("summac-zs:sentence-sentence-sentence", "unknown granularity"),
    ("summac-zs:sentence,median", "unknown operator 'median': choose from max, mean, min"),
    ("summac-zs:sentence,max,mean,extra", "summac-zs has no option 'extra'; it has: granularity"),
    ("summac-zs:modell=x", "has no option 'modell'; did you mean model"),
    ("summac-zs:model=a,model=b", "given twice"),
])  # fmt: skip
def test_names_that_say_nothing_are_refused(monkeypatch, fake_scorer, name, said):
    monkeypatch.setattr("prevalence.nli.scorer.NLIScorer", lambda *_, **__: fake_scorer())
    monkeypatch.setattr("prevalence.nli.self_test.self_test", lambda *_, **__: False)
    with pytest.raises(ConfigurationError, match=said):
        open_scorer(name)


def test_summac_reads_pairs_as_summac_does(monkeypatch, fake_scorer, tmp_path):
    seen = {}

    def opened(model, **options):
        seen.update(options, model=model)
        return fake_scorer()

    monkeypatch.setattr("prevalence.nli.scorer.NLIScorer", opened)
    monkeypatch.setattr("prevalence.nli.self_test.self_test", lambda *_, **__: False)
    scorer = open_scorer("summac-zs:paragraph,model=vitc", threshold=0.3, cache=tmp_path)
    assert seen["model"] == "tals/albert-xlarge-vitaminc-mnli"
    assert seen["labels"] == ("entailment", "contradiction", "neutral")
    assert (seen["at_most"], seen["truncation"]) == (500, "longest-first")
    assert seen["threshold"] is None
    assert (scorer.traits.threshold, scorer.traits.calibrated) == (0.3, True)
    assert scorer.counts.hits == 0  # the cache keeps the units


def test_a_cache_folder_wraps_the_scorer(tmp_path):
    texts = TextTable()
    numbers = texts.add_all(["It fits well.", "It fits."])
    plain = open_scorer("rouge1-precision")
    cached = open_scorer("rouge1-precision", cache=tmp_path / "cache")
    pairs = numbers[None, :]
    first, again = cached.score(texts, pairs), cached.score(texts, pairs)
    assert first.entailment == again.entailment == plain.score(texts, pairs).entailment == [1.0]
    assert cached.counts.hits == 1
    assert cached.traits.threshold == plain.traits.threshold
    assert dict(cached.traits.signature) == dict(plain.traits.signature)


@pytest.mark.parametrize(
    ("name", "kept"),
    [("rouge1-precision", False), ("rouge2-f1", False), ("rougeL-f1", True), ("embedded", True)],
)
def test_by_default_answers_that_cost_less_than_the_cache_are_not_kept(
    name, kept, tmp_path, monkeypatch, model_scorer
):
    monkeypatch.setenv("PREVALENCE_CACHE", str(tmp_path))
    assert open_scorer(name, cache="auto").traits.cached == kept
    assert open_scorer(name, cache=tmp_path / "auto").traits.cached
    assert not open_scorer(name).traits.cached
    assert cache_folder(name, "auto") == (tmp_path if kept else None)


@pytest.mark.parametrize("name", ["rouge9-foo", "cosin:x", "summac", "ruoge1-f1", "cosnie"])
def test_a_misspelt_family_is_refused_before_a_hub_is_asked(name):
    with pytest.raises(ConfigurationError, match="no such scorer; did you mean"):
        open_scorer(name)
