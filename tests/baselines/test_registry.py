import re
from pathlib import Path

import numpy as np
import pytest

from prevalence.baselines import Entry, Example, Metric, get, names
from prevalence.baselines.registry import REGISTRY, lacking, missing
from prevalence.errors import ConfigurationError, MissingDependencyError, ModelError
from prevalence.scorers.grammar import Setting


def keys(entry):
    return {setting.key for setting in Setting.read_all(entry.options)}


EXAMPLE = Example(
    "The boots are warm but they leak.",
    ("Warm boots.", "They leak badly, sadly."),
    ("Warm boots that leak.", "The boots are warm. They leak."),
)


@pytest.mark.parametrize("name", names())
def test_every_metric_that_opens_here_keeps_its_promises(name):
    entry = REGISTRY[name]
    if entry.weights or missing(entry) or name == "meteor-1.5":
        pytest.skip(f"needs {entry.weights or missing(entry) or 'a jar'}")
    metric = get(name)
    assert isinstance(metric, Metric)
    assert (metric.name, metric.entry, metric.needs) == (name, entry, entry.needs)
    seen = []
    values = metric.score([EXAMPLE, EXAMPLE._replace(summary="")], progress=seen.append)
    assert values.dtype == np.float64
    assert sum(seen) == 2
    low, high = entry.range
    assert low <= values[0] <= high + 1e-9
    if "no word" in entry.undefined:
        assert np.isnan(values[1])
    else:
        assert low <= values[1] <= high + 1e-9
    same = EXAMPLE._replace(summary=EXAMPLE.references[0])
    best, other = metric.score([same, EXAMPLE])
    if entry.higher_is_better is not None:
        assert best > other if entry.higher_is_better else best < other


@pytest.mark.parametrize("name", names())
def test_options_are_documented_in_words(name):
    entry = REGISTRY[name]
    assert all(entry.options.values())
    assert entry.base == name.split(":")[0]
    rules = {"against", "refs", "source"} if entry.needs else set()
    assert keys(entry) >= rules
    assert (missing(entry) is None) or entry.extra or entry.check
    assert ":" in entry.factory
    assert entry.citation


@pytest.mark.parametrize("name", names())
def test_the_best_reference_is_asked_for_where_a_side_is_better(name):
    entry = REGISTRY[name]
    rules = entry.options.get("refs=RULE")
    assert rules is None or ("best" in rules) == (entry.higher_is_better is not None)


@pytest.mark.parametrize("name", names())
def test_every_metric_declares_what_the_list_shows(name):
    entry = REGISTRY[name]
    assert entry.dimension, "say for which quality its authors propose it (dimension=)"
    assert entry.licence, "say under which licence its weights or program are (licence=)"
    assert entry.about
    assert entry.citation
    loads = any(setting.value in ("PATH", "MODEL") for setting in Setting.read_all(entry.options))
    assert bool(entry.weights) == loads, (
        "name the weights (weights=), and the option that takes them"
    )
    # Without an option, weights come from the model in brackets; without one, some are asked for.
    assert not entry.weights or entry.models or entry.needed
    assert all(not model.isspace() and " " not in model for model in entry.models)


def test_what_is_lacking_is_said_with_what_to_do(monkeypatch):
    entry = Entry(
        name="absent", about="", needs=("reference",), range=(0, 1), citation="", factory="x:y",
        options={"model=PATH": "a folder", "head=FILE": "a head (needed)"},
        weights="two models [no-such/model-a] and [embedded]",
        packages=("no_such_package_here",), extra="lexical",
    )  # fmt: skip
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert entry.models == ("no-such/model-a", "embedded")
    assert lacking(entry) == (
        "no_such_package_here: pip install 'prevalence[lexical]'; give head=FILE; "
        "hf download no-such/model-a or give model=PATH"
    )
    assert lacking(REGISTRY["rouge-1"]) is None
    assert lacking(REGISTRY["summac-zs"]) is None
    assert "give lerc=PATH; hf download" in lacking(REGISTRY["qafacteval"])
    # A pickle alone would not open.
    found = lacking(REGISTRY["alignscore"])
    assert "prevalence conv alignscore" in found
    assert found.endswith("--output FOLDER; then give model=FOLDER")


def test_models_that_are_not_here_are_named_with_what_to_do(monkeypatch):
    monkeypatch.setattr("prevalence.models.location.is_here", lambda _: False)
    monkeypatch.setattr("huggingface_hub.snapshot_download", _refuse)
    with pytest.raises(ModelError) as caught:
        get("embedding-average")
    assert str(caught.value) == (
        "embedding-average needs an encoder [bert-base-uncased], which is not on this machine, "
        "and no hub gave it: hf download bert-base-uncased or give model=PATH"
    )
    with pytest.raises(ModelError, match="no such folder"):
        get("embedding-average", model="./nowhere")


def _refuse(*_, **__):
    raise OSError("no network")


@pytest.fixture(scope="module")
def documented():
    """What stands in code style on the pages about baselines, without the code blocks."""
    docs = Path(__file__).resolve().parents[2] / "docs"
    pages = [*docs.glob("baselines*.md"), docs / "fact-checkers.md"]
    texts = (re.sub("```.*?```", "", p.read_text("utf-8"), flags=re.DOTALL) for p in pages)
    return {span for text in texts for span in re.findall(r"`([^`\n]+)`", text)}


@pytest.mark.parametrize("name", names())
def test_the_pages_name_every_metric_and_option(name, documented):
    assert name in documented
    options = {part.partition("=")[0] for span in documented for part in span.split(":")}
    assert keys(REGISTRY[name]) <= options


def test_every_comparator_is_here():
    families = {
        "rouge-1", "rouge-2", "rouge-l", "bleu-1", "bleu-2", "bleu-3", "bleu-4", "chrf", "ter",
        "meteor", "bertscore-precision", "bertscore-recall", "bertscore-f1", "moverscore",
        "baryscore", "sms", "embedding-average", "vector-extrema", "greedy-matching",
        "bartscore-faithfulness", "bartscore-precision", "bartscore-recall", "perplexity",
        "perplexity:seq2seq", "blanc-help", "blanc-tune", "infolm", "summac-zs", "summac-conv",
        "bleurt", "prism", "prism-src", "unieval-coherence", "unieval-consistency",
        "unieval-fluency", "unieval-relevance", "unieval-overall",
        "summaqa-f1", "summaqa-probability", "questeval", "qafacteval",
        "alignscore", "minicheck", "factcg", "hhem",
        "supert", "s3-pyr", "s3-resp", "rouge-w", "rouge-su4", "js",
    }  # fmt: skip
    assert families <= set(names())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rouge-3", "did you mean rouge-. or rouge-"),
        ("xyzzy", "prevalence baselines --list"),
        ("rouge-1:swift", "has no option 'swift'; it has: precision"),
        ("rouge-1:refs", "write the option refs as refs=VALUE"),
        ("rouge-1:nostem=yes", "write the option nostem as nostem"),
        ("rouge-1:refs=joint", "refs=joint: choose best, mean, first"),
        ("rouge-1:source=each", "source= does not apply against the reference"),
        ("rouge-1:against=reviews:refs=mean", "refs= does not apply against the reviews"),
        ("rouge-1:against=moon", "choose reference or reviews"),
        ("rouge-1:against=reviews:source=truncated-0", "choose joined, each or truncated-N"),
        (f"rouge-1:against=reviews:source=truncated-{'9' * 5_000}", "choose joined, each or"),
        ("rouge-1:precision:recall", "exclude each other"),
        ("rouge-1:py-rouge:limit=0", "give a number of characters"),
        ("rouge-1:limit=9", "has no option 'limit'"),
        ("bleu-4:tokenize=zh", "tokenize=zh: choose 13a"),
        ("bleu-4:nlg-eval:lower", "has no option 'lower'"),
        ("meteor-1.5:jar=no-such.jar", "name the file"),
    ],
)
def test_wrong_options_are_refused_with_advice(spec, message):
    if spec.startswith("meteor-1.5") and missing(REGISTRY["meteor-1.5"]):
        pytest.skip("no java")
    with pytest.raises(ConfigurationError, match=message):
        get(spec)


def test_options_may_come_as_arguments():
    assert get("rouge-1", against="reviews", nostem="").name == "rouge-1:nostem:against=reviews"


def test_a_missing_package_is_named_with_the_command(monkeypatch):
    entry = Entry(
        name="absent",
        about="",
        needs=("reference",),
        range=(0, 1),
        citation="",
        factory="prevalence.baselines.lexical.rouge:open_rouge",
        packages=("no_such_package_here",),
        extra="lexical",
    )
    monkeypatch.setitem(REGISTRY, "absent", entry)
    with pytest.raises(MissingDependencyError, match=r"pip install 'prevalence\[lexical\]'"):
        get("absent")
