"""Pairs per second on a GPU: ``prevalence bench`` at full size, its files kept with the results.

    python -m benchmarks.gpu_throughput
    python -m benchmarks.gpu_throughput --models roberta-large --dtype bfloat16
    python -m benchmarks.gpu_throughput --size small --device cpu

Any option of ``prevalence bench`` may follow and overrides what is set here.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks.common import RESULTS
from prevalence.cli import main as prevalence

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    given = sys.argv[1:] if arguments is None else list(arguments)
    prevalence(["bench", "--size", "full", "--output", str(RESULTS / "throughput"), *given])


if __name__ == "__main__":
    main()
