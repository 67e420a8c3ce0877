"""How fast a premise-first model is with fused attention, against the same with padded attention.

    python -m benchmarks.premise_first_attention
    python -m benchmarks.premise_first_attention --model base --dtype bfloat16

The work is what `python -m benchmarks.throughput` scores: each of 8 reviews of a product with each
of 6 sentences, in batches of 65,536 tokens. Both ways share the weights of one model and start from
the tokens of the texts; what is timed is laying out the batches and computing them. Their answers
are compared before they are timed. Fused attention needs a CUDA device.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import append_row, environment, quantiles, show_table
from benchmarks.throughput.machine import allocated, peak_memory, synchronize
from benchmarks.throughput.workload import Workload
from prevalence.models.checkpoint import LoadedCheckpoint, load_checkpoint
from prevalence.models.registry import EMBEDDED, SHIPPED
from prevalence.nli.premise_first import FusedOrPadded, PremiseFirstReader
from prevalence.nli.running import BatchRunner
from prevalence.nli.tokens import TokenStore

BUDGET = 65_536
WAYS: tuple[FusedOrPadded, ...] = ("padded", "fused")
"""Kinds of attention; the first is what the others are compared with."""
TOLERANCE = {"float32": 1e-4, "float16": 0.05, "bfloat16": 0.2}
"""How far probabilities may differ."""

Way = Callable[[], NDArray[np.float32]]
"""Computes probabilities of all pairs, float32 [P, classes]."""


class Measured(NamedTuple):
    """Of one way.

    Attributes:
        seconds: of each run.
        memory: bytes at the peak of a run beyond the weights; None on a CPU.
    """

    seconds: list[float]
    memory: int | None


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print a table, and append a row to the results."""
    import torch

    options = _options(arguments)
    work = Workload.draw(options.products)
    checkpoint = load_checkpoint(options.model, dtype=getattr(torch, options.dtype))
    ways = ways_of(checkpoint, work, torch.device(options.device))
    difference = check(ways, TOLERANCE[options.dtype])
    found = measure(ways, options.device, options.repeats)
    settings = {"model": options.model, "dtype": options.dtype, "ran_on": options.device}
    told = {"pairs": len(work.pairs), "largest_difference": difference}
    measured = {name: part._asdict() for name, part in found.items()}
    append_row("premise_first_attention", {**environment(), **settings, **told, "ways": measured})
    show(found, len(work.pairs))


def ways_of(checkpoint: LoadedCheckpoint, work: Workload, device: Any) -> dict[str, Way]:
    """Each kind of attention with the same model, by name; what it computes with is warm."""
    store = TokenStore(checkpoint.tokenizer, head=None)
    table, numbers = work.numbered()
    premises, hypotheses = (store.spans(table, numbers[:, side]) for side in (0, 1))

    def way(attention: FusedOrPadded) -> Way:
        reader = PremiseFirstReader(checkpoint, device, attention=attention)
        spans = reader.fit(premises, hypotheses, stride=None, longest_first=False).spans
        runner = BatchRunner(reader, device, budget=BUDGET, workers=1)
        classes = checkpoint.labels.size
        return lambda: runner.run(store.tokens, spans, classes, finished=lambda _rows: None)

    return {attention: way(attention) for attention in WAYS}


def check(ways: dict[str, Way], tolerance: float) -> float:
    """Make sure that all ways give the same answers, which also warms them up.

    Returns:
        The largest difference of a probability.

    Raises:
        SystemExit: it is above the tolerance.
    """
    expected, *others = (make() for make in ways.values())
    difference = max(float(np.abs(made - expected).max()) for made in others)
    if not difference <= tolerance:
        raise SystemExit(f"answers differ by {difference:.2g}, more than {tolerance:.2g}")
    return difference


def measure(ways: dict[str, Way], device: str, repeats: int) -> dict[str, Measured]:
    """Seconds of each run, the ways in turns, and memory."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    memory: dict[str, int | None] = {}
    for _ in range(repeats):
        for name, make in ways.items():
            before = allocated(device)
            synchronize(device)
            begin = time.perf_counter()
            make()
            synchronize(device)
            seconds[name].append(time.perf_counter() - begin)
            memory[name] = peak_memory(device, before)
    return {name: Measured(seconds[name], memory[name]) for name in ways}


def show(found: dict[str, Measured], pairs: int) -> None:
    """Print a line a way."""
    middle = {name: quantiles(part.seconds)[1] for name, part in found.items()}
    show_table(
        ("attention", "pairs/s", "ratio", "memory"),
        (
            (
                name,
                f"{pairs / middle[name]:,.0f}",
                f"{middle[WAYS[0]] / middle[name]:.2f}×",
                "" if part.memory is None else f"{part.memory / 1e9:.2f} GB",
            )
            for name, part in found.items()
        ),
    )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Fused attention against padded attention.")
    parser.add_argument("--model", choices=SHIPPED, default=EMBEDDED)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", choices=tuple(TOLERANCE), default="float16")
    parser.add_argument("--products", type=int, default=512)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    if options.device.partition(":")[0] != "cuda":
        parser.error(f"no fused attention on {options.device}: it needs a CUDA device")
    return options


if __name__ == "__main__":
    main()
