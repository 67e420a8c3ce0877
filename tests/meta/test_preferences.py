"""Preferences between systems: points, #CP by hand, the naive count, verdicts in two orders."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from prevalence.errors import InputError
from prevalence.meta.preferences import (
    OrderBias,
    all_pairs,
    correct_preferences,
    head_to_head_points,
    neighbour_pairs,
    order_bias,
    preference_points,
    without_verdict,
)

NAN = float("nan")


law = settings(max_examples=50, deadline=None)


def grids(*values):
    shapes = st.tuples(st.integers(1, 6), st.integers(2, 5))
    return shapes.flatmap(
        lambda shape: st.tuples(
            *[hnp.arrays(np.float64, shape, elements=st.sampled_from(values))] * 2
        )
    )


def naive(metric, human):
    """#CP from the definition, one item and one pair at a time."""
    correct = judged = 0
    for a, b in combinations(range(metric.shape[1]), 2):
        rows = [
            i for i in range(len(metric))
            if not np.isnan([metric[i, a], metric[i, b], human[i, a], human[i, b]]).any()
        ]  # fmt: skip
        if not rows:
            continue
        judged += 1
        sums = [
            sum(1.0 if v[i, a] > v[i, b] else 0.5 if v[i, a] == v[i, b] else 0.0 for i in rows)
            for v in (metric, human)
        ]
        half = len(rows) / 2
        correct += (
            all(s > half for s in sums) or all(s < half for s in sums) or sums == [half, half]
        )
    return correct, judged


def test_points_compare_exactly():
    points = preference_points([[3.0, 3.0, 2.0], [1.0, NAN, 4.0]])
    np.testing.assert_array_equal(points[0], [[0.5, 0.5, 1], [0.5, 0.5, 1], [0, 0, 0.5]])
    np.testing.assert_array_equal(points[1], [[0.5, NAN, 0], [NAN] * 3, [1, NAN, 0.5]])
    # A difference of one rounding is a difference.
    close = preference_points([[1.0, np.nextafter(1.0, 2.0)]])[0]
    assert close.tolist() == [[0.5, 0.0], [1.0, 0.5]]


def test_count_by_hand():
    # Items 3, systems 3. Metric: a over b 2 : 1, a over c 2.5 : .5, b = c 1.5 : 1.5.
    metric = preference_points([[3, 2, 1], [3, 2, 2], [1, 2, 1 + 2]])
    human = preference_points([[5, 4, 4], [5, 4, 4], [5, 5, 5]])
    found = correct_preferences(metric, human)
    assert found.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert found.items.tolist() == [3, 3, 3]
    assert found.metric.tolist() == [2.0, 2.0, 1.5]
    assert found.human.tolist() == [2.5, 2.5, 1.5]
    assert (found.count, found.random) == (3, 1.0)


@law
@given(values=grids(1.0, 2.0, 3.0, NAN))
def test_count_equals_the_definition(values):
    metric, human = values
    found = correct_preferences(preference_points(metric), preference_points(human))
    assert (found.count, len(found.pairs)) == naive(metric, human)


@law
@given(values=grids(1.0, 2.0, 3.0))
def test_a_metric_agrees_with_itself_and_a_turned_one_only_on_draws(values):
    human = preference_points(values[0])
    assert correct_preferences(human, human).correct.all()
    turned = correct_preferences(preference_points(-values[0]), human)
    assert turned.count == int((turned.human == turned.items / 2).sum())


@law
@given(values=grids(1.0, 2.0, 3.0))
def test_turning_the_pairs_round_changes_nothing(values):
    points = [preference_points(v) for v in values]
    pairs = all_pairs(values[0].shape[1])
    first, second = (correct_preferences(*points, pairs=p) for p in (pairs, pairs[:, ::-1]))
    np.testing.assert_array_equal(first.correct, second.correct)


def test_pairs_without_a_common_item_are_not_judged():
    metric = preference_points([[1, 2, NAN], [1, NAN, 2]])
    human = preference_points([[1, 2, 3], [1, 2, 3]])
    found = correct_preferences(metric, human)
    assert found.pairs.tolist() == [[0, 1], [0, 2]]
    assert found.items.tolist() == [1, 1]
    assert found.random == pytest.approx(2 / 3)


def test_neighbours_go_from_the_best_down_and_equals_keep_their_order():
    assert neighbour_pairs([4, 5, 4, 1]).tolist() == [[1, 0], [0, 2], [2, 3]]
    assert neighbour_pairs([4, NAN, 5]).tolist() == [[2, 0]]
    assert neighbour_pairs([4]).shape == (0, 2)
    assert all_pairs(1).shape == (0, 2)


def test_systems_of_equal_quality_are_neighbours_in_their_own_order():
    tenths = np.array([0.1, 0.2, 0.3])
    first, second = sum(tenths), sum(tenths[::-1])
    assert first != second, "the sums must differ in their last digit"
    low, high = sorted([first, second])
    assert neighbour_pairs([low, high, 0.2]).tolist() == [[0, 1], [1, 2]]


def test_verdicts_of_both_orders_are_averaged():
    # Item 0: a better twice; item 1: the order decided; item 2: only one order was answered.
    places = [[0, 0, 1], [1, 0, 1], [2, 1, 0]]
    points = head_to_head_points(places, [[1, 1], [1, 2], [NAN, 1]], items=4, systems=2)
    assert points[:3, 0, 1].tolist() == [1.0, 0.5, 0.0]
    assert points[:3, 1, 0].tolist() == [0.0, 0.5, 1.0]
    assert np.isnan(points[3]).all()
    human = preference_points([[5, 4], [5, 4], [4, 5], [5, 4]])
    found = correct_preferences(points, human)
    # The fourth item has no verdict, so people's preference there does not count either.
    assert (found.items.tolist(), found.metric.tolist(), found.human.tolist()) == ([3], [1.5], [2])
    assert found.count == 0


def test_a_draw_in_both_orders_is_half():
    points = head_to_head_points([[0, 0, 1]], [[0, 0]], items=1, systems=2)
    assert points[0, 0, 1] == 0.5


def test_rows_on_one_comparison_are_averaged_in_either_direction():
    points = head_to_head_points([[0, 0, 1], [0, 1, 0]], [[1, 1], [2, NAN]], items=1, systems=2)
    assert points[0, 0, 1] == 1.0
    points = head_to_head_points([[0, 0, 1], [0, 1, 0]], [[1, 1], [1, 1]], items=1, systems=2)
    assert points[0, 0, 1] == 0.5


def test_a_draw_over_several_rows_a_comparison_is_a_draw():
    # Three rows a comparison, so points are sixths; 0 + 4/6 + 1 + 2/6 is half of four items.
    won = [[2, 2, 2, 2, 2, 2], [1, 1, 1, 1, 2, 2], [1, 1, 1, 1, 1, 1], [1, 1, 2, 2, 2, 2]]
    places = [[item, 0, 1] for item in range(4) for _ in range(3)]
    verdicts = np.array(won).reshape(-1, 2)
    points = head_to_head_points(places, verdicts, items=4, systems=2)
    assert points[:, 0, 1].sum() != 2.0, "the sum must miss the half by its last digit"
    found = correct_preferences(points, np.full((4, 2, 2), 0.5))
    assert found.correct.tolist() == [True]


@law
@given(values=grids(1.0, 2.0, 3.0))
def test_verdicts_that_follow_scores_give_the_points_of_the_scores(values):
    scores = values[0]
    items, systems = scores.shape
    places = [(i, a, b) for i in range(items) for a, b in combinations(range(systems), 2)]
    verdict = [
        0 if scores[i, a] == scores[i, b] else 1 if scores[i, a] > scores[i, b] else 2
        for i, a, b in places
    ]
    points = head_to_head_points(
        places, np.repeat(np.array([verdict]).T, 2, axis=1), items=items, systems=systems
    )
    apart = ~np.eye(systems, dtype=bool)
    np.testing.assert_array_equal(points[:, apart], preference_points(scores)[:, apart])


def test_order_bias_tells_double_answers_from_single_ones():
    rows = [[1, 1], [2, 2], [0, 0], [1, 2], [1, 2], [2, 1], [0, 1], [NAN, 1], [NAN, NAN]]
    assert order_bias(rows) == OrderBias(asked=7, same=3, first=2, second=1, once=1)
    assert order_bias([]) == OrderBias(0, 0, 0, 0, 0)


def test_comparisons_by_people_without_a_verdict_are_counted():
    # Item 0: all three pairs are rated, one has a verdict. Item 1: one pair is rated.
    points = head_to_head_points([[0, 0, 1]], [[1, NAN]], items=2, systems=3)
    assert without_verdict(points, [[1, 2, 3], [NAN, 2, 3]]) == 2 + 1
    assert without_verdict(points, [[1, 2, NAN], [NAN, 2, NAN]]) == 0


@pytest.mark.parametrize(
    ("places", "verdicts", "message"),
    [
        ([[0, 0, 1]], [[1, 3]], "0, 1, 2 and NaN"),
        ([[0, 0, 2]], [[1, 1]], "point outside 1 items and 2 systems"),
        ([[0, -1, 1]], [[1, 1]], "point outside"),
        ([[0, 1, 1]], [[1, 1]], "with itself"),
        ([[0, 0, 1]], [[1, 1], [1, 1]], "1 places but 2 verdicts"),
    ],
)
def test_malformed_verdicts_are_refused(places, verdicts, message):
    with pytest.raises(InputError, match=message):
        head_to_head_points(places, verdicts, items=1, systems=2)


def test_malformed_scores_are_refused():
    with pytest.raises(InputError, match="1 axes"):
        preference_points([1, 2])
    with pytest.raises(InputError, match="2 axes"):
        neighbour_pairs([[1, 2]])
    with pytest.raises(InputError, match="shapes"):
        correct_preferences(np.zeros((1, 2, 2)), np.zeros((2, 2, 2)))
