"""Attention of premises to themselves, and of hypotheses to their premise and to themselves.

Texts lie one after the other in the T rows of a matrix, first the premises, then the hypotheses,
those of the first premise before those of the second. The queries are cut into tiles of one premise
each, so that nothing is padded and no scores are kept: a tile takes its keys a block at a time.
"""

from __future__ import annotations

import importlib.util
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Queries", "attend", "build_kernel", "cut_tiles"]

Ints = NDArray[np.int64]

_TOKENS, _FIRSTS = 64, 16
"""Queries in a tile: of all tokens, and of first tokens, of which a premise has few."""


class Queries(NamedTuple):
    """Which queries there are and which keys they see, arrays or tensors.

    Attributes:
        tiles: int64 [N, 6], see :func:`cut_tiles`.
        positions: int64 [T], of all tokens in their texts, from 0.
        rows: int64 [Q], the numbers of the queries, tile after tile; None where query and token are
            the same.
        places: int64 [Q], the token of each query, by number; None likewise.
    """

    tiles: Any
    positions: Any
    rows: Any = None
    places: Any = None

    @property
    def most(self) -> int:
        """Most queries in a tile."""
        return _TOKENS if self.rows is None else _FIRSTS


def cut_tiles(starts: Ints, lengths: Ints, owners: Ints) -> tuple[Ints, Ints]:
    """Tiles of all tokens, and tiles of the hypotheses' first tokens, the longest work first.

    Args:
        starts: int64 [P + R], first tokens of the premises and of the hypotheses.
        lengths: int64 [P + R], none is 0.
        owners: int64 [R], the premise of each hypothesis, ascending, and each of the P at least
            once.

    Returns:
        int64 [N, 6] and int64 [M, 6]: the first query, the number of queries, begin and end of the
        premise, begin and end of the texts to which the queries belong. Queries are numbered by
        token, and first tokens by hypothesis. In tiles of a premise, which is all that its tokens
        see, the last two are equal.
    """
    count = len(starts) - len(owners)
    ends = starts + lengths
    text = np.repeat(np.arange(len(starts)), lengths)
    opens = np.searchsorted(owners, np.arange(count + 1))
    premises = np.stack([starts[:count], ends[:count]], axis=1)

    region, first, last = _cut(starts[:count], ends[:count], _TOKENS)
    own = np.repeat(first[:, None], 2, axis=1)
    of_premises = np.column_stack([first, last - first, premises[region], own])

    region, first, last = _cut(starts[count + opens[:-1]], ends[count + opens[1:] - 1], _TOKENS)
    own = np.stack([starts[text[first]], ends[text[last - 1]]], axis=1)
    of_hypotheses = np.column_stack([first, last - first, premises[region], own])

    region, first, last = _cut(opens[:-1], opens[1:], _FIRSTS)
    own = np.stack([starts[count + first], ends[count + last - 1]], axis=1)
    of_firsts = np.column_stack([first, last - first, premises[region], own])
    return _by_work(np.concatenate([of_premises, of_hypotheses])), _by_work(of_firsts)


def _cut(begins: Ints, ends: Ints, most: int) -> tuple[Ints, Ints, Ints]:
    """Cut regions into pieces: the region of each piece, its begin and its end."""
    counts = -(-(ends - begins) // most)
    region = np.repeat(np.arange(len(begins)), counts)
    along = np.arange(len(region)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = begins[region] + along * most
    return region, first, np.minimum(first + most, ends[region])


def _by_work(tiles: Ints) -> Ints:
    """Tiles with many keys first, so that none of these is left when the others are done."""
    return tiles[np.argsort(tiles[:, 2] - tiles[:, 3] + tiles[:, 4] - tiles[:, 5], kind="stable")]


def attend(
    query: Any,
    key: Any,
    value: Any,
    queries: Queries,
    *,
    heads: int,
    biases: Any | None = None,
) -> Any:
    """What queries take from the values of the texts that they see, under one softmax.

    The kernel is in :mod:`prevalence.kernels.attention_triton`, imported on the first call.

    Args:
        query: float [Q, H], rows whose numbers lie next to each other.
        key: float [T, H], likewise.
        value: float [T, H], likewise.
        queries: tensors on the same device.
        heads: number of heads, each of H / heads numbers.
        biases: float [heads, 2 · reach + 1], what is added to the scores of keys that stand from
            ``-reach`` to ``reach`` tokens behind a query; a hypothesis follows its premise. None
            for nothing.

    Returns:
        float [Q, H], in the dtype of the queries; sums are in float32.
    """
    import torch

    from prevalence.kernels.attention_triton import launch

    out = torch.empty_like(query)
    # A kernel is launched on the current device, which need not be that of the queries.
    current: Any = torch.cuda.device_of
    with current(query):
        launch((query, key, value), out, queries, biases, heads=heads, queries=queries.most)
    return out


def build_kernel(device: Any, dtype: Any, *, heads: int, size: int, relative: bool) -> None:
    """Build the GPU kernel for a device, and run it once for all tokens and for first tokens.

    Building needs a C compiler and a driver that fit, which the package cannot bring along.

    Args:
        device: a CUDA device.
        dtype: of queries, keys and values.
        heads: number of heads.
        size: numbers in one head.
        relative: whether there are biases.

    Raises:
        RuntimeError: Triton is not installed, or the kernel cannot be built.
    """
    if importlib.util.find_spec("triton") is None:
        raise RuntimeError("fused attention needs Triton (pip install triton)")
    try:
        _try_kernel(device, dtype, heads=heads, size=size, relative=relative)
    except Exception as error:
        # Triton's errors, those of the compiler that it starts, and the driver's have no base.
        told = str(error).strip().partition("\n")[0][:200]
        raise RuntimeError(
            f"the Triton kernel of attention cannot be built here ({type(error).__name__}: {told})"
        ) from error


def _try_kernel(device: Any, dtype: Any, *, heads: int, size: int, relative: bool) -> None:
    """Attend from all tokens and from first tokens of one premise and one hypothesis."""
    import torch

    states = torch.ones(2, heads * size, dtype=dtype, device=device)
    biases = torch.zeros(heads, 5, dtype=dtype, device=device) if relative else None
    tokens, firsts = cut_tiles(np.array([0, 1]), np.array([1, 1]), np.array([0]))
    tiles, first_tiles = (torch.from_numpy(part).to(device) for part in (tokens, firsts))
    zeros, one = torch.zeros(2, dtype=torch.int64), torch.ones(1, dtype=torch.int64)
    positions, rows, places = (part.to(device) for part in (zeros, zeros[:1], one))
    for query, queries in (
        (states, Queries(tiles, positions)),
        (states[1:], Queries(first_tiles, positions, rows, places)),
    ):
        attend(query, states, states, queries, heads=heads, biases=biases)
