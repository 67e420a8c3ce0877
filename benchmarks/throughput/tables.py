"""The throughput benchmark as a table, as JSON and CSV, and as a picture."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from prevalence.report.console import make_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rich.table import Table

    from benchmarks.throughput.measure import Measurement, ModelResult

__all__ = ["plot_throughput", "throughput_csv", "throughput_json", "throughput_table"]

_BASE = "one pair a call"
_COLUMNS = (
    "model", "size", "contender", "settings", "pairs", "pairs_per_second", "tokens_per_second",
    "share", "memory", "changed", "reason",
)  # fmt: skip


def throughput_json(
    environment: Mapping[str, Any], settings: Mapping[str, Any], results: Sequence[ModelResult]
) -> dict[str, Any]:
    """Everything that was measured, and on what."""
    return {
        "schema": 1,
        "environment": dict(environment),
        "settings": dict(settings),
        "models": [
            asdict(result) | {"rows": [_whole(row) for row in result.rows]} for result in results
        ],
    }


def throughput_csv(environment: Mapping[str, Any], results: Sequence[ModelResult]) -> str:
    """A line a row, each with device, date and commit."""
    same = {key: environment[key] for key in ("date", "commit", "device")}
    text = io.StringIO()
    writer = csv.DictWriter(text, [*same, *_COLUMNS], extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for result in results:
        for row in result.rows:
            named = {"model": result.model, "size": result.size}
            writer.writerow(same | named | _whole(row))
    return text.getvalue()


def throughput_table(result: ModelResult) -> Table:
    """A line a contender; what could not run says why."""
    base = next((r.pairs_per_second for r in result.rows if r.contender == _BASE), None)
    headers = ("", "pairs/s", "ratio", "tokens/s", "% matmul", "GPU memory", "changed")
    return make_table(
        (*headers, " "),
        [(row.contender, *_cells(row, base), row.reason or row.settings) for row in result.rows],
        title=f"{result.model}, size {result.size}; matrix products at "
        f"{result.matmul_rate / 1e12:,.3g} TFLOP/s",
        left=(" ",),
        whole=headers,
    )


def plot_throughput(path: Path, results: Sequence[ModelResult], *, title: str) -> bool:
    """Draw bars of pairs a second, one panel a model.

    Returns:
        Whether it was drawn: False where matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(8, 0.6 + 2.2 * len(results)), layout="constrained")
    figure.suptitle(title)
    panels = figure.subplots(len(results), 1, squeeze=False)[:, 0]
    for panel, result in zip(panels, results, strict=True):
        drawn = [row for row in reversed(result.rows) if row.pairs_per_second is not None]
        bars = panel.barh([row.contender for row in drawn], [r.pairs_per_second for r in drawn])
        panel.bar_label(bars, fmt="{:,.0f}", padding=3)
        panel.margins(x=0.12)
        panel.set_title(f"{result.model} ({result.size})", loc="left")
        panel.set_xlabel("pairs a second")
    figure.savefig(path, dpi=150)
    return True


def _whole(row: Measurement) -> dict[str, Any]:
    return asdict(row) | {
        "pairs_per_second": row.pairs_per_second,
        "tokens_per_second": row.tokens_per_second,
    }


def _cells(row: Measurement, base: float | None) -> list[str]:
    rate, tokens = row.pairs_per_second, row.tokens_per_second
    if rate is None or tokens is None:
        return ["–"] * 6
    return [
        f"{rate:,.1f}",
        "–" if base is None else f"{rate / base:.2f}×",
        f"{tokens:,.0f}",
        "–" if row.share is None else f"{row.share:.1%}",
        "–" if row.memory is None else f"{row.memory / 2**20:,.0f} MiB",
        f"{row.changed:,}",
    ]
