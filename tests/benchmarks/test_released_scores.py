"""The comparison with released scores, on made-up ones."""

import numpy as np
import pytest

from benchmarks.released_scores import COLUMNS, KINDS, Column, compare, correlations
from prevalence.baselines import Example
from prevalence.baselines.registry import entry_of


def test_correlations_over_all_and_by_group():
    ours = np.array([1.0, 2, 3, 1, 2, 3])
    # The groups agree in opposite ways; over all values nothing is left. Ranks of the second
    # column are 1 2 3 3 2 1, and their correlation with 1 2 3 1 2 3 (ties) is 0.
    assert correlations(ours, np.array([1.0, 2, 3, 3, 2, 1]), group=3) == pytest.approx((0, 0))
    assert correlations(ours, ours**3, group=3) == pytest.approx((1, 1))
    # A constant group says nothing, and undefined values are left out.
    gaps = np.array([np.nan, 2, 3, 5, 5, 5])
    pooled, by_group = correlations(gaps, ours, group=3)
    assert by_group == pytest.approx(1)
    assert -1 <= pooled <= 1
    assert np.isnan(correlations(gaps[3:], ours[3:], group=3)[1])


def test_every_pair_can_be_asked_for():
    for column in COLUMNS:
        assert column.kind in KINDS
        assert entry_of(column.metric).weights
        assert any(option.startswith("model=") for option in entry_of(column.metric).options)


def test_a_row_and_a_skipped_one(model):
    texts = ["warm boots", "cold hats", "warm hats", "boots"]
    examples = [Example(text, (), ("warm boots",)) for text in texts]
    column = Column("some_score", "greedy-matching:static", "encoder", "weights")
    released = {"some_score": [4.0, 1, 2, 3, 9]}
    row = compare(column, str(model), examples, released, group=2)
    assert (row["n"], row["why"]) == (4, "weights")
    assert -1 <= row["spearman"] <= 1
    # The same text is the most similar one, so that the first pair is in the released order.
    assert row["spearman_by_case"] in (0, 1)
    assert row["signature"]["layer"] == "static"
    assert "--encoder" in compare(column, None, examples, released)["skipped"]
