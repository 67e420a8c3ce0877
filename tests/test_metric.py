"""Decisions, masks and scores: values by hand, and laws that follow from the equations."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from prevalence import metric
from prevalence.errors import ConfigurationError, InputError, ModelError
from prevalence.nli.pairs import FLAG_TOO_LONG, PairScores


@st.composite
def matrices(draw, elements=None):
    """Entries for m reviews and n sentences: reviews [m, n], sentences [n, n], statement [n]."""
    m, n = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    cells = st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0]) if elements is None else elements
    return tuple(
        draw(hnp.arrays(np.float64, shape, elements=cells)) for shape in ((m, n), (n, n), (n,))
    )


def scored(reviews, sentences, statement, threshold=0.5):
    """The hard score and the masks of decided probabilities."""
    marks = metric.masks(
        metric.decisions(statement, threshold), metric.decisions(sentences, threshold)
    )
    supports = metric.support(metric.decisions(reviews, threshold))
    return metric.prevalence(supports, marks.counts, len(reviews)), marks


def test_decisions_are_strict_in_the_precision_of_the_probabilities():
    single = np.array([0.04, np.nextafter(np.float32(0.04), np.float32(1))], np.float32)
    assert metric.decisions(single, 0.04).tolist() == [False, True]
    # float32(.1) is above the float64 .1; printed as 0.1 it still is not above a threshold of 0.1.
    assert metric.decisions(np.float32([0.1]), 0.1).tolist() == [False]
    assert metric.decisions([0, 1], 0.0).tolist() == [False, True]
    assert metric.decisions([[1.0]], 0.999).tolist() == [[True]]


def test_a_threshold_below_one_leaves_certainty_above_it():
    for kind in (np.float32, np.float64):
        below = np.nextafter(kind(1), kind(0))
        assert metric.decisions([below, kind(1)], 0.99999999999999994).tolist() == [False, True]
        assert metric.decisions(np.asarray([1.0], kind), 0.99999999).tolist() == [True]


@pytest.mark.parametrize("value", [float("nan"), -0.01, 1.01, float("inf")])
def test_decisions_refuse_what_is_no_probability(value):
    with pytest.raises(ModelError, match=r"must lie in \[0, 1\]"):
        metric.decisions([0.5, value], 0.5)


def test_a_pair_that_was_too_long_to_read_is_decided_no():
    answers = PairScores.empty(3)
    answers.entailment[:2] = 0.9, 0.1
    answers.flags[2] = FLAG_TOO_LONG
    assert metric.implied_pairs(answers, 0.5).tolist() == [True, False, False]
    answers.flags[2] = 0
    with pytest.raises(ModelError, match="not be NaN"):
        metric.implied_pairs(answers, 0.5)


@pytest.mark.parametrize("threshold", [-0.1, 1.0, 2.0, float("nan")])
def test_thresholds_outside_their_range_are_refused(threshold):
    with pytest.raises(ConfigurationError, match="threshold must lie in"):
        metric.check_threshold(threshold)


def test_thresholds_in_range_are_returned():
    assert (metric.check_threshold(0), metric.check_threshold(0.04)) == (0.0, 0.04)


def test_redundancy_names_the_smallest_earlier_sentence():
    # Rows imply columns. 1 ⊢ 2 and 2 ⊢ 3 and 0 ⊢ 3; 3 ⊢ 0 does not matter, it comes later.
    implied = np.zeros((4, 4), bool)
    implied[1, 2] = implied[2, 3] = implied[0, 3] = implied[3, 0] = True
    np.fill_diagonal(implied, True)
    assert metric.redundant_with(implied).tolist() == [-1, -1, 1, 0]
    assert metric.redundant_with(np.zeros((0, 0))).tolist() == []


def test_a_masked_sentence_still_masks_later_ones():
    # 0 is trivial and implies 1; 1 is redundant and implies 2.
    marks = metric.masks([True, False, False], [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert marks.redundant_with.tolist() == [-1, 0, 1]
    assert marks.counts.tolist() == [False, False, False]


def test_masked_sentences_count_in_n_and_their_supports_are_not_read():
    # (6 + 2) / (8 reviews · 3 sentences)
    assert metric.prevalence([6, -999, 2], [True, False, True], 8) == 1 / 3
    assert metric.prevalence([], [], 8) == 0.0
    assert metric.prevalence([5], [False], 5) == 0.0


@pytest.mark.parametrize("n_reviews", [0, -1])
def test_no_review_has_no_prevalence(n_reviews):
    with pytest.raises(InputError, match="at least one review"):
        metric.prevalence([1], [True], n_reviews)
    with pytest.raises(InputError, match="at least one review"):
        metric.soft_prevalence(np.zeros((0, 2)), [1.0, 1.0])


def test_support_counts_reviews():
    assert metric.support([[1, 0, 1], [1, 0, 0]]).tolist() == [2, 0, 1]


def test_soft_masks_multiply_complements():
    # Sentence 2: (1 − .2)(1 − .5)(1 − .4) = .24; cells on and below the diagonal are not read.
    implied = [[0.9, 0.1, 0.5], [0.9, 0.9, 0.4], [0.9, 0.9, 0.9]]
    weights = metric.soft_masks([0.5, 0.0, 0.2], implied)
    assert weights == pytest.approx([0.5, 0.9, 0.24])


def test_soft_prevalence_by_hand():
    # Column means .5 and .25, weights 1 and .5: (.5 + .125) / 2.
    assert metric.soft_prevalence([[1.0, 0.0], [0.0, 0.5]], [1.0, 0.5]) == pytest.approx(0.3125)
    assert metric.soft_prevalence(np.zeros((3, 0)), []) == 0.0


def test_contradictions_by_hand():
    # Columns: most probable; tied with neutral; tied with entailment; decided as entailment;
    # a majority of nothing.
    yes = [0.03, 0.02, 0.4, 0.3, 0.0]
    no = [0.90, 0.49, 0.4, 0.6, 0.4]
    assert metric.contradictions(yes, no, 0.04).tolist() == [True, False, False, False, False]
    assert metric.contradictions(yes, no, 0.50).tolist() == [True, False, False, True, False]


@given(matrices())
def test_scores_lie_between_zero_and_one(parts):
    reviews, sentences, statement = parts
    score, _ = scored(*parts)
    soft = metric.soft_prevalence(reviews, metric.soft_masks(statement, sentences))
    assert 0.0 <= score <= 1.0
    assert 0.0 <= soft <= 1.0


@given(matrices())
def test_the_score_is_the_triple_product_of_the_definition(parts):
    reviews, sentences, statement = parts
    m, n = reviews.shape
    total = 0
    for k in range(n):
        tau = 1 - (statement[k] > 0.5)
        rho = np.prod([1 - (sentences[j, k] > 0.5) for j in range(k)])
        total += int(tau * rho) * sum(int(reviews[i, k] > 0.5) for i in range(m))
    assert scored(*parts)[0] == float(Fraction(total, m * n))


@given(matrices(st.sampled_from([0.0, 1.0])))
def test_soft_equals_hard_for_certain_probabilities(parts):
    reviews, sentences, statement = parts
    soft = metric.soft_prevalence(reviews, metric.soft_masks(statement, sentences))
    assert soft == pytest.approx(scored(*parts)[0], abs=1e-12)


@given(matrices(), st.randoms(use_true_random=False))
def test_the_order_of_reviews_only_permutes_them(parts, random):
    reviews, sentences, statement = parts
    order = list(range(len(reviews)))
    random.shuffle(order)
    assert scored(reviews[order], sentences, statement)[0] == scored(*parts)[0]
    straight, moved = metric.decisions(reviews, 0.5), metric.decisions(reviews[order], 0.5)
    for k in range(reviews.shape[1]):
        places = [order[row] for row in np.flatnonzero(moved[:, k])]
        assert sorted(places) == np.flatnonzero(straight[:, k]).tolist()


@given(matrices(), st.integers(2, 4))
def test_repeating_every_review_changes_nothing(parts, times):
    reviews, sentences, statement = parts
    repeated, _ = scored(np.repeat(reviews, times, axis=0), sentences, statement)
    assert repeated == pytest.approx(scored(*parts)[0], abs=1e-12)


@given(matrices(), st.data())
def test_an_earlier_sentence_never_unmasks_a_later_one(parts, data):
    reviews, sentences, statement = parts
    n = len(statement)
    place = data.draw(st.integers(0, n))
    cells = st.sampled_from([0.0, 0.7])
    row = data.draw(hnp.arrays(np.float64, n + 1, elements=cells))
    column = data.draw(hnp.arrays(np.float64, n, elements=cells))
    grown = np.insert(np.insert(sentences, place, column, axis=1), place, row, axis=0)
    before = scored(*parts)[1].counts
    more = scored(np.insert(reviews, place, 0.0, axis=1), grown, np.insert(statement, place, 0.0))[
        1
    ].counts
    after = np.delete(more, place)
    assert not np.any(after & ~before)
    # Sentences before the new one are not touched by it.
    assert np.array_equal(after[:place], before[:place])


@given(matrices())
def test_an_unsupported_last_sentence_scales_the_score(parts):
    reviews, sentences, statement = parts
    n = len(statement)
    longer, _ = scored(
        np.pad(reviews, ((0, 0), (0, 1))), np.pad(sentences, (0, 1)), np.pad(statement, (0, 1))
    )
    assert longer == pytest.approx(scored(*parts)[0] * n / (n + 1), abs=1e-12)


@given(matrices())
def test_a_repeated_last_sentence_scales_the_score_too(parts):
    # Its copy implies it, so it is masked however many reviews support it.
    reviews, sentences, statement = parts
    n = len(statement)
    reviews, sentences = (np.concatenate([a, a[:, -1:]], axis=1) for a in (reviews, sentences))
    sentences = np.concatenate([sentences, sentences[-1:]], axis=0)
    sentences[n - 1, n] = 1.0
    longer, marks = scored(reviews, sentences, np.append(statement, statement[-1]))
    assert not marks.counts[n]
    original = scored(reviews[:, :n], sentences[:n, :n], statement)[0]
    assert longer == pytest.approx(original * n / (n + 1), abs=1e-12)


@given(matrices())
def test_no_pair_is_both_entailed_and_contradicted(parts):
    reviews, _, _ = parts
    # A cell of .2 is entailed, though .8 speaks against it.
    against = metric.contradictions(reviews, 1.0 - reviews, 0.1)
    assert not np.any(against & metric.decisions(reviews, 0.1))
