"""What every measurement states beside its numbers, and where its rows go."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = ["RESULTS", "ROOT", "append_row", "environment", "quantiles"]

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def environment() -> dict[str, Any]:
    """Date, commit, device and versions of a measurement."""
    import torch

    cuda = torch.cuda.is_available()
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "device": torch.cuda.get_device_name() if cuda else f"CPU {_processor()}",
        "cores": os.cpu_count(),
        "torch_threads": torch.get_num_threads(),
        "versions": {
            name: version(name) for name in ("prevalence", "torch", "transformers", "numpy")
        }
        | {"python": platform.python_version()},
    }


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


def _commit() -> str:
    """Short hash of the commit, with a plus where the working tree differs from it."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--exclude=*"],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    return described.stdout.strip() or "unknown"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
