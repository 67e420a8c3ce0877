"""Agreement with people on a file of three cases, and the partial correlation by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks import agreement
from prevalence.meta.levels import draw_resamples

if TYPE_CHECKING:
    from pathlib import Path

SUMMARIES = {"a": "Warm boots.", "b": "Warm boots. They leak.", "c": "Nice."}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Three cases of three systems, in the layout of the shared file."""
    path = tmp_path / "cases.jsonl"
    rating = {"a": 3, "b": 5, "c": 1}
    with path.open("w", encoding="utf-8") as file:
        for case in range(3):
            summaries = {
                system: {
                    "text": text,
                    "human": {name: [rating[system]] * 2 for name in agreement.DIMENSIONS},
                    "metrics": {"R1_F1": case, "ter_score": rating[system],
                                "chatgpt_x_Relevance": 2},
                }
                for system, text in SUMMARIES.items()
            }  # fmt: skip
            reviews = ["Such warm boots.", "warm warm boots", "they leak badly"]
            record = {"case": case, "reviews": reviews, "reference": "x", "summaries": summaries}
            file.write(json.dumps(record) + "\n")
    return path


def test_figures_lie_in_the_order_of_cases_and_systems(data: Path) -> None:
    grids = agreement.read_grids(data, model="rouge1-precision", unit="sentence", threshold=0.5)
    # The statement of two reviews has weight 2, the other 1: a covers 2/3, b all, c nothing.
    np.testing.assert_allclose(grids.ours["coverage"], [[2 / 3, 1, 0]] * 3)
    np.testing.assert_array_equal(grids.ours["characters"], [[11, 22, 5]] * 3)
    np.testing.assert_array_equal(grids.ours["sentences"], [[1, 2, 1]] * 3)
    np.testing.assert_array_equal(grids.ours["claims"], [[1, 2, 1]] * 3)
    assert "contested" not in grids.ours
    np.testing.assert_array_equal(grids.people["asp_rel"], [[3, 5, 1]] * 3)
    # Lower is better for TER, so its sign is turned.
    np.testing.assert_array_equal(grids.released["ter_score"], [[-3, -5, -1]] * 3)
    assert "|coverage:60x64|" in grids.signature
    drawn = draw_resamples(3, 3, resamples=20, seed=1)
    lines = [
        agreement.agreement(name, values, grids.people["asp_rel"], grids.ours["characters"], drawn)
        for name, values in {**grids.ours, **grids.released}.items()
    ]
    by_name = {line.name: line for line in lines}
    assert by_name["coverage"].values == pytest.approx((1.0, 1.0, 1.0, 1.0))
    assert by_name["ter_score"].values == pytest.approx((-1.0, -1.0, -1.0, -1.0))
    # People order the systems as their lengths do, so that nothing is left of anything.
    assert np.isnan(by_name["coverage"].partial).all()
    assert json.loads(json.dumps(by_name["R1_F1"].to_json()))["kendall summary"] is None
    # R1_F1 is constant within a case, and TER orders the systems as people do not.
    assert agreement.beaten(grids, lines, "coverage") == (
        "coverage is above 2 of 2 (kendall, system), 2 of 2 (kendall, summary), "
        "2 of 2 (spearman, system), 2 of 2 (spearman, summary)"
    )
    plain = agreement.agreement(
        "coverage", grids.ours["coverage"], grids.people["asp_rel"], grids.ours["characters"]
    )
    assert plain.values == by_name["coverage"].values
    assert np.isnan(plain.intervals).all()
    names = [line.name for line in agreement.chosen(grids, "asp_rel", lines, 1)]
    assert names[:3] == ["prevalence", "combined", "coverage"]
    assert names[-1] == "chatgpt_x_Relevance"
    assert "chatgpt_x_Relevance" not in [
        line.name for line in agreement.chosen(grids, "readblty", lines, 2)
    ]


def test_the_partial_correlation_by_hand() -> None:
    x = np.array([[1.0, 2, 3, 4]])
    y = np.array([[2.0, 1, 3, 4]])
    given = np.array([[1.0, 3, 2, 4]])
    # Spearman 1 − 6 Σd² / 60: .8 of x and y, .8 of x and z; of y and z (1, 4, 1, 0) .4.
    expected = (0.8 - 0.8 * 0.4) / ((1 - 0.64) * (1 - 0.16)) ** 0.5
    assert agreement.partial_rho(x, y, given) == pytest.approx((expected, expected))
    # What one of the three lacks is left out of all of them.
    gap = np.array([[np.nan]])
    holed = agreement.partial_rho(
        np.hstack([x, gap]), np.hstack([y, gap + 1]), np.hstack([given, [[9.0]]])
    )
    assert holed == pytest.approx((expected, expected))
    holed = agreement.partial_rho(
        np.hstack([x, gap]), np.hstack([y, [[9.0]]]), np.hstack([given, [[0.0]]])
    )
    assert holed == pytest.approx((expected, expected))
