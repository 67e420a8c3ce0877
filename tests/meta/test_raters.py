"""Differences between raters: values by hand, plain loops with SciPy, gaps and corners."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from prevalence.errors import ConfigurationError, InputError
from prevalence.meta.raters import (
    batches_to_reannotate,
    items_to_rerate,
    judge_profile,
    mean_rating,
    pairwise_rmse,
    rater_correlations,
    rater_spread,
    ratings_per_score,
)

NAN = float("nan")
law = settings(max_examples=30, deadline=None)
SCIPY = {"kendall": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}


def cubes(*, gaps=False):
    values = [1.0, 2.0, 3.0, 5.0] + ([NAN] if gaps else [])
    shapes = st.tuples(st.integers(1, 4), st.integers(2, 6), st.integers(2, 4))
    return shapes.flatmap(
        lambda shape: hnp.arrays(np.float64, shape, elements=st.sampled_from(values))
    )


def by_item(kind, first, second, undefined):
    """Mean over items by SciPy, constant items left out or counted 0."""
    values = [
        (0.0 if undefined == "zero" else NAN)
        if np.ptp(a) == 0 or np.ptp(b) == 0
        else SCIPY[kind](a, b).statistic
        for a, b in zip(first, second, strict=True)
    ]
    known = [value for value in values if not np.isnan(value)]
    return np.mean(known) if known else NAN


@law
@given(cube=cubes(), kind=st.sampled_from([*SCIPY]), undefined=st.sampled_from(["drop", "zero"]))
def test_correlations_equal_a_plain_loop(cube, kind, undefined):
    found = rater_correlations(cube, kind=kind, undefined=undefined)
    raters = range(cube.shape[2])
    for a, b in combinations(raters, 2):
        expected = by_item(kind, cube[..., a], cube[..., b], undefined)
        assert found.pairwise[a, b] == pytest.approx(expected, abs=1e-9, nan_ok=True)
        assert found.pairwise[b, a] == pytest.approx(expected, abs=1e-9, nan_ok=True)
    for a in raters:
        expected = by_item(kind, cube[..., a], cube.mean(axis=2), undefined)
        assert found.with_mean[a] == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_undefined_items_can_be_refused():
    with pytest.raises(InputError, match="2 of 2 coefficients are undefined"):
        rater_correlations(np.ones((2, 3, 2)), kind="kendall", undefined="fail")


@law
@given(cube=cubes(gaps=True))
def test_rmse_equals_a_plain_loop(cube):
    found = pairwise_rmse(cube)
    for a, b in combinations(range(cube.shape[2]), 2):
        roots = []
        for group in cube:
            shared = ~np.isnan(group[:, a] + group[:, b])
            if shared.any():
                roots.append(np.sqrt(np.mean((group[shared, a] - group[shared, b]) ** 2)))
        expected = np.mean(roots) if roots else NAN
        assert found[a, b] == pytest.approx(expected, nan_ok=True)
        assert found[b, a] == pytest.approx(expected, nan_ok=True)


def test_rmse_per_item_by_hand():
    cube = np.array([[[1, 4], [1, 1]], [[2, 2], [2, 2.0]]])
    # Item 0: sqrt((9 + 0) / 2); item 1: 0.
    assert pairwise_rmse(cube)[0, 1] == pytest.approx(np.sqrt(4.5) / 2)


@law
@given(cube=cubes())
def test_spread_equals_numpy(cube):
    expected = cube.std(axis=2).mean(axis=0)
    np.testing.assert_allclose(rater_spread(cube), expected, atol=1e-12)


def test_spread_leaves_gaps_out():
    cube = np.array([[[1, 3, NAN], [NAN] * 3], [[2, NAN, NAN], [NAN] * 3]])
    # The one rating of the second item says nothing of agreement.
    np.testing.assert_allclose(rater_spread(cube), [1.0, NAN])


def test_mean_rating_leaves_gaps_out():
    np.testing.assert_array_equal(mean_rating([[[1, 4, NAN], [NAN] * 3]]), [[2.5, NAN]])


def test_ratings_are_counted_by_score_and_group():
    found = ratings_per_score([[[1, 5], [5, NAN]], [[3, 3], [3, 5]]])
    assert found.scores.tolist() == [1, 3, 5]
    assert found.counts.tolist() == [[1, 0, 2], [0, 3, 1]]
    assert found.mean.tolist() == [0.5, 1.5, 1.5]
    assert found.sd.tolist() == [0.5, 1.5, 0.5]
    assert ratings_per_score([[2.0, 1.5]]).scores.tolist() == [1.5, 2.0]


def test_what_to_rate_again():
    cube = [[[1, 3, 2], [2, 3, 3]], [[NAN, 4, 4], [5, NAN, 1]], [[NAN] * 3, [NAN, NAN, 1]]]
    assert items_to_rerate(cube, bound=2).tolist() == [[0, 0], [1, 1]]
    assert items_to_rerate(cube, bound=1).tolist() == [[0, 0], [0, 1], [1, 1]]


def test_which_batches_to_annotate_again():
    cells = [[0.61, 0.6], [NAN, -1.0]]
    assert batches_to_reannotate(cells, bound=0.61).tolist() == [[0, 1], [1, 1]]
    assert batches_to_reannotate([[0.5]], bound=0.5).shape == (0, 2)


def test_profile_of_a_judge():
    scores = [[5, 4, NAN, 3], [5, 5, NAN, NAN]]
    human = [[4, 4, 4, NAN], [3, 5, 4, 2]]
    found = judge_profile(scores, human, maximum=5)
    assert found.offset == pytest.approx((1 + 0 + 2 + 0) / 4)
    assert found.at_maximum == pytest.approx(3 / 5)
    assert found.constant.tolist() == [True, False, False, True]


def test_a_rating_alone_does_not_agree_with_the_mean():
    # Of four summaries the first rater gave the last two alone; on the others both disagree.
    cube = np.array([[[1, 2], [2, 0], [3, NAN], [9, NAN]]])
    found = rater_correlations(cube, kind="pearson")
    # Means of the first two are 1.5 and 1.
    assert found.with_mean[0] == pytest.approx(-1.0)


def test_malformed_ratings_are_refused():
    calls = [
        mean_rating, pairwise_rmse, rater_spread,
        lambda flat: items_to_rerate(flat, bound=2),
        lambda flat: rater_correlations(flat, kind="kendall"),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(InputError, match=r"give \[items, systems, raters\]"):
            call([[1.0, 2.0]])
    with pytest.raises(InputError, match=r"give \[batches, systems\]"):
        batches_to_reannotate([0.5], bound=0.61)
    with pytest.raises(InputError, match=r"give \[items, systems\]"):
        judge_profile([[1.0]], [[1.0, 2.0]], maximum=5)
    with pytest.raises(ConfigurationError, match="maximum is 5 but a score is 6"):
        judge_profile([[6.0]], [[1.0]], maximum=5)


def test_an_item_that_one_rater_left_out_is_no_zero():
    # On the first item both raters agree; the second was rated by the first rater alone.
    cube = np.array([[[1, 1], [2, 2], [3, 3]], [[1, NAN], [2, NAN], [3, NAN]]])
    found = rater_correlations(cube, kind="kendall", undefined="zero")
    assert (found.pairwise[0, 1], found.undefined, found.absent) == (1.0, 0, 1)
    cube[1] = 2.0
    found = rater_correlations(cube, kind="kendall", undefined="zero")
    assert (found.pairwise[0, 1], found.undefined, found.absent) == (0.5, 1, 0)
