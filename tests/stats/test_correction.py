"""Shares corrected for error rates: by hand, and against simulated decisions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prevalence.errors import ConfigurationError
from prevalence.stats.correction import ErrorRates, corrected_interval, corrected_share
from prevalence.stats.resampling import ProductScores


def one_each(*scores: float) -> ProductScores:
    """A summary of each product."""
    return ProductScores(np.array(scores, np.float64), np.ones(len(scores)))


RATES = ErrorRates(((8, 2, 45, 5), (16, 4, 45, 5)) * 3, 0.5)


def test_rates_pool_the_products() -> None:
    assert RATES.sensitivity == 72 / 90
    assert RATES.specificity == 270 / 300


def test_a_share_by_hand() -> None:
    # (p + q - 1) / (s + q - 1) with s = .8, q = .9: (.5 - .1) / .7
    assert corrected_share(0.5, 0.8, 0.9) == pytest.approx(4 / 7)
    # Half of the sentences are masked: false alarms can come from the other half alone.
    assert corrected_share(0.3, 0.8, 0.9, most=0.5) == pytest.approx(0.25 / 0.7)
    assert corrected_share(0.9, 0.8, 0.9) == 1.0
    assert corrected_share(0.04, 0.8, 0.9, most=0.5) == 0.0


@given(
    true=st.floats(0, 1), sensitivity=st.floats(0.5, 1), specificity=st.floats(0.6, 1),
    most=st.floats(0, 1),
)  # fmt: skip
def test_an_expected_share_is_turned_back(
    true: float, sensitivity: float, specificity: float, most: float
) -> None:
    share = true * most
    observed = share * sensitivity + (most - share) * (1 - specificity)
    found = corrected_share(observed, sensitivity, specificity, most=most)
    assert found == pytest.approx(share, abs=1e-9)


def test_a_scorer_without_errors_is_left_alone() -> None:
    perfect = ErrorRates(((5, 0, 5, 0), (3, 0, 9, 0)) * 3, 0.5)
    assert corrected_share(0.37, perfect.sensitivity, perfect.specificity) == pytest.approx(0.37)
    interval = corrected_interval(
        one_each(*2 * (0.2, 0.4, 0.6)), one_each(*6 * [1]), perfect, resamples=500
    )
    assert 0.2 <= interval.low < 0.4 < interval.high <= 0.6


def test_every_summary_counts_once_however_many_its_product_has() -> None:
    perfect = ErrorRates(((5, 0, 5, 0),) * 6, 0.5)
    rng = np.random.default_rng(2)
    counts = np.where(rng.random(400) < 0.5, 1.0, 3.0)
    counts[:2] = 0.0
    # Products with three summaries have the high scores: .75 over summaries, .5 over products.
    shares = ProductScores(np.where(counts == 3, 3.0, 0.0), counts)
    found = corrected_interval(shares, ProductScores(counts, counts), perfect)
    assert found.low < shares.mean < found.high
    assert found.low > 0.6


@pytest.mark.parametrize("judged_products", [6, 30])
def test_intervals_cover_the_truth(judged_products: int) -> None:
    """Of 200 simulated studies about 95% cover the true share."""
    rng = np.random.default_rng(4)
    true, sensitivity, specificity = 0.4, 0.8, 0.85
    covered = 0
    for _ in range(200):
        judged = rng.binomial([[12, 28]] * judged_products, [[sensitivity, specificity]])
        products = tuple((int(a), 12 - int(a), int(b), 28 - int(b)) for a, b in judged)
        chance = true * sensitivity + (1 - true) * (1 - specificity)
        observed = rng.binomial(40, chance, size=60) / 40
        found = corrected_interval(
            one_each(*observed),
            one_each(*np.ones(60)),
            ErrorRates(products, 0.5),
            resamples=300,
            seed=1,
        )
        covered += found.low <= true <= found.high
    assert 0.88 <= covered / 200 <= 1.0


@pytest.mark.parametrize("judged_products", [1, 5])
def test_rates_of_few_products_give_no_interval(judged_products: int) -> None:
    # Drawn with replacement, one product has the same rates each time.
    rates = ErrorRates(RATES.products[:judged_products], 0.5)
    scored = one_each(*np.linspace(0.2, 0.8, 50))
    assert corrected_interval(scored, one_each(*50 * [1.0]), rates) is None


def test_draws_do_not_depend_on_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    shares, most = one_each(*2 * (0.2, 0.5, 0.9)), one_each(*2 * (1.0, 1.0, 0.95))
    whole = corrected_interval(shares, most, RATES, resamples=20)
    drawn: list[int] = []
    monkeypatch.setattr(
        "prevalence.stats.correction.blocks",
        lambda size, resamples: drawn.extend([size, resamples]) or iter([8, 8, 4]),
    )
    assert corrected_interval(shares, most, RATES, resamples=20) == whole
    assert drawn == [6, 20]


def test_what_cannot_be_corrected() -> None:
    with pytest.raises(ConfigurationError, match="those of chance"):
        corrected_share(0.5, 0.4, 0.6)
    six = one_each(*6 * [0.5]), one_each(*6 * [1.0])
    with pytest.raises(ConfigurationError, match="chance in every draw"):
        corrected_interval(*six, ErrorRates(((1, 9, 1, 9),) * 6, 0.5))
    with pytest.raises(ConfigurationError, match="supported and of unsupported"):
        ErrorRates(((3, 1, 0, 0),), 0.5)
    with pytest.raises(ConfigurationError, match="none negative"):
        ErrorRates(((3, -1, 2, 2),), 0.5)
