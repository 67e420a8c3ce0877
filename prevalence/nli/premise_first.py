"""Pairs read premise first: a premise is computed once for all hypotheses of a batch.

The blocks ``[CLS] premise [SEP]`` and ``[CLS] hypothesis [SEP]`` each number their positions from
0; the premise has token type 0 and attends to itself, a hypothesis has token type 1 and attends to
the premise and to itself; the head reads the hypothesis' [CLS]. Models without token types tell the
two apart by attention alone, and models with relative positions see a hypothesis as following its
premise. So a pair costs little more than
the tokens of its hypothesis, and its answer does not depend on what else is asked of the premise.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

import numpy as np
import torch

from prevalence.errors import BackendError
from prevalence.kernels.attention import build_kernel, cut_tiles
from prevalence.kernels.packing import sent
from prevalence.models.checkpoint import FIRST, PREMISE_FIRST
from prevalence.nli.packed import (
    Family,
    FusedAttention,
    Grid,
    Packed,
    PackedClassifier,
    PaddedAttention,
    Tiled,
    family_of,
)
from prevalence.nli.packing import fit_blocks
from prevalence.nli.tokens import BlockLayout, block_layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from torch import Tensor

    from prevalence.models.checkpoint import LoadedCheckpoint
    from prevalence.nli.tokens import TokenStore
    from prevalence.stats.arrays import Ints

__all__ = ["FusedOrPadded", "Grouped", "PremiseFirstReader", "fuses", "group", "pack", "pack_tiles",
           "placed"]  # fmt: skip

_IN_CACHE = 40_000
"""About so many attention scores of a head has a grid on a CPU, so that they stay in its cache."""
FusedOrPadded = Literal["fused", "padded"]
Batch = TypeVar("Batch", Packed[Any], Tiled[Any])


class PremiseFirstReader:
    """Reads hypotheses against premises that are computed once a batch.

    Args:
        checkpoint: a BERT or MPNet classifier and its tokenizer; the model is moved to the device.
        device: torch device.
        attention: ``padded``, on copies that are padded to the longest texts, or ``fused``, in a
            kernel for CUDA devices.

    Attributes:
        attention: how it is computed.
        kind: how pairs are read.

    Raises:
        ModelError: the tokenizer does not put a first and a last token around a text, or the head
            reads means, for which attention cannot be fused.
        BackendError: the kernel cannot be built here.
    """

    work_unit = 2_048
    advice = ""

    def __init__(
        self, checkpoint: LoadedCheckpoint, device: Any, attention: FusedOrPadded = "padded"
    ) -> None:
        self._device = device
        self.attention = attention
        self.kind = f"{PREMISE_FIRST}, {attention}"
        model, fused = checkpoint.model.to(device), attention == "fused"
        self._network = PackedClassifier(model, FusedAttention if fused else PaddedAttention)
        self._pack = partial(pack, scores=_IN_CACHE if device.type == "cpu" else None)
        if fused and device.type == "cuda":
            _build(family_of(model), device, model.dtype)
        self._layout = block_layout(checkpoint.tokenizer, name=checkpoint.name)
        self.longest = max(checkpoint.max_length, checkpoint.max_hypothesis)
        self.signature = {
            "attn": PREMISE_FIRST,
            "trunc": f"{checkpoint.max_length}+{checkpoint.max_hypothesis}",
        }
        if fused and model.dtype != torch.float32:
            # Scores are not rounded to half precision before their softmax.
            self.signature["pack"] = attention
        self.fit = partial(
            fit_blocks,
            premise_room=checkpoint.max_length - self._layout.special,
            hypothesis_room=checkpoint.max_hypothesis - self._layout.special,
        )

    def batches(self, spans: Ints, budget: int) -> Iterator[Ints]:
        """Rows of a premise next to each other, those of the longest premise first.

        A premise whose rows do not all fit is computed again in the next batch.
        """
        order = np.lexsort((spans[:, 3], spans[:, 0], -spans[:, 1]))
        opens = np.diff(spans[order, 0], prepend=-1) != 0
        opens |= np.diff(spans[order, 1], prepend=-1) != 0
        premise = self._layout.special + spans[order, 1]
        hypothesis = self._layout.special + spans[order, 3]
        start = used = 0
        rows = zip(opens.tolist(), premise.tolist(), hypothesis.tolist(), strict=True)
        for row, (new, head, tail) in enumerate(rows):
            cost = head * new + tail
            if row > start and used + cost > budget:
                yield order[start:row]
                start, used, cost = row, 0, head + tail
            used += cost
        if start < len(order):
            yield order[start:]

    def size(self, spans: Ints) -> int:
        """Tokens of the distinct premises and of all hypotheses; nothing is padded."""
        premises = group(spans).premises
        blocks = len(premises) + len(spans)
        return int(premises[:, 1].sum() + spans[:, 3].sum()) + blocks * self._layout.special

    def place(self, store: TokenStore) -> Ints:
        """The tokens stay where they are: rows are assembled in the host's memory."""
        return store.tokens

    def logits(self, tokens: Ints, spans: Ints) -> Tensor:
        """Pack the rows, run the network."""
        lay_out: Any = pack_tiles if self.attention == "fused" else self._pack
        return self._network(placed(lay_out(tokens, spans, self._layout), self._device))


def fuses(checkpoint: LoadedCheckpoint) -> bool:
    """Whether attention is better fused on a CUDA device, where nothing else was asked for.

    In float32 it is not: there decisions should not depend on the machine, and sums on padded
    copies are those of torch's own matrix products.
    """
    model = checkpoint.model
    first = getattr(model.config, "prevalence_pooling", FIRST) == FIRST
    return first and bool(model.dtype != torch.float32)


def _build(family: Family, device: Any, dtype: torch.dtype) -> None:
    """Build the kernel for a family's heads."""
    try:
        build_kernel(device, dtype, heads=family.heads, size=family.size, relative=family.relative)
    except RuntimeError as error:
        raise BackendError(str(error)) from error


def placed(packed: Batch, device: Any) -> Batch:
    """Arrays of a batch as tensors on a device, where all of them go in one copy.

    Args:
        packed: NumPy arrays, int64 and bool.
        device: torch device.
    """
    arrays = list(_arrays(packed))
    together = sent(torch.from_numpy(np.concatenate([one.ravel() for one in arrays])), device)
    found = together.split([one.size for one in arrays])
    views = (
        part.view(one.shape).to(torch.bool if one.dtype == np.bool_ else torch.int64)
        for part, one in zip(found, arrays, strict=True)
    )
    return cast("Batch", _refilled(packed, views))


def _arrays(parts: Any) -> Iterator[Any]:
    """The arrays of nested tuples, in order."""
    for part in parts:
        yield from _arrays(part) if isinstance(part, tuple) else (part,)


def _refilled(parts: Any, views: Iterator[Any]) -> Any:
    """The same tuples with other members."""
    found = [_refilled(part, views) if isinstance(part, tuple) else next(views) for part in parts]
    return type(parts)(*found) if hasattr(parts, "_fields") else tuple(found)


class Grouped(NamedTuple):
    """Rows by premise.

    Attributes:
        premises: int64 [P, 2], start and length of each distinct premise.
        owner: int64 [R], the premise of each row.
    """

    premises: Ints
    owner: Ints


def group(spans: Ints) -> Grouped:
    """Find the distinct premises of rows, int64 [R, 4]."""
    # One number for both, since sorting rows takes ten times as long.
    base = int(spans[:, 1].max()) + 1
    keys, owner = np.unique(spans[:, 0] * base + spans[:, 1], return_inverse=True)
    return Grouped(np.stack(np.divmod(keys, base), axis=1), owner)


def pack(
    tokens: Ints, spans: Ints, layout: BlockLayout, *, scores: int | None = None
) -> Packed[Any]:
    """Lay premises and hypotheses one after the other, and say where each token attends.

    Args:
        tokens: int64 [T], all texts' tokens without special ones.
        spans: int64 [R, 4], at least one row.
        layout: special tokens around a text.
        scores: most attention scores of a head in one grid, those of rows that fill groups up left
            aside; a larger hypothesis goes alone. None sets no limit.

    Returns:
        NumPy arrays; see :class:`.packed.Packed`.
    """
    by_premise = group(spans)
    count = len(by_premise.premises)
    texts = _texts(tokens, np.concatenate([by_premise.premises, spans[:, 2:]]), count, layout)
    heads, lengths = texts.starts[count:], texts.lengths[count:]

    premises, premise_mask = _padded(texts.starts[:count], texts.lengths[:count])
    context, slots = np.empty_like(texts.ids), np.empty_like(heads)
    context[premises[premise_mask]] = np.flatnonzero(premise_mask)
    grids: list[Grid[Any]] = []
    cells, rows = premises.size, 0
    for chosen in _alike(lengths, by_premise.owner, premises.shape[1], most=scores):
        grid, where = _grid(heads[chosen], lengths[chosen], by_premise.owner[chosen])
        context[grid.places[grid.mask]] = cells + np.flatnonzero(grid.mask)
        slots[chosen] = rows + where
        cells, rows = cells + grid.mask.size, rows + grid.mask[..., 0].size
        grids.append(grid)
    return Packed(
        texts.ids, texts.positions, texts.types, premises, premise_mask, tuple(grids), context,
        heads, slots,
    )  # fmt: skip


_LONGER = 1.25
"""How much longer than the shortest the longest hypothesis of a grid may be."""


def _alike(lengths: Ints, owner: Ints, premise: int, *, most: int | None) -> Iterator[Ints]:
    """Deal hypotheses to grids: of similar length, those of a premise next to each other.

    Args:
        lengths: tokens of each, int64 [R].
        owner: the premise of each, int64 [R].
        premise: tokens of the longest premise.
        most: attention scores of a head in one grid, or None.
    """
    order = np.argsort(lengths, kind="stable")
    ascending = lengths[order]
    start = 0
    while start < order.size:
        end = int(np.searchsorted(ascending, _LONGER * ascending[start], side="right"))
        rows = order[start:end]
        rows = rows[np.argsort(owner[rows], kind="stable")]
        longest = int(ascending[end - 1])
        size = rows.size if most is None else max(1, most // (longest * (premise + longest)))
        yield from (rows[first : first + size] for first in range(0, rows.size, size))
        start = end


def _grid(starts: Ints, lengths: Ints, owner: Ints) -> tuple[Grid[Any], Ints]:
    """The grid of hypotheses, and where each of them lies in it.

    Args:
        starts: the first token of each, int64 [R].
        lengths: tokens of each, likewise.
        owner: the premise of each, likewise.
    """
    owners, where = _in_groups(owner)
    rows, row_mask = _padded(starts, lengths)
    shape = (owners.size, int(where[1].max()) + 1, rows.shape[1])
    places, mask = np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
    places[where], mask[where] = rows, row_mask
    return Grid(places, mask, owners), where[0] * shape[1] + where[1]


def pack_tiles(tokens: Ints, spans: Ints, layout: BlockLayout) -> Tiled[Any]:
    """The same for fused attention; the order of the answers is that of the rows here too.

    Args:
        tokens: int64 [T], all texts' tokens without special ones.
        spans: int64 [R, 4], at least one row.
        layout: special tokens around a text.

    Returns:
        NumPy arrays; see :class:`.packed.Tiled`.
    """
    by_premise = group(spans)
    count = len(by_premise.premises)
    rows = np.argsort(by_premise.owner, kind="stable")
    both = np.concatenate([by_premise.premises, spans[rows, 2:]])
    texts = _texts(tokens, both, count, layout)
    heads = np.empty_like(rows)
    heads[rows] = texts.starts[count:]
    tiles = cut_tiles(texts.starts, texts.lengths, by_premise.owner[rows])
    return Tiled(texts.ids, texts.positions, texts.types, heads, rows, *tiles)


class _Texts(NamedTuple):
    """Texts one after the other, special tokens around each.

    Attributes:
        ids: int64 [T], tokens.
        positions: int64 [T], from 0 in each text.
        types: int64 [T], 0 in premises and 1 in hypotheses.
        starts: int64 [N], the first token of each text.
        lengths: int64 [N].
    """

    ids: Ints
    positions: Ints
    types: Ints
    starts: Ints
    lengths: Ints


def _texts(tokens: Ints, texts: Ints, premises: int, layout: BlockLayout) -> _Texts:
    """Lay out texts, int64 [N, 2], of which so many at the start are premises."""
    lengths = texts[:, 1] + layout.special
    starts = np.cumsum(lengths) - lengths
    positions = np.arange(int(lengths.sum())) - np.repeat(starts, lengths)
    ids = _with_special(tokens, texts, positions, layout)
    types = np.repeat((np.arange(len(texts)) >= premises).astype(np.int64), lengths)
    return _Texts(ids, positions, types, starts, lengths)


def _in_groups(owner: Ints) -> tuple[Ints, tuple[Ints, Ints]]:
    """Deal rows to groups of one premise, at most as large as the mean number of its rows.

    One premise with many hypotheses beside many with few would make a grid of mostly padding;
    so no more than about half of it is padding, and at most twice the premises are read.

    Args:
        owner: the premise of each row, int64 [R].

    Returns:
        The premise of each group, and the group and place in it of each row.
    """
    premises, which, counts = np.unique(owner, return_inverse=True, return_counts=True)
    order = np.argsort(which, kind="stable")
    slot = np.empty_like(which)
    slot[order] = np.arange(which.size) - np.repeat(np.cumsum(counts) - counts, counts)
    most = -(-which.size // counts.size)
    groups = -(-counts // most)
    first = np.cumsum(groups) - groups
    return np.repeat(premises, groups), (first[which] + slot // most, slot % most)


def _with_special(tokens: Ints, texts: Ints, positions: Ints, layout: BlockLayout) -> Ints:
    """Token ids of blocks: prefix, text, suffix, one block after the other."""
    lengths = texts[:, 1] + layout.special
    before = np.repeat(texts[:, 0] - len(layout.prefix), lengths)
    from_end = np.repeat(lengths, lengths) - positions
    inner = (positions >= len(layout.prefix)) & (from_end > len(layout.suffix))
    ids = np.empty_like(positions)
    ids[inner] = tokens[(before + positions)[inner]]
    first, last = positions < len(layout.prefix), from_end <= len(layout.suffix)
    ids[first] = layout.prefix[positions[first]]
    ids[last] = layout.suffix[len(layout.suffix) - from_end[last]]
    return ids


def _padded(offsets: Ints, lengths: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Places of the tokens of blocks, [blocks, longest], and which of them are no padding."""
    places = np.arange(int(lengths.max()))
    mask = places < lengths[:, None]
    return np.where(mask, offsets[:, None] + places, 0), mask
