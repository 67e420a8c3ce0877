"""What every measurement states beside its numbers, and where its rows go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["RESULTS", "ROOT", "append_row", "environment", "quantiles"]

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def environment() -> dict[str, Any]:
    """Date, commit, device and versions of a measurement."""
    import torch

    from prevalence.bench.machine import environment as found

    return found("cuda" if torch.cuda.is_available() else "cpu")


def append_row(name: str, row: dict[str, Any]) -> Path:
    """Append a row to ``results/NAME.jsonl``.

    Args:
        name: of the measurement.
        row: :func:`environment`, settings and numbers.

    Returns:
        The file.
    """
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    return path


def quantiles(seconds: list[float]) -> tuple[float, float, float]:
    """The p20, p50 and p80 of repeated measurements."""
    import numpy as np

    low, middle, high = np.quantile(seconds, [0.2, 0.5, 0.8])
    return float(low), float(middle), float(high)
