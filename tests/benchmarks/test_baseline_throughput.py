"""The throughput benchmark on the smallest networks: sides agree, and it notices when not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks import baseline_throughput as throughput

if TYPE_CHECKING:
    from pathlib import Path

SMALL = throughput.Size(width=16, layers=1, heads=2, words=150, products=1, rounds=2)


def test_bartscore_sides_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = throughput.build("seq2seq", SMALL, tmp_path)
    row = throughput.measure(throughput.bartscore_sides(folder, SMALL, "cpu"), SMALL.rounds)
    assert row["pairs"] == throughput.SYSTEMS
    assert set(row["ratios_p20_p50_p80"]) == {"authors' batches", "loop"}
    throughput.show([row | {"metric": "bartscore-faithfulness", "size": "small"}])
    assert "authors' batches" in capsys.readouterr().out


def test_bertscore_sides_agree_and_nothing_is_remembered(tmp_path: Path) -> None:
    pytest.importorskip("bert_score")
    folder = throughput.build("encoder", SMALL, tmp_path)
    sides = throughput.bertscore_sides(folder, SMALL, "cpu")
    values = [call() for _, call in [*sides, sides[0]]]
    for other in values[1:]:
        np.testing.assert_allclose(other, values[0], atol=throughput.TOLERANCE)


@pytest.mark.parametrize("metric", ["bleurt", "prism", "unieval-consistency"])
def test_sides_of_learnt_metrics_agree(tmp_path: Path, metric: str) -> None:
    kind, sides_of = throughput.SIDES[metric]
    sides = sides_of(throughput.build(kind, SMALL, tmp_path), SMALL, "cpu")
    row = throughput.measure(sides, 1)
    assert row["pairs"] == throughput.SYSTEMS
    assert {"loop"} <= set(row["ratios_p20_p50_p80"]) == {name for name, _ in sides[1:]}


def test_sides_that_differ_are_not_timed() -> None:
    sides = [("prevalence", lambda: np.zeros(3)), ("other", lambda: np.full(3, 0.1))]
    with pytest.raises(SystemExit, match=r"other differs by 0\.1"):
        throughput.measure(sides, 1)
