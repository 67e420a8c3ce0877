"""Bounds of a total, from a sample without replacement."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from prevalence.summarize.greedy import ladder, upper_bounds


@pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-4])
@pytest.mark.parametrize(("population", "drawn"), [(1, 1), (7, 3), (30, 16), (64, 50), (211, 22)])
def test_the_bound_is_the_largest_total_that_is_not_refuted(
    population: int, drawn: int, alpha: float
) -> None:
    hits = np.arange(drawn + 1)
    expected = []
    for count in hits:
        totals = np.arange(count, count + population - drawn + 1)
        tails = hypergeom.cdf(count, population, totals, drawn)
        expected.append(int(totals[tails > alpha * (1 - 1e-9)].max()))
    assert upper_bounds(hits, drawn, population, alpha).tolist() == expected


@pytest.mark.parametrize("alpha", [0.2, 0.01])
def test_the_bound_fails_no_more_often_than_alpha_whatever_the_total(alpha: float) -> None:
    population, drawn = 60, 20
    hits = np.arange(drawn + 1)
    bounds = upper_bounds(hits, drawn, population, alpha)
    for total in range(population + 1):
        law = hypergeom.pmf(hits, population, total, drawn)
        assert law[bounds < total].sum() <= alpha * (1 + 1e-9)


@pytest.mark.parametrize("alpha", [0.0, 1e-300])
def test_without_risk_what_is_not_drawn_may_all_count(alpha: float) -> None:
    assert upper_bounds(np.array([0, 2, 5]), 5, 12, alpha).tolist() == [7, 9, 12]


def test_everything_drawn_leaves_nothing_open() -> None:
    assert upper_bounds(np.array([0, 9]), 9, 9, 0.05).tolist() == [0, 9]


def test_no_hit_gives_no_shape_but_its_own() -> None:
    assert upper_bounds(np.array([], np.int64), 3, 9, 0.05).shape == (0,)


@pytest.mark.parametrize("population", [0, 1, 15, 16, 17, 100, 5000])
def test_a_ladder_rises_to_everything(population: int) -> None:
    rungs = ladder(population, first=16, ratio=1.4)
    assert rungs[-1] == population
    assert list(rungs) == sorted(set(rungs))
    assert rungs[0] == min(16, population)


def test_a_slow_ladder_still_rises() -> None:
    assert ladder(5, first=1, ratio=1.01) == (1, 2, 3, 4, 5)
