"""The preset of the authors' program against a plain loop over NLTK and Hugging Face."""

from __future__ import annotations

import json
import shutil
import warnings
from dataclasses import fields
from pathlib import Path
from typing import Any

import punkt
import pytest
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from prevalence import OpinionPrevalence
from prevalence.errors import ConfigurationError
from prevalence.records import Product, Review, Summary
from prevalence.scorers.registry import ScorerOptions, open_scorer
from prevalence.scoring.engine import Engine
from prevalence.scoring.options import ScoringOptions
from prevalence.scoring.presets import PRESETS, preset_options
from prevalence.scoring.verification import options_of

pytestmark = pytest.mark.filterwarnings("ignore:preset .* keeps its threshold")

TEXT = "the lamp is bright and light but the boots are too small they leak in rain"
WORDS = TEXT.split()
LONG = " ".join(WORDS[place % len(WORDS)] for place in range(0, 1680, 3))
NAME = "Bright Lamp 12R"
ODD = [
    "It makes great chicken!!",
    "Never again. What?!",
    "!!!",
    "...",
    "So good !! ",
    "the lamp is bright . the boots leak",
    "The lamp is bright.\n\nThe boots leak!\r\n",
    "The lamp is bright. The lamp is bright.",
    'They said "It leaks!" and it did. (It did.)',
    "“Bright!” 😀 été … 5/5",
    "I bought Bright Lamp 12R.",
    f"{LONG}.",
    f"The boots leak. {LONG}! The lamp is light!!",
    "x",
]
REVIEWS = ["The lamp is bright.", f"{LONG}. It leaks.", "They leak!! Too small :("]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model that reads more than SummaC's 500 tokens."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    made = tmp_path_factory.mktemp("model")
    source = Path(__file__).resolve().parents[1] / "golden" / "inputs" / "tiny-nli"
    shutil.copytree(source, made, dirs_exist_ok=True)
    config = BertConfig.from_pretrained(source, max_position_embeddings=600)
    torch.manual_seed(3)
    BertForSequenceClassification(config).save_pretrained(made)
    path = made / "tokenizer_config.json"
    told = json.loads(path.read_text(encoding="utf-8")) | {"model_max_length": 600}
    path.write_text(json.dumps(told), encoding="utf-8")
    return made


def plain(folder: Path) -> Any:
    """Prevalence, one pair a call: the pair cut at 500 tokens, the longer text first."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    model_of_wheel, learnt = punkt.load_model("english"), PunktParameters()
    for part in ("abbrev_types", "collocations", "sent_starters"):
        setattr(learnt, part, set(getattr(model_of_wheel, part)))
    for word, seen in model_of_wheel.ortho_context.items():
        learnt.add_ortho_context(word, int(seen))
    splitter = PunktSentenceTokenizer(learnt)

    def implied(premise: str, hypothesis: str) -> bool:
        encoded = tokenizer(
            premise, hypothesis, truncation="longest_first", max_length=500, return_tensors="pt"
        )
        with torch.inference_mode():
            return float(model(**encoded).logits[0].softmax(0)[2]) > THRESHOLD

    def score(summary: str) -> float:
        sentences = [s.strip() for s in splitter.tokenize(summary)]
        total = 0
        for place, sentence in enumerate(sentences):
            if implied(f"I bought {NAME}.", sentence):
                continue
            if any(implied(earlier, sentence) for earlier in sentences[:place]):
                continue
            total += sum(implied(review, sentence) for review in REVIEWS)
        return total / len(sentences) / len(REVIEWS)

    return score


THRESHOLD = 0.05
"""Of the tiny model, whose probabilities .04 would not tell apart."""


def test_the_authors_program_on_long_and_odd_texts(folder: Path) -> None:
    ours = OpinionPrevalence(str(folder), preset="malon-script", threshold=THRESHOLD)
    theirs = plain(folder)
    found = [ours.score(REVIEWS, text, name=NAME).prevalence for text in ODD]
    assert found == pytest.approx([theirs(text) for text in ODD])
    assert len(set(found)) > 3
    for part in ("split:nltk-punkt-en", "trivial:script", "trunc:500-longest", "gran:document"):
        assert part in ours.signature


def test_options_win_over_the_preset() -> None:
    found = preset_options("malon-script", {"splitter": "lines", "model": "rouge1-precision"})
    assert found == {
        "model": "rouge1-precision", "threshold": 0.04, "trivial": "script", "splitter": "lines",
        "follows": "malon-script+model+splitter",
    }  # fmt: skip
    assert preset_options("malon-script", {})["model"] == "summac-zs:document,model=mnli"
    assert preset_options("malon-script", {"model": "cosine"})["model"] == "cosine"
    assert preset_options("hiro", {"model": "hhem-2.1-open"})["model"] == "hhem-2.1-open"
    assert preset_options("hiro", {"model": "a,b"})["model"] == 'summac-zs:document,model="a,b"'
    with pytest.raises(
        ConfigurationError, match="choose from malon, malon-script, hiro, hiro-hotels"
    ):
        preset_options("mallon", {})


def test_a_model_of_ones_own_wants_its_own_threshold() -> None:
    with pytest.warns(RuntimeWarning, match=r"keeps its threshold 0\.04.* threshold of embedded"):
        preset_options("malon", {"model": "embedded"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        preset_options("malon", {"model": "embedded", "threshold": 0.3})
        preset_options("malon", {"model": "roberta-large-mnli"})


def test_a_preset_is_data_that_the_options_know() -> None:
    known = {each.name for kind in (ScoringOptions, ScorerOptions) for each in fields(kind)}
    for name, preset in PRESETS.items():
        assert set(preset.options) <= known
        assert preset.lacks
        assert preset.about
        assert preset_options(name, {})["follows"] == name


def test_the_papers_definition() -> None:
    assert preset_options("malon", {}) == {
        "model": "roberta-large-mnli", "threshold": 0.04, "trivial": "name",
        "splitter": "punkt-en", "follows": "malon",
    }  # fmt: skip
    lexical = OpinionPrevalence("rouge1-precision", preset="malon")
    for part in ("|thr:0.04|", "|trivial:name|", "|split:punkt-en|", "|preset:malon+model|"):
        assert part in lexical.signature


PRODUCTS = [
    Product(
        id=name,
        name=name,
        reviews=tuple(Review(text) for text in reviews),
        summaries=(Summary("s", summary),),
    )
    for name, reviews, summary in (
        (
            "Alma",
            ["the room was clean"] * 200 + ["so noisy"] * 100,
            "The room was clean. So noisy.",
        ),
        ("Berg", ["so noisy", "the room was clean"], "So noisy."),
        ("Chur", ["so far away"], "I stayed at Chur. So far away."),
    )
]


@pytest.mark.parametrize(("preset", "trivial"), [("hiro", 0.0), ("hiro-hotels", 1.0)])
def test_hiros_figures_by_hand(preset: str, trivial: float) -> None:
    # Above .6, a text implies a sentence whose words it nearly all has (ROUGE-1 precision).
    metric = OpinionPrevalence("rouge1-precision", preset=preset, threshold=0.6)
    first, second, third = metric.score_many(PRODUCTS)
    # Of 300 reviews the first 200 count, all of which say that the room was clean.
    assert (first.n_reviews, first.prevalence) == (200, 0.5)
    assert (second.prevalence, third.prevalence) == (0.5, 0.5)
    assert third.sentences[0].trivial == bool(trivial)
    profiles = [row.profile for row in (first, second, third)]
    # Alma's second sentence is all that Berg's summary says, and the other way round.
    assert [profile.genericness for profile in profiles] == [0.25, 0.5, 0.0]
    assert [profile.sap for profile in profiles] == [0.5 - 0.125, 0.5 - 0.25, 0.5]
    for part in ("|first:200|", "|others:3of3@", "|alpha:0.5|", f"|preset:{preset}+"):
        assert part in first.signature


def test_the_first_reviews_of_those_that_satisfy() -> None:
    product = {"id": "p", "reviews": [{"text": f"r{n}", "rating": n % 2} for n in range(6)]}
    rows = Product(
        id="p", name=None, summaries=(),
        reviews=tuple(Review(r["text"], extra={"rating": r["rating"]}) for r in product["reviews"]),
    )  # fmt: skip
    for options, places in (
        ({"first_reviews": 2}, (0, 1)),
        ({"first_reviews": 2, "reviews_where": "rating = 1"}, (1, 3)),
        ({"first_reviews": 9}, (0, 1, 2, 3, 4, 5)),
    ):
        assert ScoringOptions(**options).restriction.reviews_left(rows).places == places
    with pytest.raises(ConfigurationError, match="first_reviews must be at least 1"):
        ScoringOptions(first_reviews=0)


def test_rows_of_a_preset_are_verified() -> None:
    metric = OpinionPrevalence("rouge1-precision", preset="malon", first_reviews=2)
    options = options_of(metric.signature)
    assert (options.follows, options.first_reviews) == ("malon+model", 2)
    assert OpinionPrevalence("rouge1-precision", preset="malon", first_reviews=2).signature == (
        Engine(open_scorer("rouge1-precision"), options).signature()
    )
