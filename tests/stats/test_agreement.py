"""Agreement coefficients: published examples, kept packages, laws, and where they are undefined."""

from __future__ import annotations

import math
import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from prevalence.errors import ConfigurationError, InputError
from prevalence.stats.agreement import (
    SCALES,
    agreement_by_cell,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    shared_ratings,
)

NAN = float("nan")
COEFFICIENTS = {f.__name__: f for f in (cohen_kappa, fleiss_kappa, gwet_ac1, krippendorff_alpha)}

# Krippendorff 2011, section C: four observers, twelve units, five categories, missing data.
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T


# Imports of kept packages and a busy machine make the first example slow.
law = settings(max_examples=20, deadline=None)
RATERS = st.integers(2, 5)


def ratings(raters=RATERS, *, gaps=True):
    values = [1.0, 2.0, 3.0, 5.0] + ([NAN] if gaps else [])
    shapes = st.tuples(st.integers(1, 9), raters)
    return shapes.flatmap(
        lambda shape: hnp.arrays(np.float64, shape, elements=st.sampled_from(values))
    )


def several_categories(table):
    """Whether the ratings that can be paired are of more than one category."""
    paired = table[(~np.isnan(table)).sum(axis=1) >= 2]
    return np.unique(paired[~np.isnan(paired)]).size > 1


@pytest.mark.parametrize(
    ("level", "printed"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_the_published_example(level, printed):
    assert krippendorff_alpha(KRIPPENDORFF, level=level) == pytest.approx(printed, abs=5e-4)


def test_cohen_of_a_two_by_two_table():
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: agreement .7, chance .5 · .6 + .5 · .4 = .5.
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert cohen_kappa(pairs) == pytest.approx(0.4)


def test_cohen_of_three_raters_is_the_mean_over_pairs():
    table = np.array([[1, 1, 2], [2, 2, 2], [1, 2, 1], [2, 1, 1], [1, 1, 1.0]])
    pairs = [cohen_kappa(table[:, pair]) for pair in ([0, 1], [0, 2], [1, 2])]
    assert cohen_kappa(table) == pytest.approx(np.mean(pairs))


def test_shared_ratings_are_counted_by_pair():
    nan = float("nan")
    # Raters 1 and 2 share three items, 1 and 3 one, and the others none.
    table = [[1, 2, nan, nan], [1, 1, nan, nan], [2, 2, nan, nan], [3, nan, 1, nan]]
    assert shared_ratings(table) == (1, 3)
    assert shared_ratings([[1.0], [2.0]]) == shared_ratings([[1, nan], [nan, 2]]) == (0, 0)


def test_fleiss_of_the_published_example():
    # Ten subjects, fourteen raters, five categories: P = .378, P_e = .213, kappa = .210.
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    table = [np.repeat(np.arange(5), row) for row in counts]
    assert fleiss_kappa(table) == pytest.approx(0.210, abs=5e-4)


def test_ac1_by_hand():
    # Agreement .75; shares 3/8 and 5/8, chance (2 · 3/8 · 5/8) / (2 − 1) = 15/32.
    table = [[1, 1], [1, 2], [2, 2], [2, 2]]
    assert gwet_ac1(table) == pytest.approx((0.75 - 15 / 32) / (1 - 15 / 32))
    # A third category that nobody used halves the chance.
    assert gwet_ac1(table, categories=3) == pytest.approx((0.75 - 15 / 64) / (1 - 15 / 64))


@pytest.mark.parity
@law
@given(table=ratings().filter(several_categories))
def test_alpha_equals_the_kept_package(table):
    krippendorff = pytest.importorskip("krippendorff")
    for level in SCALES:
        expected = krippendorff.alpha(table.T, level_of_measurement=level)
        assert krippendorff_alpha(table, level=level) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parity
@law
@given(table=ratings(gaps=False).filter(several_categories))
def test_fleiss_equals_statsmodels(table):
    rater = pytest.importorskip("statsmodels.stats.inter_rater")
    expected = rater.fleiss_kappa(rater.aggregate_raters(table)[0], method="fleiss")
    assert fleiss_kappa(table) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parity
@law
@given(table=ratings(st.just(2), gaps=False).filter(several_categories))
def test_cohen_equals_scikit_learn(table):
    metrics = pytest.importorskip("sklearn.metrics")
    expected = metrics.cohen_kappa_score(*table.T)
    assert cohen_kappa(table) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parity
@law
@given(table=ratings().filter(several_categories))
def test_fleiss_and_ac1_with_gaps_equal_irrcac(table):
    raw, pandas = pytest.importorskip("irrCAC.raw"), pytest.importorskip("pandas")
    # irrCAC counts all rows in the shares, so rows without any rating must not reach it.
    rated = table[~np.isnan(table).all(axis=1)]
    reference = raw.CAC(pandas.DataFrame(rated), digits=15)
    ac1, fleiss = (f()["est"]["coefficient_value"] for f in (reference.gwet, reference.fleiss))
    assert gwet_ac1(table) == pytest.approx(ac1, abs=1e-9)
    assert fleiss_kappa(table) == pytest.approx(fleiss, abs=1e-9)


@pytest.mark.parametrize("coefficient", COEFFICIENTS.values(), ids=COEFFICIENTS)
@law
@given(table=ratings(gaps=False).filter(several_categories))
def test_perfect_agreement_is_one_and_nothing_is_more(coefficient, table):
    same = np.repeat(table[:, :1], table.shape[1], axis=1)
    if several_categories(same):
        assert coefficient(same) == pytest.approx(1.0)
    assert not coefficient(table) > 1.0 + 1e-12


@pytest.mark.parametrize("coefficient", COEFFICIENTS.values(), ids=COEFFICIENTS)
@law
@given(table=ratings().filter(several_categories), random=st.randoms(use_true_random=False))
def test_order_of_items_and_raters_does_not_matter(coefficient, table, random):
    rows, columns = list(range(len(table))), list(range(table.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    shuffled = table[rows][:, columns]
    assert coefficient(shuffled) == pytest.approx(coefficient(table), abs=1e-9, nan_ok=True)


@law
@given(table=ratings(), scale=st.sampled_from([0.5, 3.0]), shift=st.integers(-3, 3))
def test_alpha_keeps_its_value_under_a_change_of_scale(table, scale, shift):
    for level in SCALES:
        assert krippendorff_alpha(table * scale + shift, level=level) == pytest.approx(
            krippendorff_alpha(table, level=level), abs=1e-9, nan_ok=True
        )


@pytest.mark.parametrize("coefficient", COEFFICIENTS.values(), ids=COEFFICIENTS)
def test_one_category_is_undefined_unless_a_convention_names_its_value(coefficient):
    constant = np.full((10, 2), 4.0)
    assert math.isnan(coefficient(constant))
    assert coefficient(constant, one_category=1.0) == 1.0
    assert coefficient(constant[:1], one_category=1.0) == 1.0


def test_a_known_scale_defines_ac1_for_one_category():
    assert gwet_ac1(np.full((10, 2), 4.0), categories=5) == 1.0


@pytest.mark.parametrize("coefficient", COEFFICIENTS.values(), ids=COEFFICIENTS)
@pytest.mark.parametrize(
    "table",
    [np.empty((0, 2)), np.full((3, 2), NAN), [[1, NAN], [NAN, 2]], [[1.0], [2.0]]],
    ids=["no item", "no rating", "nobody shares an item", "one rater"],
)
def test_nothing_to_compare_is_nan_under_every_convention(coefficient, table):
    assert math.isnan(coefficient(table, one_category=1.0))


def test_a_pair_of_raters_without_common_items_leaves_cohen():
    table = [[1, 1, NAN], [2, 2, NAN], [1, NAN, NAN]]
    assert cohen_kappa(table) == 1.0


@pytest.mark.parametrize("coefficient", COEFFICIENTS.values(), ids=COEFFICIENTS)
def test_malformed_tables_are_refused(coefficient):
    with pytest.raises(InputError, match="3 axes"):
        coefficient(np.zeros((2, 2, 2)))
    with pytest.raises(InputError, match="infinite"):
        coefficient([[1.0, math.inf]])


def test_options_outside_their_range_are_refused():
    with pytest.raises(ConfigurationError, match="nominal, ordinal, interval"):
        krippendorff_alpha([[1, 2]], level="ratio")
    with pytest.raises(ConfigurationError, match="categories is 1 but 2 occur"):
        gwet_ac1([[1, 2]], categories=1)
    with pytest.raises(ConfigurationError, match="batch is 0"):
        agreement_by_cell(np.zeros((2, 2, 2)), cohen_kappa, batch=0)
    with pytest.raises(InputError, match="2 axes"):
        agreement_by_cell(np.zeros((2, 2)), cohen_kappa, batch=1)


def test_cells_are_batches_by_systems():
    values = np.random.default_rng(3).integers(1, 4, (7, 2, 3)).astype(float)
    cells = agreement_by_cell(values, fleiss_kappa, batch=3)
    assert cells.shape == (3, 2)
    assert cells[0, 1] == fleiss_kappa(values[:3, 1])
    assert cells[2, 0] == pytest.approx(fleiss_kappa(values[6:, 0]), nan_ok=True)


def test_constant_cells_follow_the_convention():
    values = np.stack([np.full((4, 2), 5.0), [[1, 1], [1, 2], [2, 2], [2, 2]]], axis=1)
    strict = agreement_by_cell(values, cohen_kappa, batch=4)
    counted = agreement_by_cell(values, partial(cohen_kappa, one_category=1.0), batch=4)
    np.testing.assert_allclose(strict, [[NAN, 0.5]])
    np.testing.assert_allclose(counted, [[1.0, 0.5]])


@pytest.mark.parametrize("level", SCALES)
def test_alpha_of_ratings_that_are_all_different_needs_no_table_of_categories(level):
    table = np.random.default_rng(4).permutation(np.arange(2000.0)).reshape(-1, 2)
    krippendorff_alpha(table[:3], level=level)
    tracemalloc.start()
    found = krippendorff_alpha(table, level=level)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # 1,000 items by 2,000 categories are 16 MB; 2,000 by 2,000 would be 32.
    assert peak < 60e6
    assert abs(found) < 0.1
