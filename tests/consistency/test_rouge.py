"""ROUGE-1 precision against the rouge-score package and released labels."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.consistency.rouge import (
    DEV_THRESHOLD,
    Rouge1PrecisionScorer,
    rouge1_precision,
    unigrams,
)
from prevalence.errors import ConfigurationError
from prevalence.texts import PairPlan, TextTable

words = st.sampled_from(
    ["boots", "Boot", "fitting", "fits", "the", "THE", "42", "3.5", "can't", "naïve", "İstanbul",
     "really", "generously", "sky", "dies", "--", "_", "ﬁt", "²", "\n"]
)  # fmt: skip
texts = st.one_of(st.lists(words, max_size=12).map(" ".join), st.text(max_size=20))


def precision(target, prediction):
    return rouge1_precision(unigrams(target), unigrams(prediction))


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
    scores = np.array([precision(review, sentence) for review, sentence, _ in pairs])
    return pairs, scores, np.array([label == 1 for *_, label in pairs])


def test_by_hand():
    # boots/boot and fits/fit share stems; "the" occurs twice in the prediction, once in the
    # target; "well" is missing: 3 of 5.
    assert precision("The boots fit.", "The boot, the fit: well") == 3 / 5
    assert precision("boots", "") == 0.0
    assert precision("", "boots") == 0.0
    assert precision("a b c d", "d") == 1.0


def test_words_of_three_letters_keep_their_endings():
    # The stemmer itself would make "wa" and "thi" of both.
    assert dict(unigrams("Was this his")) == {"was": 1, "thi": 1, "his": 1}


@pytest.mark.parity
@given(target=texts, prediction=texts)
def test_equals_the_rouge_score_package(target, prediction):
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    theirs = rouge_scorer.RougeScorer(["rouge1"], use_stemmer=True).score(target, prediction)
    assert precision(target, prediction) == theirs["rouge1"].precision


@pytest.mark.parity
def test_equals_the_rouge_score_package_on_reviews(dev):
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    theirs = rouge_scorer.RougeScorer(["rouge1"], use_stemmer=True)
    pairs, scores, _ = dev
    expected = [theirs.score(review, text)["rouge1"].precision for review, text, _ in pairs]
    assert scores.tolist() == expected


def test_the_threshold_is_the_best_one_of_reviewnli_dev(dev):
    _, scores, labels = dev
    threshold, accuracy, (below, above) = best_threshold(scores, labels)
    assert (len(labels), int(labels.sum())) == (848, 260)
    assert threshold == pytest.approx(DEV_THRESHOLD, abs=5e-5)
    assert below == 13 / 31 < DEV_THRESHOLD < above == 8 / 19
    assert accuracy == pytest.approx(0.6609, abs=5e-5)
    assert auc(scores, labels) == pytest.approx(0.6965, abs=5e-5)


def test_the_scorer_answers_pairs():
    texts, plan, seen = TextTable(), PairPlan(), []
    reviews = texts.add_all(["The boots fit.", ""])
    plan.add_product(reviews, texts.add_all(["The boot fits well.", "Boots!"]))
    scorer = Rouge1PrecisionScorer()
    scores = scorer.score(texts, plan.unique()[0], progress=seen.append)
    assert scores.entailment.tolist() == [0.75, 1.0, 0.0, 0.0]
    assert np.isnan(scores.contradiction).all()
    assert not scores.flags.any()
    assert seen == [4]
    # Another table numbers other texts; counts of the first must not answer for it.
    other = TextTable()
    other.add_all(["Blue.", "x", "Blue boots."])
    assert scorer.score(other, np.array([[0, 2]])).entailment.tolist() == [0.5]


def test_the_scorer_takes_a_threshold():
    assert Rouge1PrecisionScorer().threshold == DEV_THRESHOLD
    assert Rouge1PrecisionScorer(threshold=0.0).threshold == 0.0
    with pytest.raises(ConfigurationError):
        Rouge1PrecisionScorer(threshold=1.0)
