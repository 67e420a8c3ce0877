"""ROUGE-1 precision against the rouge-score package and released labels."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.errors import ConfigurationError
from prevalence.nli.pairs import PairPlan, TextTable
from prevalence.scorers.rouge import (
    DEV_THRESHOLDS,
    ROUGE_NAMES,
    RougeScorer,
    common_subsequence,
    words,
)

some_words = st.sampled_from(
    ["boots", "Boot", "fitting", "fits", "the", "THE", "42", "3.5", "can't", "naïve", "İstanbul",
     "really", "generously", "sky", "dies", "--", "_", "ﬁt", "²", "\n"]
)  # fmt: skip
texts = st.one_of(st.lists(some_words, max_size=12).map(" ".join), st.text(max_size=20))
NAME = "rouge1-precision"
DEV_THRESHOLD = DEV_THRESHOLDS[NAME]


def measured(name, pairs):
    """float32 [pairs]: a measure of (target, prediction) each."""
    texts = TextTable()
    return RougeScorer(name).score(texts, np.array([texts.add_all(p) for p in pairs])).entailment


def rouge(kind, target, prediction):
    """Precision, recall and F1."""
    parts = ("precision", "recall", "f1")
    return [measured(f"rouge{kind}-{part}", [(target, prediction)]).item() for part in parts]


def precision(target, prediction):
    return measured(NAME, [(target, prediction)]).item()


def best_threshold(scores, labels):
    """Lowest of the thresholds of best balanced accuracy midway between distinct scores."""
    distinct = np.unique(scores)
    candidates = (distinct[1:] + distinct[:-1]) / 2
    accuracies = [
        (np.mean(scores[labels] > cut) + np.mean(scores[~labels] <= cut)) / 2 for cut in candidates
    ]
    best = int(np.argmax(accuracies))
    return candidates[best], accuracies[best], distinct[best : best + 2]


def auc(scores, labels):
    """Share of (positive, negative) pairs in order, ties counting half."""
    gaps = scores[labels][:, None] - scores[~labels][None, :]
    return ((gaps > 0) + (gaps == 0) / 2).mean()


@pytest.fixture(scope="module")
def dev(shared_data):
    """Scores and labels of the 848 pairs of ReviewNLI dev, and their texts."""
    lines = (shared_data / "reviewnli_dev.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [
        (line["review"], sentence, label)
        for line in map(json.loads, lines)
        for sentence, label in zip(line["sentences"], line["labels"], strict=True)
    ]
    scores = measured(NAME, [(review, sentence) for review, sentence, _ in pairs])
    return pairs, scores, np.array([label == 1 for *_, label in pairs])


def test_by_hand():
    # boots/boot and fits/fit share stems; "the" occurs twice in the prediction, once in the
    # target; "well" is missing: 3 of 5.
    assert precision("The boots fit.", "The boot, the fit: well") == np.float32(3 / 5)
    assert precision("boots", "") == 0.0
    assert precision("", "boots") == 0.0
    assert precision("a b c d", "d") == 1.0


def test_bigrams_and_subsequences_by_hand():
    # Bigrams "warm boots" (x2 in the prediction, x1 in the target) and "boots warm": 1 of 3 given,
    # 1 of 2 wanted, F1 2/5.
    found = rouge("2", "warm boots fit", "warm boots warm boots")
    assert found == pytest.approx([1 / 3, 1 / 2, 2 / 5])
    # "boots ... dry" is common and in order; "keep" comes too early in the prediction.
    found = rouge("L", "boots keep feet dry", "keep boots dry")
    assert found == pytest.approx([2 / 3, 2 / 4, 4 / 7])
    assert rouge("2", "boots", "boots") == rouge("L", "", "") == [0.0, 0.0, 0.0]


@settings(deadline=None)
@given(target=st.text("abc", max_size=12), prediction=st.text("abcd", max_size=12))
def test_the_common_subsequence_equals_the_textbook_table(target, prediction):
    table = np.zeros((len(target) + 1, len(prediction) + 1), int)
    for i, a in enumerate(target):
        for j, b in enumerate(prediction):
            longer = max(table[i, j + 1], table[i + 1, j])
            table[i + 1, j + 1] = table[i, j] + 1 if a == b else longer
    assert common_subsequence(target, prediction) == table[-1, -1]


def test_words_of_three_letters_keep_their_endings():
    # The stemmer itself would make "wa" and "thi" of both.
    assert words("Was this his") == ["was", "thi", "his"]


@pytest.mark.parity
@settings(deadline=None)
@given(target=texts, prediction=texts)
def test_equals_the_rouge_score_package(target, prediction):
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    kinds = {"1": "rouge1", "2": "rouge2", "L": "rougeL"}
    theirs = rouge_scorer.RougeScorer([*kinds.values()], use_stemmer=True).score(target, prediction)
    for kind, name in kinds.items():
        assert rouge(kind, target, prediction) == np.float32(theirs[name]).tolist()


@pytest.mark.parity
def test_equals_the_rouge_score_package_on_reviews(dev):
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    theirs = rouge_scorer.RougeScorer(["rouge1"], use_stemmer=True)
    pairs, scores, _ = dev
    expected = [theirs.score(review, text)["rouge1"].precision for review, text, _ in pairs]
    assert scores.tolist() == np.float32(expected).tolist()


def test_the_threshold_is_the_best_one_of_reviewnli_dev(dev):
    _, scores, labels = dev
    threshold, accuracy, (below, above) = best_threshold(scores, labels)
    assert (len(labels), int(labels.sum())) == (848, 260)
    assert threshold == pytest.approx((below + above) / 2)
    assert below == np.float32(13 / 31) < DEV_THRESHOLD < above == np.float32(8 / 19)
    assert accuracy == pytest.approx(0.6609, abs=5e-5)
    assert auc(scores, labels) == pytest.approx(0.6965, abs=5e-5)


def test_the_scorer_answers_pairs():
    texts, plan, seen = TextTable(), PairPlan(), []
    reviews = texts.add_all(["The boots fit.", ""])
    plan.add_product(reviews, texts.add_all(["The boot fits well.", "Boots!"]))
    scorer = RougeScorer(NAME)
    scores = scorer.score(texts, plan.unique()[0], progress=seen.append)
    assert scores.entailment.tolist() == [0.75, 1.0, 0.0, 0.0]
    assert np.isnan(scores.contradiction).all()
    assert not scores.flags.any()
    assert seen == [4]
    # Another table numbers other texts; counts of the first must not answer for it.
    other = TextTable()
    other.add_all(["Blue.", "x", "Blue boots."])
    assert scorer.score(other, np.array([[0, 2]])).entailment.tolist() == [0.5]


def test_many_pairs_are_scored_in_parts():
    texts, seen = TextTable(), []
    texts.add_all(["The boots fit.", "", "The boot fits well.", "Boots!"])
    scorer = RougeScorer(NAME)
    times = scorer.traits.work_unit
    pairs = np.array([[0, 2], [0, 3], [1, 2]] * times)
    scores = scorer.score(texts, pairs, progress=seen.append)
    assert scores.entailment.tolist() == [0.75, 1.0, 0.0] * times
    assert seen == [times, times, times]


@pytest.mark.parametrize("name", ROUGE_NAMES)
def test_every_name_is_a_scorer(name):
    # Of four words and three bigrams, "warm boots" is given by three words and two bigrams.
    expected = {"1": (2 / 3, 2 / 4, 4 / 7), "2": (1 / 2, 1 / 3, 2 / 5), "L": (2 / 3, 2 / 4, 4 / 7)}
    part = ("precision", "recall", "f1").index(name[7:])
    found = measured(name, [("The warm boots fit.", "Such warm boots")])
    assert found == np.float32(expected[name[5]][part])
    scorer = RougeScorer(name)
    assert scorer.traits.calibrated is (name == NAME)
    assert scorer.traits.signature["consistency"] == name


def test_scorers_have_different_digests_and_known_names():
    assert len({RougeScorer(name).traits.digest for name in ROUGE_NAMES}) == len(ROUGE_NAMES) == 9
    with pytest.raises(ConfigurationError, match=r"unknown scorer 'rouge3-f1': choose from rouge1"):
        RougeScorer("rouge3-f1")


def test_the_scorer_takes_a_threshold():
    assert RougeScorer(NAME).traits.threshold == DEV_THRESHOLD
    assert RougeScorer(NAME, threshold=0.0).traits.threshold == 0.0
    with pytest.raises(ConfigurationError):
        RougeScorer(NAME, threshold=1.0)
