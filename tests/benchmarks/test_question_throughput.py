"""The question-based sides on the smallest networks: the plain loop agrees with ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks import baseline_throughput as throughput
from benchmarks.question_throughput import SIDES

if TYPE_CHECKING:
    from pathlib import Path

SMALL = throughput.Size(width=16, layers=1, heads=2, words=150, products=1, rounds=1)


@pytest.mark.parametrize("metric", SIDES)
def test_sides_agree(metric: str, tmp_path: Path) -> None:
    kind, sides_of = SIDES[metric]
    (_, ours), (name, loop) = sides_of(throughput.build(kind, SMALL, tmp_path), SMALL, "cpu")
    values = ours()
    assert (values.shape, name) == ((throughput.SYSTEMS,), "loop")
    np.testing.assert_allclose(loop(), values, atol=throughput.TOLERANCE)
    assert values.any(), metric
