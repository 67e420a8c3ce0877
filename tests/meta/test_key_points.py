"""Matchers against people: precision by topic and stance, supporters and their order, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from prevalence.errors import InputError
from prevalence.meta.correlate import Bootstrap
from prevalence.meta.key_points import Matcher, evaluate, table_matchers
from prevalence.readers.key_points import KeyPointPair, KeyPointTable

# One line a pair: topic, comment, key point, label, score.
LINES = """\
t a x 1 .9
t a y 0 .2
t b x 1 .4
t b y 0 .6
t c x ? .8
t c y 1 .7
u d z 1 .3
u e z 0 .1
"""


def table() -> KeyPointTable:
    rows = [line.split() for line in LINES.splitlines()]
    labels = {"1": True, "0": False, "?": None}
    return KeyPointTable(
        tuple(
            KeyPointPair(comment, key_point, labels[label], topic, "", comment, {"s": float(score)})
            for topic, comment, key_point, label, score in rows
        ),
        "review",
    )


def test_precision_and_supporters_by_hand() -> None:
    (matcher,) = table_matchers(table())
    assert (matcher.name, matcher.threshold) == ("s", 0.5)
    found = evaluate(table(), matcher, kinds=("kendall", "spearman"))
    first = found.topics[0]
    assert first[:5] == ("t", "", 6, 1, 3)
    # Topic t, decided: .9 yes, .7 yes, .6 no, .4 yes, .2 no: (1 + 1 + 3/4) / 3. Topic u: 1.
    assert first.average_precision == pytest.approx(11 / 12)
    assert found.average_precision == pytest.approx((11 / 12 + 1) / 2)
    # All: yes yes no yes yes no no at .9 .7 .6 .4 .3 .2 .1: (1 + 1 + 3/4 + 4/5) / 4.
    assert found.pooled == pytest.approx((1 + 1 + 0.75 + 0.8) / 4)
    # Best pairs of t: a-x .9 yes, c-x .8 undecided, b-y .6 no; int(3/2) = 1 stays. Of u: d-z.
    assert (found.strict, found.relaxed) == (1.0, 1.0)
    # Where people agreed. y is found in b and c, and is in c alone; z is found in none.
    counted = [(c.key_point, c.comments, c.true, c.predicted) for c in found.counts]
    assert counted == [("x", 2, 2, 1), ("y", 3, 1, 2), ("z", 2, 1, 0)]
    assert found.error == pytest.approx((1.0, -1 / 3))
    # Within t the order is turned round; u has one key point and no order.
    assert found.ranks["kendall"].within == -1.0
    # Predicted 1 2 0, true 2 1 1: ranks 2 3 1 and 3 1.5 1.5 have covariance 0.
    assert found.ranks["spearman"].overall.value == pytest.approx(0.0)
    assert found.unscored == 0


def test_the_topmost_undecided_pair_parts_strict_from_relaxed() -> None:
    scores = np.array([pair.scores["s"] for pair in table().pairs])
    scores[4] = 0.95
    found = evaluate(table(), Matcher("s", 0.5, scores))
    # Topic t keeps c-x alone: nothing found, or everything. Topic u stays 1.
    assert (found.strict, found.relaxed) == (0.5, 1.0)


def test_the_threshold_moves_counts_alone() -> None:
    scores = np.array([pair.scores["s"] for pair in table().pairs])
    low, high = (evaluate(table(), Matcher("s", cut, scores)) for cut in (0.35, 0.9))
    assert (low.pooled, low.strict, low.topics) == (high.pooled, high.strict, high.topics)
    assert [count.predicted for count in low.counts] == [2, 2, 0]
    # Strictly above: .9 is not.
    assert [count.predicted for count in high.counts] == [0, 0, 0]
    assert math.isnan(high.ranks["kendall"].within)


def test_a_pair_without_a_score_is_counted_and_left_out() -> None:
    scores = np.array([pair.scores["s"] for pair in table().pairs])
    scores[0] = math.nan
    found = evaluate(table(), Matcher("s", 0.5, scores))
    assert found.unscored == 1
    # Its comment makes the key point all the same, and is not found.
    assert [(c.key_point, c.comments, c.true, c.predicted) for c in found.counts[:2]] == [
        ("x", 2, 2, 0), ("y", 3, 1, 2),
    ]  # fmt: skip
    # .7 yes, .6 no, .4 yes, .2 no: (1 + 2/3) / 2.
    assert found.topics[0].average_precision == pytest.approx(5 / 6)


def test_what_cannot_be_evaluated() -> None:
    pairs = table().pairs
    with pytest.raises(InputError, match="s: 8 pairs, 7 scores"):
        evaluate(table(), Matcher("s", 0.5, np.zeros(7)))
    none = KeyPointTable(tuple(pair._replace(label=False) for pair in pairs), "review")
    with pytest.raises(InputError, match="no pair is labelled as a match"):
        evaluate(none, Matcher("s", 0.5, np.zeros(8)))


def several(copies: int) -> KeyPointTable:
    """The two topics so many times, under names of their own."""
    pairs = (p._replace(group=f"{p.group}{n}") for n in range(copies) for p in table().pairs)
    return KeyPointTable(tuple(pairs), "review")


def test_intervals_draw_topics() -> None:
    whole = several(3)
    (matcher,) = table_matchers(whole)
    assert evaluate(whole, matcher).intervals == {}
    found = evaluate(whole, matcher, bootstrap=Bootstrap(over="topics", resamples=300)).intervals
    # Of six topics, one resample in 64 holds copies of the first alone, and one of the second.
    ends = {name: (part.low, part.high) for name, part in found.items() if part is not None}
    assert ends["average_precision"] == pytest.approx((11 / 12, 1.0))
    assert (ends["strict"], ends["relaxed"]) == ((1.0, 1.0), (1.0, 1.0))
    # Of t: 1 - 2 and 2 - 1 for two key points; of u: 0 - 1 for one.
    assert (ends["count_error"], ends["count_bias"]) == ((1.0, 1.0), (-1.0, 0.0))


def test_fewer_than_six_topics_have_no_interval() -> None:
    few = several(2)
    (matcher,) = table_matchers(few)
    found = evaluate(few, matcher, bootstrap=Bootstrap(over="topics", resamples=20)).intervals
    assert len(found) == 5
    assert set(found.values()) == {None}
