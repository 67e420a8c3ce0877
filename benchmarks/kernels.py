"""Each kernel against what it replaces, and a candidate against the run that it would serve.

    python -m benchmarks.kernels

Packing: the compiled loop against the plain torch version, on pairs with the lengths of real ones.
Reduction: thresholds, masks and supports of many summaries in one compiled pass over their pairs,
against NumPy summary by summary as the engine does it; and NumPy's time as a share of a run, which
is all that such a kernel could save. Both sides take turns in one process, and must agree.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numpy.typing import NDArray

from benchmarks.common import ROOT, append_row, environment
from prevalence import metric
from prevalence.bench.workload import REVIEWS, SENTENCES, Workload
from prevalence.kernels.assembly import PairLayout
from prevalence.kernels.packing import assemble_packed
from prevalence.nli.scorer import NLIScorer

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float32]
Row = dict[str, Any]

THRESHOLD = 0.4


@numba.njit
def fused(  # type: ignore[no-untyped-def]  # noqa: PLR0917
    trivial, earlier, reviews, n, threshold, supports, counts
):
    """The candidate: summaries of n sentences, one pass over all probabilities."""
    pair = 0
    for s in range(trivial.shape[0]):
        for k in range(n):
            counts[s, k] = trivial[s, k] <= threshold
            supports[s, k] = 0
        for j in range(n):
            for k in range(j + 1, n):
                counts[s, k] &= earlier[pair] <= threshold
                pair += 1
        for i in range(reviews.shape[1]):
            for k in range(n):
                supports[s, k] += reviews[s, i, k] > threshold


def by_summary(
    trivial: Floats, earlier: Floats, reviews: Floats, n: int
) -> list[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """The engine's way: supports and counts of each summary."""
    found, half = [], n * (n - 1) // 2
    first, later = np.triu_indices(n, k=1)
    for s in range(len(trivial)):
        implied = np.zeros((n, n), np.float32)
        implied[first, later] = earlier[s * half : (s + 1) * half]
        masks = metric.masks(
            metric.decisions(trivial[s], THRESHOLD), metric.decisions(implied, THRESHOLD)
        )
        supports = metric.support(metric.decisions(reviews[s], THRESHOLD))
        found.append((supports, masks.counts))
    return found


def in_turns(
    one: Callable[[], Any], other: Callable[[], Any], repeats: int
) -> tuple[float, float, float]:
    """Median seconds of both, and the median of their ratio turn by turn."""
    seconds = np.array([(timed(one), timed(other)) for _ in range(repeats)])
    ratios = seconds[:, 0] / seconds[:, 1]
    first, second, ratio = (float(np.median(part)) for part in (*seconds.T, ratios))
    return first, second, ratio


def timed(work: Callable[[], Any]) -> float:
    """Seconds that it takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def packing(repeats: int) -> Row:
    """The compiled loop against plain torch, 768 pairs a call."""
    import torch

    work = Workload.draw(16)
    lengths = [np.array([len(t.split()) for t in part]) for part in (work.reviews, work.sentences)]
    starts = [np.cumsum(part) - part for part in lengths]
    of_review = np.repeat(np.arange(len(work.reviews)), SENTENCES)
    product = np.repeat(np.arange(len(work.reviews)) // REVIEWS, SENTENCES)
    of_sentence = product * SENTENCES + np.tile(np.arange(SENTENCES), len(work.reviews))
    spans = np.stack(
        [starts[0][of_review], lengths[0][of_review],
         lengths[0].sum() + starts[1][of_sentence], lengths[1][of_sentence]],
        axis=1,
    )  # fmt: skip
    special = np.array([0]), np.array([2, 2]), np.array([2])
    layout = PairLayout(*special, types=np.zeros(5, np.int64), pad=1)
    tokens = torch.arange(sum(int(part.sum()) for part in lengths))
    plain = partial(assemble_packed, tokens, spans, layout, first_position=2, path="torch")
    compiled = partial(assemble_packed, tokens, spans, layout, first_position=2, path="numba")
    for ours, theirs in zip(compiled(), plain(), strict=True):
        if not torch.equal(ours, theirs):
            raise SystemExit("the two versions of packing differ")
    slow, fast, ratio = in_turns(plain, compiled, repeats)
    return {"kernel": "packing", "pairs": len(spans), "torch": slow, "numba": fast, "ratio": ratio}


def reduction(repeats: int) -> Row:
    """The candidate against NumPy, and NumPy against a run of the embedded model."""
    summaries, reviews, n = 112, REVIEWS, 5
    random = np.random.default_rng(0)
    trivial = random.random((summaries, n), np.float32)
    earlier = random.random(summaries * n * (n - 1) // 2, np.float32)
    matrix = random.random((summaries, reviews, n), np.float32)
    supports, counts = np.empty((summaries, n), np.int64), np.empty((summaries, n), np.bool_)

    def compiled() -> None:
        fused(trivial, earlier, matrix, n, np.float32(THRESHOLD), supports, counts)

    compiled()
    for s, (found, counted) in enumerate(by_summary(trivial, earlier, matrix, n)):
        if (found != supports[s]).any() or (counted != counts[s]).any():
            raise SystemExit("the two versions of the reduction differ")
    slow, fast, ratio = in_turns(lambda: by_summary(trivial, earlier, matrix, n), compiled, repeats)
    scorer, work = NLIScorer("embedded", device="cpu"), Workload.draw(2)
    scorer.score(*work.head(1).numbered())
    pairs = trivial.size + earlier.size + matrix.size
    model = float(np.median([timed(lambda: scorer.score(*work.numbered())) for _ in range(3)]))
    return {
        "kernel": "reduction", "summaries": summaries, "pairs": pairs, "numpy": slow,
        "numba": fast, "ratio": ratio,
        "share_of_run": slow / (slow + model / len(work.pairs) * pairs),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=21, help="turns")
    parser.add_argument("--no-save", action="store_true", help="append no row to the results")
    options = parser.parse_args()
    rows = [packing(options.repeats), reduction(options.repeats)]
    packed, reduced = rows
    print(
        f"packing of {packed['pairs']} pairs: numba {packed['numba'] * 1e6:,.0f} µs, torch "
        f"{packed['torch'] * 1e6:,.0f} µs, ratio {packed['ratio']:.1f}×\n"
        f"reduction of {reduced['summaries']} summaries: numba {reduced['numba'] * 1e6:,.0f} µs, "
        f"NumPy {reduced['numpy'] * 1e6:,.0f} µs, ratio {reduced['ratio']:.0f}×; NumPy is "
        f"{reduced['share_of_run']:.3%} of a run of the embedded model"
    )
    if not options.no_save:
        path = append_row("kernels", environment() | {"repeats": options.repeats, "rows": rows})
        print(f"row appended to {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
