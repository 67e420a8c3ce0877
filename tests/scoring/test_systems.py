"""Statistics of systems, against numbers worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from prevalence.scored import ScoredSentence, ScoredSummary
from prevalence.scoring.systems import RESAMPLES, SystemTable
from prevalence.stats.correction import ErrorRates
from prevalence.stats.resampling import ProductScores, bootstrap_interval


def sentence(text: str = "Warm boots.", **fields: Any) -> ScoredSentence:
    known: dict[str, Any] = {"trivial": False, "redundant_with": None, "support": 1}
    return ScoredSentence(text=text, start=0, end=len(text), **(known | fields))


def row(
    product: str | None, system: str | None, prevalence: float | None, *sentences: ScoredSentence,
    **fields: Any,
) -> ScoredSummary:  # fmt: skip
    return ScoredSummary(
        id=product, system=system, prevalence=prevalence, n_reviews=8, sentences=sentences,
        signature=fields.pop("signature", "sig"), **fields,
    )  # fmt: skip


def filled(*rows: ScoredSummary) -> SystemTable:
    table = SystemTable()
    for one in rows:
        table.add(one)
    return table


def test_means_and_shares() -> None:
    # Three sentences in two summaries: one trivial, one redundant, one without support; the
    # masked one without support is not called unsupported. Characters: 5 + 3 and 4.
    table = filled(
        row("p1", "s", 0.5, sentence("abcde", trivial=True, support=None), sentence("abc")),
        row("p2", "s", 0.1, sentence("abcd", support=0)),
    )
    found = table.statistics()[0]
    assert (found.system, found.summaries, found.failed) == ("s", 2, 0)
    assert found.prevalence == pytest.approx(0.3)
    assert found.sentences == 1.5
    assert found.characters == 6.0
    assert found.trivial == pytest.approx(1 / 3)
    assert found.redundant == 0.0
    assert found.unsupported == pytest.approx(1 / 3)
    assert found.soft_prevalence is None


def test_masked_sentences_without_support_are_not_unsupported() -> None:
    # With the full matrix masked sentences have a support too.
    table = filled(row("p", "s", 0.0, sentence(trivial=True, support=0),
                       sentence(redundant_with=0, support=0), sentence(support=0)))  # fmt: skip
    found = table.statistics()[0]
    assert (found.trivial, found.redundant, found.unsupported) == tuple([pytest.approx(1 / 3)] * 3)


def test_interval_is_a_bootstrap_over_products() -> None:
    values = [0.0, 0.25, 0.5, 0.5, 0.75, 1.0]
    found = filled(*(row(f"p{n}", "s", v, sentence()) for n, v in enumerate(values))).statistics()
    assert found[0].interval == bootstrap_interval(ProductScores(np.array(values), np.ones(6)))
    fewer = filled(*(row(f"p{n}", "s", v, sentence()) for n, v in enumerate(values[1:])))
    assert fewer.statistics()[0].interval is None


def test_summaries_of_one_product_are_resampled_together() -> None:
    # Five human summaries of one product are one product: nothing to resample.
    rows = [row("a", "human", score, sentence()) for score in (0.0, 0.2, 0.4, 0.6, 0.8)]
    found = filled(*rows).statistics()[0]
    assert found.prevalence == pytest.approx(0.4)
    assert found.interval is None


def test_mean_is_over_summaries_not_products() -> None:
    table = filled(row("a", "s", 0.0, sentence()), row("a", "s", 0.0, sentence()),
                   row("b", "s", 0.9, sentence()))  # fmt: skip
    assert table.statistics()[0].prevalence == pytest.approx(0.3)


def test_failures_and_unreadable_records_are_counted_apart() -> None:
    table = filled(
        row(None, None, None, error="bad line"),
        row("p", "s", None, error="too long"),
        row("p", "t", 0.5, sentence()),
    )
    assert (table.failed, table.scored, table.unreadable) == (2, 1, 1)
    failing, scored = table.statistics()
    assert (failing.system, failing.failed, failing.summaries) == ("s", 1, 0)
    for value in (failing.prevalence, failing.sentences, failing.characters, failing.trivial):
        assert math.isnan(value)
    assert scored.failed == 0


def test_a_summary_without_sentences_has_a_score_and_no_shares() -> None:
    found = filled(row("p", "s", 0.0)).statistics()[0]
    assert (found.prevalence, found.sentences) == (0.0, 0.0)
    assert math.isnan(found.unsupported)


def test_signatures_are_kept_once_each_of_scored_rows() -> None:
    table = filled(
        row("p", "s", 0.1, sentence(), signature="named"),
        row("q", "s", 0.1, sentence(), signature="unnamed"),
        row("r", "s", 0.1, sentence(), signature="named"),
        row(None, None, None, signature="of an error", error="bad"),
    )
    assert table.signatures == ["named", "unnamed"]


def test_comparison_puts_the_better_first_and_uses_shared_products_only() -> None:
    table = filled(
        *(row(f"p{n}", "low", 0.1, sentence()) for n in range(7)),
        *(row(f"p{n}", "high", 0.4, sentence()) for n in range(6)),
        row("other", "high", 0.4, sentence()),
    )
    (found,) = table.compare(["bootstrap", "randomization"])
    assert (found.first, found.second, found.products) == ("high", "low", 6)
    assert found.difference == pytest.approx(-0.3)
    # All differences are equal: no resample is as extreme once shifted to zero. Swapping gives
    # ±0.3 in 2 of the 2⁶ cases.
    assert found.p_values["bootstrap"] == pytest.approx(1 / (RESAMPLES["bootstrap"] + 1))
    assert found.p_values["randomization"] == pytest.approx(2 / 64, abs=0.01)


def test_comparison_leaves_out_systems_without_a_score() -> None:
    table = filled(row("p", "a", 0.1, sentence()), row("p", "b", None, error="x"),
                   row("p", "c", 0.1, sentence()))  # fmt: skip
    (found,) = table.compare(["bootstrap"])
    assert {found.first, found.second} == {"a", "c"}


def test_comparison_leaves_out_systems_that_share_no_product() -> None:
    table = filled(row("p", "a", 0.1, sentence()), row("q", "b", 0.1, sentence()))
    assert table.compare(["bootstrap"]) == []


def test_comparison_is_seeded() -> None:
    rng = np.random.default_rng(3)
    rows = [row(f"p{n}", s, float(rng.random()), sentence()) for n in range(9) for s in "ab"]
    table = filled(*rows)
    one, same, other = (table.compare(["bootstrap"], seed=seed)[0] for seed in (1, 1, 2))
    assert one == same
    assert one.difference == other.difference
    assert one.p_values != other.p_values


def test_a_corrected_score_has_an_interval_where_the_plain_one_has() -> None:
    rates = ErrorRates(((8, 2, 9, 1), (7, 3, 10, 0)) * 3, threshold=0.5)
    one = filled(row("p1", "s", 0.5, sentence()), row("p1", "s", 0.75, sentence()))
    six = filled(*(row(f"p{n}", "s", 0.5 + 0.25 * (n % 2), sentence()) for n in range(6)))
    single, several = (table.statistics(error_rates=rates)[0] for table in (one, six))
    assert (single.interval, single.corrected_interval) == (None, None)
    assert several.interval is not None
    assert several.corrected_interval is not None
    # (.625 - .05) / (.75 + .95 - 1)
    assert single.corrected == several.corrected == pytest.approx(0.575 / 0.7)


def test_a_corrected_score_that_is_cut_off_has_no_interval() -> None:
    rates = ErrorRates(((8, 2, 9, 1), (7, 3, 9, 1)) * 3, threshold=0.5)
    table = filled(*(row(f"p{n}", "s", 0.01, sentence()) for n in range(6)))
    (found,) = table.statistics(error_rates=rates)
    assert (found.corrected, found.corrected_interval) == (0.0, None)


def test_quantities_that_reviews_do_not_bear_out_are_counted() -> None:
    said = [
        sentence(quantity={"text": "Most", "low": 0.5, "high": 1.0, "agrees": agrees})
        for agrees in (True, False, False, None)
    ]
    table = filled(row("p", "s", 0.5, *said, sentence()), row("p", "t", 0.5, sentence()))
    counts = [(one.wrong_quantities, one.quantities) for one in table.statistics()]
    assert counts == [(2, 3), (0, 0)]
