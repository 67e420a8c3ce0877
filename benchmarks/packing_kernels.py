"""How fast pairs are made from texts: the kernels of packing against the ways that they replace.

    python -m benchmarks.packing_kernels
    python -m benchmarks.packing_kernels --device cuda

The work is what `python -m benchmarks.throughput` scores: each of 8 reviews of a product with each
of 6 sentences, in batches of 65,536 tokens, longest pairs first. Packed and padded rows start from
the tokens of the texts, which are made once; that is timed by itself. All are held against the
tokenizer's own pairs before they are timed.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import append_row, environment, quantiles, show_table
from benchmarks.throughput.architectures import architecture, write_checkpoint
from benchmarks.throughput.machine import synchronize
from benchmarks.throughput.workload import Workload
from prevalence.kernels.assembly import Assembled, PairLayout, assemble, assemble_reference
from prevalence.kernels.packing import PackedPairs, PackingPath, assemble_packed
from prevalence.nli.packing import fit, packs
from prevalence.nli.tokens import TokenStore, pair_layout

BUDGET = 65_536
LIMIT = 512
TOKENISER, ONCE = "tokenizer on every pair", "tokenizer on every text once"
PACKED: dict[str, dict[str, PackingPath]] = {
    "cpu": {"packed: compiled loop": "numba", "packed: plain torch": "torch"},
    "cuda": {"packed: Triton kernel": "triton", "packed: plain torch": "torch"},
}
"""Ways to pack, by kind of device."""
PADDED = {"padded: compiled loop": assemble, "padded: plain loop": assemble_reference}
"""Ways to pad, on a CPU."""

Ints = NDArray[np.int64]
Made = list[Any]
"""What a way makes of each batch."""
Way = Callable[[], Made]


class Given(NamedTuple):
    """What all ways start from.

    Attributes:
        tokenizer: of the pairs.
        layout: its special tokens.
        pairs: texts, by batch.
        tokens: int64 [T], of all texts.
        spans: int64 [n, 4], by batch.
    """

    tokenizer: Any
    layout: PairLayout
    pairs: list[list[tuple[str, str]]]
    tokens: Ints
    spans: list[Ints]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print a table, and append a row to the results."""
    options = _options(arguments)
    work = Workload.draw(options.products)
    with tempfile.TemporaryDirectory() as folder:
        given = prepare(work, Path(folder))
    ways = ways_of(given, options.device)
    check(ways)
    ways[ONCE] = lambda: _tokenised(given.tokenizer, work)
    seconds = measure(ways, options.device, options.repeats)
    told = {"ran_on": options.device, "pairs": len(work.pairs), "seconds": seconds}
    append_row("packing_kernels", {**environment(options.device), **told})
    show(seconds, len(work.pairs))


def prepare(work: Workload, folder: Path) -> Given:
    """Tokens and batches of the work, for a byte-level tokenizer with RoBERTa's template."""
    from transformers import AutoTokenizer

    write_checkpoint(architecture("roberta-base").at("tiny"), folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    layout = pair_layout(tokenizer, name="benchmark")
    table, numbers = work.numbered()
    store = TokenStore(tokenizer, head=None)
    premises, hypotheses = (store.spans(table, numbers[:, side]) for side in (0, 1))
    spans = fit(premises, hypotheses, room=LIMIT - layout.special).spans
    batches = list(packs(layout.special + spans[:, 1] + spans[:, 3], BUDGET))
    pairs = [[work.pairs[row] for row in rows] for rows in batches]
    return Given(tokenizer, layout, pairs, store.tokens, [spans[rows] for rows in batches])


def ways_of(given: Given, device: str) -> dict[str, Way]:
    """Each way to make all batches of pairs, by name."""
    import torch

    tokens = torch.from_numpy(given.tokens).to(device)

    def packed(path: PackingPath) -> Way:
        return lambda: [assemble_packed(tokens, s, given.layout, path=path) for s in given.spans]

    def padded(make: Callable[[Ints, Ints, PairLayout], Assembled]) -> Way:
        return lambda: [make(given.tokens, spans, given.layout) for spans in given.spans]

    kind = device.partition(":")[0]
    ways = {name: packed(path) for name, path in PACKED[kind].items()}
    if kind == "cpu":
        ways |= {name: padded(make) for name, make in PADDED.items()}
    return {TOKENISER: lambda: _encoded(given), **ways}


def check(ways: dict[str, Way]) -> None:
    """Make sure that all ways give the same tokens, which also warms them up.

    Raises:
        SystemExit: they do not.
    """
    expected = ways[TOKENISER]()
    for name, make in ways.items():
        made = make()
        alike = map(np.array_equal, map(_ids, made), expected)
        if len(made) != len(expected) or not all(alike):
            raise SystemExit(f"{name}: other tokens than the tokenizer's")


def _ids(made: Ints | PackedPairs | Assembled) -> Ints:
    """The tokens of a batch, one pair after the other and without padding."""
    if isinstance(made, Assembled):
        return np.asarray(made.ids[made.mask.astype(bool)])
    return np.asarray(made.ids.cpu()) if isinstance(made, PackedPairs) else made


def measure(ways: dict[str, Way], device: str, repeats: int) -> dict[str, list[float]]:
    """Seconds of each run, the ways in turns."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, make in ways.items():
            synchronize(device)
            begin = time.perf_counter()
            made = make()
            synchronize(device)
            seconds[name].append(time.perf_counter() - begin)
            del made
    return seconds


def _encoded(given: Given) -> Made:
    """Pairs encoded by the tokenizer, as every library does that scores pairs."""
    return [
        np.concatenate(
            given.tokenizer(
                [premise for premise, _ in pairs],
                [hypothesis for _, hypothesis in pairs],
                truncation="only_first",
                max_length=LIMIT,
                return_attention_mask=False,
            )["input_ids"]
        )
        for pairs in given.pairs
    ]


def _tokenised(tokenizer: Any, work: Workload) -> Made:
    texts = [*work.reviews, *work.sentences]
    return [np.concatenate(tokenizer(texts, add_special_tokens=False)["input_ids"])]


def show(seconds: dict[str, list[float]], pairs: int) -> None:
    """Print a line a way."""
    middle = {name: quantiles(found)[1] for name, found in seconds.items()}
    show_table(
        ("way", "pairs/s", "ratio"),
        (
            (name, f"{pairs / found:,.0f}", f"{middle[TOKENISER] / found:.1f}×")
            for name, found in middle.items()
        ),
    )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Kernels of packing against what they replace.")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--products", type=int, default=512)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    if options.device.partition(":")[0] not in PACKED:
        parser.error(f"no kernels for {options.device}: choose from {', '.join(PACKED)}")
    return options


if __name__ == "__main__":
    main()
