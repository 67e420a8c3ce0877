"""What every measurement needs: data, tables, what it states beside its numbers, and its rows."""

from __future__ import annotations

import json
import os
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from prevalence.records import Product

__all__ = [
    "DATA",
    "RESULTS",
    "ROOT",
    "append_row",
    "dev_products",
    "environment",
    "quantiles",
    "show_table",
    "timed",
]

Answer = TypeVar("Answer")

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
DATA = Path(os.environ.get("PREVALENCE_DATA") or ROOT.parent / "shared" / "data")
"""The released data, which are not part of this repository."""


def dev_products(data: Path | None, count: int | None) -> tuple[str, list[Product]]:
    """The products of a file: by default the 28 of Amazon dev, or else the bundled example.

    Args:
        data: the file.
        count: only the first so many.

    Returns:
        The name of the file, and its products.

    Raises:
        SystemExit: a file was named and is not there.
    """
    from prevalence.readers import read_product_names, read_products
    from prevalence.records import Product

    if data is not None and not data.is_file():
        raise SystemExit(f"{data} is not here; name a file with --data")
    names = None
    if data is None:
        data = DATA / "amazon_dev.jsonl"
        names = read_product_names(ROOT / "tests" / "data" / "amazon_dev_names.json")
    if not data.is_file():
        print(f"note: no {data.name} (set PREVALENCE_DATA); the bundled example stands in for it")
        data, names = ROOT / "examples" / "summaries.jsonl", None
    items = islice(read_products(data, names=names), count)
    return data.name, [item for item in items if isinstance(item, Product)]


def environment(device: str = "auto") -> dict[str, Any]:
    """Date, commit, device and versions of a measurement.

    Args:
        device: where it ran; ``auto`` for a CUDA device if there is one.
    """
    import torch

    from benchmarks.throughput.machine import environment as found

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return found(device)


def append_row(name: str, row: dict[str, Any]) -> None:
    """Append a row to ``results/NAME.jsonl``, and say so.

    Args:
        name: of the measurement.
        row: :func:`environment`, settings and numbers.
    """
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    print(f"row appended to {path}")


def timed(work: Callable[[], Answer]) -> tuple[Answer, float]:
    """The answer, and the seconds that it took."""
    begin = time.perf_counter()
    answer = work()
    return answer, time.perf_counter() - begin


def quantiles(seconds: list[float]) -> tuple[float, float, float]:
    """The p20, p50 and p80 of repeated measurements."""
    import numpy as np

    low, middle, high = np.quantile(seconds, [0.2, 0.5, 0.8])
    return float(low), float(middle), float(high)


def show_table(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str | None = None,
    left: Sequence[str] = (),
) -> None:
    """Print a table, see :func:`prevalence.report.console.make_table`."""
    from prevalence.report.console import make_console, make_table

    make_console().print(make_table(headers, rows, title=title, left=left))
