"""Attention of premises to themselves, and of hypotheses to their premise and to themselves.

Texts lie one after the other in the T rows of a matrix, first the premises, then the hypotheses,
those of the first premise before those of the second. The queries are cut into tiles of one premise
each, so that nothing is padded and no scores are kept: a tile takes its keys a block at a time.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Queries", "attend", "build_kernel", "cut_tiles"]

Ints = NDArray[np.int64]

_TOKENS, _FIRSTS = 64, 16
"""Queries in a tile: of all tokens, and of first tokens, of which a premise has few."""
_TRIED_PREMISE, _TRIED_OWN = 5, 3
"""Tokens of the premise and of the hypothesis on which a kernel is tried."""
_TOLERANCE = {"torch.float32": 1e-4, "torch.float16": 1e-2, "torch.bfloat16": 6e-2}
"""How far its answers may be from exact ones, which are about as large as 1."""


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
    """Build the GPU kernel for a device, and try it once for all tokens and for first tokens.

    Building needs a C compiler and a driver that fit, which the package cannot bring along.

    Args:
        device: a CUDA device.
        dtype: of queries, keys and values.
        heads: number of heads.
        size: numbers in one head.
        relative: whether there are biases.

    Raises:
        RuntimeError: Triton is not installed, or the kernel cannot be built or answers wrongly.
    """
    if importlib.util.find_spec("triton") is None:
        raise RuntimeError("fused attention needs Triton (pip install triton)")
    try:
        _try_kernel(device, dtype, heads=heads, size=size, relative=relative)
    except Exception as error:
        # Triton's errors, those of the compiler that it starts, and the driver's have no base.
        told = str(error).strip().partition("\n")[0][:200]
        raise RuntimeError(
            f"the Triton kernel of attention cannot be used here ({type(error).__name__}: {told})"
        ) from error


def _try_kernel(device: Any, dtype: Any, *, heads: int, size: int, relative: bool) -> None:
    """Compare the kernel with a softmax written out, on one premise and one hypothesis."""
    import torch

    draw = torch.Generator().manual_seed(0)
    shape = (_TRIED_PREMISE + _TRIED_OWN, heads * size)
    states = [torch.randn(shape, generator=draw).to(dtype) for _ in range(3)]
    reach = torch.randn(heads, 2 * shape[0] + 1, generator=draw).to(dtype) if relative else None
    expected = _written_out(states, reach, heads)
    tiles = cut_tiles(
        np.array([0, _TRIED_PREMISE]), np.array([_TRIED_PREMISE, _TRIED_OWN]), np.array([0])
    )
    tokens, firsts = (torch.from_numpy(part).to(device) for part in tiles)
    positions = torch.cat([torch.arange(_TRIED_PREMISE), torch.arange(_TRIED_OWN)]).to(device)
    row, place = (torch.tensor([number]).to(device) for number in (0, _TRIED_PREMISE))
    query, key, value = (part.to(device) for part in states)
    biases = None if reach is None else reach.to(device)
    first = slice(_TRIED_PREMISE, _TRIED_PREMISE + 1)
    for asked, queries, right in (
        (query, Queries(tokens, positions), expected),
        (query[first], Queries(firsts, positions, row, place), expected[first]),
    ):
        found = attend(asked, key, value, queries, heads=heads, biases=biases)
        error = float((found.cpu().double() - right).abs().max())
        if not error <= _TOLERANCE[str(dtype)]:
            raise ArithmeticError(f"its answers are {error:.2g} from those of a softmax")


def _written_out(states: Sequence[Any], reach: Any, heads: int) -> Any:
    """What the kernel is to find, float64 [T, H]: all scores at once."""
    import torch

    query, key, value = (part.double().unflatten(1, (heads, -1)).transpose(0, 1) for part in states)
    scores = query @ key.transpose(1, 2) * query.shape[-1] ** -0.5
    place = torch.arange(scores.shape[-1])
    if reach is not None:
        scores += reach.double()[:, place - place[:, None] + len(place)]
    unseen = (place[:, None] < _TRIED_PREMISE) & (place >= _TRIED_PREMISE)
    weights = scores.masked_fill(unseen, -torch.inf).softmax(-1)
    return (weights @ value).transpose(0, 1).flatten(1)
