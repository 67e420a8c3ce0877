"""SummaC-ZS by hand, and against the figures of the original package."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import summac_parity as parity
from prevalence.errors import ConfigurationError
from prevalence.models.labels import parse_labels
from prevalence.nli.pairs import FLAG_TOO_LONG, PairScorer, PairScores, TextTable
from prevalence.scorers.summac import SUMMAC_MODELS, Granularity, ZeroShotScorer
from prevalence.scorers.superpal import AlignmentScorer
from prevalence.scorers.units import UnitAnswers

if TYPE_CHECKING:
    from pathlib import Path

A, B = "They keep my feet dry.", "They run very small."
C, D = "Dry feet all day.", "Order one size up."
ANSWERS = {(A, C): (0.8, 0.1), (A, D): (0.2, 0.5), (B, C): (0.4, 0.3), (B, D): (0.6, 0.2)}
# Columns C and D: entailment max .8 .6, mean .6 .4, min .4 .2; contradiction max .3 .5,
# mean .2 .35, min .1 .2.
BY_HAND = {
    ("max", "mean", False): 0.7, ("max", "min", False): 0.6, ("max", "max", False): 0.8,
    ("mean", "mean", False): 0.5, ("min", "max", False): 0.4,
    ("max", "mean", True): 0.3, ("mean", "min", True): 0.05, ("min", "max", True): 0.3,
}  # fmt: skip


def asked(scorer, *pairs):
    texts = TextTable()
    return scorer.score(texts, np.array([(texts.add(a), texts.add(b)) for a, b in pairs]))


@pytest.mark.parametrize(("choice", "expected"), BY_HAND.items())
def test_operators_by_hand(fake_scorer, choice, expected):
    over_premise, over_hypothesis, minus = choice
    scorer = ZeroShotScorer(
        fake_scorer(ANSWERS), over_premise=over_premise, over_hypothesis=over_hypothesis,
        minus_contradiction=minus,
    )  # fmt: skip
    scores = asked(scorer, (f"{A} {B}", f"{C} {D}"))
    given = (1 + expected) / 2 if minus else expected
    assert scores.entailment[0] == pytest.approx(given, abs=1e-6)
    assert np.isnan(scores.contradiction).all()


def test_a_text_without_units_scores_nothing(fake_scorer):
    assert asked(ZeroShotScorer(fake_scorer()), (A, "Dry.")).entailment == [0.0]
    minus = ZeroShotScorer(fake_scorer(), minus_contradiction=True)
    assert asked(minus, ("Dry.", C)).entailment == [0.5]  # 0 on SummaC's own scale


def test_document_granularity_is_the_model_itself(fake_scorer):
    inner = fake_scorer()
    scores = asked(ZeroShotScorer(inner, "document"), (f"{A} {B}", C), (A, "Dry."))
    assert scores.entailment.tolist() == asked(inner, (f"{A} {B}", C), (A, "Dry."))[0].tolist()


def test_is_a_pair_scorer_whose_signature_says_it_all(fake_scorer):
    inner = fake_scorer(threshold=0.3)
    scorer = ZeroShotScorer(inner, "document-sentence", over_premise="mean", over_hypothesis="min")
    assert isinstance(scorer, PairScorer)
    traits = scorer.traits
    assert (traits.threshold, traits.calibrated, traits.three_way) == (0.3, False, False)
    assert dict(traits.signature) == {
        "nli": "fake@1", "consistency": "summac-zs", "gran": "document-sentence", "ops": "mean-min",
        "cut": "nltk-punkt-en",
    }  # fmt: skip
    others = [
        ZeroShotScorer(inner), ZeroShotScorer(inner, "document-sentence", over_premise="mean"),
        ZeroShotScorer(inner, minus_contradiction=True), ZeroShotScorer(inner, most_units=5),
    ]  # fmt: skip
    assert "cut" not in ZeroShotScorer(inner, "document").traits.signature
    assert others[2].traits.threshold == 0.5
    assert others[2].traits.signature["minus"] == "contradiction"
    assert len({traits.digest, *(other.traits.digest for other in others)}) == 5
    assert not traits.cached


def test_a_unit_that_no_model_can_read(fake_scorer):
    scores = asked(ZeroShotScorer(fake_scorer(too_long=frozenset({C}))), (A, C), (A, D))
    assert scores.flags.tolist() == [FLAG_TOO_LONG, 0]
    assert np.isnan(scores.entailment).tolist() == [True, False]


@pytest.mark.parametrize("options", [
    {"granularity": "word"}, {"granularity": "sentence-word"}, {"granularity": ""},
    {"over_premise": "median"}, {"over_hypothesis": "sum"},
])  # fmt: skip
def test_unknown_choices(fake_scorer, options):
    with pytest.raises(ConfigurationError, match="unknown"):
        ZeroShotScorer(fake_scorer(), **options)


def test_contradiction_needs_a_model_with_that_class(fake_scorer):
    with pytest.raises(ConfigurationError, match="reports no contradiction"):
        ZeroShotScorer(fake_scorer(three_way=False), minus_contradiction=True)


def test_granularity_names():
    assert Granularity.parse("2sents") == Granularity("2sents", "2sents")
    assert str(Granularity.parse("mixed-document")) == "mixed-document"


def test_labels_of_summacs_models():
    places = {name: parse_labels(labels, name=name) for name, (_, labels) in SUMMAC_MODELS.items()}
    assert (places["vitc"].entailment, places["vitc"].contradiction) == (0, 1)
    assert (places["mnli"].entailment, places["mnli"].contradiction) == (2, 0)
    assert (places["anli"].entailment, places["anli"].contradiction) == (0, 2)


@pytest.fixture(scope="module")
def recorded():
    """Figures of the original package, made by `make parity`."""
    with np.load(parity.RECORD) as file:
        figures = dict(file)
    assert str(figures.pop("inputs")) == parity.digest_of(parity.parity_pairs()), (
        "make parity again"
    )
    return figures


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("parity")


@pytest.fixture(scope="module")
def tiny(folder):
    for name, seed in (("tiny", 1), ("tiny-b", 2)):
        parity.build_tiny(folder / name, seed=seed, labels=parity.LABELS[name])
    return parity.open_models(folder, ["tiny", "tiny-b"], folder / "cache")


@pytest.mark.slow
@pytest.mark.parity
def test_equals_the_original_on_a_tiny_model(recorded, tiny):
    pairs = parity.parity_pairs()
    assert len(pairs) > 200
    names = [name for name in recorded if name.startswith("zs/tiny/")]
    assert {name.rpartition("/")[2] for name in names} == {*parity.ALIKE, *parity.CROSSED}
    for name in names:
        ours = parity.our_zero_shot(tiny["tiny"], name.rpartition("/")[2], pairs)
        difference = np.abs(parity.kept(name, ours) - recorded[name]).max()
        assert difference <= parity.TOLERANCE, name
        assert recorded[name].std() > 0.01


@pytest.mark.parity
def test_conv_equals_the_original(recorded, tiny, folder):
    pairs = parity.parity_pairs()
    compared = 0
    for case in parity.conv_cases():
        path = parity.build_head(folder / case["file"], case)
        ours = parity.our_conv(tiny, case, path, pairs)
        theirs = recorded[f"conv/{case['file']}"]
        assert np.abs(ours - theirs).max() <= parity.TOLERANCE, case
        assert theirs.std() > 0.01
        compared += 1
    assert compared == 5


def test_every_operator_is_compared():
    assert set(parity.CHOICES) == set(product(parity.OPERATORS, parity.OPERATORS, (False, True)))


DOUBT = 0.3
UNIT_PAIR = st.tuples(st.floats(0.01, 0.49), st.floats(0.01, 0.49), st.floats(-1, 1))


def moved(probabilities, by):
    """Probabilities whose log-odds are further by as much."""
    odds = probabilities / (1 - probabilities) * np.exp(by)
    return odds / (1 + odds)


@pytest.mark.parametrize("choice", [
    *product(["max", "mean", "min"], ["max", "mean"], [False, True]), "average", "max",
])  # fmt: skip
@given(units=st.lists(UNIT_PAIR, min_size=4, max_size=4))
def test_rounding_moves_a_score_no_further_than_its_parts(fake_scorer, choice, units):
    inner = fake_scorer(doubt=DOUBT)
    if isinstance(choice, str):
        scorer = AlignmentScorer(inner, choice)
    else:
        over, then, minus = choice
        scorer = ZeroShotScorer(
            inner, over_premise=over, over_hypothesis=then, minus_contradiction=minus
        )
    entailment, against, way = np.array(units).T

    def log_odds(by):
        scores = PairScores(moved(entailment, by), moved(against, -by), np.zeros(4, np.uint8))
        answers = UnitAnswers(scores, [slice(0, 4)], [(2, 2)], np.zeros(1, np.uint8))
        (score,) = scorer.reduce([answers])
        return np.log(score / (1 - score))

    assert scorer.traits.doubt == DOUBT
    assert abs(log_odds(DOUBT * way) - log_odds(0.0)) <= DOUBT + 1e-9


@pytest.mark.parametrize("minus", [False, True])
def test_only_a_difference_is_no_probability(fake_scorer, minus):
    assert ZeroShotScorer(fake_scorer(), minus_contradiction=minus).traits.probability is not minus
